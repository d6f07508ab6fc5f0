//! JSON that every loader reads: stricter than RFC 8259 where common readers are.
//!
//! Hugging Face's loader splits a file with Python's `str.splitlines`, so U+0085, U+2028 and U+2029
//! inside a string would end the line; it fails on whole numbers beyond 64 bits. Here the former
//! are written as escapes, together with U+007F and all of C1, and the latter as strings. What a tool
//! was called with it reads once more, where a text looks like JSON; there the same holds inside.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::value::RawValue;

use crate::json::{MAX_DEPTH, Token, check, tokens, write_string};

/// Writes a value on one line.
pub(crate) fn write_line(
    out: &mut (impl Write + ?Sized),
    value: &impl Serialize,
) -> io::Result<()> {
    let mut line = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut line, Portable))?;
    line.push(b'\n');
    out.write_all(&line)
}

/// Compact JSON with more escapes.
struct Portable;

impl Formatter for Portable {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        write_plain(out, fragment)
    }
}

/// Appends a text as a JSON string.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    if needs_escape(text) {
        let mut quoted = Vec::new();
        write_string(&mut quoted, text);
        escape_into(out, &String::from_utf8_lossy(&quoted));
    } else {
        write_string(out, text);
    }
}

/// Appends a JSON document, which the model holds to be valid.
pub(crate) fn document(out: &mut Vec<u8>, json: &str) {
    for token in tokens(json) {
        match token {
            Token::Word(word) if is_beyond_64_bits(word) => {
                out.push(b'"');
                out.extend_from_slice(word.as_bytes());
                out.push(b'"');
            }
            Token::String(text) => escape_into(out, text),
            Token::Word(text) | Token::Mark(text) => out.extend_from_slice(text.as_bytes()),
        }
    }
}

/// A text that is a JSON object, as such; `None` where it is none.
pub(crate) fn object(text: &str) -> Option<Box<RawValue>> {
    let checked = check(text)?;
    let text = checked.text.trim();
    if !text.starts_with('{') {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    read_twice(&mut out, text);
    RawValue::from_string(String::from_utf8(out).ok()?).ok()
}

/// Appends a document whose texts are read as JSON where they look like it, and says whether it had
/// to be changed for that.
pub(crate) fn read_twice(out: &mut Vec<u8>, json: &str) -> bool {
    let mut changed = false;
    for token in tokens(json) {
        let tamed_text = match token {
            Token::String(quoted) if quoted.contains(['[', '{']) => {
                serde_json::from_str::<String>(quoted).ok().and_then(|text| tamed(&text))
            }
            Token::String(_) | Token::Word(_) | Token::Mark(_) => None,
        };
        match (tamed_text, token) {
            (Some(text), _) => {
                string(out, &text);
                changed = true;
            }
            (None, Token::Word(word)) if is_beyond_64_bits(word) => {
                string(out, word);
                changed = true;
            }
            (None, Token::String(text)) => escape_into(out, text),
            (None, Token::Word(text) | Token::Mark(text)) => out.extend_from_slice(text.as_bytes()),
        }
    }
    changed
}

/// What a text that looks like JSON is replaced by, where reading it as such would fail the loader:
/// the same with what fails replaced or, where it is nested too deeply, with a character before it
/// that has no width and is no JSON.
pub(crate) fn tamed(text: &str) -> Option<String> {
    let inner = text.trim();
    if !inner.starts_with(['[', '{']) {
        return None;
    }
    let Some(checked) = check(inner) else {
        return is_nested_deeply(inner).then(|| format!("\u{feff}{text}"));
    };
    let mut out = Vec::with_capacity(inner.len());
    let changed = read_twice(&mut out, &checked.text);
    if changed || checked.repaired { String::from_utf8(out).ok() } else { None }
}

/// Whether brackets stand deeper than any parser of ours goes, closed or not.
fn is_nested_deeply(text: &str) -> bool {
    let mut depth = 0;
    tokens(text).any(|token| {
        match token {
            Token::Mark("[" | "{") => depth += 1,
            Token::Mark("]" | "}") => depth -= 1,
            Token::Mark(_) | Token::Word(_) | Token::String(_) => {}
        }
        depth > MAX_DEPTH
    })
}

/// The escape of a character that some readers take for the end of a line, or for none.
fn escape(c: char) -> Option<&'static [u8; 6]> {
    match c {
        '\u{7f}' => Some(b"\\u007f"),
        '\u{2028}' => Some(b"\\u2028"),
        '\u{2029}' => Some(b"\\u2029"),
        '\u{80}'..='\u{9f}' => Some(&C1[c as usize - 0x80]),
        _ => None,
    }
}

