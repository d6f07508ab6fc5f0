//! What a session was when somebody looked at it, so that a change can spare what is no longer that.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use formats::model::{Column as _, SessionColumn};
use rusqlite::OptionalExtension as _;
use rusqlite::types::ValueRef;

use crate::store::{Error, SessionKey, Snapshot};

/// A session as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Its row.
    pub key: SessionKey,
    /// Of the row, but for its long texts, and of how many messages there were.
    stamp: u64,
}

impl Snapshot<'_> {
    /// A session as it is now; `None` if it is gone.
    pub fn seen(&self, key: SessionKey) -> Result<Option<Seen>, Error> {
        let prompt = SessionColumn::SystemPrompt.name();
        let columns = self.session_columns().iter().map(|name| {
            let name_of = super::quoted(name);
            if name == prompt { format!("length({name_of})") } else { name_of }
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let active = if self.has_message_column("active") { "total(active)" } else { "0" };
        let sql = format!("SELECT {columns} FROM sessions WHERE rowid = ?");
        let mut hasher = DefaultHasher::new();
        if self.hash_row(&sql, key, &mut hasher)?.is_none() {
            return Ok(None);
        }
        let sql = format!(
            "SELECT count(*), max(rowid), {active} FROM messages \
             WHERE session_id = (SELECT id FROM sessions WHERE rowid = ?)"
        );
        self.hash_row(&sql, key, &mut hasher)?;
        Ok(Some(Seen { key, stamp: hasher.finish() }))
    }

    fn hash_row(
        &self,
        sql: &str,
        key: SessionKey,
        hasher: &mut DefaultHasher,
    ) -> Result<Option<()>, Error> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let columns = statement.column_count();
        let found = statement.query_row([key.0], |row| {
            for n in 0..columns {
                hash(row.get_ref(n)?, hasher);
            }
            Ok(())
        });
        Ok(found.optional()?)
    }
}

fn hash(cell: ValueRef<'_>, hasher: &mut DefaultHasher) {
    match cell {
        ValueRef::Null => 0_u8.hash(hasher),
        ValueRef::Integer(n) => (1_u8, n).hash(hasher),
        ValueRef::Real(x) => (2_u8, x.to_bits()).hash(hasher),
        ValueRef::Text(bytes) => (3_u8, bytes).hash(hasher),
        ValueRef::Blob(bytes) => (4_u8, bytes).hash(hasher),
    }
}
