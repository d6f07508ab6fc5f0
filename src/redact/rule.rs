//! A rule says what one kind of secret looks like; this module reads rules and compiles them.
//!
//! # Rule files
//!
//! A file is TOML. `group` says which group of `--redact` its rules belong to: `secrets` (when
//! left out), `pii` or `paths`. Each `[[rule]]` has:
//!
//! - `id`: lower-case words joined by `-`, unique among all rules; stands in the marker.
//! - `description`: one line for people.
//! - `pattern`: an expression of the `regex` crate. `{{assign}}` in it stands for what lies
//!   between a name and its value (`: `, ` = "`, `=>`, `\": \"`, …), so that
//!   `(?i:mistral){{assign}}([A-Za-z0-9]{32})` reads well. `{{credential}}` also wants a word
//!   such as `key` or `token` in the name, and takes a blank for an operator.
//! - `secret`: the capture group, by number or name, that is the secret. Left out: group 1 if
//!   there is one, else the whole match.
//! - `keywords`: ASCII texts, in any case, one of which stands in every match. Text without one
//!   is never searched with the pattern, so the longest text that all secrets share is best.
//!   Only rules that are always searched, such as those for phone numbers, have none.
//! - `entropy`: the least bits of Shannon entropy per character of the secret.
//! - `checksum`: see [`Checksum`].
//! - `claim`: the secret must also be what could stand after such a name in a sentence, and so no
//!   placeholder, variable, path or word: see [`Claim`].
//! - `allow`: expressions; a secret that one of them finds something in is left alone.
//!   `{{words}}` stands for a whole name that is made of words, and an entry `{{handmade}}` for
//!   what a hand types to show a token: the alphabet, `1a2b3c`, the same again and again.
//! - `examples`, `negative_examples`: texts in which the rule must and must not find a secret.
//!   See [`super::example`] for how to write one without spelling a token out.
//!
//! # Where a secret begins and ends
//!
//! When the whole match is the secret, no letter or digit may stand before it or after it, save
//! the last one of an escape (`\n`, `\u001b[0m`, `%3D`). Such a pattern needs no `\b` of its
//! own. A pattern with a group is taken as it is written.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input, PatternID};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;
use serde::Deserialize;

use super::checksum::Checksum;
use super::handmade::is_handmade;
use super::name::Claim;
use super::pattern::{ASSIGN, CREDENTIAL, LEFT, RIGHT, WORDS, ascii};
use super::standin::is_open;
use super::value::{Setting, is_secret};

/// What a user may choose to have redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Credentials.
    #[default]
    Secrets,
    /// What names or reaches a person.
    Pii,
    /// Home directories, user and host names.
    Paths,
}

impl Group {
    /// All of them.
    pub const ALL: [Self; 3] = [Group::Secrets, Group::Pii, Group::Paths];

    /// The name that `--redact` takes.
    pub fn name(self) -> &'static str {
        match self {
            Group::Secrets => "secrets",
            Group::Pii => "pii",
            Group::Paths => "paths",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.name() == name)
    }
}

/// A rule as it is written down.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Unique; stands in the marker.
    pub id: String,
    /// One line for people.
    pub description: String,
    /// Where the file says so; a file's group holds for all its rules.
    #[serde(skip)]
    pub group: Group,
    /// Whether it is one of ours, whose secrets are none where nobody need hide them.
    #[serde(skip)]
    pub is_built_in: bool,
    /// The expression.
    pub pattern: String,
    /// Which capture group is the secret.
    pub secret: Option<SecretGroup>,
    /// One of them stands in every match.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Least Shannon entropy of the secret, in bits per character.
    pub entropy: Option<f64>,
    /// A sum inside the secret.
    pub checksum: Option<Checksum>,
    /// What the secret must pass as.
    pub claim: Option<Claim>,
    /// A secret in which one of these finds something is none.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Texts that hold a secret.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Texts that hold none.
    #[serde(default)]
    pub negative_examples: Vec<String>,
}

