//! Finds secrets by what stands around them: a name and an operator, a header, an URL.
//!
//! A walk over one text, fed with the places where a name's stem, `://` or `bearer` stands, in
//! the order of the text. What one place has settled is not looked at again, so that no input
//! makes it take more than linear time.

use std::ops::Range;

use super::name::{Claim, claim};
use super::natural::looks_random;
use super::read::{Opening, Operator, Quote, limit, opening, value_end};
use super::value::{Setting, is_secret};

/// What kind of context gave a secret away; its name stands in the marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Password,
    Secret,
    Token,
    Authorization,
    Cookie,
    UrlPassword,
    KnownValue,
    PlatformId,
}

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Password,
        Self::Secret,
        Self::Token,
        Self::Authorization,
        Self::Cookie,
        Self::UrlPassword,
        Self::KnownValue,
        Self::PlatformId,
    ];

    /// The rule's id.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::Authorization => "authorization",
            Self::Cookie => "cookie",
            Self::UrlPassword => "url-password",
            Self::KnownValue => "known-value",
            Self::PlatformId => "platform-id",
        }
    }

    pub(super) fn of(claim: Claim) -> Self {
        match claim {
            Claim::Password => Self::Password,
            Claim::Secret => Self::Secret,
            Claim::Token | Claim::Key => Self::Token,
        }
    }
}

/// The walk over one text.
pub(super) struct Walk<'t> {
    text: &'t str,
    /// Names that begin before this are settled.
    named: usize,
    /// The last value without quotes that was no secret.
    bare: Range<usize>,
    /// URLs that begin before this are settled.
    url: usize,
    /// What was found.
    pub(super) found: Vec<(Range<usize>, Kind)>,
}

/// Longer names are none.
const MAX_NAME: usize = 64;

