//! Text that a page shows: every character can be seen, and none can act.
//!
//! Controls stand as their pictures, and characters that reorder or hide others as their code
//! points, so that what is read is what is there. [`shown`] is the only way of text into markup,
//! and leaves escaping to maud, which does it for elements and attributes alike.

use std::borrow::Cow;
use std::fmt::Write as _;

use maud::{Markup, html};

/// Text as markup, escaped.
pub(super) fn shown(text: &str) -> Markup {
    html! { (visible(text)) }
}

/// The text with what cannot be seen made visible.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(is_suspicious) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => out.push('\u{2421}'),
            c if is_hidden(c) => write!(out, "⟨U+{:04X}⟩", u32::from(c)).unwrap_or_default(),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Bytes that begin a character which may have to be replaced.
fn is_suspicious(byte: u8) -> bool {
    byte < 0x20 && byte != b'\n' && byte != b'\t'
        || matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe1 | 0xe2 | 0xef | 0xf3)
}

/// Characters without a shape of their own that change what others look like. Joiners and
/// variation selectors are left, as scripts and emoji need them.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{fffe}'..='\u{ffff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// The beginning of a text on one line, of at most so many characters.
pub(super) fn brief(text: &str, most: usize) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > most * 4 {
            break;
        }
    }
    match words.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::{brief, shown, visible};

    #[test]
    fn what_cannot_be_seen_is_made_visible() {
        for (text, seen) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\r\nb\rc", "a\nb␍c"),
            ("\u{0}\u{1b}[0m\u{7f}\u{9b}", "␀␛[0m␡⟨U+009B⟩"),
            ("\u{202e}gpj.exe", "⟨U+202E⟩gpj.exe"),
            ("a\u{2066}b\u{200b}c\u{feff}", "a⟨U+2066⟩b⟨U+200B⟩c⟨U+FEFF⟩"),
            ("hidden: \u{e0041}", "hidden: ⟨U+E0041⟩"),
            ("é 数 👩‍💻 ❤️ کتاب‌ها", "é 数 👩‍💻 ❤️ کتاب‌ها"),
        ] {
            assert_eq!(visible(text), seen);
        }
        assert_eq!(shown("<b a=\"&\">").0, "&lt;b a=&quot;&amp;&quot;&gt;");
    }

    #[test]
    fn a_brief_text_is_one_line() {
        assert_eq!(brief(" a\n\n b  ", 10), "a b");
        assert_eq!(brief("数据库迁移方案", 3), "数据库…");
        assert_eq!(brief(&"word ".repeat(1000), 9), "word word…");
    }
}
