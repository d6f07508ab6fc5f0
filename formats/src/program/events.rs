//! What a program is told: JSON Lines events, `begin`, then for each session `session`, perhaps `segment`,
//! `message`…, `end-session`, and last `end`.
//!
//! The rows in them are those of `jsonl`, already redacted. Fields and events may be added, so a program
//! passes over what it does not know; one that meets no `end` was cut off, and must fail.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write};

use super::process::Process;
use super::{Conditions, PROTOCOL, Program, ProgramError};
use crate::json::write_string;
use crate::jsonl::{Style, write_columns};
use crate::model::{Column, Message, Row, Session};
use crate::{FileHead, FormatWriter, SessionHead, SessionWriter};

/// A file that a program is writing.
pub(super) struct Writing<'w> {
    out: &'w mut (dyn Write + Send),
    name: String,
    /// What the program has printed so far.
    printed: File,
    /// `None` once it has failed.
    process: Option<BufWriter<Process>>,
    line: Vec<u8>,
}

impl<'w> Writing<'w> {
    pub(super) fn start(
        program: &Program,
        conditions: &Conditions,
        out: &'w mut (dyn Write + Send),
        head: &FileHead,
    ) -> Result<Self, ProgramError> {
        let printed = program.scratch(conditions)?;
        let process = Process::start(program, "write", &printed, conditions)?;
        let process = Some(BufWriter::with_capacity(1 << 16, process));
        let name = program.name.clone();
        let mut writing = Self { out, name, printed, process, line: Vec::new() };
        let FileHead { sessions, provenance, redacted: _, zone: _ } = head;
        let line = &mut writing.line;
        line.extend_from_slice(
            format!(r#"{{"event": "begin", "protocol": {PROTOCOL}, "sessions": {sessions}"#)
                .as_bytes(),
        );
        if let Some(provenance) = provenance {
            line.extend_from_slice(br#", "provenance": "#);
            write_string(line, provenance);
        }
        writing.send().map_err(|error| writing.failed(error))?;
        Ok(writing)
    }

    fn row<C: Column>(&mut self, event: &str, key: &str, row: &Row<'_, C>) -> io::Result<()> {
        self.line.extend_from_slice(format!(r#"{{"event": "{event}", "{key}": "#).as_bytes());
        write_columns(&mut self.line, row, Style::Verbatim)?;
        self.line.push(b'}');
        Ok(())
    }

    fn bare(&mut self, event: &str) -> io::Result<()> {
        self.line.extend_from_slice(format!(r#"{{"event": "{event}""#).as_bytes());
        self.sent()
    }

    /// Sends the event in hand; a program that does not take it has failed.
    fn sent(&mut self) -> io::Result<()> {
        self.send().map_err(|error| io::Error::other(self.failed(error)))
    }

    fn send(&mut self) -> io::Result<()> {
        self.line.extend_from_slice(b"}\n");
        let sent = match &mut self.process {
            Some(process) => process.write_all(&self.line),
            None => Err(io::Error::other("the program has failed")),
        };
        self.line.clear();
        sent
    }

    /// Why the program did not take an event.
    fn failed(&mut self, error: io::Error) -> ProgramError {
        let ended = self.process.take().map(|process| process.into_parts().0.end());
        match ended {
            Some(Err(failure)) => failure,
            Some(Ok(())) => ProgramError::Unread { name: self.name.clone() },
            None => ProgramError::Start { path: self.name.clone().into(), source: error },
        }
    }
}

impl FormatWriter for Writing<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        self.row("session", "session", head.session)?;
        write!(self.line, r#", "messages": {}, "last_active": "#, head.messages)?;
        serde_json::to_writer(&mut self.line, &head.last_active)?;
        self.line.extend_from_slice(br#", "lineage_session_ids": "#);
        serde_json::to_writer(&mut self.line, &head.lineage)?;
        self.sent()?;
        Ok(Box::new(Told(self)))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.bare("end")?;
        let flushed = self.process.as_mut().map_or(Ok(()), BufWriter::flush);
        if let Err(error) = flushed {
            return Err(io::Error::other(self.failed(error)));
        }
        if let Some(process) = self.process.take() {
            process.into_parts().0.end().map_err(io::Error::other)?;
        }
        self.printed.rewind()?;
        if io::copy(&mut self.printed, self.out)? == 0 {
            return Err(io::Error::other(ProgramError::Silent { name: self.name.clone() }));
        }
        Ok(())
    }
}

/// What is left of a file that nobody wants is not worth waiting for.
impl Drop for Writing<'_> {
    fn drop(&mut self) {
        drop(self.process.take().map(BufWriter::into_parts));
    }
}

/// A session of which a program is being told.
struct Told<'s, 'w>(&'s mut Writing<'w>);

impl SessionWriter for Told<'_, '_> {
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()> {
        self.0.row("segment", "session", part)?;
        self.0.sent()
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        self.0.row("message", "message", message)?;
        self.0.sent()
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.bare("end-session")
    }
}
