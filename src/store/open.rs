//! Opening a store so that nothing of it changes.
//!
//! SQLite's `mode=ro` is right beside a running Hermes, whose `-wal` and `-shm` files stand ready.
//! Where they do not, it would create them and leave them behind, and in a read-only folder it
//! fails. Then nobody has the store open, and it is read without locks: `immutable=1` where there
//! is no WAL, else a private index of the WAL in memory (exclusive locking over a VFS without
//! locks). Such a read is right only while nobody writes, so the files are compared before and
//! after; where they differ the result is thrown away and the store is read again, the way that
//! is right by then. See <https://www.sqlite.org/wal.html>, sections 5 and 8.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::snapshot::Concurrency;
use super::{Error, Snapshot, text};

/// Reads without locks that others spoiled, before the files of a live store are put up with.
const QUIET_READS: usize = 3;
/// How long a lock of others is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs `work` on one snapshot of the store at `path`. It may run more than once, so it must not
/// do anything that cannot be thrown away.
pub fn read<T, E: From<Error>>(
    path: &Path,
    mut work: impl FnMut(&Snapshot<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let path = existing(path)?;
    for _ in 0..QUIET_READS {
        let before = State::of(&path)?;
        match before.way() {
            Way::Live => match with_snapshot(&path, Way::Live, &mut work) {
                // A read-only folder whose -shm cannot be mapped: nobody else can write there.
                Err(Attempt::CannotLock) => {}
                other => return other.map_err(Attempt::into_error),
            },
            quiet => {
                let result = with_snapshot(&path, quiet, &mut work);
                if State::of(&path)? == before {
                    return result.map_err(Attempt::into_error);
                }
                continue;
            }
        }
        let result = with_snapshot(&path, Way::PrivateWal, &mut work);
        if State::of(&path)? == before {
            return result.map_err(Attempt::into_error);
        }
    }
    // Others open, write and close in quick turn, so the files that this creates are theirs, too.
    with_snapshot(&path, Way::Live, &mut work).map_err(Attempt::into_error)
}

/// The path without links, of what is at least a file of SQLite's.
pub fn existing(path: &Path) -> Result<PathBuf, Error> {
    let path = fs::canonicalize(path).map_err(|source| unreadable(path, source))?;
    State::of(&path)?;
    Ok(path)
}

/// What a store is like as a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileState {
    /// The same as long as nobody writes.
    pub text: String,
    /// When it was last written to, in seconds since the epoch.
    written: f64,
}

impl FileState {
    /// Whether the next write would show; the clock of the file system may not tell two times apart
    /// that are close. `now` is in seconds since the epoch.
    pub fn is_settled(&self, now: f64) -> bool {
        const COARSE: f64 = 3.0; // seconds; FAT counts in twos
        self.written + COARSE < now
    }
}

/// What the store at `path` is like as a file.
pub fn file_state(path: &Path) -> Result<FileState, Error> {
    let path = fs::canonicalize(path).map_err(|source| unreadable(path, source))?;
    let state = State::of(&path)?;
    let since_epoch = |(_, time): &(u64, SystemTime)| {
        time.duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |age| age.as_secs_f64())
    };
    let written = state.main.iter().chain(&state.wal).map(since_epoch).fold(0.0, f64::max);
    Ok(FileState { text: format!("{state:?}"), written })
}

/// How an attempt to read failed.
enum Attempt<E> {
    /// The store's lock files cannot be used from here.
    CannotLock,
    /// Anything else.
    Failed(E),
}

impl<E: From<Error>> Attempt<E> {
    fn into_error(self) -> E {
        match self {
            Attempt::CannotLock => Error::Unsteady.into(),
            Attempt::Failed(error) => error,
        }
    }
}

fn with_snapshot<T, E: From<Error>>(
    path: &Path,
    way: Way,
    work: &mut impl FnMut(&Snapshot<'_>) -> Result<T, E>,
) -> Result<T, Attempt<E>> {
    let connection = begin(path, way).map_err(|error| match error {
        Error::Sql(cause) if is_lock_file_trouble(&cause) && beside(path, "-journal").exists() => {
            Attempt::Failed(Error::HotJournal(beside(path, "-journal")).into())
        }
        Error::Sql(cause) if way == Way::Live && is_lock_file_trouble(&cause) => {
            Attempt::CannotLock
        }
        other => Attempt::Failed(other.into()),
    })?;
    let concurrency = if way == Way::Live { Concurrency::Locked } else { Concurrency::Hoped };
    let snapshot =
        Snapshot::new(&connection, path, concurrency).map_err(|e| Attempt::Failed(e.into()))?;
    work(&snapshot).map_err(Attempt::Failed)
}

fn is_lock_file_trouble(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    )
}

/// Opens the store and fixes the snapshot that all later statements see.
fn begin(path: &Path, way: Way) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, way), flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    if way == Way::PrivateWal {
        connection.pragma_update(None, "locking_mode", "exclusive")?;
    }
    text::register(&connection)?;
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// A way to open the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// With SQLite's locks, beside others.
    Live,
    /// Without locks; there is no WAL.
    Immutable,
    /// Without locks; the WAL is indexed in this process's memory.
    PrivateWal,
}

fn uri(path: &Path, way: Way) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => {
                let _ = write!(uri, "%{other:02X}"); // a String takes everything
            }
        }
    }
    uri.push_str(match way {
        Way::Live => "?mode=ro",
        Way::Immutable => "?mode=ro&immutable=1",
        Way::PrivateWal if cfg!(windows) => "?mode=ro&vfs=win32-none",
        Way::PrivateWal => "?mode=ro&vfs=unix-none",
    });
    uri
}

/// What tells whether anybody wrote: the header and the sizes and times of the files.
#[derive(Debug, PartialEq, Eq)]
struct State {
    header: Vec<u8>,
    main: Option<(u64, SystemTime)>,
    wal: Option<(u64, SystemTime)>,
    shm: bool,
}

impl State {
    fn of(path: &Path) -> Result<Self, Error> {
        let mut header = Vec::new();
        File::open(path)
            .and_then(|file| file.take(100).read_to_end(&mut header))
            .map_err(|source| unreadable(path, source))?;
        if !header.starts_with(b"SQLite format 3\0") {
            return Err(Error::NotADatabase(path.to_owned()));
        }
        Ok(Self {
            header,
            main: stamp(path)?,
            wal: stamp(&beside(path, "-wal"))?,
            shm: beside(path, "-shm").exists(),
        })
    }

    fn way(&self) -> Way {
        // Bytes 18 and 19: 2 for WAL, <https://www.sqlite.org/fileformat2.html#file_format_version_numbers>.
        let in_wal_mode = self.header.get(18..20).is_some_and(|versions| versions.contains(&2));
        match self.wal {
            _ if !in_wal_mode => Way::Live,
            Some(_) if self.shm => Way::Live,
            Some((1.., _)) => Way::PrivateWal,
            Some(_) | None => Way::Immutable,
        }
    }
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

pub(super) fn stamp(path: &Path) -> Result<Option<(u64, SystemTime)>, Error> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    match fs::metadata(path) {
        Ok(meta) => Ok(Some((meta.len(), meta.modified().map_err(failed)?))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

pub(super) fn unreadable(path: &Path, source: std::io::Error) -> Error {
    if source.kind() == ErrorKind::NotFound {
        Error::Missing(path.to_owned())
    } else {
        Error::Io { path: path.to_owned(), source }
    }
}
