//! Deleting what is certainly kept elsewhere: `--delete-after-verified`, `archive --cold`.
//!
//! Inside the deleting transaction every file is read back from the disk and must be, to the byte,
//! what the store's rows give at that moment; and the JSONL among them is parsed and compared with
//! every column of every row, so that a fault of the writer would be found, too. A cell that JSON
//! cannot hold stops the deletion.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use formats::{FileHead, Format};
use serde::de::DeserializeSeed as _;

use super::compare::{Columns, Line};
use super::document::{Context, Document, Opened};
use super::feed::{self, Scouts};
use super::{Error, Reach, Warnings};
use crate::manifest::{self, Hasher};
use crate::progress::Progress;
use crate::redact::Redactor;
use crate::seal::Identities;
use crate::store::{self, Removal, SessionKey, Shown, Snapshot};
use crate::unpack;

/// A file that should hold sessions whole.
#[derive(Debug)]
pub struct Keeper {
    /// Where it is.
    pub path: PathBuf,
    /// How it was written.
    pub format: &'static Format,
    /// Its documents, each the ids of its segments, oldest first.
    pub documents: Vec<Vec<String>>,
}

/// Deletes the sessions that the last keeper, a JSONL file, holds, if all keepers hold all of theirs
/// and no delegate of theirs would be left behind.
pub fn delete_kept(store: &Path, keepers: &[Keeper]) -> Result<Removal, Error> {
    let record = keepers.last().ok_or(Error::Nothing)?;
    let ids: Vec<String> = record.documents.iter().flatten().cloned().collect();
    let none = Identities::default();
    store::delete_if(store, &ids, |snapshot, keys| {
        for keeper in keepers {
            keeper.check(snapshot, &ids, keys, &none)?;
        }
        record.check_columns(snapshot, &ids, keys, &none)?;
        record.check_delegates(snapshot, keys)?;
        Ok((keys.to_vec(), messages(snapshot, keys)?))
    })
}

/// What became of sessions that files were to hold whole.
#[derive(Debug, Default)]
pub struct Taken {
    /// What was deleted.
    pub removal: Removal,
    /// The ids of what was.
    pub ids: Vec<String>,
    /// Which of them were parents of sessions that stay, each with one of these.
    pub parted: Vec<(String, String)>,
    /// The ids of what stays, each with the reason.
    pub left: Vec<(String, String)>,
}

/// Deletes, in one transaction, each session that is held whole by its keeper, a JSONL file of its
/// own, packed or sealed to one of these identities. The others stay, as does a session that another one
/// worked for which stays.
pub fn delete_each_kept(
    store: &Path,
    keepers: &[Keeper],
    identities: &Identities,
    progress: &dyn Progress,
) -> Result<Taken, Error> {
    let ids: Vec<String> = keepers.iter().flat_map(|k| k.documents.concat()).collect();
    let mut taken = Taken::default();
    taken.removal = store::delete_if(store, &ids, |snapshot, keys| {
        let mut kept = Vec::with_capacity(keys.len());
        for (keeper, (id, key)) in keepers.iter().zip(ids.iter().zip(keys)) {
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let (one, key) = (std::slice::from_ref(id), std::slice::from_ref(key));
            let checked = keeper.check(snapshot, one, key, identities);
            match checked.and_then(|()| keeper.check_columns(snapshot, one, key, identities)) {
                Ok(()) => kept.push((id, key[0])),
                Err(Error::NotKept { what, .. }) => taken.left.push((id.clone(), what)),
                Err(Error::Read { source, .. }) => {
                    taken.left.push((id.clone(), format!("its file cannot be read: {source}")));
                }
                Err(error) => return Err(error),
            }
        }
        taken.leave_owners(snapshot, &mut kept)?;
        taken.ids = kept.iter().map(|(id, _)| (*id).clone()).collect();
        let parents: HashMap<SessionKey, &String> =
            kept.iter().map(|(id, key)| (*key, *id)).collect();
        let keys: Vec<SessionKey> = kept.into_iter().map(|(_, key)| key).collect();
        let children = snapshot.children_of(&keys)?.into_iter();
        taken.parted = children
            .filter_map(|(parent, child)| Some(((*parents.get(&parent)?).clone(), child)))
            .collect();
        let messages = messages(snapshot, &keys)?;
        Ok::<_, Error>((keys, messages))
    })?;
    Ok(taken)
}

