//! A copy of the whole store, of one moment, in one file.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::Backup;

use super::{Error, Snapshot};

/// Pages a step; a copy of a snapshot need not let others in between.
const STEP: i32 = 4096;

impl Snapshot<'_> {
    /// Copies the store into a new file and has SQLite check the copy. See
    /// <https://www.sqlite.org/backup.html>.
    pub fn copy_to(&self, file: &Path) -> Result<(), Error> {
        let mut copy = Connection::open(file)?;
        Backup::new(self.connection, &mut copy)?.run_to_completion(STEP, Duration::ZERO, None)?;
        // One file must be enough: no -wal beside it.
        copy.pragma_update(None, "journal_mode", "delete")?;
        let verdict: String = copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if verdict == "ok" { Ok(()) } else { Err(Error::BadCopy(verdict)) }
    }
}
