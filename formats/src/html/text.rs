//! Text that a page shows: every character can be seen, and none can act.
//!
//! Controls stand as their pictures, and characters that reorder or hide others as their code
//! points, so that what is read is what is there. [`show`] is the only way of text into markup
//! between tags; attributes are maud's.

use std::borrow::Cow;

use maud::{Markup, PreEscaped};
use memchr::memchr3;

/// Text as markup between tags, escaped. An attribute gets [`visible`] text, which maud escapes for
/// it: quotes are left as they are here.
pub(super) fn shown(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    show(text, &mut out);
    PreEscaped(out)
}

/// Adds text to markup between tags, escaped.
pub(super) fn show(text: &str, out: &mut String) {
    let text = visible(text);
    let mut rest: &str = &text;
    while let Some(at) = memchr3(b'&', b'<', b'>', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            _ => "&gt;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// The text with what cannot be seen made visible.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(next) = text.as_bytes()[at..].iter().copied().position(is_suspicious) {
        at += next;
        let Some(c) = text[at..].chars().next() else { break };
        let after = at + c.len_utf8();
        if let Some(seen) = in_place_of(c, &text[after..]) {
            out.push_str(&text[from..at]);
            out.push_str(&seen);
            from = after;
        }
        at = after;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// What is shown for a character that cannot be seen; `None` for one that can.
fn in_place_of(c: char, after: &str) -> Option<Cow<'static, str>> {
    match c {
        '\n' | '\t' => None,
        '\r' if after.starts_with('\n') => Some("".into()),
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).map(|c| c.to_string().into()),
        '\u{7f}' => Some("\u{2421}".into()),
        c if is_hidden(c) => Some(format!("⟨U+{:04X}⟩", u32::from(c)).into()),
        _ => None,
    }
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
        assert_eq!(shown("<b a=\"&\">").0, "&lt;b a=\"&amp;\"&gt;");
    }

    #[test]
    fn a_brief_text_is_one_line() {
        assert_eq!(brief(" a\n\n b  ", 10), "a b");
        assert_eq!(brief("数据库迁移方案", 3), "数据库…");
        assert_eq!(brief(&"word ".repeat(1000), 9), "word word…");
    }
}