/// A capture group.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum SecretGroup {
    /// By number; 0 is the whole match.
    Number(usize),
    /// By name.
    Name(String),
}

/// Why rules could not be read or compiled.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// The text is no rule file.
    #[error("not a rule file: {0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// An expression does not compile.
    #[error("rule {id}: {cause}")]
    Pattern {
        /// The rule.
        id: String,
        /// What the regex crate says.
        cause: Box<regex::Error>,
    },
    /// The secret's group does not exist.
    #[error("rule {id}: the pattern has no group {group}")]
    Group {
        /// The rule.
        id: String,
        /// The group it names.
        group: String,
    },
    /// A file holds no rules, or faulty ones.
    #[error("{}: {cause}", path.display())]
    In {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        cause: Box<RuleError>,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: std::path::PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// A file of rules, as it is written down.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleFile {
    #[serde(default)]
    group: Group,
    #[serde(default)]
    rule: Vec<Rule>,
}

impl RuleFile {
    pub(super) fn rules(self) -> impl Iterator<Item = Rule> {
        let group = self.group;
        self.rule.into_iter().map(move |rule| Rule { group, ..rule })
    }
}

/// Reads the rules of one file.
pub fn parse(text: &str) -> Result<Vec<Rule>, RuleError> {
    let file: RuleFile = toml::from_str(text).map_err(Box::new)?;
    Ok(file.rules().collect())
}

/// A rule that is ready to be searched right at or after its keywords.
#[derive(Debug)]
pub(super) struct Pinned(Matcher);

/// Expressions of tails. Services whose secrets look alike share one.
static TAILS: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);

impl Pinned {
    /// A rule whose matches begin with its keywords, and are all secret.
    pub(super) fn here(rule: &Rule) -> Result<Self, RuleError> {
        let hir = parsed(rule, &format!("({}){RIGHT}", expanded(&rule.pattern)))?;
        // What has passed a glance mostly matches, and ends soon; an automaton would not pay.
        let config = Config::new().hybrid(false).dfa(false).auto_prefilter(false);
        let pattern = built(&hir, config).map_err(|cause| faulty(rule, cause))?;
        Ok(Self(Matcher::with(rule, pattern, SecretGroup::Number(1), None)?))
    }

    /// A rule of whose matches this follows a keyword.
    pub(super) fn after(rule: &Rule, tail: &str) -> Result<Self, RuleError> {
        let mut known = TAILS.lock().unwrap_or_else(PoisonError::into_inner);
        let pattern = match known.get(tail) {
            Some(pattern) => pattern.clone(),
            None => compiled(rule, &parsed(rule, &expanded(tail))?)?,
        };
        known.insert(tail.to_owned(), pattern.clone());
        drop(known);
        let asked = rule.secret.clone().unwrap_or(SecretGroup::Number(1));
        let secret = existing(rule, asked, &pattern)?;
        Ok(Self(Matcher::with(rule, pattern, secret, None)?))
    }

    /// The secret of the match at the beginning of a text, and where the match ends.
    pub(super) fn at_start_of(&self, text: &str) -> Option<Found> {
        let (whole, secret) = self.0.captured(&Input::new(text).anchored(Anchored::Yes))?;
        let secret = whole_chars(text, &secret?);
        let is_secret = !secret.is_empty() && self.0.accepts(&text[secret.clone()]);
        is_secret.then_some(Found { secret, end: whole.end })
    }
}

/// Allows what a hand typed.
const HANDMADE: &str = "{{handmade}}";

/// Bytes that a compiled expression may have.
const LARGEST: usize = 1 << 24;

/// A rule that is ready to search with.
#[derive(Debug)]
pub struct Matcher {
    pattern: Regex,
    secret: SecretGroup,
    entropy: Option<f64>,
    checksum: Option<Checksum>,
    claim: Option<Claim>,
    allow: Vec<Allow>,
    /// Whether what a hand typed is none.
    refuses_handmade: bool,
    /// Whether what nobody need hide is none of its secrets.
    refuses_open: bool,
    /// The most bytes that a match can have.
    longest: Option<usize>,
}

