//! JSONL: one session a line, its columns verbatim and in the store's order, then `messages`.
//!
//! The shape is that of `hermes sessions export` (hermes-agent 0.19.0), separators included, so
//! that scripts go on working. A joined compression chain adds `lineage_session_ids` before
//! `messages` and the segments' own columns, as `segments`, after them; a file for strangers adds `provenance`.
//! Where a session is to be deleted afterwards, rows of other tables follow under the tables' names.

use std::io::{self, Write};

use crate::json::write_string;
use crate::model::{Column, Message, MessageColumn, Row, Session, Value};
use crate::portable;
use crate::{Feature, FileHead, Format, FormatWriter, Layout, Related, SessionHead, SessionWriter};

pub(crate) const FORMAT: Format = Format {
    name: "jsonl",
    only: None,
    variant: None,
    extension: "jsonl",
    about: "every column of every session and its messages, one session a line",
    layout: Layout::OneFile,
    features: &[Feature::JoinsLineage, Feature::KeepsDeleted],
    start: &|out, head: &FileHead| {
        Ok(Box::new(Jsonl { out, style: Style::Verbatim, provenance: head.provenance }))
    },
    folder: None,
};

/// The same, a session to a file: the form in which sessions are backed up. No table lists it.
pub static RECORD: Format = Format { layout: Layout::FilePerSession, ..FORMAT };

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As they stand in the store.
    Verbatim,
    /// So that every loader reads them: see [`portable`].
    Portable,
}

impl Style {
    fn string(self, out: &mut Vec<u8>, text: &str) {
        match self {
            Style::Verbatim => write_string(out, text),
            Style::Portable => portable::string(out, text),
        }
    }

    /// The text of a column. A loader reads calls and reasoning as JSON once more.
    fn cell(self, out: &mut Vec<u8>, column: &str, text: &str) {
        let tamed = if self.is_read_twice(column) { portable::tamed(text) } else { None };
        self.string(out, tamed.as_deref().unwrap_or(text));
    }

    /// The JSON of a column.
    fn decoded(self, out: &mut Vec<u8>, column: &str, json: &str) {
        if self.is_read_twice(column) {
            portable::read_twice(out, json);
        } else {
            self.document(out, json);
        }
    }

    fn is_read_twice(self, column: &str) -> bool {
        self == Style::Portable && column != MessageColumn::Content.name()
    }

    fn document(self, out: &mut Vec<u8>, json: &str) {
        match self {
            Style::Verbatim => out.extend_from_slice(json.as_bytes()),
            Style::Portable => portable::document(out, json),
        }
    }
}

pub(crate) struct Jsonl<'w> {
    pub(crate) out: &'w mut (dyn Write + Send),
    pub(crate) style: Style,
    pub(crate) provenance: Option<&'static str>,
}

impl FormatWriter for Jsonl<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let mut line = Vec::new();
        let style = self.style;
        write_columns(&mut line, head.session, style)?;
        let joined = head.lineage.len() > 1;
        if joined {
            line.extend_from_slice(b", \"lineage_session_ids\": [");
            for (n, id) in head.lineage.iter().enumerate() {
                separate(&mut line, n);
                style.string(&mut line, id);
            }
            line.push(b']');
        }
        if let Some(provenance) = self.provenance {
            line.extend_from_slice(b", \"provenance\": ");
            style.string(&mut line, provenance);
        }
        line.extend_from_slice(b", \"messages\": [");
        self.out.write_all(&line)?;
        let segments = joined.then(Vec::new);
        let related = head.related.to_vec();
        Ok(Box::new(Line {
            out: self.out,
            style,
            messages: 0,
            buffer: line,
            keys: Vec::new(),
            segments,
            related,
        }))
    }
}

struct Line<'s> {
    out: &'s mut (dyn Write + Send),
    style: Style,
    messages: usize,
    /// One message at a time, so that the output sees few and large writes.
    buffer: Vec<u8>,
    /// What stands before each column's value, made for the first message.
    keys: Vec<Vec<u8>>,
    /// The segments' columns, held back until the messages are written.
    segments: Option<Vec<u8>>,
    related: Vec<Related>,
}

impl SessionWriter for Line<'_> {
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()> {
        let Some(held) = &mut self.segments else {
            return Ok(());
        };
        separate(held, held.len());
        write_columns(held, part, self.style)?;
        held.push(b'}');
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        self.buffer.clear();
        separate(&mut self.buffer, self.messages);
        self.messages += 1;
        if self.keys.is_empty() {
            self.keys = keys(message, self.style);
        }
        for (key, (name, value)) in self.keys.iter().zip(message.columns()) {
            self.buffer.extend_from_slice(key);
            write_value(&mut self.buffer, name, value, self.style)?;
        }
        self.buffer.push(b'}');
        self.out.write_all(&self.buffer)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.write_all(b"]")?;
        if let Some(segments) = &self.segments {
            self.out.write_all(b", \"segments\": [")?;
            self.out.write_all(segments)?;
            self.out.write_all(b"]")?;
        }
        for Related { table, rows } in &self.related {
            let mut entry = b", ".to_vec();
            self.style.string(&mut entry, table);
            entry.extend_from_slice(b": ");
            self.style.document(&mut entry, rows);
            self.out.write_all(&entry)?;
        }
        self.out.write_all(b"}\n")
    }
}

fn separate(out: &mut Vec<u8>, before: usize) {
    if before > 0 {
        out.extend_from_slice(b", ");
    }
}

/// `{"id": `, `, "session_id": ` and so on.
fn keys<C: Column>(row: &Row<'_, C>, style: Style) -> Vec<Vec<u8>> {
    let key = |(n, (name, _)): (usize, (&str, _))| {
        let mut key = if n == 0 { vec![b'{'] } else { b", ".to_vec() };
        style.string(&mut key, name);
        key.extend_from_slice(b": ");
        key
    };
    row.columns().enumerate().map(key).collect()
}

/// `{"id": …, ` and so on, not closed.
pub(crate) fn write_columns<C: Column>(
    out: &mut Vec<u8>,
    row: &Row<'_, C>,
    style: Style,
) -> io::Result<()> {
    for (key, (name, value)) in keys(row, style).iter().zip(row.columns()) {
        out.extend_from_slice(key);
        write_value(out, name, value, style)?;
    }
    Ok(())
}

/// Appends a cell as JSON.
pub(crate) fn write_value(
    out: &mut Vec<u8>,
    name: &str,
    value: &Value<'_>,
    style: Style,
) -> io::Result<()> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Integer(n) => write!(out, "{n}")?,
        Value::Real(x) => serde_json::to_writer(out, x)?,
        Value::Text(text) => style.cell(out, name, text),
        Value::Json(json) => style.decoded(out, name, json),
    }
    Ok(())
}
