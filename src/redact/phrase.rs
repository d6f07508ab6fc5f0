//! Finds recovery phrases of wallets by themselves: 12 to 24 words of BIP39's English list whose
//! last ones carry a sum of the others.
//!
//! Words stand everywhere, so a word is looked at only every so many bytes: a whole phrase has one
//! there. Prose has few words of the list on end, and the sum is right for one in sixteen or fewer
//! of those.

use std::ops::Range;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

/// The list: 2048 words of three to eight letters, in order, one a line.
static LIST: &str = include_str!("bip39-english.txt");

const LONGEST: usize = 8;

/// Bits of a word's place in the list.
const BITS: usize = 11;

/// How many words a phrase has, the longest first.
const LENGTHS: [usize; 5] = [24, 21, 18, 15, 12];

/// Fewer bytes hold no phrase.
const LEAST: usize = 12 * 4 - 1;

/// The list as a table: letters as a number, and the word's place.
struct Table(Vec<(u64, u16)>);

const PLACES: usize = 1 << 13;

impl Table {
    fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| {
            let mut table = Self(vec![(0, 0); PLACES]);
            for (index, word) in (0..).zip(LIST.lines()) {
                let place = table.place(letters(word.as_bytes()));
                table.0[place] = (letters(word.as_bytes()), index);
            }
            table
        })
    }

    /// Where a word is, or would be.
    fn place(&self, letters: u64) -> usize {
        let hash = letters.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let mut place = hash as usize % PLACES;
        while self.0[place].0 != 0 && self.0[place].0 != letters {
            place = (place + 1) % PLACES;
        }
        place
    }

    fn index(&self, word: &[u8]) -> Option<u16> {
        let key = letters(word);
        let (found, index) = self.0[self.place(key)];
        (found == key && key != 0).then_some(index)
    }
}

fn letters(word: &[u8]) -> u64 {
    word.iter().fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// A word of the list, and where it stands.
struct Word {
    range: Range<usize>,
    index: u16,
}

/// Every phrase in a text.
pub(super) fn phrases(text: &str) -> Vec<Range<usize>> {
    let (bytes, mut found, mut at, mut settled) = (text.as_bytes(), Vec::new(), LEAST / 2, 0);
    while at < bytes.len() {
        let next = at + LEAST - LONGEST;
        let reached = word_at(bytes, at).map_or(0, |word| {
            let words = run(bytes, word, settled);
            settled = words.last().map_or(settled, |last| last.range.end);
            found.extend(among(&words));
            settled
        });
        at = next.max(reached + 1);
    }
    found
}

/// The word of the list that the byte belongs to, or that follows the blank there.
fn word_at(bytes: &[u8], at: usize) -> Option<Word> {
    let is_letter = |b: &u8| b.is_ascii_lowercase();
    let at = if is_letter(&bytes[at]) { at } else { at + separator_len(&bytes[at..])? };
    let before = bytes[..at].iter().rev().take(LONGEST + 1).take_while(|b| is_letter(b)).count();
    word_from(bytes, at - before)
}

/// The word of the list that begins here.
fn word_from(bytes: &[u8], start: usize) -> Option<Word> {
    let len =
        bytes[start..].iter().take(LONGEST + 1).take_while(|b| b.is_ascii_lowercase()).count();
    let is_whole = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_');
    let before = start.checked_sub(1).and_then(|before| bytes.get(before));
    let fits = (3..=LONGEST).contains(&len) && is_whole(before) && is_whole(bytes.get(start + len));
    let index = Table::get().index(&bytes[start..start + len]).filter(|_| fits)?;
    Some(Word { range: start..start + len, index })
}

/// Words of the list on end, among which `word` is, none before `from`.
fn run(bytes: &[u8], word: Word, from: usize) -> Vec<Word> {
    let mut before = Vec::new();
    let mut start = word.range.start;
    while before.len() < LENGTHS[0] {
        let gap = bytes[from..start].iter().rev().take(LONGEST).take_while(|b| is_between(**b));
        let end = start - gap.count();
        let letters = bytes[from..end].iter().rev().take(LONGEST + 1);
        let len = letters.take_while(|b| b.is_ascii_lowercase()).count();
        let joined = separator_len(&bytes[end..]).is_some_and(|gap| end + gap == start);
        let Some(found) = word_from(bytes, end - len).filter(|_| joined && len > 0) else { break };
        start = found.range.start;
        before.push(found);
    }
    before.reverse();
    let mut words = before;
    let mut end = word.range.end;
    words.push(word);
    while let Some(found) =
        bytes.get(end..).and_then(separator_len).and_then(|gap| word_from(bytes, end + gap))
    {
        end = found.range.end;
        words.push(found);
    }
    words
}

/// What may stand between two words: blanks, the line's end, a comma, the number of the next one.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_digit() || b" \t\r\n,.):".contains(&byte)
}

