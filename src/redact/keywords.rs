//! Finds every occurrence of thousands of keywords, in any case, in one pass.
//!
//! An automaton over that many words outgrows the processor's caches, and is then bound by
//! memory. Here each keyword is known by its rarest four bytes (three, where it has no more);
//! the pass asks for each position of the text one bit of a small table whether a keyword's four
//! bytes may stand there, and only then compares.

use super::natural::pair;

/// A keyword's place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub(super) keyword: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Keywords, ready to be looked for.
pub(super) struct Keywords {
    /// In lower case.
    words: Vec<Box<[u8]>>,
    four: Table,
    three: Table,
    /// Keywords under three bytes, by their first byte.
    short: Vec<usize>,
}

/// Bits of a hash that choose a bit of the filter, and a slot.
const FILTER_BITS: u32 = 17;
const SLOT_BITS: u32 = 14;

/// Which windows are asked for, and by which keywords.
struct Table {
    filter: Box<[u64]>,
    /// The first entry of each slot; one array, so that a false alarm costs one look.
    slots: Box<[u32]>,
    entries: Vec<Entry>,
}

/// No entry.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    window: u32,
    /// Where the window stands in the keyword.
    offset: usize,
    keyword: usize,
    /// The next entry of the slot.
    next: u32,
}

impl Keywords {
    pub(super) fn new<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let words: Vec<Box<[u8]>> = words
            .map(|w| w.to_ascii_lowercase().into_bytes().into())
            .collect();
        let (mut four, mut three, mut short) = (Table::new(), Table::new(), Vec::new());
        for (keyword, word) in words.iter().enumerate() {
            match word.len() {
                0..=2 => short.push(keyword),
                3 => three.add(word, 3, keyword),
                _ => four.add(word, 4, keyword),
            }
        }
        Self {
            words,
            four,
            three,
            short,
        }
    }

    /// Every occurrence, in the order of the text up to a keyword's length.
    pub(super) fn each(&self, text: &[u8], mut visit: impl FnMut(Occurrence)) {
        let mut at = 0;
        while let Some(bytes) = text.get(at..at + 4) {
            let window = fold(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            if self.four.may_hold(window) {
                self.compare(&self.four, window, text, at, &mut visit);
            }
            if self.three.may_hold(window & 0x00FF_FFFF) {
                self.compare(&self.three, window & 0x00FF_FFFF, text, at, &mut visit);
            }
            at += 1;
        }
        if let (Some([a, b, c]), true) = (text.get(text.len().wrapping_sub(3)..), text.len() >= 3) {
            let window = fold(u32::from_le_bytes([*a, *b, *c, 0])) & 0x00FF_FFFF;
            self.compare(&self.three, window, text, text.len() - 3, &mut visit);
        }
        for keyword in &self.short {
            self.each_short(*keyword, text, &mut visit);
        }
    }

    fn compare(
        &self,
        table: &Table,
        window: u32,
        text: &[u8],
        at: usize,
        visit: &mut impl FnMut(Occurrence),
    ) {
        let mut next = table.slots[slot(window)];
        while next != NONE {
            let entry = table.entries[next as usize];
            next = entry.next;
            if entry.window != window {
                continue;
            }
            let word = &self.words[entry.keyword];
            let Some(start) = at.checked_sub(entry.offset) else {
                continue;
            };
            let end = start + word.len();
            if text
                .get(start..end)
                .is_some_and(|there| there.eq_ignore_ascii_case(word))
            {
                visit(Occurrence {
                    keyword: entry.keyword,
                    start,
                    end,
                });
            }
        }
    }

    fn each_short(&self, keyword: usize, text: &[u8], visit: &mut impl FnMut(Occurrence)) {
        let word = &self.words[keyword];
        let Some(first) = word.first() else { return };
        for start in memchr::memchr2_iter(*first, first.to_ascii_uppercase(), text) {
            let end = start + word.len();
            if text
                .get(start..end)
                .is_some_and(|there| there.eq_ignore_ascii_case(word))
            {
                visit(Occurrence {
                    keyword,
                    start,
                    end,
                });
            }
        }
    }
}

impl Table {
    fn new() -> Self {
        Self {
            filter: vec![0; 1 << (FILTER_BITS - 6)].into(),
            slots: vec![NONE; 1 << SLOT_BITS].into(),
            entries: Vec::new(),
        }
    }

    fn add(&mut self, word: &[u8], len: usize, keyword: usize) {
        let rarity = |offset: &usize| {
            word[*offset..offset + len]
                .windows(2)
                .map(|w| pair(w[0], w[1]))
                .sum::<u32>()
        };
        let offset = (0..=word.len() - len)
            .max_by_key(rarity)
            .unwrap_or_default();
        let mut bytes = [0; 4];
        bytes[..len].copy_from_slice(&word[offset..offset + len]);
        let mask = if len == 3 { 0x00FF_FFFF } else { u32::MAX };
        let window = fold(u32::from_le_bytes(bytes)) & mask;
        let bit = hash(window) >> (32 - FILTER_BITS);
        self.filter[(bit / 64) as usize] |= 1 << (bit % 64);
        let first = &mut self.slots[slot(window)];
        let entry = Entry {
            window,
            offset,
            keyword,
            next: *first,
        };
        *first = u32::try_from(self.entries.len()).unwrap_or(NONE);
        self.entries.push(entry);
    }

    #[inline]
    fn may_hold(&self, window: u32) -> bool {
        let bit = hash(window) >> (32 - FILTER_BITS);
        self.filter[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }
}

/// Makes lower case of letters, and something of the rest: the comparison decides.
fn fold(window: u32) -> u32 {
    window | 0x2020_2020
}

fn hash(window: u32) -> u32 {
    window.wrapping_mul(0x9E37_79B1)
}

fn slot(window: u32) -> usize {
    (hash(window) >> (32 - SLOT_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str], text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let keywords = Keywords::new(words.iter().copied());
        keywords.each(text.as_bytes(), |o| found.push((o.keyword, o.start)));
        found.sort_unstable();
        found
    }

    #[test]
    fn every_occurrence_in_any_case_is_found() {
        let words = ["key", "api_key", "KEY-", "@", "://", "sk", "apikey"];
        assert_eq!(
            found(&words, "API_KEY-key"),
            [(0, 4), (0, 8), (1, 0), (2, 4)]
        );
        assert_eq!(found(&words, "a://b@"), [(3, 5), (4, 1)]);
        assert_eq!(found(&words, "SKsk"), [(5, 0), (5, 2)]);
        assert_eq!(found(&words, "ke"), []);
        assert_eq!(found(&words, ""), []);
    }

    #[test]
    fn what_only_folds_alike_is_not_taken() {
        assert_eq!(found(&["a@bc", "[red"], "a`bc {red"), []);
    }
}
