//! One run at a time in a folder; the lock dies with its process, and its file says whose it is.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use super::{Error, failed};
use crate::manifest;

/// Where a backup keeps what is not of the sessions.
pub(super) const OWN: &str = ".hermes-sessions";

/// What the names of files and folders begin with that do not outlast a run, as `tempfile` gives them.
const TEMPORARY: &str = ".tmp";

/// Held while a run is at work in a folder.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn take(folder: &Path) -> Result<Self, Error> {
        let path = own_folder(folder)?.join("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        manifest::private(&mut options);
        let mut file = options.open(&path).map_err(failed("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.read_to_string(&mut pid); // it is only told
                let pid = pid.trim().parse().ok();
                return Err(Error::Running { folder: folder.to_owned(), pid });
            }
            Err(TryLockError::Error(source)) => return Err(failed("lock", &path)(source)),
        }
        let emptied = file.set_len(0).and_then(|()| file.rewind());
        emptied
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(failed("write", &path))?;
        clear(path.parent().unwrap_or(folder));
        Ok(Self { _file: file })
    }
}

/// Removes what a killed run left half done, a copy of the whole store perhaps. Under the lock nobody
/// else is at work there.
fn clear(own: &Path) {
    let Ok(entries) = fs::read_dir(own) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            // What cannot be removed is in nobody's way; a planted link is removed and not followed.
            let _ = match entry.file_type() {
                Ok(kind) if kind.is_dir() => fs::remove_dir_all(entry.path()),
                Ok(_) | Err(_) => fs::remove_file(entry.path()),
            };
        }
    }
}

/// Makes the folder, and in it the one for what is not of the sessions.
fn own_folder(folder: &Path) -> Result<PathBuf, Error> {
    let own = folder.join(OWN);
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(&own).map_err(failed("make", &own))?;
    // A planted link must not lead our files elsewhere.
    let meta = fs::symlink_metadata(&own).map_err(failed("read", &own))?;
    if meta.is_dir() {
        return Ok(own);
    }
    Err(failed("use", &own)(std::io::ErrorKind::NotADirectory.into()))
}
