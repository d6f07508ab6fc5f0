//! Whether what stands under a secret's name is a secret, or a placeholder, a variable, a type,
//! a word, a path, a number.
//!
//! The name says how much to ask for ([`Claim`]), the notation how much to trust: what stands
//! in quotes or after `export` is a value, what follows `: ` may be prose or a type.

use super::cursor::Quote;
use super::end::limit;
use super::handmade::is_handmade;
use super::name::Claim;
use super::natural::looks_random;
use super::read::{Opening, Operator};
use super::standin::{
    is_instant, is_number, is_open, is_path, is_placeholder, is_reference, is_uuid,
    is_word_of_state,
};

/// How a value was written down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    pub(super) operator: Operator,
    pub(super) quoted: bool,
    /// Whether a command such as `export` or an option such as `--password` makes it a value.
    pub(super) certain: bool,
}

impl Setting {
    /// A string in JSON.
    pub(super) const JSON: Self = Self { operator: Operator::Colon, quoted: true, certain: false };

    /// A word in a sentence.
    pub(super) const PROSE: Self =
        Self { operator: Operator::Prose, quoted: false, certain: false };

    /// Whether this may be a sentence.
    fn is_prose(self) -> bool {
        let is_loose = matches!(
            self.operator,
            Operator::Blank | Operator::Prose | Operator::List | Operator::Compare | Operator::Cell
        );
        is_loose && !self.quoted && !self.certain
    }

    pub(super) fn of(opening: &Opening, certain: bool) -> Self {
        Self { operator: opening.operator, quoted: opening.quote != Quote::Bare, certain }
    }
}

/// Signs that stand in code and prose rather than in passwords.
const CODE_SIGNS: [char; 7] = ['(', '[', '|', ',', '→', '…', '='];

/// Longer values are judged by their beginning.
const ENOUGH: usize = 300;

/// Whether a value is a secret.
pub(super) fn is_secret(value: &str, claim: Claim, setting: Setting) -> bool {
    let value = &value[..limit(value, ENOUGH)];
    if setting.is_prose() && value.starts_with('(') || is_instant(value) {
        return false;
    }
    if setting.is_prose() && !value.bytes().any(|b| b.is_ascii_digit()) && !looks_random(value) {
        return false;
    }
    if is_placeholder(value) || is_reference(value, setting.quoted) || is_path(value) {
        return false;
    }
    let is_token_like = !matches!(claim, Claim::Password | Claim::Pass);
    let is_for_show = || is_open(value) || is_handmade(value);
    if is_route(value) || is_selector(value) || is_token_like && is_for_show() {
        return false;
    }
    if setting.certain && !is_word_of_state(value) {
        return value.len() >= 3 && !is_number(value);
    }
    let Some(traits) = Traits::of(value) else {
        return is_passphrase(value, claim, setting);
    };
    match claim {
        Claim::Password => is_password(value, &traits, setting),
        Claim::Pass => is_pass(value, &traits) && is_password(value, &traits, setting),
        Claim::Secret => is_opaque(value, &traits, setting),
        Claim::Token => is_token(value, &traits, setting),
        Claim::Key => {
            let is_name = traits.hex || is_of_names(value);
            value.len() >= 16 && !is_name && is_token(value, &traits, setting)
        }
    }
}

/// `agent:main:telegram:dm:4815`: Hermes' `session_key` says where a conversation lives.
fn is_route(value: &str) -> bool {
    value.strip_prefix("agent:").is_some_and(|route| route.split(':').count() >= 3)
}

/// `#add-password`: an element of a page.
fn is_selector(value: &str) -> bool {
    let name = value.strip_prefix(['#', '.']).unwrap_or_default();
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_'))
}

/// What characters a value of one word is made of.
struct Traits {
    digits: usize,
    letters: usize,
    upper: usize,
    separators: usize,
    /// Characters that names do not have.
    symbols: usize,
    hex: bool,
}

impl Traits {
    /// `None` for a text of several words.
    fn of(value: &str) -> Option<Self> {
        let mut traits =
            Self { digits: 0, letters: 0, upper: 0, separators: 0, symbols: 0, hex: true };
        for c in value.trim().chars() {
            match c {
                '0'..='9' => traits.digits += 1,
                'a'..='z' | 'A'..='Z' => {
                    traits.letters += 1;
                    traits.upper += usize::from(c.is_ascii_uppercase());
                    traits.hex &= c.is_ascii_hexdigit();
                }
                '_' | '-' | '.' | '/' | ':' => traits.separators += 1,
                c if c.is_whitespace() => return None,
                c if c.is_alphabetic() => traits.letters += 1,
                _ => traits.symbols += 1,
            }
        }
        traits.hex &= traits.symbols + traits.separators == 0;
        Some(traits)
    }
}

