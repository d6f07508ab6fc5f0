//! What stands in front of a line's content: indentation, quotation marks and list marks.

/// The length of a line's indentation, quotation marks and list marks; a mark with nothing behind
/// it is content.
pub(super) fn margin(line: &str) -> usize {
    const BLANK: [char; 2] = [' ', '\t'];
    let mut content = line.trim_start_matches([' ', '\t', '>']);
    while let Some(rest) = behind_mark(content).filter(|rest| rest.starts_with(BLANK)) {
        let rest = rest.trim_start_matches([' ', '\t', '>']);
        if rest.trim_end().is_empty() || rest.starts_with('\n') {
            break;
        }
        content = rest;
    }
    line.len() - content.len()
}

/// Whether a line is empty to its neighbour, which has this margin.
pub(super) fn is_blank(line: &str, margin: &str) -> bool {
    let is_quoted = margin.contains('>');
    line.chars().all(|c| c.is_whitespace() || is_quoted && c == '>')
}

/// What follows a bullet, or a number such as `12.` or `3)`.
fn behind_mark(content: &str) -> Option<&str> {
    if let Some(rest) = content.strip_prefix(['-', '+', '*']) {
        return Some(rest);
    }
    let rest = content.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < content.len()).then(|| rest.strip_prefix(['.', ')']))?
}
