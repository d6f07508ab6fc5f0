//! Search over what was said: Hermes' FTS5 indexes where they are whole, else every message in turn.
//!
//! Words are looked up in `messages_fts`; queries in scripts without blanks between words in
//! `messages_fts_trigram`, or, where a term is too short for it, in the messages. An index that is
//! missing, damaged, or behind its table costs time, not finds, and is told.

mod words;

use std::collections::HashSet;
use std::ops::ControlFlow;

use rusqlite::OptionalExtension as _;
use rusqlite::types::ValueRef;

pub use words::Piece;
use words::Reading;

use super::text::as_text;
use super::{Error, SessionKey, Shown, Snapshot};
use crate::filter::query::Query;

/// What is searched for.
#[derive(Debug, Clone)]
pub struct Search {
    /// The words.
    pub query: Query,
    /// Who said them: user, assistant, tool, …
    pub roles: Vec<String>,
    /// In which order.
    pub sort: Sort,
}

impl Search {
    /// By relevance, in what the user and the model said.
    pub fn new(query: Query) -> Self {
        let roles = ["user", "assistant"].map(str::to_owned).to_vec();
        Self { query, roles, sort: Sort::Relevance }
    }
}

/// In which order messages are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// The most relevant first; the newest, where no index says what is relevant.
    Relevance,
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
}

/// A message that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Its row.
    pub message: i64,
    /// Its session.
    pub session: SessionKey,
}

/// Why every message was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unindexed {
    /// There is no index.
    Missing,
    /// It cannot be read.
    Damaged,
    /// It lacks the newest messages.
    Behind,
    /// No index has terms as short as these.
    TooShort,
    /// No index takes a query of so many parts.
    TooLong,
}

/// How a search went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Searched {
    /// Why every message was looked at.
    pub unindexed: Option<Unindexed>,
    /// Messages on damaged pages, which nobody knows the words of.
    pub unreadable: u64,
}

impl Searched {
    /// Two searches told as one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            unindexed: self.unindexed.or(other.unindexed),
            unreadable: self.unreadable.max(other.unreadable),
        }
    }
}

impl Unindexed {
    /// What people are told; `None` where it is in the nature of the query.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Unindexed::Missing => {
                Some("the store has no full-text index; every message was searched")
            }
            Unindexed::Damaged => {
                Some("the full-text index is damaged; every message was searched")
            }
            Unindexed::Behind => {
                Some("the full-text index lacks the newest messages; every message was searched")
            }
            Unindexed::TooLong => {
                Some("the query is too long for the full-text index; every message was searched")
            }
            Unindexed::TooShort => None,
        }
    }
}

