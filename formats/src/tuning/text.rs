//! A text that waits for its turn, as it stands in a JSON string: in memory while it is short.

use std::io::{self, Seek as _, Write};

use tempfile::SpooledTempFile;

use crate::portable;

const IN_MEMORY: usize = 1 << 20; // bytes

#[derive(Default)]
pub(super) struct Text(Option<SpooledTempFile>);

impl Text {
    pub(super) fn of(text: &str) -> io::Result<Self> {
        let mut waiting = Self::default();
        waiting.push(text)?;
        Ok(waiting)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Appends a paragraph, if there is something in it.
    pub(super) fn add(&mut self, text: &str) -> io::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if !self.is_empty() {
            self.push("\n\n")?;
        }
        self.push(text)
    }

    /// Appends another's paragraphs.
    pub(super) fn append(&mut self, other: Self) -> io::Result<()> {
        if other.is_empty() {
            return Ok(());
        }
        if !self.is_empty() {
            self.push("\n\n")?;
        }
        self.push_all(other)
    }

    /// Appends another, as it is.
    pub(super) fn push_all(&mut self, mut other: Self) -> io::Result<()> {
        other.copy_to(self.spool())
    }

    /// Begins a line, where something stands before it.
    pub(super) fn break_line(&mut self) -> io::Result<()> {
        if self.is_empty() { Ok(()) } else { self.push("\n") }
    }

    /// Appends a text, as it is.
    pub(super) fn push(&mut self, text: &str) -> io::Result<()> {
        let mut quoted = Vec::with_capacity(text.len() + 2);
        portable::string(&mut quoted, text);
        self.spool().write_all(&quoted[1..quoted.len() - 1])
    }

    fn spool(&mut self) -> &mut SpooledTempFile {
        self.0.get_or_insert_with(|| SpooledTempFile::new(IN_MEMORY))
    }

    /// Writes it without the quotes.
    fn copy_to(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let Some(spool) = &mut self.0 else { return Ok(()) };
        spool.rewind()?;
        io::copy(spool, out)?;
        Ok(())
    }

    /// Writes it as a JSON string.
    pub(super) fn write_quoted(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        out.write_all(b"\"")?;
        self.copy_to(out)?;
        out.write_all(b"\"")
    }
}
