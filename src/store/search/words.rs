//! Where terms stand in a text: as FTS5's `unicode61` tokenizer has words (runs of letters and digits,
//! in any case, without diacritics), or anywhere, for scripts that write none between blanks.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::filter::query::{Query, Term};

/// How many words a snippet has.
const SNIPPET: usize = 40;

/// Whether a text has a script that puts no blanks between words.
pub(super) fn is_glued(text: &str) -> bool {
    text.chars().any(|c| {
        matches!(c,
            '\u{0e00}'..='\u{0eff}'     // Thai, Lao
            | '\u{0f00}'..='\u{0fff}'   // Tibetan
            | '\u{1000}'..='\u{109f}'   // Burmese
            | '\u{1780}'..='\u{17ff}'   // Khmer
            | '\u{3000}'..='\u{30ff}'   // CJK symbols, kana
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'   // Hangul
            | '\u{20000}'..='\u{3ffff}')
    })
}

/// How a term is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As words.
    Words,
    /// Anywhere, as scripts without blanks between words need it; all terms have three characters,
    /// so that an index of trigrams has them.
    Trigrams,
    /// Anywhere, with a term that is too short for that index.
    Parts,
}

/// A part of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its text.
    pub text: String,
    /// Whether it is what was looked for.
    pub found: bool,
}

/// A text with what is needed to look for terms in it.
pub(super) struct Text {
    /// Folded, without diacritics.
    folded: String,
    /// For each character of `folded` where it begins there, and where its origin begins.
    origins: Vec<(usize, usize)>,
    /// Words, as ranges of `folded`.
    words: Vec<Range<usize>>,
    len: usize,
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        let (mut folded, mut origins) = (String::with_capacity(text.len()), Vec::new());
        let mut words: Vec<Range<usize>> = Vec::new();
        let mut in_word = false;
        for (at, c) in text.char_indices() {
            if in_word && is_combining_mark(c) {
                continue;
            }
            let start = folded.len();
            push_folded(c, &mut folded, |place| origins.push((place, at)));
            if c.is_alphanumeric() {
                match words.last_mut().filter(|_| in_word) {
                    Some(word) => word.end = folded.len(),
                    None => words.push(start..folded.len()),
                }
                in_word = true;
            } else {
                in_word = false;
            }
        }
        Self { folded, origins, words, len: text.len() }
    }

    /// Where a term stands, as ranges of the original text.
    fn places(&self, term: &Term, reading: Reading) -> Vec<Range<usize>> {
        let found = match reading {
            Reading::Words => self.phrase(term),
            Reading::Trigrams | Reading::Parts => {
                let wanted = folded(&term.text);
                self.folded.match_indices(&wanted).map(|(at, part)| at..at + part.len()).collect()
            }
        };
        found.into_iter().map(|range| self.origin(range.start)..self.origin(range.end)).collect()
    }

    fn phrase(&self, term: &Term) -> Vec<Range<usize>> {
        let wanted = Text::new(&term.text);
        let wanted: Vec<&str> =
            wanted.words.iter().map(|word| &wanted.folded[word.clone()]).collect();
        let Some((last, before)) = wanted.split_last() else { return Vec::new() };
        let is_here = |words: &&[Range<usize>]| {
            let text = |n: usize| &self.folded[words[n].clone()];
            let fits = before.iter().enumerate().all(|(n, word)| text(n) == *word);
            let end = text(before.len());
            fits && if term.prefix { end.starts_with(last) } else { end == *last }
        };
        let runs = self.words.windows(wanted.len()).filter(is_here);
        runs.map(|words| words[0].start..words[words.len() - 1].end).collect()
    }

    /// Where in the original text a place of the folded one is.
    fn origin(&self, place: usize) -> usize {
        let at = self.origins.partition_point(|(folded, _)| *folded < place);
        self.origins.get(at).map_or(self.len, |(_, origin)| *origin)
    }
}

fn folded(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        push_folded(c, &mut out, |_| ());
    }
    out
}

fn push_folded(c: char, out: &mut String, mut each: impl FnMut(usize)) {
    if c.is_ascii() {
        each(out.len());
        out.push(c.to_ascii_lowercase());
        return;
    }
    for part in std::iter::once(c).nfd().filter(|c| !is_combining_mark(*c)) {
        for lower in part.to_lowercase() {
            each(out.len());
            out.push(lower);
        }
    }
}

impl Query {
    pub(super) fn reading(&self) -> Reading {
        let mut terms = Vec::new();
        self.0.terms(&mut terms);
        let whole =
            |term: &&Term| !is_glued(&term.text) && term.text.chars().any(char::is_alphanumeric);
        if terms.iter().all(whole) {
            Reading::Words
        } else if terms.iter().all(|term| term.text.chars().count() >= 3) {
            Reading::Trigrams
        } else {
            Reading::Parts
        }
    }

    /// Whether a text passes.
    pub(super) fn passes(&self, text: &str, reading: Reading) -> bool {
        if !self.may_pass(text, reading) {
            return false;
        }
        let text = Text::new(text);
        self.0.holds(&mut |term| !text.places(term, reading).is_empty())
    }

    /// A quick look that only says no where terms without letters in two cases are not there.
    fn may_pass(&self, text: &str, reading: Reading) -> bool {
        let bytes = text.as_bytes();
        let mut terms = Vec::new();
        self.0.wanted(&mut terms);
        let may_be_in = |term: &&Term| {
            let one_case = is_glued(&term.text) && folded(&term.text) == term.text;
            !one_case || memchr::memmem::find(bytes, term.text.as_bytes()).is_some()
        };
        reading == Reading::Words || terms.iter().any(may_be_in)
    }

