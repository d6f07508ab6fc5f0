//! What a name says of its value: `client_secret` announces a secret, `token_count` does not.
//!
//! A name is split into words at case changes, digits and punctuation; the last word that is not
//! a mere suffix (`_PROD`, `2`, `_base64`) is its head. A head such as `password` is enough;
//! `key` and `token` are asked for their qualifier, because most keys and tokens in a
//! transcript are those of dictionaries, parsers and language models.

use serde::Deserialize;

use super::tongues;
use super::words::WordSet;

/// How far a name vouches for its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// A key that may be a dictionary's: the value must look random, and like no hash.
    Key,
    /// A token or credential of some kind: the value must look random.
    Token,
    /// An API key, client secret and the like: the value must not be a word or a name.
    Secret,
    /// A pass: a password if it has what no word has.
    Pass,
    /// A password, which may look like anything.
    Password,
}

/// Parts of names in any case, one of which stands in every name that [`claim`] takes.
pub(super) const STEMS: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "psk",
    "_pat",
    "-pat",
    "pat=",
    "pw:",
    "pw=",
    "pw ",
    "pw\"",
    "pw'",
    "pw\n",
    "pw\t",
    "pw,",
    "psw",
    "passwort",
    "kennwort",
    "senha",
    "contrasen",
    "clave",
    "mdp",
    "wachtwoord",
    "passord",
    "adgangskode",
    "kodeord",
    "losenord",
    "salasana",
    "haslo",
    "heslo",
    "geslo",
    "jelszo",
    "lozinka",
    "sifre",
    "parola",
    "signature",
    "mnemonic",
    "cookie",
    "_salt",
];

static PASSWORDS: WordSet = WordSet::new(
    "\
    password passwords passwd passphrase passcode pwd psk psw paswd passwort kennwort senha \
    contrasena contrasenya motdepasse mdp wachtwoord passord adgangskode kodeord losenord salasana haslo \
    adgangskoden kodeordet passordet losenordet wachtwoorden salasanani hasla hesla parolam sifrem \
    heslo geslo jelszo lozinka sifre parola bindpw rootpw adminpw userpw dbpw userpass requirepass masterauth storepass keypass sshpass \
    dbpass rootpass adminpass userpassword passw passwrd pw",
);

/// Endings of words written together that say as much as the word alone.
const PASSWORD_ENDINGS: &[&str] =
    &["password", "passwd", "passphrase", "pwd", "userpass", "storepass", "keypass"];

const SECRET_ENDINGS: &[&str] = &[
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "authkey",
    "masterkey",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "sharedkey",
    "authtoken",
    "accesstoken",
    "refreshtoken",
    "bottoken",
    "apitoken",
    "clientsecret",
    "secret",
];

const TOKEN_ENDINGS: &[&str] = &["token", "authkey"];

/// Before `pass`: whoever has a password, as against a pass of a compiler.
static OWNERS: WordSet = WordSet::new(
    "\
    db database default admin root user smtp mail email ftp sftp ssh sudo my sql mysql pg \
    postgres redis mongo rabbit rabbitmq mq http proxy basic auth login key store svc \
    service api app wifi vpn ldap imap",
);

/// Before `key`: a key that opens something.
static KEYS: WordSet = WordSet::new(
    "\
    api access secret private encryption decryption signing sign master account auth \
    service deploy deployment webhook shared storage app application admin jwt hmac \
    crypto subscription license licence tls ssl client server host ssh consumer session \
    cookie aes rsa security write read ingest ingestion integration project user root \
    data management function functions role stripe openai anthropic gemini google maps \
    sendgrid mailgun wandb groq xai cohere hf aws azure datadog algolia firebase supabase \
    anon fernet wireguard preshared presharedkey cipher nacl sk dsa kms routing \
    provisioning enrollment registration agent bearer machine pem vault unseal recovery \
    flask django rails laravel",
);

/// Before `key`: it is what people call the password of a network.
static WIRELESS: WordSet = WordSet::new("wifi wlan wpa wpa2 wpa3 wep hotspot");

/// Before `key` or `token`: neither opens anything.
static HARMLESS: WordSet = WordSet::new(
    "\
    public pub primary foreign cache partition sort object dict index composite unique \
    lookup row group map parent item idempotency translation registry bos eos pad unk sep \
    cls mask max min total num n input output prompt completion cached next prev page \
    continuation special first last stop start end begin image unexpected expected \
    current lookahead cancellation cancel logprob delimiter string per arrow column \
    document hot json xml name field sync resume event fim reasoning eot pagination \
    decoder s3 bucket is has no by on press any enter shortcut message dedupe dedup shard \
    hash range site",
);

