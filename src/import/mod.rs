//! Files into a store: JSONL, Hermes' snapshots and transcripts, the WebUI's sidecars.
//!
//! Every format becomes a [`Record`] and goes through the same cleaning and the same insertion.
//! Sessions go in whole, some at a time, in short transactions; what is unfit is named with its file
//! and line, and the rest goes in. A killed import leaves whole sessions, and running it again does
//! what is left.

mod batch;
mod clean;
mod fields;
mod foreign;
mod native;
mod piece;
mod saved;
mod source;
mod transcript;
mod webui;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::manifest::{Manifest, Redacted};
use crate::progress::Progress;
use crate::seal::Identities;
use crate::store::{self, Record, Words};
use batch::Batch;
use source::{Piece, Source, Survey};
pub use webui::folder as webui_folder;

/// What to import, and how.
#[derive(Debug, Clone)]
pub struct Request {
    /// Files, folders of such, `-` for standard input.
    pub inputs: Vec<PathBuf>,
    /// The store; it is made where there is none.
    pub store: PathBuf,
    /// What becomes of a session that the store has already.
    pub on_conflict: OnConflict,
    /// How much of a record may be changed so that it fits.
    pub fidelity: Fidelity,
    /// Whether records whose secrets are gone are taken.
    pub redacted: OnRedacted,
    /// Whether anything is written.
    pub mode: Mode,
    /// What opens files that are encrypted.
    pub identities: Arc<Identities>,
    /// For times without a zone.
    pub zone: TimeZone,
}

/// What becomes of a session that the store has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// The store's stays.
    Skip,
    /// The file's takes its place.
    Replace,
    /// Nothing is imported at all.
    Fail,
}

/// How much of a record may be changed so that it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fidelity {
    /// Titles are tidied, parents that are nowhere are let go of, live channels are left to those
    /// that have them.
    Fitting,
    /// Nothing but what the store's constraints ask for.
    Verbatim,
}

/// Whether records whose secrets are gone are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRedacted {
    /// They are refused: they would stand for the whole session from then on.
    Refuse,
    /// They are taken as they are.
    Allow,
}

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is.
    Write,
    /// Only what would be is told.
    DryRun,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: PathBuf,
    /// From 1; of a document, the line that it begins on; `None` for the file as a whole.
    pub line: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        self.line.map_or(Ok(()), |line| write!(f, ", line {line}"))
    }
}

/// Something that was not imported.
#[derive(Debug, thiserror::Error)]
#[error("{place}{}: {what}", session.as_ref().map(|id| format!(", session {id}")).unwrap_or_default())]
pub struct Problem {
    /// Where it stands.
    pub place: Place,
    /// Its id, where that is known.
    pub session: Option<String>,
    /// Why not.
    #[source]
    pub what: Unfit,
}

/// Why something cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It cannot be read.
    #[error("cannot be read")]
    Read(#[source] io::Error),
    /// Bytes that are no UTF-8.
    #[error("not UTF-8")]
    NotText,
    /// More than fits into memory.
    #[error("longer than a gibibyte")]
    TooLong,
    /// It is no JSON.
    #[error("no JSON")]
    Json(#[source] serde_json::Error),
    /// JSON of something else.
    #[error("neither a session nor a message of one")]
    NoSession,
    /// `messages` is something else.
    #[error("`messages` is no list of objects")]
    Messages,
    /// Segments that do not fit the chain's messages.
    #[error("a joined chain whose messages cannot be told apart")]
    Segments,
    /// No id, or one that nobody should have to deal with.
    #[error("its id is empty, too long, or has characters that file names cannot have")]
    Id,
    /// Nothing says when it started.
    #[error("nothing says when it started")]
    Time,
    /// A message without a role.
    #[error("a message has no role")]
    Role,
    /// Secrets were taken out of it.
    #[error("it was redacted, and would stand for the whole session")]
    Redacted,
    /// The store does not take it.
    #[error("the store refuses it")]
    Refused(#[source] store::Error),
}

/// What can end an import.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A folder cannot be listed.
    #[error("cannot read the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store has sessions that it must not have.
    #[error("the store has {} of these sessions already: {}; nothing was imported", ids.len(), listed(ids))]
    Conflict {
        /// Their ids.
        ids: Vec<String>,
    },
    /// The user asked for an end. What was imported until then is whole.
    #[error("interrupted")]
    Cancelled,
}

fn listed(ids: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = ids.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if ids.len() > SHOWN {
        text.push_str(", …");
    }
    text
}

/// What an import did, or would do.
#[derive(Debug, Default)]
pub struct Summary {
    /// Whether the store was made.
    pub created: bool,
    /// Sessions that are new in the store.
    pub imported: u64,
    /// Sessions that took the place of the store's.
    pub replaced: u64,
    /// Sessions that the store has already.
    pub skipped: u64,
    /// Those of them that have more messages in the file.
    pub longer: Vec<String>,
    /// Messages of what was imported.
    pub messages: u64,
    /// The sessions that were imported, with their messages' number.
    pub brought: HashMap<String, u64>,
    /// What was not, and why.
    pub problems: Vec<Problem>,
    /// Titles with a number behind them, because another session has the title.
    pub retitled: u64,
    /// Titles that Hermes would not have taken as they were.
    pub tidied: u64,
    /// Sessions whose messages got new ids.
    pub renumbered: u64,
    /// Sessions whose parent is nowhere, or that would have been their own ancestor.
    pub detached: u64,
    /// Sessions that gave up a channel that another one is live in, or a handoff under way.
    pub released: u64,
    /// Columns that the store lacks, with the sessions that have something in them.
    pub homeless: BTreeMap<String, u64>,
    /// Files that are not what the manifest beside them says.
    pub changed: Vec<PathBuf>,
    /// Files that speak of sessions without holding any.
    pub indexes: Vec<PathBuf>,
}

/// What reading a file needs to know beyond it.
#[derive(Debug)]
struct Reading {
    /// For times without a zone.
    zone: TimeZone,
    /// The file's name without suffixes.
    stem: String,
    /// The names of the WebUI's projects.
    projects: HashMap<String, String>,
}

/// Imports what the request names. Nothing of a session is in the store, or all of it.
pub fn run(request: &Request, progress: &dyn Progress) -> Result<Summary, Error> {
    let files = source::expand(&request.inputs)?;
    if request.on_conflict == OnConflict::Fail && request.mode == Mode::Write {
        let dry = Request { mode: Mode::DryRun, ..request.clone() };
        Import::new(&dry, progress).all(&files)?;
    }
    Import::new(request, progress).all(&files)
}

/// Makes a new store of what the request names, for one look at it: it has whatever columns they
/// have, and titles as they are.
pub fn view(request: &Request, words: Words, progress: &dyn Progress) -> Result<Summary, Error> {
    store::create_view(&request.store, words)?;
    let files = source::expand(&request.inputs)?;
    let mut import = Import::new(request, progress);
    import.batch.widen();
    import.all(&files)
}

/// An import at work.
struct Import<'r> {
    request: &'r Request,
    progress: &'r dyn Progress,
    batch: Batch<'r>,
    summary: Summary,
}

