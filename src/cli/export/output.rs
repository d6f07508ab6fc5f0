//! What OUTPUT means: a file, a folder or a stream, and what it must not be.

use std::fs;
use std::path::{Path, PathBuf};

use formats::{FORMATS, Format};

use super::super::exit::UsageError;
use crate::export::Target;
use crate::{manifest, store};

pub(super) fn by_suffix(output: &Path, only: Option<&str>) -> Option<&'static Format> {
    let name = output.file_name()?.to_str()?.to_lowercase();
    let fits = |f: &&Format| {
        f.only == only && f.is_usual() && name.ends_with(&format!(".{}", f.extension))
    };
    FORMATS.iter().filter(fits).max_by_key(|f| f.extension.len())
}

/// A suffix that stands for a format of hermes-agent which is not in the table.
pub(super) fn foreign_suffix(output: &Path) -> Option<&'static str> {
    let name = output.file_name()?.to_str()?.to_lowercase();
    let foreign = |suffix: &&str| name.ends_with(&format!(".{suffix}"));
    let suffix = ["html", "trace.jsonl"].into_iter().find(foreign)?;
    FORMATS.iter().all(|format| format.extension != suffix).then_some(suffix)
}

/// Whether OUTPUT names a single file of a format that writes one for each session.
pub(super) fn is_one_file(output: &Path, format: &Format) -> bool {
    by_suffix(output, format.only).is_some() && !output.is_dir()
}

/// Whether OUTPUT names a folder for a format that can fill one: it is one, ends as one, or has not
/// the suffix of the format's files.
pub(super) fn is_folder(output: &Path, format: &Format) -> bool {
    let is_named_otherwise = by_suffix(output, format.only).is_none() && !output.exists();
    output.is_dir() || !is_stdout(output) && (ends_as_folder(output) || is_named_otherwise)
}

fn ends_as_folder(output: &Path) -> bool {
    output.to_str().is_some_and(|output| output.ends_with(['/', '\\']))
}

pub(super) fn as_folder(output: PathBuf) -> Result<PathBuf, UsageError> {
    match fs::metadata(&output) {
        Ok(meta) if !meta.is_dir() => Err(UsageError::new(format!(
            "{} is a file, and the format writes a folder",
            output.display()
        ))),
        Ok(_) | Err(_) => Ok(output),
    }
}

pub(super) fn as_file(output: PathBuf) -> Result<Target, UsageError> {
    if is_stdout(&output) {
        return Ok(Target::Stream);
    }
    let is_device = output.starts_with("/dev") || output.starts_with("/proc");
    match fs::metadata(&output) {
        Ok(meta) if meta.is_dir() => Err(is_a_folder(&output)),
        Err(_) if ends_as_folder(&output) => Err(is_a_folder(&output)),
        Ok(meta) if is_device || !meta.is_file() => Ok(Target::Stream),
        Ok(_) | Err(_) => Ok(Target::File(output)),
    }
}

fn is_a_folder(output: &Path) -> UsageError {
    UsageError::new(format!("{} is a folder, and the format writes one file", output.display()))
}

pub(super) fn is_stdout(output: &Path) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    names.iter().any(|name| output == Path::new(name))
}

/// The store, and a manifest, are no places for an export.
pub(super) fn refuse_own_files(output: &Path, store: &Path) -> Result<(), UsageError> {
    let name = output.file_name().unwrap_or_default();
    if name == manifest::NAME {
        return Err(UsageError::new(format!("OUTPUT {} is a manifest's name", output.display())));
    }
    let (output, store) = (resolved(output), resolved(store));
    let is_store = ["", "-wal", "-shm", "-journal"].iter().any(|suffix| {
        let mut file = store.clone().into_os_string();
        file.push(suffix);
        output == Path::new(&file)
    });
    if is_store {
        return Err(UsageError::new(format!("OUTPUT {} belongs to the store", output.display())));
    }
    if name.to_str().is_none() {
        return Err(UsageError::new(format!("OUTPUT {} is no UTF-8", output.display())));
    }
    Ok(())
}

/// A path without links, also where the file itself is not there yet.
pub(super) fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    folder.join(path.file_name().unwrap_or_default())
}

/// `export 20250305_091523_a1b2c3` would write a file of that name; the session was meant.
pub(super) fn refuse_session_id(output: &Path, store: &Path) -> anyhow::Result<()> {
    let is_name = |name: &&str| !name.contains(['/', '\\']) && !is_stdout(output);
    let Some(name) = output.to_str().filter(is_name) else { return Ok(()) };
    let is_session =
        store::read(store, |snapshot| Ok::<_, store::Error>(snapshot.find(name)?.is_some()))?;
    if is_session {
        return Err(UsageError::new(format!("OUTPUT `{name}` is the id of a session"))
            .hint(format!("export OUTPUT --session-id {name}"))
            .into());
    }
    Ok(())
}
