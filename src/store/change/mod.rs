//! Every write to the store: short transactions that begin with the write lock.
//!
//! [`write()`] lends out one [`Change`]: all of it happens, or nothing. Foreign keys are enforced, the
//! store's own triggers keep its search indexes, what is deleted is overwritten, and the journal mode
//! stays what it is. Others write, too, so the lock is waited for at irregular intervals.

mod archive;
mod insert;
mod meta;
mod patience;
mod remove;
mod seen;
mod title;

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::open::existing;
use super::snapshot::{Concurrency, quoted};
use super::{Error, SessionKey, Snapshot, text};
pub use archive::{Hidden, Moved};
pub use insert::{Added, Columns, Insertion, Record, insert, set, value};
pub use remove::{Deleted, Doomed, Removal, delete_if};
pub use seen::Seen;
pub use title::Retitled;

/// A transaction that holds the write lock.
pub struct Change<'c> {
    transaction: &'c Transaction<'c>,
    path: &'c Path,
}

/// Runs `work` in one transaction. If it fails, or the process dies, nothing of it has happened.
pub fn write<T, E: From<Error>>(
    path: &Path,
    work: impl FnOnce(&Change<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let path = existing(path)?;
    let mut connection = open(&path)?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(refused)?;
    let done = work(&Change { transaction: &transaction, path: &path })?;
    transaction.commit().map_err(refused)?;
    Ok(done)
}

/// Opens an existing store to write to it.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(patience::wait))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    // Nobody should find in free pages what was deleted.
    connection.query_row("PRAGMA secure_delete = ON", [], |_| Ok(()))?;
    text::register(&connection)?;
    Ok(connection)
}

/// An error of a statement that writes.
pub(super) fn refused(error: rusqlite::Error) -> Error {
    match Error::from(error) {
        Error::Sql(error) => Error::Refused(error),
        other => other,
    }
}

impl Change<'_> {
    /// The store as this transaction sees it.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, Error> {
        Snapshot::new(self.transaction, self.path, Concurrency::Locked)
    }

    /// Puts these sessions, and no others, into the table that [`CHOSEN`] selects from; a list of
    /// values would end at SQLite's limit of variables.
    fn choose(&self, keys: impl IntoIterator<Item = SessionKey>) -> Result<(), Error> {
        self.transaction
            .execute_batch(
                "CREATE TEMP TABLE IF NOT EXISTS chosen (key INTEGER PRIMARY KEY); \
                 DELETE FROM temp.chosen;",
            )
            .map_err(refused)?;
        let mut insert = self
            .transaction
            .prepare_cached("INSERT OR IGNORE INTO temp.chosen (key) VALUES (?)")?;
        for SessionKey(key) in keys {
            insert.execute([key]).map_err(refused)?;
        }
        Ok(())
    }

    /// Runs a statement and says how many rows it changed; triggers' rows do not count.
    fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<u64, Error> {
        let mut statement = self.transaction.prepare_cached(sql).map_err(refused)?;
        Ok(statement.execute(values).map_err(refused)? as u64)
    }
}

/// The row ids of the sessions that [`Change::choose`] was given.
const CHOSEN: &str = "(SELECT key FROM temp.chosen)";
