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

use formats::model::{Column, Message, Row, Value};
use formats::{FileHead, Format};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

use super::document::{Context, Document, Opened};
use super::{Error, Reach, Warnings, feed};
use crate::manifest::{self, Hasher};
use crate::redact::{Raw, Redactor, Scope};
use crate::store::{self, Extent, Fault, Removal, SessionKey, Shown, Snapshot};

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
        let head = FileHead { sessions: documents.len() as u64, provenance: None };
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
            let line = Line::new(snapshot, &document)?;
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

/// What one line of JSONL must hold.
struct Line<'a, 's> {
    snapshot: &'a Snapshot<'s>,
    sessions: Vec<Map<String, Json>>,
    extents: Vec<Extent>,
    related: Map<String, Json>,
}

impl<'a, 's> Line<'a, 's> {
    fn new(snapshot: &'a Snapshot<'s>, document: &Document) -> Result<Self, Error> {
        let (mut sessions, mut extents, mut related) = (Vec::new(), Vec::new(), Map::new());
        for key in &document.0 {
            for (table, rows) in snapshot.related(*key)? {
                let rows = Redactor::none().apply(rows, &mut Scope::default());
                let Ok(Json::Array(rows)) = serde_json::from_str(&rows) else { continue };
                let all = related.entry(table).or_insert_with(|| Json::Array(Vec::new()));
                all.as_array_mut().into_iter().for_each(|all| all.extend(rows.iter().cloned()));
            }
            let (raw, _) = snapshot.session(*key)?;
            sessions.push(columns(&Redactor::none().apply(raw, &mut Scope::default())));
            extents.push(snapshot.extent(*key, Shown::All)?);
        }
        Ok(Self { snapshot, sessions, extents, related })
    }
}

fn columns<C: Column>(row: &Row<'_, C>) -> Map<String, Json> {
    row.columns().map(|(name, value)| (name.to_owned(), json(value))).collect()
}

fn json(value: &Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(n) => (*n).into(),
        Value::Real(x) => (*x).into(),
        Value::Text(text) => text.as_ref().into(),
        Value::Json(text) => serde_json::from_str(text).unwrap_or(Json::Null),
    }
}

/// The first column that differs.
fn difference(found: &Map<String, Json>, wanted: &Map<String, Json>) -> Option<String> {
    if found.len() != wanted.len() {
        return Some(format!("{} columns for {}", found.len(), wanted.len()));
    }
    let differs = |(name, value): &(&String, &Json)| found.get(*name) != Some(*value);
    wanted.iter().find(differs).map(|(name, _)| format!("column {name}"))
}

impl<'de> DeserializeSeed<'de> for Line<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Line<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a session")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let joined = self.sessions.len() > 1;
        let (mut found, mut complete, mut related) = (Map::new(), false, Map::new());
        let mut segments = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "messages" => {
                    map.next_value_seed(Messages {
                        snapshot: self.snapshot,
                        extents: &self.extents,
                    })?;
                    complete = true;
                }
                "segments" if joined => segments = map.next_value::<Vec<Map<String, Json>>>()?,
                table if self.related.contains_key(table) => {
                    related.insert(key, map.next_value()?);
                }
                _ => {
                    found.insert(key, map.next_value()?);
                }
            }
        }
        let found = if joined { segments } else { vec![found] };
        if !complete || found.len() != self.sessions.len() {
            return Err(A::Error::custom("its messages or segments are not all there"));
        }
        if related != self.related {
            return Err(A::Error::custom("rows of other tables are not all there"));
        }
        match found.iter().zip(&self.sessions).find_map(|(a, b)| difference(a, b)) {
            Some(difference) => Err(A::Error::custom(format!("the session's {difference}"))),
            None => Ok(()),
        }
    }
}

/// The messages of one line, in order.
struct Messages<'a, 's> {
    snapshot: &'a Snapshot<'s>,
    extents: &'a [Extent],
}

impl<'de> DeserializeSeed<'de> for Messages<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Messages<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut found: A) -> Result<(), A::Error> {
        for extent in self.extents {
            let each = |raw: Raw<Message<'_>>, _: Vec<Fault>| {
                let message = Redactor::none().apply(raw, &mut Scope::default());
                let wanted = columns(&message);
                let id = wanted.get("id").cloned().unwrap_or(Json::Null);
                let difference = match found.next_element::<Map<String, Json>>() {
                    Err(error) => Some(error.to_string()),
                    Ok(None) => Some("it is missing".to_owned()),
                    Ok(Some(found)) => difference(&found, &wanted),
                };
                difference.map_or(Ok(()), |what| Err(Difference(format!("message {id}: {what}"))))
            };
            self.snapshot
                .messages(extent, each)
                .map_err(|Difference(what)| A::Error::custom(what))?;
        }
        match found.next_element::<serde::de::IgnoredAny>()? {
            Some(_) => Err(A::Error::custom("more messages than the store has")),
            None => Ok(()),
        }
    }
}

/// What a message lacks, on its way out of the store's loop.
struct Difference(String);

impl From<store::Error> for Difference {
    fn from(error: store::Error) -> Self {
        Self(error.to_string())
    }
}
