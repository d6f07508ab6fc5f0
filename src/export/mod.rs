//! The pipeline: select, read, redact, write, publish, record.
//!
//! [`run()`] turns a [`Request`] into files. All of it happens in one snapshot of the store. Files are
//! written in a staging folder; beside a running Hermes they are published as they become whole,
//! otherwise when the snapshot has proven steady. A session that cannot be read costs itself only.

mod compare;
mod document;
mod each;
pub(crate) mod feed;
mod gate;
mod keep;
pub(crate) mod lanes;
mod ledger;
mod name;
mod others;
mod partial;
mod pattern;
mod place;
mod preview;
mod publish;
mod renew;
mod report;
mod run;
mod site;
mod staging;
mod survey;
mod turns;
mod write;

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use formats::{FileHead, Format};
use jiff::tz::TimeZone;

use crate::filter::Selection;
use crate::manifest::{self, Redacted};
use crate::redact::Redactor;
use crate::seal::Recipients;
use crate::store::{self, SessionKey, Shown};
pub use compare::differences;
pub(crate) use document::Document;
pub use keep::{Keeper, Taken, delete_each_kept, delete_kept};
pub use name::Names;
pub use pattern::{Pattern, PatternError};
pub use place::Scratch;
pub(crate) use place::spool_folder;
pub use preview::{Preview, preview};
pub use publish::Overwrite;
pub(crate) use publish::sync_folder;
pub use report::{Exported, Failure, Listed, Summary, Warning, Warnings};
pub use run::{run, run_for};
pub(crate) use staging::is_staging;
pub use survey::{Surveyed, survey};

/// What to export, and where to.
pub struct Request {
    /// Which sessions.
    pub selection: Selection,
    /// Which of their messages.
    pub shown: Shown,
    /// Whether a compression chain becomes one document.
    pub lineage: Lineage,
    /// What takes secrets out.
    pub redactor: Arc<Redactor>,
    /// Threads that search for secrets, and that write where each session has a file of its own.
    pub jobs: NonZeroUsize,
    /// How to write it down.
    pub format: &'static Format,
    /// How the bytes lie in the files.
    pub encoding: Encoding,
    /// Where to.
    pub target: Target,
    /// How the files of a folder get their names.
    pub names: Names,
    /// What may happen to files that exist.
    pub overwrite: Overwrite,
    /// Whether files are recorded.
    pub record: Record,
    /// Seconds since the epoch, for the manifest.
    pub exported_at: f64,
    /// The zone in which a page shows times.
    pub zone: TimeZone,
    /// What comes along with the selected sessions.
    pub reach: Reach,
    /// Whether the summary names the selected sessions.
    pub listing: Listing,
    /// Whether sessions are written that did not change.
    pub renewal: Renewal,
}

impl Request {
    /// What a writer knows of a file before its first byte.
    fn file_head(&self, sessions: u64) -> FileHead {
        let redacted = self.redactor.groups().map(|groups| {
            let mut names = groups.iter().map(|group| group.name());
            [names.next(), names.next(), names.next()]
        });
        let (provenance, zone) = (self.redactor.provenance(), self.zone.clone());
        FileHead { sessions, redacted, provenance, zone }
    }

    /// What the manifest says of how files are redacted.
    fn redacted(&self) -> Redacted {
        self.redactor.groups().map_or(Redacted::No(false), |groups| {
            Redacted::By(groups.iter().map(|group| group.name().to_owned()).collect())
        })
    }
}

/// How many threads run at once on this machine.
pub fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// How the bytes of a file lie on the disk.
#[derive(Debug, Clone)]
pub enum Encoding {
    /// As the format writes them.
    Plain,
    /// Packed by zstd (RFC 8878), with its checksum.
    Zstd,
    /// Packed so, and encrypted.
    Sealed(Arc<Recipients>),
}

impl Encoding {
    /// What follows the format's extension in a file's name.
    pub fn suffix(&self) -> &'static str {
        match self {
            Encoding::Plain => "",
            Encoding::Zstd => ".zst",
            Encoding::Sealed(_) => ".zst.age",
        }
    }

    /// Stands in the manifest for whom a file is encrypted to.
    fn sealed_to(&self) -> Option<&str> {
        match self {
            Encoding::Plain | Encoding::Zstd => None,
            Encoding::Sealed(recipients) => Some(recipients.digest()),
        }
    }
}

/// Whether sessions are written that did not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// They are; whoever gave a file another form wants all of it in that form.
    All,
    /// They are, with their marks: they are to leave the store.
    Leaving,
    /// A session that is what the manifest says it was is left alone, and one that has left the store is
    /// marked.
    Changed(Look),
}

/// How closely a session is looked at to tell whether it has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// All that its messages hold is read.
    Texts,
    /// Its row, its messages' flags and the lengths of their texts are.
    Shape,
}

/// Whether a summary names the selected sessions; a store may have many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// It does.
    Wanted,
    /// It counts them only.
    Unwanted,
}

/// Whether a compression chain becomes one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// Each session is a document.
    Single,
    /// A chain is one.
    Logical,
}

/// What comes along with the selected sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Nothing: these sessions and their messages.
    Selected,
    /// All that goes when they are deleted: their delegates, and rows of other tables.
    Everything,
}

/// Whether files are recorded in the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// They are.
    Manifest,
    /// They are not.
    Nothing,
}

/// Where an export goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One file, which appears whole or not at all.
    File(PathBuf),
    /// A folder with a file for each document.
    Folder(PathBuf),
    /// A pipe, a device or standard output: written when all is read.
    Stream,
    /// Nowhere: nothing is written.
    Nowhere,
}

/// What can go wrong with an export as a whole.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// One session cannot be read.
    #[error("session {session} cannot be read")]
    Unreadable {
        /// Its row.
        key: SessionKey,
        /// Its id.
        session: String,
        /// Why.
        source: store::Error,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A written file cannot be read back.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The manifest cannot be read or written.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
    /// The file that should hold a session does not.
    #[error("{} does not hold all of it: {what}; nothing was deleted", path.display())]
    NotKept {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        what: String,
    },
    /// Two documents would get one name.
    #[error("another session has the id {session}, too")]
    SameId {
        /// Their id.
        session: String,
    },
    /// A redacted file still holds what looks like a secret.
    #[error("the finished file still holds what looks like a secret ({}), so it was not published", rules.join(", "))]
    Leaks {
        /// The rules that found it.
        rules: Vec<String>,
    },
    /// Some pages of a folder do, by the rows of their sessions.
    #[error("the pages of {} sessions still hold what looks like a secret", sessions.len())]
    Leaking {
        /// What is to be said of them.
        sessions: BTreeMap<SessionKey, Failure>,
    },
    /// A session has nothing that the format shows.
    #[error("session {session} has nothing to show in this format")]
    NothingToShow {
        /// Its id.
        session: String,
    },
    /// A document of no session.
    #[error("there is nothing to write")]
    Nothing,
    /// The user asked for an end.
    #[error("interrupted")]
    Cancelled,
}

impl lanes::Cut for Error {
    fn is_cut_off(&self) -> bool {
        matches!(self, Error::Store(store::Error::CutOff))
    }
}

impl Error {
    fn writing(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
        move |source| Error::Write { path: path.to_owned(), source }
    }
}
