//! A new, empty store, as Hermes would have made it.

use std::fs;
use std::io;
use std::path::Path;

use rusqlite::Connection;

use super::Error;

const TABLES: &str = include_str!("schema.sql");
const WORDS: &str = include_str!("words.sql");
const TRIGRAMS: &str = include_str!("trigrams.sql");
const TITLES: &str =
    "CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;";

/// Whether what is said can be looked up by its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// It can, which costs most of the time that filling takes.
    Indexed,
    /// It cannot.
    Left,
}

/// Hermes' definition of a full-text index, with its triggers.
pub(super) fn words(index: &str) -> Option<&'static str> {
    match index {
        "messages_fts" => Some(WORDS),
        "messages_fts_trigram" => Some(TRIGRAMS),
        _ => None,
    }
}

/// Hermes' definition of a table.
pub(super) fn table(name: &str) -> Option<&'static str> {
    let from = TABLES.find(&format!("CREATE TABLE {name} ("))?;
    let statement = TABLES[from..].split_inclusive(");\n").next();
    statement.filter(|statement| statement.ends_with(");\n"))
}

/// Makes an empty store, for the owner's eyes alone. It appears whole, and never in the place of a
/// file that is there; an existing one is left alone.
pub fn create(path: &Path) -> Result<(), Error> {
    appear(path, &[TABLES, TITLES, WORDS, TRIGRAMS])
}

/// Makes an empty store for one look at sessions from elsewhere: titles need not be distinct.
pub fn create_view(path: &Path, words: Words) -> Result<(), Error> {
    match words {
        Words::Indexed => appear(path, &[TABLES, WORDS, TRIGRAMS]),
        Words::Left => appear(path, &[TABLES]),
    }
}

fn appear(path: &Path, schema: &[&str]) -> Result<(), Error> {
    let failed = |source| Error::Unmade { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(".state-").suffix(".db").tempfile_in(folder);
    let file = file.map_err(failed)?;
    fill(file.path(), schema).map_err(Error::from)?;
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => sync_folder(folder).map_err(failed),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error.error)),
    }
}

fn fill(path: &Path, schema: &[&str]) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch(&format!("BEGIN; {} COMMIT;", schema.concat()))?;
    // Hermes does the same, and where the file system cannot, it stays with a journal.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Makes the new name last.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}
