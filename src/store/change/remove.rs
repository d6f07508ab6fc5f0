//! Deleting sessions with all that is theirs.
//!
//! Delegates go with the session that they worked for. What continues a session, or left it as a
//! branch, loses its parent and stays.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::OptionalExtension as _;

use super::{CHOSEN, Change, Seen, refused, write};
use crate::store::lineage::Family;
use crate::store::{Error, SessionKey, Snapshot, terms};

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

/// Deletes those of the sessions with these ids that `check`, which sees the store as the deleting
/// transaction sees it, gives, with the number of their messages. If others would go with them, nothing
/// goes. Children that are not among them lose their parent and stay.
pub fn delete_if<E: From<Error>>(
    path: &Path,
    ids: &[String],
    check: impl FnOnce(&Snapshot<'_>, &[SessionKey]) -> Result<(Vec<SessionKey>, u64), E>,
) -> Result<Removal, E> {
    write(path, |change| {
        let keys = change.keys(ids)?;
        let (keys, messages) = check(&change.snapshot()?, &keys)?;
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

    /// Makes one session the parent of another that has none, if both are there.
    pub fn adopt(&self, parent: &str, child: &str) -> Result<(), Error> {
        if self.snapshot()?.has_session_column("parent_session_id") {
            let sql = "UPDATE sessions SET parent_session_id = ?1 WHERE id = ?2 \
                       AND parent_session_id IS NULL AND EXISTS (SELECT 1 FROM sessions WHERE id = ?1)";
            self.execute(sql, [parent, child])?;
        }
        Ok(())
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
        let doomed = format!("SELECT rowid FROM messages WHERE session_id IN {ids}");
        terms::settle(self.transaction, &doomed, []).map_err(refused)?;
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::Doomed;
    use crate::filter::Selection;
    use crate::store::{self, Deleted, Error, Hidden, Moved};

    struct Store {
        path: PathBuf,
        connection: Connection,
        _folder: TempDir,
    }

    impl Store {
        /// `p` with its delegate `d`, and `q`.
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("state.db");
            store::create(&path).expect("a new store");
            let connection = Connection::open(&path).expect("a store");
            let store = Self { path, connection, _folder: folder };
            for id in ["p", "q"] {
                store.add(id, None);
            }
            store.add("d", Some("p"));
            store
        }

        fn sql(&self, sql: &str) {
            self.connection.execute_batch(sql).expect("a statement");
        }

        fn add(&self, id: &str, owner: Option<&str>) {
            let config = owner.map(|owner| format!("{{\"_delegate_from\": \"{owner}\"}}"));
            let session = "INSERT INTO sessions (id, source, started_at, ended_at, \
                parent_session_id, model_config) VALUES (?, 'cli', 1, 2, ?, ?)";
            self.connection.execute(session, (id, owner, config)).expect("a session");
            let message = "INSERT INTO messages (session_id, role, content, timestamp) \
                VALUES (?, 'user', 'x', 1)";
            self.connection.execute(message, [id]).expect("a message");
        }

        fn ids(&self) -> String {
            let sql = "SELECT group_concat(id, ' ' ORDER BY id) FROM sessions";
            self.connection.query_row(sql, [], |row| row.get(0)).expect("ids")
        }

        /// What is shown when `p` and `q` are to go.
        fn shown(&self) -> Doomed {
            let ids = ["p", "q"].map(str::to_owned).to_vec();
            let shown = store::read(&self.path, |snapshot| {
                snapshot.doomed(&snapshot.matching(&Selection::Sessions(ids.clone()))?.sessions)
            });
            shown.expect("a snapshot")
        }

        fn delete(&self, shown: &Doomed) -> Deleted {
            store::write(&self.path, |change| change.delete(shown)).expect("a deletion")
        }
    }

    #[test]
    fn what_is_as_it_was_shown_goes() {
        let store = Store::new();
        store.add("other", None);
        let deleted = store.delete(&store.shown());
        assert_eq!((deleted.removal.sessions, deleted.removal.messages), (3, 3));
        assert!(deleted.left.is_empty());
        assert_eq!(store.ids(), "other");
    }

    #[test]
    fn what_has_changed_since_it_was_shown_stays_with_what_worked_for_it() {
        for change in [
            "UPDATE sessions SET ended_at = NULL WHERE id = 'p'",
            "UPDATE sessions SET title = 'kept' WHERE id = 'p'",
            "INSERT INTO messages (session_id, role, timestamp) VALUES ('p', 'user', 3)",
            "UPDATE messages SET active = 0 WHERE session_id = 'p'",
            "UPDATE sessions SET ended_at = 9 WHERE id = 'd'",
            "INSERT INTO sessions (id, source, started_at, model_config) \
             VALUES ('e', 'cli', 1, '{\"_delegate_from\": \"d\"}')",
        ] {
            let store = Store::new();
            let shown = store.shown();
            store.sql(change);
            let deleted = store.delete(&shown);
            assert_eq!(deleted.left, [shown.chosen[0].key], "{change}");
            assert!(["d p", "d e p"].contains(&store.ids().as_str()), "{change}: {}", store.ids());
        }
    }

    #[test]
    fn what_others_have_deleted_is_counted() {
        let store = Store::new();
        let shown = store.shown();
        store.sql(
            "DELETE FROM messages WHERE session_id = 'q'; DELETE FROM sessions WHERE id = 'q'",
        );
        let deleted = store.delete(&shown);
        assert_eq!((deleted.removal.sessions, deleted.gone), (2, 1));
    }

    #[test]
    fn what_has_changed_since_it_was_shown_is_not_archived() {
        let store = Store::new();
        let shown = store.shown();
        store.sql("UPDATE sessions SET ended_at = NULL WHERE id = 'p'");
        let moved: Result<Moved, Error> =
            store::write(&store.path, |change| change.archive(&shown.chosen, Hidden::Yes));
        let moved = moved.expect("a change");
        assert_eq!((moved.changed, moved.left), (1, vec![shown.chosen[0].key]));
    }

    #[test]
    fn a_change_that_fails_has_not_happened() {
        let store = Store::new();
        let failed: Result<(), Error> = store::write(&store.path, |change| {
            change.delete(&store.shown())?;
            Err(Error::NoArchive)
        });
        assert!(matches!(failed, Err(Error::NoArchive)));
        assert_eq!(store.ids(), "d p q");
    }
}
