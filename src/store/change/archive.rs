//! Hiding conversations from lists, and bringing them back.

use super::{CHOSEN, Change};
use crate::store::{Error, SessionKey};

/// Whether a conversation is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// It is in the archive.
    Yes,
    /// It is in the lists.
    No,
}

impl Change<'_> {
    /// Hides, or shows, these sessions with the whole conversations that they are part of: a list
    /// shows a conversation as soon as one part of it is not hidden. Says how many sessions changed.
    pub fn archive(&self, keys: &[SessionKey], hidden: Hidden) -> Result<u64, Error> {
        let snapshot = self.snapshot()?;
        if !snapshot.has_session_column("archived") {
            return Err(Error::NoArchive);
        }
        self.choose(snapshot.conversations(keys)?)?;
        let archived = i64::from(hidden == Hidden::Yes);
        let sql = format!(
            "UPDATE sessions SET archived = ?1 \
             WHERE rowid IN {CHOSEN} AND COALESCE(archived, 0) != ?1"
        );
        self.execute(&sql, [archived])
    }
}
