//! Markdown, one document a session, for people and other programs to read: `md`, and `qmd` for
//! Quarto. One writer; the dialect says how the text of a session is made inert.
//!
//! A document is front matter (see [`front`]), the session's facts, its messages (see
//! [`message`]) and, last, its record: the system prompt and every other column (see [`record`]).
//! Nothing in it depends on when it was written, so the same session gives the same bytes.

use std::io::{self, Seek, Write};

use tempfile::SpooledTempFile;

use crate::content::{ToolCall, answers, tool_calls};
use crate::inert::blocks::{Blocks, Dialect};
use crate::model::{Message, Role, Session};
use crate::{Feature, FileHead, Format, FormatWriter, Layout, SessionHead, SessionWriter};

mod front;
mod message;
mod record;

const FEATURES: &[Feature] =
    &[Feature::JoinsLineage, Feature::KeepsDeleted, Feature::NeedsSelection];

pub(crate) const MD: Format = Format {
    name: "md",
    only: None,
    variant: None,
    extension: "md",
    about: "Markdown with front matter, a file for each session",
    layout: Layout::FilePerSession,
    features: FEATURES,
    start: &|out, head: &FileHead| {
        let dialect = Dialect::Markdown;
        Ok(Box::new(Markdown { out, dialect, provenance: head.provenance }))
    },
    folder: None,
};

pub(crate) const QMD: Format = Format {
    name: "qmd",
    only: None,
    variant: None,
    extension: "qmd",
    about: "Markdown that Quarto renders without running anything in it",
    layout: Layout::FilePerSession,
    features: FEATURES,
    start: &|out, head: &FileHead| {
        let dialect = Dialect::Quarto;
        Ok(Box::new(Markdown { out, dialect, provenance: head.provenance }))
    },
    folder: None,
};

/// A body up to this size waits in memory for its front matter, a longer one on the disk.
const IN_MEMORY: usize = 1 << 20;

struct Markdown<'w> {
    out: &'w mut (dyn Write + Send),
    dialect: Dialect,
    provenance: Option<&'static str>,
}

impl FormatWriter for Markdown<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let joined = head.lineage.len() > 1;
        let front = front::matter(head, self.dialect, self.provenance);
        let spool = match self.dialect {
            Dialect::Markdown => {
                front::write(self.out, &front, None)?;
                None
            }
            Dialect::Quarto => Some(SpooledTempFile::new(IN_MEMORY)),
        };
        let mut document = Document {
            out: self.out,
            front,
            spool,
            blocks: Blocks::new(self.dialect),
            pending: Vec::new(),
            records: Vec::new(),
            joined,
        };
        record::head(&mut document.blocks, head);
        if !joined {
            document.records.push(record::Record::of(head.session));
        }
        document.blocks.heading(2, &["Messages"]);
        if head.messages == 0 {
            document.blocks.remark("No messages in this session.");
        }
        document.flush()?;
        Ok(Box::new(document))
    }
}

/// A session's document while it is being written.
struct Document<'s> {
    out: &'s mut (dyn Write + Send),
    front: String,
    /// The body of a document whose front matter says what was changed in it.
    spool: Option<SpooledTempFile>,
    blocks: Blocks,
    /// Calls of the last assistant message that have no result yet.
    pending: Vec<ToolCall>,
    /// What the end of the document says of each session in it.
    records: Vec<record::Record>,
    joined: bool,
}

impl Document<'_> {
    fn flush(&mut self) -> io::Result<()> {
        let text = self.blocks.take();
        match &mut self.spool {
            Some(spool) => spool.write_all(text.as_bytes()),
            None => self.out.write_all(text.as_bytes()),
        }
    }

    fn unanswered(&mut self) {
        for call in self.pending.drain(..) {
            message::unanswered(&mut self.blocks, &call);
        }
    }

    /// The call that a tool message answers.
    fn answered(&mut self, result: &Message<'_>) -> Option<ToolCall> {
        let at = self.pending.iter().position(|call| answers(result, call))?;
        Some(self.pending.remove(at))
    }
}

impl SessionWriter for Document<'_> {
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()> {
        self.unanswered();
        if self.joined {
            record::segment(&mut self.blocks, part);
            self.records.push(record::Record::of(part));
        }
        self.flush()
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        if message.role() == Role::Tool {
            let call = self.answered(message);
            message::result(&mut self.blocks, message, call.as_ref());
        } else {
            self.unanswered();
            message::turn(&mut self.blocks, message);
            self.pending = tool_calls(message);
        }
        self.flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.unanswered();
        for record in &self.records {
            record.write(&mut self.blocks, self.joined);
        }
        self.flush()?;
        if let Some(mut spool) = self.spool.take() {
            front::write(self.out, &self.front, Some(self.blocks.changed()))?;
            spool.rewind()?;
            io::copy(&mut spool, self.out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
