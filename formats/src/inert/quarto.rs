//! What Quarto and knitr act on inside code: a longer fence is no protection from them, so a
//! zero-width space breaks each such mark.
//!
//! Marks: code cells and inline code (`` ``` `` or `` ` `` before a brace, `` `r ``), shortcodes,
//! comments (one opened in a code block swallows fences), lines that begin or end YAML. Pandoc
//! drops carriage returns, so two halves of a mark may stand on either side of one.

use super::name::ends_line;

/// Invisible, and neither white space nor a word to any of these programs.
const BREAK: char = '\u{200b}';

/// The text with every mark broken, and how many there were.
pub(super) fn disarmed(text: &str) -> (String, u64) {
    let mut cuts = lone_marks(text);
    cuts.extend(text.char_indices().filter_map(|(at, c)| cut(text, at, c)));
    cuts.sort_unstable();
    cuts.dedup();
    let mut out = String::with_capacity(text.len() + BREAK.len_utf8() * cuts.len());
    let mut from = 0;
    for &at in &cuts {
        out.push_str(&text[from..at]);
        out.push(BREAK);
        from = at;
    }
    out.push_str(&text[from..]);
    (out, cuts.len() as u64)
}

/// Where the mark that begins at this character must be broken.
fn cut(text: &str, at: usize, c: char) -> Option<usize> {
    let rest = &text[at + c.len_utf8()..];
    let acts = match c {
        '`' => opens_cell(rest) || runs_r(rest),
        '~' => opens_cell(rest),
        '{' => rest.starts_with("{<") || rest.starts_with("{%"),
        '<' => rest.starts_with("!--"),
        '-' => rest.starts_with("->"),
        '\r' => !rest.starts_with('\n'),
        _ => false,
    };
    acts.then_some(at + c.len_utf8())
}

/// Whether a brace follows on the line.
fn opens_cell(rest: &str) -> bool {
    rest.trim_start_matches(|c: char| c != '\n' && (c.is_whitespace() || c == '\u{feff}'))
        .starts_with('{')
}

/// Whether an `r` follows that is a word.
fn runs_r(rest: &str) -> bool {
    rest.strip_prefix('r')
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

/// The places behind the first character of each `---` or `...` that is alone on its line, or in
/// a quotation.
fn lone_marks(text: &str) -> Vec<usize> {
    let mut marks = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(ends_line) {
        let content = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
        if matches!(content.trim_end(), "---" | "...") {
            marks.push(start + line.len() - content.len() + 1);
        }
        start += line.len();
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::disarmed;

    #[test]
    fn every_mark_is_broken_and_counted() {
        let cases = [
            ("```{r}", "```|{r}", 1),
            ("~~~ {python}", "~~~| {python}", 1),
            ("`r f()` `{x} y`", "`|r f()` `|{x} y`", 2),
            ("{{{< env X >}}}", "{{|{< env X >}}}", 1),
            ("<!-- --->", "<|!-- --|->", 2),
            ("a\n---\n> ... \n", "a\n-|--\n> .|.. \n", 2),
            ("a\r---\u{2028}...", "a\r|-|--\u{2028}.|..", 3),
            ("{{\r<", "{{\r|<", 1),
        ];
        for (text, wanted, count) in cases {
            assert_eq!(disarmed(text), (wanted.replace('|', "\u{200b}"), count), "{text}");
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in ["line1\r\nline2", "a -- b ... {c} `ruby` `x`", "## Title\n----\n"] {
            assert_eq!(disarmed(text), (text.to_owned(), 0));
        }
    }
}
