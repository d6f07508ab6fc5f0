//! Repairing a store: what can be made anew from what is whole is made anew, in transactions
//! that make things better or do not happen.
//!
//! Indexes and full-text indexes hold nothing of their own. A table that is damaged is not touched:
//! [`salvage()`] copies what can be read of it to a new store. A store that is in use is never taken for
//! a damaged one, because the first thing is to get its write lock.

mod check;
mod missing;
mod salvage;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _};

use super::change::refused;
use super::open::{self, beside, existing};
use super::snapshot::quoted;
use super::{Error, create, optimize, terms};
pub use check::Damage;
pub(super) use check::readable;
pub use salvage::{Salvage, salvage};

/// What a repair found and did.
#[derive(Debug, Default)]
pub struct Repair {
    /// What was damaged.
    pub found: Vec<Damage>,
    /// What still is.
    pub left: Vec<Damage>,
    /// The store as it was before; none where nothing was changed.
    pub backup: Option<Backup>,
}

/// A copy of a store's files.
#[derive(Debug)]
pub struct Backup {
    /// The copy of the file; that of its log is beside it.
    pub path: PathBuf,
    /// How much both take.
    pub bytes: u64,
}

/// Rounds of mending: making one thing readable can show that another is not.
const ROUNDS: usize = 4;

/// What a check found.
#[derive(Debug)]
pub struct Checked {
    /// What is damaged.
    pub found: Vec<Damage>,
    /// Whether messages were written, too, and taken back.
    pub by_writing: bool,
}

/// What is damaged. Waits for the write lock, where one can be had, and changes nothing.
pub fn check(path: &Path) -> Result<Checked, Error> {
    let path = existing(path)?;
    match check::locked(&path) {
        Ok(connection) => Ok(Checked { found: check::damage(&connection)?, by_writing: true }),
        Err(error) if is_read_only(&error) => open::read(&path, |snapshot| {
            Ok(Checked { found: check::readable(snapshot.connection)?, by_writing: false })
        }),
        Err(error) => Err(hopeless(&path, error)),
    }
}

/// A file that cannot even be opened has nothing that could be mended.
fn hopeless(path: &Path, error: Error) -> Error {
    match error {
        Error::Damaged(source) => Error::Hopeless { path: path.to_owned(), source },
        other => other,
    }
}

/// Whether the file, or its folder, takes no writes.
fn is_read_only(error: &Error) -> bool {
    let (Error::Refused(error) | Error::Sql(error)) = error else { return false };
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// Mends what can be mended in place, after copying the files of the store.
pub fn repair(path: &Path) -> Result<Repair, Error> {
    let path = existing(path)?;
    let locked = check::locked(&path).map_err(|error| hopeless(&path, error))?;
    let found = check::damage(&locked)?;
    drop(locked);
    let mut repair = Repair { left: found.clone(), found, backup: None };
    let ended = rounds(&path, &mut repair);
    if repair.left == repair.found
        && let Some(backup) = repair.backup.take()
    {
        backup.discard(); // it is a copy of what still is there
    }
    ended.map(|()| repair)
}

fn rounds(path: &Path, repair: &mut Repair) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        if repair.left.is_empty() {
            break;
        }
        // A statement that meets damage spoils its transaction, so each way is tried in its own.
        if round(path, repair, Clearing::Pages)? {
            continue;
        }
        if !round(path, repair, Clearing::Definition)? {
            break;
        }
        // Where others have the file open the pages stay unused.
        let _ = optimize::vacuum(path);
    }
    Ok(())
}

/// How something that is to be made anew is cleared away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clearing {
    /// With its pages, which must be readable for that.
    Pages,
    /// From the list of tables; its pages stay behind, unused, until the file is written anew.
    Definition,
}

/// Mends in one transaction; says whether that made a difference, and else leaves all as it was.
fn round(path: &Path, repair: &mut Repair, clearing: Clearing) -> Result<bool, Error> {
    let connection = check::locked(path)?;
    if repair.backup.is_none() {
        repair.backup = Some(Backup::of(path)?);
    }
    let mended = mend(&connection, &repair.left, clearing)
        .map_err(refused)
        .and_then(|()| check::damage(&connection));
    let left = match mended {
        // What is in the way of mending is damage as well.
        Err(Error::Damaged(_)) => return Ok(false),
        // An index of which parts are missing cannot even be dropped.
        Err(Error::Refused(_)) if clearing == Clearing::Pages => return Ok(false),
        left => left?,
    };
    if left == repair.left {
        return Ok(false);
    }
    connection.execute_batch("COMMIT").map_err(refused)?;
    repair.left = left;
    Ok(true)
}

fn mend(connection: &Connection, damage: &[Damage], clearing: Clearing) -> rusqlite::Result<()> {
    if damage.iter().any(|one| matches!(one, Damage::Twice { .. })) {
        return define_once(connection);
    }
    for one in damage {
        if let Damage::Index(name) = one {
            make_index(connection, name, clearing)?;
        }
    }
    make_full_text(connection, damage, clearing)
}

/// Makes an index anew. One that is part of a table's definition has none of its own, so it can only be
/// filled anew.
fn make_index(connection: &Connection, name: &str, clearing: Clearing) -> rusqlite::Result<()> {
    let definition = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?";
    let sql: Option<String> = connection.query_row(definition, [name], |row| row.get(0))?;
    match sql {
        Some(sql) if clearing == Clearing::Definition => {
            edit_schema(connection, || {
                let forget = "DELETE FROM sqlite_schema WHERE type = 'index' AND name = ?";
                connection.execute(forget, [name]).map(|_| ())
            })?;
            connection.execute_batch(&sql)
        }
        _ => connection.execute_batch(&format!("REINDEX {}", quoted(name))),
    }
}