impl<'t> Walk<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            named: 0,
            bare: 0..0,
            url: 0,
            found: Vec::new(),
        }
    }

    /// What ends here is a marker, and says nothing about what follows.
    pub(super) fn settle(&mut self, end: usize) {
        self.named = self.named.max(end);
        self.url = self.url.max(end);
    }

    /// A stem of a name stands here.
    pub(super) fn at_name(&mut self, stem: &Range<usize>) {
        if stem.start < self.named {
            return;
        }
        let name = self.name_around(stem);
        self.named = name.end;
        let Some(open) = opening(self.text, &name) else {
            return;
        };
        let full = self.with_words_before(&name);
        let written = &self.text[full];
        if is_cookie_name(written) {
            self.cookies(&open, written.starts_with('-'));
        } else if let Some(claim) = claim(written) {
            self.value(&name, open, claim);
        }
    }

    /// The identifier that the stem is part of.
    fn name_around(&self, stem: &Range<usize>) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
        let before = &bytes[stem.start.saturating_sub(MAX_NAME)..stem.start];
        let mut start = stem.start - before.iter().rev().take_while(|b| is_part(b)).count();
        if start > 0
            && start < stem.start
            && bytes[start - 1] == b'\\'
            && b"nrtbf".contains(&bytes[start])
        {
            start += 1;
        }
        let after = &bytes[stem.end..bytes.len().min(stem.end + MAX_NAME)];
        let end = stem.end + after.iter().take_while(|b| is_part(b)).count();
        start..end
    }

    /// `Secret Access Key`: a short name takes the words before it along.
    fn with_words_before(&self, name: &Range<usize>) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let mut start = name.start;
        for _ in 0..3 {
            let blank =
                start > 1 && bytes[start - 1] == b' ' && bytes[start - 2].is_ascii_alphabetic();
            if !blank || name.end - name.start > 14 {
                break;
            }
            let before = &bytes[start.saturating_sub(20)..start - 1];
            start -= 1 + before
                .iter()
                .rev()
                .take_while(|b| b.is_ascii_alphabetic())
                .count();
        }
        start..name.end
    }

    fn value(&mut self, name: &Range<usize>, mut open: Opening, claim: Claim) {
        let option = self.text[name.clone()].starts_with('-');
        if option && open.operator == Operator::Blank {
            open.operator = Operator::Tight;
        }
        let scheme = scheme_len(&self.text[open.start..]);
        open.start += scheme;
        if scheme > 0 && open.quote == Quote::Bare {
            open.operator = Operator::Tight;
        }
        let end = self.end_of(&open);
        let setting = Setting::of(&open, self.is_certain(name, &open));
        let before = name.start.checked_sub(1).map(|at| self.text.as_bytes()[at]);
        let is_parameter = open.operator == Operator::Tight && matches!(before, Some(b'?' | b'&'));
        let claim = if scheme > 0 {
            claim.max(Claim::Secret)
        } else if is_parameter {
            claim.max(Claim::Token)
        } else {
            claim
        };
        let range = open.start..end;
        if !range.is_empty() && is_secret(&self.text[range.clone()], claim, setting) {
            let kind = if scheme > 0 {
                Kind::Authorization
            } else {
                Kind::of(claim)
            };
            self.named = self.named.max(end);
            self.found.push((range, kind));
        }
    }

    fn end_of(&mut self, open: &Opening) -> usize {
        if open.quote == Quote::Bare && self.bare.contains(&open.start) {
            return self.bare.end;
        }
        let end = value_end(self.text, open);
        if open.quote == Quote::Bare {
            self.bare = open.start..end;
        }
        end
    }

    /// Whether a command says that this is a value: `export TOKEN=abc`, or a netrc entry.
    fn is_certain(&self, name: &Range<usize>, open: &Opening) -> bool {
        let from =
            (name.start.saturating_sub(80)..=name.start).find(|i| self.text.is_char_boundary(*i));
        let before = &self.text[from.unwrap_or(name.start)..name.start];
        match open.operator {
            Operator::Tight => ["export ", "setenv ", "ENV ", "ARG ", "setx ", "&& set "]
                .iter()
                .any(|c| before.ends_with(c)),
            Operator::Blank => {
                let is_netrc = before.contains("login ")
                    && (before.contains("machine ")
                        || self.text[name.clone()].eq_ignore_ascii_case("password"));
                is_netrc
                    && !before.contains('.')
                        | before.contains("machine ")
                        | before.trim_start().starts_with("login ")
            }
            _ => false,
        }
    }

    /// `Cookie: theme=dark; session=…`.
    fn cookies(&mut self, open: &Opening, option: bool) {
        let is_joined = matches!(
            open.operator,
            Operator::Colon | Operator::Tight | Operator::Equals | Operator::Call
        );
        if !is_joined && (open.operator != Operator::Blank || !option) {
            return;
        }
        let rest = &self.text[open.start..limit(self.text, open.start + 8192)];
        let end = rest
            .find(['\n', '\r', '"', '\'', '`', '\\', '<'])
            .unwrap_or(rest.len());
        for pair in cookie_pairs(&rest[..end]) {
            let range = pair.start + open.start..pair.end + open.start;
            self.found.push((range, Kind::Cookie));
        }
        self.named = self.named.max(open.start + end);
    }

    /// `bearer` or `basic` stands here, with a blank after it.
    pub(super) fn at_scheme(&mut self, word: &Range<usize>) {
        if word.start < self.named {
            return;
        }
        let start = word.end
            + self.text[word.end..]
                .bytes()
                .take_while(|b| *b == b' ')
                .count();
        let open = Opening {
            start,
            quote: Quote::Bare,
            operator: Operator::Tight,
            quoted_name: false,
        };
        let end = self.end_of(&open);
        let value = &self.text[start..end];
        let setting = Setting::of(&open, false);
        let is_basic = self.text[word.clone()].eq_ignore_ascii_case("basic ");
        if is_secret(value, Claim::Secret, setting) && (!is_basic || looks_random(value)) {
            self.named = end;
            self.found.push((start..end, Kind::Authorization));
        }
    }

    /// `://` stands here.
    pub(super) fn at_url(&mut self, mark: &Range<usize>) {
        if mark.start < self.url {
            return;
        }
        let authority = authority(self.text, mark.end);
        self.url = authority.end;
        if let Some((range, is_password)) = userinfo(self.text, &authority) {
            let value = &self.text[range.clone()];
            if is_password && is_url_password(value, &self.text[authority.start..range.start])
                || !is_password && is_url_token(value)
            {
                self.found.push((range, Kind::UrlPassword));
            }
        }
    }
}

