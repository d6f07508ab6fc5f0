//! What rules' expressions are made of beside what is written: macros, guards, and ASCII classes.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// Between a name and its value: closing quotes, a type, an operator, opening quotes. Quotes may
/// be escaped any number of times, or be HTML entities.
macro_rules! operator {
    () => {
        r#"(?:\x1b\[[0-9;]{0,12}m)?(?:\\*["'`]|&quot;|[\])]){0,3}(?: value| content)?[ \t]{0,8}(?::[ \t]?&?(?:'static )?[A-Za-z]{3,10}[ \t]?|string[ \t]{1,2})?(?:=>|:{0,3}=|={2,3}|[.?]=|:|,|>(?:\\n|\n)?|\||%3[Dd]|(?-u:\b)(?:is|to)(?-u:\b))[ \t]{0,16}(?:\\*["'`(]|[bfru]["']|&quot;|\\[nrt]|[ \t]){0,3}(?:(?i:bearer|basic|token)[ \t]+)?"#
    };
}

/// What `{{assign}}` stands for: the rest of a name, and an operator.
pub(super) const ASSIGN: &str = concat!(r"[A-Za-z0-9_.\-( ]{0,40}?", operator!());

/// What `{{credential}}` stands for: the rest of a name that says it is a credential, and an
/// operator or a blank.
pub(super) const CREDENTIAL: &str = concat!(
    r"[A-Za-z0-9_.\-( ]{0,24}?(?i:key|token|secret|pass|pat|auth|cred|api|dsn|sid|private|access)[A-Za-z0-9_\- ]{0,16}?(?:",
    operator!(),
    r#"|[ \t]{1,4}(?:\\*["'`])?)"#
);

/// What `{{words}}` stands for: all of a text that is a name made of words, as programmers join
/// them, after up to three short parts.
pub(super) const WORDS: &str = r"^(?:(?:[a-z]{1,12}|[A-Z]{1,12})[0-9]{0,2}[._-]){0,3}(?:[a-z]+(?:[._-]+[a-z]+)*|[A-Z]+(?:[._-]+[A-Z]+)*|[a-z]*(?:[A-Z][a-z]{2,})+)[._-]?[0-9]{0,3}$";

/// Escapes whose last character is a letter or digit; none is longer than [`LONGEST_ESCAPE`].
macro_rules! escapes {
    () => {
        r"\\[abefnrtv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|=3D|\[[0-9;]{0,12}m"
    };
}

const LONGEST_ESCAPE: usize = 14; // bytes

/// Before a secret: no letter or digit, save the last one of an escape.
pub(super) const LEFT: &str = concat!(r"(?:(?-u:\b{start-half})|_|", escapes!(), ")");

/// Whether [`LEFT`] lets a secret begin here.
pub(super) fn may_begin(text: &str, at: usize) -> bool {
    static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!("(?:", escapes!(), r")\z")).expect("a constant, compiled in tests")
    });
    let before = &text.as_bytes()[at.saturating_sub(LONGEST_ESCAPE)..at];
    before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric()) || ESCAPE.is_match(before)
}

/// After a secret: no letter, digit or `_`.
pub(super) const RIGHT: &str = r"(?-u:\b{end-half})";

/// An expression in which `\d`, `\s`, `\w` and `\b` mean ASCII. Secrets are ASCII, tables of
/// Unicode take long to compile, and a Unicode `\b` makes the search several times slower.
pub(super) fn ascii(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 64);
    let (mut in_class, mut rest) = (0_usize, pattern.chars());
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                let escaped = rest.next();
                let is_half = escaped == Some('b') && rest.as_str().starts_with('{');
                push_escape(&mut out, escaped, in_class > 0 || is_half);
            }
            '[' => {
                in_class += 1;
                out.push(c);
            }
            ']' => {
                in_class = in_class.saturating_sub(1);
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn push_escape(out: &mut String, escaped: Option<char>, in_class: bool) {
    let set = match escaped {
        Some('d') => "0-9",
        Some('w') => "0-9A-Za-z_",
        Some('s') => r"\t\n\x0b\x0c\r\x20",
        Some('b') if !in_class => return out.push_str(r"(?-u:\b)"),
        Some('S') if !in_class => return out.push_str(r"[^\t\n\x0b\x0c\r\x20]"),
        Some('W') if !in_class => return out.push_str("[^0-9A-Za-z_]"),
        other => {
            out.push('\\');
            out.extend(other);
            return;
        }
    };
    if in_class {
        out.push_str(set);
    } else {
        out.push('[');
        out.push_str(set);
        out.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_may_begin_where_the_guard_says_so() {
        let guard = Regex::new(&format!("^(?s-u:.*){LEFT}x$")).unwrap();
        for before in [
            "",
            " ",
            "a",
            "9",
            "_",
            "é",
            "\\n",
            "n",
            "\\u001b[0m",
            "[0m",
            "0m",
            "%3D",
            "3D",
            "\\x1B",
            "=3D",
        ] {
            let text = format!("{before}x");
            let at = before.len();
            assert_eq!(may_begin(&text, at), guard.is_match(text.as_bytes()), "{before}");
        }
    }
}
