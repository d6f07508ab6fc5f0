//! What a store lacks: Hermes' tables, and the parts of its full-text indexes.

use rusqlite::Connection;

use super::super::{Error, optimize};
use super::check::Damage;

/// The full-text indexes that Hermes keeps over messages.
const INDEXES: [&str; 2] = ["messages_fts", "messages_fts_trigram"];
/// The tables without which nothing is a store.
pub(super) const TABLES: [&str; 2] = ["sessions", "messages"];
/// The changes to messages that an index must follow.
const EVENTS: [&str; 3] = ["insert", "delete", "update"];

/// What is not there and should be. An index of which there is nothing at all is none: Hermes does
/// without where SQLite lacks its module.
pub(super) fn missing(connection: &Connection) -> Result<Vec<Damage>, Error> {
    let tables = tables(connection)?;
    let has = |name: &str| tables.iter().any(|table| table == name);
    let lost = TABLES.into_iter().filter(|table| !has(table));
    let mut found: Vec<Damage> = lost.map(|table| Damage::Missing(table.to_owned())).collect();
    if !has("messages") {
        return Ok(found);
    }
    let triggers = triggers(connection)?;
    let indexes = optimize::full_text_indexes(connection)?;
    for index in INDEXES {
        let defined = indexes.iter().any(|name| name == index);
        let followed: Vec<&str> = EVENTS
            .into_iter()
            .filter(|event| triggers.iter().any(|t| t.follows(event, index)))
            .collect();
        let lacks = if !defined && followed.is_empty() {
            continue;
        } else if !defined {
            Some("its table".to_owned())
        } else if !["_data", "_idx"].iter().all(|part| has(&format!("{index}{part}"))) {
            Some("tables that it is kept in".to_owned())
        } else {
            let event = EVENTS.into_iter().find(|event| !followed.contains(event));
            event.map(|event| format!("the trigger {index}_{event}"))
        };
        found.extend(lacks.map(|lacks| Damage::Incomplete { index: index.to_owned(), lacks }));
    }
    Ok(found)
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}

/// A trigger on messages.
struct Trigger {
    /// Its definition in words, in lower case.
    words: Vec<String>,
}

fn triggers(connection: &Connection) -> rusqlite::Result<Vec<Trigger>> {
    let mut statement = connection.prepare(
        "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND lower(tbl_name) = 'messages'",
    )?;
    let triggers = statement.query_map([], |row| {
        let sql = row.get::<_, Option<String>>(0)?.unwrap_or_default().to_lowercase();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words = sql.split(|c| !is_part(c)).filter(|word| !word.is_empty());
        Ok(Trigger { words: words.map(str::to_owned).collect() })
    })?;
    triggers.collect()
}

impl Trigger {
    /// Whether it changes an index when messages are changed in this way.
    fn follows(&self, event: &str, index: &str) -> bool {
        // `CREATE TRIGGER name AFTER INSERT ON messages`, also with `UPDATE OF column, …`.
        let head = self.words.iter().take_while(|word| *word != "on");
        head.skip_while(|word| *word != "trigger").any(|word| word == event)
            && self.words.iter().any(|word| word == index)
    }
}
