//! Files that Hermes keeps beside the store for a session: `ID.json`, `ID.jsonl`, `session_ID.json`
//! and `request_dump_ID_TIME.json`.
//!
//! The folder is listed and names are compared, so an id that looks like a path or a pattern names
//! nothing else, and none of it is ever followed.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What became of such files.
#[derive(Debug, Default)]
pub struct Removed {
    /// How many are gone.
    pub files: u64,
    /// Those that could not be removed.
    pub failures: Vec<(PathBuf, io::Error)>,
}

/// The folder that belongs to a store.
pub fn folder(store: &Path) -> PathBuf {
    store.with_file_name("sessions")
}

/// Removes the files of exactly these sessions.
pub fn remove(folder: &Path, ids: &[String]) -> Removed {
    let mut removed = Removed::default();
    if ids.is_empty() {
        return removed;
    }
    let ids: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return removed,
        Err(error) => {
            removed.failures.push((folder.to_owned(), error));
            return removed;
        }
    };
    for entry in entries {
        let (path, result) = match entry {
            Err(error) => (folder.to_owned(), Err(error)),
            Ok(entry) => match entry.file_name().to_str() {
                Some(name) if is_of(name, &ids) && is_file(&entry) => {
                    (entry.path(), fs::remove_file(entry.path()))
                }
                Some(_) | None => continue,
            },
        };
        match result {
            Ok(()) => removed.files += 1,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => removed.failures.push((path, error)),
        }
    }
    removed
}

fn is_file(entry: &fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| !kind.is_dir())
}

/// Whether a file's name is that of one of these sessions.
fn is_of(name: &str, ids: &HashSet<&str>) -> bool {
    if let Some(id) = name.strip_suffix(".jsonl") {
        return ids.contains(id);
    }
    let Some(stem) = name.strip_suffix(".json") else { return false };
    if ids.contains(stem) || stem.strip_prefix("session_").is_some_and(|id| ids.contains(id)) {
        return true;
    }
    let Some(dump) = stem.strip_prefix("request_dump_") else { return false };
    dump.match_indices('_').any(|(at, _)| is_time(&dump[at + 1..]) && ids.contains(&dump[..at]))
}

/// `20250305_091523_000001`, as Hermes writes it, or one number. Anything more could be the end of
/// another session's id.
fn is_time(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = text.split('_').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    parts.iter().all(|part| is_number(part)) && (parts.len() == 1 || lengths == [8, 6, 6])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::is_of;

    #[test]
    fn a_file_is_of_the_session_whose_whole_id_it_bears() {
        let ids = HashSet::from(["abc", "s_1", "*"]);
        for (name, wanted) in [
            ("abc.json", true),
            ("abc.jsonl", true),
            ("session_abc.json", true),
            ("request_dump_abc_1.json", true),
            ("request_dump_abc_20250305_091523_000001.json", true),
            ("request_dump_abc_d_1.json", false),
            ("request_dump_abc_d_20250305_091523_000001.json", false),
            ("request_dump_s_1_20250305_091523_000001.json", true),
            ("request_dump_s_20250305_091523_000001.json", false),
            ("request_dump_other_1.json", false),
            ("request_dump_abc_.json", false),
            ("abcd.json", false),
            ("abc.txt", false),
            ("*.json", true),
        ] {
            assert_eq!(is_of(name, &ids), wanted, "{name}");
        }
    }
}