impl Matcher {
    /// The most bytes that a match can have; `None` where there is no such limit.
    pub fn longest(&self) -> Option<usize> {
        self.longest
    }

    /// Compiles a rule's expressions.
    pub fn new(rule: &Rule) -> Result<Self, RuleError> {
        let written = expanded(&rule.pattern);
        let hir = parsed(rule, &written)?;
        let groups = hir.properties().explicit_captures_len();
        let asked = rule.secret.clone().unwrap_or(SecretGroup::Number(groups.min(1)));
        let (hir, secret) = match asked {
            SecretGroup::Number(0) => {
                (parsed(rule, &format!("{LEFT}({written}){RIGHT}"))?, SecretGroup::Number(1))
            }
            secret => (hir, secret),
        };
        let pattern = compiled(rule, &hir)?;
        let secret = existing(rule, secret, &pattern)?;
        Self::with(rule, pattern, secret, hir.properties().maximum_len())
    }

    fn with(
        rule: &Rule,
        pattern: Regex,
        secret: SecretGroup,
        longest: Option<usize>,
    ) -> Result<Self, RuleError> {
        let (handmade, allow): (Vec<_>, Vec<_>) = rule.allow.iter().partition(|a| *a == HANDMADE);
        let allow = allow.into_iter().map(|a| Allow::new(rule, a)).collect::<Result<_, _>>()?;
        Ok(Self {
            longest,
            secret,
            pattern,
            entropy: rule.entropy,
            checksum: rule.checksum,
            claim: rule.claim,
            allow,
            refuses_handmade: !handmade.is_empty(),
            refuses_open: rule.is_built_in && rule.group == Group::Secrets,
        })
    }

    /// The first secret in `text` that begins no earlier than `from`, and where the match ends.
    pub fn next_in(&self, text: &str, from: usize) -> Option<Found> {
        let mut at = from;
        while at <= text.len() {
            // Most searches find nothing, and need no room for groups.
            let first = self.pattern.find(Input::new(text).range(at..))?;
            let (whole, secret) = self.captured(&Input::new(text).range(first.start()..))?;
            let secret = secret.unwrap_or(whole.start..whole.start);
            let secret = whole_chars(text, &secret);
            if !secret.is_empty() && self.accepts(&text[secret.clone()]) {
                return Some(Found { secret, end: whole.end });
            }
            at = next_start(text, whole.end.max(at + 1));
        }
        None
    }

    /// All secrets in a text.
    pub fn all_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let found = self.next_in(text, at)?;
            at = found.secret.end;
            Some(found.secret)
        })
        .collect()
    }

    /// The first match, and the secret in it.
    fn captured(&self, input: &Input<'_>) -> Option<(Range<usize>, Option<Range<usize>>)> {
        let mut captures = self.pattern.create_captures();
        self.pattern.search_captures(input, &mut captures);
        Some((captures.get_match()?.range(), self.group(&captures)))
    }

    fn group(&self, captures: &Captures) -> Option<Range<usize>> {
        match &self.secret {
            SecretGroup::Number(n) => captures.get_group(*n),
            SecretGroup::Name(name) => captures.get_group_by_name(name),
        }
        .map(|span| span.range())
    }

    fn accepts(&self, secret: &str) -> bool {
        let sum = self.checksum.map(|c| (c, c.holds(secret)));
        match sum {
            Some((_, true)) => return true,
            Some((c, false)) if c.is_required() => return false,
            _ => {}
        }
        self.entropy.is_none_or(|least| entropy(secret) >= least)
            && self.claim.is_none_or(|claim| is_secret(secret, claim, Setting::PROSE))
            && !self.allow.iter().any(|allow| allow.takes(secret))
            && !(self.refuses_handmade && is_handmade(secret))
            && !(self.refuses_open && is_open(secret))
    }
}

/// A match: the secret, and the end of the text that the pattern took.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The secret itself.
    pub secret: Range<usize>,
    /// Where the match ends, at or after the secret's end.
    pub end: usize,
}

fn next_start(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len() + 1)
}

