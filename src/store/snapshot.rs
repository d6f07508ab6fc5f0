//! One consistent moment of the store, and what can be asked of it.
//!
//! Messages are found by an index first and read in the order of their ids then, one row at a time,
//! so that memory is bounded by the largest message: an ORDER BY over a session's whole rows would
//! keep them in SQLite's sorter.

use std::collections::HashSet;
use std::path::Path;

use formats::model::{Column, Header, Message, MessageColumn, Row, Session, SessionColumn, Value};
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::decode::{self, Fault, Kind};
use super::rows::{Decoder, Stored};
use super::search::Searched;
use super::{Error, query, text};
use crate::filter::{Exclude, Filter, Selection};
use crate::redact::Raw;

/// A session's row in one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey(pub(super) i64);

impl std::fmt::Display for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The sessions that a selection takes.
#[derive(Debug, Default)]
pub struct Matches {
    /// Oldest first.
    pub sessions: Vec<SessionKey>,
    /// Running sessions that all conditions but the state would have let in.
    pub running_left_out: u64,
    /// Sessions that `--exclude` took out.
    pub excluded: u64,
    /// Sessions whose row is damaged, so that nothing is known of them.
    pub unreadable: Vec<SessionKey>,
    /// How what was said was looked for.
    pub searched: Searched,
}

/// Which messages of a session are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shown {
    /// Those of the conversation as it is now.
    Active,
    /// Also those that an in-place compaction set aside.
    Compacted,
    /// Also those that the user took back.
    All,
}

impl Shown {
    /// All of them.
    pub const ALL: [Self; 3] = [Shown::Active, Shown::Compacted, Shown::All];

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shown| shown.name() == name)
    }

    /// The name that `--messages` takes.
    pub fn name(self) -> &'static str {
        match self {
            Shown::Active => "active",
            Shown::Compacted => "compacted",
            Shown::All => "all",
        }
    }
}

/// The messages of a session that are meant.
#[derive(Debug, Clone)]
pub struct Extent {
    /// Rows with nothing between them, first and last; a session that was alone in writing is one.
    pub(super) runs: Vec<(i64, i64)>,
    messages: u64,
    /// When the last of them was sent: seconds since the epoch.
    pub last_active: Option<f64>,
}

impl Extent {
    /// How many there are.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// The row id of the last of them.
    pub fn last_id(&self) -> Option<i64> {
        self.runs.last().map(|(_, last)| *last)
    }

    /// Whether the message in this row is one of them.
    pub fn holds(&self, row: i64) -> bool {
        self.runs.iter().any(|(first, last)| (*first..=*last).contains(&row))
    }

    fn hear(&mut self, time: Option<f64>) {
        self.last_active = match (self.last_active, time) {
            (Some(last), Some(time)) => Some(last.max(time)),
            (last, time) => last.or(time),
        };
    }

    fn push(&mut self, row: i64) {
        self.messages += 1;
        match self.runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(row) => *last = row,
            Some(_) | None => self.runs.push((row, row)),
        }
    }
}

/// One consistent moment of the store.
pub struct Snapshot<'c> {
    pub(super) connection: &'c Connection,
    sessions: Table<SessionColumn>,
    pub(super) messages: Table<MessageColumn>,
    brief: Table<SessionColumn>,
    concurrency: Concurrency,
}

/// Whether others may write while the snapshot is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Concurrency {
    /// They may; SQLite's locks keep the snapshot steady.
    Locked,
    /// They may not; what was read counts only if nobody did.
    Hoped,
}

/// A table's columns in this store, with what they hold.
pub(super) struct Table<C> {
    pub(super) header: Header<C>,
    pub(super) kinds: Vec<Kind>,
}

