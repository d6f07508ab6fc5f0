//! What is wrong with a store, object by object.

use std::collections::BTreeMap;

use rusqlite::{Connection, ErrorCode};

use super::super::snapshot::quoted;
use super::super::{Error, change, optimize, terms};
use super::missing;

/// What is damaged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// The list of tables has this object more than once, so nothing can be read at all.
    Twice {
        /// Its kind and name.
        object: String,
    },
    /// The list of tables cannot be read.
    Schema(String),
    /// A full-text index; it can be made anew from the messages.
    FullText(String),
    /// A full-text index that is not all there; it can be made anew, too.
    Incomplete {
        /// Its name.
        index: String,
        /// What is not there.
        lacks: String,
    },
    /// A table that is not there, although Hermes cannot be without.
    Missing(String),
    /// An index; it can be made anew from its table.
    Index(String),
    /// A table: rows of it are lost, or will be.
    Table(String),
    /// Something else, as SQLite says it.
    Other(String),
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Damage::Twice { object } => write!(f, "{object} is defined twice"),
            Damage::Schema(why) => write!(f, "the list of tables cannot be read: {why}"),
            Damage::FullText(name) => write!(f, "the full-text index {name} is damaged"),
            Damage::Incomplete { index, lacks } => {
                write!(f, "the full-text index {index} lacks {lacks}")
            }
            Damage::Missing(name) => write!(f, "the table {name} is missing"),
            Damage::Index(name) => write!(f, "the index {name} is damaged"),
            Damage::Table(name) => write!(f, "the table {name} is damaged"),
            Damage::Other(what) => f.write_str(what),
        }
    }
}

impl Damage {
    /// The full-text index that it is about.
    pub(super) fn full_text(&self) -> Option<&String> {
        match self {
            Damage::FullText(index) | Damage::Incomplete { index, .. } => Some(index),
            _ => None,
        }
    }
}

/// Finds all damage, inside a transaction that holds the write lock and changes nothing.
pub(super) fn damage(connection: &Connection) -> Result<Vec<Damage>, Error> {
    let mut found = readable(connection)?;
    if found.is_empty() && !takes_a_message(connection)? {
        found.push(Damage::Other("messages cannot be written".to_owned()));
    }
    Ok(found)
}

/// Finds the damage that reading shows.
pub(in crate::store) fn readable(connection: &Connection) -> Result<Vec<Damage>, Error> {
    let twice = duplicates(connection)?;
    if !twice.is_empty() {
        return Ok(twice);
    }
    if let Err(error) = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        return unless_in_use(error, |why| vec![Damage::Schema(why)]);
    }
    // First the indexes: a check that gives up half way leaves the transaction in no state for more.
    let mut found = missing::missing(connection)?;
    for index in optimize::full_text_indexes(connection)? {
        let is_told = found.iter().any(|one| one.full_text() == Some(&index));
        if !is_told && !is_whole(connection, &index)? {
            found.push(Damage::FullText(index));
        }
    }
    match integrity(connection) {
        Ok(more) => found.extend(more),
        // An index of which parts are missing keeps SQLite's check from beginning.
        Err(Error::Sql(_) | Error::Damaged(_)) if !found.is_empty() => {}
        Err(error) => return Err(error),
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Objects that the list of tables has more than once. SQLite refuses such a list, unless it may be
/// written.
fn duplicates(connection: &Connection) -> Result<Vec<Damage>, Error> {
    connection.pragma_update(None, "writable_schema", true)?;
    let listed = (|| {
        let mut statement = connection.prepare(
            "SELECT type || ' ' || name FROM sqlite_schema GROUP BY type, name HAVING count(*) > 1",
        )?;
        let objects = statement.query_map([], |row| row.get(0))?;
        objects.map(|object| Ok(Damage::Twice { object: object? })).collect()
    })();
    connection.pragma_update(None, "writable_schema", false)?;
    match listed {
        Ok(listed) => Ok(listed),
        Err(error) => unless_in_use(error, |why| vec![Damage::Schema(why)]),
    }
}

fn unless_in_use<T>(error: rusqlite::Error, damage: impl FnOnce(String) -> T) -> Result<T, Error> {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Err(Error::InUse(error)),
        _ => Ok(damage(error.to_string())),
    }
}

/// What SQLite's own check says, by object.
fn integrity(connection: &Connection) -> Result<Vec<Damage>, Error> {
    let roots = roots(connection)?;
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut found = Vec::new();
    for line in lines {
        match line {
            Ok(line) if line == "ok" => {}
            Ok(line) => found.extend(line.lines().filter_map(|line| named(line, &roots))),
            // The check gives up where it cannot go on; what it has named by then is named.
            Err(error) => {
                let gave_up = unless_in_use(error, Damage::Other)?;
                return Ok(if found.is_empty() { vec![gave_up] } else { found });
            }
        }
    }
    Ok(found)
}

/// Root pages, with what begins there.
fn roots(connection: &Connection) -> Result<BTreeMap<u64, Damage>, Error> {
    let mut statement =
        connection.prepare("SELECT rootpage, type, tbl_name, name FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    let full_text = optimize::full_text_indexes(connection)?;
    let mut roots = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let page: Option<i64> = row.get(0)?;
        let (kind, name): (String, String) = (row.get(1)?, row.get(3)?);
        let owner = full_text.iter().find(|index| is_shadow(&name, index));
        let damage = match (owner, kind.as_str()) {
            (Some(index), _) => Damage::FullText(index.clone()),
            (None, "index") => Damage::Index(name),
            (None, _) => Damage::Table(name),
        };
        roots.extend(page.filter(|page| *page > 0).map(|page| (page.unsigned_abs(), damage)));
    }
    Ok(roots)
}