impl Taken {
    /// Lets those stay whose delegates stay, because these would go along.
    fn leave_owners(
        &mut self,
        snapshot: &Snapshot<'_>,
        kept: &mut Vec<(&String, SessionKey)>,
    ) -> Result<(), Error> {
        loop {
            let keys: Vec<SessionKey> = kept.iter().map(|(_, key)| *key).collect();
            if snapshot.delegates(&keys)?.is_empty() {
                return Ok(());
            }
            let mut leaves = Vec::with_capacity(kept.len());
            for (id, key) in kept.drain(..) {
                let others = snapshot.delegates(&[key])?;
                if others.iter().all(|other| keys.contains(other)) {
                    leaves.push((id, key));
                } else {
                    self.left.push((id.clone(), "a session that worked for it stays".to_owned()));
                }
            }
            *kept = leaves;
        }
    }
}

fn messages(snapshot: &Snapshot<'_>, keys: &[SessionKey]) -> Result<u64, store::Error> {
    let extents = keys.iter().map(|key| snapshot.extent(*key, Shown::All));
    extents.map(|extent| extent.map(|e| e.messages())).sum()
}

impl Keeper {
    fn lacks(&self, what: &dyn std::fmt::Display) -> Error {
        Error::NotKept { path: self.path.clone(), what: what.to_string() }
    }

    /// What the file was before it was packed.
    fn open(&self, identities: &Identities) -> Result<Box<dyn BufRead>, Error> {
        let mut options = File::options();
        options.read(true);
        manifest::private(&mut options);
        let file = options.open(&self.path).and_then(|file| unpack::reader(file, identities));
        file.map_err(|source| Error::Read { path: self.path.clone(), source })
    }

    fn documents(&self, ids: &[String], keys: &[SessionKey]) -> Result<Vec<Document>, Error> {
        let known: HashMap<&String, SessionKey> = ids.iter().zip(keys.iter().copied()).collect();
        let key = |id: &String| {
            let key = known.get(id).copied();
            key.ok_or_else(|| self.lacks(&format!("session {id} is not in the record")))
        };
        let document =
            |ids: &Vec<String>| ids.iter().map(key).collect::<Result<_, _>>().map(Document);
        self.documents.iter().map(document).collect()
    }

    /// The file is what the rows give.
    fn check(
        &self,
        snapshot: &Snapshot<'_>,
        ids: &[String],
        keys: &[SessionKey],
        identities: &Identities,
    ) -> Result<(), Error> {
        let redactor = Redactor::none();
        let mut warnings = Warnings::default();
        let mut hasher = Hasher::default();
        let wrote = Error::writing(&self.path);
        let documents = self.documents(ids, keys)?;
        let zone = jiff::tz::TimeZone::UTC;
        let head =
            FileHead { sessions: documents.len() as u64, redacted: None, provenance: None, zone };
        let scouts = Scouts::new(&redactor, NonZeroUsize::MIN);
        let wanted = (Shown::All, Reach::Everything);
        feed::with(snapshot, &documents, wanted, scouts, |feed| {
            let mut writer = (self.format.start)(&mut hasher, &head).map_err(&wrote)?;
            while let Some(found) = feed.document() {
                let opened = Opened::of(*found?, &redactor, &mut warnings)?;
                let mut context = Context {
                    redactor: &redactor,
                    progress: &(),
                    warnings: &mut warnings,
                    record: None,
                };
                opened.write(feed, &mut context, writer.as_mut(), &wrote)?;
            }
            writer.finish().map_err(&wrote)
        })?;
        if let Some(warning) = warnings.kept.first() {
            return Err(self.lacks(warning));
        }
        let mut found = Hasher::default();
        let read = io::copy(&mut self.open(identities)?, &mut found);
        read.map_err(|source| Error::Read { path: self.path.clone(), source })?;
        if found.finish() != hasher.finish() {
            return Err(self.lacks(&"the store has changed, or the file has"));
        }
        Ok(())
    }

    /// The file's columns, parsed, are the rows' columns.
    fn check_columns(
        &self,
        snapshot: &Snapshot<'_>,
        ids: &[String],
        keys: &[SessionKey],
        identities: &Identities,
    ) -> Result<(), Error> {
        let mut lines = serde_json::Deserializer::from_reader(self.open(identities)?);
        for document in self.documents(ids, keys)? {
            let line = Line::new(snapshot, &document, Columns::Same)?;
            line.deserialize(&mut lines).map_err(|error| self.lacks(&error))?;
        }
        lines.end().map_err(|error| self.lacks(&error))
    }

    fn check_delegates(&self, snapshot: &Snapshot<'_>, keys: &[SessionKey]) -> Result<(), Error> {
        if !snapshot.delegates(keys)?.is_empty() {
            return Err(self.lacks(&"a session that worked for it has come up since"));
        }
        Ok(())
    }
}
