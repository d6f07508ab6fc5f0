//! Whether what stands under a secret's name is a secret, or a placeholder, a variable, a type,
//! a word, a path, a number.
//!
//! The name says how much to ask for ([`Claim`]), the notation how much to trust: what stands
//! in quotes or after `export` is a value, what follows `: ` may be prose or a type.

use super::name::Claim;
use super::natural::looks_random;
use super::read::{Opening, Operator, Quote, limit};

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
    pub(super) const JSON: Self = Self {
        operator: Operator::Colon,
        quoted: true,
        certain: false,
    };

    /// Whether this may be a sentence.
    fn is_prose(self) -> bool {
        let is_loose = matches!(
            self.operator,
            Operator::Blank | Operator::Prose | Operator::Compare | Operator::Cell
        );
        is_loose && !self.quoted && !self.certain
    }

    pub(super) fn of(opening: &Opening, certain: bool) -> Self {
        Self {
            operator: opening.operator,
            quoted: opening.quote != Quote::Bare,
            certain,
        }
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
    if is_placeholder(value) || is_reference(value, setting) || is_path(value) {
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
        Claim::Secret => is_opaque(value, &traits, setting),
        Claim::Token => is_token(value, &traits, setting),
        Claim::Key => value.len() >= 16 && !traits.hex && is_token(value, &traits, setting),
    }
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
        let mut traits = Self {
            digits: 0,
            letters: 0,
            upper: 0,
            separators: 0,
            symbols: 0,
            hex: true,
        };
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
        return value.len() >= 6
            && (looks_random(value)
                || traits.digits > 0 && traits.letters > 0 && traits.separators == 0);
    }
    if traits.letters == 0 {
        return traits.digits >= 6 || traits.symbols > 0 && traits.digits > 0;
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
    if value.len() < 8 || is_word_of_state(value) || traits.letters == 0 {
        return false;
    }
    let needs_digits = matches!(
        setting.operator,
        Operator::Blank | Operator::Prose | Operator::Compare | Operator::Cell | Operator::Call
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
        Claim::Password | Claim::Secret => {
            setting.quoted && words.len() <= 3 && words.iter().any(random)
        }
        Claim::Token | Claim::Key => false,
    }
}

/// Texts that stand where a value is to be filled in, or was taken out.
fn is_placeholder(value: &str) -> bool {
    let lower = value.trim().to_ascii_lowercase();
    let is_bracketed = |open: char, close: char| {
        lower.starts_with(open) && (lower.ends_with(close) || !lower.contains(close))
    };
    lower.len() < 2
        || is_bracketed('<', '>')
        || is_bracketed('«', '»')
        || is_bracketed('[', ']')
        || lower.contains("redacted")
        || lower.contains("***")
        || lower.contains("...")
        || lower.contains('…')
        || lower.contains("xxxx")
        || lower.contains("your")
        || lower.contains("changeme")
        || lower.contains("change-me")
        || lower.contains("change_me")
        || lower.contains("replace")
        || lower.contains("placeholder")
        || lower.contains("example") && !looks_random(&lower)
        || lower.contains("-here")
        || lower.contains("_here")
        || lower.contains("dummy")
        || is_repetition(&lower)
}

/// One character or two, over and over.
fn is_repetition(value: &str) -> bool {
    let mut seen = [0_u8; 2];
    let mut count = 0;
    value.bytes().all(|b| {
        if seen[..count].contains(&b) {
            return true;
        }
        let fits = count < 2;
        if fits {
            seen[count] = b;
            count += 1;
        }
        fits
    })
}

/// Variables, templates, calls and other code.
fn is_reference(value: &str, setting: Setting) -> bool {
    let value = value.trim();
    let begins_variable = value.strip_prefix('$').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || "_{($*@!?1".contains(c))
            && !(setting.quoted && looks_random(rest) && !rest.starts_with(['{', '(']))
    });
    begins_variable
        || !setting.quoted
            && (value.starts_with('*')
                || is_type(value)
                || is_number(value) && value.starts_with("0x"))
        || value.contains("${")
        || value.contains("$(")
        || value.contains("{{")
        || value.contains("<%")
        || value.starts_with('%') && value[1..].contains('%')
        || value.starts_with("%(")
        || value == "%s"
        || value == "%v"
        || value.starts_with('{') && (value.ends_with('}') || !setting.quoted)
        || value.starts_with('&') && !setting.quoted
        || value.starts_with('!')
            && !setting.quoted
            && !value.contains(|c: char| c.is_ascii_digit())
        || value.contains("://")
        || value.contains("\\d")
        || value.contains("\\w")
        || value.contains("\\S")
        || value.contains("A-Z")
        || value.contains("a-z")
        || value.contains(".*")
        || value.contains(".+")
        || has_braces(value)
        || !setting.quoted && is_code(value)
}

/// `__u32`, `size_t`.
fn is_type(value: &str) -> bool {
    let bare = value.trim_matches('_');
    let digits = bare.strip_prefix(['u', 'i', 'f', 's']).unwrap_or(bare);
    value.starts_with("__") && bare.len() < 12
        || value.ends_with("_t") && value.len() < 16
        || bare.len() > digits.len() && matches!(digits, "8" | "16" | "32" | "64" | "128" | "size")
}

