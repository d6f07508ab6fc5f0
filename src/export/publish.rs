//! Whole files get their names, and the manifest its lines.
//!
//! Under the manifest's lock, so that two exports into one folder cannot tear a file from its line:
//! announce, rename, sync the folder, append.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use super::ledger::Ledger;
use super::staging::{Staged, Staging};
use super::{Error, Record, name};
use crate::manifest::{self, Entry, Locked};

/// What may happen to a file that already has the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// It is replaced, whatever it is.
    Force,
    /// It is replaced, unless it may be the only copy of sessions.
    Replace,
    /// It is replaced if the manifest knows it and nobody changed it since.
    Known,
    /// It is replaced if, besides, the new file holds every session of the old one.
    Extend,
}

/// A whole file, with what is to be said of it.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) staged: Staged,
    pub(super) entry: Entry,
    /// Its documents, each the ids of its segments, oldest first.
    pub(super) documents: Vec<Vec<String>>,
}

/// Who named the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// We did, after session and title; so a new title takes the old name away.
    Ours,
    /// The user did.
    Users,
}

/// Files that wait to be published together.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    pub(super) folder: &'a Path,
    pub(super) overwrite: Overwrite,
    pub(super) record: Record,
    pub(super) naming: Naming,
    /// What replaces a file that is refused.
    pub(super) remedy: &'static str,
    pub(super) files: Vec<Finished>,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Published,
    Unchanged,
    /// Left alone, for a reason.
    Refused(String),
}

/// What became of a batch.
#[derive(Debug, Default)]
pub(super) struct Published {
    pub(super) files: Vec<(Finished, Outcome)>,
    /// Files of renamed sessions that could not be removed.
    pub(super) stale: Vec<String>,
}

impl Batch<'_> {
    /// Gives the files their names. What is refused stays as it was; an error of the disk ends the
    /// batch, with the files before it published and listed.
    pub(super) fn publish(
        &mut self,
        staging: &Staging,
        ledger: &mut Ledger,
    ) -> Result<Published, Error> {
        let mut published = Published::default();
        if self.files.is_empty() {
            return Ok(published);
        }
        let mut manifest = match self.record {
            Record::Manifest => Some(Locked::open(self.folder)?),
            Record::Nothing => None,
        };
        match &mut manifest {
            Some(manifest) => ledger.catch_up(manifest)?,
            None => ledger.look_up(self.folder)?,
        }
        let files = std::mem::take(&mut self.files);
        let planned = |file: Finished| {
            let plan = plan(self, &file, ledger.line(&file.entry.path))?;
            Ok::<_, Error>((file, plan))
        };
        let moves = files.into_iter().map(planned).collect::<Result<Vec<_>, _>>()?;
        let new: Vec<&Finished> = moves
            .iter()
            .filter(|(_, plan)| *plan == Outcome::Published)
            .map(|(file, _)| file)
            .collect();
        sync(&new).map_err(Error::writing(self.folder))?;
        if manifest.is_some() {
            let lines: Vec<&Entry> = new.iter().map(|file| &file.entry).collect();
            staging.announce(&lines).map_err(Error::writing(self.folder))?;
        }
        let (mut appended, mut failure) = (Vec::new(), None);
        for (file, plan) in moves {
            if let Err(error) = carry_out(self.folder, &file, &plan) {
                failure = Some(error);
                break;
            }
            // A file can be whole already while its line was lost.
            let line = ledger.line(&file.entry.path);
            let listed = line.is_some_and(|line| is_same(line, &file.entry));
            if plan == Outcome::Published || plan == Outcome::Unchanged && !listed {
                appended.push(file.entry.clone());
            }
            published.files.push((file, plan));
        }
        for folder in folders_of(self.folder, &published.files) {
            sync_folder(&folder).map_err(Error::writing(&folder))?;
        }
        if let Some(manifest) = &mut manifest {
            if let Err(error) = manifest.append(&appended) {
                staging.keep(); // the next export here appends the lines
                return Err(error.into());
            }
            ledger.catch_up(manifest)?;
            if self.naming == Naming::Ours {
                published.stale = remove_renamed(self.folder, ledger)?;
            }
        }
        failure.map_or(Ok(published), Err)
    }
}

/// Waits until files are on the disk; together, because a disk syncs many about as fast as one.
fn sync(files: &[&Finished]) -> io::Result<()> {
    const AT_ONCE: usize = 8;
    let share = files.len().div_ceil(AT_ONCE).max(1);
    std::thread::scope(|scope| {
        let sync = |files: &[&Finished]| files.iter().try_for_each(|file| file.staged.sync());
        let threads: Vec<_> =
            files.chunks(share).map(|files| scope.spawn(move || sync(files))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, io::Result<()>>| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))
        };
        threads.into_iter().map(join).collect::<Vec<_>>().into_iter().collect()
    })
}

/// Whether a line says already what a new one would say.
fn is_same(line: &Entry, new: &Entry) -> bool {
    line.sha256 == new.sha256
        && line.gone_at == new.gone_at
        && line.mark == new.mark
        && line.texts == new.texts
}

