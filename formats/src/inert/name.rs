//! Titles, names, paths and ids: text that stands in a line of ours, in the body or in the front
//! matter.
//!
//! In the body every character that any Markdown reader takes for markup becomes an entity. In
//! the front matter a value is read twice, as YAML and then, by pandoc, as Markdown; there only
//! what could do harm is escaped, so that ordinary values read back as they are in the store.

use super::tex;

/// Whether some reader ends a line at this character.
pub(crate) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether the character turns the direction of the text around it.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text as part of a heading, a list item or a paragraph of ours.
pub(crate) fn inline(text: &str) -> String {
    if text.bytes().all(|b| b.is_ascii_alphanumeric() || b" ,-./:".contains(&b)) {
        return text.trim_matches(' ').to_owned(); // most are names and times
    }
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        match c {
            c if ends_line(c) => out.push(' '),
            c if turns_direction(c) => out.push_str(&spelt_out(c)),
            c if c.is_control() && c != '\t' => out.push('\u{fffd}'),
            c if is_markup(before, c, after) => out.push_str(&entity(c)),
            c => out.push(c),
        }
        before = c;
    }
    with_markers(out.trim_matches(' '))
}

/// What redaction puts in a secret's place is harmless, and people search for it.
fn with_markers(text: &str) -> String {
    const OPEN: &str = "&#91;REDACTED:";
    const CLOSE: &str = "&#93;";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OPEN) {
        let (before, marker) = rest.split_at(at);
        out.push_str(before);
        let body = &marker[OPEN.len()..];
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-#".contains(c);
        let end = body.find(|c| !is_part(c)).unwrap_or(body.len());
        let after = body[end..].strip_prefix(CLOSE);
        // Before one of these a bracket could become a link.
        if let Some(after) = after.filter(|after| !after.starts_with(['(', ':', '['])) {
            out.push_str("[REDACTED:");
            out.push_str(&body[..end]);
            out.push(']');
            rest = after;
        } else {
            out.push_str(OPEN);
            rest = body;
        }
    }
    out.push_str(rest);
    out
}

fn entity(c: char) -> String {
    format!("&#{};", u32::from(c))
}

fn spelt_out(c: char) -> String {
    format!("&#91;U+{:04X}&#93;", u32::from(c))
}

/// Whether some reader may take a character in the midst of a line for markup.
fn is_markup(before: char, c: char, after: char) -> bool {
    match c {
        '<' | '>' => !(before == ' ' && after == ' '),
        '&' => after.is_alphanumeric() || after == '#',
        '`' | '\\' | '*' | '[' | ']' | '{' | '}' | '$' | '|' | '~' | '^' => true,
        '_' => !(before.is_alphanumeric() && after.is_alphanumeric()),
        '@' => !before.is_alphanumeric(),
        // A run of them at the end closes a heading.
        '#' => !before.is_alphanumeric() && !after.is_alphanumeric(),
        _ => false,
    }
}

/// The text as a code span where that is safe in every dialect, else as [`inline`].
pub(crate) fn literal(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._/:\\-@+=,".contains(c);
    if !text.is_empty() && text.chars().all(plain) { format!("`{text}`") } else { inline(text) }
}

/// The text as a JSON string on one line that is inert as YAML and as Markdown.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in defused(text).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() || is_invisible(c) => {
                out.push_str(&escape(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn escape(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

/// Characters of the Basic Multilingual Plane that are better seen than trusted in a file's head.
fn is_invisible(c: char) -> bool {
    turns_direction(c)
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The text with what pandoc, Quarto or TeX would act on written as entities.
fn defused(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        let harmful = match c {
            '`' => true,
            '<' => opens_markup(rest),
            '>' => text[..at].ends_with("--"),
            '{' => rest.starts_with("{{<") || rest.starts_with("{<"),
            ']' => rest[1..].starts_with(['(', '[', '{']),
            '\\' => tex::runs(rest) || tex::takes_argument(rest),
            _ => false,
        };
        if harmful {
            out.push_str(&entity(c));
        } else {
            out.push(if ends_line(c) { ' ' } else { c });
        }
    }
    // Indented text is code to pandoc, and code without a line's end breaks the whole head.
    let indentation = &out[..out.len() - out.trim_start_matches([' ', '\t']).len()];
    if indentation.len() > 3 || indentation.contains('\t') {
        out.replace_range(..1, &entity(' '));
    }
    out
}

/// Whether a text that begins with `<` may begin a tag, a comment or the like.
pub(crate) fn opens_markup(text: &str) -> bool {
    text[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c))
}

#[cfg(test)]
mod marker_tests {
    use super::inline;

    #[test]
    fn markers_of_redaction_stay_as_they_are() {
        assert_eq!(inline("use [REDACTED:a-b#2] now"), "use [REDACTED:a-b#2] now");
        assert_eq!(inline("[REDACTED:a](x)"), "&#91;REDACTED:a&#93;(x)");
        assert_eq!(inline("[REDACTED:<b>]"), "&#91;REDACTED:&#60;b&#62;&#93;");
    }
}

#[cfg(test)]
mod tests {
    use super::{inline, json_string, literal};

    #[test]
    fn ordinary_values_read_back_as_they_are() {
        for text in [
            "Fix #12: a < b & c > d, 50 % _done_ {x}",
            "C:\\work\\bot",
            "C:\\input\\def",
            "\\\\server\\share\\read",
            "Отчёт \"за\" июль 😀",
            "regex \\d+ [a] (b)",
            "",
        ] {
            let value: String = serde_json::from_str(&json_string(text)).expect("JSON");
            assert_eq!(value, text);
        }
    }

    #[test]
    fn hostile_values_hold_nothing_that_acts() {
        let cases = [
            ("`r f()`", "&#96;r f()&#96;"),
            ("<script>", "&#60;script>"),
            ("<!-- x -->", "&#60;!-- x --&#62;"),
            ("{{< env X >}}", "&#123;&#123;< env X >}}"),
            ("![a](http://x)", "![a&#93;(http://x)"),
            ("\\input{/etc/x} \\input /etc/x", "&#92;input{/etc/x} &#92;input /etc/x"),
            ("C:\\x{y}", "C:&#92;x{y}"),
            ("\n    x", "&#32;    x"),
            ("a\n---\r\u{85}\u{2028}b", "a ---   b"),
        ];
        for (text, wanted) in cases {
            let value: String = serde_json::from_str(&json_string(text)).expect("JSON");
            assert_eq!(value, wanted);
        }
        assert_eq!(json_string("\u{202e}\u{9b}\u{7f}"), "\"\\u202e\\u009b\\u007f\"");
    }

    #[test]
    fn a_name_is_plain_text_on_one_line() {
        assert_eq!(inline("fix snake_case in C# now"), "fix snake_case in C# now");
        assert_eq!(inline("<b>*x*`{y}"), "&#60;b&#62;&#42;x&#42;&#96;&#123;y&#125;");
        assert_eq!(
            inline("a\n# b ##\u{1b}\u{202e}"),
            "a &#35; b &#35;&#35;\u{fffd}&#91;U+202E&#93;"
        );
        assert_eq!(inline("a < b & c &lt; d"), "a < b & c &#38;lt; d");
        assert_eq!(literal("C:\\work\\bot"), "`C:\\work\\bot`");
        assert_eq!(literal("r f()"), "r f()");
    }
}
