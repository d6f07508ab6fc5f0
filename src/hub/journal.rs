//! Which sessions were sent where, and as what: a file with a line for each, the last of which counts.
//!
//! It only saves work. A line is written after the Hub has confirmed the session, so a run that was
//! killed costs at most another look; without the file everything is looked at again.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Error;
use crate::manifest;

/// A session in a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The address of the dataset.
    pub dataset: String,
    /// The session.
    pub session_id: String,
    /// What it was then, and how it was written.
    pub state: String,
    /// Seconds since the epoch.
    pub sent_at: f64,
}

/// What was sent.
#[derive(Debug, Default)]
pub struct Journal {
    states: HashMap<(String, String), String>,
}

impl Journal {
    /// Reads a journal; one that is missing is empty. A line that cannot be read, perhaps cut off by
    /// a crash, is as none.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Read { path: path.to_owned(), source };
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            other => other.map_err(failed)?,
        };
        let mut journal = Self::default();
        for line in BufReader::new(file).split(b'\n') {
            if let Ok(line) = serde_json::from_slice::<Line>(&line.map_err(failed)?) {
                journal.states.insert((line.dataset, line.session_id), line.state);
            }
        }
        Ok(journal)
    }

    /// Whether a session is in a dataset in this very state.
    pub fn has(&self, dataset: &str, session: &str, state: &str) -> bool {
        let key = (dataset.to_owned(), session.to_owned());
        self.states.get(&key).is_some_and(|known| known == state)
    }

    /// The address of a dataset with this name, whoever owns it.
    pub fn address(&self, datasets: &str, name: &str) -> Option<&str> {
        let is_named = |address: &&str| {
            let path = address.strip_prefix(datasets).and_then(|path| path.split_once('/'));
            path.is_some_and(|(_, last)| last == name)
        };
        self.states.keys().map(|(dataset, _)| dataset.as_str()).find(is_named)
    }

    /// Appends what is new in these lines, in one write.
    pub fn append(&self, path: &Path, lines: &[Line]) -> Result<(), Error> {
        let mut text = Vec::new();
        for line in lines {
            if !self.has(&line.dataset, &line.session_id, &line.state) {
                text.push(b'\n'); // first, because an older line may be cut off
                let wrote = serde_json::to_writer(&mut text, line);
                wrote.map_err(|error| failed(path)(error.into()))?;
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        text.push(b'\n');
        write(path, &text).map_err(failed(path))
    }
}

fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    manifest::private(&mut options);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let path: PathBuf = path.to_owned();
    move |source| Error::Write { path: path.clone(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(session: &str, state: &str) -> Line {
        Line {
            dataset: "https://hub/datasets/a/b".to_owned(),
            session_id: session.to_owned(),
            state: state.to_owned(),
            sent_at: 1.5,
        }
    }

    #[test]
    fn the_last_line_counts_and_half_a_line_costs_itself() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/uploads.jsonl");
        let empty = Journal::read(&path).unwrap();
        empty.append(&path, &[line("s", "old"), line("t", "t")]).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"dataset\":").unwrap();
        let journal = Journal::read(&path).unwrap();
        journal.append(&path, &[line("s", "new"), line("t", "t")]).unwrap();

        let journal = Journal::read(&path).unwrap();
        let dataset = line("s", "").dataset;
        assert!(journal.has(&dataset, "s", "new") && !journal.has(&dataset, "s", "old"));
        assert!(journal.has(&dataset, "t", "t") && !journal.has("elsewhere", "t", "t"));
        assert_eq!(fs::read_to_string(&path).unwrap().matches("\"t\":").count(), 0);
        assert_eq!(fs::read_to_string(&path).unwrap().matches("session_id").count(), 3);
    }
}