fn is_password(value: &str, traits: &Traits, setting: Setting) -> bool {
    if value.len() < 4 || is_word_of_state(value) || is_numbered_name(value, traits, setting) {
        return false;
    }
    let is_prose = setting.is_prose();
    if is_prose {
        let is_mixed = traits.digits > 0 && traits.letters > 0;
        if setting.operator == Operator::List {
            let is_random = value.len() >= 12 && looks_random(value);
            return is_mixed && value.len() >= 8 && (traits.symbols > 0 || is_random);
        }
        return value.len() >= 6
            && (looks_random(value)
                || is_mixed && (traits.separators == 0 || is_phrase(value, traits, setting)));
    }
    if traits.letters == 0 {
        return traits.digits >= 6 || traits.symbols > 0 && traits.digits > 0;
    }
    if setting.operator == Operator::Call && is_field(value, traits) {
        return false;
    }
    if traits.digits > 0 {
        return !is_constant(value, traits) || looks_random(value);
    }
    if traits.symbols > 0 {
        let is_exclaimed = value.ends_with(['?', '!']) && traits.symbols == 1;
        return looks_random(value) || !is_exclaimed && !value.contains(CODE_SIGNS);
    }
    let is_plain_word = traits.upper == 0 && traits.separators == 0 && value.is_ascii();
    looks_random(value)
        || setting.quoted
            && setting.operator != Operator::Compare
            && is_plain_word
            && value.len() >= 6
            && setting.operator != Operator::Call
}

/// `address1`: the next name in a list of them.
fn is_field(value: &str, traits: &Traits) -> bool {
    traits.upper + traits.symbols == 0
        && traits.digits <= 2
        && value.ends_with(|c: char| c.is_ascii_digit())
        && !looks_random(value)
}

/// `Meadow-Ember-92`, as password managers draw them.
fn is_phrase(value: &str, traits: &Traits, setting: Setting) -> bool {
    let is_joined = matches!(setting.operator, Operator::Prose | Operator::Cell)
        || setting.operator == Operator::Blank && traits.separators >= 2;
    // `sunny-Dog-42`
    let least = if traits.separators >= 2 && traits.digits >= 2 { 1 } else { 2 };
    is_joined
        && value.len() >= 10
        && (least..traits.letters).contains(&traits.upper)
        && !value.contains(['.', '/', ':'])
}

/// What tells a password from the pass of a compiler, or of a test.
fn is_pass(value: &str, traits: &Traits) -> bool {
    let is_mixed = traits.digits > 0 && traits.letters > 0;
    let is_drawn = traits.upper > 1 && value.len() >= 12 && looks_random(value);
    traits.symbols > 0 && traits.letters > 0
        || is_drawn
        || is_mixed && (traits.upper > 0 || value.len() >= 10 || looks_random(value))
}

fn is_opaque(value: &str, traits: &Traits, setting: Setting) -> bool {
    if value.len() < 8 || is_word_of_state(value) || traits.letters == 0 && traits.digits < 16 {
        return false;
    }
    if is_numbered_name(value, traits, setting) {
        return false;
    }
    let is_prose = setting.is_prose();
    let is_name = traits.separators > 0 || traits.digits == 0 || is_prose;
    looks_random(value)
        || is_uuid(value)
        || traits.hex && value.len() >= 16 && traits.digits > 0
        || !is_name
        || traits.symbols > 0 && setting.quoted && !value.contains(['(', '[', '|', ',', '…', '='])
        || traits.symbols > 0 && traits.digits > 0 && !value.contains(['(', '['])
}

fn is_token(value: &str, traits: &Traits, setting: Setting) -> bool {
    if value.len() < 8 || is_word_of_state(value) {
        return false;
    }
    if traits.letters == 0 {
        // An id of so many digits is given out with a secret, and so is a secret.
        return traits.digits >= 16 && setting.quoted && traits.digits == value.len();
    }
    let needs_digits = matches!(
        setting.operator,
        Operator::Blank
            | Operator::Prose
            | Operator::List
            | Operator::Compare
            | Operator::Cell
            | Operator::Call
    );
    if needs_digits && (traits.digits == 0 || value.len() < 12) {
        return false;
    }
    let is_mixed = traits.digits > 0 && traits.separators == 0 && traits.symbols == 0;
    looks_random(value)
        || traits.hex && value.len() >= 20 && traits.digits > 0
        || is_mixed && value.len() >= 16 && !needs_digits
}

