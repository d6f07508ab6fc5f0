//! Reads tables: a column whose head is a secret's name holds secrets, whatever draws its borders.
//!
//! Markdown, the clients of databases, and CSV are told apart by what separates the cells of the
//! head's line. Only so many lines below it are read, so that time stays linear.

use std::ops::Range;

use super::end::limit;

/// Lines under a head, and bytes that they take.
const MAX_ROWS: usize = 40;
const MAX_BYTES: usize = 4096;

/// A head's line, or a cell, is no longer.
const MAX_LINE: usize = 400;
const MAX_HEAD: usize = 40;

/// The cells of a column.
pub(super) struct Column {
    /// Where they stand, without blanks and quotes around them.
    pub(super) cells: Vec<Range<usize>>,
    /// Whether blanks and lines draw the table, and so its cells are no sentences.
    pub(super) is_drawn: bool,
}

/// The cells under the head `name`; `None` where its line heads no table.
pub(super) fn column_under(text: &str, name: &Range<usize>) -> Option<Column> {
    let separator = separator_beside(text, name)?;
    let from = limit(text, name.start.saturating_sub(MAX_LINE));
    let start = text[from..name.start].rfind('\n').map_or(from, |at| from + at + 1);
    let end = name.end + text[name.end..limit(text, name.end + MAX_LINE)].find('\n')?;
    let head = &text[start..end];
    let heads = head.split(separator);
    if heads.clone().count() < 2 || !heads.clone().all(|head| is_head(head, separator)) {
        return None;
    }
    let index = text[start..name.start].matches(separator).count();
    let width = heads.count();
    let mut at = end + 1;
    let last = limit(text, end + MAX_BYTES);
    // A drawn table has a line under its head; one of keys and values has none.
    let second = text[at.min(last)..last].split('\n').next().unwrap_or_default();
    // Scenarios of Gherkin have none, but heads that are no values.
    let is_ruled = !is_line(separator) || is_border(second);
    if !is_ruled
        && (head.contains(|c: char| c.is_ascii_digit())
            || !second.trim_start().starts_with(separator))
    {
        return None;
    }
    let mut cells = Vec::new();
    for _ in 0..MAX_ROWS {
        if at >= last {
            break;
        }
        let line = text[at..last].split('\n').next().unwrap_or_default();
        if !is_border(line) {
            let mut parts = line.split(separator);
            if parts.clone().count() != width {
                break;
            }
            let cell = parts.nth(index).unwrap_or_default();
            cells.push(trimmed(text, cell));
        }
        at += line.len() + 1;
    }
    Some(Column { cells, is_drawn: separator != ',' && is_ruled })
}

/// What stands between the name and its neighbour, or the line's end on one side of it.
fn separator_beside(text: &str, name: &Range<usize>) -> Option<char> {
    let is_separator = |c: char| matches!(c, ',' | '\t' | ';') || is_line(c);
    let quiet = |c: char| c == ' ' || c == '"';
    let after = text[name.end..].trim_start_matches(quiet).chars().next();
    let before = text[..name.start].trim_end_matches(quiet).chars().next_back();
    let is_edge = |c: Option<char>| c.is_none_or(|c| matches!(c, '\n' | '\r'));
    match (before.filter(|c| is_separator(*c)), after.filter(|c| is_separator(*c))) {
        (Some(left), Some(right)) => (left == right).then_some(left),
        (Some(left), None) => is_edge(after).then_some(left),
        (None, right) => right.filter(|_| is_edge(before)),
    }
}

/// A column's head: a few words, and none of them a value.
fn is_head(head: &str, separator: char) -> bool {
    let bare = head.trim().trim_matches('"');
    let is_part = |c: char| c.is_alphanumeric() || " _-.()/*`#".contains(c);
    let may_be_empty = is_line(separator);
    (may_be_empty || !bare.is_empty())
        && bare.len() <= MAX_HEAD
        && bare.chars().all(is_part)
        && (is_line(separator) || !bare.contains(|c: char| c.is_ascii_digit()))
        && (separator != ',' || bare.matches(' ').count() < 2)
}

/// What draws the lines between columns.
pub(super) fn is_line(c: char) -> bool {
    matches!(c, '|' | '│' | '┃' | '║')
}

/// `|---|---|`, `+----+`, `├────┤`.
fn is_border(line: &str) -> bool {
    let line = line.trim();
    let is_drawn = |c: char| ('\u{2500}'..='\u{257F}').contains(&c);
    line.len() > 2
        && line.chars().all(|c| "-+|:= ".contains(c) || is_drawn(c))
        && line.contains(['-', '─', '━', '═'])
}

/// A cell without the blanks and marks around it.
fn trimmed(text: &str, cell: &str) -> Range<usize> {
    let bare = cell.trim().trim_matches(['"', '\'', '`']);
    let start = bare.as_ptr() as usize - text.as_ptr() as usize;
    start..start + bare.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells<'a>(text: &'a str, head: &str) -> Option<Vec<&'a str>> {
        let start = text.find(head).unwrap();
        let column = column_under(text, &(start..start + head.len()))?;
        Some(column.cells.into_iter().map(|cell| &text[cell]).collect())
    }

    #[test]
    fn a_column_is_read_in_every_drawing() {
        for text in [
            "| user | pw |\n|---|---|\n| ana | V |\n| bo | W |\n\nnext | line",
            " user | pw \n------+----\n ana  | V\n bo   | W\n(2 rows)\n",
            "+------+----+\n| user | pw |\n+------+----+\n| ana  | V  |\n| bo | W |\n+------+----+\n",
            "user,pw\nana,V\nbo,W\n",
            "user;pw;n\nana;\"V\";1\nbo;W;2\n",
            "user\tpw\nana\tV\nbo\tW\n",
            "┌──────┬────┐\n│ user │ pw │\n├──────┼────┤\n│ ana  │ V  │\n│ bo   │ W  │\n└──────┴────┘",
            "╔══════╦════╗\n║ user ║ pw ║\n╠══════╬════╣\n║ ana  ║ V  ║\n║ bo   ║ W  ║\n╚══════╩════╝",
        ] {
            assert_eq!(cells(text, "pw"), Some(vec!["V", "W"]), "{text}");
        }
    }

    #[test]
    fn a_sentence_heads_no_table() {
        for text in [
            "the name, the pw, and so on\nthis, that, other\n",
            "pw: a, b\nc, d\n",
            "f(user, pw)\nab, cd\n",
            "pw\nx\n",
            "user, pw",
        ] {
            assert!(cells(text, "pw").is_none_or(|cells| cells.is_empty()), "{text}");
        }
    }
}
