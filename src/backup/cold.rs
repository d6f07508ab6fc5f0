//! The cold archive: sessions that leave the store for a folder in a backup's form.
//!
//! In this order, so that a process may die at any point: the files are written and listed as the only
//! copies, read back and compared with every row inside the one transaction that deletes, and marked as
//! gone. What was written and not deleted is written again by the next run; what was deleted and not
//! marked is marked by it. The marks stand in the folder's manifest: nothing of ours is in the store.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::lock::Lock;
use super::{Error, check_seal, record_request};
use crate::export::{self, Keeper, Listing, Renewal, Taken};
use crate::filter::Selection;
use crate::manifest::{Entry, Locked, Manifest};
use crate::progress::Progress;
use crate::seal::{Identities, Recipients};
use crate::store;

/// Which sessions are to leave the store, and where to.
pub struct Request {
    /// The store.
    pub store: PathBuf,
    /// The folder.
    pub folder: PathBuf,
    /// The sessions' ids. Those that worked for them come along.
    pub ids: Vec<String>,
    /// Whom the files are encrypted to.
    pub recipients: Option<Arc<Recipients>>,
    /// Seconds since the epoch.
    pub now: f64,
}

/// What a run did.
#[derive(Debug, Default)]
pub struct Summary {
    /// What was written.
    pub written: export::Summary,
    /// What left the store, and what did not.
    pub taken: Taken,
}

/// Moves sessions from the store to the folder.
pub fn put_away(request: &Request, progress: &dyn Progress) -> Result<Summary, Error> {
    let _lock = Lock::take(&request.folder)?;
    check_seal(&request.folder, request.recipients.as_deref())?;
    mark_deleted(&request.store, &request.folder, request.now)?;
    let (recipients, witness) = match &request.recipients {
        None => (None, Identities::default()),
        // What is encrypted must be read back, too, and nobody's key is here for that.
        Some(recipients) => {
            let (recipients, witness) = recipients.with_witness();
            (Some(Arc::new(recipients)), witness)
        }
    };
    let export = export::Request {
        selection: Selection::Sessions(request.ids.clone()),
        listing: Listing::Wanted,
        renewal: Renewal::Leaving,
        ..record_request(&request.folder, recipients, request.now)
    };
    let written = export::run(&request.store, &export, &mut io::sink(), progress)?;
    let keepers: Vec<Keeper> = written
        .files
        .iter()
        .map(|file| Keeper {
            path: file.path.clone(),
            format: export.format,
            documents: file.documents.clone(),
        })
        .collect();
    let mut summary = Summary { written, taken: Taken::default() };
    if !keepers.is_empty() {
        summary.taken = export::delete_each_kept(&request.store, &keepers, &witness, progress)?;
    }
    let gone: HashSet<&str> = summary.taken.ids.iter().map(String::as_str).collect();
    mark(&request.folder, &gone, &summary.taken.parted, request.now)?;
    Ok(summary)
}

/// Marks what an earlier run deleted without living to mark it, when nothing else is to be put away.
pub fn settle(store: &Path, folder: &Path, now: f64) -> Result<(), Error> {
    if Manifest::read(folder)?.entries.is_empty() {
        return Ok(());
    }
    let _lock = Lock::take(folder)?;
    mark_deleted(store, folder, now)
}

fn mark_deleted(store: &Path, folder: &Path, now: f64) -> Result<(), Error> {
    let only = |entry: &&Entry| entry.only_copy && entry.gone_at.is_none();
    let manifest = Manifest::read(folder)?;
    let open: Vec<&Entry> = manifest.current().into_values().filter(only).collect();
    if open.is_empty() {
        return Ok(());
    }
    let gone = store::read(store, |snapshot| {
        let mut gone = HashSet::new();
        for id in open.iter().filter_map(|entry| entry.session_id.as_deref()) {
            if snapshot.find(id)?.is_none() {
                gone.insert(id);
            }
        }
        Ok::<_, store::Error>(gone)
    })?;
    mark(folder, &gone, &[], now)
}

/// Appends a line for each of these sessions, which have left the store, with the children that stayed.
fn mark(
    folder: &Path,
    gone: &HashSet<&str>,
    parted: &[(String, String)],
    now: f64,
) -> Result<(), Error> {
    let mut manifest = Locked::open(folder)?;
    let lines = manifest.entries()?;
    let is_gone = |entry: &&Entry| entry.session_id.as_deref().is_some_and(|id| gone.contains(id));
    let line = |entry: &Entry| {
        let own = parted.iter().filter(|(parent, _)| entry.session_id.as_ref() == Some(parent));
        let mut children = entry.children.clone();
        children.extend(own.map(|(_, child)| child.clone()));
        children.sort();
        children.dedup();
        Entry { gone_at: Some(now), children, ..entry.clone() }
    };
    let ours = lines.current().into_values().filter(|entry| entry.only_copy);
    let mut marks: Vec<Entry> = ours.filter(is_gone).map(line).collect();
    marks.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(manifest.append(&marks)?)
}

/// The files of the sessions that are in the folder and had left the store.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let manifest = Manifest::read(folder)?;
    let is_cold =
        |entry: &&Entry| entry.mark.is_some() && (entry.only_copy || entry.gone_at.is_some());
    let lines = manifest.current().into_values().filter(is_cold);
    let mut files: Vec<PathBuf> = lines.map(|entry| folder.join(&entry.path)).collect();
    if files.is_empty() {
        return Err(Error::NoArchive(folder.to_owned()));
    }
    files.sort();
    Ok(files)
}