/// Four words or more under a name such as `passphrase`.
fn is_passphrase(value: &str, claim: Claim, setting: Setting) -> bool {
    let words: Vec<&str> = value.split_whitespace().collect();
    let random = |w: &&str| w.len() >= 8 && looks_random(w);
    match claim {
        Claim::Password | Claim::Pass | Claim::Secret => {
            setting.quoted && words.len() <= 3 && words.iter().any(random)
        }
        Claim::Token | Claim::Key => false,
    }
}

/// `session:4433c402-…`, `uploads/2026/d6ee8717-….png`, `cache-9b70393c…`: where something is kept,
/// by words, UUIDs and hashes.
fn is_of_names(value: &str) -> bool {
    let is_hash = |part: &str| part.len() >= 32 && part.bytes().all(|b| b.is_ascii_hexdigit());
    let is_name = |part: &str| {
        let (before, last) = part.rsplit_once(['-', '_']).unwrap_or(("", part));
        is_uuid(part) || is_hash(last) && !looks_random(before) || !looks_random(part)
    };
    let mut parts = value.split(['/', ':', '#', '.', '@']);
    let has_id = |part: &str| is_uuid(part) || part.rsplit(['-', '_']).next().is_some_and(is_hash);
    let begins = parts.clone().next().is_some_and(|first| !is_uuid(first) && !is_hash(first));
    begins && parts.clone().any(has_id) && parts.all(is_name)
}

/// `TOKEN_2`, `API_KEY`.
fn is_constant(value: &str, traits: &Traits) -> bool {
    traits.symbols == 0
        && traits.upper == traits.letters
        && traits.separators > 0
        && !looks_random(value)
}

/// `password2`, `test_key_1`: a name of the thing itself.
fn is_numbered_name(value: &str, traits: &Traits, setting: Setting) -> bool {
    const THINGS: &[&str] = &[
        "pass", "pwd", "token", "key", "secret", "value", "arg", "param", "str", "user", "field",
        "data", "auth", "cred", "test",
    ];
    let lower = value.to_ascii_lowercase();
    let names_it = THINGS.iter().any(|t| lower.contains(t));
    names_it
        && traits.symbols == 0
        && !looks_random(value)
        && (traits.digits <= 1
            || traits.separators > 0
            || !setting.quoted && setting.operator != Operator::Tight && traits.digits < 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIGHT: Setting = Setting { operator: Operator::Tight, quoted: false, certain: false };
    const COLON: Setting = Setting { operator: Operator::Colon, quoted: false, certain: false };

    #[test]
    fn passwords_of_people_are_secrets() {
        for value in ["hunter2hunter2", "s3cretPassw0rd", "Zx9ouxZjugnD!k", "p@ssw0rd!", "letmein1"]
        {
            assert!(is_secret(value, Claim::Password, TIGHT), "{value}");
            assert!(is_secret(value, Claim::Password, COLON), "{value}");
            assert!(is_secret(value, Claim::Password, Setting::JSON), "{value}");
        }
    }

    #[test]
    fn what_only_stands_for_a_secret_is_none() {
        for value in [
            "string",
            "SecretStr",
            "Optional[str]",
            "$TOKEN",
            "${TOKEN}",
            "{token}",
            "<YOUR_API_KEY>",
            "your-api-key-here",
            "[REDACTED:api-key]",
            "expired",
            "see",
            "None",
            "getpass.getpass()",
            "settings.API_TOKEN",
            "/run/secrets/db",
            "***",
            "%(password)s",
            "xxxxxxxx",
            "self.password1",
            "password2",
            "config[\"x\"]",
            "Option<String>",
            "false",
            "field_password_1",
        ] {
            for claim in [Claim::Password, Claim::Secret, Claim::Token] {
                assert!(!is_secret(value, claim, COLON), "{value} {claim:?}");
            }
        }
    }

    #[test]
    fn what_something_is_kept_under_is_no_secret() {
        let (id, hash) =
            ("4433c402-35d1-47a7-9b7d-93c27363fd09", "9b70393c45d2561b900a278ffc2b895f");
        for value in [format!("session:{id}"), format!("up/2026/{id}.png"), format!("cache-{hash}")]
        {
            assert!(!is_secret(&value, Claim::Key, COLON), "{value}");
        }
        assert!(is_secret("tDRS4SOJXA7oQD0zu6stN8Bi/HZCdjCZMb", Claim::Key, COLON));
    }

    #[test]
    fn labels_are_no_passwords() {
        for value in [
            "Enter your password",
            "false",
            "Passwort",
            "required",
            "Mot de passe",
            "must be 8 characters",
        ] {
            assert!(!is_secret(value, Claim::Password, Setting::JSON), "{value}");
        }
    }
}
