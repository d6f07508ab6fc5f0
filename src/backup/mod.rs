//! Backups: a folder with a packed JSONL file for each session, which runs again and again.
//!
//! The manifest is the checkpoint: what it has a line for, with the session's mark, is done. So a run
//! that was killed loses at most a batch of lines, and the next one goes on. Sessions that leave the
//! store stay in the folder and are marked.

mod checkpoint;
mod lock;
pub mod restore;
mod snapshots;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::export::{
    self, Encoding, Lineage, Listing, Names, Overwrite, Pattern, Reach, Record, Renewal, Target,
};
use crate::filter::Selection;
use crate::progress::Progress;
use crate::redact::Redactor;
use crate::store::{self, Shown};
use checkpoint::Checkpoint;
use lock::Lock;
pub use snapshots::Retention;

/// What a backup is to do.
pub struct Request {
    /// The store.
    pub store: PathBuf,
    /// The folder that holds the backup.
    pub folder: PathBuf,
    /// Which sessions.
    pub selection: Selection,
    /// Whether a copy of the whole store is kept, too, and for how long.
    pub copies: Option<Retention>,
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
}

fn failed<'p>(doing: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> Error + 'p {
    move |source| Error::Io { doing, path: path.to_owned(), source }
}

/// Brings the backup up to date with the store.
pub fn run(request: &Request, progress: &dyn Progress) -> Result<Summary, Error> {
    // Before anything is made: the store must be there.
    let stamp = store::file_state(&request.store, request.now)?;
    let _lock = Lock::take(&request.folder)?;
    let checkpoint = Checkpoint::of(request, stamp);
    let mut summary = Summary::default();
    if checkpoint.is_reached(&request.folder) {
        summary.idle = true;
    } else {
        summary.sessions =
            export::run(&request.store, &request.export(), &mut io::sink(), progress)?;
    }
    if let Some(retention) = &request.copies {
        let (copy, removed) = snapshots::add(request, retention)?;
        summary.copy = Some(copy);
        summary.removed = removed;
    }
    // Last, because all that was written before changes the folder.
    if summary.is_whole() {
        checkpoint.write(&request.folder)?;
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
    fn export(&self) -> export::Request {
        export::Request {
            selection: self.selection.clone(),
            shown: Shown::All,
            lineage: Lineage::Single,
            redactor: Arc::new(Redactor::none()),
            format: &formats::RECORD,
            encoding: Encoding::Zstd,
            target: Target::Folder(self.folder.clone()),
            names: Names::Laid(Pattern::id()),
            overwrite: Overwrite::Known,
            record: Record::Manifest,
            exported_at: self.now,
            zone: jiff::tz::TimeZone::UTC,
            reach: Reach::Everything,
            listing: self.listing,
            renewal: Renewal::Changed,
        }
    }
}
