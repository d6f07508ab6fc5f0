//! Code fences and code spans that their content cannot close.

use memchr::memchr;

/// A fenced block of this text, without a line break at its end. `info` names the language.
pub(crate) fn fenced(info: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{info}\n{text}{line_end}{fence}")
}

/// A code span of this text, on one line.
pub(crate) fn span(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    let text = text.replace(super::name::ends_line, " ");
    // A reader takes one space off each side where both have one.
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// The longest run of backticks. Pandoc drops carriage returns, so runs meet across them.
fn longest_run(text: &str) -> usize {
    let (mut run, mut longest) = (0, 0);
    let first = memchr(b'`', text.as_bytes()).unwrap_or(text.len());
    for byte in text.bytes().skip(first) {
        match byte {
            b'`' => run += 1,
            b'\r' => {}
            _ => run = 0,
        }
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::{fenced, span};

    #[test]
    fn a_fence_is_longer_than_any_run_inside() {
        assert_eq!(fenced("json", "{}"), "```json\n{}\n```");
        assert_eq!(fenced("text", ""), "```text\n```");
        assert_eq!(fenced("text", "a\n````\n"), "`````text\na\n````\n`````");
        assert_eq!(fenced("text", "``\r``"), "`````text\n``\r``\n`````");
    }

    #[test]
    fn a_span_stays_on_its_line() {
        assert_eq!(span("a`b\nc"), "``a`b c``");
        assert_eq!(span("`"), "`` ` ``");
    }
}
