//! JSON text as it stands in the store, made safe to pass on without being parsed into a tree.
//!
//! Python wrote it, and Python's writer allows what RFC 8259 and strict parsers do not: NaN and
//! infinities, numbers that no double holds, lone surrogates in escapes. [`check`] finds those,
//! replaces them, and says so; all else is passed on to the byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Nesting beyond this is not decoded: common parsers give up near 128 levels.
pub(crate) const MAX_DEPTH: usize = 100;

/// A JSON document that may be passed on.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked<'a> {
    /// Valid JSON on one line.
    pub text: Cow<'a, str>,
    /// What it is, seen from outside.
    pub shape: Shape,
    /// Whether something that strict parsers refuse was replaced.
    pub repaired: bool,
}

/// Takes a text as JSON; `None` where it is not, even after repair, or is nested too deeply.
pub fn check(text: &str) -> Option<Checked<'_>> {
    if let Ok(Strict { shape }) = serde_json::from_str(text) {
        let text = if text.contains(['\n', '\r']) {
            // Inside strings a raw line break is invalid, so this one stands between tokens.
            Cow::Owned(text.replace(['\n', '\r'], " "))
        } else {
            Cow::Borrowed(text)
        };
        return Some(Checked { text, shape, repaired: false });
    }
    let text = repair(text);
    let Strict { shape } = serde_json::from_str(&text).ok()?;
    Some(Checked { text: Cow::Owned(text), shape, repaired: true })
}

/// What a document is, seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// An array of objects; an empty array is one.
    Objects,
    /// Anything else.
    Other,
}

/// A document that strict parsers take, of which only the shape is kept.
struct Strict {
    shape: Shape,
}

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { shape: Level(0).deserialize(deserializer)?.shape() })
    }
}

/// Reads a value that stands so many levels deep, and keeps nothing of it.
#[derive(Clone, Copy)]
struct Level(usize);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar,
    Object,
    Objects,
    Others,
}

impl Kind {
    fn shape(self) -> Shape {
        if self == Kind::Objects { Shape::Objects } else { Shape::Other }
    }
}

