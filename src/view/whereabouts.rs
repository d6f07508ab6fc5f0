//! Where a session is that somebody misses, and why lists do not show it.

use std::path::Path;

use serde::Serialize;

use super::session::{Head, head_of, named};
use crate::store::{self, Kind, SessionKey, Snapshot};

/// A session that a store has.
#[derive(Debug, Serialize)]
pub struct Trace {
    /// What is known of it.
    pub session: Head,
    /// How it stands to others.
    pub kind: &'static str,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether its source is one that lists leave out.
    pub hidden_source: bool,
    /// The session that it worked for.
    pub worked_for: Option<String>,
    /// The session that lists show in its place.
    pub listed_as: Option<String>,
}

/// The session that somebody means by an id, a title or the beginning of an id, if this store has it.
pub fn trace(store: &Path, name: &str) -> Result<Option<Trace>, store::Error> {
    store::read(store, |snapshot| match named(snapshot, name) {
        Ok(key) => of(snapshot, key).map(Some),
        Err(store::Error::NoSuchSession(_)) => Ok(None),
        Err(error) => Err(error),
    })
}

fn of(snapshot: &Snapshot<'_>, key: SessionKey) -> Result<Trace, store::Error> {
    let about = snapshot.whereabouts(key)?;
    let parent = about.parent.map(|parent| snapshot.id(parent)).transpose()?;
    let tip = (about.tip != key).then(|| snapshot.id(about.tip)).transpose()?;
    let (kind, worked_for) = match about.kind {
        Kind::Conversation | Kind::All => ("conversation", None),
        Kind::Branch => ("branch", None),
        Kind::Segment => ("segment", None),
        Kind::Delegate => ("delegate", parent),
    };
    Ok(Trace {
        session: head_of(snapshot, key)?,
        kind,
        archived: about.archived,
        hidden_source: about.source == "tool",
        worked_for,
        listed_as: tip,
    })
}

/// How many messages a store has of a session whose own row is lost.
pub fn orphans(store: &Path, id: &str) -> Result<u64, store::Error> {
    store::read(store, |snapshot| snapshot.orphans_of(id))
}
