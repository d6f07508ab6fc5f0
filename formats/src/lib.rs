//! What a Hermes session *is*, and every way to write one down.
//!
//! [`FORMATS`] is the registry: the command line, its help, completions and the tests all walk it,
//! so a new format is one file here and one row there, or a program on the path ([`program`]). A writer gets sessions and messages that
//! have been through redaction, and borrows its output; it can reach neither the store nor the
//! disk, and flushing, hashing and renaming are the engine's.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

mod content;
mod facts;
mod html;
mod inert;
mod json;
mod jsonl;
mod markdown;
pub mod model;
mod pairing;
#[cfg(feature = "parquet")]
mod parquet;
mod portable;
pub mod program;
mod prompts;
mod sts;
mod tally;
mod time;
mod trace;
mod tuning;

pub use content::{Part, ToolCall, is_compaction_summary, parts, tool_calls};
pub use html::{Rendered, Unpacking, read_markup};
use jiff::tz::TimeZone;
pub use json::{Shape, check as check_json};
pub use jsonl::RECORD;
use model::{Message, Session};
pub use tally::{TALLY, Tally};
pub use time::{is_in_calendar, iso_micros, iso_seconds};

/// Turns a stream of sessions into the bytes of one file.
pub trait FormatWriter: Send {
    /// Begins a session. The writer is lent out until the session's own writer is finished.
    fn session<'s>(&'s mut self, head: &SessionHead<'_>)
    -> io::Result<Box<dyn SessionWriter + 's>>;

    /// What renders messages apart from the file ([`Feature::RendersApart`]).
    fn apart(&self) -> Option<Apart> {
        None
    }

    /// Writes what stands after the last session.
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// Renders messages for a file apart from it: gives for each session a writer that makes stretches of
/// it, which [`SessionWriter::rendered`] takes in their order instead of the messages.
pub type Apart = Box<dyn for<'s> Fn(Stretches<'s>) -> Box<dyn SessionWriter + 's> + Send + Sync>;

/// Where a session's stretches go.
pub type Stretches<'s> = Box<dyn FnMut(Rendered) -> io::Result<()> + Send + 's>;

/// Turns a stream of messages into one session's share of a file.
pub trait SessionWriter: Send {
    /// Begins a segment of a compression chain. Called before the segment's messages, and only
    /// for a document that joins a chain (`lineage` of more than one id).
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()>;

    /// Writes one message.
    fn message(&mut self, message: &Message<'_>) -> io::Result<()>;

    /// Told of each cell that could not be represented, after its message, or before the first one
    /// where it is the session's own: the column, and what became of it. Only what people look at
    /// has a place for it.
    fn lost(&mut self, _column: &str, _what: &str) -> io::Result<()> {
        Ok(())
    }

    /// Told after the last message, and what of it was lost, what the session's share is made from. Only
    /// a format that names it ([`Feature::NamesItsRecord`]) is told.
    fn made_from(&mut self, _record: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Writes a stretch that was rendered apart. Only a format that can ([`Feature::RendersApart`]) is
    /// given one.
    fn rendered(&mut self, _stretch: Rendered) -> io::Result<()> {
        Err(io::Error::other("nothing of this format is rendered apart"))
    }

    /// Writes what stands after the last message. Fails with [`NothingToShow`] where the format has
    /// no way to write such a session down; a file of many then holds nothing of it.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// What a session's share of a file is made from.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The SHA-256 of the line that JSONL has for it, in hexadecimal digits.
    pub jsonl_sha256: &'a str,
    /// How often each rule took something out; `None` where nothing was to be.
    pub redactions: Option<&'a BTreeMap<String, u64>>,
}

/// The session has nothing that the format shows: a conversation, where it is for conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NothingToShow;

impl NothingToShow {
    /// Whether this is why a writer failed.
    pub fn is_cause(error: &io::Error) -> bool {
        matches!(error.get_ref(), Some(cause) if cause.is::<Self>())
    }
}

impl fmt::Display for NothingToShow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it has nothing that this format shows")
    }
}

impl std::error::Error for NothingToShow {}

/// What a file holds, known before its first byte.
#[derive(Debug, Clone)]
pub struct FileHead {
    /// Sessions that follow.
    pub sessions: u64,
    /// What a reader who does not know where the file comes from is to be told, on one line.
    pub provenance: Option<&'static str>,
    /// The groups of rules by which they were redacted; `None` where they were not.
    pub redacted: Option<[Option<&'static str>; 3]>,
    /// The zone in which people are shown times.
    pub zone: TimeZone,
}

/// What a session's share of a file holds, known before its first byte.
#[derive(Debug, Clone, Copy)]
pub struct SessionHead<'a> {
    /// The session's row. For a joined chain: the last segment's row with the first one's id,
    /// parent and start, and the sums of all counters.
    pub session: &'a Session<'a>,
    /// Messages that follow.
    pub messages: u64,
    /// When the last of them was sent: seconds since the epoch.
    pub last_active: Option<f64>,
    /// The ids of the segments, oldest first; one id where nothing is joined.
    pub lineage: &'a [String],
    /// Rows of other tables that belong to the session, where they are to be kept, too.
    pub related: &'a [Related],
}

/// Rows of one other table that belong to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The table.
    pub table: String,
    /// The rows, as a JSON array of objects on one line.
    pub rows: String,
}

/// How a format's output lies on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// All sessions in one file.
    OneFile,
    /// A folder with a file for each session.
    FilePerSession,
    /// A folder that the format lays out ([`Format::folder`]).
    Folder,
}

