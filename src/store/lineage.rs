//! Compression chains: how one conversation lies over several sessions.
//!
//! When Hermes compresses a context it ends the session with the reason `compression` and goes on in
//! a child. A delegate works for a session and a branch leaves it; both are children, too, but no
//! continuation. `model_config` tells them apart (`_delegate_from`, `_branched_from`; a branch wins).

use std::collections::{HashMap, HashSet};

use rusqlite::OptionalExtension as _;
use serde_json::Value as Json;

use super::text::as_text;
use super::{Error, SessionKey, Snapshot};

/// How a session stands to its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinship {
    Branch,
    Delegate,
    /// A continuation, if the parent ended by compression; else of unknown kind.
    Plain,
}

impl Kinship {
    pub(super) fn of(model_config: Option<&str>) -> Self {
        let config: Json =
            model_config.and_then(|c| serde_json::from_str(c).ok()).unwrap_or(Json::Null);
        let marked = |mark| config.get(mark).is_some_and(|value| !value.is_null());
        if marked("_branched_from") {
            Kinship::Branch
        } else if marked("_delegate_from") {
            Kinship::Delegate
        } else {
            Kinship::Plain
        }
    }
}

/// What a chain is made of.
struct Link {
    kinship: Kinship,
    parent: Option<SessionKey>,
    ended_by_compression: bool,
}

impl Snapshot<'_> {
    /// The chain that a session belongs to, oldest first; the session alone where it is none.
    pub fn chain(&self, key: SessionKey) -> Result<Vec<SessionKey>, Error> {
        if !self.has_session_column("parent_session_id") {
            return Ok(vec![key]);
        }
        let mut chain = vec![self.root(key)?];
        let mut seen: HashSet<SessionKey> = chain.iter().copied().collect();
        while let Some(next) = self.continuation(chain[chain.len() - 1])?
            && seen.insert(next)
        {
            chain.push(next);
        }
        // Where two sessions continue the same one, the chain takes the first.
        Ok(if seen.contains(&key) { chain } else { vec![key] })
    }

    /// Whether a session works for another one.
    pub(super) fn is_delegate(&self, key: SessionKey) -> Result<bool, Error> {
        Ok(self.link(key)?.kinship == Kinship::Delegate)
    }

    pub(super) fn model_config(&self, table: &str) -> String {
        let known = self.has_session_column("model_config");
        if known { format!("{table}.model_config") } else { "NULL".to_owned() }
    }

    fn root(&self, key: SessionKey) -> Result<SessionKey, Error> {
        let mut path = vec![key];
        loop {
            let here = path[path.len() - 1];
            let link = self.link(here)?;
            let Some(parent) = link.parent.filter(|_| link.kinship == Kinship::Plain) else {
                return Ok(here);
            };
            if !self.link(parent)?.ended_by_compression {
                return Ok(here);
            }
            if let Some(met) = path.iter().position(|key| *key == parent) {
                // A circle has no first session; one is agreed upon.
                return Ok(path[met..].iter().copied().min().unwrap_or(here));
            }
            path.push(parent);
        }
    }

    /// Whether a session continues another, however many lie between.
    pub(super) fn continues(&self, key: SessionKey, first: SessionKey) -> Result<bool, Error> {
        if !self.has_session_column("parent_session_id") {
            return Ok(false);
        }
        let mut seen = HashSet::from([key]);
        let mut here = key;
        loop {
            let link = self.link(here)?;
            let Some(parent) = link.parent.filter(|_| link.kinship == Kinship::Plain) else {
                return Ok(false);
            };
            if !self.link(parent)?.ended_by_compression || !seen.insert(parent) {
                return Ok(false);
            }
            if parent == first {
                return Ok(true);
            }
            here = parent;
        }
    }

    fn continuation(&self, key: SessionKey) -> Result<Option<SessionKey>, Error> {
        if !self.link(key)?.ended_by_compression {
            return Ok(None);
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT rowid FROM sessions \
             WHERE parent_session_id = (SELECT id FROM sessions WHERE rowid = ?) \
             ORDER BY started_at, rowid",
        )?;
        let children = statement.query_map([key.0], |row| row.get(0).map(SessionKey))?;
        for child in children {
            let child = child?;
            if self.link(child)?.kinship == Kinship::Plain {
                return Ok(Some(child));
            }
        }
        Ok(None)
    }

    fn link(&self, key: SessionKey) -> Result<Link, Error> {
        let sql = format!(
            "SELECT {}, s.end_reason, p.rowid FROM sessions s \
             LEFT JOIN sessions p ON p.id = s.parent_session_id WHERE s.rowid = ?",
            self.model_config("s")
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let link = statement.query_row([key.0], |row| {
            Ok(Link {
                kinship: Kinship::of(as_text(row.get_ref(0)?).as_deref()),
                ended_by_compression: as_text(row.get_ref(1)?).as_deref() == Some("compression"),
                parent: row.get::<_, Option<i64>>(2)?.map(SessionKey),
            })
        });
        Ok(link.optional()?.unwrap_or(Link {
            kinship: Kinship::Plain,
            parent: None,
            ended_by_compression: false,
        }))
    }

    /// How all sessions descend from each other, in one pass over the store.
    pub(super) fn family(&self) -> Result<Family, Error> {
        let mut family = Family::default();
        if !self.has_session_column("parent_session_id") {
            return Ok(family);
        }
        let config = self.model_config("c");
        let sql = format!(
            "SELECT c.rowid, {config}, p.rowid, p.end_reason, o.rowid FROM sessions c \
             LEFT JOIN sessions p ON p.id = c.parent_session_id \
             LEFT JOIN sessions o ON o.id = json_extract(CASE WHEN json_valid({config}) \
             THEN {config} END, '$._delegate_from') \
             WHERE p.rowid IS NOT NULL OR o.rowid IS NOT NULL ORDER BY c.started_at, c.rowid"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let key = |n| Ok::<_, Error>(row.get::<_, Option<i64>>(n)?.map(SessionKey));
            let child = SessionKey(row.get(0)?);
            let (parent, owner) = (key(2)?, key(4)?);
            match Kinship::of(as_text(row.get_ref(1)?).as_deref()) {
                Kinship::Delegate => {
                    let owners = parent.into_iter().chain(owner.filter(|o| Some(*o) != parent));
                    owners.for_each(|owner| family.delegates.entry(owner).or_default().push(child));
                }
                Kinship::Plain if as_text(row.get_ref(3)?).as_deref() == Some("compression") => {
                    family.join(parent, child);
                }
                Kinship::Plain | Kinship::Branch => {}
            }
        }
        Ok(family)
    }

    /// The sessions, not among these, that have one of these for their parent, each behind that one.
    pub fn children_of(&self, of: &[SessionKey]) -> Result<Vec<(SessionKey, String)>, Error> {
        if !self.has_session_column("parent_session_id") {
            return Ok(Vec::new());
        }
        let own: HashSet<&SessionKey> = of.iter().collect();
        let sql = "SELECT p.rowid, c.rowid, c.id FROM sessions c \
                   JOIN sessions p ON p.id = c.parent_session_id ORDER BY c.rowid";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let (parent, child) = (SessionKey(row.get(0)?), SessionKey(row.get(1)?));
            if own.contains(&parent) && !own.contains(&child) {
                found.extend(as_text(row.get_ref(2)?).map(|id| (parent, id)));
            }
        }
        Ok(found)
    }

    /// The delegates that worked for some of these sessions, theirs included, without those named.
    pub fn delegates(&self, of: &[SessionKey]) -> Result<Vec<SessionKey>, Error> {
        Ok(self.family()?.delegates(of))
    }

    /// Whole conversations: these sessions and all that they continue or are continued by.
    pub(super) fn conversations(&self, of: &[SessionKey]) -> Result<Vec<SessionKey>, Error> {
        let family = self.family()?;
        Ok(reached(of, |key| family.continuations.get(&key)))
    }
}

