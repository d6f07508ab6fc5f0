//! Reads tables that blanks alone draw, as command lines print them: a head's cells stand right
//! above those of its column.

use std::ops::Range;

use super::end::limit;

/// Lines under a head, bytes that they take, and the length of a line.
const MAX_ROWS: usize = 40;
const MAX_BYTES: usize = 4096;
const MAX_LINE: usize = 240;

/// The cells under the head `name`; none where its line heads no such table.
pub(super) fn cells_below(text: &str, name: &Range<usize>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_gap = |two: &[u8]| matches!(two, [b' ' | b'\t', b' ' | b'\t', ..]);
    let follows = &bytes[name.end..];
    let ends = matches!(follows.first(), Some(b'\n' | b'\r'));
    let before = &bytes[name.start.saturating_sub(2)..name.start];
    let begins = name.start == 0 || before.ends_with(b"\n");
    let is_apart = begins || is_gap(before) || before.ends_with(b" ") && is_ruled(text, name);
    if !(ends || is_gap(follows)) || !is_apart || begins && ends {
        return Vec::new();
    }
    let from = limit(text, name.start.saturating_sub(MAX_LINE));
    let start = text[from..name.start].rfind('\n').map_or(from, |at| from + at + 1);
    let Some(end) = text[name.end..limit(text, name.end + MAX_LINE)].find('\n') else {
        return Vec::new();
    };
    let head = &text[start..name.end + end];
    if !is_head(head) {
        return Vec::new();
    }
    let below = name.end + end + 1;
    let column = name.start - start;
    let lines = text[below..limit(text, below + MAX_BYTES)].split('\n').take(MAX_ROWS);
    lines
        .map(str::trim_end)
        .take_while(|line| !line.is_empty())
        .filter(|line| !is_border(line))
        .map_while(|line| cell_at(text, line, column))
        .collect()
}

/// Whether the line below draws a line right under the head, so that one blank before it is enough.
fn is_ruled(text: &str, name: &Range<usize>) -> bool {
    let from = limit(text, name.start.saturating_sub(MAX_LINE));
    let start = text[from..name.start].rfind('\n').map_or(from, |at| from + at + 1);
    let rest = &text[name.end..limit(text, name.end + MAX_LINE)];
    let below = rest.split('\n').nth(1).unwrap_or_default().trim_end();
    let column = name.start - start;
    let line = below.get(column.saturating_sub(1)..).unwrap_or_default();
    column > 0 && below.len() > 2 && is_border(below) && line.starts_with(" -")
}

/// Two heads or more, of one or two words each.
fn is_head(line: &str) -> bool {
    let cells = || line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    let is_part = |c: char| c.is_alphanumeric() || " _-()#".contains(c);
    cells().nth(1).is_some()
        && cells().all(|cell| cell.chars().all(is_part) && cell.matches(' ').count() < 3)
}

fn is_border(line: &str) -> bool {
    line.chars().all(|c| "-=─━ ".contains(c))
}

/// The word that begins right under the head.
fn cell_at(text: &str, line: &str, column: usize) -> Option<Range<usize>> {
    let is_under = column == 0 || line.as_bytes().get(column - 1).is_some_and(|b| *b == b' ');
    let cell = line.get(column..).filter(|_| is_under)?;
    let word = cell.split([' ', '\t']).next().filter(|word| !word.is_empty())?;
    let start = word.as_ptr() as usize - text.as_ptr() as usize;
    Some(start..start + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
        let start = text.find(head).unwrap();
        let cells = cells_below(text, &(start..start + head.len()));
        cells.into_iter().map(|cell| &text[cell]).collect()
    }

    #[test]
    fn cells_stand_under_their_head() {
        let table = "NAME      PW       AGE\ngrafana   V        4d\nci        W        1d\n\nend";
        assert_eq!(cells(table, "PW"), ["V", "W"]);
        let ruled = "Host Name PW    Until\n--------- --    -----\nPC1       V     1/1\n";
        assert_eq!(cells(ruled, "PW"), ["V"]);
        let last = "user  pw\n----  --\nana   V\nbo    W\n";
        assert_eq!(cells(last, "pw"), ["V", "W"]);
        assert_eq!(cells("pw    user\nV     ana\n", "pw"), ["V"]);
    }

    #[test]
    fn a_sentence_heads_nothing() {
        for text in
            ["my pw is this\nand that is\n", "pw\nV\n", "a: 1  pw: 2\nb", "pw  x", "  pw\nabc"]
        {
            assert!(cells(text, "pw").is_empty(), "{text}");
        }
    }
}