/// What a format can do beyond writing sessions down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Joins a compression chain into one document (`--lineage logical`).
    JoinsLineage,
    /// May be the form in which a session is kept when it is deleted (`--delete-after-verified`).
    KeepsDeleted,
    /// A bulk export needs a selection, so that a bare command does not fill a folder.
    NeedsSelection,
    /// Files are named after the session's id alone, whatever its title becomes.
    NamedById,
    /// Without OUTPUT one session goes to standard output: the one asked for, else the latest.
    DefaultsToLatest,
    /// Takes secrets out unless told not to (`--no-redact`).
    RedactsByDefault,
    /// The Hugging Face Hub shows its files as sessions.
    ForTheHub,
    /// Where nobody says which messages: also those that an in-place compaction set aside.
    ShowsCompacted,
    /// Where nobody says which messages: all.
    ShowsAll,
    /// Shows times in the zone asked for.
    ShowsTimes,
    /// Names the JSONL that it shows, by its digest, and what was taken out.
    NamesItsRecord,
    /// Has the messages of a file of many sessions, or of a folder, rendered apart ([`FormatWriter::apart`]).
    RendersApart,
    /// Packs text, so that a search through its bytes needs [`Unpacking`].
    PacksText,
    /// Is written by another program ([`program`]).
    IsProgram,
}

/// One of several ways to write a format, each a row of the table, and the flag that tells them
/// apart. The row that is named like the format is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// The format's name.
    pub of: &'static str,
    /// The flag, without hyphens.
    pub flag: &'static str,
    /// The flag's value for this row.
    pub value: &'static str,
    /// One line about the value for people who choose.
    pub about: &'static str,
}

/// Starts a file: writes its head and returns the writer for what follows.
pub type Start = &'static (
             dyn for<'w> Fn(
    &'w mut (dyn Write + Send),
    &FileHead,
) -> io::Result<Box<dyn FormatWriter + 'w>>
                 + Send
                 + Sync
         );

/// A page of a folder.
#[derive(Debug, Clone, Copy)]
pub enum Leaf<'a> {
    /// The first page of a session.
    Session(&'a Session<'a>),
    /// A page that goes on from a session's first one, of this name.
    More {
        /// The first page's name.
        first: &'a str,
        /// Which page it is, from 2.
        part: u32,
    },
    /// A page about all of them, by its file's name.
    Named(&'static str),
    /// A page with many sessions, of this name, which may be in hand already; it goes on with this one.
    Among {
        /// Relative to the folder, with `/` between its parts.
        name: &'a str,
        /// A session of which a part is going to be written there.
        session: &'a Session<'a>,
    },
    /// A page of this name with other parts of the sessions that are in the page in hand.
    Beside(&'a str),
}

/// A folder that a format fills with pages, one after another. What is written goes to the page
/// that was begun last.
pub trait Folder: Write + Send {
    /// Ends the page in hand and begins another, of this name.
    fn begin(&mut self, leaf: Leaf<'_>) -> io::Result<String>;

    /// The name that a page has, or is going to have.
    fn name(&self, leaf: Leaf<'_>) -> String;

    /// Has a text searched for what redaction left, which stands packed in a page; it is asked for only
    /// if somebody searches.
    fn look(&mut self, text: &dyn Fn() -> Vec<u8>) -> io::Result<()>;

    /// The first pages of other sessions that are there already, in the same form, by name.
    fn others(&mut self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// A page that was ended, or one that was there already: `None` where it is not, or not what the
    /// run that wrote it made of it.
    fn read(&mut self, _name: &str) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// Starts a folder of pages.
pub type StartFolder =
    for<'w> fn(&'w mut dyn Folder, &FileHead) -> io::Result<Box<dyn FormatWriter + 'w>>;

/// A way of writing sessions down: one row of the table.
pub struct Format {
    /// The name that `--format` takes.
    pub name: &'static str,
    /// What `--only` names it by, where it is a view of another format.
    pub only: Option<&'static str>,
    /// Which of several ways to write a format it is.
    pub variant: Option<Variant>,
    /// The suffix of its files, without the first dot.
    pub extension: &'static str,
    /// One line for people who choose.
    pub about: &'static str,
    /// One file, a file for each session, or a folder.
    pub layout: Layout,
    /// What else it can do.
    pub features: &'static [Feature],
    /// Starts a file.
    pub start: Start,
    /// Starts a folder of pages, where a format of one file can fill a folder instead.
    pub folder: Option<StartFolder>,
}

impl Format {
    /// Whether the format can do this.
    pub fn can(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Whether this is how the format is written unless a flag says otherwise.
    pub fn is_usual(&self) -> bool {
        self.variant.is_none_or(|variant| variant.of == self.name)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name).finish()
    }
}

/// Every format that is built in.
pub static FORMATS: &[Format] = &[
    jsonl::FORMAT,
    html::FORMAT,
    markdown::MD,
    markdown::QMD,
    prompts::JSONL,
    prompts::MD,
    trace::CLAUDE,
    trace::HERMES,
    sts::FORMAT,
    tuning::chat::KEEP,
    tuning::chat::DROP,
    tuning::sharegpt::KEEP,
    tuning::sharegpt::DROP,
    #[cfg(feature = "parquet")]
    parquet::FORMAT,
];

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use super::testing::write_all;
    use super::{FORMATS, Layout};

    #[test]
    fn every_format_writes_the_samples_as_recorded() {
        for format in FORMATS.iter().filter(|format| format.layout != Layout::Folder) {
            let written = crate::html::without_assets(&write_all(format));
            insta::assert_snapshot!(format.name, written);
        }
    }
}
