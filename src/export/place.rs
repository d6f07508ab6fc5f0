//! Where an export's files are staged, and how they get from there to where they were asked for.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ledger::Ledger;
use super::publish::{
    Batch, Finished, Naming, Outcome, Published, parent, private_folder, sync_folder,
};
use super::staging::Staging;
use super::{Error, Exported, Failure, Listing, Renewal, Request, Summary, Target};
use crate::manifest::{Entry, Locked};

/// The folder that an export writes to.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: PathBuf,
    kind: Kind,
    ledger: Ledger,
    /// The sizes of the files that the manifest is about, where those are elsewhere.
    elsewhere: Option<BTreeMap<String, u64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Shared with everybody; nothing of ours stays there.
    Spool,
    /// The user's, and there already.
    Given,
    /// The user's, made when there is something to put into it.
    Made,
}

impl Place {
    /// The folder that a target lies in; `None` where nothing is to be written.
    pub(super) fn of(target: &Target) -> Option<Self> {
        let (folder, kind) = match target {
            Target::Nowhere => return None,
            Target::Stream => (spool_folder(), Kind::Spool),
            Target::File(file) => (parent(file), Kind::Given),
            Target::Folder(folder) => (folder.clone(), Kind::Made),
        };
        Some(Self { folder, kind, ledger: Ledger::default(), elsewhere: None })
    }

    /// The same, where the manifest is about files that lie elsewhere.
    pub(super) fn whose_files_are_at(self, elsewhere: BTreeMap<String, u64>) -> Self {
        Self { elsewhere: Some(elsewhere), ..self }
    }

    /// Whether there is anything of this name.
    pub(super) fn has(&self, path: &str) -> bool {
        match &self.elsewhere {
            Some(sizes) => sizes.contains_key(path),
            None => fs::symlink_metadata(self.folder.join(path)).is_ok(),
        }
    }

    /// How large the file of this name is.
    pub(super) fn size_of(&self, path: &str) -> Option<u64> {
        if let Some(sizes) = &self.elsewhere {
            return sizes.get(path).copied();
        }
        let meta = fs::symlink_metadata(self.folder.join(path)).ok()?;
        meta.is_file().then_some(meta.len())
    }

    /// A staging folder there.
    pub(super) fn staging(&self) -> Result<Staging, Error> {
        let staging = match self.kind {
            Kind::Spool => Staging::spool(&self.folder),
            Kind::Given => Staging::create(&self.folder),
            Kind::Made => create_folder(&self.folder).and_then(|()| Staging::create(&self.folder)),
        };
        staging.map_err(Error::writing(&self.folder))
    }

    /// Learns what the manifest says.
    pub(super) fn look_up(&mut self) -> Result<(), Error> {
        Ok(self.ledger.look_up(&self.folder)?)
    }

    /// The line that counts for a session in a request's format and form.
    pub(super) fn line_of(&self, request: &Request, id: &str) -> Option<&Entry> {
        let disclosure = request.redactor.disclosure().name().map(str::to_owned);
        self.ledger.newest(&(id.to_owned(), request.format.name.to_owned(), disclosure))
    }

    /// The lines that count.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Entry> {
        self.ledger.lines()
    }

    /// Appends lines about files that are there already.
    pub(super) fn note(&mut self, lines: &[Entry]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut manifest = Locked::open(&self.folder)?;
        manifest.append(lines)?;
        Ok(self.ledger.catch_up(&mut manifest)?)
    }

    /// Delivers whole files to where they were asked for.
    pub(super) fn deliver(
        &mut self,
        request: &Request,
        staging: &Staging,
        files: Vec<Finished>,
        stream: &mut dyn Write,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        if request.target == Target::Stream {
            for file in files {
                file.staged.copy_to(stream).map_err(Error::writing(Path::new("-")))?;
                summary.deliver(Path::new(""), file, &Outcome::Published);
            }
            return Ok(());
        }
        let Request { overwrite, record, .. } = *request;
        let folder = &self.folder;
        let naming = if self.kind == Kind::Made { Naming::Ours } else { Naming::Users };
        let remedy = match request.renewal {
            Renewal::All => "--force replaces it",
            Renewal::Leaving | Renewal::Changed(_) => "where it is removed it is written again",
        };
        let mut batch = Batch { folder, overwrite, record, naming, remedy, files };
        let Published { files, stale } = batch.publish(staging, &mut self.ledger)?;
        summary.stale.extend(stale);
        for (file, outcome) in files {
            summary.deliver(folder, file, &outcome);
        }
        if request.listing == Listing::Unwanted {
            summary.files.clear(); // a folder may have many
        }
        Ok(())
    }
}

/// A folder for files that are needed for a while, and for nobody else's eyes. What a killed process
/// left of its own is removed by the next one.
#[derive(Debug)]
pub struct Scratch(Staging);

impl Scratch {
    /// Makes one.
    pub fn new() -> Result<Self, Error> {
        let spool = spool_folder();
        Ok(Self(Staging::spool(&spool).map_err(Error::writing(&spool))?))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Summary {
    fn deliver(&mut self, folder: &Path, file: Finished, outcome: &Outcome) {
        let Finished { entry, documents, .. } = file;
        // What is beside other parts of sessions, or about all, is none.
        let is_none = documents.is_empty();
        let sessions =
            if is_none { 0 } else { entry.session_ids.as_ref().map_or(1, Vec::len) as u64 };
        let path = folder.join(&entry.path);
        match outcome {
            Outcome::Refused(reason) => {
                let reason = format!("{}: {reason}", path.display());
                self.failures.push(Failure { session: entry.session_id, reason });
                return;
            }
            Outcome::Published => {
                self.exported += sessions;
                self.messages += entry.message_count;
                self.bytes += entry.bytes;
            }
            Outcome::Unchanged => self.unchanged += sessions,
        }
        for (rule, count) in &entry.redactions {
            *self.redactions.entry(rule.clone()).or_default() += count;
        }
        self.files.push(Exported {
            path,
            format: entry.format,
            session_id: entry.session_id,
            sha256: entry.sha256,
            documents,
        });
    }
}

fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    private_folder().recursive(true).create(folder)?;
    sync_folder(&parent(folder))
}

/// For what goes to a stream when it is whole. `/tmp` is often kept in memory, `/var/tmp` is not.
pub(crate) fn spool_folder() -> PathBuf {
    let large = Path::new("/var/tmp");
    if env::var_os("TMPDIR").is_none() && fs::metadata(large).is_ok_and(|meta| meta.is_dir()) {
        return large.to_owned();
    }
    env::temp_dir()
}