const C1: [[u8; 6]; 32] = c1_escapes();

const fn c1_escapes() -> [[u8; 6]; 32] {
    let hex = b"0123456789abcdef";
    let mut all = [*b"\\u0080"; 32];
    let mut n = 0;
    while n < 32 {
        all[n][4] = hex[8 + n / 16];
        all[n][5] = hex[n % 16];
        n += 1;
    }
    all
}

/// Whether one of those characters may be there: by the first byte of its UTF-8.
fn needs_escape(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, 0x7F | 0xC2 | 0xE2))
}

fn escape_into(out: &mut Vec<u8>, text: &str) {
    // A vector takes all that is written to it.
    let _ = write_plain(out, text);
}

fn write_plain<W: Write + ?Sized>(out: &mut W, text: &str) -> io::Result<()> {
    if !needs_escape(text) {
        return out.write_all(text.as_bytes());
    }
    let mut from = 0;
    for (at, c) in text.char_indices() {
        if let Some(escape) = escape(c) {
            out.write_all(&text.as_bytes()[from..at])?;
            out.write_all(escape)?;
            from = at + c.len_utf8();
        }
    }
    out.write_all(&text.as_bytes()[from..])
}

fn is_beyond_64_bits(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    digits.len() > 18
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && word.parse::<i64>().is_err()
        && word.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{document, object, string, tamed, write_line};

    /// Every character that Python's `str.splitlines` splits at and JSON leaves as it is, and the
    /// neighbours of each.
    const ODD: &str = "\u{7e}\u{7f}\u{80}\u{85}\u{9f}\u{a0}\u{2027}\u{2028}\u{2029}\u{202a}💡é\n\"";

    #[test]
    fn no_reader_sees_a_line_end_in_a_string() {
        let mut alone = Vec::new();
        string(&mut alone, ODD);
        let mut in_a_document = Vec::new();
        document(&mut in_a_document, &json!([ODD, {ODD: 1}]).to_string());
        let mut line = Vec::new();
        write_line(&mut line, &json!({"a": ODD})).unwrap();
        line.pop();
        for bytes in [alone, in_a_document, line] {
            let text = String::from_utf8(bytes).unwrap();
            let plain = text
                .chars()
                .filter(|c| !matches!(c, '💡' | 'é' | '\u{a0}' | '\u{2027}' | '\u{202a}'));
            assert!(plain.clone().all(|c| (' '..='~').contains(&c)), "{text:?}");
            let back: Json = serde_json::from_str(&text).unwrap();
            assert!(back == ODD || back["a"] == ODD || back == json!([ODD, {ODD: 1}]), "{text}");
        }
    }

    #[test]
    fn numbers_stay_inside_64_bits() {
        let mut out = Vec::new();
        let json = "[9223372036854775808, -9223372036854775809, 18446744073709551615, \
                    18446744073709551616, -9223372036854775808, 1.5e300, 12345678901234567890.5]";
        document(&mut out, json);
        let wanted = "[9223372036854775808, \"-9223372036854775809\", 18446744073709551615, \
                      \"18446744073709551616\", -9223372036854775808, 1.5e300, 12345678901234567890.5]";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn json_in_a_text_is_kept_from_failing_the_loader_too() {
        let deep = "[".repeat(2000);
        let cases = [
            (
                r#"{"n": 12345678901234567890123}"#,
                Some(r#"{"n": "12345678901234567890123"}"#.to_owned()),
            ),
            (r#" ["\ud800", NaN]"#, Some(r#"["\ufffd", null]"#.to_owned())),
            (r#"{"file": "[\"\\ud800\"]"}"#, Some(r#"{"file": "[\"\\ufffd\"]"}"#.to_owned())),
            (&deep, Some(format!("\u{feff}{deep}"))),
            (r#"{"file": "[1, \"é\u2028\"]", "n": 5}"#, None),
            ("[not JSON] 12345678901234567890123", None),
            ("12345678901234567890123", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(tamed(text), wanted, "{text}");
        }
        let kept = object(r#"{"file": "{\"n\": 12345678901234567890123}"}"#).unwrap();
        assert_eq!(kept.get(), r#"{"file": "{\"n\": \"12345678901234567890123\"}"}"#);
    }

    #[test]
    fn arguments_are_objects_or_none() {
        let kept = |text: &str| object(text).map(|raw| raw.get().to_owned());
        assert_eq!(
            kept(" {\"b\": \"\\ud800\", \"a\": NaN}"),
            Some("{\"b\": \"\\ufffd\", \"a\": null}".to_owned())
        );
        for text in ["", "[1]", "\"x\"", "{", "null", "not JSON"] {
            assert_eq!(kept(text), None, "{text}");
        }
    }
}
