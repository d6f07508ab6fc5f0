//! Making the file small and its search indexes quick, without being in anybody's way.
//!
//! The indexes are merged in small steps, each a transaction of its own. VACUUM writes the whole file
//! anew and locks it all the while, so it runs only when nobody else has it open and the disk has room.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use super::Error;
use super::change::{self, refused};
use super::new_file::new_file;
use super::open::existing;
use super::snapshot::quoted;

/// Pages of a search index that one step may write.
const STEP: i64 = 500;

/// Whether the file was written anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vacuum {
    /// It was.
    Done,
    /// Another program has it open.
    InUse,
}

/// Merges every full-text index into one piece; says how many there are.
pub fn merge_indexes(path: &Path) -> Result<u64, Error> {
    let connection = change::open(&existing(path)?)?;
    let indexes = full_text_indexes(&connection)?;
    for index in &indexes {
        merge(&connection, index).map_err(refused)?;
    }
    Ok(indexes.len() as u64)
}

/// A first step that makes all pieces mergeable, then steps until one has nothing to do; see
/// <https://www.sqlite.org/fts5.html#the_merge_command>.
fn merge(connection: &Connection, index: &str) -> rusqlite::Result<()> {
    let name = quoted(index);
    let sql = format!("INSERT INTO {name}({name}, rank) VALUES ('merge', ?)");
    let mut step = -STEP;
    loop {
        let before = connection.total_changes();
        connection.execute(&sql, [step])?;
        if connection.total_changes() - before < 2 {
            return Ok(());
        }
        step = STEP;
    }
}

pub(super) fn full_text_indexes(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' \
         AND lower(sql) GLOB 'create virtual table*using fts5*' ORDER BY name",
    )?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Writes the file anew, if nobody else has it open.
pub fn vacuum(path: &Path) -> Result<Vacuum, Error> {
    let connection = change::open(&existing(path)?)?;
    // A copy of the whole store belongs on the disk.
    connection.pragma_update(None, "temp_store", "file").map_err(refused)?;
    connection.busy_timeout(Duration::ZERO)?;
    // In WAL mode everybody who has the file open holds a shared lock on it, so this succeeds only
    // where nobody does.
    connection.pragma_update(None, "locking_mode", "exclusive").map_err(refused)?;
    let done = connection
        .execute_batch("BEGIN EXCLUSIVE; COMMIT; VACUUM")
        .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
    match done {
        Ok(()) => Ok(Vacuum::Done),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Ok(Vacuum::InUse),
            _ => Err(refused(error)),
        },
    }
}

/// Writes a compact copy to a new file, whole or not at all; the store itself stays as it is. Says how
/// many bytes it has.
pub fn copy_into(path: &Path, copy: &Path) -> Result<u64, Error> {
    let connection = change::open(&existing(path)?)?;
    connection.pragma_update(None, "temp_store", "file").map_err(refused)?;
    let copied = new_file(copy, |name| {
        connection.execute("VACUUM INTO ?", [name]).map_err(refused)?;
        Ok(())
    });
    copied.map(|((), bytes)| bytes)
}
