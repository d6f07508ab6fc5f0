//! Sums that some secrets carry in themselves.
//!
//! The sum of a token proves that it is one. A wrong sum proves nothing: tokens in
//! transcripts are cut, edited and made up, and a reader cannot tell. The sum of a card or an
//! account number is a condition, for without it every long number would be one.

use serde::Deserialize;

/// A kind of sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checksum {
    /// Last six characters: CRC-32, in base 62, of the body between the first `_` and them.
    GithubCrc32,
    /// npm took over GitHub's scheme.
    NpmCrc32,
    /// Last eight characters: CRC-32, in hex, of the body between the last `_` and them.
    HexCrc32,
    /// Payment cards (ISO/IEC 7812).
    Luhn,
    /// Bank accounts (ISO 13616).
    Iban,
}

impl Checksum {
    /// Whether a text without a right sum is no secret.
    pub fn is_required(self) -> bool {
        matches!(self, Self::Luhn | Self::Iban)
    }

    /// Whether the text carries a right sum.
    pub fn holds(self, text: &str) -> bool {
        match self {
            Self::GithubCrc32 | Self::NpmCrc32 => {
                tail_matches(text.split_once('_').map_or(text, |s| s.1), 6, base62)
            }
            Self::HexCrc32 => tail_matches(text.rsplit_once('_').map_or(text, |s| s.1), 8, |sum| {
                format!("{sum:08x}")
            }),
            Self::Luhn => luhn(text),
            Self::Iban => iban(text),
        }
    }

    /// A body with the sum that belongs to it; `None` for sums that are not a tail.
    pub fn complete(self, body: &str) -> Option<String> {
        let sum = crc32(body.as_bytes());
        match self {
            Self::GithubCrc32 | Self::NpmCrc32 => Some(format!("{body}{}", base62(sum))),
            Self::HexCrc32 => Some(format!("{body}{sum:08x}")),
            Self::Luhn => ('0'..='9').map(|d| format!("{body}{d}")).find(|n| luhn(n)),
            Self::Iban => None,
        }
    }
}

fn tail_matches(body: &str, tail: usize, spell: impl Fn(u32) -> String) -> bool {
    let cut = body.len().checked_sub(tail).filter(|cut| *cut > 0 && body.is_char_boundary(*cut));
    cut.is_some_and(|cut| {
        let (body, sum) = body.split_at(cut);
        spell(crc32(body.as_bytes())) == sum
    })
}

fn base62(mut number: u32) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = [b'0'; 6];
    for place in out.iter_mut().rev() {
        *place = DIGITS[(number % 62) as usize];
        number /= 62;
    }
    out.iter().map(|b| char::from(*b)).collect()
}

/// The CRC of zip and PNG.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| {
            if c & 1 == 1 { (c >> 1) ^ 0xEDB8_8320 } else { c >> 1 }
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}

fn luhn(text: &str) -> bool {
    let digits = text.bytes().rev().filter(u8::is_ascii_digit).map(|b| u32::from(b - b'0'));
    let mut count = 0;
    let sum: u32 = digits
        .enumerate()
        .map(|(i, d)| {
            count = i + 1;
            let doubled = d * 2;
            if i % 2 == 0 { d } else { doubled / 10 + doubled % 10 }
        })
        .sum();
    (12..=19).contains(&count) && sum.is_multiple_of(10) && sum > 0
}

fn iban(text: &str) -> bool {
    let plain: Vec<u8> = text.bytes().filter(u8::is_ascii_alphanumeric).collect();
    if !(15..=34).contains(&plain.len()) {
        return false;
    }
    let (head, tail) = plain.split_at(4);
    let step = |rest: u32, byte: &u8| {
        let value = char::from(*byte).to_digit(36).unwrap_or_default();
        (rest * if value > 9 { 100 } else { 10 } + value) % 97
    };
    tail.iter().chain(head).fold(0, step) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crc_is_the_one_of_zip() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_completed_body_holds_and_a_changed_one_does_not() {
        for sum in [Checksum::GithubCrc32, Checksum::NpmCrc32, Checksum::HexCrc32] {
            let token = format!("x_{}", sum.complete(&"ab1".repeat(10)).unwrap());
            assert!(sum.holds(&token), "{token}");
            assert!(!sum.holds(&token.replace('b', "c")));
        }
    }

    #[test]
    fn cards_and_accounts_are_known_by_their_sums() {
        assert!(Checksum::Luhn.holds("4111 1111 1111 1111"));
        assert!(!Checksum::Luhn.holds("4111 1111 1111 1112"));
        assert!(Checksum::Iban.holds("GB82 WEST 1234 5698 7654 32"));
        assert!(!Checksum::Iban.holds("GB83 WEST 1234 5698 7654 32"));
    }
}