/// `prefix-{name}`.
fn has_braces(value: &str) -> bool {
    value
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'))
        .is_some_and(|(inner, _)| {
            !inner.is_empty()
                && inner
                    .bytes()
                    .all(|b| b.is_ascii_alphabetic() || b"_.[]:'\"()".contains(&b))
                && !looks_random(inner)
        })
}

/// A call, an index, a member: `f(x`, `a[0]`, `settings.TOKEN`, `self->pw`, `mod::NAME`.
fn is_code(value: &str) -> bool {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let len = value.bytes().take_while(|b| is_part(b)).count();
    let (head, rest) = value.split_at(len);
    let starts_name = head.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_name || rest.is_empty() || looks_random(head) && head.len() > 8 {
        return false;
    }
    let is_member = rest
        .strip_prefix('.')
        .or_else(|| rest.strip_prefix("?."))
        .is_some_and(|member| {
            let len = member.bytes().take_while(|b| is_part(b)).count();
            len > 0
                && !looks_random(&member[..len])
                && member.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && member[len..].starts_with(|c: char| ".([?,:)".contains(c))
                    | (member.len() == len)
                && !member[..len].contains(|c: char| c.is_ascii_digit())
        });
    rest.starts_with(['(', '[', '<'])
        || rest.starts_with("!(")
        || rest.starts_with("->")
        || rest.starts_with("::")
        || is_member
        || rest.starts_with('+')
            && rest[1..].starts_with(|c: char| c.is_ascii_lowercase())
            && !looks_random(value)
}

/// Endings of files' names.
const FILES: &[&str] = &[
    ".pem", ".key", ".json", ".txt", ".yaml", ".yml", ".env", ".crt", ".toml", ".ini", ".py",
    ".js", ".ts", ".md", ".go", ".rs", ".java", ".p12", ".pfx", ".jks", ".com", ".conf",
];

fn is_path(value: &str) -> bool {
    let value = value.trim();
    let is_rooted = ["/", "./", "../", "~/", "file:", "\\\\"]
        .iter()
        .any(|p| value.starts_with(p))
        || value.as_bytes().get(1) == Some(&b':')
            && value.as_bytes().get(2).is_some_and(|b| b"\\/".contains(b));
    if is_rooted {
        let parts = value.split(['/', '\\']).filter(|p| p.len() > 14);
        return parts.clone().all(|p| !looks_random(p))
            || value.matches('/').count() > 3 && value.len() < 100 && value.contains('.');
    }
    FILES.iter().any(|f| value.ends_with(f)) && !value.contains(|c: char| "!@#$%^&*".contains(c))
}

/// A date, a time or both.
fn is_instant(value: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_digit() || b"-:.+TZ ".contains(&b);
    value.len() >= 8
        && value.contains(['-', ':'])
        && value.bytes().all(is_part)
        && value.bytes().filter(u8::is_ascii_digit).count() >= 6
}

fn is_number(value: &str) -> bool {
    let hex = value.strip_prefix("0x").filter(|hex| hex.len() <= 16);
    hex.is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
        || value
            .bytes()
            .all(|b| b.is_ascii_digit() || b".,-+_%".contains(&b))
}

pub(super) fn is_uuid(value: &str) -> bool {
    let value = value.as_bytes();
    value.len() == 36
        && value.iter().enumerate().all(|(i, b)| {
            if matches!(i, 8 | 13 | 18 | 23) {
                *b == b'-'
            } else {
                b.is_ascii_hexdigit()
            }
        })
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

/// Words that say something about a secret instead of being one.
pub(super) fn is_word_of_state(value: &str) -> bool {
    const WORDS: &str = "string str text password passwd pwd pass secret token key none null nil undefined true false yes no on off \
        required optional expired invalid valid missing empty unknown hidden failed passed skipped error warning found present absent set unset \
        default test testing foo bar baz foobar example sample value type integer int number boolean bool object array any char varchar bytes \
        bearer basic digest negotiate oauth oauth2 apikey api_key jwt auto auto-generated generated random stdin prompt env environment \
        file vault keyring keychain manual static dynamic external internal public private enabled disabled enable disable \
        incorrect wrong confirm confirmation new-password current-password current old new reset change forgot update create login username user email \
        admin root guest postgres mysql redis mongo changeit credentials credential encrypted hashed plain plaintext masked removed omitted censored \
        ok success changed unchanged accepted rejected denied authenticated unauthorized authorized refreshed revoked verified unverified shared \
        utf-8 utf8 utf-16 ascii latin1 latin-1 us-ascii base64 sha256 sha512 sha1 md5 rs256 hs256 es256 aes-256 pbkdf2 bcrypt argon2 argon2id ed25519 oauth1 v1 v2 v3 \
        the a an is in for and or not of to with from this that it be as at by if password: let const var function return self";
    let value = value
        .trim()
        .trim_end_matches(['.', ',', '!', '?', ':', ';']);
    WORDS
        .split_ascii_whitespace()
        .any(|w| w.eq_ignore_ascii_case(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIGHT: Setting = Setting {
        operator: Operator::Tight,
        quoted: false,
        certain: false,
    };
    const COLON: Setting = Setting {
        operator: Operator::Colon,
        quoted: false,
        certain: false,
    };

    #[test]
    fn passwords_of_people_are_secrets() {
        for value in [
            "hunter2hunter2",
            "s3cretPassw0rd",
            "Zx9ouxZjugnD!k",
            "p@ssw0rd!",
            "letmein1",
        ] {
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