impl Snapshot<'_> {
    /// Hands each message that a search finds to `each`, in order, until that has enough. Messages
    /// that were taken back are not found.
    pub fn search<E: From<Error>>(
        &self,
        search: &Search,
        mut each: impl FnMut(Hit) -> Result<ControlFlow<()>, E>,
    ) -> Result<Searched, E> {
        let roles = format!(",{},", search.roles.join(","));
        let (rows, unindexed) = match self.indexed(search) {
            Ok(rows) => (rows, None),
            Err(Failed::Index(why)) => (self.all_rows(search.sort)?, Some(why)),
            Err(Failed::Store(error)) => return Err(error.into()),
        };
        let mut searched = Searched { unindexed, unreadable: 0 };
        let mut candidates = self.candidates(unindexed.is_some())?;
        let reading = search.query.reading();
        let passes = |text: &str| search.query.passes(text, reading);
        for row in rows {
            let session = match candidates.session_of(row, &roles, passes) {
                // Where a row is damaged others can still be found.
                Err(Error::Damaged(_)) => {
                    searched.unreadable += 1;
                    continue;
                }
                other => other?,
            };
            let Some(session) = session else { continue };
            if each(Hit { message: row, session })?.is_break() {
                break;
            }
        }
        Ok(searched)
    }

    /// The sessions in which the user or the model said this.
    pub(super) fn saying(&self, query: &Query) -> Result<(HashSet<SessionKey>, Searched), Error> {
        let mut found = HashSet::new();
        let searched = self.search(&Search::new(query.clone()), |hit| {
            found.insert(hit.session);
            Ok::<_, Error>(ControlFlow::Continue(()))
        })?;
        Ok((found, searched))
    }

    /// The rows that an index finds, in order.
    fn indexed(&self, search: &Search) -> Result<Vec<i64>, Failed> {
        let index = match search.query.reading() {
            Reading::Words => "messages_fts",
            Reading::Trigrams => "messages_fts_trigram",
            Reading::Parts => return Err(Failed::Index(Unindexed::TooShort)),
        };
        self.check(index)?;
        let (from, order) = match search.sort {
            Sort::Relevance => ("", "rank"),
            Sort::Newest => ("JOIN messages m ON m.rowid = f.rowid", "m.timestamp DESC, rank"),
            Sort::Oldest => ("JOIN messages m ON m.rowid = f.rowid", "m.timestamp, rank"),
        };
        let sql =
            format!("SELECT f.rowid FROM {index} f {from} WHERE {index} MATCH ? ORDER BY {order}");
        let broken = |error: rusqlite::Error| match Error::from(error) {
            busy @ Error::InUse(_) => Failed::Store(busy),
            Error::Sql(error) if is_of_query(&error) => Failed::Index(Unindexed::TooLong),
            _ => Failed::Index(Unindexed::Damaged),
        };
        let mut statement = self.connection.prepare(&sql).map_err(broken)?;
        let rows =
            statement.query_map([search.query.to_fts5()], |row| row.get(0)).map_err(broken)?;
        let rows: Vec<i64> = rows.collect::<Result<_, _>>().map_err(broken)?;
        if rows.is_empty() && !self.is_sound(index).map_err(broken)? {
            return Err(Failed::Index(Unindexed::Damaged));
        }
        Ok(rows)
    }

    /// Whether an index that finds nothing finds a word of the first message and of the last.
    fn is_sound(&self, index: &str) -> rusqlite::Result<bool> {
        for end in ["", "DESC"] {
            let sql = format!(
                "SELECT rowid, substr(content, 1, 400) FROM messages \
                 WHERE content GLOB '[a-zA-Z][a-zA-Z][a-zA-Z]*' ORDER BY rowid {end} LIMIT 1"
            );
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, as_text(row.get_ref(1)?)));
            let found: Option<(i64, Option<String>)> =
                self.connection.query_row(&sql, [], row).optional()?;
            let Some((row, Some(text))) = found else { continue };
            let word = text.split(|c: char| !c.is_alphanumeric()).next();
            let Some(query) = word.and_then(Query::parse) else { continue };
            let sql = format!("SELECT 1 FROM {index} WHERE {index} MATCH ? AND rowid = ?");
            let hit = self.connection.query_row(&sql, (query.to_fts5(), row), |_| Ok(()));
            if hit.optional()?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an index is there and has the newest message.
    fn check(&self, index: &str) -> Result<(), Failed> {
        let exists = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
        let exists = |name: &str| {
            let found = self.connection.query_row(exists, [name], |_| Ok(())).optional();
            found.map_err(|error| Failed::Store(error.into()))
        };
        if exists(index)?.is_none() {
            return Err(Failed::Index(Unindexed::Missing));
        }
        let sizes = format!("{index}_docsize");
        if exists(&sizes)?.is_none() {
            return Ok(()); // an index without sizes cannot be asked
        }
        let last =
            |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        let indexed = last(&format!("SELECT max(id) FROM {sizes}"));
        let indexed = indexed.map_err(|_| Failed::Index(Unindexed::Damaged))?;
        // A damaged table of messages is told where its rows are read.
        let newest = last("SELECT max(rowid) FROM messages").unwrap_or(indexed);
        if indexed < newest { Err(Failed::Index(Unindexed::Behind)) } else { Ok(()) }
    }

    /// All messages, in order; as they lie where that cannot be told.
    fn all_rows(&self, sort: Sort) -> Result<Vec<i64>, Error> {
        let order = match sort {
            Sort::Relevance | Sort::Newest => "ORDER BY timestamp DESC, rowid DESC",
            Sort::Oldest => "ORDER BY timestamp, rowid",
        };
        let rows = |rest: &str| {
            let sql = format!("SELECT rowid FROM messages {rest}");
            let mut statement = self.connection.prepare(&sql)?;
            let rows = statement.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, rusqlite::Error>>()?)
        };
        match rows(order) {
            Err(Error::Damaged(_)) => rows("NOT INDEXED"),
            other => other,
        }
    }

    fn candidates(&self, read: bool) -> Result<Candidates<'_>, Error> {
        let texts = if read { ", content, tool_name, tool_calls" } else { "" };
        let sql = format!(
            "SELECT (SELECT rowid FROM sessions WHERE id = session_id){texts} FROM messages WHERE rowid = ?1 \
             AND instr(?2, ',' || role || ',') > 0 AND {}",
            self.shown_condition(Shown::Compacted)
        );
        Ok(Candidates { statement: self.connection.prepare(&sql)?, read })
    }

    /// The first session above one: what it was compressed, branched off or
    /// sent out from, all the way up.
    pub fn ancestor(&self, key: SessionKey) -> Result<SessionKey, Error> {
        if !self.has_session_column("parent_session_id") {
            return Ok(key);
        }
        let sql = "SELECT p.rowid FROM sessions s JOIN sessions p ON p.id = s.parent_session_id \
                   WHERE s.rowid = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let (mut path, mut passed) = (vec![key], HashSet::from([key]));
        loop {
            let here = path[path.len() - 1];
            let parent =
                statement.query_row([here.0], |row| row.get(0).map(SessionKey)).optional()?;
            let Some(parent) = parent else { return Ok(here) };
            if !passed.insert(parent) {
                let circle = path.iter().skip_while(|key| **key != parent);
                return Ok(circle.copied().min().unwrap_or(here));
            }
            path.push(parent);
        }
    }

    /// The platform of a session.
    pub fn source(&self, key: SessionKey) -> Result<String, Error> {
        let sql = "SELECT source FROM sessions WHERE rowid = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([key.0], |row| Ok(as_text(row.get_ref(0)?).unwrap_or_default()))?)
    }

    /// The session with this title, or the newest of those that Hermes numbered after it (`title #2`).
    pub fn titled(&self, title: &str) -> Result<Option<SessionKey>, Error> {
        if !self.has_session_column("title") {
            return Ok(None);
        }
        let numbered = "SELECT rowid FROM sessions WHERE substr(title, 1, length(?1) + 2) = ?1 || ' #' \
                        AND substr(title, length(?1) + 3) GLOB '[0-9]*' \
                        ORDER BY started_at DESC, rowid DESC LIMIT 1";
        let exact = "SELECT rowid FROM sessions WHERE title = ?1";
        for sql in [numbered, exact] {
            let found = self.connection.query_row(sql, [title], |row| row.get(0)).optional()?;
            if let Some(key) = found {
                return Ok(Some(SessionKey(key)));
            }
        }
        Ok(None)
    }

    /// The session that a message belongs to.
    pub fn session_of(&self, message: i64) -> Result<Option<SessionKey>, Error> {
        let sql = "SELECT s.rowid FROM messages m JOIN sessions s ON s.id = m.session_id \
                   WHERE m.rowid = ?";
        Ok(self
            .connection
            .query_row(sql, [message], |row| row.get(0).map(SessionKey))
            .optional()?)
    }
}

/// Whether FTS5 finds fault with the query; every term is quoted, so only with its size.
fn is_of_query(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(_, Some(message)) = error else { return false };
    message.contains("parser stack overflow") || message.contains("expression tree is too large")
}

/// Why an index gives nothing.
enum Failed {
    Index(Unindexed),
    Store(Error),
}

/// Messages that may be hits.
struct Candidates<'c> {
    statement: rusqlite::Statement<'c>,
    /// Whether their texts must be looked at.
    read: bool,
}

impl Candidates<'_> {
    /// The session of a message that somebody with one of the roles said and that passes.
    fn session_of(
        &mut self,
        row: i64,
        roles: &str,
        passes: impl Fn(&str) -> bool,
    ) -> Result<Option<SessionKey>, Error> {
        let mut rows = self.statement.query((row, roles))?;
        let Some(row) = rows.next()? else { return Ok(None) };
        if self.read {
            let mut text = String::new();
            for cell in 1..=3 {
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(cell)? {
                    text.push_str(&String::from_utf8_lossy(bytes));
                }
                text.push(' ');
            }
            if !passes(&text) {
                return Ok(None);
            }
        }
        Ok(row.get::<_, Option<i64>>(0)?.map(SessionKey))
    }
}
