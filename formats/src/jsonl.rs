//! JSONL: one session a line, its columns verbatim and in the store's order, then `messages`.
//!
//! The shape is that of `hermes sessions export` (hermes-agent 0.19.0), separators included, so
//! that scripts go on working. A joined compression chain adds `lineage_session_ids` before
//! `messages` and the segments' own columns, as `segments`, after them.

use std::io::{self, Write};

use crate::json::write_string;
use crate::model::{Column, Message, Row, Session, Value};
use crate::{Feature, FileHead, Format, FormatWriter, Layout, SessionHead, SessionWriter};

pub(crate) const FORMAT: Format = Format {
    name: "jsonl",
    only: None,
    extension: "jsonl",
    about: "every column of every session and its messages, one session a line",
    layout: Layout::OneFile,
    features: &[Feature::JoinsLineage, Feature::KeepsDeleted],
    start: |out, _: &FileHead| Ok(Box::new(Jsonl { out })),
};

struct Jsonl<'w> {
    out: &'w mut dyn Write,
}

impl FormatWriter for Jsonl<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        self.out.write_all(b"{")?;
        write_columns(self.out, head.session)?;
        let joined = head.lineage.len() > 1;
        if joined {
            self.out.write_all(b", \"lineage_session_ids\": [")?;
            for (n, id) in head.lineage.iter().enumerate() {
                separate(self.out, n)?;
                write_string(self.out, id)?;
            }
            self.out.write_all(b"]")?;
        }
        self.out.write_all(b", \"messages\": [")?;
        Ok(Box::new(Line { out: self.out, messages: 0, segments: joined.then(Vec::new) }))
    }
}

struct Line<'s> {
    out: &'s mut dyn Write,
    messages: usize,
    /// The segments' columns, held back until the messages are written.
    segments: Option<Vec<u8>>,
}

impl SessionWriter for Line<'_> {
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()> {
        let Some(held) = &mut self.segments else {
            return Ok(());
        };
        held.extend_from_slice(if held.is_empty() { b"{" } else { b", {" });
        write_columns(held, part)?;
        held.push(b'}');
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        separate(self.out, self.messages)?;
        self.messages += 1;
        self.out.write_all(b"{")?;
        write_columns(self.out, message)?;
        self.out.write_all(b"}")
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.write_all(b"]")?;
        if let Some(segments) = &self.segments {
            self.out.write_all(b", \"segments\": [")?;
            self.out.write_all(segments)?;
            self.out.write_all(b"]")?;
        }
        self.out.write_all(b"}\n")
    }
}

fn separate(out: &mut dyn Write, before: usize) -> io::Result<()> {
    if before == 0 { Ok(()) } else { out.write_all(b", ") }
}

fn write_columns<C: Column>(out: &mut dyn Write, row: &Row<'_, C>) -> io::Result<()> {
    for (n, (name, value)) in row.columns().enumerate() {
        separate(out, n)?;
        write_string(out, name)?;
        out.write_all(b": ")?;
        write_value(out, value)?;
    }
    Ok(())
}

fn write_value(out: &mut dyn Write, value: &Value<'_>) -> io::Result<()> {
    match value {
        Value::Null => out.write_all(b"null"),
        Value::Integer(n) => write!(out, "{n}"),
        Value::Real(x) => serde_json::to_writer(out, x).map_err(io::Error::from),
        Value::Text(text) => write_string(out, text),
        Value::Json(json) => out.write_all(json.as_bytes()),
    }
}
