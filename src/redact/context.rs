//! Finds secrets by what stands around them: a name and an operator, a header, an URL.
//!
//! A walk over one text, fed with the places where a name's stem, `://` or `bearer` stands, in
//! the order of the text. What one place has settled is not looked at again, so that no input
//! makes it take more than linear time.

use std::ops::Range;

use super::cursor::Quote;
use super::end::{limit, value_end};
use super::header::{cookie_pairs, is_cookie_name, scheme_len};
use super::name::{Claim, claim};
use super::natural::looks_random;
use super::read::{Opening, Operator, opening};
use super::url::{authority, is_url_password, is_url_token, userinfo};
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
        Self { text, named: 0, bare: 0..0, url: 0, found: Vec::new() }
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
        if self.is_plainly_prose(&name, &open) {
            return;
        }
        let full = self.with_words_before(&name);
        let written = &self.text[full];
        if is_cookie_name(written) {
            self.cookies(&open, written.starts_with('-'));
        } else if let Some(claim) = claim(written) {
            self.value(&name, open, claim);
        }
    }

    /// Whether a short word without a digit follows, as in most sentences and most code; asked
    /// before anything that costs more.
    fn is_plainly_prose(&self, name: &Range<usize>, open: &Opening) -> bool {
        let is_loose =
            matches!(open.operator, Operator::Blank | Operator::Prose) && open.quote == Quote::Bare;
        if !is_loose
            || self.text[name.clone()].ends_with("word")
            || self.text[name.clone()].starts_with('-')
        {
            return false;
        }
        let ahead = self.text.as_bytes()[open.start..].iter().take(16);
        let word = ahead.take_while(|b| !b.is_ascii_whitespace());
        word.clone().count() < 12 && !word.into_iter().any(u8::is_ascii_digit)
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
            start -= 1 + before.iter().rev().take_while(|b| b.is_ascii_alphabetic()).count();
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
            let kind = if scheme > 0 { Kind::Authorization } else { Kind::of(claim) };
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
            Operator::Tight => {
                let commands = ["export ", "setenv ", "ENV ", "ARG ", "setx ", "&& set "];
                commands.iter().any(|c| before.ends_with(c)) || self.is_setting(name)
            }
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

    /// `DB_PASSWORD=…` in an environment, `;Password=…` in a connection string: what follows is a
    /// value even when it is a word.
    fn is_setting(&self, name: &Range<usize>) -> bool {
        let written = &self.text[name.clone()];
        let is_constant = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        let before = self.text[..name.start].trim_end_matches(' ').as_bytes().last();
        claim(written) == Some(Claim::Password)
            && (written.bytes().all(is_constant) || before == Some(&b';'))
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
        let end = rest.find(['\n', '\r', '"', '\'', '`', '\\', '<']).unwrap_or(rest.len());
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
        let start = word.end + self.text[word.end..].bytes().take_while(|b| *b == b' ').count();
        let open =
            Opening { start, quote: Quote::Bare, operator: Operator::Tight, quoted_name: false };
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