/// Before the head: the value was made up for a test or a manual.
static MADE_UP: WordSet = WordSet::new("fake dummy bogus mock mocked placeholder matching");

/// After the head: they change nothing.
static SUFFIXES: WordSet = WordSet::new(
    "\
    value val base data base64 b64 prod production dev development staging stage test \
    live sandbox old new current previous default primary secondary backup main local raw \
    plain plaintext env override enc dec this literal confirmation confirm wo \
    string_value nya basic",
);

/// What a name claims; `None` for a name that claims nothing.
pub(super) fn claim(name: &str) -> Option<Claim> {
    let words = Words::of(name);
    let mut words = words.as_slice();
    while let [rest @ .., last] = words {
        if rest.is_empty() || !is_suffix(last) {
            break;
        }
        words = rest;
    }
    let (head, before) = words.split_last()?;
    if let [.., public, key] = before
        && public.eq_ignore_ascii_case("public")
        && key.eq_ignore_ascii_case("key")
    {
        return None;
    }
    if before.iter().any(|word| MADE_UP.holds(word)) {
        return None;
    }
    let qualifier = before.last().copied().unwrap_or_default();
    let claim = head_claim(head, qualifier);
    if name.is_ascii() { claim } else { claim.or_else(|| tongues::claim(name)) }
}

fn head_claim(head: &str, qualifier: &str) -> Option<Claim> {
    let is = |word: &str| head.eq_ignore_ascii_case(word);
    if PASSWORDS.holds(head) || ends_with_one_of(head, PASSWORD_ENDINGS) {
        return Some(Claim::Password);
    }
    if is("pass") && OWNERS.holds(qualifier) || is("passe") && qualifier == "de" {
        return Some(Claim::Password);
    }
    if is_pass(head, qualifier) {
        return Some(Claim::Pass);
    }
    if is("phrase") && qualifier.eq_ignore_ascii_case("pass")
        || is("key") && WIRELESS.holds(qualifier)
    {
        return Some(Claim::Password);
    }
    if is("salt") {
        return Some(Claim::Key);
    }
    if is("key") || is("keys") {
        return key_claim(qualifier);
    }
    if is("token") || is("tok") {
        return token_claim(qualifier);
    }
    if ends_with_one_of(head, SECRET_ENDINGS) {
        return Some(Claim::Secret);
    }
    let is_token = is("clave")
        || is("auth")
        || is("authorization")
        || is("authentication")
        || is("bearer")
        || is("ident") && qualifier.eq_ignore_ascii_case("auth")
        || is("credential")
        || is("credentials")
        || is("creds")
        || is("cred")
        || is("secrets")
        || is("tokens") && matches!(token_claim(qualifier), Some(Claim::Secret))
        || is("pat")
        || ends_with_one_of(head, TOKEN_ENDINGS) && !HARMLESS.holds(qualifier);
    is_token.then_some(Claim::Token)
}

/// `DOCKER_PASS`, `remotepass`, `passkey`, and no pass of a compiler or a road.
fn is_pass(head: &str, qualifier: &str) -> bool {
    static OTHERS: WordSet = WordSet::new(
        "\
        compass bypass trespass overpass surpass encompass underpass subpass renderpass impass \
        render compiler first second third single multi depth shadow color forward backward by \
        com opt test num max min total is did will can",
    );
    let ends = head.len() > 4 && ends_with_one_of(head, &["pass"]);
    (head.eq_ignore_ascii_case("pass") || ends || head.eq_ignore_ascii_case("passkey"))
        && !OTHERS.holds(head)
        && !OTHERS.holds(qualifier)
}

fn key_claim(qualifier: &str) -> Option<Claim> {
    if KEYS.holds(qualifier) {
        Some(Claim::Secret)
    } else if HARMLESS.holds(qualifier) {
        None
    } else {
        Some(Claim::Key)
    }
}

fn token_claim(qualifier: &str) -> Option<Claim> {
    static SECRET: WordSet = WordSet::new(
        "\
    access refresh auth api bearer bot secret id session security personal private oauth \
    csrf jwt service vault user admin app deploy x",
    );
    // `input token = …`: an action's, where no model is spoken of.
    let is_of_registry = qualifier.eq_ignore_ascii_case("registry"); // of images or packages
    let is_harmless =
        HARMLESS.holds(qualifier) && !qualifier.eq_ignore_ascii_case("input") && !is_of_registry;
    if is_harmless {
        None
    } else if SECRET.holds(qualifier) {
        Some(Claim::Secret)
    } else {
        Some(Claim::Token)
    }
}