/// Where the secrets stand in the value of a cookie header; `None` where the name is none's.
pub(super) fn cookie_secrets(name: &str, value: &str) -> Option<Vec<Range<usize>>> {
    (is_cookie_name(name) && value.contains('=')).then(|| cookie_pairs(value))
}

fn cookie_pairs(value: &str) -> Vec<Range<usize>> {
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

fn is_cookie_name(name: &str) -> bool {
    let last = name
        .rsplit(['.', '_', ' '])
        .next()
        .unwrap_or(name)
        .trim_start_matches('-');
    ["cookie", "set-cookie", "cookies"]
        .iter()
        .any(|c| last.eq_ignore_ascii_case(c))
}

fn is_cookie_secret(name: &str, value: &str) -> bool {
    const ATTRIBUTES: &[&str] = &[
        "path", "domain", "expires", "max-age", "samesite", "version", "priority",
    ];
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
    let setting = Setting {
        operator: Operator::Tight,
        quoted: false,
        certain: false,
    };
    let claim = if is_session {
        Claim::Secret
    } else {
        Claim::Token
    };
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
    let blanks = value[scheme.len()..]
        .bytes()
        .take_while(|b| *b == b' ')
        .count();
    scheme.len() + blanks
}

/// What follows `://` up to the path, with what belongs to a password that nobody escaped.
fn authority(text: &str, start: usize) -> Range<usize> {
    let rest = &text[start..limit(text, start + 1024)];
    let ends = |c: char| c.is_whitespace() || "\"'`<>\\|,".contains(c) || c == '\u{1b}';
    let end = rest.find(ends).unwrap_or(rest.len());
    let run = &rest[..end];
    let path = run.find(['/', '?', '#']).unwrap_or(run.len());
    // A slash inside the password: the host follows a later `@`.
    let end = match run[path..].find('@') {
        Some(at)
            if !run[..path].contains('@')
                && run[..path].contains(':')
                && has_slashed_password(&run[..path + at]) =>
        {
            path + at
                + run[path + at..]
                    .find(['/', '?', '#'])
                    .unwrap_or(run.len() - path - at)
        }
        _ => path,
    };
    start..start + end
}

/// `user:pa/ss`: what stands after the colon is no port.
fn has_slashed_password(run: &str) -> bool {
    let after = run.split_once(':').map_or("", |(_, after)| after);
    !after.starts_with(|c: char| c.is_ascii_digit()) && !run.contains('.')
}

/// The password in an authority, or its user where there is no password.
fn userinfo(text: &str, authority: &Range<usize>) -> Option<(Range<usize>, bool)> {
    let written = &text[authority.clone()];
    let at = written.rfind('@').or_else(|| written.rfind("%40"))?;
    Some(match written[..at].find(':') {
        Some(colon) => (authority.start + colon + 1..authority.start + at, true),
        None => (authority.start..authority.start + at, false),
    })
}

fn is_url_password(password: &str, user: &str) -> bool {
    const STAND_INS: &[&str] = &[
        "password", "pass", "passwd", "secret", "pwd", "user", "token", "root", "example",
        "changeme", "xxx",
    ];
    let user = user.trim_end_matches(':');
    let is_template = password.is_empty()
        || password.starts_with(['$', '{', '<', '%', '*', '[', '(']) && !looks_random(password)
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
    password.len() > 2
        && password
            .bytes()
            .all(|b| matches!(b, b'x' | b'X' | b'*' | b'.'))
}

fn is_url_token(user: &str) -> bool {
    user.len() >= 20 && looks_random(user) && user.bytes().any(|b| b.is_ascii_digit())
}
