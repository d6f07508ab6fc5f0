//! Compression chains: how one conversation lies over several sessions.
//!
//! When Hermes compresses a context it ends the session with the reason `compression` and goes on in
//! a child. A delegate works for a session and a branch leaves it; both are children, too, but no
//! continuation. `model_config` tells them apart (`_delegate_from`, `_branched_from`; a branch wins).

use std::collections::HashSet;

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

    fn model_config(&self, table: &str) -> String {
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

    /// The delegates that worked for a session, theirs included, in the order of their start.
    pub fn delegates(&self, key: SessionKey) -> Result<Vec<SessionKey>, Error> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([key]);
        let mut queue = vec![key];
        while let Some(of) = queue.pop() {
            let config = self.model_config("c");
            let sql = format!(
                "SELECT c.rowid, {config} FROM sessions s JOIN sessions c \
                 ON c.parent_session_id = s.id OR json_extract(CASE WHEN json_valid({config}) \
                 THEN {config} END, '$._delegate_from') = s.id \
                 WHERE s.rowid = ? ORDER BY c.started_at, c.rowid"
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let children = statement.query_map([of.0], |row| {
                Ok((SessionKey(row.get(0)?), Kinship::of(as_text(row.get_ref(1)?).as_deref())))
            })?;
            for child in children {
                let (child, kinship) = child?;
                if kinship == Kinship::Delegate && seen.insert(child) {
                    found.push(child);
                    queue.push(child);
                }
            }
        }
        Ok(found)
    }
}