impl<C: Column> Table<C> {
    fn new(names: Vec<String>, kind: fn(&str) -> Kind) -> Self {
        let kinds = names.iter().map(|name| kind(name)).collect();
        Self { header: Header::new(names), kinds }
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = (&str, Kind)> {
        self.header.names().iter().map(String::as_str).zip(self.kinds.iter().copied())
    }
}

/// What lists show of a session.
const BRIEF: [SessionColumn; 19] = [
    SessionColumn::Id,
    SessionColumn::Source,
    SessionColumn::Title,
    SessionColumn::StartedAt,
    SessionColumn::EndedAt,
    SessionColumn::EndReason,
    SessionColumn::MessageCount,
    SessionColumn::ToolCallCount,
    SessionColumn::ApiCallCount,
    SessionColumn::InputTokens,
    SessionColumn::OutputTokens,
    SessionColumn::EstimatedCost,
    SessionColumn::ActualCost,
    SessionColumn::Model,
    SessionColumn::Parent,
    SessionColumn::Cwd,
    SessionColumn::RepoRoot,
    SessionColumn::Branch,
    SessionColumn::Archived,
];

impl<'c> Snapshot<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        path: &Path,
        concurrency: Concurrency,
    ) -> Result<Self, Error> {
        let names = |table: &'static str| {
            let lacking = || Error::NotAStore { path: path.to_owned(), table };
            let sql = format!("SELECT * FROM {table} LIMIT 0");
            let exists = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
            connection.query_row(exists, [table], |_| Ok(())).optional()?.ok_or_else(lacking)?;
            let statement = connection.prepare(&sql)?;
            Ok::<_, Error>(statement.column_names().map(str::to_owned).collect())
        };
        Ok(Self {
            connection,
            concurrency,
            sessions: Table::new(names("sessions")?, decode::session_kind),
            messages: Table::new(names("messages")?, decode::message_kind),
            brief: Table::new(BRIEF.map(|c| c.name().to_owned()).to_vec(), decode::session_kind),
        })
    }

    /// Whether what is read is certain at once, rather than when the reading has ended.
    pub(crate) fn is_live(&self) -> bool {
        self.concurrency == Concurrency::Locked
    }

    pub(super) fn has_session_column(&self, name: &str) -> bool {
        self.sessions.header.names().iter().any(|column| column == name)
    }

    pub(super) fn has_message_column(&self, name: &str) -> bool {
        self.messages.header.names().iter().any(|column| column == name)
    }

    pub(super) fn message_columns(&self) -> &[String] {
        self.messages.header.names()
    }

    pub(super) fn session_columns(&self) -> &[String] {
        self.sessions.header.names()
    }

    /// The sessions that a selection takes, oldest first.
    pub fn matching(&self, selection: &Selection) -> Result<Matches, Error> {
        match selection {
            Selection::All => self.filtered(&Filter::everything()),
            Selection::Sessions(ids) => {
                let wanted: HashSet<SessionKey> =
                    ids.iter().map(|id| self.resolve(id)).collect::<Result<_, _>>()?;
                let mut all = self.matching(&Selection::All)?;
                all.sessions.retain(|key| wanted.contains(key));
                all.unreadable.retain(|key| wanted.contains(key));
                Ok(all)
            }
            Selection::Filtered(filter) => self.filtered(filter),
            Selection::Latest => {
                let sessions = self.latest()?.into_iter().collect();
                Ok(Matches { sessions, ..Matches::default() })
            }
        }
    }

    /// The session with the latest message, of those that are neither archived nor delegates.
    fn latest(&self) -> Result<Option<SessionKey>, Error> {
        let archived = if self.has_session_column("archived") { "s.archived" } else { "0" };
        let sql = format!(
            "SELECT s.rowid FROM sessions s \
             JOIN (SELECT session_id, max(timestamp) AS last FROM messages GROUP BY session_id) m \
             ON m.session_id = s.id WHERE COALESCE({archived}, 0) = 0 ORDER BY m.last DESC, s.id DESC"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let key = SessionKey(row.get(0)?);
            if !self.is_delegate(key)? {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    fn filtered(&self, filter: &Filter) -> Result<Matches, Error> {
        let (said, searched) = self.said(filter)?;
        let matches = match self.matches(filter, said.as_ref(), "sessions", None) {
            Err(Error::Damaged(_)) => self.matches_one_by_one(filter, said.as_ref()),
            other => other,
        };
        Ok(Matches { searched, ..matches? })
    }

    /// The sessions in which everything was said that a filter asks for; `None` where it asks for
    /// nothing.
    fn said(&self, filter: &Filter) -> Result<(Option<HashSet<SessionKey>>, Searched), Error> {
        let (mut all, mut all_searched) = (None::<HashSet<SessionKey>>, Searched::default());
        for query in &filter.said {
            let (found, searched) = self.saying(query)?;
            all = Some(match all {
                Some(before) => before.intersection(&found).copied().collect(),
                None => found,
            });
            all_searched = all_searched.and(searched);
        }
        Ok((all, all_searched))
    }

    /// What passes the filter, among all rows or of one.
    fn matches(
        &self,
        filter: &Filter,
        said: Option<&HashSet<SessionKey>>,
        from: &str,
        only: Option<SessionKey>,
    ) -> Result<Matches, Error> {
        let has = |name: &str| self.has_session_column(name);
        let conditions = query::compile(filter, &has);
        let mut looked_at = String::new();
        for Exclude { column, .. } in &filter.excluded {
            looked_at.push_str(", ");
            looked_at.push_str(&query::expression(*column, &has));
        }
        let row = if only.is_some() { "rowid = ? AND " } else { "" };
        let sql = format!(
            "SELECT rowid, ended_at IS NULL{looked_at} FROM {from} WHERE {row}{} \
             ORDER BY started_at, id",
            conditions.sql
        );
        let values = only.map(|key| Sql::Integer(key.0)).into_iter().chain(conditions.values);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut matches = Matches::default();
        while let Some(row) = rows.next()? {
            if said.is_some_and(|said| row.get(0).is_ok_and(|key| !said.contains(&SessionKey(key))))
            {
                continue;
            }
            if is_excluded(filter, row)? {
                matches.excluded += 1;
            } else if query::passes(filter.state, row.get(1)?) {
                matches.sessions.push(SessionKey(row.get(0)?));
            } else {
                matches.running_left_out += 1;
            }
        }
        Ok(matches)
    }

    /// The same without indexes and a row at a time, so that a damaged page costs its own rows.
    fn matches_one_by_one(
        &self,
        filter: &Filter,
        said: Option<&HashSet<SessionKey>>,
    ) -> Result<Matches, Error> {
        let sql = "SELECT rowid FROM sessions NOT INDEXED";
        let mut statement = self.connection.prepare(sql)?;
        let keys = statement.query_map([], |row| row.get(0).map(SessionKey))?;
        let mut matches = Matches::default();
        for key in keys.collect::<Result<Vec<_>, _>>()? {
            match self.matches(filter, said, "sessions NOT INDEXED", Some(key)) {
                Ok(one) => {
                    matches.sessions.extend(one.sessions);
                    matches.running_left_out += one.running_left_out;
                    matches.excluded += one.excluded;
                }
                Err(Error::Damaged(_)) => matches.unreadable.push(key),
                Err(error) => return Err(error),
            }
        }
        Ok(matches)
    }

    /// The session with exactly this id.
    pub fn find(&self, id: &str) -> Result<Option<SessionKey>, Error> {
        let sql = "SELECT rowid FROM sessions WHERE id = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([id], |row| row.get(0).map(SessionKey)).optional()?)
    }

    /// How many messages the session with exactly this id has, of whatever standing.
    pub fn held(&self, id: &str) -> Result<Option<u64>, Error> {
        if self.find(id)?.is_none() {
            return Ok(None);
        }
        let sql = "SELECT count(*) FROM messages WHERE session_id = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(Some(statement.query_row([id], |row| row.get::<_, i64>(0))?.unsigned_abs()))
    }

    /// A session's id.
    pub fn id(&self, key: SessionKey) -> Result<String, Error> {
        let sql = "SELECT id FROM sessions WHERE rowid = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([key.0], |row| row.get_ref(0).map(lossy))?)
    }

    /// The session with this id, or with the only id that begins so.
    pub fn resolve(&self, given: &str) -> Result<SessionKey, Error> {
        let exact = "SELECT rowid FROM sessions WHERE id = ?";
        let exact = self.connection.query_row(exact, [given], |row| row.get(0)).optional()?;
        if let Some(key) = exact {
            return Ok(SessionKey(key));
        }
        if given.chars().count() < MIN_PREFIX {
            return Err(Error::NoSuchSession(given.to_owned()));
        }
        let mut statement = self.connection.prepare(
            "SELECT rowid, id FROM sessions WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 11",
        )?;
        let found = statement
            .query_map([given], |row| Ok((SessionKey(row.get(0)?), lossy(row.get_ref(1)?))))?;
        let found: Vec<(SessionKey, String)> = found.collect::<Result<_, _>>()?;
        match found.as_slice() {
            [] => Err(Error::NoSuchSession(given.to_owned())),
            [(key, _)] => Ok(*key),
            several => Err(Error::Ambiguous {
                given: given.to_owned(),
                candidates: several.iter().map(|(_, id)| id.clone()).collect(),
            }),
        }
    }

    /// A session's row.
    pub fn session(&self, key: SessionKey) -> Result<(Raw<Session<'_>>, Vec<Fault>), Error> {
        let sql = "SELECT * FROM sessions WHERE rowid = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([key.0])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let (cells, faults) = decoded(&self.sessions, row)?;
        Ok((Raw::new(Row::new(&self.sessions.header, owned(cells))), faults))
    }

    /// What lists show of a session, without its long texts.
    pub fn brief(&self, key: SessionKey) -> Result<Raw<Session<'_>>, Error> {
        Ok(self.brief_with_faults(key)?.0)
    }

    /// The same, with what its cells lost.
    pub fn brief_with_faults(
        &self,
        key: SessionKey,
    ) -> Result<(Raw<Session<'_>>, Vec<Fault>), Error> {
        let name = |c: SessionColumn| self.has_session_column(c.name()).then_some(c.name());
        let columns = BRIEF.map(|c| name(c).unwrap_or("NULL")).join(", ");
        let sql = format!("SELECT {columns} FROM sessions WHERE rowid = ?");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([key.0])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let (cells, faults) = decoded(&self.brief, row)?;
        Ok((Raw::new(Row::new(&self.brief.header, owned(cells))), faults))
    }

    /// Rows of other tables that SQLite deletes with a session, as JSON arrays by table.
    pub fn related(&self, key: SessionKey) -> Result<Vec<(String, Raw<String>)>, Error> {
        let mut found = Vec::new();
        for (table, column) in self.dependents()? {
            let sql = format!(
                "SELECT * FROM {0} WHERE {1} = (SELECT id FROM sessions WHERE rowid = ?) ORDER BY 1, 2",
                quoted(&table),
                quoted(&column)
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let mut rows = statement.query([key.0])?;
            let mut array = Vec::new();
            while let Some(row) = rows.next()? {
                array.push(decode::object(&names, row)?);
            }
            if !array.is_empty() {
                found.push((table, Raw::new(serde_json::Value::Array(array).to_string())));
            }
        }
        Ok(found)
    }

    /// Tables whose rows go with the session that they refer to, with the column that does.
    pub(super) fn dependents(&self) -> Result<Vec<(String, String)>, Error> {
        let mut statement = self.connection.prepare_cached(
            "SELECT t.name, f.\"from\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f \
             WHERE t.type = 'table' AND lower(f.\"table\") = 'sessions' AND f.on_delete = 'CASCADE' \
             AND t.name != 'messages' ORDER BY 1",
        )?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Which messages of a session are meant, without reading them.
    pub fn extent(&self, key: SessionKey, shown: Shown) -> Result<Extent, Error> {
        match self.extent_in("messages", key, shown) {
            // A damaged index hides rows that can be read.
            Err(Error::Damaged(_)) => match self.extent_in("messages NOT INDEXED", key, shown) {
                Err(Error::Damaged(_)) => self.extent_one_by_one(key, shown),
                other => other,
            },
            other => other,
        }
    }

    /// The same a row at a time, for a damaged table of which an index knows the rows. A row that
    /// cannot be read is one of them, so that whoever reads it is told.
    fn extent_one_by_one(&self, key: SessionKey, shown: Shown) -> Result<Extent, Error> {
        let rows = "SELECT rowid FROM messages \
                    WHERE session_id = (SELECT id FROM sessions WHERE rowid = ?) ORDER BY rowid";
        let condition = self.shown_condition(shown);
        let one = format!("SELECT timestamp FROM messages WHERE rowid = ? AND {condition}");
        let mut one = self.connection.prepare_cached(&one)?;
        let mut statement = self.connection.prepare_cached(rows)?;
        let mut rows = statement.query([key.0])?;
        let mut extent = Extent { runs: Vec::new(), messages: 0, last_active: None };
        while let Some(row) = rows.next()? {
            let row: i64 = row.get(0)?;
            let time = one.query_row([row], |row| Ok(row.get(0).ok())).optional();
            match time.map_err(Error::from) {
                Ok(None) => {}
                Ok(Some(time)) => {
                    extent.push(row);
                    extent.hear(time);
                }
                Err(Error::Damaged(_)) => extent.push(row),
                Err(error) => return Err(error),
            }
        }
        Ok(extent)
    }

    fn extent_in(&self, from: &str, key: SessionKey, shown: Shown) -> Result<Extent, Error> {
        let sql = format!(
            "SELECT rowid, timestamp FROM {from} \
             WHERE session_id = (SELECT id FROM sessions WHERE rowid = ?) AND {} ORDER BY rowid",
            self.shown_condition(shown)
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([key.0])?;
        let mut extent = Extent { runs: Vec::new(), messages: 0, last_active: None };
        while let Some(row) = rows.next()? {
            extent.push(row.get(0)?);
            if let ValueRef::Real(time) = row.get_ref(1)? {
                extent.hear(Some(time));
            }
        }
        Ok(extent)
    }

    pub(super) fn shown_condition(&self, shown: Shown) -> &'static str {
        let has = |column| self.messages.header.position(column).is_some();
        match shown {
            _ if !has(MessageColumn::Active) => "1",
            Shown::All => "1",
            Shown::Compacted if has(MessageColumn::Compacted) => {
                "(COALESCE(active, 1) != 0 OR COALESCE(compacted, 0) != 0)"
            }
            Shown::Active | Shown::Compacted => "COALESCE(active, 1) != 0",
        }
    }

    /// Hands each message of an extent to `each`, in the order in which they were inserted.
    pub fn messages<E: From<Error>>(
        &self,
        extent: &Extent,
        mut each: impl FnMut(Raw<Message<'_>>, Vec<Fault>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.rows(extent, |stored| {
            let (message, faults) = stored.decoded()?;
            each(message, faults)
        })
    }

    /// Hands each message to `each` as it is stored, in the same order.
    pub fn rows<E: From<Error>>(
        &self,
        extent: &Extent,
        mut each: impl FnMut(&Stored<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = "SELECT * FROM messages WHERE rowid BETWEEN ? AND ? ORDER BY rowid";
        let mut statement = self.connection.prepare_cached(sql).map_err(Error::from)?;
        for run in &extent.runs {
            let mut rows = statement.query(*run).map_err(Error::from)?;
            while let Some(row) = rows.next().map_err(Error::from)? {
                each(&Stored { row, table: &self.messages })?;
            }
        }
        Ok(())
    }

    /// What decodes copies of messages on another thread.
    pub fn decoder(&self) -> Decoder<'_> {
        Decoder(&self.messages)
    }
}

/// Shorter beginnings of an id are taken for typing errors.
const MIN_PREFIX: usize = 4;

fn is_excluded(filter: &Filter, row: &rusqlite::Row<'_>) -> rusqlite::Result<bool> {
    for (n, exclude) in filter.excluded.iter().enumerate() {
        if exclude.glob.is_match(lossy(row.get_ref(2 + n)?)) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(super) fn lossy(value: ValueRef<'_>) -> String {
    text::as_text(value).unwrap_or_default()
}

pub(super) fn decoded<'r, C: Column>(
    table: &Table<C>,
    row: &'r rusqlite::Row<'_>,
) -> rusqlite::Result<(Vec<Value<'r>>, Vec<Fault>)> {
    let mut faults = Vec::new();
    let mut cells = Vec::with_capacity(table.kinds.len());
    for (n, (name, kind)) in table.columns().enumerate() {
        cells.push(decode::cell(name, kind, row.get_ref(n)?, &mut faults));
    }
    Ok((cells, faults))
}

fn owned(cells: Vec<Value<'_>>) -> Vec<Value<'static>> {
    cells.into_iter().map(Value::into_owned).collect()
}