fn is_suffix(word: &str) -> bool {
    SUFFIXES.holds(word) || word.bytes().all(|b| b.is_ascii_digit())
}

fn ends_with_one_of(word: &str, endings: &[&str]) -> bool {
    let Some(last) = word.bytes().last().map(|b| b.to_ascii_lowercase()) else { return false };
    endings.iter().filter(|ending| ending.as_bytes().last() == Some(&last)).any(|ending| {
        let at = word.len().checked_sub(ending.len());
        at.is_some_and(|at| word.as_bytes()[at..].eq_ignore_ascii_case(ending.as_bytes()))
    })
}

/// The last words of a name; more than eight say nothing more.
struct Words<'a> {
    words: [&'a str; 8],
    first: usize,
}

impl<'a> Words<'a> {
    fn of(name: &'a str) -> Self {
        let bytes = name.as_bytes();
        let mut words = [""; 8];
        let mut first = words.len();
        let mut end = bytes.len();
        while end > 0 && first > 0 {
            let start = word_start(bytes, end);
            if start < end && name.is_char_boundary(start) && name.is_char_boundary(end) {
                first -= 1;
                words[first] = &name[start..end];
            }
            end = start;
            while end > 0 && !is_word_byte(bytes[end - 1]) {
                end -= 1;
            }
        }
        Self { words, first }
    }

    fn as_slice(&self) -> &[&'a str] {
        &self.words[self.first..]
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Where the word that ends at `end` begins: at punctuation, a digit, or a change of case.
fn word_start(bytes: &[u8], end: usize) -> usize {
    let mut at = end;
    while at > 0 && is_word_byte(bytes[at - 1]) && (at == end || !breaks(bytes, at)) {
        at -= 1;
    }
    at
}

/// Whether a word ends before `at`, which stands between two bytes of one run.
fn breaks(bytes: &[u8], at: usize) -> bool {
    let (before, after) = (bytes[at - 1], bytes[at]);
    let lower_upper = before.is_ascii_lowercase() && after.is_ascii_uppercase();
    let acronym_ends = before.is_ascii_uppercase()
        && after.is_ascii_uppercase()
        && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    before.is_ascii_digit() != after.is_ascii_digit() || lower_upper || acronym_ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_claim_them() {
        for (name, expected) in [
            ("password", Claim::Password),
            ("DB_PASSWORD", Claim::Password),
            ("PGPASSWORD", Claim::Password),
            ("spring.datasource.password", Claim::Password),
            ("userPassword2", Claim::Password),
            ("requirepass", Claim::Password),
            ("client_secret", Claim::Secret),
            ("SecretAccessKey", Claim::Secret),
            ("secretAccessKey", Claim::Secret),
            ("x-api-key", Claim::Secret),
            ("APIKEY", Claim::Secret),
            ("OPENAI_API_KEY_PROD", Claim::Secret),
            ("ENCRYPTION_KEY", Claim::Secret),
            ("tls.key", Claim::Secret),
            ("SECRET_KEY_BASE", Claim::Secret),
            ("client-key-data", Claim::Secret),
            ("_authToken", Claim::Secret),
            ("access_token", Claim::Secret),
            ("token", Claim::Token),
            ("PRIVATE-TOKEN", Claim::Secret),
            ("GITHUB_PAT", Claim::Token),
            ("_auth", Claim::Token),
            ("0mpassword", Claim::Password),
            ("AccountKey", Claim::Secret),
            ("X-Vault-Token", Claim::Secret),
        ] {
            assert_eq!(claim(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn names_of_other_things_claim_nothing() {
        for name in [
            "token_count",
            "MAX_TOKENS",
            "token_type",
            "TOKENIZERS_PARALLELISM",
            "bos_token",
            "pad_token",
            "secretName",
            "SECRET_FILE",
            "AUTH_URL",
            "author",
            "GIT_AUTHOR_NAME",
            "public_key",
            "primaryKey",
            "keyboard",
            "secretary",
            "passed",
            "bypass",
            "next_page_token",
            "auth_method",
            "tokens",
            "key_id",
            "password_field",
            "CREDENTIALS_FILE",
            "compass",
            "nonMatchingToken",
            "FAKE_API_KEY",
            "dummyPassword",
        ] {
            assert_eq!(claim(name), None, "{name}");
        }
    }
}
