//! Marks that every program on the store shares.

use rusqlite::OptionalExtension as _;

use super::{Change, refused};
use crate::store::{Error, Snapshot, text};

impl Snapshot<'_> {
    /// A mark; `None` where it was never set, or the store keeps none.
    pub fn mark(&self, name: &str) -> Result<Option<String>, Error> {
        let kept = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'state_meta'";
        if self.connection.query_row(kept, [], |_| Ok(())).optional()?.is_none() {
            return Ok(None);
        }
        let sql = "SELECT value FROM state_meta WHERE key = ?";
        let value =
            self.connection.query_row(sql, [name], |row| Ok(text::as_text(row.get_ref(0)?)));
        Ok(value.optional()?.flatten())
    }
}

impl Change<'_> {
    /// Sets a mark.
    pub fn set_mark(&self, name: &str, value: &str) -> Result<(), Error> {
        let table = "CREATE TABLE IF NOT EXISTS state_meta (key TEXT PRIMARY KEY, value TEXT)";
        self.transaction.execute_batch(table).map_err(refused)?;
        let sql = "INSERT INTO state_meta (key, value) VALUES (?, ?) \
                   ON CONFLICT(key) DO UPDATE SET value = excluded.value";
        self.execute(sql, [name, value])?;
        Ok(())
    }
}
