//! Finds the user and password of an URL, and tells a password from what documents write there.

use std::ops::Range;

use super::end::limit;
use super::natural::looks_random;

/// What follows `://` up to the path, with what belongs to a password that nobody escaped.
pub(super) fn authority(text: &str, start: usize) -> Range<usize> {
    let ends = |c: char| c.is_whitespace() || "\"'`<>\\|,".contains(c) || c == '\u{1b}';
    let is_path = |c: char| matches!(c, '/' | '?' | '#');
    let rest = &text[start..limit(text, start + 1024)];
    let path = rest.find(|c| ends(c) || is_path(c)).unwrap_or(rest.len());
    let host = &rest[..path];
    let end = if host.contains(':') && !host.contains('@') && rest[path..].starts_with(is_path) {
        // A slash inside the password: the host follows a later `@`.
        let ahead = &rest[..limit(rest, path + 128)];
        let run = &ahead[..path + ahead[path..].find(ends).unwrap_or(ahead.len() - path)];
        match run.find('@').filter(|at| has_slashed_password(&run[..*at])) {
            Some(at) => at + run[at..].find(is_path).unwrap_or(run.len() - at),
            None => path,
        }
    } else {
        path
    };
    start..start + end
}

/// `user:pa/ss`: what stands after the colon is no port.
fn has_slashed_password(run: &str) -> bool {
    let after = run.split_once(':').map_or("", |(_, after)| after);
    !after.starts_with(|c: char| c.is_ascii_digit()) && !run.contains('.')
}

/// The user and the password in an authority, and which of them is the password.
pub(super) fn userinfo(text: &str, authority: &Range<usize>) -> Vec<(Range<usize>, bool)> {
    let written = &text[authority.clone()];
    let Some(at) = written.rfind('@').or_else(|| written.rfind("%40")) else {
        return Vec::new();
    };
    let part = |range: Range<usize>| authority.start + range.start..authority.start + range.end;
    match written[..at].find(':') {
        Some(colon) => vec![(part(0..colon), false), (part(colon + 1..at), true)],
        None => vec![(part(0..at), false)],
    }
}

pub(super) fn is_url_password(password: &str, user: &str) -> bool {
    const STAND_INS: &[&str] = &[
        "password",
        "pass",
        "passwd",
        "secret",
        "pwd",
        "user",
        "token",
        "root",
        "example",
        "changeme",
        "xxx",
        "x-oauth-basic",
    ];
    let user = user.trim_end_matches(':');
    let is_template = password.is_empty()
        || password.starts_with(['$', '{', '<', '%', '*', '[', '(']) && !looks_random(password)
        || password.starts_with("&lt;")
        || password.contains("${")
        || password.contains("{}")
        || password.contains("***")
        || password.contains("...")
        || password.contains("[REDACTED:")
        || password.eq_ignore_ascii_case("redacted")
        || password.to_ascii_lowercase().starts_with("your");
    !is_template
        && password != user
        && !STAND_INS.iter().any(|s| s.eq_ignore_ascii_case(password))
        && !is_all_x(password)
}

fn is_all_x(password: &str) -> bool {
    password.len() > 2 && password.bytes().all(|b| matches!(b, b'x' | b'X' | b'*' | b'.'))
}

pub(super) fn is_url_token(user: &str) -> bool {
    let is_hex = user.len() >= 32 && user.bytes().all(|b| b.is_ascii_hexdigit());
    user.len() >= 20 && (is_hex || looks_random(user)) && user.bytes().any(|b| b.is_ascii_digit())
}