/// One conversation, which may lie over several sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// Its sessions.
    pub parts: Vec<SessionKey>,
    /// Those that worked for them.
    pub delegates: Vec<SessionKey>,
}

impl Snapshot<'_> {
    /// The conversations that these sessions are part of, each whole and once, and the delegates of each.
    pub fn families(&self, of: &[SessionKey]) -> Result<Vec<Conversation>, Error> {
        let family = self.family()?;
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        for key in of {
            if !seen.contains(key) {
                let whole = reached(&[*key], |key| family.continuations.get(&key));
                seen.extend(whole.iter().copied());
                let delegates = family.delegates(&whole);
                found.push(Conversation { parts: whole, delegates });
            }
        }
        Ok(found)
    }
}

/// Which sessions worked for which, and which go on in which.
#[derive(Default)]
pub(super) struct Family {
    delegates: HashMap<SessionKey, Vec<SessionKey>>,
    /// Those that go on in another one.
    continued: HashSet<SessionKey>,
    /// In both directions.
    continuations: HashMap<SessionKey, Vec<SessionKey>>,
}

impl Family {
    fn join(&mut self, parent: Option<SessionKey>, child: SessionKey) {
        let Some(parent) = parent else { return };
        self.continued.insert(parent);
        self.continuations.entry(parent).or_default().push(child);
        self.continuations.entry(child).or_default().push(parent);
    }

    /// The delegates of some sessions, theirs included, without those named.
    pub(super) fn delegates(&self, of: &[SessionKey]) -> Vec<SessionKey> {
        reached(of, |key| self.delegates.get(&key)).split_off(of.len())
    }

    /// How many sessions worked for another.
    pub(super) fn delegate_count(&self) -> usize {
        self.delegates.values().flatten().collect::<HashSet<_>>().len()
    }

    /// How many sessions go on in another one.
    pub(super) fn continued_count(&self) -> usize {
        self.continued.len()
    }

    /// The delegates of one session, without theirs.
    pub(super) fn delegates_of(&self, key: SessionKey) -> &[SessionKey] {
        self.delegates.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// What can be reached from some sessions; they come first. Hermes lets delegates form circles.
fn reached<'f>(
    from: &[SessionKey],
    next: impl Fn(SessionKey) -> Option<&'f Vec<SessionKey>>,
) -> Vec<SessionKey> {
    let mut seen: HashSet<SessionKey> = from.iter().copied().collect();
    let mut found = from.to_vec();
    let mut at = 0;
    while let Some(&key) = found.get(at) {
        at += 1;
        found.extend(next(key).into_iter().flatten().filter(|other| seen.insert(**other)));
    }
    found
}
