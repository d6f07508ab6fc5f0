//! Knows what stands in a secret's place without being one: placeholders, variables, calls, paths,
//! dates, and words about a secret's state.

use super::natural::looks_random;
use super::words::WordSet;

/// Texts that stand where a value is to be filled in, or was taken out.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.trim().to_ascii_lowercase();
    let is_bracketed = |open: char, close: char| {
        lower.starts_with(open) && (lower.ends_with(close) || !lower.contains(close))
    };
    lower.len() < 2
        || is_bracketed('<', '>')
        || lower.starts_with("&lt;")
        || is_bracketed('«', '»')
        || is_bracketed('(', ')')
            && lower[1..].bytes().all(|b| b.is_ascii_lowercase() || b" _-)".contains(&b))
        || is_bracketed('[', ']')
        || lower.contains("redacted")
        || lower.contains("***")
        || lower.contains("...")
        || lower.contains('…')
        || lower.contains("xxxx")
        || lower.contains("your")
        || lower.starts_with("base32")
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
        || has_run(lower.as_bytes())
        || counts_up(lower.as_bytes())
        || is_malformed(value.trim())
        || is_no_telegram(value.trim())
}

/// `abcdef0123456789`, `a1b2c3d4e5f6g7h8`, `AbCdEf123456`: letters and digits that each follow the
/// one before, as nobody draws them.
fn counts_up(lower: &[u8]) -> bool {
    let digits = lower.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = lower.iter().filter(|b| b.is_ascii_lowercase()).count();
    let signs = digits + letters;
    let steps = |first: u8, last: u8| {
        let (mut run, mut before, mut steps) = (0, 0, 0);
        for b in lower.iter().copied().filter(|b| (first..=last).contains(b)) {
            let follows = b == before + 1 || b == first && before == last;
            run = if follows { run + 1 } else { 1 };
            steps += match run {
                0..=4 => 0,
                5 => 5,
                _ => 1,
            };
            before = b;
        }
        steps
    };
    lower.len() <= LONGEST_SEQUENCE
        && signs >= 16
        && digits.min(letters) >= 4
        && (steps(b'a', b'z') + steps(b'0', b'9')) * 10 >= signs * 9
}

/// Longer values are no sequences.
const LONGEST_SEQUENCE: usize = 256;

/// A token that nobody need hide: made up, or given out to be read by everyone.
pub(super) fn is_open(value: &str) -> bool {
    (16..=LONGEST_SEQUENCE).contains(&value.len()) && (is_made_up(value) || is_public(value))
}

/// A token that a manual shows: `EXAMPLE` stands inside, or a word in the place of a JWT's
/// signature, or its service's tokens look otherwise. No generator draws any of these.
fn is_made_up(value: &str) -> bool {
    let is_word =
        |sum: &str| (3..=12).contains(&sum.len()) && sum.bytes().all(|b| b.is_ascii_lowercase());
    let is_unsigned =
        || value.starts_with("eyJ") && value.rsplit_once('.').is_some_and(|(_, sum)| is_word(sum));
    value.contains("EXAMPLE")
        || value.contains("exampleexample")
        || is_unsigned()
        || is_malformed(value)
}

/// What a shop's pages send to every browser: Stripe, Clerk and Paystack call it publishable, Midtrans
/// the client's key.
fn is_public(value: &str) -> bool {
    const PREFIXES: [&str; 4] = ["pk_live_", "sb_publishable_", "Mid-client-", "SB-Mid-client-"];
    // Courier's secrets are capitals.
    let is_test = value.strip_prefix("pk_test_");
    PREFIXES.iter().any(|prefix| value.starts_with(prefix))
        || is_test.is_some_and(|key| key.contains(|c: char| c.is_ascii_lowercase()))
}