/// Leaves each object the first of its definitions, as Hermes does.
fn define_once(connection: &Connection) -> rusqlite::Result<()> {
    edit_schema(connection, || {
        let sql = "DELETE FROM sqlite_schema WHERE rowid NOT IN \
                   (SELECT min(rowid) FROM sqlite_schema GROUP BY type, name)";
        connection.execute(sql, []).map(|_| ())
    })
}

fn edit_schema(
    connection: &Connection,
    edit: impl FnOnce() -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    connection.pragma_update(None, "writable_schema", true)?;
    edit()?;
    let version: i64 = connection.query_row("PRAGMA schema_version", [], |row| row.get(0))?;
    connection.pragma_update(None, "schema_version", version.wrapping_add(1))?;
    connection.execute_batch("PRAGMA writable_schema = RESET")
}

/// Makes full-text indexes anew: with the store's own definitions, or with Hermes' where parts of them
/// are not there.
fn make_full_text(
    connection: &Connection,
    damage: &[Damage],
    clearing: Clearing,
) -> rusqlite::Result<()> {
    let mut filled_by_triggers = false;
    for one in damage {
        let Some(index) = one.full_text() else { continue };
        let definition = definition(connection, index)?;
        let defined = definition.is_some();
        match clearing {
            Clearing::Pages if defined => {
                connection.execute_batch(&format!("DROP TABLE {}", quoted(index)))?;
            }
            Clearing::Pages => {}
            Clearing::Definition => forget_full_text(connection, index)?,
        }
        let whole = definition.filter(|_| matches!(one, Damage::FullText(_)));
        match (whole, create::words(index)) {
            (Some(sql), _) => {
                connection.execute_batch(&sql)?;
                filled_by_triggers |= !has_content_elsewhere(&sql);
                if has_content_elsewhere(&sql) {
                    let name = quoted(index);
                    let rebuild = format!("INSERT INTO {name}({name}) VALUES ('rebuild')");
                    connection.execute(&rebuild, [])?;
                }
            }
            (None, Some(sql)) => {
                drop_triggers(connection, index)?;
                connection.execute_batch(sql)?;
                filled_by_triggers = true;
            }
            (None, None) => {}
        }
    }
    if filled_by_triggers {
        const ALL: &str = "SELECT rowid FROM messages";
        // Each message is written as it is, which runs the triggers that index it.
        terms::settle(connection, ALL, [])?;
        connection.execute("UPDATE messages SET content = content", [])?;
        terms::replace_nuls(connection, ALL, [])?;
    }
    Ok(())
}

fn definition(connection: &Connection, table: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?";
    connection.query_row(sql, [table], |row| row.get(0)).optional()
}

/// Drops the triggers by which Hermes keeps an index.
fn drop_triggers(connection: &Connection, index: &str) -> rusqlite::Result<()> {
    ["insert", "delete", "update"].iter().try_for_each(|event| {
        let name = quoted(&format!("{index}_{event}"));
        connection.execute_batch(&format!("DROP TRIGGER IF EXISTS {name}"))
    })
}

fn has_content_elsewhere(definition: &str) -> bool {
    let words: String = definition.split_whitespace().collect();
    words.to_lowercase().contains(",content=")
}

fn forget_full_text(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT DISTINCT tbl_name FROM sqlite_schema")?;
    let tables = statement.query_map([], |row| row.get::<_, String>(0))?;
    let tables = tables.collect::<rusqlite::Result<Vec<_>>>()?;
    edit_schema(connection, || {
        for table in tables.iter().filter(|t| *t == name || check::is_shadow(t, name)) {
            connection.execute("DELETE FROM sqlite_schema WHERE tbl_name = ?", [table])?;
        }
        Ok(())
    })
}

impl Backup {
    /// Copies the files of a store whose write lock is held.
    fn of(path: &Path) -> Result<Self, Error> {
        let free = (1_u32..).map(|n| match n {
            1 => beside(path, ".before-repair"),
            n => beside(path, &format!(".before-repair-{n}")),
        });
        let mut free = free.filter(|copy| copy.symlink_metadata().is_err());
        let copy = free.next().unwrap_or_else(|| beside(path, ".before-repair"));
        let mut backup = Self { path: copy, bytes: 0 };
        match backup.copy(path) {
            Ok(bytes) => {
                backup.bytes = bytes;
                Ok(backup)
            }
            Err(source) => {
                backup.discard();
                Err(Error::Io { path: backup.path, source })
            }
        }
    }

    fn copy(&self, path: &Path) -> io::Result<u64> {
        let mut bytes = copied(path, &self.path)?;
        let wal = beside(path, "-wal");
        if fs::metadata(&wal).is_ok_and(|meta| meta.len() > 0) {
            bytes += copied(&wal, &beside(&self.path, "-wal"))?;
        }
        Ok(bytes)
    }

    fn discard(&self) {
        for path in [self.path.clone(), beside(&self.path, "-wal")] {
            // One that stays takes room, and does no other harm.
            let _ = fs::remove_file(path);
        }
    }
}

fn copied(from: &Path, to: &Path) -> io::Result<u64> {
    let bytes = fs::copy(from, to)?;
    File::open(to)?.sync_all()?;
    Ok(bytes)
}
