//! Finds secrets by what stands around them: a name and an operator, a header, an URL.
//!
//! A walk over one text, fed with the places where a name's stem, `://` or `bearer` stands, in
//! the order of the text. What one place has settled is not looked at again, so that no input
//! makes it take more than linear time.

use std::ops::Range;

use super::aligned::cells_below;
use super::cursor::Quote;
use super::echo::answer_below;
use super::end::{limit, value_end};
use super::header::{cookie_pairs, is_cookie_name, joint_len, scheme_len};
use super::name::{Claim, claim};
use super::natural::looks_random;
use super::parallel::values_beside;
use super::read::{Opening, Operator, opening};
use super::rule::Group;
use super::table::column_under;
use super::tongues::{is_end, is_unspaced};
use super::url::{authority, is_url_password, is_url_token, userinfo};
use super::value::{Setting, is_secret};
use super::words::WordSet;

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
    SeedPhrase,
    PlatformId,
}

impl Kind {
    pub(super) const ALL: [Self; 9] = [
        Self::Password,
        Self::Secret,
        Self::Token,
        Self::Authorization,
        Self::Cookie,
        Self::UrlPassword,
        Self::KnownValue,
        Self::SeedPhrase,
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
            Self::SeedPhrase => "seed-phrase",
            Self::PlatformId => "platform-id",
        }
    }

    /// One line for people.
    fn description(self) -> &'static str {
        match self {
            Self::Password => "Password that its name, or what stands round it, gives away",
            Self::Secret => "Key, client secret or the like under a name that says so",
            Self::Token => "Token or credential under a name that says so",
            Self::Authorization => "What follows the scheme of an Authorization header",
            Self::Cookie => "Value of a cookie that carries a session",
            Self::UrlPassword => "Password, or token in its place, before the host of an URL",
            Self::KnownValue => {
                "Value of a file in which Hermes keeps secrets, or of --redact-values"
            }
            Self::SeedPhrase => "Recovery phrase of a wallet: words of BIP39 that carry their sum",
            Self::PlatformId => "Id of a user or chat under its name, or in a column for it",
        }
    }

    fn group(self) -> Group {
        if self == Self::PlatformId { Group::Pii } else { Group::Secrets }
    }

    pub(super) fn of(claim: Claim) -> Self {
        match claim {
            Claim::Password | Claim::Pass => Self::Password,
            Claim::Secret => Self::Secret,
            Claim::Token | Claim::Key => Self::Token,
        }
    }
}

/// A kind of finding that no pattern makes, but what stands beside a value.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// Stands in the marker.
    pub id: &'static str,
    /// What it belongs to.
    pub group: Group,
    /// One line for people.
    pub description: &'static str,
}

/// All of them.
pub fn contexts() -> impl Iterator<Item = Context> {
    let kinds = Kind::ALL.into_iter();
    kinds.map(|kind| Context {
        id: kind.id(),
        group: kind.group(),
        description: kind.description(),
    })
}

