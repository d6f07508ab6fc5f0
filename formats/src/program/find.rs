//! Where programs that are formats are looked for: in the folders of the path, never in the current one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Program, ProgramError};

const PREFIX: &str = "hermes-export-";

/// The program for a format's name in these folders; `None` where there is none, or the name can be
/// none's. A relative folder is passed over, as it depends on where one stands.
pub fn find(name: &str, folders: &[PathBuf]) -> Result<Option<Program>, ProgramError> {
    if !is_name(name) {
        return Ok(None);
    }
    let mut useless = None;
    for folder in folders.iter().filter(|folder| folder.is_absolute()) {
        let path = folder.join(format!("{PREFIX}{name}{}", std::env::consts::EXE_SUFFIX));
        match is_executable(&path) {
            Ok(true) => return Ok(Some(Program { name: name.to_owned(), path })),
            Ok(false) => useless = useless.or(Some(path)),
            Err(_) => {} // not there, or not ours to see
        }
    }
    useless.map_or(Ok(None), |path| Err(ProgramError::NotExecutable(path)))
}

/// Every program that is a format in these folders, by name; the first of a name counts.
pub fn list(folders: &[PathBuf]) -> Vec<Program> {
    let mut found: Vec<Program> = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_absolute()) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.file_name();
            let name = file.to_str().and_then(|file| file.strip_prefix(PREFIX));
            let name = name.and_then(|name| name.strip_suffix(std::env::consts::EXE_SUFFIX));
            let Some(name) = name.filter(|name| is_name(name)) else { continue };
            let is_new = found.iter().all(|program| program.name != name);
            if is_new && is_executable(&entry.path()).is_ok_and(|is| is) {
                found.push(Program { name: name.to_owned(), path: entry.path() });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn is_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
    (1..=40).contains(&name.len()) && name.bytes().all(fits)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let meta = fs::metadata(path)?;
    Ok(meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.is_file())
}
