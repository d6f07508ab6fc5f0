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
        let mut check = copy.prepare("PRAGMA integrity_check")?;
        let verdicts = check.query_map([], |row| row.get::<_, String>(0))?;
        let faults = verdicts.filter(|verdict| !verdict.as_deref().is_ok_and(is_harmless));
        let faults = faults.take(1).collect::<Result<Vec<_>, _>>()?;
        faults.into_iter().next().map_or(Ok(()), |fault| Err(Error::BadCopy(fault)))
    }
}

/// Hermes' search indexes leave rows out on purpose, which SQLite takes for damage; and they can be made
/// anew from the rows at any time.
fn is_harmless(verdict: &str) -> bool {
    verdict == "ok" || verdict.contains("FTS5 table")
}
