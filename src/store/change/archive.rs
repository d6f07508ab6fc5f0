//! Hiding conversations from lists, and bringing them back.

use super::{CHOSEN, Change, Seen};
use crate::store::{Error, SessionKey};

/// Whether a conversation is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// It is in the archive.
    Yes,
    /// It is in the lists.
    No,
}

/// What became of sessions that were to be hidden, or shown.
#[derive(Debug)]
pub struct Moved {
    /// How many sessions changed.
    pub changed: u64,
    /// What stays as it is, because it is no longer what was shown.
    pub left: Vec<SessionKey>,
}

impl Change<'_> {
    /// Hides, or shows, these sessions with the whole conversations that they are part of: a list
    /// shows a conversation as soon as one part of it is not hidden.
    pub fn archive(&self, shown: &[Seen], hidden: Hidden) -> Result<Moved, Error> {
        let snapshot = self.snapshot()?;
        if !snapshot.has_session_column("archived") {
            return Err(Error::NoArchive);
        }
        let (mut keys, mut left) = (Vec::new(), Vec::new());
        for seen in shown {
            let same = snapshot.seen(seen.key)?.as_ref() == Some(seen);
            if same { keys.push(seen.key) } else { left.push(seen.key) }
        }
        self.choose(snapshot.conversations(&keys)?)?;
        let archived = i64::from(hidden == Hidden::Yes);
        let sql = format!(
            "UPDATE sessions SET archived = ?1 \
             WHERE rowid IN {CHOSEN} AND COALESCE(archived, 0) != ?1"
        );
        Ok(Moved { changed: self.execute(&sql, [archived])?, left })
    }
}
