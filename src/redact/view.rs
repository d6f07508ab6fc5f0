//! Other readings of a text in which a secret is whole that the text holds in pieces.

use std::ops::Range;

/// A reading of a text, and where its parts come from.
pub(super) struct View {
    pub(super) text: String,
    /// Whether names and their values may be looked for in it as well.
    pub(super) has_contexts: bool,
    /// Each run of the reading: where it begins here, and where in the source.
    runs: Vec<(usize, usize)>,
}

impl View {
    fn new(has_contexts: bool) -> Self {
        Self { text: String::new(), has_contexts, runs: Vec::new() }
    }

    fn push(&mut self, source: &str, range: Range<usize>) {
        self.runs.push((self.text.len(), range.start));
        self.text.push_str(&source[range]);
    }

    /// The part of the source that a part of the reading was made from.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end.saturating_sub(1)) + 1
    }

    fn place(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|(here, _)| *here <= at).saturating_sub(1);
        let (here, source) = self.runs[run];
        source + (at - here)
    }
}

/// A text in UTF-16 that was read as if it were not: a NUL after each character.
pub(super) fn without_nuls(text: &str) -> Option<View> {
    memchr::memchr(0, text.as_bytes())?;
    let nuls = memchr::memchr_iter(0, text.as_bytes()).count();
    if nuls * 4 < text.len() {
        return None;
    }
    let mut view = View::new(true);
    let mut start = 0;
    for at in memchr::memchr_iter(0, text.as_bytes()) {
        view.push(text, start..at);
        start = at + 1;
    }
    view.push(text, start..text.len());
    Some(view)
}

/// A text without the characters that nobody sees in it, which some editors and chats put into long words.
pub(super) fn without_invisibles(text: &str) -> Option<View> {
    const UNSEEN: [&[u8]; 5] = [
        "\u{200b}".as_bytes(),
        "\u{200c}".as_bytes(),
        "\u{2060}".as_bytes(),
        "\u{feff}".as_bytes(),
        "\u{ad}".as_bytes(),
    ];
    let bytes = text.as_bytes();
    let mut view = View::new(true);
    let mut start = 0;
    for at in memchr::memchr3_iter(UNSEEN[0][0], UNSEEN[3][0], UNSEEN[4][0], bytes) {
        if let Some(unseen) = UNSEEN.iter().find(|unseen| bytes[at..].starts_with(unseen)) {
            view.push(text, start..at);
            start = at + unseen.len();
        }
    }
    if start == 0 {
        return None;
    }
    view.push(text, start..text.len());
    Some(view)
}

/// A text in which string literals that code puts together are one, and words that a shell continues on
/// the next line.
pub(super) fn joined(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut view = View::new(false);
    let mut start = 0;
    for at in memchr::memchr3_iter(b'"', b'\'', b'\\', bytes) {
        if at < start {
            continue;
        }
        if let Some(len) = continuation(bytes, at) {
            view.push(text, start..at);
            start = at + len;
        } else if let Some(len) = seam(&bytes[at..]) {
            view.push(text, start..trim_slash(bytes, start, at));
            start = at + len;
        }
    }
    if start == 0 {
        return None;
    }
    view.push(text, start..text.len());
    Some(view)
}

/// The backslash that escapes the quote belongs to the seam.
fn trim_slash(bytes: &[u8], start: usize, at: usize) -> usize {
    if at > start && bytes[at - 1] == b'\\' { at - 1 } else { at }
}

/// The length of a backslash with the end of the line within a word, escaped once or not at all.
fn continuation(bytes: &[u8], at: usize) -> Option<usize> {
    let is_of_word = |b: &u8| b.is_ascii_alphanumeric() || b"_-+/=".contains(b);
    let ends = ["\\\n", "\\\r\n", "\\\\\\n"];
    let end = ends.iter().find(|end| bytes[at..].starts_with(end.as_bytes()))?;
    let is_within = at > 0 && is_of_word(&bytes[at - 1]);
    (is_within && bytes.get(at + end.len()).is_some_and(is_of_word)).then_some(end.len())
}

/// The length of `" \⏎ "`, `" + "` and the like: two quotes with nothing but joints between.
fn seam(bytes: &[u8]) -> Option<usize> {
    let quote = bytes[0];
    if quote == b'\\' {
        return None;
    }
    let mut at = 1;
    let mut joints = 0;
    while at < bytes.len().min(120) {
        match bytes[at] {
            b if b == quote && joints > 0 => return Some(at + 1),
            b'\n' | b'+' => joints += 1,
            b'\\' if bytes.get(at + 1) == Some(&b'n') => {
                joints += 1;
                at += 1;
            }
            b' ' | b'\t' | b'\r' | b'\\' => {}
            _ => return None,
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_joined_and_traced_back() {
        let text = "k = \"abc\" \\\n  \"def\"";
        let view = joined(text).unwrap();
        assert_eq!(view.text, "k = \"abcdef\"");
        assert_eq!(&text[view.source(&(5..11))], "abc\" \\\n  \"def");
        assert!(joined("\"a\" \"b\" \"\"").is_none());
    }

    #[test]
    fn words_that_go_on_below_are_joined_and_traced_back() {
        for (text, word) in [("ab\\\ncd e", "ab\\\ncd"), ("ab\\\\\\ncd e", "ab\\\\\\ncd")] {
            let view = joined(text).unwrap();
            assert_eq!(view.text, "abcd e");
            assert_eq!(&text[view.source(&(0..4))], word);
        }
        assert!(joined("ls \\\n  -l C:\\new").is_none());
    }

    #[test]
    fn invisible_characters_are_left_out_and_traced_back() {
        let text = "a\u{200b}b\u{2060}c é \u{2019}";
        let view = without_invisibles(text).unwrap();
        assert_eq!(view.text, "abc é \u{2019}");
        assert_eq!(&text[view.source(&(0..3))], "a\u{200b}b\u{2060}c");
        assert!(without_invisibles("é \u{2019} \u{200d}").is_none());
    }

    #[test]
    fn nuls_are_left_out_and_traced_back() {
        let text = "a\0b\0c\0d";
        let view = without_nuls(text).unwrap();
        assert_eq!(view.text, "abcd");
        assert_eq!(&text[view.source(&(1..3))], "b\0c");
        assert!(without_nuls("a\0bcdefgh").is_none());
    }
}
