//! Reads values that stand in a list of their own, in the order of the names before it:
//! `INSERT INTO users (name, password) VALUES ('ana', '…')` and `user, password = "ana", "…"`.
//!
//! Both lists are short, or are none: only so many bytes of each are looked at.

use std::ops::Range;

use super::cursor::{Cursor, Quote};
use super::end::limit;

/// Bytes of a list of names on each side of one of them.
const MAX_NAMES: usize = 300;

/// Bytes of all rows of values.
const MAX_VALUES: usize = 4096;

/// The quoted values that belong to `name`, one in each row; empty where no list of values follows.
pub(super) fn values_beside(text: &str, name: &Range<usize>) -> Vec<Range<usize>> {
    let after = text[name.end..].trim_start_matches(['"', '\'', '`', ']', ' ']);
    let is_last = after.starts_with(['=', ':']) && text[..name.start].trim_end().ends_with(',');
    if !is_last && !after.starts_with([',', ')']) {
        return Vec::new();
    }
    let Some(names) = Names::round(text, name) else { return Vec::new() };
    let last = limit(text, names.values + MAX_VALUES);
    let mut at = Cursor { bytes: &text.as_bytes()[..last], at: names.values };
    let mut values = Vec::new();
    loop {
        values.extend(row(&mut at, names.index));
        skip_space(&mut at);
        if !names.in_brackets || !at.eat(",") {
            return values;
        }
        skip_space(&mut at);
        if !at.eat("(") {
            return values;
        }
    }
}

/// A list of names before a list of values.
struct Names {
    /// How many names stand before the one that is asked for.
    index: usize,
    in_brackets: bool,
    /// Where the first value begins.
    values: usize,
}

impl Names {
    fn round(text: &str, name: &Range<usize>) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_part = |b: &&u8| b.is_ascii_alphanumeric() || b"_.,\"'`[] \t@$".contains(b);
        let before = bytes[..name.start].iter().rev().take(MAX_NAMES).take_while(is_part).count();
        let after = bytes[name.end..].iter().take(MAX_NAMES).take_while(is_part).count();
        let start = name.start - before;
        let in_brackets = start > 0 && bytes[start - 1] == b'(';
        let index = memchr::memchr_iter(b',', &bytes[start..name.start]).count();
        let mut at = Cursor { bytes, at: name.end + after };
        if in_brackets {
            let closes = at.eat(")");
            skip_space(&mut at);
            let opens = closes && at.eat("values");
            skip_space(&mut at);
            return (opens && at.eat("(")).then_some(Self { index, in_brackets, values: at.at });
        }
        at.eat(":");
        let is_list = index + memchr::memchr_iter(b',', &bytes[name.end..name.end + after]).count();
        let assigns = is_list > 0 && at.eat("=") && !matches!(at.peek(), Some(b'=' | b'>'));
        at.skip_blanks();
        at.eat("(");
        let is_quoted = matches!(at.peek(), Some(b'"' | b'\'' | b'`' | b'\\'));
        (assigns && is_quoted).then_some(Self { index, in_brackets, values: at.at })
    }
}

/// Reads one row up to its end; the value at a place in it, if that is quoted.
fn row(at: &mut Cursor<'_>, index: usize) -> Option<Range<usize>> {
    let mut found = None;
    for place in 0.. {
        at.skip_blanks();
        if matches!(at.peek(), Some(b'N' | b'b' | b'r' | b'E'))
            && matches!(at.bytes.get(at.at + 1), Some(b'\'' | b'"'))
        {
            at.at += 1;
        }
        let value = quoted(at);
        if place == index {
            found = value;
        }
        let rest = &at.bytes[at.at..];
        at.at += rest.iter().take_while(|b| !matches!(b, b',' | b')' | b'\n')).count();
        if !at.eat(",") {
            break;
        }
    }
    at.eat(")");
    found
}

/// The text between two quotes, which may hold the quote twice.
fn quoted(at: &mut Cursor<'_>) -> Option<Range<usize>> {
    let Quote::Mark(mark, _) = at.eat_quote()? else { return None };
    let start = at.at;
    loop {
        at.at += memchr::memchr2(mark, b'\n', &at.bytes[at.at..])?;
        if at.peek() == Some(b'\n') {
            return None;
        }
        at.at += 1;
        if at.peek() != Some(mark) {
            break;
        }
        at.at += 1;
    }
    let value = &at.bytes[start..at.at - 1];
    let slashes = value.iter().rev().take_while(|b| **b == b'\\').count();
    Some(start..at.at - 1 - slashes)
}

fn skip_space(at: &mut Cursor<'_>) {
    for _ in 0..4 {
        at.skip_blanks();
        at.eat_any(&["\r\n", "\n", "\\n"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
        let start = text.find(name).unwrap();
        let values = values_beside(text, &(start..start + name.len()));
        values.into_iter().map(|value| &text[value]).collect()
    }

    #[test]
    fn a_value_stands_where_its_name_does() {
        for text in [
            "INSERT INTO t (id, pw) VALUES (1, 'V');",
            "insert into t (`pw`, `x`)\nvalues ('V', now())",
            "INSERT INTO t (x, \"pw\", y) VALUES ('a, b', N'V', 'c')",
            "user, pw = \"ana\", \"V\"",
            "user, pw := `ana`, `V`",
            "pw, user := 'V', 'ana'",
        ] {
            assert_eq!(values(text, "pw"), ["V"], "{text}");
        }
        let rows = "INSERT INTO t (n, pw) VALUES ('a', 'V'), ('it''s', 'W'),\n('c', NULL);";
        assert_eq!(values(rows, "pw"), ["V", "W"]);
    }

    #[test]
    fn other_lists_have_no_values() {
        for text in [
            "f(user, pw)",
            "SELECT id, pw FROM t",
            "user, pw = a, b",
            "pw == \"x\", \"y\"",
            "pw = \"V\"",
            "INSERT INTO t (id, pw) VALUES (?, ?)",
        ] {
            assert_eq!(values(text, "pw"), Vec::<&str>::new(), "{text}");
        }
    }
}
