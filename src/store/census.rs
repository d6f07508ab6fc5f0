//! What a store holds, in numbers, and what of it no list shows.

use super::repair::{self, Damage};
use super::text::as_text;
use super::{Error, Snapshot};

/// What a store holds.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Census {
    /// Of Hermes' tables.
    pub schema_version: Option<String>,
    /// All sessions.
    pub sessions: u64,
    /// Sessions that have not ended.
    pub running: u64,
    /// Sessions that are archived.
    pub archived: u64,
    /// Sessions that worked for another.
    pub delegates: u64,
    /// Sessions that go on in another one.
    pub continued: u64,
    /// Sessions of the source `tool`.
    pub tools: u64,
    /// All messages.
    pub messages: u64,
    /// Messages of no session.
    pub orphans: u64,
    /// What cannot be read.
    pub damage: Vec<Damage>,
}

impl Snapshot<'_> {
    /// Counts, and checks the pages of the file.
    pub fn census(&self) -> Result<Census, Error> {
        let count = |from: &str| {
            let sql = format!("SELECT count(*) FROM {from}");
            let count = self.connection.query_row(&sql, [], |row| row.get::<_, i64>(0))?;
            Ok::<_, Error>(count.unsigned_abs())
        };
        let known = |column, condition: &str| {
            let has = self.has_session_column(column);
            if has { count(&format!("sessions WHERE {condition}")) } else { Ok(0) }
        };
        let family = self.family()?;
        Ok(Census {
            schema_version: self.schema_version(),
            sessions: count("sessions")?,
            running: known("ended_at", "ended_at IS NULL")?,
            archived: known("archived", "COALESCE(archived, 0) != 0")?,
            delegates: family.delegate_count() as u64,
            continued: family.continued_count() as u64,
            tools: known("source", "source = 'tool'")?,
            messages: count("messages")?,
            orphans: count("messages WHERE session_id NOT IN (SELECT id FROM sessions)")?,
            damage: repair::readable(self.connection)?,
        })
    }

    fn schema_version(&self) -> Option<String> {
        let sql = "SELECT version FROM schema_version";
        let version = self.connection.query_row(sql, [], |row| Ok(as_text(row.get_ref(0)?)));
        // A store without the table is of no version.
        version.ok().flatten()
    }
}
