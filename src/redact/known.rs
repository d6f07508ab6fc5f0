//! The values that really are this user's secrets, whatever they look like.
//!
//! They come from the files in which Hermes keeps credentials, and from a file that the user
//! names. Each is looked for as it is and in the forms that tools turn it into. Nothing here
//! prints or stores a value, and no type here can be shown with `{:?}`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::name::{Claim, claim};
use super::natural::looks_random;
use super::standin::{is_instant, is_path, is_uuid, is_word_of_state};
use super::value::{Setting, is_secret};
use super::words::WordSet;

/// Texts that must not leave, each in every form it may have been written down in.
#[derive(Default)]
pub struct KnownValues(Vec<String>);

/// Files of Hermes' home that may hold credentials.
const FILES: &[&str] = &[
    ".env",
    "auth.json",
    "config.yaml",
    "config.yml",
    "config.json",
    "credentials.json",
    "tokens.json",
    "google_token.json",
    "google_client_secret.json",
    "gateway.json",
    "webhook_subscriptions.json",
];

/// Folders of it whose files all may.
const FOLDERS: &[&str] = &["mcp-tokens", "mcp_tokens", "credentials", "auth"];

/// Larger files are none that a person or Hermes keeps credentials in.
const MAX_FILE: u64 = 4 << 20;

/// Shorter values stand in too many places by chance.
const MIN_VALUE: usize = 8;

impl KnownValues {
    /// The secrets that Hermes keeps in its home, those of its profiles included. Files that
    /// are missing or cannot be read hold none.
    pub fn load(home: &Path) -> Self {
        let mut values = BTreeSet::new();
        let profiles = children(&home.join("profiles"));
        for home in std::iter::once(home.to_owned()).chain(profiles) {
            let named = FILES.iter().map(|file| home.join(file));
            let all = FOLDERS.iter().flat_map(|folder| children(&home.join(folder)));
            for path in named.chain(all) {
                collect(&path, &mut values);
            }
        }
        Self::in_all_forms(values.iter().map(String::as_str))
    }

    /// The values of a file that the user names, one a line.
    pub fn from_file(path: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(path)?;
        // Some editors begin a file with a mark that is no part of its first line.
        let text = text.trim_start_matches('\u{feff}');
        let values: BTreeSet<&str> = text.lines().map(str::trim).collect();
        let named = values.into_iter().filter(|value| is_worth_hiding(value));
        Ok(Self::in_all_forms(named))
    }

