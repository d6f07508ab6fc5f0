//! Tokens that nobody drew: somebody typed them out to show what a token looks like, along the
//! alphabet and the digits, letter by digit, or with a few characters again and again.
//!
//! Each sign asks for so much order that two of a million random tokens of 24 hex digits have one,
//! and of longer ones fewer.

/// Shorter values may be the passwords of people, who type so too.
const SHORTEST: usize = 24;

/// Longer values are files, whose headers and paddings repeat.
const LONGEST: usize = 256;

/// Whether the order of a token's characters is a hand's.
pub(super) fn is_handmade(token: &str) -> bool {
    if !(SHORTEST..=LONGEST).contains(&token.len()) {
        return false;
    }
    let lower = token.to_ascii_lowercase();
    let signs: Vec<u8> = after_words(&lower).bytes().filter(u8::is_ascii_alphanumeric).collect();
    follows_the_keyboard(lower.as_bytes())
        || counts_bytes(token)
        || signs.len() >= SHORTEST && (ascends(&signs) || alternates(&signs) || repeats(&signs))
}

/// What follows the words before it, such as `sk_live_`.
fn after_words(lower: &str) -> &str {
    let is_word = |part: &str| part.len() <= 12 && part.bytes().all(|b| b.is_ascii_lowercase());
    match lower.split_once(['-', '_']) {
        Some((word, rest)) if is_word(word) => after_words(rest),
        _ => lower,
    }
}

/// The next letter, or the next digit as the keyboard has them.
fn follows(before: u8, next: u8) -> bool {
    match next {
        b'0' => before == b'9',
        b'a' => before == b'z',
        _ => next == before + 1,
    }
}

/// `-klmnopqrstuvwx-`, `1234567890`.
fn follows_the_keyboard(lower: &[u8]) -> bool {
    let mut run = 1;
    lower.windows(2).any(|two| {
        let in_order = two[0].is_ascii_alphanumeric() && follows(two[0], two[1]);
        run = if in_order { run + 1 } else { 1 };
        run >= 10
    })
}

/// `abc123def456ghi789`, `aA1bB2cC3dD4`: most letters follow the one before, and most digits.
fn ascends(signs: &[u8]) -> bool {
    let letters = steps(signs.iter().copied().filter(u8::is_ascii_lowercase));
    let digits = steps(signs.iter().copied().filter(u8::is_ascii_digit));
    (letters + digits) * 10 >= signs.len() * 6
}

/// How many characters are parts of runs of five or more; one that comes twice is no break.
fn steps(chars: impl Iterator<Item = u8>) -> usize {
    let (mut run, mut before, mut steps) = (0, 0, 0);
    for next in chars {
        if next == before {
            steps += usize::from(run >= 5);
            continue;
        }
        run = if follows(before, next) { run + 1 } else { 1 };
        steps += match run {
            0..=4 => 0,
            5 => 5,
            _ => 1,
        };
        before = next;
    }
    steps
}

/// `q7w2e9r4-t1y6-u3i8`: a letter, a digit, a letter.
fn alternates(signs: &[u8]) -> bool {
    let changes = signs.windows(2).filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit());
    changes.count() * 20 >= (signs.len() - 1) * 19
}

/// `888888888bbbbbb3333333`, `exampleexampleexample`: a good part is one text of up to twelve
/// characters, over and over.
fn repeats(signs: &[u8]) -> bool {
    let runs = signs.chunk_by(|a, b| a == b).map(<[u8]>::len).filter(|run| *run >= 4);
    let least = (signs.len() * 4 / 10).max(16);
    runs.sum::<usize>() >= least
        || (2..=12).any(|period| stretch(signs, period) >= least.max(3 * period))
}

/// The longest stretch in which each character is the one so many before it.
fn stretch(signs: &[u8], period: usize) -> usize {
    let (mut longest, mut same) = (0, 0);
    for at in period..signs.len() {
        same = if signs[at] == signs[at - period] { same + 1 } else { 0 };
        longest = longest.max(same);
    }
    if longest == 0 { 0 } else { longest + period }
}

/// The bytes 0, 1, 2, … in base 64 and in hex.
fn counts_bytes(token: &str) -> bool {
    ["AAECAwQFBgc", "0001020304050607", "00112233445566"].iter().any(|count| token.contains(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hand_typed_is_no_token() {
        for token in [
            "sk_live_abcdefghijklmnopqrstuvwxyz123456",
            "sample_abc12def34ghi56jkl78mno90pqr",
            "Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9",
            "acme-client-2/kA1bB2cC3dD4eE5fF6gG7hH8i",
            "q7w2e9r4-t1y6-u3i8-o5p0-z2x7c4v9b1n6",
            "888888888bBBBBB3333333EeeeED000000000000",
            "sk-exampleexampleexampleexample",
            "cookie-AAECAwQFBgcICQoLDA0ODxAREhMU",
            "11111111-2222-3333-4444-555555555555",
            "k3Jx9QmZ7vLp2RtYw1234567890",
        ] {
            assert!(is_handmade(token), "{token}");
        }
    }

    #[test]
    fn what_was_drawn_is_not_handmade() {
        for token in [
            "k3Jx9QmZ7vLp2RtYw8Ncb4Hd6Fs1Gg5Tr0Uo",
            "9b70393c45d2561b900a278ffc2b895f",
            "4433c402-35d1-47a7-9b7d-93c27363fd09",
            "gAAAAABk3Jx9QmZ7vLp2RtYw8Ncb4Hd6Fs1Gg5Tr0Uo",
            "abcdefghij1234567890",
        ] {
            assert!(!is_handmade(token), "{token}");
        }
    }
}
