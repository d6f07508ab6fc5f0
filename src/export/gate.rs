//! The last look at a redacted file: its finished bytes are searched again, and one that still holds
//! what looks like a secret is not published.
//!
//! It goes on while the file is written, in large pieces, so that a file of any size needs little
//! memory.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use formats::{Feature, Format, Unpacking};
use memchr::{memmem, memrchr};
use serde::de::IgnoredAny;

use crate::redact::Redactor;

/// Enough text for every rule that looks beyond one line.
const PIECE: usize = 1 << 20; // bytes
/// A JSON document that is longer is searched in pieces, too, of whole messages.
const DOCUMENT: usize = 16 << 20; // bytes

/// Searches the bytes of one file.
pub(super) struct Gate {
    redactor: Arc<Redactor>,
    /// Where the format packs text.
    unpacking: Option<Box<Unpacking>>,
    waiting: Vec<u8>,
    found: BTreeSet<String>,
}

impl Gate {
    /// A gate for what this redactor leaves in a file of this format; none where it takes nothing
    /// out.
    pub(super) fn new(redactor: &Arc<Redactor>, format: &Format) -> Option<Self> {
        redactor.groups()?;
        let redactor = redactor.clone();
        let unpacking = format.can(Feature::PacksText).then(Box::<Unpacking>::default);
        Some(Self { redactor, unpacking, waiting: Vec::new(), found: BTreeSet::new() })
    }

    /// Takes more of the file.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.unpacking {
            Some(unpacking) => unpacking.push(bytes, &mut self.waiting)?,
            None => self.waiting.extend_from_slice(bytes),
        }
        while self.waiting.len() >= PIECE {
            let Some(cut) = cut(&self.waiting) else { break };
            let rest = self.waiting.split_off(cut);
            let piece = std::mem::replace(&mut self.waiting, rest);
            self.search(&piece);
        }
        Ok(())
    }

    /// The rules that still find something.
    pub(super) fn finish(mut self) -> io::Result<Vec<String>> {
        if let Some(unpacking) = &mut self.unpacking {
            unpacking.finish(&mut self.waiting)?;
        }
        let last = std::mem::take(&mut self.waiting);
        self.search(&last);
        Ok(self.found.into_iter().collect())
    }

    fn search(&mut self, piece: &[u8]) {
        let valid = str::from_utf8(piece).map(Cow::Borrowed); // much the quicker of the two
        let text = valid.unwrap_or_else(|_| String::from_utf8_lossy(piece));
        if self.unpacking.is_some() {
            // What markup divides is read as one.
            let read = formats::read_markup(&text);
            self.found.extend(self.redactor.shapes_in(&read).map(str::to_owned));
            self.found.extend(self.redactor.shapes_in(&text).map(str::to_owned));
        } else if text.starts_with(['{', ',']) {
            text.lines().for_each(|line| self.search_document(line));
        } else {
            self.found.extend(self.redactor.shapes_in(&text).map(str::to_owned));
        }
    }

    /// A document of its own, or a part of one made whole: cut between objects, it lacks brackets.
    fn search_document(&mut self, line: &str) {
        let whole = self.redactor.scan_document(line);
        let findings =
            whole.unwrap_or_else(|| self.redactor.scan_bytes(completed(line).as_bytes()));
        self.found.extend(findings.into_iter().map(|finding| finding.rule));
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The first, a middle or the last part of a document, as a document.
fn completed(part: &str) -> Cow<'_, str> {
    let inner = part.trim_start_matches([',', ' ']);
    let first = std::iter::once_with(|| format!("{part}]}}"));
    let middle = std::iter::once_with(|| format!("[{inner}]"));
    let last = std::iter::once_with(|| format!("{{\"\": [{inner}"));
    let whole = first.chain(middle).chain(last).find(|text| is_json(text));
    whole.map_or(Cow::Borrowed(part), Cow::Owned)
}

/// Where a piece can end: after a line, or in a long document before a message. A quote that is
/// not escaped tells a message from text that looks like one, its number from a tool call.
fn cut(waiting: &[u8]) -> Option<usize> {
    const NEXT: &[u8] = b"}, {\"id\": ";
    /// Of a conversation that says of each message who speaks.
    const SPEAKERS: [&[u8]; 2] = [b"}, {\"role\": \"", b"}, {\"from\": \""];
    if let Some(line) = memrchr(b'\n', waiting) {
        return Some(line + 1);
    }
    if waiting.len() < DOCUMENT {
        return None;
    }
    let is_message = |at: &usize| waiting.get(at + NEXT.len()).is_some_and(u8::is_ascii_digit);
    let message = memmem::rfind_iter(waiting, NEXT).find(is_message);
    let spoken = || SPEAKERS.iter().find_map(|next| memmem::rfind(waiting, next));
    message.or_else(spoken).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::{DOCUMENT, completed, cut, is_json};

    #[test]
    fn parts_of_a_document_become_documents() {
        let document = r#"{"id": "s", "messages": [{"a": 1}, {"b": 2}, {"c": 3}], "more": [{}]}"#;
        let cuts: Vec<usize> = document.match_indices("}, {").map(|(at, _)| at + 1).collect();
        for range in [0..cuts[0], cuts[0]..cuts[1], cuts[1]..document.len()] {
            let part = &document[range];
            assert!(!is_json(part), "{part}");
            assert!(is_json(&completed(part)), "{part}");
        }
        assert_eq!(completed("no document"), "no document");
    }

    #[test]
    fn a_long_document_is_cut_between_messages_alone() {
        let text = "x".repeat(DOCUMENT);
        let head = format!(r#"{{"messages": [{{"id": 1, "content": "{text}"}}"#);
        let tail = r#", {"id": 2, "content": "}, {\"id\": 3", "calls": [{"id": "a"}, {"id": "b"}]"#;
        assert_eq!(cut(format!("{head}{tail}").as_bytes()), Some(head.len()));
        assert_eq!(cut(head.as_bytes()), None);
        let head = format!(r#"{{"messages": [{{"role": "user", "content": "{text}"}}"#);
        let tail = r#", {"role": "tool", "content": "}, {\"role\": \"user\""#;
        assert_eq!(cut(format!("{head}{tail}").as_bytes()), Some(head.len()));
    }
}
