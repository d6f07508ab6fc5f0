//! A new store beside others: whole under its name, or not there.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::Error;

/// Runs `write` on the name of an empty file and gives the file its own name then, unless that is taken.
/// Says how many bytes it has.
pub(super) fn new_file<T>(
    path: &Path,
    write: impl FnOnce(&str) -> Result<T, Error>,
) -> Result<(T, u64), Error> {
    let failed = |source| Error::NotMade { path: path.to_owned(), source };
    if path.symlink_metadata().is_ok() {
        return Err(failed(io::Error::other("there is one already")));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    let name = file.path().to_str().ok_or_else(|| failed(io::Error::other("it is no UTF-8")))?;
    let done = write(name)?;
    file.as_file().sync_all().map_err(failed)?;
    let file = file.persist_noclobber(path).map_err(|error| failed(error.error))?;
    Ok((done, file.metadata().map_err(failed)?.len()))
}
