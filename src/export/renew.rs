//! Which sessions have changed since they were last written, and which have left the store.

use std::collections::{HashMap, HashSet};
use std::fs;

use super::document::Document;
use super::place::Place;
use super::{Error, Request};
use crate::filter::Selection;
use crate::manifest::Entry;
use crate::redact::Scope;
use crate::store::{self, SessionKey, Snapshot};

/// What is to be written anew.
#[derive(Default)]
pub(super) struct Renewed {
    pub(super) documents: Vec<Document>,
    /// What its sessions are like now.
    pub(super) marks: HashMap<SessionKey, String>,
    /// How many are left alone.
    pub(super) unchanged: u64,
    /// The lines of those that have left the store.
    pub(super) gone: Vec<Entry>,
}

/// Compares the store with what the manifest says. Documents are sessions, one each.
pub(super) fn renewed(
    snapshot: &Snapshot<'_>,
    request: &Request,
    place: &mut Place,
    documents: Vec<Document>,
) -> Result<Renewed, Error> {
    place.look_up()?;
    let ids = ids(snapshot, request)?;
    let mut renewed = Renewed::default();
    for document in documents {
        let key = document.0[0];
        let mark = match snapshot.fingerprint(key) {
            Ok(mark) => mark,
            // Reading it will say what is wrong.
            Err(store::Error::Damaged(_) | store::Error::Sql(_)) => String::new(),
            Err(error) => return Err(error.into()),
        };
        let entry = ids.get(&key).and_then(|id| place.line_of(request, id));
        if entry.is_some_and(|entry| is_as_it_was(entry, &mark, place)) {
            renewed.unchanged += 1;
        } else {
            renewed.marks.insert(key, mark);
            renewed.documents.push(document);
        }
    }
    let present: HashSet<&str> = ids.values().map(String::as_str).collect();
    let lines = place.lines().filter(|line| line.gone_at.is_none() && line.mark.is_some());
    let gone = lines.filter(|line| line.sessions().all(|id| !present.contains(id)));
    let gone_at = Some(request.exported_at);
    renewed.gone = gone.map(|line| Entry { gone_at, ..line.clone() }).collect();
    Ok(renewed)
}

/// Whether the file is there still, and holds the session as it is.
fn is_as_it_was(entry: &Entry, mark: &str, place: &Place) -> bool {
    let file = fs::symlink_metadata(place.folder.join(&entry.path));
    entry.gone_at.is_none()
        && !mark.is_empty()
        && entry.mark.as_deref() == Some(mark)
        && file.is_ok_and(|meta| meta.is_file() && meta.len() == entry.bytes)
}

/// The ids of all sessions that can be read, as files would be named by them.
fn ids(snapshot: &Snapshot<'_>, request: &Request) -> Result<HashMap<SessionKey, String>, Error> {
    let mut ids = HashMap::new();
    for key in snapshot.matching(&Selection::All)?.sessions {
        if let Ok(raw) = snapshot.brief(key) {
            let row = request.redactor.apply(raw, &mut Scope::default());
            ids.insert(key, row.id().to_owned());
        }
    }
    Ok(ids)
}