/// The folders that files were published in, each with those above it, and the whole.
fn folders_of(folder: &Path, files: &[(Finished, Outcome)]) -> BTreeSet<PathBuf> {
    let published = files.iter().filter(|(_, outcome)| *outcome == Outcome::Published);
    let targets = published.map(|(file, _)| folder.join(&file.entry.path));
    let parents = targets.flat_map(|target| {
        let inside = target.ancestors().skip(1).take_while(|path| *path != folder);
        inside.map(Path::to_owned).collect::<Vec<_>>()
    });
    parents.chain([folder.to_owned()]).collect()
}

fn carry_out(folder: &Path, file: &Finished, plan: &Outcome) -> Result<(), Error> {
    let target = folder.join(&file.entry.path);
    let done = match plan {
        Outcome::Published => {
            make_folders(folder, &target).and_then(|()| file.staged.rename(&target))
        }
        Outcome::Unchanged | Outcome::Refused(_) => file.staged.discard(),
    };
    done.map_err(|source| Error::Write { path: target, source })
}

/// Makes the folders that a file is to be in, below one that is there.
fn make_folders(folder: &Path, target: &Path) -> io::Result<()> {
    let parent = parent(target);
    if parent == folder || parent.is_dir() {
        return Ok(());
    }
    private_folder().recursive(true).create(parent)
}

/// A folder for the owner's eyes alone.
pub(super) fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder
}

fn plan(batch: &Batch<'_>, file: &Finished, old: Option<&Entry>) -> Result<Outcome, Error> {
    let Batch { folder, overwrite, record, .. } = *batch;
    let target = folder.join(&file.entry.path);
    if let Some(link) = manifest::link_on_the_way(folder, &file.entry.path) {
        return Ok(Outcome::Refused(format!("{} is no folder", link.display())));
    }
    let meta = match fs::symlink_metadata(&target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Published),
        Err(source) => {
            return Err(Error::Write { path: target, source });
        }
        Ok(meta) => meta,
    };
    if meta.is_dir() {
        return Ok(Outcome::Refused("a folder has this name".to_owned()));
    }
    let known = matches!(overwrite, Overwrite::Known | Overwrite::Extend);
    let digest = if meta.is_file() && (known || meta.len() == file.staged.digest.bytes) {
        Some(manifest::digest(&target)?)
    } else {
        None
    };
    if digest.as_ref() == Some(&file.staged.digest) {
        return Ok(Outcome::Unchanged);
    }
    let refused = |what: &str| Ok(Outcome::Refused(format!("{what}; {}", batch.remedy)));
    if overwrite == Overwrite::Force {
        return Ok(Outcome::Published);
    }
    if let Some(old) = old
        && (overwrite == Overwrite::Extend || old.only_copy)
        && !covers(&file.entry, old)
    {
        return refused("it holds sessions that the new file does not, and may be their only copy");
    }
    if batch.naming == Naming::Ours && old.is_some_and(|old| old.slot() != file.entry.slot()) {
        return refused("it holds another session, or another form of it");
    }
    if old.is_some() && record == Record::Nothing {
        return refused("the manifest lists it, and --no-manifest would make the line false");
    }
    match (overwrite, old) {
        (Overwrite::Force | Overwrite::Replace, _) => Ok(Outcome::Published),
        (Overwrite::Known | Overwrite::Extend, None) => {
            refused("it exists and the manifest does not know it")
        }
        (Overwrite::Known | Overwrite::Extend, Some(old)) => {
            if digest.is_some_and(|digest| digest.sha256 == old.sha256) {
                Ok(Outcome::Published)
            } else {
                refused("it was changed since it was exported")
            }
        }
    }
}

/// Whether one file holds every session of another.
fn covers(new: &Entry, old: &Entry) -> bool {
    let new: HashSet<&str> = new.sessions().collect();
    old.sessions().all(|id| new.contains(id))
}

/// Removes what renamed sessions left under their old names, where nobody changed it since. Names
/// that we would not have given are the user's.
fn remove_renamed(folder: &Path, ledger: &mut Ledger) -> Result<Vec<String>, Error> {
    let mut stale = Vec::new();
    for line in ledger.take_outdated() {
        let old = folder.join(&line.path);
        let usual = || line.session_id.as_deref().is_some_and(|id| name::is_of(&line.path, id));
        let ours = line.naming.is_some() || usual();
        if !ours || fs::symlink_metadata(&old).is_err() {
            continue;
        }
        if manifest::digest(&old).is_ok_and(|digest| digest.sha256 == line.sha256) {
            fs::remove_file(&old).map_err(Error::writing(&old))?;
        } else {
            stale.push(line.path);
        }
    }
    Ok(stale)
}

/// Makes the names in a folder last.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The folder that a file is in.
pub(super) fn parent(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        Some(_) | None => PathBuf::from("."),
    }
}
