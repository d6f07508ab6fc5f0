//! A Markdown document, block by block: the only way in which text of a session gets into one.

use std::mem;

use super::fence::{fenced, span};
use super::name::inline;
use super::prose::prose;
use super::quarto::disarmed;

/// Who reads the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Any reader of Markdown.
    Markdown,
    /// Quarto, which runs what it finds: all content is fenced and its marks are broken.
    Quarto,
}

/// Blocks that are yet to be written out.
#[derive(Debug)]
pub(crate) struct Blocks {
    dialect: Dialect,
    text: String,
    /// Whether the next block is the document's first.
    first: bool,
    changed: u64,
}

impl Blocks {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, text: String::new(), first: true, changed: 0 }
    }

    /// Takes out what has been written since the last time.
    pub(crate) fn take(&mut self) -> String {
        mem::take(&mut self.text)
    }

    /// Places of the content so far that hold a zero-width space of ours.
    pub(crate) fn changed(&self) -> u64 {
        self.changed
    }

    /// An empty line, then a block of Markdown that is ours.
    fn push(&mut self, block: &str) {
        if !mem::take(&mut self.first) {
            self.text.push('\n');
        }
        self.text.push_str(block);
        self.text.push('\n');
    }

    /// A heading; empty pieces are left out.
    pub(crate) fn heading(&mut self, level: usize, pieces: &[&str]) {
        let pieces: Vec<String> =
            pieces.iter().map(|piece| inline(piece)).filter(|piece| !piece.is_empty()).collect();
        self.push(&format!("{} {}", "#".repeat(level), pieces.join(" — ")));
    }

    /// A list of names with values. Values are Markdown: see [`inline`] and
    /// [`super::name::literal`].
    pub(crate) fn facts(&mut self, facts: &[(&str, String)]) {
        let line = |(name, value): &(&str, String)| format!("- {}: {value}", inline(name));
        if !facts.is_empty() {
            self.push(&facts.iter().map(line).collect::<Vec<_>>().join("\n"));
        }
    }

    /// A remark of ours, in bold.
    pub(crate) fn label(&mut self, text: &str) {
        self.push(&format!("**{}**", inline(text)));
    }

    /// A remark of ours, in italics.
    pub(crate) fn remark(&mut self, text: &str) {
        self.push(&format!("_{}_", inline(text)));
    }

    /// Text as code.
    pub(crate) fn fence(&mut self, info: &str, text: &str) {
        match self.dialect {
            Dialect::Markdown => self.push(&fenced(info, text)),
            Dialect::Quarto => {
                let (text, changed) = disarmed(text);
                self.changed += changed;
                self.push(&fenced(info, &text));
            }
        }
    }

    /// Text that may be Markdown.
    pub(crate) fn prose(&mut self, text: &str) {
        let inert = match self.dialect {
            Dialect::Markdown => prose(text),
            Dialect::Quarto => None,
        };
        match inert {
            Some(text) => self.push(text.strip_suffix('\n').unwrap_or(&text)),
            None => self.fence("text", text),
        }
    }

    /// What stands in the place of a picture or a file.
    pub(crate) fn stand_in(&mut self, text: &str) {
        match self.dialect {
            Dialect::Markdown => self.push(&span(text)),
            Dialect::Quarto => self.fence("text", text),
        }
    }
}
