//! Hermes' store, `state.db`: the only module that names SQLite.
//!
//! [`read`] lends out one consistent [`Snapshot`]; what it yields is [`Raw`](crate::redact::Raw) and
//! leaves through redaction alone. Reading creates, changes and checkpoints nothing.

mod around;
mod census;
mod change;
mod copy;
mod create;
mod decode;
mod encode;
mod fingerprint;
mod lineage;
mod listing;
mod new_file;
mod open;
mod optimize;
mod query;
mod repair;
mod rows;
mod search;
mod size;
mod snapshot;
mod terms;
mod text;

use std::path::PathBuf;

pub use census::Census;
pub use change::{
    Added, Change, Columns, Deleted, Doomed, Hidden, Insertion, Moved, Record, Removal, Retitled,
    Seen, delete_if, insert, set, value, write,
};
pub use create::{Words, create, create_view};
pub use decode::Fault;
pub use lineage::Conversation;
pub use listing::{Entry, Kind, Listing, Page, Whereabouts};
pub use open::{FileState, existing, file_state, read};
pub use optimize::{Vacuum, copy_into, merge_indexes, vacuum};
pub use repair::{Backup, Checked, Damage, Repair, Salvage, check, repair, salvage};
pub use rows::{Decoded, Decoder, Rows, Stored};
pub use search::{Hit, Piece, Search, Searched, Sort, Unindexed};
pub use size::{Size, size};
pub use snapshot::{Extent, Matches, SessionKey, Shown, Snapshot};

/// What can go wrong with a store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no file.
    #[error("there is no store at {}", .0.display())]
    Missing(PathBuf),
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It cannot be made.
    #[error("cannot make the store {}", path.display())]
    Unmade {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no SQLite database.
    #[error("{} is not a SQLite database", .0.display())]
    NotADatabase(PathBuf),
    /// It is a database of something else.
    #[error("{} is not a Hermes store: it has no table `{table}`", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        table: &'static str,
    },
    /// Another process holds a lock that it did not release in time.
    #[error("the store is in use by another process")]
    InUse(#[source] rusqlite::Error),
    /// A deletion would take more, or less, than what was checked.
    #[error("deleting would take rows that are not kept; nothing was deleted")]
    TakesOthers,
    /// Others kept changing the file while it was read.
    #[error("the store kept changing while it was read")]
    Unsteady,
    /// A transaction was cut off, and only a writer may roll it back.
    #[error("an unfinished transaction stands in {}", .0.display())]
    HotJournal(PathBuf),
    /// Pages of the file are damaged.
    #[error("the store is damaged")]
    Damaged(#[source] rusqlite::Error),
    /// Not even the beginning of the file makes sense.
    #[error("nothing of {} can be read", path.display())]
    Hopeless {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// A copy of the store does not pass SQLite's check.
    #[error("the copy is damaged, as the store must be: {0}")]
    BadCopy(String),
    /// Reading ended in the midst of a session.
    #[error("reading ended early")]
    CutOff,
    /// Any other failure of SQLite.
    #[error("the store cannot be read")]
    Sql(#[source] rusqlite::Error),
    /// A write failed; nothing of its transaction has happened.
    #[error("the store cannot be written")]
    Refused(#[source] rusqlite::Error),
    /// A new file cannot be made.
    #[error("cannot make {}", path.display())]
    NotMade {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another session has the title.
    #[error("session {by} has the title `{title}`; `{free}` is free")]
    TitleTaken {
        /// What was asked for.
        title: String,
        /// Who has it.
        by: String,
        /// One like it that nobody has.
        free: String,
    },
    /// The store is of a Hermes that had no archive.
    #[error("this store has no column `archived`; start a newer Hermes once")]
    NoArchive,
    /// No session has this id.
    #[error("no session has the id `{0}`")]
    NoSuchSession(String),
    /// A message is not where it was looked for.
    #[error("message {message} is not in session `{session}`, nor in one of its family")]
    NoSuchMessage {
        /// The message's row id.
        message: i64,
        /// The session that was named.
        session: String,
    },
    /// There is nothing to be the last.
    #[error("the store has no such session")]
    NoSession,
    /// Several sessions' ids begin with this text.
    #[error("`{given}` is the beginning of more than one id: {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        given: String,
        /// Some of the ids.
        candidates: Vec<String>,
    },
}

impl Error {
    /// Whether the store refused one row for what is in it, and would take another.
    pub fn is_of_row(&self) -> bool {
        use rusqlite::ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};
        let Error::Refused(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(ConstraintViolation | TooBig | TypeMismatch))
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Missing(_) => Some("name another with --db FILE or --profile NAME"),
            Error::InUse(_) | Error::Unsteady => Some("try again when Hermes is idle"),
            Error::NoSuchSession(_) => Some(
                "an id, or at least its first 4 characters; `export --dry-run --json` lists all ids",
            ),
            Error::Ambiguous { .. } => Some("give more of the id"),
            Error::HotJournal(_) => Some("start Hermes once; it rolls the transaction back"),
            Error::Damaged(_) => {
                Some("`repair` mends it, or `repair --into NEW` gets out what is left")
            }
            Error::Hopeless { .. } => {
                Some("`restore` brings back a backup; `import` takes what was exported")
            }
            Error::BadCopy(_) => Some("`repair --check-only` names what is damaged"),
            Error::Io { .. }
            | Error::Unmade { .. }
            | Error::NotADatabase(_)
            | Error::NotAStore { .. }
            | Error::TakesOthers
            | Error::CutOff
            | Error::NoSuchMessage { .. }
            | Error::NoSession
            | Error::Refused(_)
            | Error::NotMade { .. }
            | Error::TitleTaken { .. }
            | Error::NoArchive
            | Error::Sql(_) => None,
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::InUse(error),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Damaged(error),
            _ => Error::Sql(error),
        }
    }
}