/// Words of a declaration: no part of the name that follows them.
static TYPES: WordSet = WordSet::new(
    "string str text char bytes final const static let var val auto private public protected \
    readonly my local dim set",
);

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
        if let Some(found) = self.value_before(&name) {
            self.found.push(found);
            return;
        }
        let own = claim(&self.text[name.clone()]);
        if self.values_beside(&name, own) {
            return;
        }
        if let Some(own) = own {
            self.cells_under(&name, own);
            if self.answered(&name, own) {
                return;
            }
        }
        let Some(open) = opening(self.text, &name) else {
            return;
        };
        // `-i ~/.ssh/deploy_key root@host`
        let is_file = open.operator == Operator::Blank && self.text[..name.start].ends_with('/');
        if is_file || self.is_plainly_prose(&name, &open) || self.closes_code(&name, &open) {
            return;
        }
        let full = self.with_words_before(&name);
        let written = &self.text[full.clone()];
        if is_cookie_name(written) {
            self.cookies(&open, written.starts_with('-'));
        } else if let Some(claim) = if full == name { own } else { claim(written) } {
            self.value(&name, open, claim);
        }
    }

    /// Secrets in a list of values whose names stand in a list before it; whether there is one.
    fn values_beside(&mut self, name: &Range<usize>, claim: Option<Claim>) -> bool {
        let values = values_beside(self.text, name);
        let Some(claim) = claim.filter(|_| !values.is_empty()) else {
            return !values.is_empty();
        };
        let setting = Setting { operator: Operator::Equals, quoted: true, certain: false };
        for value in values {
            if is_secret(&self.text[value.clone()], claim, setting) {
                self.found.push((value, Kind::of(claim)));
            }
        }
        true
    }

    /// Secrets in the cells under a name that heads a table's column.
    fn cells_under(&mut self, name: &Range<usize>, claim: Claim) {
        let (cells, is_drawn) = match column_under(self.text, name) {
            Some(column) => (column.cells, column.is_drawn),
            None => (cells_below(self.text, name), false),
        };
        let operator = if is_drawn { Operator::Colon } else { Operator::Cell };
        let setting = Setting { operator, quoted: false, certain: false };
        for cell in cells {
            if !cell.is_empty() && is_secret(&self.text[cell.clone()], claim, setting) {
                self.found.push((cell, Kind::of(claim)));
            }
        }
    }

    /// What a prompt shows when it is asked for the name.
    fn answered(&mut self, name: &Range<usize>, claim: Claim) -> bool {
        let Some(answer) = answer_below(self.text, name) else { return false };
        let value = &self.text[answer.value.clone()];
        let setting = if answer.is_quoted {
            Setting { operator: Operator::Equals, quoted: true, certain: false }
        } else {
            Setting::PROSE
        };
        // A shell also shows hashes, and what files are called.
        let is_other = answer.is_of_shell
            && (claim < Claim::Secret || value.bytes().all(|b| b.is_ascii_hexdigit()));
        let is_shown = !is_other && is_secret(value, claim, setting);
        if is_shown {
            self.named = self.named.max(answer.value.end);
            self.found.push((answer.value, Kind::of(claim)));
        }
        is_shown
    }

    /// A word that is a name by itself stands here.
    pub(super) fn at_word(&mut self, word: &Range<usize>, claim: Claim) {
        let glued = self.glued_to(word);
        if word.end <= self.named || glued.is_none() && !is_end(self.text, word.end) {
            return;
        }
        self.named = word.end;
        if let Some(open) = opening(self.text, word).or(glued) {
            self.value(word, open, claim);
        }
    }

    /// `密码hunter2`: in scripts without blanks the value may follow the word at once.
    fn glued_to(&self, word: &Range<usize>) -> Option<Opening> {
        let is_unspaced = self.text[word.clone()].chars().all(is_unspaced);
        let follows = self.text.as_bytes().get(word.end).is_some_and(u8::is_ascii_alphanumeric);
        (is_unspaced && follows).then_some(Opening {
            start: word.end,
            quote: Quote::Bare,
            operator: Operator::Prose,
            quoted_name: false,
        })
    }

    /// Whether a short word without a digit follows, as in most sentences and most code; asked
    /// before anything that costs more.
    fn is_plainly_prose(&self, name: &Range<usize>, open: &Opening) -> bool {
        let is_loose = matches!(open.operator, Operator::Blank | Operator::Prose | Operator::List)
            && open.quote == Quote::Bare;
        if !is_loose
            || ["word", "oord", "wort"].iter().any(|w| self.text[name.clone()].ends_with(w))
            || self.text[name.clone()].starts_with('-')
        {
            return false;
        }
        let ahead = self.text.as_bytes()[open.start..].iter().take(16);
        let word = ahead.take_while(|b| !b.is_ascii_whitespace());
        word.clone().count() < 12 && !word.into_iter().any(u8::is_ascii_digit)
    }

    /// `X is the root password`, `X as the password`: a value before the words that say what it is.
    fn value_before(&self, name: &Range<usize>) -> Option<(Range<usize>, Kind)> {
        const LINKS: [&str; 5] = ["is", "was", "as", "for", "are"];
        const ARTICLES: [&str; 7] = ["the", "my", "our", "your", "its", "their", "a"];
        const MOST: usize = 96; // bytes that the value and four words take
        if !self.text[..name.start].ends_with(' ') {
            return None;
        }
        let from = limit(self.text, name.start.saturating_sub(MOST));
        let line = self.text[from..name.start].rsplit('\n').next()?;
        let mut words = line.split(' ').rev().filter(|word| !word.is_empty());
        words.by_ref().take(3).find(|word| ARTICLES.contains(word))?;
        let said = words.next().filter(|said| LINKS.contains(said))?;
        let word = words.next()?;
        let value = word.trim_matches(|c: char| "\"'`,()\\".contains(c));
        let is_constant =
            value.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        let is_quoted = word.starts_with(['"', '\'', '`']) && word.len() == value.len() + 2;
        let is_whole = (word.len() < line.len() || is_quoted)
            && !is_constant
            && !value.contains(['/', '@', '&']);
        let start = value.as_ptr() as usize - self.text.as_ptr() as usize;
        let claim = claim(&self.text[self.with_words_before(name)])?;
        let asked = match claim {
            Claim::Key => Claim::Key,
            // `X is a terrible password` is said of many, `use X as the password` of one.
            Claim::Password | Claim::Pass if said == "as" => Claim::Pass,
            // Quotation marks say that the value is meant, not what it means.
            Claim::Password | Claim::Pass if is_quoted => Claim::Pass,
            _ => Claim::Token,
        };
        let is_value = is_whole && is_secret(value, asked, Setting::PROSE);
        is_value.then(|| (start..start + value.len(), Kind::of(claim)))
    }

    /// Whether the quote after the operator ends what a quote before the name began:
    /// ``set `PASSWORD=` to``.
    fn closes_code(&self, name: &Range<usize>, open: &Opening) -> bool {
        let before = &self.text[..name.start];
        let bytes = self.text.as_bytes();
        match open.quote {
            _ if open.quoted_name => return false,
            Quote::Mark(b'`', 0) => {}
            Quote::Mark(mark, _) => {
                return open.operator == Operator::Tight && before.ends_with(char::from(mark));
            }
            Quote::Entity => return open.operator == Operator::Tight && before.ends_with(';'),
            Quote::Bare => return false,
        }
        let line = &bytes[name.start.saturating_sub(400)..name.start];
        let line = line.rsplit(|b| *b == b'\n').next().unwrap_or_default();
        memchr::memchr_iter(b'`', line).count() % 2 == 1
    }

    /// The identifier that the stem is part of.
    fn name_around(&self, stem: &Range<usize>) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
        // What tells a stem from the rest of a word is no part of the name.
        let trimmed = bytes[stem.clone()].iter().rev().take_while(|b| !is_part(b)).count();
        let stem = stem.start..stem.end - trimmed;
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
        // `passwordX\x0c`: pickle says what kind of string follows, and how long it is.
        let is_marked =
            bytes[stem.end..end].last().is_some_and(|b| matches!(b, b'X' | b'U' | b'T'))
                && bytes[end..].starts_with(b"\\x");
        start..end - usize::from(is_marked)
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
            let len = before.iter().rev().take_while(|b| b.is_ascii_alphabetic()).count();
            let word = &self.text[start - 1 - len..start - 1];
            if TYPES.holds(word) && !word.eq_ignore_ascii_case("public") {
                break;
            }
            start -= 1 + len;
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
        if scheme > 0 {
            open.start += joint_len(&self.text[open.start..]);
        }
        if scheme > 0 && open.quote == Quote::Bare {
            open.operator = Operator::Tight;
        }
        let end = self.end_of(&open);
        let end = open.start + self.without_closers(name, open.start..end).len();
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
        let is_command = open.operator == Operator::Tight
            && open.quote == Quote::Mark(b'`', 0)
            && self.text[range.clone()].contains(' ');
        if is_command || self.is_fingerprint(name, &range) || self.is_of_other_names(name, &range) {
            return;
        }
        if !range.is_empty() && is_secret(&self.text[range.clone()], claim, setting) {
            let kind = if scheme > 0 { Kind::Authorization } else { Kind::of(claim) };
            self.named = self.named.max(end);
            self.found.push((range, kind));
        }
    }

    /// A value without what closes something that began before its name: emphasis in Markdown, and
    /// the brace of `${DB_PASSWORD:-postgres}`.
    fn without_closers(&self, name: &Range<usize>, value: Range<usize>) -> &str {
        let before = &self.text[..name.start];
        let value = &self.text[value];
        match before.as_bytes() {
            [.., b'*'] => value.trim_end_matches('*'),
            [.., b'$', b'{'] => value.trim_end_matches('}'),
            _ => value,
        }
    }

    /// `using RSA key 4AEE…`: gpg tells of a key by its fingerprint, in capitals.
    fn is_fingerprint(&self, name: &Range<usize>, value: &Range<usize>) -> bool {
        let is_capital = |b: u8| b.is_ascii_digit() || (b'A'..=b'F').contains(&b);
        let value = &self.text[value.clone()];
        let name = &self.text[name.clone()];
        (name.eq_ignore_ascii_case("key") || name.ends_with("signingkey"))
            && matches!(value.len(), 8 | 16 | 32 | 40)
            && value.bytes().all(is_capital)
    }

    /// `set /p PASSWORD=Enter it` and `${PASSWORD:?message}` of shells, `arn:aws:secretsmanager:…:123456789012:secret:name`.
    fn is_of_other_names(&self, name: &Range<usize>, value: &Range<usize>) -> bool {
        let before = &self.text[..name.start];
        before.ends_with("did:")
            || self.is_filtered(before, value)
            || before.ends_with("set /p ")
            || before.ends_with("SET /P ")
            || before.ends_with("${") && self.text[value.clone()].starts_with('?')
            || before.ends_with(':')
                && before[limit(before, before.len().saturating_sub(80))..].contains("arn:aws")
    }

    /// `{{ .Values.auth.password | b64enc | quote }}`: what follows is what a template makes of it.
    fn is_filtered(&self, before: &str, value: &Range<usize>) -> bool {
        let line = &before[limit(before, before.len().saturating_sub(80))..];
        let is_open = line.rfind("{{").is_some_and(|at| !line[at..].contains("}}"));
        is_open && self.text[..value.start].trim_end().ends_with('|')
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
        for (range, is_password) in userinfo(self.text, &authority) {
            let value = &self.text[range.clone()];
            if is_password && is_url_password(value, &self.text[authority.start..range.start])
                || !is_password && is_url_token(value)
            {
                self.named = self.named.max(authority.end);
                self.found.push((range, Kind::UrlPassword));
            }
        }
    }
}