    /// Whether any of the terms that are wanted is in a text.
    pub fn is_in(&self, text: &str) -> bool {
        let (mut terms, reading) = (Vec::new(), self.reading());
        self.0.wanted(&mut terms);
        let text = Text::new(text);
        terms.iter().any(|term| !text.places(term, reading).is_empty())
    }

    /// The part of a text around what is found first.
    pub fn snippet(&self, text: &str) -> Vec<Piece> {
        let mut terms = Vec::new();
        self.0.wanted(&mut terms);
        let reading = self.reading();
        let places = Text::new(text);
        let mut found: Vec<_> =
            terms.iter().flat_map(|term| places.places(term, reading)).collect();
        found.sort_by_key(|range| (range.start, range.end));
        let window = window(text, found.first().cloned().unwrap_or(0..0));
        let mut snippet = Vec::new();
        let mut push = |text: &str, found| {
            if !text.is_empty() {
                snippet.push(Piece { text: text.to_owned(), found });
            }
        };
        push(if window.start > 0 { "..." } else { "" }, false);
        let mut at = window.start;
        for place in found.into_iter().filter(|place| place.end <= window.end) {
            if place.start < at {
                continue;
            }
            push(&text[at..place.start], false);
            push(&text[place.clone()], true);
            at = place.end;
        }
        push(&text[at..window.end], false);
        push(if window.end < text.len() { "..." } else { "" }, false);
        snippet
    }
}

/// Some words before a place and more after it; of text without blanks, as many characters.
fn window(text: &str, place: Range<usize>) -> Range<usize> {
    let mut is_word = false;
    let mut edge = |c: char| {
        let begins = is_glued(c.encode_utf8(&mut [0; 4])) || (c.is_alphanumeric() && !is_word);
        is_word = c.is_alphanumeric();
        begins
    };
    let before =
        text[..place.start].char_indices().rev().filter(|(_, c)| edge(*c)).nth(SNIPPET / 4);
    let after = text[place.end..].char_indices().filter(|(_, c)| edge(*c)).nth(SNIPPET * 3 / 4);
    let start = before.map_or(0, |(at, c)| at + c.len_utf8());
    let end = after.map_or(text.len(), |(at, _)| place.end + at);
    let start = start + text[start..].find(|c: char| !c.is_whitespace()).unwrap_or(0);
    start.min(place.start)..end
}

#[cfg(test)]
mod tests {
    use super::Reading;
    use crate::filter::query::Query;

    fn passes(query: &str, text: &str) -> bool {
        let query = Query::parse(query).unwrap();
        query.passes(text, query.reading())
    }

    #[test]
    fn words_are_found_as_unicode61_finds_them() {
        assert!(passes("resume", "my Résumé."));
        assert!(passes("отчёт", "ОТЧЁТ за июль"));
        assert!(passes("os.path", "import os.path as p"));
        assert!(passes("thread*", "multi threading"));
        assert!(!passes("thread", "threading"));
        assert!(!passes("\"a b\"", "a x b"));
        assert!(passes("a NOT c", "a b") && !passes("a NOT b", "a b"));
        assert!(passes("x OR b", "a b") && !passes("x b", "a b"));
    }

    #[test]
    fn parts_are_found_in_scripts_without_blanks() {
        assert!(passes("错误", "请帮我看看这个错误："));
        assert!(passes("Docker 错误", "DOCKER的错误"));
        assert!(!passes("错误 漓江", "错误"));
        assert!(passes("错误 OR 漓江", "错误"));
        assert!(passes("错误 NOT 漓江", "错误"));
        assert!(!passes("错误 NOT 漓江", "错误 漓江"));
        assert!(passes("ไทย", "ภาษาไทยง่าย"));
        let query = Query::parse("错误").unwrap();
        assert_eq!(query.reading(), Reading::Parts);
    }

    #[test]
    fn a_snippet_marks_what_was_found() {
        let snippet = |query: &str, text: &str| {
            let marked = |piece: super::Piece| {
                if piece.found { format!(">>>{}<<<", piece.text) } else { piece.text }
            };
            let pieces = Query::parse(query).unwrap().snippet(text);
            pieces.into_iter().map(marked).collect::<String>()
        };
        assert_eq!(snippet("résumé", "the Resume is here"), "the >>>Resume<<< is here");
        assert_eq!(snippet("错误", "看看这个错误："), "看看这个>>>错误<<<：");
        assert_eq!(snippet("x", "nothing"), "nothing");
        let long = format!("{}needle{}", "a ".repeat(100), " b".repeat(100));
        let cut = snippet("needle", &long);
        assert!(
            cut.starts_with("...a a") && cut.ends_with("...") && cut.contains(">>>needle<<<"),
            "{cut}"
        );
        assert!(cut.len() < 120, "{cut}");
        assert_eq!(snippet("e\u{301}a", "xE\u{301}A y"), "xE\u{301}A y");
    }

    #[test]
    fn scripts_without_blanks_are_read_as_parts() {
        let reading = |text| Query::parse(text).unwrap().reading();
        assert_eq!(reading("docker"), Reading::Words);
        assert_eq!(reading("Отчёт"), Reading::Words);
        assert_eq!(reading("错误信息"), Reading::Trigrams);
        assert_eq!(reading("ภาษาไทย"), Reading::Trigrams);
        assert_eq!(reading("错误"), Reading::Parts);
        assert_eq!(reading("docker 错误"), Reading::Parts);
        assert_eq!(reading("🎉"), Reading::Parts);
    }
}