/// A pattern as the regex crate reads it.
pub(super) fn expanded(pattern: &str) -> String {
    ascii(&pattern.replace("{{assign}}", ASSIGN).replace("{{credential}}", CREDENTIAL))
}

pub(super) fn parsed(rule: &Rule, pattern: &str) -> Result<Hir, RuleError> {
    read(pattern).map_err(|cause| faulty(rule, cause))
}

/// Reads an expression for bytes, which compiles in a quarter of the time; for characters where it
/// names some that are not ASCII.
fn read(pattern: &str) -> Result<Hir, regex::Error> {
    let parse = |unicode| {
        let mut parser = ParserBuilder::new().unicode(unicode).utf8(false).build();
        parser.parse(pattern).map_err(|cause| regex::Error::Syntax(cause.to_string()))
    };
    parse(false).or_else(|_| parse(true))
}

fn built(hir: &Hir, config: Config) -> Result<Regex, regex::Error> {
    let config = config.utf8_empty(false).nfa_size_limit(Some(LARGEST));
    let built = Regex::builder().configure(config).build_from_hir(hir);
    built.map_err(|cause: BuildError| match cause.size_limit() {
        Some(limit) => regex::Error::CompiledTooBig(limit),
        None => regex::Error::Syntax(cause.to_string()),
    })
}

/// Whoever searches round a keyword has found the literal already, and one-pass automata take longer
/// to compile than they save in a run.
fn compiled(rule: &Rule, hir: &Hir) -> Result<Regex, RuleError> {
    let config = Config::new().onepass(false).auto_prefilter(rule.keywords.is_empty());
    built(hir, config).map_err(|cause| faulty(rule, cause))
}

/// A match of bytes, widened to the characters that it touches.
fn whole_chars(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = (0..=range.start).rev().find(|i| text.is_char_boundary(*i));
    let end = (range.end..=text.len()).find(|i| text.is_char_boundary(*i));
    start.unwrap_or_default()..end.unwrap_or(text.len())
}

fn faulty(rule: &Rule, cause: regex::Error) -> RuleError {
    RuleError::Pattern { id: rule.id.clone(), cause: Box::new(cause) }
}

/// The group, if the pattern has it.
fn existing(rule: &Rule, secret: SecretGroup, pattern: &Regex) -> Result<SecretGroup, RuleError> {
    let exists = match &secret {
        SecretGroup::Number(n) => *n < pattern.group_info().group_len(PatternID::ZERO),
        SecretGroup::Name(name) => {
            pattern.group_info().pattern_names(PatternID::ZERO).flatten().any(|n| n == name)
        }
    };
    if exists {
        return Ok(secret);
    }
    let group = match secret {
        SecretGroup::Number(n) => n.to_string(),
        SecretGroup::Name(name) => name,
    };
    Err(RuleError::Group { id: rule.id.clone(), group })
}

/// An expression of an allow-list. Most are never asked, and compiling takes long; so does reading,
/// which a test has done for ours.
#[derive(Debug)]
struct Allow {
    pattern: String,
    regex: OnceLock<Option<Regex>>,
}

impl Allow {
    fn new(rule: &Rule, written: &str) -> Result<Self, RuleError> {
        let pattern = ascii(&written.replace("{{words}}", WORDS));
        if !rule.is_built_in {
            parsed(rule, &pattern)?;
        }
        Ok(Self { pattern, regex: OnceLock::new() })
    }

    /// Whether the secret is none. An expression that is too big to compile allows nothing.
    fn takes(&self, secret: &str) -> bool {
        let compile = || built(&read(&self.pattern).ok()?, Config::new()).ok();
        let regex = self.regex.get_or_init(compile);
        regex.as_ref().is_some_and(|regex| regex.is_match(secret))
    }
}

/// Shannon entropy of a text's bytes, in bits per byte.
#[expect(clippy::cast_precision_loss, reason = "lengths of secrets are far below 2^53")]
pub fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = text.len() as f64;
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|c| **c > 0).map(share).map(|p| -p * p.log2()).sum()
}
