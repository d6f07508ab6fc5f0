//! Every write to the store: short transactions that begin with the write lock.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior};

use super::snapshot::Concurrency;
use super::{Error, SessionKey, Snapshot, text};

/// How long the write lock is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a deletion took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removal {
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
}

/// Deletes the sessions with these ids if `check`, which sees the store as the deleting transaction
/// sees it, does not object and says how many messages they have. If others would go with them,
/// nothing goes. Children that are not among them lose their parent and stay.
pub fn delete_if<E: From<Error>>(
    path: &Path,
    ids: &[String],
    check: impl FnOnce(&Snapshot<'_>, &[SessionKey]) -> Result<u64, E>,
) -> Result<Removal, E> {
    let mut connection = open(path)?;
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(Error::from)?;
    let keys = keys(&transaction, ids)?;
    let messages = check(&Snapshot::new(&transaction, path, Concurrency::Locked)?, &keys)?;
    let expected = Removal { sessions: keys.len() as u64, messages };
    let before = count(&transaction).map_err(Error::from)?;
    let removal = remove(&transaction, &keys).map_err(Error::from)?;
    let after = count(&transaction).map_err(Error::from)?;
    if removal != expected || before.less(removal) != after {
        return Err(Error::TakesOthers.into()); // and the transaction is rolled back
    }
    transaction.commit().map_err(Error::from)?;
    Ok(removal)
}

impl Removal {
    fn less(self, other: Self) -> Self {
        Self {
            sessions: self.sessions.saturating_sub(other.sessions),
            messages: self.messages.saturating_sub(other.messages),
        }
    }
}

/// All sessions and messages that the store has.
fn count(transaction: &Transaction<'_>) -> rusqlite::Result<Removal> {
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table} NOT INDEXED");
        transaction.query_row(&sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
    };
    Ok(Removal { sessions: count("sessions")?, messages: count("messages")? })
}

fn open(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    text::register(&connection)?;
    Ok(connection)
}

fn keys(transaction: &Transaction<'_>, ids: &[String]) -> Result<Vec<SessionKey>, Error> {
    let mut statement = transaction.prepare("SELECT rowid FROM sessions WHERE id = ?")?;
    let key = |id: &String| {
        let key = statement.query_row([id], |row| row.get(0).map(SessionKey)).optional()?;
        key.ok_or_else(|| Error::NoSuchSession(id.clone()))
    };
    ids.iter().map(key).collect()
}

fn remove(transaction: &Transaction<'_>, keys: &[SessionKey]) -> rusqlite::Result<Removal> {
    const DOOMED: &str = "(SELECT id FROM sessions WHERE rowid = ?)";
    let mut removal = Removal::default();
    for SessionKey(key) in keys {
        let messages = format!("DELETE FROM messages WHERE session_id = {DOOMED}");
        removal.messages += transaction.execute(&messages, [key])? as u64;
        let children = format!(
            "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = {DOOMED}"
        );
        transaction.execute(&children, [key])?;
    }
    for SessionKey(key) in keys {
        removal.sessions +=
            transaction.execute("DELETE FROM sessions WHERE rowid = ?", [key])? as u64;
    }
    Ok(removal)
}
