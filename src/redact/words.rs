//! Lists of words, written down as text and asked as sets.

use std::collections::HashSet;
use std::sync::OnceLock;

/// Words in lower case; asked for in any case.
pub(super) struct WordSet {
    list: &'static str,
    set: OnceLock<HashSet<&'static [u8]>>,
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
