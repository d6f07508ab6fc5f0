//! Expressions as Go's `regexp` reads them, which gitleaks' configuration holds, in the words of
//! the `regex` crate.
//!
//! Both come from RE2, and differ in what they take for granted: Go reads a `{` that begins no
//! repetition as itself, and within brackets a `[`, `&&` or `-` that the other language would
//! give a meaning.

/// The same expression for the `regex` crate. What neither knows is left for it to complain about.
pub(super) fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let len = match c {
            '\\' => escape(rest, &mut out),
            '[' => class(rest, &mut out),
            '{' if !is_repetition(rest) => {
                out.push_str("\\{");
                1
            }
            c => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    out
}

/// Writes what a backslash begins, and says how long it is.
fn escape(rest: &str, out: &mut String) -> usize {
    match rest[1..].chars().next() {
        Some('Q') => {
            let body = &rest[2..];
            let (quoted, len) = body.split_once("\\E").map_or((body, 0), |(body, _)| (body, 2));
            out.push_str(&regex::escape(quoted));
            2 + quoted.len() + len
        }
        // Ends of words in the other language.
        Some(c @ ('<' | '>')) => {
            out.push(c);
            2
        }
        Some(c) => {
            out.push('\\');
            out.push(c);
            1 + c.len_utf8()
        }
        None => {
            out.push('\\');
            1
        }
    }
}

/// Writes what stands in brackets, and says how long it is.
fn class(rest: &str, out: &mut String) -> usize {
    let mut at = 1;
    out.push('[');
    // What comes first is a member, whatever it is.
    for sign in ['^', ']'] {
        if rest[at..].starts_with(sign) {
            out.push_str(if sign == ']' { "\\]" } else { "^" });
            at += 1;
        }
    }
    let mut after_set = false;
    while let Some(c) = rest[at..].chars().next() {
        let ahead = &rest[at..];
        let is_set = ahead.starts_with("[:") && ahead.contains(":]");
        let is_escaped_set = ahead.as_bytes().get(1).is_some_and(|b| b"dDwWsS".contains(b));
        match c {
            ']' => {
                out.push(']');
                return at + 1;
            }
            '[' if is_set => {
                let len = ahead.find(":]").map_or(1, |end| end + 2);
                out.push_str(&ahead[..len]);
                at += len;
            }
            '\\' => {
                after_set = is_escaped_set;
                at += escape(ahead, out);
                continue;
            }
            '-' if after_set && !ahead.starts_with("-]") => {
                out.push_str("\\-");
                at += 1;
            }
            '[' | '&' | '~' => {
                out.push('\\');
                out.push(c);
                at += 1;
            }
            c => {
                out.push(c);
                at += c.len_utf8();
            }
        }
        after_set = is_set;
    }
    at
}

/// `{2}`, `{2,}`, `{2,4}`.
fn is_repetition(rest: &str) -> bool {
    let Some((inner, _)) = rest[1..].split_once('}') else { return false };
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let is_number = |n: &str| n.bytes().all(|b| b.is_ascii_digit());
    !least.is_empty() && is_number(least) && is_number(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_takes_for_itself_is_taken_for_itself() {
        for (pattern, text) in [
            (r"^\$(?:[0-9]+|{[0-9]+})$", "${12}"),
            (r"^{{x}}a{2}$", "{{x}}aa"),
            (r"^[[({]x$", "[x"),
            (r"^[]a]+$", "]a"),
            (r"^[^]a]$", "b"),
            (r"^[\w-.]+$", "a-."),
            (r"^[a&&b]+$", "&"),
            (r"^[a~~b]+$", "~"),
            (r"^\Qa.b*\Ec$", "a.b*c"),
            (r"^\<x\>$", "<x>"),
            (r"^[[:alpha:]-]+$", "a-"),
            (r"^[\d\-x]{1,2}$", "-x"),
        ] {
            let regex = regex::Regex::new(&translated(pattern)).unwrap();
            assert!(regex.is_match(text), "{pattern} in {text}");
        }
    }

    #[test]
    fn what_both_read_alike_is_left_alone() {
        for pattern in ["(?i)[a-z0-9_-]{20,40}(?:[^x]|\\b|$)", "a{2,}b|\\x2f[-a]", "ключ[а-я]+"]
        {
            assert_eq!(translated(pattern), pattern);
        }
        for broken in ["[a", "\\", "[", "{", "\\Qab", "[]"] {
            let _ = translated(broken);
        }
    }
}
