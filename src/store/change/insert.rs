//! Sessions as new rows: each with its messages whole, or not at all.
//!
//! Rows come from files, so nothing in them is trusted: a message belongs to the session that it
//! stands in, whatever it says itself, and a row that the store's constraints refuse costs its own
//! session alone. Foreign keys are not enforced, because a parent may come after its child.

use std::borrow::Cow;
use std::path::Path;

use formats::model::Value;
use rusqlite::{OptionalExtension as _, Transaction, TransactionBehavior, params_from_iter};

use super::super::decode::{self, Kind};
use super::super::open::existing;
use super::super::snapshot::{Concurrency, lossy, quoted};
use super::super::{Error, Snapshot, encode, terms, text};
use super::{open, refused};

/// The messages of one session.
const OF_SESSION: &str = "SELECT rowid FROM messages WHERE session_id = ?";

/// Columns with their values, in no particular order.
pub type Columns<'l> = Vec<(Cow<'l, str>, Value<'l>)>;

/// A session that may become rows of the store.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Record<'l> {
    /// Columns of `sessions`.
    pub session: Columns<'l>,
    /// Columns of `messages`, in the order of the conversation.
    pub messages: Vec<Columns<'l>>,
    /// Rows of other tables that go with the session, by table.
    pub related: Vec<(Cow<'l, str>, Vec<Columns<'l>>)>,
}

impl<'l> Record<'l> {
    /// The session's id; empty where it has none.
    pub fn id(&self) -> &str {
        self.text("id").unwrap_or_default()
    }

    /// A column of the session that holds text.
    pub fn text(&self, column: &str) -> Option<&str> {
        match value(&self.session, column) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Gives a column of the session a value.
    pub fn set(&mut self, column: &'static str, value: Value<'l>) {
        set(&mut self.session, column, value);
    }
}

/// A column's value.
pub fn value<'c, 'l>(columns: &'c Columns<'l>, name: &str) -> Option<&'c Value<'l>> {
    columns.iter().find(|(column, _)| column == name).map(|(_, value)| value)
}

/// Gives a column a value.
pub fn set<'l>(columns: &mut Columns<'l>, name: &'static str, value: Value<'l>) {
    match columns.iter_mut().find(|(column, _)| column == name) {
        Some((_, old)) => *old = value,
        None => columns.push((Cow::Borrowed(name), value)),
    }
}

/// What became of a record.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Added {
    /// Another session has the title, so this one got another.
    pub retitled: bool,
    /// Other messages have the ids, so these got new ones.
    pub renumbered: bool,
    /// Columns and tables that the store lacks, although the record has something in them.
    pub homeless: Vec<String>,
}

/// A transaction that holds the write lock, and takes sessions in.
pub struct Insertion<'c> {
    transaction: &'c Transaction<'c>,
    path: &'c Path,
    sessions: Table,
    messages: Table,
    /// Tables whose rows go with a session, with the column that refers to it.
    related: Vec<(Table, String)>,
}

