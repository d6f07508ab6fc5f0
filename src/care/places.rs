//! Where else sessions may be: other stores, the web interface's files, and transcripts of an older Hermes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::store;

/// A store that is not the one asked about.
#[derive(Debug)]
pub struct OtherStore {
    /// Where it is.
    pub path: PathBuf,
    /// How many sessions it has; none where it cannot be read.
    pub sessions: Option<usize>,
}

impl OtherStore {
    /// The store at this place, if there is a file.
    pub fn at(path: PathBuf) -> Option<Self> {
        path.is_file().then(|| {
            let sessions = store::read(&path, |snapshot| {
                let all = snapshot.matching(&crate::filter::Selection::All)?;
                Ok::<_, store::Error>(all.sessions.len())
            });
            Self { sessions: sessions.ok(), path }
        })
    }
}

/// The stores of all profiles below a Hermes home, by name.
pub fn profiles(hermes_home: &Path) -> Vec<OtherStore> {
    let folders = sorted(&hermes_home.join("profiles"));
    folders.into_iter().filter_map(|folder| OtherStore::at(folder.join("state.db"))).collect()
}

/// What lies in the folder of an older Hermes' transcripts.
#[derive(Debug, Default)]
pub struct Transcripts {
    /// `*.jsonl` whose session is in the store; Hermes reads them no more.
    pub kept: Vec<String>,
    /// `*.jsonl` whose session is not.
    pub only_here: Vec<String>,
    /// Whether the gateway's routing index is there, which looks like a list of sessions.
    pub has_routing_index: bool,
}

impl Transcripts {
    /// Looks through a folder; `is_known` says whether the store has a session of this id.
    pub fn of<E>(
        folder: &Path,
        mut is_known: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let mut found = Self::default();
        for path in sorted(folder) {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            found.has_routing_index |= name == "sessions.json";
            if let Some(id) = name.strip_suffix(".jsonl") {
                let id = id.strip_prefix("session_").unwrap_or(id);
                let list = if is_known(id)? { &mut found.kept } else { &mut found.only_here };
                list.push(name.to_owned());
            }
        }
        Ok(found)
    }
}

/// Files of one session in a folder of transcripts, or of the web interface.
pub fn files_of(folder: &Path, id: &str) -> Vec<PathBuf> {
    let is_of = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json"));
        stem.is_some_and(|stem| stem == id || stem.strip_prefix("session_") == Some(id))
    };
    sorted(folder).into_iter().filter(is_of).collect()
}

/// How many sessions Hermes' web interface keeps in its state folder; none where it has no such folder.
pub fn webui_sessions(state: &Path) -> Option<usize> {
    let folder = state.join("sessions");
    let is_session = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| !name.starts_with('_'))
            && path.extension().is_some_and(|e| e == "json")
    };
    folder.is_dir().then(|| sorted(&folder).iter().filter(|path| is_session(path)).count())
}

/// What is in a folder, by name; a folder that is not there, or cannot be listed, has nothing.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    paths.sort();
    paths
}
