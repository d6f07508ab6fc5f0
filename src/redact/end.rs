//! Finds where a value ends, however it was quoted, escaped or cut off.
//!
//! A secret must go whole, and what stands after it must stay: closing quotes and braces, the
//! next parameter, the escape of a line's end.

use super::cursor::Quote;
use super::read::{Opening, Operator};
use super::tongues::is_unspaced;

/// Where the value ends that begins at `opening`.
pub(super) fn value_end(text: &str, opening: &Opening) -> usize {
    match opening.quote {
        Quote::Mark(mark, slashes) => quoted_end(text, opening.start, mark, slashes)
            .unwrap_or_else(|| bare_end(text, opening)),
        Quote::Entity => entity_end(text, opening.start),
        Quote::Bare => bare_end(text, opening),
    }
}

/// The closing mark: one behind as many backslashes, or fewer where an outer string ends.
fn quoted_end(text: &str, start: usize, mark: u8, slashes: usize) -> Option<usize> {
    if slashes == usize::MAX {
        return text[start..].find("\\u00").map(|len| trim_slashes(text, start, start + len));
    }
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        let len = memchr::memchr2(mark, b'\n', &bytes[at..])?;
        let end = at + len;
        if bytes[end] == b'\n' {
            if mark == b'`' || slashes == 0 && ends_later(&bytes[end..], mark) {
                at = end + 1;
                continue;
            }
            return None;
        }
        let run = bytes[start..end].iter().rev().take_while(|b| **b == b'\\').count();
        let is_content = run > slashes && !(run - slashes).is_multiple_of(2 * (slashes + 1));
        if !is_content {
            return Some(end - run.min(slashes));
        }
        at = end + 1;
    }
    None
}

/// Whether a quoted value of several lines ends soon.
fn ends_later(rest: &[u8], mark: u8) -> bool {
    let ahead = &rest[..rest.len().min(400)];
    memchr::memchr(mark, ahead)
        .is_some_and(|len| memchr::memchr_iter(b'\n', &ahead[..len]).count() < 6)
}

fn trim_slashes(text: &str, start: usize, end: usize) -> usize {
    start + text[start..end].trim_end_matches('\\').len()
}

fn entity_end(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let ends = ["&quot;", "&#34;", "&#39;", "&#x27;", "&apos;", "%22", "&#x22;", "\n"];
    let found = ends.iter().filter_map(|end| rest[..limit(rest, 4096)].find(end)).min();
    start + found.unwrap_or_else(|| rest.find(char::is_whitespace).unwrap_or(rest.len()))
}

/// The largest character boundary up to `at`.
pub(super) fn limit(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// Where a value without quotes ends.
fn bare_end(text: &str, opening: &Opening) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = opening.start;
    while at < bytes.len() {
        let rest = &bytes[at..];
        match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | 0x1b => break,
            b'\\' if is_escape(rest) => break,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => break,
            b')' | b']' | b'}' => depth -= 1,
            b';' | b',' if opening.operator == Operator::Cell || separates(rest) => break,
            b'&' if continues_query(rest) => break,
            0xC2 | 0xE2.. if ends_quotation(text, opening.start, at) => break,
            b'%' if opening.operator == Operator::Percent && is_percent_delimiter(rest) => break,
            _ => {}
        }
        at += 1;
    }
    trim_sentence(text, opening, at)
}

/// A closing quotation mark of prose, a full-width mark, or a letter of a script without blanks
/// after a value of plain characters.
fn ends_quotation(text: &str, start: usize, at: usize) -> bool {
    const MARKS: &[char] = &['”', '“', '’', '‘', '»', '›', '\u{a0}', '\u{202f}'];
    let next = text.get(at..).and_then(|rest| rest.chars().next());
    next.is_some_and(|c| {
        MARKS.contains(&c) || is_unspaced(c) && at > start && text.as_bytes()[start..at].is_ascii()
    })
}

/// `\n`, `\"`, `\u001b` and the end of a line that goes on.
fn is_escape(rest: &[u8]) -> bool {
    matches!(
        rest.get(1),
        None | Some(
            b'n' | b't' | b'r' | b'"' | b'\'' | b'\\' | b'\n' | b'u' | b'x' | b'0' | b'e' | b'`'
        )
    )
}

/// After `;` or `,`: a blank, the end, or another name with a value.
fn separates(rest: &[u8]) -> bool {
    let after = &rest[1..];
    let name = after
        .iter()
        .take(40)
        .take_while(|b| b.is_ascii_alphanumeric() || b" _-.".contains(b))
        .count();
    matches!(
        after.first(),
        None | Some(b' ' | b'\n' | b'\r' | b'\t' | b'"' | b'\'' | b'\\' | b'{' | b'}' | b')')
    ) || name > 0 && matches!(after.get(name), Some(b'=' | b':'))
}

/// After `&`: another parameter or an entity's name.
fn continues_query(rest: &[u8]) -> bool {
    let after = &rest[1..];
    let name = after
        .iter()
        .take(60)
        .take_while(|b| b.is_ascii_alphanumeric() || b"_-.#[]%".contains(b))
        .count();
    name > 0 && matches!(after.get(name), Some(b'=' | b';'))
        || matches!(after.first(), None | Some(b'&' | b'"' | b'\'' | b' '))
}

fn is_percent_delimiter(rest: &[u8]) -> bool {
    let code = rest.get(1..3).map(<[u8]>::to_ascii_lowercase);
    matches!(
        code.as_deref(),
        Some(b"26" | b"22" | b"0a" | b"0d" | b"20" | b"3b" | b"2c" | b"7d" | b"27")
    )
}

/// The full stop after a sentence is no part of the value.
fn trim_sentence(text: &str, opening: &Opening, end: usize) -> usize {
    let value = &text[opening.start..end];
    let trimmed = match opening.operator {
        Operator::Prose | Operator::Blank | Operator::Colon => {
            value.trim_end_matches(['.', ':', '?', ';', ','])
        }
        _ => value.trim_end_matches([';', ',']),
    };
    opening.start + trimmed.len()
}
