//! Backups: a folder with a packed JSONL file for each session, which runs again and again.
//!
//! The manifest is the checkpoint: what it has a line for, with the session's mark, is done. So a run
//! that was killed loses at most a batch of lines, and the next one goes on. Sessions that leave the
//! store stay in the folder and are marked.

mod checkpoint;
pub mod cold;
mod lock;
#[cfg(feature = "object-store")]
pub mod remote;
pub mod restore;
mod snapshots;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::bucket;
use crate::export::{
    self, Encoding, Lineage, Listing, Look, Names, Overwrite, Pattern, Reach, Record, Renewal,
    Target,
};
use crate::filter::Selection;
use crate::manifest::{Entry, Manifest};
use crate::progress::Progress;
use crate::redact::Redactor;
use crate::seal::Recipients;
use crate::store::{self, Shown};
use checkpoint::Checkpoint;
use lock::Lock;
pub use snapshots::Retention;

/// What a backup is to do.
pub struct Request {
    /// The store.
    pub store: PathBuf,
    /// Which sessions.
    pub selection: Selection,
    /// Whether a copy of the whole store is kept, too, and for how long.
    pub copies: Option<Retention>,
    /// Whom files are encrypted to.
    pub recipients: Option<Arc<Recipients>>,
    /// How closely sessions are looked at where the store was written to.
    pub look: Look,
    /// Seconds since the epoch.
    pub now: f64,
    /// Whether the summary names the selected sessions.
    pub listing: Listing,
}

/// What a backup did.
#[derive(Debug, Default)]
pub struct Summary {
    /// Of the sessions.
    pub sessions: export::Summary,
    /// Whether the store is, to the byte, what it was when the last run ended, so that nothing was read.
    pub idle: bool,
    /// The copy of the whole store.
    pub copy: Option<PathBuf>,
    /// Copies that were not to be kept any longer.
    pub removed: Vec<PathBuf>,
}

/// What can go wrong with a backup as a whole.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another run is at work there.
    #[error("a backup into {} is running already{}", folder.display(), pid.map(|pid| format!(", as process {pid}")).unwrap_or_default())]
    Running {
        /// The folder.
        folder: PathBuf,
        /// Whose.
        pid: Option<u32>,
    },
    /// The disk is too full.
    #[error("{} has {free} bytes left, and {needed} are needed", folder.display())]
    NoRoom {
        /// The folder.
        folder: PathBuf,
        /// Bytes.
        needed: u64,
        /// Bytes.
        free: u64,
    },
    /// A file or folder of the backup cannot be read or written.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// read, write, …
        doing: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What lies there is encrypted, and what would come beside it is not.
    #[error("the sessions in {} are encrypted, and there is nobody to encrypt to", .0.display())]
    Unsealed(PathBuf),
    /// What lies there is encrypted to others.
    #[error("the sessions in {} cannot be opened", folder.display())]
    Closed {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No session of the folder has left the store.
    #[error("{} is no cold archive: no session went there", .0.display())]
    NoArchive(PathBuf),
    /// There is no backup.
    #[error("{} is no backup: its manifest lists no session", .0.display())]
    NoBackup(PathBuf),
    /// Nothing in the backup has this id.
    #[error("the backup has no session `{0}`")]
    NoSuchSession(String),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Sessions cannot be written.
    #[error(transparent)]
    Export(#[from] export::Error),
    /// Sessions cannot be put back.
    #[error(transparent)]
    Import(#[from] crate::import::Error),
    /// The manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] crate::manifest::Error),
    /// An object store does not do what it should.
    #[error(transparent)]
    Bucket(#[from] bucket::Error),
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Unsealed(_) => Some("name the recipients with --encrypt-to, or another folder"),
            Error::Closed { .. } => Some("--identity FILE names the key that opens them"),
            Error::NoArchive(_) => Some("name another with --cold=DIR"),
            _ => None,
        }
    }
}

impl Error {
    /// The same about another place, where the folder that it names is one for a while.
    #[cfg(feature = "object-store")]
    fn about(self, place: String) -> Self {
        let folder = PathBuf::from(place);
        match self {
            Error::Unsealed(_) => Error::Unsealed(folder),
            Error::Closed { source, .. } => Error::Closed { folder, source },
            Error::NoBackup(_) => Error::NoBackup(folder),
            other => other,
        }
    }
}

fn failed<'p>(doing: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> Error + 'p {
    move |source| Error::Io { doing, path: path.to_owned(), source }
}

/// Brings the backup in a folder up to date with the store.
pub fn run(request: &Request, folder: &Path, progress: &dyn Progress) -> Result<Summary, Error> {
    // Before anything is made: the store must be there.
    let begun = Instant::now();
    let state = store::file_state(&request.store)?;
    let _lock = Lock::take(folder)?;
    check_seal(folder, request.recipients.as_deref())?;
    let checkpoint = Checkpoint::of(request, &state);
    let mut summary = Summary::default();
    if checkpoint.is_reached(folder) {
        summary.idle = true;
    } else {
        summary.sessions =
            export::run(&request.store, &request.export(folder), &mut io::sink(), progress)?;
    }
    if let Some(retention) = &request.copies {
        let (copy, removed) = snapshots::add(request, folder, retention)?;
        summary.copy = Some(copy);
        summary.removed = removed;
    }
    // Last, because all that was written before changes the folder.
    if summary.is_whole() {
        let now = request.now + begun.elapsed().as_secs_f64();
        let is_steady = store::file_state(&request.store)? == state && state.is_settled(now);
        checkpoint.write(folder, is_steady)?;
    }
    Ok(summary)
}

impl Summary {
    /// Whether every selected session is in the folder.
    pub fn is_whole(&self) -> bool {
        self.sessions.failures.is_empty()
    }
}

impl Request {
    fn export(&self, folder: &Path) -> export::Request {
        export::Request {
            selection: self.selection.clone(),
            listing: self.listing,
            renewal: Renewal::Changed(self.look),
            ..record_request(folder, self.recipients.clone(), self.now)
        }
    }
}

/// All sessions, each a file of its own that holds all of it.
fn record_request(folder: &Path, recipients: Option<Arc<Recipients>>, now: f64) -> export::Request {
    export::Request {
        selection: Selection::All,
        shown: Shown::All,
        lineage: Lineage::Single,
        redactor: Arc::new(Redactor::none()),
        jobs: export::cores(),
        format: &formats::RECORD,
        encoding: recipients.map_or(Encoding::Zstd, Encoding::Sealed),
        target: Target::Folder(folder.to_owned()),
        names: Names::Laid(Pattern::id()),
        overwrite: Overwrite::Known,
        record: Record::Manifest,
        exported_at: now,
        zone: jiff::tz::TimeZone::UTC,
        reach: Reach::Everything,
        listing: Listing::Unwanted,
        renewal: Renewal::All,
    }
}

/// Where sessions lie encrypted, none is put beside them for everybody to read.
fn check_seal(folder: &Path, recipients: Option<&Recipients>) -> Result<(), Error> {
    let is_sealed = |entry: &&Entry| entry.sealed_to.is_some();
    if recipients.is_none() && Manifest::read(folder)?.current().values().any(is_sealed) {
        return Err(Error::Unsealed(folder.to_owned()));
    }
    Ok(())
}