    /// Both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    fn in_all_forms<'v>(values: impl Iterator<Item = &'v str>) -> Self {
        let forms: BTreeSet<String> = values.flat_map(forms).collect();
        Self(forms.into_iter().collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether a text that has the letters of the value in any case is the value itself.
    pub(super) fn is(&self, value: usize, text: &str) -> bool {
        self.0[value] == text
    }
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn collect(path: &Path, values: &mut BTreeSet<String>) {
    let is_small = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= MAX_FILE);
    let Some(text) = is_small.then(|| fs::read_to_string(path).ok()).flatten() else {
        return;
    };
    match serde_json::from_str::<Json>(&text) {
        Ok(json) => from_json(None, &json, values),
        Err(_) => text.lines().for_each(|line| from_line(line, values)),
    }
}

fn from_json(key: Option<&str>, json: &Json, values: &mut BTreeSet<String>) {
    match json {
        Json::Object(fields) => {
            fields.iter().for_each(|(key, value)| from_json(Some(key), value, values));
        }
        Json::Array(items) => items.iter().for_each(|item| from_json(key, item, values)),
        Json::String(value) => take(key.unwrap_or_default(), value, values),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// `NAME=value`, `export NAME="value"`, `name: value`.
fn from_line(line: &str, values: &mut BTreeSet<String>) {
    let line = line.trim().trim_start_matches("export ").trim_start_matches("- ");
    let Some(at) = line.find(['=', ':']).filter(|_| !line.starts_with('#')) else {
        return;
    };
    let value = line[at + 1..].trim();
    let bare = || value.split(" #").next().unwrap_or(value).trim().to_owned();
    take(line[..at].trim(), &quoted(value).unwrap_or_else(bare), values);
}

/// What stands in the quotes that the value begins with; in double quotes a backslash escapes.
fn quoted(value: &str) -> Option<String> {
    let mark = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut inner = String::new();
    let mut rest = value[1..].chars();
    while let Some(c) = rest.next() {
        match c {
            c if c == mark => return Some(inner),
            '\\' if mark == '"' => inner.extend(rest.next()),
            c => inner.push(c),
        }
    }
    None
}

fn take(name: &str, value: &str, values: &mut BTreeSet<String>) {
    if let Some((_, rest)) = value.split_once("://") {
        return take_from_url(name, rest, values);
    }
    // A file of settings holds values, not prose: a password may be a word there.
    let certain = Setting { certain: true, ..Setting::JSON };
    let is_named = claim(name).is_some_and(|claim| match claim {
        Claim::Key => is_secret(value, Claim::Secret, Setting::JSON) && !is_plain(value),
        claim => is_secret(value, claim, certain),
    });
    let is_random =
        value.len() >= 24 && looks_random(value) && !is_uuid(value) && !value.contains([' ', '/']);
    if (is_named || is_random) && is_worth_hiding(value) {
        values.insert(value.to_owned());
    }
}

/// The password of a database's URL, its parameters, and the path of a webhook.
fn take_from_url(name: &str, rest: &str, values: &mut BTreeSet<String>) {
    let rest = rest.split('#').next().unwrap_or(rest);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let password = path.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    let mut found: Vec<&str> = password.map(|(_, password)| password).into_iter().collect();
    let parameters = query.split('&').filter_map(|pair| pair.split_once('='));
    found.extend(parameters.filter(|(name, _)| claim(name).is_some()).map(|(_, value)| value));
    if name.to_ascii_lowercase().contains("webhook") {
        found.extend(path.split('/').skip(1).filter(|part| looks_random(part)));
    }
    for value in found {
        let plain = percent_decoded(value);
        let usable = [value, &plain].into_iter().filter(|value| is_worth_hiding(value));
        values.extend(usable.map(str::to_owned));
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let decoded = code.filter(|_| *first == b'%');
        let byte = decoded.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Letters, and what joins words.
fn is_plain(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_alphabetic() || b"_-. ".contains(&b)) && !looks_random(value)
}

/// Whether a value that is said to be a secret can be looked for everywhere: it is long enough,
/// and no word that stands in texts for its own sake.
fn is_worth_hiding(value: &str) -> bool {
    static WORDS: WordSet = WordSet::new(
        "localhost administrator production development username password hostname postgres \
        postgresql anonymous not-needed no-key-required sk-no-key-required lm-studio ollama \
        openrouter anthropic telegram discord whatsapp assistant hermes-agent hermes-cli \
        unlimited unspecified configured authorization",
    );
    let is_number = value.bytes().all(|b| b.is_ascii_digit() || b == b'.') && value.len() < 10;
    value.len() >= MIN_VALUE
        && !is_word_of_state(value)
        && !WORDS.holds(value)
        && !is_number
        && !is_instant(value)
        && !is_path(value)
}

/// A value as it is, and as tools write it.
fn forms(value: &str) -> Vec<String> {
    let json = |text: &str| serde_json::to_string(text).map(|j| j[1..j.len() - 1].to_owned()).ok();
    let mut forms = vec![value.to_owned(), hex(value), hex(value).to_uppercase(), html(value)];
    for digits in ["0123456789ABCDEF", "0123456789abcdef"] {
        forms.push(url_encoded(value, digits, ""));
        forms.push(url_encoded(value, digits, "/"));
    }
    forms.push(value.replace(' ', "+"));
    forms.push(value.replace(' ', ""));
    for once in [json(value), json(value).map(|text| ascii_json(&text))].into_iter().flatten() {
        forms.extend(json(&once));
        forms.push(once);
    }
    for lead in 0..3 {
        for last in [*b"+/", *b"-_"] {
            let once = base64(value, lead, last);
            let twice = (0..3).map(|lead| base64(&once, lead, last)).collect::<Vec<_>>();
            forms.extend(twice.into_iter().filter(|form| form.len() >= 2 * MIN_VALUE));
            forms.push(once);
        }
    }
    forms.retain(|form| form.len() >= MIN_VALUE);
    forms
}

fn hex(value: &str) -> String {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or_default();
    value.bytes().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

/// What templates write.
fn html(value: &str) -> String {
    let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    value.replace('"', "&quot;").replace('\'', "&#x27;")
}

/// JSON as Python writes it: everything beyond ASCII as `\uXXXX`.
fn ascii_json(json: &str) -> String {
    let mut out = String::new();
    for c in json.chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            c => {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units);
                out.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    out
}

/// Percent-encoded, save letters, digits, `-._~` and what is `safe`.
fn url_encoded(value: &str, digits: &str, safe: &str) -> String {
    let digits = digits.as_bytes();
    let is_safe =
        |b: &u8| b.is_ascii_alphanumeric() || b"-._~".contains(b) || safe.as_bytes().contains(b);
    let encode = |b: u8| match b {
        b if is_safe(&b) => char::from(b).to_string(),
        b => {
            ['%', char::from(digits[usize::from(b >> 4)]), char::from(digits[usize::from(b & 15)])]
                .iter()
                .collect()
        }
    };
    value.bytes().map(encode).collect()
}

/// The characters of base64 that the value decides alone when it stands `lead` bytes after the
/// beginning of a group of three: what a longer text that holds it has in the middle.
fn base64(value: &str, lead: usize, last: [u8; 2]) -> String {
    const DIGITS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let bits: Vec<u8> = std::iter::repeat_n(0, lead).chain(value.bytes()).collect();
    let digit = |i: usize| {
        let bit = i * 6;
        let pair =
            u16::from(bits[bit / 8]) << 8 | u16::from(bits.get(bit / 8 + 1).copied().unwrap_or(0));
        let six = usize::from(pair >> (10 - bit % 8) & 63);
        char::from(*DIGITS.get(six).unwrap_or_else(|| &last[six - 62]))
    };
    let first = (lead * 8).div_ceil(6);
    (first..bits.len() * 8 / 6).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_found_wherever_the_value_stands() {
        assert_eq!(base64("Man", 0, *b"+/"), "TWFu");
        // "Bob:Man!" is Qm9iOk1hbiE=
        assert!("Qm9iOk1hbiE=".contains(&base64("Man", 1, *b"+/")));
        assert_eq!(base64("Man", 1, *b"+/").len(), 3);
    }

    #[test]
    fn words_and_short_values_are_not_used() {
        for value in ["true", "localhost", "ana", "administrator", "12345678", "short1", "/a/b/c/d"]
        {
            assert!(!is_worth_hiding(value), "{value}");
        }
        assert!(is_worth_hiding("correct-horse-battery-staple"));
        assert!(is_worth_hiding("hunter2hunter2"));
    }

    #[test]
    fn values_are_read_from_quotes_and_urls() {
        let of = |line: &str| {
            let mut values = BTreeSet::new();
            from_line(line, &mut values);
            values.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of("EMAIL_PASSWORD=abcd efgh ijkl mnop"), ["abcd efgh ijkl mnop"]);
        assert_eq!(of(r#"B_TOKEN="qu\"0ted vAl#19x" # note"#), ["qu\"0ted vAl#19x"]);
        assert_eq!(of("OPENROUTER_API_KEY=weirdformatkey-zzz"), ["weirdformatkey-zzz"]);
        assert_eq!(
            of("DATABASE_URL=postgres://app:kv%40PassW0rdX@db/x"),
            ["kv%40PassW0rdX", "kv@PassW0rdX"]
        );
        assert_eq!(of("S_WEBHOOK_URL=https://example.com/hook/Zk3Lp9QxT4"), ["Zk3Lp9QxT4"]);
        assert_eq!(of("API_KEY=${FROM_ELSEWHERE}"), Vec::<String>::new());
        assert_eq!(of("SORT_KEY=created-at-desc"), Vec::<String>::new());
    }

    #[test]
    fn a_value_is_known_in_the_forms_that_tools_write() {
        let forms = forms("pä/ss w&rd-0123");
        for form in [
            "p\\u00e4/ss w&rd-0123",
            "p\\\\u00e4/ss w&rd-0123",
            "p%C3%A4/ss%20w%26rd-0123",
            "pä/ss w&amp;rd-0123",
            "70C3A42F73732077267264",
        ] {
            assert!(forms.iter().any(|known| known.starts_with(form)), "{form}");
        }
        // base64 of base64 of "hunter2hunter2"
        let twice = super::forms("hunter2hunter2");
        assert!(
            twice
                .iter()
                .any(|form| "YUhWdWRHVnlNbWgxYm5SbGNqST0=".contains(form.as_str())
                    && form.len() > 20)
        );
    }

    #[test]
    fn values_come_from_what_hermes_keeps() {
        let home = tempfile::tempdir().unwrap();
        fs::write(
            home.path().join(".env"),
            "A_TOKEN=x9K2pQ7vLm3T8w\nMODEL=gpt-5-large-2026\n# B_TOKEN=no9K2pQ7vLm3T8w\n",
        )
        .unwrap();
        fs::write(
            home.path().join("auth.json"),
            r#"{"p": {"access_token": "z7H1nB4cXk9Qw2", "expires": "2026-01-01T00:00:00"}}"#,
        )
        .unwrap();
        fs::write(
            home.path().join("config.yaml"),
            "llm:\n  api_key: \"m3R8vT1yLp6Zs0\"\n  base_url: http://localhost:8080/v1\n",
        )
        .unwrap();
        let known = KnownValues::load(home.path());
        let has = |value: &str| known.iter().any(|k| k == value);
        assert!(has("x9K2pQ7vLm3T8w") && has("z7H1nB4cXk9Qw2") && has("m3R8vT1yLp6Zs0"));
        assert!(!known.iter().any(|k| k.contains("gpt")
            || k.contains("no9K")
            || k.contains("http")
            || k.contains("2026")));
    }
}