/// The tables that FTS5 keeps an index in.
pub(super) fn is_shadow(table: &str, index: &str) -> bool {
    let suffix = table.strip_prefix(index).unwrap_or_default();
    matches!(suffix, "_data" | "_idx" | "_content" | "_docsize" | "_config")
        || table.starts_with("sqlite_autoindex_") && table.contains(&format!("{index}_idx"))
}

/// The object that a line of `integrity_check` is about.
fn named(line: &str, roots: &BTreeMap<u64, Damage>) -> Option<Damage> {
    if line.starts_with("***") {
        return None; // a heading
    }
    let after = |prefix: &str| line.split_once(prefix).map(|(_, rest)| rest);
    let tree = after("Tree ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    if let Some(damage) = tree.and_then(|page| roots.get(&page)) {
        return Some(damage.clone());
    }
    let index = after("missing from index ").or_else(|| after("wrong # of entries in index "));
    if let Some(index) = index.or_else(|| after("non-unique entry in index ")) {
        return Some(Damage::Index(index.to_owned()));
    }
    // Pages that are merely unused, and what `is_whole` looks at in its own way.
    if line.ends_with("never used") || line.contains(" FTS5 table ") || line.starts_with("fts5: ") {
        return None;
    }
    Some(Damage::Other(line.to_owned()))
}

/// Whether a full-text index can be read from its first term to its last, and has as many terms as its
/// sums say. FTS5's own check also cuts every text into terms again, and finds fault with an index that
/// another version of SQLite has made by its own rules.
fn is_whole(connection: &Connection, index: &str) -> Result<bool, Error> {
    let read = (|| {
        // This comes first: it writes down what the transaction has changed in the index.
        let terms = terms_of(connection, index)?;
        let has = |part: &str| {
            let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1 || ?2)";
            connection.query_row(sql, [index, part], |row| row.get::<_, bool>(0))
        };
        if !has("_docsize")? {
            return Ok(true);
        }
        let sums = Sums::kept(connection, index)?;
        let has_content = has("_content")?;
        let texts = if has_content { Some(rows_of(connection, index, "_content")?) } else { None };
        Ok(sums.terms == terms
            && texts.is_none_or(|texts| texts == sums.texts)
            && sums == Sums::of_texts(connection, index)?)
    })();
    match read {
        Ok(whole) => Ok(whole),
        Err(error) => unless_in_use(error, |_| false),
    }
}

/// How many terms stand in an index.
fn terms_of(connection: &Connection, index: &str) -> rusqlite::Result<u64> {
    connection.execute_batch(&format!(
        "DROP TABLE IF EXISTS temp.vocabulary; \
         CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', {}, 'row')",
        quoted(index)
    ))?;
    let sql = "SELECT COALESCE(sum(cnt), 0) FROM vocabulary";
    let terms = connection.query_row(sql, [], |row| row.get::<_, i64>(0))?;
    connection.execute_batch("DROP TABLE temp.vocabulary")?;
    Ok(terms.unsigned_abs())
}

fn rows_of(connection: &Connection, index: &str, part: &str) -> rusqlite::Result<u64> {
    let sql = format!("SELECT count(*) FROM {}", quoted(&format!("{index}{part}")));
    connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
}

/// How much there is in a full-text index.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    texts: u64,
    terms: u64,
}

impl Sums {
    /// As FTS5 keeps them, to rank by: in the record 1 of the index's data.
    fn kept(connection: &Connection, index: &str) -> rusqlite::Result<Self> {
        let data = quoted(&format!("{index}_data"));
        let sql = format!("SELECT block FROM {data} WHERE id = 1");
        connection.query_row(&sql, [], |row| {
            let mut numbers = terms::numbers(row.get_ref(0)?.as_blob().unwrap_or_default());
            Ok(Self { texts: numbers.next().unwrap_or(0), terms: numbers.sum() })
        })
    }

    /// Added up from the sizes of the texts.
    fn of_texts(connection: &Connection, index: &str) -> rusqlite::Result<Self> {
        let sizes = quoted(&format!("{index}_docsize"));
        let mut statement = connection.prepare(&format!("SELECT sz FROM {sizes}"))?;
        let mut rows = statement.query([])?;
        let mut sums = Self::default();
        while let Some(row) = rows.next()? {
            sums.texts += 1;
            sums.terms +=
                terms::numbers(row.get_ref(0)?.as_blob().unwrap_or_default()).sum::<u64>();
        }
        Ok(sums)
    }
}

/// Whether the triggers let a message be written: writes it as it is, and takes that back.
fn takes_a_message(connection: &Connection) -> Result<bool, Error> {
    let probe = "SAVEPOINT probe; \
        UPDATE messages SET content = content WHERE rowid = (SELECT max(rowid) FROM messages); \
        ROLLBACK TO probe; RELEASE probe";
    match connection.execute_batch(probe) {
        Ok(()) => Ok(true),
        Err(error) => {
            connection.execute_batch("ROLLBACK TO probe; RELEASE probe")?;
            unless_in_use(error, |_| false)
        }
    }
}

/// A connection whose transaction holds the write lock.
pub(super) fn locked(path: &std::path::Path) -> Result<Connection, Error> {
    let connection = change::open(path)?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(change::refused)?;
    Ok(connection)
}
