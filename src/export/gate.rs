//! The last look at a redacted file: its finished bytes are searched again, and one that still holds
//! what looks like a secret is not published.
//!
//! It goes on while the file is written, line by line where a line is a JSON document, and in large
//! pieces otherwise, so that a file of any size needs little memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use memchr::{memmem, memrchr};

use crate::redact::Redactor;

/// Enough text for every rule that looks beyond one line.
const PIECE: usize = 1 << 20; // bytes
/// A JSON document that is longer is searched in pieces, too.
const DOCUMENT: usize = 16 << 20; // bytes

/// Searches the bytes of one file.
pub(super) struct Gate {
    redactor: Arc<Redactor>,
    waiting: Vec<u8>,
    found: BTreeSet<String>,
}

impl Gate {
    /// A gate for what this redactor leaves; none where it takes nothing out.
    pub(super) fn new(redactor: &Arc<Redactor>) -> Option<Self> {
        redactor.groups()?;
        Some(Self { redactor: redactor.clone(), waiting: Vec::new(), found: BTreeSet::new() })
    }

    /// Takes more of the file.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        while self.waiting.len() >= PIECE {
            let Some(cut) = cut(&self.waiting) else { return };
            let rest = self.waiting.split_off(cut);
            let piece = std::mem::replace(&mut self.waiting, rest);
            self.search(&piece);
        }
    }

    /// The rules that still find something.
    pub(super) fn finish(mut self) -> Vec<String> {
        let last = std::mem::take(&mut self.waiting);
        self.search(&last);
        self.found.into_iter().collect()
    }

    fn search(&mut self, piece: &[u8]) {
        let findings = if piece.starts_with(b"{") {
            piece
                .split(|byte| *byte == b'\n')
                .flat_map(|line| self.redactor.scan_bytes(line))
                .collect()
        } else {
            self.redactor.scan_bytes(piece)
        };
        self.found.extend(findings.into_iter().map(|finding| finding.rule));
    }
}

/// Where a piece can end: after a line, or in a long document before an object of a list.
fn cut(waiting: &[u8]) -> Option<usize> {
    if let Some(line) = memrchr(b'\n', waiting) {
        return Some(line + 1);
    }
    if waiting.len() < DOCUMENT {
        return None;
    }
    let between = memmem::rfind(waiting, b"}, {").map_or(waiting.len(), |at| at + 3);
    Some(between)
}
