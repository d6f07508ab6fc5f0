//! Texts in which nothing was found, so that the same text need not be searched again: the last
//! look at a finished file meets every text once more, and sessions share prompts.
//!
//! A text is remembered as a keyed hash of itself and its key, in a table that forgets the older
//! of two that share a place. Threads share it without waiting for one another.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};

/// Places in the table, two megabytes; texts of a few megabytes fit in, however short they are.
const PLACES: usize = 1 << 18;

/// What was found to be clean.
pub(super) struct Clean {
    /// Drawn anew for each process, so that nobody can make two texts pass for one.
    key: RapidSecrets,
    /// Made for the first text: a redactor that lets everything pass needs none.
    places: OnceLock<Box<[AtomicU64]>>,
}

/// A text under its key.
#[derive(Clone, Copy)]
pub(super) struct Seal(u64);

impl Clean {
    pub(super) fn new() -> Self {
        let key = RapidSecrets::seed(RandomState::new().hash_one(()));
        Self { key, places: OnceLock::new() }
    }

    /// What a text is remembered by.
    pub(super) fn seal(&self, key: Option<&str>, text: &str) -> Seal {
        let of_key = key.map_or(0, |key| rapidhash_v3_seeded(key.as_bytes(), &self.key));
        let under_key = RapidSecrets { seed: self.key.seed ^ of_key, ..self.key };
        Seal(rapidhash_v3_seeded(text.as_bytes(), &under_key))
    }

    pub(super) fn holds(&self, seal: Seal) -> bool {
        self.place(seal).load(Ordering::Relaxed) == seal.0 && seal.0 != 0
    }

    pub(super) fn add(&self, seal: Seal) {
        self.place(seal).store(seal.0, Ordering::Relaxed);
    }

    #[expect(clippy::cast_possible_truncation, reason = "a remainder of a small number")]
    fn place(&self, seal: Seal) -> &AtomicU64 {
        let empty = || std::iter::repeat_with(AtomicU64::default).take(PLACES).collect();
        &self.places.get_or_init(empty)[(seal.0 % PLACES as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_clean_under_its_own_key_alone() {
        let clean = Clean::new();
        let text = "nothing of interest stands here ".repeat(3);
        let seal = clean.seal(Some("content"), &text);
        assert!(!clean.holds(seal));
        clean.add(seal);
        assert!(clean.holds(clean.seal(Some("content"), &text)));
        assert!(!clean.holds(clean.seal(Some("password"), &text)));
        assert!(!clean.holds(clean.seal(None, &text)));
    }
}
