//! Which sessions have changed since they were last written, and which have left the store.

use std::collections::{HashMap, HashSet};

use super::document::Document;
use super::place::Place;
use super::{Error, Failure, Look, Request};
use crate::filter::Selection;
use crate::manifest::Entry;
use crate::progress::Progress;
use crate::redact::Scope;
use crate::store::{self, SessionKey, Shown, Snapshot};

/// What is to be written anew.
#[derive(Default)]
pub(super) struct Renewed {
    pub(super) documents: Vec<Document>,
    /// What its sessions are like now.
    pub(super) marks: HashMap<SessionKey, Mark>,
    /// How many are left alone.
    pub(super) unchanged: u64,
    /// The lines of those that have left the store.
    pub(super) gone: Vec<Entry>,
    /// What would take the place of another session, of which no other copy is known.
    pub(super) refused: Vec<Failure>,
}

/// What a session is like; empty where that cannot be told.
#[derive(Debug, Clone, Default)]
pub(super) struct Mark {
    /// Of its row, its messages' flags and the lengths of their texts.
    pub(super) shape: String,
    /// Of all of it, to the last cell of its messages.
    pub(super) texts: String,
    /// Sessions that stay in the store and have it for their parent, where it is to leave.
    pub(super) children: Vec<String>,
}

/// What is compared with the manifest.
pub(super) struct Looked<'r, 's> {
    pub(super) snapshot: &'r Snapshot<'s>,
    pub(super) look: Look,
    pub(super) progress: &'r dyn Progress,
}

impl Renewed {
    /// All of these, with their marks.
    pub(super) fn leaving(
        snapshot: &Snapshot<'_>,
        request: &Request,
        place: &mut Place,
        documents: Vec<Document>,
    ) -> Result<Self, Error> {
        place.look_up()?;
        let ids = ids(snapshot, request)?;
        let mut renewed = Self::default();
        for document in documents {
            let key = document.0[0];
            let line = ids.get(&key).and_then(|id| place.line_of(request, id));
            match line {
                Some(line) if is_another(snapshot, key, line, place)? => renewed.refuse(line),
                Some(_) | None => renewed.documents.push(document),
            }
        }
        let keys: Vec<SessionKey> = renewed.documents.iter().flat_map(|d| d.0.clone()).collect();
        for key in &keys {
            let shape = readable(snapshot.fingerprint(*key))?;
            let texts = readable(snapshot.contents(*key))?;
            renewed.marks.insert(*key, Mark { shape, texts, children: Vec::new() });
        }
        for (parent, child) in snapshot.children_of(&keys)? {
            renewed.marks.entry(parent).or_default().children.push(child);
        }
        Ok(renewed)
    }

    fn refuse(&mut self, line: &Entry) {
        let session = line.session_id.clone();
        let path = &line.path;
        let reason = format!(
            "{path} holds another session with this id; where it is moved away this one is written"
        );
        self.refused.push(Failure { session, reason });
    }
}

/// Whether a line's file may be the only copy of a session that had this one's id: not of the same,
/// which was restored or has not gone yet. A row id is never given twice.
fn is_another(
    snapshot: &Snapshot<'_>,
    key: SessionKey,
    line: &Entry,
    place: &Place,
) -> Result<bool, Error> {
    let is_only = line.only_copy || line.gone_at.is_some();
    if !is_only || !place.has(&line.path) {
        return Ok(false);
    }
    Ok(match line.last_message_id {
        Some(last) => !snapshot.extent(key, Shown::All)?.holds(last),
        None => line.mark != Some(readable(snapshot.fingerprint(key))?),
    })
}

impl Looked<'_, '_> {
    /// Compares the store with what the manifest says. Documents are sessions, one each.
    pub(super) fn renewed(
        &self,
        request: &Request,
        place: &mut Place,
        documents: Vec<Document>,
    ) -> Result<Renewed, Error> {
        place.look_up()?;
        let ids = ids(self.snapshot, request)?;
        let mut renewed = Renewed::default();
        for document in documents {
            if self.progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let key = document.0[0];
            let entry = ids.get(&key).and_then(|id| place.line_of(request, id));
            if let Some(line) = entry
                && is_another(self.snapshot, key, line, place)?
            {
                renewed.refuse(line);
                continue;
            }
            let sealed_to = request.encoding.sealed_to();
            let entry = entry
                .filter(|line| is_there(line, place) && line.sealed_to.as_deref() == sealed_to);
            if let Some(mark) = self.changed(key, entry)? {
                renewed.marks.insert(key, mark);
                renewed.documents.push(document);
            } else {
                renewed.unchanged += 1;
            }
        }
        let present: HashSet<&str> = ids.values().map(String::as_str).collect();
        let lines = place.lines().filter(|line| line.gone_at.is_none() && line.mark.is_some());
        let gone = lines.filter(|line| line.sessions().all(|id| !present.contains(id)));
        let gone_at = Some(request.exported_at);
        renewed.gone = gone.map(|line| Entry { gone_at, ..line.clone() }).collect();
        Ok(renewed)
    }

    /// What a session is like now; `None` where that is what its line says.
    fn changed(&self, key: SessionKey, entry: Option<&Entry>) -> Result<Option<Mark>, Error> {
        let is_same = |now: &str, then: Option<&str>| !now.is_empty() && then == Some(now);
        let shape = || readable(self.snapshot.fingerprint(key));
        let contents = || readable(self.snapshot.contents(key));
        let (shape, texts) = match self.look {
            Look::Shape => {
                let shape = shape()?;
                if is_same(&shape, entry.and_then(|line| line.mark.as_deref())) {
                    return Ok(None);
                }
                (shape, contents()?)
            }
            Look::Texts => {
                let contents = contents()?;
                if is_same(&contents, entry.and_then(|line| line.texts.as_deref())) {
                    return Ok(None);
                }
                (shape()?, contents)
            }
        };
        Ok(Some(Mark { shape, texts, children: Vec::new() }))
    }
}

/// Reading what is damaged will say what is wrong.
fn readable(digest: Result<String, store::Error>) -> Result<String, Error> {
    match digest {
        Err(store::Error::Damaged(_) | store::Error::Sql(_)) => Ok(String::new()),
        other => Ok(other?),
    }
}

/// Whether the file is there, and its session was in the store.
fn is_there(entry: &Entry, place: &Place) -> bool {
    entry.gone_at.is_none() && place.size_of(&entry.path) == Some(entry.bytes)
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
