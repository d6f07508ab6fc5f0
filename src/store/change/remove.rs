//! Deleting sessions with all that is theirs.
//!
//! Delegates go with the session that they worked for. What continues a session, or left it as a
//! branch, loses its parent and stays.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::OptionalExtension as _;

use super::{CHOSEN, Change, Seen, refused, write};
use crate::store::lineage::Family;
use crate::store::{Error, SessionKey, Snapshot};

/// What a deletion took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removal {
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
}

/// What a deletion is to take, as it was shown.
#[derive(Debug, Clone, Default)]
pub struct Doomed {
    /// What was asked for.
    pub chosen: Vec<Seen>,
    /// Delegates that go along.
    pub along: Vec<Seen>,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Deleted {
    /// How much went.
    pub removal: Removal,
    /// The ids of what went; one that is no text has no files that bear it.
    pub ids: Vec<String>,
    /// What was chosen and stays, because it is no longer what was shown.
    pub left: Vec<SessionKey>,
    /// How many of the chosen others had deleted by then.
    pub gone: u64,
}

impl Snapshot<'_> {
    /// These sessions and the delegates that would go with them.
    pub fn doomed(&self, keys: &[SessionKey]) -> Result<Doomed, Error> {
        let seen = |keys: &[SessionKey]| {
            let seen = keys.iter().map(|key| self.seen(*key));
            seen.filter_map(Result::transpose).collect::<Result<Vec<_>, Error>>()
        };
        Ok(Doomed { chosen: seen(keys)?, along: seen(&self.delegates(keys)?)? })
    }
}

/// Deletes the sessions with these ids if `check`, which sees the store as the deleting transaction
/// sees it, does not object and says how many messages they have. If others would go with them,
/// nothing goes. Children that are not among them lose their parent and stay.
pub fn delete_if<E: From<Error>>(
    path: &Path,
    ids: &[String],
    check: impl FnOnce(&Snapshot<'_>, &[SessionKey]) -> Result<u64, E>,
) -> Result<Removal, E> {
    write(path, |change| {
        let keys = change.keys(ids)?;
        let messages = check(&change.snapshot()?, &keys)?;
        let expected = Removal { sessions: keys.len() as u64, messages };
        let before = change.count()?;
        let removal = change.remove(&keys)?;
        if removal != expected || before.less(removal) != change.count()? {
            return Err(Error::TakesOthers.into());
        }
        Ok(removal)
    })
}

impl Removal {
    fn less(self, other: Self) -> Self {
        Self {
            sessions: self.sessions.saturating_sub(other.sessions),
            messages: self.messages.saturating_sub(other.messages),
        }
    }
}

impl Change<'_> {
    /// Deletes what still is what was shown. A session stays if it has changed, or if one that would
    /// go along has, or has come up since.
    pub fn delete(&self, doomed: &Doomed) -> Result<Deleted, Error> {
        let snapshot = self.snapshot()?;
        let family = snapshot.family()?;
        let mut gone = HashSet::new();
        let mut stays = HashSet::new();
        for shown in doomed.chosen.iter().chain(&doomed.along) {
            match snapshot.seen(shown.key)? {
                None => _ = gone.insert(shown.key),
                Some(seen) if seen != *shown => _ = stays.insert(shown.key),
                Some(_) => {}
            }
        }
        keep_owners(doomed, &family, &mut stays);
        let chosen = || doomed.chosen.iter().map(|shown| shown.key);
        let mut keys: Vec<SessionKey> =
            chosen().filter(|key| !stays.contains(key) && !gone.contains(key)).collect();
        keys.extend(family.delegates(&keys));
        Ok(Deleted {
            ids: self.ids(&keys)?,
            removal: self.remove(&keys)?,
            left: chosen().filter(|key| stays.contains(key)).collect(),
            gone: chosen().filter(|key| gone.contains(key)).count() as u64,
        })
    }

    /// The ids that are text.
    fn ids(&self, keys: &[SessionKey]) -> Result<Vec<String>, Error> {
        let mut statement = self.transaction.prepare("SELECT id FROM sessions WHERE rowid = ?")?;
        let mut ids = Vec::with_capacity(keys.len());
        for SessionKey(key) in keys {
            let id = statement.query_row([key], |row| Ok(row.get::<_, String>(0).ok()));
            ids.extend(id.map_err(refused)?);
        }
        Ok(ids)
    }

    /// All sessions and messages that the store has.
    fn count(&self) -> Result<Removal, Error> {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table} NOT INDEXED");
            self.transaction.query_row(&sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
        };
        Ok(Removal { sessions: count("sessions")?, messages: count("messages")? })
    }

    fn keys(&self, ids: &[String]) -> Result<Vec<SessionKey>, Error> {
        let mut statement = self.transaction.prepare("SELECT rowid FROM sessions WHERE id = ?")?;
        let key = |id: &String| {
            let key = statement.query_row([id], |row| row.get(0).map(SessionKey)).optional()?;
            key.ok_or_else(|| Error::NoSuchSession(id.clone()))
        };
        ids.iter().map(key).collect()
    }

    /// Deletes these sessions; those that came from them stay, as sessions of their own.
    fn remove(&self, keys: &[SessionKey]) -> Result<Removal, Error> {
        self.choose(keys.iter().copied())?;
        let ids = format!("(SELECT id FROM sessions WHERE rowid IN {CHOSEN})");
        let messages =
            self.execute(&format!("DELETE FROM messages WHERE session_id IN {ids}"), [])?;
        if self.snapshot()?.has_session_column("parent_session_id") {
            let orphan = format!(
                "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id IN {ids}"
            );
            self.execute(&orphan, [])?;
        }
        let sessions =
            self.execute(&format!("DELETE FROM sessions WHERE rowid IN {CHOSEN}"), [])?;
        Ok(Removal { sessions, messages })
    }
}

/// Adds those who stay because a delegate of theirs stays, or was not shown; and theirs.
fn keep_owners(doomed: &Doomed, family: &Family, stays: &mut HashSet<SessionKey>) {
    let shown: HashSet<SessionKey> =
        doomed.chosen.iter().chain(&doomed.along).map(|shown| shown.key).collect();
    let mut owners: HashMap<SessionKey, Vec<SessionKey>> = HashMap::new();
    for owner in &shown {
        for delegate in family.delegates_of(*owner) {
            owners.entry(*delegate).or_default().push(*owner);
        }
    }
    let unseen = owners.keys().filter(|delegate| !shown.contains(delegate)).copied();
    let mut queue: Vec<SessionKey> = unseen.chain(stays.iter().copied()).collect();
    while let Some(staying) = queue.pop() {
        let owners = owners.get(&staying).into_iter().flatten();
        queue.extend(owners.filter(|owner| stays.insert(**owner)));
    }
}
