//! Whether JSONL holds what the store does: parsed, and compared column by column.

use std::fs::File;
use std::path::{Path, PathBuf};

use formats::model::{Column, Message, Row, Value};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

use super::Error;
use super::document::Document;
use crate::redact::{Raw, Redactor, Scope};
use crate::seal::Identities;
use crate::store::{self, Extent, Fault, Shown, Snapshot};
use crate::unpack;

/// Compares packed files, each of one session, with that session in a store; gives the ids of those that
/// differ, each with the first difference. Columns that only the store has are not compared.
pub fn differences(
    store: &Path,
    files: &[(PathBuf, String)],
    identities: &Identities,
) -> Result<Vec<(String, String)>, Error> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    store::read(store, |snapshot| {
        let mut differing = Vec::new();
        for (path, id) in files {
            let difference = difference(snapshot, path, id, identities)?;
            differing.extend(difference.map(|what| (id.clone(), what)));
        }
        Ok(differing)
    })
}

fn difference(
    snapshot: &Snapshot<'_>,
    path: &Path,
    id: &str,
    identities: &Identities,
) -> Result<Option<String>, Error> {
    let Some(key) = snapshot.find(id)? else {
        return Ok(Some("it is not in the store".to_owned()));
    };
    let line = Line::new(snapshot, &Document(vec![key]), Columns::Fewer)?;
    let text = File::open(path).and_then(|file| unpack::reader(file, identities));
    let text = text.map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let mut lines = serde_json::Deserializer::from_reader(text);
    let compared = line.deserialize(&mut lines).and_then(|()| lines.end());
    Ok(compared.err().map(|error| error.to_string()))
}

/// What one line of JSONL must hold.
pub(super) struct Line<'a, 's> {
    columns: Columns,
    snapshot: &'a Snapshot<'s>,
    sessions: Vec<Map<String, Json>>,
    extents: Vec<Extent>,
    related: Map<String, Json>,
}

impl<'a, 's> Line<'a, 's> {
    pub(super) fn new(
        snapshot: &'a Snapshot<'s>,
        document: &Document,
        columns: Columns,
    ) -> Result<Self, Error> {
        let (mut sessions, mut extents, mut related) = (Vec::new(), Vec::new(), Map::new());
        for key in &document.0 {
            for (table, rows) in snapshot.related(*key)? {
                let rows = Redactor::none().apply(rows, &mut Scope::default());
                let Ok(Json::Array(rows)) = serde_json::from_str(&rows) else { continue };
                let all = related.entry(table).or_insert_with(|| Json::Array(Vec::new()));
                all.as_array_mut().into_iter().for_each(|all| all.extend(rows.iter().cloned()));
            }
            let (raw, _) = snapshot.session(*key)?;
            sessions.push(cells(&Redactor::none().apply(raw, &mut Scope::default())));
            extents.push(snapshot.extent(*key, Shown::All)?);
        }
        Ok(Self { columns, snapshot, sessions, extents, related })
    }
}

fn cells<C: Column>(row: &Row<'_, C>) -> Map<String, Json> {
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

/// Which columns a line must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// The store's.
    Same,
    /// Some of the store's, which may be of a newer Hermes than the line.
    Fewer,
}

impl Columns {
    /// The first column that differs.
    fn difference(self, found: &Map<String, Json>, wanted: &Map<String, Json>) -> Option<String> {
        if self == Columns::Same && found.len() != wanted.len() {
            return Some(format!("{} columns for {}", found.len(), wanted.len()));
        }
        let of = match self {
            Columns::Same => wanted,
            Columns::Fewer => found,
        };
        let differs = |name: &&String| found.get(*name) != wanted.get(*name);
        of.keys().find(differs).map(|name| format!("column {name}"))
    }
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
                        columns: self.columns,
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
        let differing = |(a, b)| self.columns.difference(a, b);
        match found.iter().zip(&self.sessions).find_map(differing) {
            Some(difference) => Err(A::Error::custom(format!("the session's {difference}"))),
            None => Ok(()),
        }
    }
}

/// The messages of one line, in order.
struct Messages<'a, 's> {
    columns: Columns,
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
                let wanted = cells(&message);
                let id = wanted.get("id").cloned().unwrap_or(Json::Null);
                let difference = match found.next_element::<Map<String, Json>>() {
                    Err(error) => Some(error.to_string()),
                    Ok(None) => Some("it is missing".to_owned()),
                    Ok(Some(found)) => self.columns.difference(&found, &wanted),
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
