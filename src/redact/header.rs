//! Reads the values of HTTP headers: cookies, and the scheme before a credential.

use std::ops::Range;

use super::name::Claim;
use super::natural::looks_random;
use super::read::Operator;
use super::value::{Setting, is_secret};

/// Where the secrets stand in the value of a cookie header.
pub(super) fn cookie_pairs(value: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut secrets = Vec::new();
    for pair in value.split(';') {
        if let Some((name, value)) = pair.split_once('=') {
            let start = at + name.len() + 1;
            if is_cookie_secret(name.trim(), value) {
                secrets.push(start..start + value.trim_end().len());
            }
        }
        at += pair.len() + 1;
    }
    secrets
}

pub(super) fn is_cookie_name(name: &str) -> bool {
    let last = name.rsplit(['.', '_', ' ']).next().unwrap_or(name).trim_start_matches('-');
    ["cookie", "set-cookie", "cookies"].iter().any(|c| last.eq_ignore_ascii_case(c))
}

fn is_cookie_secret(name: &str, value: &str) -> bool {
    const ATTRIBUTES: &[&str] =
        &["path", "domain", "expires", "max-age", "samesite", "version", "priority"];
    let value = value.trim();
    let lower = name.to_ascii_lowercase();
    if ATTRIBUTES.contains(&lower.as_str()) {
        return false;
    }
    let is_session = [
        "sess", "sid", "auth", "token", "jwt", "login", "csrf", "xsrf", "remember", "secret",
        "key", "id",
    ]
    .iter()
    .any(|s| lower.contains(s));
    let setting = Setting { operator: Operator::Tight, quoted: false, certain: false };
    let claim = if is_session { Claim::Secret } else { Claim::Token };
    value.len() >= 6
        && (is_secret(value, claim, setting)
            || is_session && value.contains('%') && looks_random(value))
}

/// The length of an authorization scheme's name and the blanks after it.
pub(super) fn scheme_len(value: &str) -> usize {
    const SCHEMES: &[&str] = &[
        "bearer ",
        "basic ",
        "token ",
        "apikey ",
        "api-key ",
        "key ",
        "bot ",
        "jwt ",
        "negotiate ",
        "ntlm ",
        "genie",
        "geniekey ",
        "oauth ",
        "sso-key ",
        "klaviyo-api-key ",
        "splunk ",
        "pve",
        "ssws ",
        "zoho-oauthtoken ",
        "discogs token=",
        "token token=",
        "bearer: ",
        "bearer%20",
    ];
    let is_scheme = |s: &&&str| {
        value.len() > s.len()
            && s.ends_with([' ', '=', '0'])
            && value.as_bytes()[..s.len()].eq_ignore_ascii_case(s.as_bytes())
    };
    let Some(scheme) = SCHEMES.iter().find(is_scheme) else {
        return 0;
    };
    let blanks = value[scheme.len()..].bytes().take_while(|b| *b == b' ').count();
    scheme.len() + blanks
}

/// The length of what joins a scheme to its credential in code: `' + '`, `" . "`.
pub(super) fn joint_len(value: &str) -> usize {
    const JOINTS: &[&str] =
        &["' + '", "\" + \"", "'+'", "\"+\"", "' . '", "\" . \"", "\", \"", "', '"];
    JOINTS.iter().find(|joint| value.starts_with(**joint)).map_or(0, |joint| joint.len())
}
