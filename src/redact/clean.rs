//! Texts in which nothing was found, so that the same text need not be searched again: the last
//! look at a finished file meets every text once more, and sessions share prompts.
//!
//! A text is remembered as a keyed hash of itself and its key, in a table that forgets the older
//! of two that share a place. Threads share it without waiting for one another.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Places in the table, two megabytes; texts of a few megabytes fit in, however short they are.
const PLACES: usize = 1 << 18;

/// Shorter texts are searched in the time that this takes.
const LEAST: usize = 12;

/// What was found to be clean.
pub(super) struct Clean {
    key: RandomState,
    /// Made for the first text: a redactor that lets everything pass needs none.
    places: OnceLock<Box<[AtomicU64]>>,
}

/// A text under its key.
#[derive(Clone, Copy)]
pub(super) struct Seal(u64);

impl Clean {
    pub(super) fn new() -> Self {
        Self { key: RandomState::new(), places: OnceLock::new() }
    }

    /// What a text is remembered by; `None` for one that is not worth it.
    pub(super) fn seal(&self, key: Option<&str>, text: &str) -> Option<Seal> {
        (text.len() >= LEAST).then(|| Seal(self.key.hash_one((key, text))))
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
        let seal = clean.seal(Some("content"), &text).unwrap();
        assert!(!clean.holds(seal));
        clean.add(seal);
        assert!(clean.holds(clean.seal(Some("content"), &text).unwrap()));
        assert!(!clean.holds(clean.seal(Some("password"), &text).unwrap()));
        assert!(!clean.holds(clean.seal(None, &text).unwrap()));
        assert!(clean.seal(None, "a word").is_none());
    }
}
