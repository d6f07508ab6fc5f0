//! Deleting what is certainly kept elsewhere: `--delete-after-verified`.
//!
//! Inside the deleting transaction every file is read back from the disk and must be, to the byte,
//! what the store's rows give at that moment; and the JSONL among them is parsed and compared with
//! every column of every row, so that a fault of the writer would be found, too. A cell that JSON
//! cannot hold stops the deletion.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use formats::{FileHead, Format};
use serde::de::DeserializeSeed as _;

use super::compare::{Columns, Line};
use super::document::{Context, Document, Opened};
use super::{Error, Reach, Warnings, feed};
use crate::manifest::{self, Hasher};
use crate::redact::Redactor;
use crate::store::{self, Removal, SessionKey, Shown, Snapshot};

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
    store::delete_if(store, &ids, |snapshot, keys| {
        for keeper in keepers {
            keeper.check(snapshot, &ids, keys)?;
        }
        record.check_columns(snapshot, &ids, keys)?;
        record.check_delegates(snapshot, keys)?;
        let extents = keys.iter().map(|key| snapshot.extent(*key, Shown::All));
        Ok(extents.map(|extent| extent.map(|e| e.messages())).sum::<Result<u64, _>>()?)
    })
}

impl Keeper {
    fn lacks(&self, what: &dyn std::fmt::Display) -> Error {
        Error::NotKept { path: self.path.clone(), what: what.to_string() }
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
    ) -> Result<(), Error> {
        let redactor = Redactor::none();
        let mut warnings = Warnings::default();
        let mut hasher = Hasher::default();
        let wrote = Error::writing(&self.path);
        let documents = self.documents(ids, keys)?;
        let zone = jiff::tz::TimeZone::UTC;
        let head =
            FileHead { sessions: documents.len() as u64, redacted: None, provenance: None, zone };
        feed::with(snapshot, &documents, (Shown::All, Reach::Everything), |feed| {
            let mut writer = (self.format.start)(&mut hasher, &head).map_err(&wrote)?;
            while let Some(found) = feed.document() {
                let opened = Opened::of(*found?, &redactor, &mut warnings)?;
                let mut context =
                    Context { redactor: &redactor, progress: &(), warnings: &mut warnings };
                opened.write(feed, &mut context, writer.as_mut(), &wrote)?;
            }
            writer.finish().map_err(&wrote)
        })?;
        if let Some(warning) = warnings.kept.first() {
            return Err(self.lacks(warning));
        }
        if manifest::digest(&self.path)? != hasher.finish() {
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
    ) -> Result<(), Error> {
        let file = File::open(&self.path).map_err(Error::writing(&self.path))?;
        let mut lines = serde_json::Deserializer::from_reader(BufReader::new(file));
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