/// Begins as the tokens of a service do that are all of one length or alphabet, and has another: cut
/// off, run together with something, or made up.
fn is_malformed(value: &str) -> bool {
    const EXACT: &[(&str, usize)] = &[
        ("apify_api_", 36),
        ("bkua_", 40),
        ("sb_secret_", 31),
        ("sm_aat_", 16),
        ("sm_pat_", 16),
        ("sm_sat_", 16),
    ];
    let is_cut = EXACT.iter().any(|(prefix, len)| {
        value.strip_prefix(prefix).is_some_and(|token| token.len() != *len && is_token(token))
    });
    // Salesforce's session, after its organization.
    let org = value.strip_prefix("00D").and_then(|rest| rest.split_once('!'));
    is_cut
        || org.is_some_and(|(id, session)| {
            (12..=15).contains(&id.len()) && session.len() < 60 && is_token(session)
        })
        || is_no_slack(value)
        || is_no_databricks(value)
}

fn is_token(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Telegram's are the bot's number and 35 characters.
fn is_no_telegram(value: &str) -> bool {
    value.split_once(':').is_some_and(|(bot, token)| {
        bot.len() >= 3
            && bot.bytes().all(|b| b.is_ascii_digit())
            && token.len() >= 24
            && token.starts_with('A')
            && is_token(token)
            && (token.len() != 35 || !(5..=16).contains(&bot.len()))
    })
}

/// Slack's ids have nine digits and more: `xoxp-1234-1234-` shows where they stand.
fn is_no_slack(value: &str) -> bool {
    let kind = ["xoxb-", "xoxp-", "xoxc-"].iter().find_map(|kind| value.strip_prefix(kind));
    kind.and_then(|ids| ids.split_once('-'))
        .is_some_and(|(id, _)| (2..8).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_digit()))
}

/// Databricks writes hex.
fn is_no_databricks(value: &str) -> bool {
    let body = value.strip_prefix("dapi").map(|rest| rest.split('-').next().unwrap_or(rest));
    body.is_some_and(|body| {
        let digits = body.bytes().filter(u8::is_ascii_digit).count();
        body.len() >= 24 && digits >= 8 && body.bytes().any(|b| !b.is_ascii_hexdigit())
    })
}

/// Sixteen times the same character on end: nobody draws that.
fn has_run(value: &[u8]) -> bool {
    let mut run = 1;
    value.windows(2).any(|two| {
        run = if two[0] == two[1] && two[0].is_ascii_alphanumeric() { run + 1 } else { 1 };
        run >= 16
    })
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
pub(super) fn is_reference(value: &str, quoted: bool) -> bool {
    let value = value.trim();
    let begins_variable = value.strip_prefix('$').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || "_{($*@!?1".contains(c))
            && !(quoted && looks_random(rest) && !rest.starts_with(['{', '(']))
    });
    begins_variable
        || !quoted
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
        || value.starts_with('{') && (value.ends_with('}') || !quoted) && !is_braced_secret(value)
        || value.starts_with('&') && !quoted
        || value.starts_with('!') && !quoted && !value.contains(|c: char| c.is_ascii_digit())
        || value.contains("://")
        || value.contains("=0x")
        || is_of_store(value)
        || value.contains("\\d")
        || value.contains("\\w")
        || value.contains("\\S")
        || value.contains("A-Z")
        || value.contains("a-z")
        || value.contains(".*")
        || value.contains(".+")
        || has_braces(value)
        || is_local(value)
        || is_validation(value)
        || value.starts_with(['\'', '"']) && value[1..].starts_with('$')
        || !quoted && is_code(value)
}

/// `vault:secret/data/db#password`, `db-pass:latest`: where a store of secrets has it.
fn is_of_store(value: &str) -> bool {
    const STORES: [&str; 5] = ["vault:", "ssm:", "secretsmanager:", "keyvault:", "secretref:"];
    STORES.iter().any(|store| value.starts_with(store))
        || value.strip_suffix(":latest").is_some_and(|name| !looks_random(name))
}

