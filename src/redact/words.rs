//! Lists of words, written down as text and asked as sets.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

/// Words in lower case; asked for in any case.
pub(super) struct WordSet {
    list: &'static str,
    set: OnceLock<HashSet<&'static [u8], BuildHasherDefault<Fnv>>>,
}

/// FNV-1a: quick for words, and nobody outside chooses what is in the lists.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// No list has a longer word.
const LONGEST: usize = 32;

impl WordSet {
    /// The words that blanks separate.
    pub(super) const fn new(list: &'static str) -> Self {
        Self { list, set: OnceLock::new() }
    }

    /// Whether the word is one of them.
    pub(super) fn holds(&self, word: &str) -> bool {
        let mut lower = [0; LONGEST];
        let Some(lower) = lower.get_mut(..word.len()) else {
            return false;
        };
        lower.copy_from_slice(word.as_bytes());
        lower.make_ascii_lowercase();
        let set = self
            .set
            .get_or_init(|| self.list.split_ascii_whitespace().map(str::as_bytes).collect());
        set.contains(&*lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_in_any_case() {
        static SET: WordSet = WordSet::new("api contraseña");
        assert!(SET.holds("API") && SET.holds("Contraseña"));
        assert!(!SET.holds("ap") && !SET.holds("") && !SET.holds(&"a".repeat(99)));
    }
}
