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
use super::standin::{is_uuid, is_word_of_state};
use super::value::{Setting, is_secret};

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
        Self::of(values.iter())
    }

    /// The values of a file that the user names, one a line.
    pub fn from_file(path: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(path)?;
        // Some editors begin a file with a mark that is no part of its first line.
        let text = text.trim_start_matches('\u{feff}');
        let values: BTreeSet<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        Ok(Self::of(values.iter()))
    }

    /// Both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    fn of<'v>(values: impl Iterator<Item = &'v String>) -> Self {
        let usable = values.filter(|value| is_usable(value));
        let forms: BTreeSet<String> = usable.flat_map(|value| forms(value)).collect();
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
    let quoted = ['"', '\''].into_iter().find_map(|q| value.strip_prefix(q)?.split(q).next());
    let bare = || value.split(" #").next().unwrap_or(value).trim();
    take(line[..at].trim(), quoted.unwrap_or_else(bare), values);
}

fn take(name: &str, value: &str, values: &mut BTreeSet<String>) {
    let claim = claim(name);
    let is_named =
        claim.is_some_and(|claim| is_secret(value, claim.max(Claim::Secret), Setting::JSON));
    let is_random =
        value.len() >= 24 && looks_random(value) && !is_uuid(value) && !value.contains([' ', '/']);
    if is_named || is_random {
        values.insert(value.to_owned());
    }
}

/// Whether a value is long and peculiar enough to be looked for everywhere.
fn is_usable(value: &str) -> bool {
    let is_plain = value.bytes().all(|b| b.is_ascii_alphabetic() || b"_-. ".contains(&b))
        && !looks_random(value);
    let is_number = value.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    value.len() >= MIN_VALUE
        && !is_word_of_state(value)
        && !is_number
        && (!is_plain || value.len() >= 20)
}

/// A value as it is, and as tools write it.
fn forms(value: &str) -> Vec<String> {
    let json = |text: &str| serde_json::to_string(text).map(|j| j[1..j.len() - 1].to_owned()).ok();
    let mut forms = vec![
        value.to_owned(),
        hex(value),
        url_encoded(value, "0123456789ABCDEF"),
        url_encoded(value, "0123456789abcdef"),
    ];
    forms.extend(json(value));
    forms.extend(json(value).and_then(|once| json(&once)));
    for lead in 0..3 {
        forms.push(base64(value, lead, *b"+/"));
        forms.push(base64(value, lead, *b"-_"));
    }
    forms.retain(|form| form.len() >= MIN_VALUE);
    forms
}

fn hex(value: &str) -> String {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or_default();
    value.bytes().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

fn url_encoded(value: &str, digits: &str) -> String {
    let digits = digits.as_bytes();
    let encode = |b: u8| match b {
        b if b.is_ascii_alphanumeric() || b"-._~".contains(&b) => char::from(b).to_string(),
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
        for value in ["true", "localhost", "ana", "administrator", "12345678", "short1"] {
            assert!(!is_usable(value), "{value}");
        }
        assert!(is_usable("correct-horse-battery-staple"));
        assert!(is_usable("hunter2hunter2"));
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
