//! A new, empty store, as Hermes would have made it.

use std::fs;
use std::io;
use std::path::Path;

use rusqlite::Connection;

use super::Error;

const SCHEMA: &str = include_str!("schema.sql");

/// Makes an empty store, for the owner's eyes alone. It appears whole, and never in the place of a
/// file that is there; an existing one is left alone.
pub fn create(path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(".state-").suffix(".db").tempfile_in(folder);
    let file = file.map_err(failed)?;
    fill(file.path()).map_err(Error::from)?;
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => sync_folder(folder).map_err(failed),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error.error)),
    }
}

fn fill(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch(&format!("BEGIN; {SCHEMA} COMMIT;"))?;
    // Hermes does the same, and where the file system cannot, it stays with a journal.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Makes the new name last.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}
