//! Copying what can be read of a damaged store to a new one.
//!
//! Rows are read one at a time in the order of their row ids. Where one cannot be read, the next that
//! can is looked for by doubling steps and then by halving them, so that a damaged page costs the rows
//! on it and no others.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params_from_iter};

use super::super::change::refused;
use super::super::new_file::new_file;
use super::super::open::existing;
use super::super::snapshot::quoted;
use super::super::{Error, create, optimize, terms};
use super::{check, hopeless, missing};

/// What was saved.
#[derive(Debug, Default)]
pub struct Salvage {
    /// Rows by table.
    pub rows: BTreeMap<String, u64>,
    /// Places at which rows could not be read, by table.
    pub gaps: BTreeMap<String, u64>,
    /// Sessions whose own row was lost; they were made anew for their messages.
    pub remade: u64,
    /// Size of the new file.
    pub bytes: u64,
}

/// Copies all that can be read to a new store, which appears whole or not at all.
pub fn salvage(path: &Path, into: &Path) -> Result<Salvage, Error> {
    let path = existing(path)?;
    let old = damaged(&path).map_err(|error| hopeless(&path, error))?;
    let saved = new_file(into, |file| {
        let new = Connection::open(file)?;
        new.pragma_update(None, "foreign_keys", false)?;
        new.execute_batch("PRAGMA synchronous = off; BEGIN").map_err(refused)?;
        let mut salvage = copy(&old, &new)?;
        salvage.remade = remake_sessions(&new).map_err(refused)?;
        new.execute_batch("COMMIT").map_err(refused)?;
        Ok(salvage)
    });
    saved.map(|(salvage, bytes)| Salvage { bytes, ..salvage })
}

/// Opens a store so that a damaged list of tables does not keep the rest from being read.
fn damaged(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let old = Connection::open_with_flags(path, flags)?;
    old.pragma_update(None, "writable_schema", true)?;
    old.execute_batch("BEGIN")?;
    old.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(old)
}

fn copy(old: &Connection, new: &Connection) -> Result<Salvage, Error> {
    let objects = objects(old)?;
    let full_text = optimize::full_text_indexes(old)?;
    let of_index = |name: &str| full_text.iter().any(|index| check::is_shadow(name, index));
    let mut salvage = Salvage::default();
    // Indexes and triggers come first: triggers fill the full-text indexes as messages come in.
    for (_, name, sql) in objects.iter().filter(|(_, name, _)| !of_index(name)) {
        if new.execute_batch(sql).is_err() {
            *salvage.gaps.entry(name.clone()).or_default() += 1;
        }
    }
    for lost in
        missing::TABLES.iter().filter(|table| objects.iter().all(|(_, name, _)| name != **table))
    {
        *salvage.gaps.entry((*lost).to_owned()).or_default() += 1;
        new.execute_batch(create::table(lost).unwrap_or_default()).map_err(refused)?;
    }
    for (kind, name, _) in &objects {
        if kind == "table" && !of_index(name) && !full_text.contains(name) {
            let (rows, gaps) = copy_table(old, new, name)?;
            salvage.rows.insert(name.clone(), rows);
            if gaps > 0 {
                *salvage.gaps.entry(name.clone()).or_default() += gaps;
            }
        }
    }
    for index in full_text {
        let name = quoted(&index);
        // One that has its content elsewhere and no trigger is filled from there.
        let _ = new.execute(&format!("INSERT INTO {name}({name}) VALUES ('rebuild')"), []);
    }
    terms::replace_nuls(new, "SELECT rowid FROM messages", []).map_err(refused)?;
    Ok(salvage)
}

/// Kind, name and definition of what the store has, tables first.
fn objects(old: &Connection) -> Result<Vec<(String, String, String)>, Error> {
    let mut statement = old.prepare(
        "SELECT type, name, sql FROM sqlite_schema \
         WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' GROUP BY type, name \
         ORDER BY type != 'table', sql GLOB 'CREATE VIRTUAL*', min(rowid)",
    )?;
    let objects = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(objects.filter_map(Result::ok).collect())
}

/// Says how many rows were copied, and at how many places rows are missing.
fn copy_table(old: &Connection, new: &Connection, table: &str) -> Result<(u64, u64), Error> {
    let name = quoted(table);
    let Ok(columns) = old.prepare(&format!("SELECT * FROM {name}")).map(|s| s.column_count())
    else {
        return Ok((0, 1));
    };
    let places = vec!["?"; columns].join(", ");
    let mut insert =
        new.prepare(&format!("INSERT OR IGNORE INTO {name} VALUES ({places})")).map_err(refused)?;
    let Ok(mut table) = Table::new(old, &name, columns) else { return Ok((0, 1)) };
    let (mut rows, mut gaps) = (0, 0);
    let mut at = i64::MIN;
    loop {
        match table.next(at) {
            Ok(None) => return Ok((rows, gaps)),
            Ok(Some((row, cells))) => {
                rows += insert.execute(params_from_iter(cells)).map_err(refused)? as u64;
                let Some(next) = row.checked_add(1) else { return Ok((rows, gaps)) };
                at = next;
            }
            Err(_) => {
                gaps += 1;
                let Some(next) = table.after_gap(at) else { return Ok((rows, gaps)) };
                at = next;
            }
        }
    }
}

/// A table that is read by row ids.
struct Table<'c> {
    next: rusqlite::Statement<'c>,
    columns: usize,
}

impl<'c> Table<'c> {
    fn new(old: &'c Connection, name: &str, columns: usize) -> Result<Self, Error> {
        let sql =
            format!("SELECT rowid, * FROM {name} NOT INDEXED WHERE rowid >= ? ORDER BY rowid");
        Ok(Self { next: old.prepare(&sql)?, columns })
    }

    /// The first row from this id on.
    fn next(&mut self, from: i64) -> rusqlite::Result<Option<(i64, Vec<Value>)>> {
        let columns = self.columns;
        self.next
            .query_row([from], |row| {
                let cells = (1..=columns).map(|n| row.get(n)).collect::<Result<_, _>>()?;
                Ok((row.get(0)?, cells))
            })
            .optional()
    }

    /// The first id from which rows can be read again.
    fn after_gap(&mut self, from: i64) -> Option<i64> {
        if from < 0 {
            return Some(0); // where Hermes' ids begin
        }
        let (mut bad, mut step) = (from, 1_i64);
        let mut good = loop {
            let at = bad.checked_add(step)?;
            if self.next(at).is_ok() {
                break at;
            }
            bad = at;
            step = step.checked_mul(2)?;
        };
        while bad.checked_add(1).is_some_and(|next| next < good) {
            let middle = bad + (good - bad) / 2;
            if self.next(middle).is_ok() { good = middle } else { bad = middle }
        }
        Some(good)
    }
}

/// Sessions for messages that have none any more.
fn remake_sessions(new: &Connection) -> rusqlite::Result<u64> {
    let remade = new.execute(
        "INSERT INTO sessions (id, source, started_at, ended_at, end_reason, message_count) \
         SELECT session_id, 'recovered', min(timestamp), max(timestamp), 'recovered', count(*) \
         FROM messages WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id",
        [],
    )?;
    Ok(remade as u64)
}
