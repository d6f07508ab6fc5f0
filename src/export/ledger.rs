//! What a folder's manifest says of its files, kept up to date from batch to batch.
//!
//! Only lines that came since the last look are read: an export of many files publishes in batches,
//! and others may append in between.

use std::collections::HashMap;
use std::path::Path;

use crate::manifest::{Entry, Error, Locked, Manifest, Slot};

/// What counts of a manifest.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// How much of the manifest has been read, in bytes.
    read: u64,
    by_path: HashMap<String, Entry>,
    newest: HashMap<Slot, String>,
    /// Paths that sessions had before they were renamed.
    outdated: Vec<String>,
}

impl Ledger {
    /// Takes in what the manifest has got since.
    pub(super) fn catch_up(&mut self, manifest: &mut Locked) -> Result<(), Error> {
        let (new, read) = manifest.entries_from(self.read)?;
        self.read = read;
        self.take(new);
        Ok(())
    }

    /// Takes in a manifest that nothing will be appended to.
    pub(super) fn look_up(&mut self, folder: &Path) -> Result<(), Error> {
        *self = Self::default();
        self.take(Manifest::read(folder)?);
        Ok(())
    }

    /// The line that counts for a path.
    pub(super) fn line(&self, path: &str) -> Option<&Entry> {
        self.by_path.get(path)
    }

    /// The newest line of a slot, if it counts for its path still.
    pub(super) fn newest(&self, slot: &Slot) -> Option<&Entry> {
        let line = self.by_path.get(self.newest.get(slot)?)?;
        line.slot().is_some_and(|of| of == *slot).then_some(line)
    }

    /// The lines that count, in no order.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Entry> {
        self.by_path.values()
    }

    /// Lines of paths that sessions had before they were renamed, each given once.
    pub(super) fn take_outdated(&mut self) -> Vec<Entry> {
        let paths = std::mem::take(&mut self.outdated);
        paths.into_iter().filter_map(|path| self.superseded(&path).cloned()).collect()
    }

    /// A path can come back, if the title does.
    fn superseded(&self, path: &str) -> Option<&Entry> {
        let line = self.by_path.get(path)?;
        self.newest.get(&line.slot()?).filter(|newest| *newest != path).map(|_| line)
    }

    fn take(&mut self, lines: Manifest) {
        for mut line in lines.entries {
            if let Some(slot) = line.slot() {
                let before = self.newest.insert(slot, line.path.clone());
                self.outdated.extend(before.filter(|before| *before != line.path));
            }
            line.redactions.clear(); // counts of old exports serve nobody here
            self.by_path.insert(line.path.clone(), line);
        }
    }
}