/// `@password`, as SQL and Ruby write variables, and `posts#edit`, an action of Rails.
fn is_local(value: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'/')
            && !looks_random(name)
    };
    let bare = value.strip_prefix('@').map(|name| name.strip_prefix('@').unwrap_or(name));
    let is_action = |(path, action): (&str, &str)| {
        path.contains('/') && is_name(path) && is_name(action) && !action.contains('/')
    };
    bare.is_some_and(is_name) || value.split_once('#').is_some_and(is_action)
}

/// `required|min:8|confirmed`: what a value must be.
fn is_validation(value: &str) -> bool {
    let is_rule = |rule: &str| {
        let name = rule.split([':', '(']).next().unwrap_or_default();
        (2..24).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    value.contains('|') && value.split('|').all(is_rule) && !looks_random(value)
}

/// `{x9!kQ}`: ODBC's quotation of a password.
fn is_braced_secret(value: &str) -> bool {
    let inner = value.trim_matches(['{', '}']);
    let has_sign = inner.contains(['!', '@', '#', '%', '^', '&', '*', '=']);
    value.len() > inner.len() + 1
        && looks_random(inner)
        && (has_sign || inner.len() >= 10)
        && inner.contains(|c: char| c.is_ascii_digit())
        && !inner.contains(['{', '}', '.', ':', '(', '['])
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
    value.split_once('{').and_then(|(_, rest)| rest.split_once('}')).is_some_and(|(inner, _)| {
        !inner.is_empty()
            && inner.bytes().all(|b| b.is_ascii_alphabetic() || b"_.[]:'\"()".contains(&b))
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
    let is_numbered = head.bytes().rev().take_while(u8::is_ascii_digit).count() >= 3;
    let is_member = !is_numbered
        && rest.strip_prefix('.').or_else(|| rest.strip_prefix("?.")).is_some_and(|member| {
            let len = member.bytes().take_while(|b| is_part(b)).count();
            len > 0
                && !looks_random(&member[..len])
                && member.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && member[len..].starts_with(|c: char| ".([?,:)".contains(c))
                    | (member.len() == len)
                && (member[len..].starts_with('(')
                    || !member[..len].contains(|c: char| c.is_ascii_digit()))
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

pub(super) fn is_path(value: &str) -> bool {
    let value = value.trim();
    let is_rooted = ["/", "./", "../", "~/", "file:", "\\\\"].iter().any(|p| value.starts_with(p))
        || value.as_bytes().get(1) == Some(&b':')
            && value.as_bytes().get(2).is_some_and(|b| b"\\/".contains(b));
    if is_rooted {
        let parts = value.split(['/', '\\']).filter(|p| p.len() > 14);
        return parts.clone().all(|p| !looks_random(p))
            || value.matches('/').count() > 3 && value.len() < 100 && value.contains('.');
    }
    // `@pw.txt`: what the file holds
    let value = value.strip_prefix('@').unwrap_or(value);
    FILES.iter().any(|f| value.ends_with(f)) && !value.contains(|c: char| "!@#$%^&*".contains(c))
}

/// A date, a time or both.
pub(super) fn is_instant(value: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_digit() || b"-:.+TZ ".contains(&b);
    value.len() >= 8
        && value.contains(['-', ':'])
        && value.bytes().all(is_part)
        && value.bytes().filter(u8::is_ascii_digit).count() >= 6
}

pub(super) fn is_number(value: &str) -> bool {
    let hex = value.strip_prefix("0x").filter(|hex| hex.len() <= 16);
    hex.is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
        || value.bytes().all(|b| b.is_ascii_digit() || b".,-+_%".contains(&b))
}

pub(super) fn is_uuid(value: &str) -> bool {
    let value = value.as_bytes();
    value.len() == 36
        && value.iter().enumerate().all(|(i, b)| {
            if matches!(i, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() }
        })
}

/// Words that say something about a secret instead of being one.
pub(super) fn is_word_of_state(value: &str) -> bool {
    static WORDS: WordSet = WordSet::new(
        "string str text password passwd pwd pass secret token key none null nil undefined true false yes no on off \
        required optional expired invalid valid missing empty unknown hidden failed passed skipped error warning found present absent set unset \
        default test testing foo bar baz foobar example sample value type integer int number boolean bool object array any char varchar bytes \
        bearer basic digest negotiate oauth oauth2 apikey api_key jwt auto auto-generated generated random stdin prompt env environment \
        file vault keyring keychain manual static dynamic external internal public private enabled disabled enable disable \
        incorrect wrong confirm confirmation new-password current-password current old new reset change forgot update create login username user email \
        admin root guest postgres mysql redis mongo changeit credentials credential encrypted hashed plain plaintext masked removed omitted censored \
        ok success changed unchanged accepted rejected denied authenticated unauthorized authorized refreshed revoked verified unverified shared \
        utf-8 utf8 utf-16 ascii latin1 latin-1 us-ascii base64 sha256 sha512 sha1 md5 rs256 hs256 es256 aes-256 pbkdf2 bcrypt argon2 argon2id ed25519 oauth1 v1 v2 v3 \
        the a an is in for and or not of to with from this that it be as at by if password: let const var function return self",
    );
    let value = value.trim().trim_end_matches(['.', ',', '!', '?', ':', ';']);
    WORDS.holds(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_stand_for_values() {
        for value in [
            "abcdef0123456789abcdef",
            "a1b2c3d4e5f6g7h8i9j0",
            "AbCdEfGhIjKlMnOpQr123456",
            "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
            "abc123def456ghi789jkl012",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in ["k3Jx9QmZ7vLp2RtYw8Nc", "abcde9Zk2Lq8", "hunter12345678"] {
            assert!(!is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn tokens_of_manuals_are_made_up() {
        for value in [
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJvdGhlciJ9.signature",
        ] {
            assert!(is_made_up(value), "{value}");
        }
        for value in ["k3Jx9QmZ7vLp2RtYw8Nc", "q0T6aEa60jbXjIanttFaymbA5t0BQ09E", "abcdefghij"] {
            assert!(!is_made_up(value), "{value}");
        }
    }

    #[test]
    fn publishable_keys_are_open() {
        let key = "k3Jx9QmZ7vLp2RtYw8Ncb4Hd";
        for prefix in ["pk_live_", "pk_test_", "sb_publishable_", "SB-Mid-client-"] {
            assert!(is_open(&format!("{prefix}{key}")), "{prefix}");
        }
        for prefix in ["sk_live_", "pk_prod_", "sb_secret_k3Jx9Qm", "SB-Mid-server-"] {
            assert!(!is_open(&format!("{prefix}{key}")), "{prefix}");
        }
        assert!(!is_open(&format!("pk_test_{}", key.to_uppercase())));
    }

    #[test]
    fn names_and_conditions_are_references() {
        for value in
            ["@password", "@@session", "cms/passwords#edit", "required|min:8|confirmed", "'$PW'"]
        {
            assert!(is_reference(value, true), "{value}");
        }
        for value in ["@s3cr3t99", "ab/cd#9xQ", "kV9|x2:Lq8"] {
            assert!(!is_reference(value, true), "{value}");
        }
    }

    #[test]
    fn tokens_of_one_length_are_none_of_another() {
        let token = "k3Jx9QmZ7vLp2RtYw8Ncb4Hd6Fs1Gg5Tr0Uo";
        assert!(is_placeholder(&format!("apify_api_{}", &token[..30])));
        assert!(!is_placeholder(&format!("apify_api_{token}")));
        assert!(is_placeholder(&format!("123456:A{}", &token[..30])));
        assert!(!is_placeholder(&format!("123456789:A{}", &token[..34])));
        assert!(is_made_up(&format!("00D{}!{}", &token[..12], &token[..20])));
        assert!(is_made_up(&format!("xoxp-1234-1234-1234-{token}")));
        assert!(!is_made_up(&format!("xoxp-513768634356-513201028496-{token}")));
        assert!(is_made_up("dapi84710293847561029384756102938g56"));
        assert!(!is_made_up("dapi84710293847561029384756102938b56-2"));
    }
}