impl Level {
    fn below<E: de::Error>(self) -> Result<Self, E> {
        if self.0 == MAX_DEPTH { Err(E::custom("nested too deeply")) } else { Ok(Self(self.0 + 1)) }
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Kind;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Scalar)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Kind, E> {
        Ok(Kind::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Kind, E> {
        Ok(Kind::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Kind, E> {
        Ok(Kind::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Kind, E> {
        Ok(Kind::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Kind, E> {
        Ok(Kind::Scalar)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Kind, A::Error> {
        let below = self.below()?;
        let mut kind = Kind::Objects;
        while let Some(item) = items.next_element_seed(below)? {
            if item != Kind::Object {
                kind = Kind::Others;
            }
        }
        Ok(kind)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Kind, A::Error> {
        let below = self.below()?;
        while entries.next_key_seed(below)?.is_some() {
            entries.next_value_seed(below)?;
        }
        Ok(Kind::Object)
    }
}

fn repair(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for token in tokens(text) {
        match token {
            Token::String(s) => replace_lone_surrogates(s, &mut out),
            Token::Word(w) if is_beyond_json(w) => out.push_str("null"),
            Token::Mark("\n" | "\r") => out.push(' '),
            Token::Word(s) | Token::Mark(s) => out.push_str(s),
        }
    }
    out
}

/// A piece of JSON text. Joined, the pieces are the text again, valid or not.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Token<'a> {
    /// A string with its quotes.
    String(&'a str),
    /// A number, literal, or what stands in a literal's place.
    Word(&'a str),
    /// One other character.
    Mark(&'a str),
}

pub(crate) fn tokens<'a>(mut rest: &'a str) -> impl Iterator<Item = Token<'a>> {
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let (len, make): (usize, fn(&'a str) -> Token<'a>) = if first == '"' {
            (string_len(rest), Token::String)
        } else if is_word(first) {
            (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), Token::Word)
        } else {
            (first.len_utf8(), Token::Mark)
        };
        let (token, tail) = rest.split_at(len);
        rest = tail;
        Some(make(token))
    })
}

/// The length of the string that the text begins with, quotes included.
fn string_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            // What follows a backslash is never the closing quote; it may be a wide character.
            b'\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_beyond_json(word: &str) -> bool {
    if matches!(word, "NaN" | "Infinity" | "-Infinity") {
        return true;
    }
    let may_overflow = word.len() > 300 || word.contains(['e', 'E']);
    may_overflow && word.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// The code unit of a `\uXXXX` escape that the text begins with.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

/// Calls `found` with the offset of each escape that is half of a surrogate pair without the other.
fn lone_surrogates(string: &str, mut found: impl FnMut(usize)) {
    let mut at = 0;
    while let Some(next) = string[at..].find('\\') {
        at += next;
        match code_unit(&string[at..]) {
            Some(unit) if is_high(unit) => {
                if string.get(at + 6..).and_then(code_unit).is_some_and(is_low) {
                    at += 12;
                } else {
                    found(at);
                    at += 6;
                }
            }
            Some(unit) => {
                if is_low(unit) {
                    found(at);
                }
                at += 6;
            }
            None => at += 1 + string[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
}

fn replace_lone_surrogates(string: &str, out: &mut String) {
    let mut from = 0;
    lone_surrogates(string, |at| {
        out.push_str(&string[from..at]);
        out.push_str("\\ufffd");
        from = at + 6;
    });
    out.push_str(&string[from..]);
}

/// Appends a text as a JSON string, escaped as `serde_json` does it. Most of an export's bytes pass
/// here, so plain stretches are found eight bytes at a time and copied whole.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, tail) = rest.split_at(plain_len(rest));
        out.extend_from_slice(plain);
        let [special, after @ ..] = tail else { break };
        write_escape(out, *special);
        rest = after;
    }
    out.push(b'"');
}

/// How many bytes go by before one that must be escaped.
fn plain_len(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return n * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let from = words.len() * 8;
    let special = |b: &u8| *b < 0x20 || *b == b'"' || *b == b'\\';
    bytes[from..].iter().position(special).map_or(bytes.len(), |at| from + at)
}

/// The top bit of each byte that must be escaped; bits above the lowest set one may be wrong.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    let below = |limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let equal = |byte: u8| {
        let other = word ^ (ONES * u64::from(byte));
        other.wrapping_sub(ONES) & !other
    };
    (below(0x20) | equal(b'"') | equal(b'\\')) & TOPS
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, check, write_string};

    #[test]
    fn strings_are_escaped_as_serde_json_does_it() {
        let every: String = (0..0x250).filter_map(char::from_u32).collect();
        for from in 0..24 {
            for text in
                [&every[from..0x80], "", "\"", "no escape at all in this", "ü\\\u{7f}\u{2028}💡\n"]
            {
                let mut out = Vec::new();
                write_string(&mut out, text);
                assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(text).unwrap());
            }
        }
    }

    fn checked(text: &str) -> Option<(String, bool)> {
        check(text).map(|c| (c.text.into_owned(), c.repaired))
    }

    #[test]
    fn valid_json_is_passed_on_to_the_byte() {
        for text in ["[1, 2.50, \"\\ud83d\\ude00 \\u00e9\"]", "{\"a\": 12345678901234567890123}"] {
            assert_eq!(checked(text), Some((text.to_owned(), false)));
        }
    }

    #[test]
    fn line_breaks_between_tokens_become_spaces() {
        assert_eq!(checked("[1,\r\n2]"), Some(("[1,  2]".to_owned(), false)));
    }

    #[test]
    fn what_strict_parsers_refuse_is_replaced() {
        let cases = [
            ("[NaN, -Infinity, 1e999]", "[null, null, null]"),
            (
                "[\"\\ud800\", \"\\udc00x\", \"\\ud83d\\ude00\"]",
                "[\"\\ufffd\", \"\\ufffdx\", \"\\ud83d\\ude00\"]",
            ),
            ("[\"\\\\ud800 NaN\",\nNaN]", "[\"\\\\ud800 NaN\", null]"),
        ];
        for (text, wanted) in cases {
            assert_eq!(checked(text), Some((wanted.to_owned(), true)), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "nope", "[1", "\"a\nb\"", "{\"a\":}", "[1] 2", "\"\\", "[NaN"] {
            assert_eq!(checked(text), None, "{text}");
        }
        let deep = |n| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(checked(&deep(MAX_DEPTH + 1)), None);
        assert!(checked(&deep(MAX_DEPTH)).is_some());
    }
}
