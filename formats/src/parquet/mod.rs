//! `parquet`: a folder for analytics: `sessions/` and `messages/`, partitioned by the month of the session's start.
//!
//! A session and all of its messages are in the partitions of one month (UTC), `month=2026-01`, as Hive names them; a start without
//! a date is in Hive's partition of none. A partition is one file, packed by zstd, in groups of rows of bounded size.
//! Rows and columns are those of [`table`]. The same sessions give the same bytes.

use std::collections::HashMap;
use std::io::{self, Seek as _, Write};

use tempfile::SpooledTempFile;

use crate::jsonl::{Style, write_columns};
use crate::model::{Column, Message, MessageColumn, Row, Session, SessionColumn};
use crate::time::iso_seconds;
use crate::{FileHead, Folder, Format, FormatWriter, Layout, Leaf, SessionHead, SessionWriter};
use table::Table;

mod column;
mod table;

pub(crate) const FORMAT: Format = Format {
    name: "parquet",
    only: None,
    variant: None,
    extension: "parquet",
    about: "a folder of tables by month, for DuckDB, Polars, Spark and datasets",
    layout: Layout::Folder,
    features: &[],
    start: &|_, _| Err(io::Error::other("the format writes a folder")),
    folder: Some(start),
};

/// The partition of what has no month.
const NO_MONTH: &str = "__HIVE_DEFAULT_PARTITION__";
/// Of a month's sessions waits in memory what is smaller than this, the rest on the disk.
const IN_MEMORY: usize = 1 << 20; // bytes

#[expect(clippy::unnecessary_wraps, reason = "other formats may fail here")]
fn start<'w>(
    folder: &'w mut dyn Folder,
    head: &FileHead,
) -> io::Result<Box<dyn FormatWriter + 'w>> {
    let provenance = head.provenance;
    Ok(Box::new(Dataset { folder, provenance, month: None, parts: HashMap::new() }))
}

struct Dataset<'w> {
    folder: &'w mut dyn Folder,
    provenance: Option<&'static str>,
    month: Option<Month>,
    /// How many files each month has: sessions come in the order of their start, but a start without a
    /// date comes before or after all others.
    parts: HashMap<String, u32>,
}

/// The partitions that are being written.
struct Month {
    name: String,
    /// `month=2026-01/part-0.parquet`.
    path: String,
    sessions: Table<SessionColumn>,
    /// The file of sessions, which follows that of messages.
    waiting: SpooledTempFile,
    messages: Table<MessageColumn>,
}

impl FormatWriter for Dataset<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let name = month_of(head.session);
        if self.month.as_ref().is_none_or(|month| month.name != name) {
            self.close()?;
            self.month = Some(self.open(name)?);
        }
        let Self { folder, month: Some(month), .. } = self else {
            return Err(io::Error::other("no month was begun"));
        };
        let page = format!("messages/{}", month.path);
        folder.begin(Leaf::Among { name: &page, session: head.session })?;
        look_at(*folder, head.session)?;
        month.sessions.put(head.session)?;
        if month.sessions.is_full() {
            month.waiting.write_all(&month.sessions.flush()?)?;
        }
        Ok(Box::new(Rows { folder: *folder, messages: &mut month.messages }))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.close()
    }
}

impl Dataset<'_> {
    fn open(&mut self, name: String) -> io::Result<Month> {
        let part = self.parts.entry(name.clone()).or_default();
        let path = format!("month={name}/part-{part}.parquet");
        *part += 1;
        Ok(Month {
            name,
            path,
            sessions: Table::begin(self.provenance)?,
            waiting: SpooledTempFile::new(IN_MEMORY),
            messages: Table::begin(self.provenance)?,
        })
    }

    /// Ends the partitions in hand.
    fn close(&mut self) -> io::Result<()> {
        let Some(mut month) = self.month.take() else { return Ok(()) };
        self.folder.write_all(&month.messages.finish()?)?;
        self.folder.begin(Leaf::Beside(&format!("sessions/{}", month.path)))?;
        month.waiting.write_all(&month.sessions.finish()?)?;
        month.waiting.rewind()?;
        io::copy(&mut month.waiting, &mut self.folder)?;
        Ok(())
    }
}

/// The messages of a session.
struct Rows<'s> {
    folder: &'s mut dyn Folder,
    messages: &'s mut Table<MessageColumn>,
}

impl SessionWriter for Rows<'_> {
    fn segment(&mut self, _: &Session<'_>) -> io::Result<()> {
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        look_at(self.folder, message)?;
        self.messages.put(message)?;
        if self.messages.is_full() {
            self.folder.write_all(&self.messages.flush()?)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// Has a row searched, which is packed where it stands.
fn look_at<C: Column>(folder: &mut dyn Folder, row: &Row<'_, C>) -> io::Result<()> {
    folder.look(&|| {
        let mut line = Vec::new();
        // A vector takes all that is written to it.
        let _ = write_columns(&mut line, row, Style::Verbatim);
        line.extend_from_slice(b"}\n");
        line
    })
}

/// `2026-01`, in UTC.
fn month_of(session: &Session<'_>) -> String {
    let day = session.number(SessionColumn::StartedAt).and_then(iso_seconds);
    let month = day.and_then(|day| Some(day.get(.."2026-01".len())?.to_owned()));
    month.unwrap_or_else(|| NO_MONTH.to_owned())
}

#[cfg(test)]
mod tests;
