//! Pages that earlier runs left in a folder: what lists all pages is of these, too, without a look at
//! the store.
//!
//! Nothing that stands in the folder is believed. A page counts if the manifest lists it in the form
//! of this run, and its bytes are those that the manifest speaks of; where this run takes secrets
//! out, it is searched for them once more, as the rules may have changed since.

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::gate::Gate;
use super::ledger::Ledger;
use super::{Error, Failure, Request};
use crate::manifest::{self, Entry};

/// The pages that the manifest lists in the form of a run.
pub(super) struct Others<'a> {
    request: &'a Request,
    folder: PathBuf,
    lines: HashMap<String, Entry>,
    /// Those that were searched, and held nothing.
    sound: HashSet<String>,
    /// What is to be told of those that do not count.
    pub(super) failures: Vec<Failure>,
}

impl<'a> Others<'a> {
    pub(super) fn of(folder: &Path, request: &'a Request) -> Result<Self, Error> {
        let mut ledger = Ledger::default();
        ledger.look_up(folder)?;
        let disclosure = request.redactor.disclosure().name();
        let redacted = request.redacted();
        let is_alike = |line: &&Entry| {
            line.format == request.format.name
                && line.disclosure.as_deref() == disclosure
                && line.redacted == redacted
        };
        // A session that was renamed has left its old name.
        let counts = |line: &&Entry| match line.slot() {
            Some(slot) => ledger.newest(&slot).is_some_and(|newest| newest.path == line.path),
            None => true,
        };
        let lines = ledger.lines().filter(is_alike).filter(counts);
        let lines = lines.map(|line| (line.path.clone(), line.clone())).collect();
        let folder = folder.to_owned();
        Ok(Self { request, folder, lines, sound: HashSet::new(), failures: Vec::new() })
    }

    /// The first pages of sessions other than these, in the order of their names.
    pub(super) fn names(&self, written: &HashSet<&str>) -> Vec<String> {
        let of_others =
            |line: &&Entry| line.session_id.as_deref().is_some_and(|id| !written.contains(id));
        let mut names: Vec<String> =
            self.lines.values().filter(of_others).map(|line| line.path.clone()).collect();
        names.sort();
        names
    }

    /// A page as it was written.
    pub(super) fn read(&mut self, name: &str) -> io::Result<Option<String>> {
        let Some(line) = self.lines.get(name) else { return Ok(None) };
        let page = match read_as_listed(&self.folder.join(name), line) {
            Ok(Some(page)) => page,
            Ok(None) => return Ok(self.leave_out(name, "it was changed since it was exported")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Ok(self.leave_out(name, &error.to_string())),
        };
        if !self.sound.contains(name) {
            let rules = self.leaks(&page)?;
            if !rules.is_empty() {
                let found = format!("it holds what looks like a secret ({})", rules.join(", "));
                return Ok(self.leave_out(name, &found));
            }
            self.sound.insert(name.to_owned());
        }
        Ok(Some(page))
    }

    fn leaks(&self, page: &str) -> io::Result<Vec<String>> {
        let Some(mut gate) = Gate::new(&self.request.redactor, self.request.format) else {
            return Ok(Vec::new());
        };
        gate.push(page.as_bytes())?;
        gate.finish()
    }

    fn leave_out(&mut self, name: &str, why: &str) -> Option<String> {
        let session = self.lines.remove(name).and_then(|line| line.session_id);
        let path = self.folder.join(name);
        let reason = format!(
            "{}, of an earlier export, is not listed: {why}; export its session again with --force",
            path.display()
        );
        self.failures.push(Failure { session, reason });
        None
    }
}

/// A file, if it is what a line of the manifest says. No more is read than the line speaks of.
fn read_as_listed(path: &Path, line: &Entry) -> io::Result<Option<String>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    options.read(true);
    manifest::private(&mut options);
    let mut bytes = Vec::new();
    options.open(path)?.take(line.bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    let mut hasher = manifest::Hasher::default();
    hasher.update(&bytes);
    let digest = hasher.finish();
    let is_listed = digest.bytes == line.bytes && digest.sha256 == line.sha256;
    Ok(if is_listed { String::from_utf8(bytes).ok() } else { None })
}