/// The bytes between two words, of which one is blank.
fn separator_len(rest: &[u8]) -> Option<usize> {
    let len = rest.iter().take(LONGEST).take_while(|b| is_between(**b)).count();
    rest[..len].iter().any(u8::is_ascii_whitespace).then_some(len)
}

/// The phrases among words on end.
fn among(words: &[Word]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut rest = words;
    while rest.len() >= LENGTHS[LENGTHS.len() - 1] {
        let phrase = LENGTHS.iter().filter_map(|len| rest.get(..*len)).find(|some| is_phrase(some));
        if let Some([first, .., last]) = phrase {
            found.push(first.range.start..last.range.end);
        }
        rest = &rest[phrase.map_or(1, <[Word]>::len)..];
    }
    found
}

/// Whether words carry their sum, and are neither a piece of the list nor a few over and over.
fn is_phrase(words: &[Word]) -> bool {
    let mut seen: Vec<u16> = words.iter().map(|word| word.index).collect();
    let is_sorted = seen.windows(2).all(|two| two[0] < two[1]);
    if is_sorted || !has_sum(&seen) {
        return false;
    }
    seen.sort_unstable();
    seen.dedup();
    seen.len() > 3
}

/// Whether the last bits of the words' places are the first of the digest of the others.
fn has_sum(places: &[u16]) -> bool {
    let sum_bits = places.len() / 3;
    let bit = |at: usize| places[at / BITS] >> (BITS - 1 - at % BITS) & 1;
    let byte = |at: usize| (at..at + 8).fold(0_u8, |byte, at| byte << 1 | u8::from(bit(at) == 1));
    let entropy: Vec<u8> = (0..places.len() * BITS - sum_bits).step_by(8).map(byte).collect();
    let digest = Sha256::digest(&entropy);
    let last = entropy.len() * 8;
    let is_right = |i: usize| (digest[0] >> (7 - i) & 1 == 1) == (bit(last + i) == 1);
    (0..sum_bits).all(is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made-up phrases that carry their sum.
    fn phrase(len: usize) -> String {
        let words: Vec<&str> = LIST.lines().collect();
        let mut places: Vec<u16> =
            (0..len).map(|i| u16::try_from((i * 733 + 91) % 2048)).map(Result::unwrap).collect();
        let last = places.pop().unwrap();
        let sum = 1 << (len / 3);
        let fits = |place: &u16| has_sum(&[places.clone(), vec![*place]].concat());
        let first = last / sum * sum;
        places.push((first..first + sum).find(fits).unwrap());
        places.iter().map(|place| words[usize::from(*place)]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn phrases_of_every_length_are_found_wherever_they_stand() {
        for len in LENGTHS {
            let phrase = phrase(len);
            for shift in 0..80 {
                let text = format!("{}: {phrase}. And so on", "x".repeat(shift));
                let expected = shift + 2..shift + 2 + phrase.len();
                assert_eq!(phrases(&text).first(), Some(&expected), "{text}");
            }
            let lines = phrase.replace(' ', "\n");
            assert_eq!(phrases(&lines).len(), 1);
            let numbered: Vec<String> =
                (1..).zip(phrase.split(' ')).map(|(n, word)| format!("{n}. {word}")).collect();
            assert_eq!(phrases(&numbered.join("\n")).len(), 1);
        }
    }

    #[test]
    fn other_words_are_no_phrase() {
        let wrong = {
            let phrase = phrase(12);
            let (rest, last) = phrase.rsplit_once(' ').unwrap();
            let words: Vec<&str> = LIST.lines().collect();
            let at = words.iter().position(|word| *word == last).unwrap();
            format!("{rest} {}", words[at ^ 1])
        };
        let prose = "the quick brown fox jumps over the lazy dog and then it goes home again ";
        for text in [LIST, &wrong, &prose.repeat(9), &"zoo ".repeat(99), "", "abandon"] {
            assert!(phrases(text).is_empty(), "{:?}", phrases(text));
        }
    }
}
