//! Examples of rules, which look like secrets only once they are expanded.
//!
//! A file full of tokens would make every scanner that looks at this repository cry out, so an
//! example says what its secret is made of: `ghp_<alnum:36>`. Between `<` and `>` stands a
//! class, `:` and a length; the characters are drawn from a generator seeded with the rule's id,
//! so that an example is the same text each time. Classes:
//!
//! | class | characters |
//! |---|---|
//! | `hex`, `HEX` | `0-9a-f`, `0-9A-F` |
//! | `digits` | `0-9` |
//! | `lower`, `upper` | `a-z`, `A-Z` |
//! | `alnum`, `lowernum`, `uppernum` | letters (of that case) and digits |
//! | `base64` | `A-Za-z0-9+/`, with `=` at the end where base64 of that length needs it |
//! | `b64url` | `A-Za-z0-9_-` |
//! | `base32` | `A-Z2-7` |
//! | `github-crc32`, `npm-crc32`, `hex-crc32`, `luhn` | letters and digits (digits for `luhn`) that end in their sum |
//! | anything else | the set itself, as in brackets of an expression: `<A-Za-z0-9_.-:20>` |
//!
//! `<uuid>` is a UUID. What stands between `«` and `»` must vanish, and the two marks are not
//! part of the text; without them the secret is each word in which something was expanded,
//! where a word is what no space, quote, `=`, `:`, `/`, `@`, `&`, `,`, `;`, bracket or
//! backslash interrupts.

use std::ops::Range;

use super::checksum::Checksum;

/// A text with what must vanish from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The text.
    pub text: String,
    /// Where secrets stand in it.
    pub secrets: Vec<Range<usize>>,
}

impl Example {
    /// Expands what a rule file says.
    pub fn expand(written: &str, seed: &str) -> Self {
        let mut dice = Dice::new(seed);
        let mut text = String::new();
        let (mut marked, mut drawn, mut open) = (Vec::new(), Vec::new(), None);
        let mut rest = written;
        while let Some(c) = rest.chars().next() {
            let (len, piece) = placeholder(rest, &mut dice)
                .map_or((c.len_utf8(), None), |(len, piece)| (len, Some(piece)));
            let start = text.len();
            match (piece, c) {
                (Some(piece), _) => {
                    text.push_str(&piece);
                    drawn.push(start..text.len());
                }
                (None, '«') => open = Some(start),
                (None, '»') => marked.extend(open.take().map(|from| from..start)),
                (None, c) => text.push(c),
            }
            rest = &rest[len..];
        }
        let secrets = if marked.is_empty() { words(&text, &drawn) } else { marked };
        Self { text, secrets }
    }
}

/// The words that hold the drawn pieces, each once.
fn words(text: &str, drawn: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for piece in drawn {
        let start = text[..piece.start].rfind(ends_word).map_or(0, |at| at + char_len(text, at));
        let end = text[piece.end..].find(ends_word).map_or(text.len(), |at| piece.end + at);
        if words.last().is_none_or(|last| last.end < end) {
            words.push(start..end);
        }
    }
    words
}

fn char_len(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(1, char::len_utf8)
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || "\"'`=:/@&,;()[]{}<>\\".contains(c)
}

/// The length of the placeholder that `rest` begins with, and what it becomes.
fn placeholder(rest: &str, dice: &mut Dice) -> Option<(usize, String)> {
    let inner = rest.strip_prefix('<')?;
    let end = inner.find('>')?;
    let inner = &inner[..end];
    if inner.contains(['<', '«', '»', ' ']) {
        return None;
    }
    if inner == "uuid" {
        let parts = [8, 4, 4, 4, 12].map(|n| dice.draw("0123456789abcdef", n));
        return Some((end + 2, parts.join("-")));
    }
    let (class, count) = inner.rsplit_once(':')?;
    let count: usize = count.parse().ok()?;
    Some((end + 2, expand_class(class, count, dice)))
}

const ALNUM: &str = "A-Za-z0-9";

fn expand_class(class: &str, count: usize, dice: &mut Dice) -> String {
    let summed = |sum: Checksum, tail: usize, set: &str, dice: &mut Dice| {
        let body = dice.draw(&members(set), count.saturating_sub(tail));
        sum.complete(&body).unwrap_or(body)
    };
    let set = match class {
        "github-crc32" => return summed(Checksum::GithubCrc32, 6, ALNUM, dice),
        "npm-crc32" => return summed(Checksum::NpmCrc32, 6, ALNUM, dice),
        "hex-crc32" => return summed(Checksum::HexCrc32, 8, ALNUM, dice),
        "luhn" => return summed(Checksum::Luhn, 1, "1-9", dice),
        "base64" => {
            let pad = (4 - count % 4) % 4;
            return dice.draw(&members("A-Za-z0-9+/"), count) + &"=".repeat(pad);
        }
        "hex" => "0-9a-f",
        "HEX" => "0-9A-F",
        "digits" => "0-9",
        "lower" => "a-z",
        "upper" => "A-Z",
        "alnum" => ALNUM,
        "lowernum" => "a-z0-9",
        "uppernum" => "A-Z0-9",
        "b64url" => "A-Za-z0-9_-",
        "base32" => "A-Z2-7",
        set => set,
    };
    dice.draw(&members(set), count)
}

/// The characters of a set such as `A-Za-z_-`.
fn members(set: &str) -> String {
    let chars: Vec<char> = set.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < chars.len() {
        if at + 2 < chars.len() && chars[at + 1] == '-' {
            out.extend(chars[at]..=chars[at + 2]);
            at += 3;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

/// A small generator (splitmix64), the same on every machine.
struct Dice(u64);

impl Dice {
    fn new(seed: &str) -> Self {
        Self(
            seed.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
                (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
            }),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a remainder of a small number")]
    fn draw(&mut self, from: &str, count: usize) -> String {
        let chars: Vec<char> = from.chars().collect();
        let pick = |_| chars[(self.next() % chars.len() as u64) as usize];
        (0..count).map(pick).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_word_is_the_secret() {
        let e = Example::expand("key: ghp_<alnum:36>, end", "x");
        assert_eq!(e.text.len(), "key: ghp_, end".len() + 36);
        assert_eq!(e.secrets.first(), Some(&(5..45)));
        assert_eq!(e, Example::expand("key: ghp_<alnum:36>, end", "x"));
        assert_ne!(e, Example::expand("key: ghp_<alnum:36>, end", "y"));
    }

    #[test]
    fn marks_say_what_the_secret_is() {
        let e = Example::expand("a «b<digits:3>:c» <td>", "x");
        assert_eq!(e.secrets.first(), Some(&(2..8)));
        assert!(e.text.ends_with(":c <td>"));
    }

    #[test]
    fn sets_are_spelled_as_in_expressions() {
        assert_eq!(members("a-c_.-"), "abc_.-");
        let e = Example::expand("<ab-:40>", "x");
        assert!(e.text.chars().all(|c| "ab-".contains(c)));
    }
}