impl<'r> Import<'r> {
    fn new(request: &'r Request, progress: &'r dyn Progress) -> Self {
        Self { request, progress, batch: Batch::new(request), summary: Summary::default() }
    }

    fn all(mut self, files: &[PathBuf]) -> Result<Summary, Error> {
        let read = files.iter().try_for_each(|file| self.file(file));
        // What was committed until then must be whole, parents included.
        let settled = self.batch.finish(&mut self.summary);
        read.and(settled)?;
        if self.request.on_conflict == OnConflict::Fail && !self.batch.conflicts().is_empty() {
            return Err(Error::Conflict { ids: self.batch.conflicts().to_vec() });
        }
        self.summary.brought = self.batch.brought();
        let place = |problem: &Problem| {
            let file = files.iter().position(|file| *file == problem.place.file);
            (file, problem.place.line)
        };
        self.summary.problems.sort_by_key(place);
        Ok(self.summary)
    }

    fn file(&mut self, path: &Path) -> Result<(), Error> {
        if source::is_index(path) {
            self.summary.indexes.push(path.to_owned());
            return Ok(());
        }
        match self.try_file(path) {
            Ok(done) => done,
            Err(what) => {
                let place = Place { file: path.to_owned(), line: None };
                self.summary.problems.push(Problem { place, session: None, what });
                Ok(())
            }
        }
    }

    fn try_file(&mut self, path: &Path) -> Result<Result<(), Error>, Unfit> {
        let mut source = Source::open(path, &self.request.identities).map_err(Unfit::Read)?;
        if let Survey::Lines(lines) = source.survey().map_err(Unfit::Read)? {
            self.progress.begin(lines);
        }
        let may_be_marked = self.admit(path, &mut source)?;
        let reading = Reading {
            zone: self.request.zone.clone(),
            stem: source::stem(path),
            projects: webui::projects(path),
        };
        let reading = std::rc::Rc::new(reading);
        for piece in source.pieces().map_err(Unfit::Read)? {
            if self.progress.is_cancelled() {
                return Ok(Err(Error::Cancelled));
            }
            match piece {
                Ok(piece) if !may_be_marked && piece::is_marked(&piece.text) => {
                    self.refuse(piece.place, Unfit::Redacted);
                }
                Ok(piece) => {
                    if let Err(error) = self.batch.push(piece, &reading, &mut self.summary) {
                        return Ok(Err(error));
                    }
                }
                Err(problem) => self.summary.problems.push(problem),
            }
            self.progress.step();
        }
        Ok(Ok(()))
    }

    fn refuse(&mut self, place: Place, what: Unfit) {
        self.summary.problems.push(Problem { place, session: None, what });
    }

    /// Whether a marker of redaction may stand in the file's sessions: because that is allowed, or
    /// because the manifest says of exactly this file that nothing was taken out. Where the manifest
    /// says that something was, the file is refused.
    fn admit(&mut self, path: &Path, source: &mut Source) -> Result<bool, Unfit> {
        if self.request.redacted == OnRedacted::Allow {
            return Ok(true);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let Ok(manifest) = Manifest::read(folder.unwrap_or(Path::new("."))) else {
            return Ok(false);
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(entry) = manifest.current().get(name.as_ref()).copied().cloned() else {
            return Ok(false);
        };
        let is_exact = source.digest().map_err(Unfit::Read)? == entry.sha256;
        if !is_exact {
            self.summary.changed.push(path.to_owned());
        }
        match entry.redacted {
            Redacted::By(_) | Redacted::No(true) if is_exact => Err(Unfit::Redacted),
            Redacted::By(_) | Redacted::No(_) => Ok(is_exact),
        }
    }
}

/// A record that was read, with where it stood.
struct Found<'l> {
    place: Place,
    record: Result<Record<'l>, Unfit>,
}