/// Runs `work` in one transaction. If it fails, or the process dies, nothing of it has happened.
pub fn insert<T, E: From<Error>>(
    path: &Path,
    work: impl FnOnce(&mut Insertion<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let path = existing(path)?;
    let mut connection = open(&path)?;
    connection.pragma_update(None, "foreign_keys", false).map_err(Error::from)?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(refused)?;
    let done = work(&mut Insertion::new(&transaction, &path)?)?;
    transaction.commit().map_err(refused)?;
    Ok(done)
}

impl<'c> Insertion<'c> {
    fn new(transaction: &'c Transaction<'c>, path: &'c Path) -> Result<Self, Error> {
        let dependents = Snapshot::new(transaction, path, Concurrency::Locked)?.dependents()?;
        let related = dependents.into_iter().map(|(table, column)| {
            Ok::<_, Error>((Table::read(transaction, &table, |_| Kind::Plain)?, column))
        });
        Ok(Self {
            transaction,
            path,
            sessions: Table::read(transaction, "sessions", decode::session_kind)?,
            messages: Table::read(transaction, "messages", decode::message_kind)?,
            related: related.collect::<Result<_, _>>()?,
        })
    }

    /// The store as this transaction sees it.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, Error> {
        Snapshot::new(self.transaction, self.path, Concurrency::Locked)
    }

    /// Takes a session in. Where the store refuses it, nothing of it is taken.
    pub fn add(&self, record: &Record<'_>) -> Result<Added, Error> {
        self.whole(|| self.try_add(record))
    }

    /// Takes a session in, in the place of the one with its id. Its children stay.
    pub fn replace(&self, record: &Record<'_>) -> Result<Added, Error> {
        self.whole(|| {
            self.remove(record.id())?;
            self.try_add(record)
        })
    }

    fn whole(&self, work: impl FnOnce() -> Result<Added, Error>) -> Result<Added, Error> {
        self.run("SAVEPOINT record")?;
        match work() {
            Ok(added) => self.run("RELEASE record").map(|()| added),
            Err(error) => {
                // After a full disk SQLite has rolled back everything, this savepoint included.
                let _ = self.run("ROLLBACK TO record; RELEASE record");
                Err(error)
            }
        }
    }

    fn try_add(&self, record: &Record<'_>) -> Result<Added, Error> {
        let mut added = Added::default();
        let id = record.id();
        let title = record.text("title").map(|title| self.free_title(id, title)).transpose()?;
        added.retitled = title.as_deref() != record.text("title");
        let title = title.map(|title| Value::Text(title.into()));
        let fixed = title.iter().map(|title| ("title", title)).collect::<Vec<_>>();
        self.row(&self.sessions, &record.session, &fixed, &[], &mut added)?;
        let keeps_ids = self.keeps_ids(&record.messages)?;
        added.renumbered =
            !keeps_ids && record.messages.iter().any(|row| value(row, "id").is_some());
        let left_out: &[&str] = if keeps_ids { &[] } else { &["id"] };
        let owner = Value::Text(id.into());
        for message in &record.messages {
            let fixed = [("session_id", &owner)];
            self.row(&self.messages, message, &fixed, left_out, &mut added)?;
        }
        terms::replace_nuls(self.transaction, OF_SESSION, [id]).map_err(refused)?;
        for (name, rows) in &record.related {
            let Some((table, column)) = self.related.iter().find(|(t, _)| t.name == *name) else {
                added.homeless.push(name.to_string());
                continue;
            };
            for row in rows {
                self.row(table, row, &[(column.as_str(), &owner)], &[], &mut added)?;
            }
        }
        added.homeless.sort();
        added.homeless.dedup();
        Ok(added)
    }

    /// Inserts one row: `fixed` stands above what the row itself says, `left_out` is left to the
    /// store.
    fn row(
        &self,
        table: &Table,
        row: &Columns<'_>,
        fixed: &[(&str, &Value<'_>)],
        left_out: &[&str],
        added: &mut Added,
    ) -> Result<(), Error> {
        let own = row.iter().map(|(name, value)| (name.as_ref(), value));
        let own = own.filter(|(name, _)| !left_out.contains(name));
        let own = own.filter(|(name, _)| fixed.iter().all(|(other, _)| other != name));
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (name, value) in fixed.iter().copied().chain(own) {
            let Some(place) = table.places.iter().find(|place| place.name == name) else {
                if *value != Value::Null {
                    added.homeless.push(format!("{}.{name}", table.name));
                }
                continue;
            };
            if place.is_required && *value == Value::Null {
                continue; // the column's default is what a store has in its place
            }
            names.push(quoted(name));
            values.push(encode::cell(place.kind, value));
        }
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({})",
            quoted(&table.name),
            names.join(", "),
            vec!["?"; names.len()].join(", ")
        );
        let mut statement = self.transaction.prepare_cached(&sql).map_err(refused)?;
        statement.execute(params_from_iter(values)).map_err(refused)?;
        Ok(())
    }

    /// Whether the messages can have the ids that they come with: rising, and nobody else's. An id
    /// near the largest would leave none for the messages that Hermes adds.
    fn keeps_ids(&self, messages: &[Columns<'_>]) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM messages WHERE id = ?";
        let mut taken = self.transaction.prepare_cached(sql).map_err(refused)?;
        let mut last = 0;
        for message in messages {
            match value(message, "id") {
                Some(Value::Integer(id)) if *id > last && *id <= LARGEST_KEPT_ID => last = *id,
                _ => return Ok(false),
            }
            if taken.exists([last]).map_err(refused)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The title, or with a number behind it where another session has it.
    fn free_title(&self, id: &str, title: &str) -> Result<String, Error> {
        if !self.titles_are_distinct()? {
            return Ok(title.to_owned());
        }
        let sql = "SELECT 1 FROM sessions WHERE title = ? AND id != ?";
        let mut taken = self.transaction.prepare_cached(sql).map_err(refused)?;
        let mut free = title.to_owned();
        let mut number = 1;
        while taken.exists([&free, id]).map_err(refused)? {
            number += 1;
            free = numbered(title, number);
        }
        Ok(free)
    }

    fn titles_are_distinct(&self) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM pragma_index_list('sessions') i, pragma_index_info(i.name) c \
                   WHERE i.\"unique\" AND c.name = 'title'";
        Ok(self.transaction.prepare_cached(sql)?.exists([])?)
    }

    /// How many messages the session with this id has; `None` where there is no such session.
    pub fn held(&self, id: &str) -> Result<Option<u64>, Error> {
        self.snapshot()?.held(id)
    }

    fn remove(&self, id: &str) -> Result<(), Error> {
        terms::settle(self.transaction, OF_SESSION, [id]).map_err(refused)?;
        let dependents = self.related.iter().map(|(table, column)| (table.name.as_str(), column));
        let session_id = "session_id".to_owned();
        for (table, column) in dependents.chain([("messages", &session_id)]) {
            let sql = format!("DELETE FROM {} WHERE {} = ?", quoted(table), quoted(column));
            self.transaction.execute(&sql, [id]).map_err(refused)?;
        }
        self.transaction.execute("DELETE FROM sessions WHERE id = ?", [id]).map_err(refused)?;
        Ok(())
    }

    /// The parent that a session names.
    pub fn parent(&self, id: &str) -> Result<Option<String>, Error> {
        let sql = "SELECT parent_session_id FROM sessions WHERE id = ?";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let parent =
            statement.query_row([id], |row| Ok(text::as_text(row.get_ref(0)?))).optional()?;
        Ok(parent.flatten())
    }

    /// Takes a session's parent from it.
    pub fn detach(&self, id: &str) -> Result<(), Error> {
        let sql = "UPDATE sessions SET parent_session_id = NULL WHERE id = ?";
        self.transaction.execute(sql, [id]).map_err(refused)?;
        Ok(())
    }

    /// The sessions that a live channel with this key may go on with, and when they started.
    pub fn in_channel(&self, key: &str) -> Result<Vec<(String, f64)>, Error> {
        if !self.sessions.has("session_key") {
            return Ok(Vec::new());
        }
        let sql = "SELECT id, CAST(started_at AS REAL) FROM sessions WHERE session_key = ? \
                   AND (ended_at IS NULL OR end_reason IN ('agent_close', 'ws_orphan_reap'))";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let rows = statement.query_map([key], |row| Ok((lossy(row.get_ref(0)?), row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Gives the store the columns of this record that it lacks.
    pub fn widen(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let transaction = self.transaction;
        let alter = |table: &mut Table, row: &Columns<'_>| {
            if row.iter().all(|(name, _)| table.has(name)) {
                return Ok(());
            }
            for (name, _) in row {
                if !table.has(name) && is_plain_name(name) && table.places.len() < MOST_COLUMNS {
                    let (table, column) = (quoted(&table.name), quoted(name));
                    let sql = format!("ALTER TABLE {table} ADD COLUMN {column}");
                    transaction.execute(&sql, []).map_err(refused)?;
                }
            }
            *table = Table::read(transaction, &table.name, table.kind)?;
            Ok::<_, Error>(())
        };
        alter(&mut self.sessions, &record.session)?;
        record.messages.iter().try_for_each(|row| alter(&mut self.messages, row))
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        self.transaction.execute_batch(sql).map_err(refused)
    }
}

/// 2^53: what every reader of JSON counts up to.
const LARGEST_KEPT_ID: i64 = 1 << 53;
/// Characters of a title (`hermes_state.py`, 0.19.0).
const LONGEST_TITLE: usize = 100;

/// Columns of a table; a file with more keys than that is not Hermes'.
const MOST_COLUMNS: usize = 200;

fn is_plain_name(name: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    name.len() <= 64
        && name.bytes().all(is_letter)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// `title #2`, as Hermes numbers titles.
fn numbered(title: &str, number: u64) -> String {
    let suffix = format!(" #{number}");
    let base = match title.rsplit_once(" #") {
        Some((base, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => title,
    };
    let room = LONGEST_TITLE.saturating_sub(suffix.len());
    let base: String = base.chars().take(room).collect();
    format!("{}{suffix}", base.trim_end())
}

/// A table's columns.
struct Table {
    name: String,
    kind: fn(&str) -> Kind,
    places: Vec<Place>,
}

struct Place {
    name: String,
    kind: Kind,
    is_required: bool,
}

impl Table {
    fn read(
        transaction: &Transaction<'_>,
        name: &str,
        kind: fn(&str) -> Kind,
    ) -> Result<Self, Error> {
        let sql = "SELECT name, \"notnull\" FROM pragma_table_info(?)";
        let mut statement = transaction.prepare_cached(sql)?;
        let places = statement.query_map([name], |row| {
            let name: String = row.get(0)?;
            Ok(Place { kind: kind(&name), name, is_required: row.get(1)? })
        })?;
        Ok(Self { name: name.to_owned(), kind, places: places.collect::<Result<_, _>>()? })
    }

    fn has(&self, column: &str) -> bool {
        self.places.iter().any(|place| place.name == column)
    }
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn a_number_behind_a_title_takes_the_place_of_another() {
        assert_eq!(numbered("daily report", 2), "daily report #2");
        assert_eq!(numbered("daily report #2", 3), "daily report #3");
        assert_eq!(numbered("issue #a", 2), "issue #a #2");
        assert_eq!(numbered(&"x".repeat(100), 12).chars().count(), 100);
    }
}
