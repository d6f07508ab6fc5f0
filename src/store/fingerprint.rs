//! Whether a session is as it was: a digest of its row, and of how its messages lie in the store; and
//! another one of all of it, to the last cell of its messages.
//!
//! No message's text is read for the first: SQLite knows the length of a text, and whether a flag is 0 or
//! 1, from the head of a row (<https://www.sqlite.org/fileformat2.html#record_format>). A text that was
//! replaced by one of the same length, with nothing else in its session changed, shows in the second only.

use formats::model::{Column as _, MessageColumn};
use rusqlite::types::ValueRef;
use sha2::{Digest as _, Sha256};

use super::snapshot::quoted;
use super::{Error, SessionKey, Shown, Snapshot};

/// What tells messages of the conversation from others; read whole, being 0 or 1.
const FLAGS: [MessageColumn; 2] = [MessageColumn::Active, MessageColumn::Compacted];

impl Snapshot<'_> {
    /// A digest that is another one when the session has changed.
    pub fn fingerprint(&self, key: SessionKey) -> Result<String, Error> {
        let mut digest = self.digest_of_rows(key)?;
        let shape = self.message_columns().iter().map(|name| shape(name));
        let sql = format!(
            "SELECT rowid, {} FROM messages \
             WHERE session_id = (SELECT id FROM sessions WHERE rowid = ?) ORDER BY rowid",
            shape.collect::<Vec<_>>().join(", ")
        );
        self.digest(&sql, [key.0], &mut digest)?;
        digest.update(b";");
        Ok(crate::manifest::hex(&digest.finalize()[..16]))
    }

    /// A digest that is another one when any cell of it or of its messages has changed. It reads all of
    /// them, which takes less than to take the measure of each.
    pub fn contents(&self, key: SessionKey) -> Result<String, Error> {
        let mut digest = self.digest_of_rows(key)?;
        // Where a run of rows ends depends on what other sessions have between them.
        for run in self.extent(key, Shown::All)?.runs {
            let sql = "SELECT * FROM messages WHERE rowid BETWEEN ? AND ? ORDER BY rowid";
            self.digest(sql, [run.0, run.1], &mut digest)?;
        }
        Ok(crate::manifest::hex(&digest.finalize()[..16]))
    }

    /// Of its own row, and of rows of other tables that belong to it.
    fn digest_of_rows(&self, key: SessionKey) -> Result<Sha256, Error> {
        let mut digest = Sha256::new();
        self.digest("SELECT * FROM sessions WHERE rowid = ?", [key.0], &mut digest)?;
        digest.update(b";");
        for (table, column) in self.dependents()? {
            let (table, column) = (quoted(&table), quoted(&column));
            let sql = format!(
                "SELECT * FROM {table} WHERE {column} = (SELECT id FROM sessions WHERE rowid = ?) \
                 ORDER BY 1, 2"
            );
            self.digest(&sql, [key.0], &mut digest)?;
            digest.update(b";");
        }
        Ok(digest)
    }

    fn digest(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        digest: &mut Sha256,
    ) -> Result<(), Error> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            for n in 0..columns {
                add(row.get_ref(n)?, digest);
            }
            digest.update(b"\n");
        }
        Ok(())
    }
}

fn shape(name: &str) -> String {
    let name = quoted(name);
    if FLAGS.iter().any(|flag| quoted(flag.name()) == name) {
        return name;
    }
    format!(
        "CASE WHEN typeof({name}) IN ('text', 'blob') THEN octet_length({name}) ELSE typeof({name}) END"
    )
}

/// Kind and length come first, so that no two rows give the same bytes.
fn add(value: ValueRef<'_>, digest: &mut Sha256) {
    match value {
        ValueRef::Null => digest.update(b"n"),
        ValueRef::Integer(n) => {
            digest.update(b"i");
            digest.update(n.to_le_bytes());
        }
        ValueRef::Real(x) => {
            digest.update(b"r");
            digest.update(x.to_bits().to_le_bytes());
        }
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            digest.update(b"t");
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        }
    }
}
