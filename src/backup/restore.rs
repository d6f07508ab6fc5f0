//! Sessions from a backup into a store: checked before a row is written, compared after.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::{Error, failed};
use crate::export;
use crate::import::{self, Fidelity, Mode, OnConflict, OnRedacted};
use crate::manifest::{self, Entry, Manifest, Redacted};
use crate::progress::Progress;
use crate::seal::Identities;
use crate::store;
use crate::unpack;

/// What to restore, and where to.
pub struct Request {
    /// Ids, or beginnings of such; all sessions where there is none.
    pub ids: Vec<String>,
    /// The store; it is made where there is none.
    pub into: PathBuf,
    /// What becomes of a session that the store has already.
    pub on_conflict: OnConflict,
    /// Whether sessions come back that had left the store before the last backup.
    pub gone: Gone,
    /// What opens files that are encrypted.
    pub identities: Arc<Identities>,
    /// Whether anything is written.
    pub mode: Mode,
    /// For times without a zone.
    pub zone: TimeZone,
}

/// Whether sessions come back that were deleted from the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// Only if they are named.
    Left,
    /// They do.
    Restored,
}

/// What a restore did.
#[derive(Debug, Default)]
pub struct Restored {
    /// What went into the store.
    pub import: import::Summary,
    /// Files that are not what the manifest says, each with what they are instead; nothing of them went in.
    pub damaged: Vec<(PathBuf, String)>,
    /// Sessions that had been deleted from the store, and were left out.
    pub left: u64,
    /// Sessions that were compared with their files afterwards.
    pub compared: u64,
    /// Those that differ, each with the first difference.
    pub differing: Vec<(String, String)>,
}

/// Restores what the request names from the backup in a folder.
pub fn restore(
    request: &Request,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Restored, Error> {
    // A folder that is not there is no backup without sessions.
    fs::read_dir(folder).map_err(failed("read", folder))?;
    restore_brought(request, folder, |_| Ok(()), progress)
}

/// The same, where the folder has the manifest alone until `bring` puts the files there that are needed.
pub(super) fn restore_brought(
    request: &Request,
    folder: &Path,
    bring: impl FnOnce(&[&Entry]) -> Result<(), Error>,
    progress: &dyn Progress,
) -> Result<Restored, Error> {
    let manifest = Manifest::read(folder)?;
    let mut restored = Restored::default();
    let chosen = chosen(request, folder, &manifest, &mut restored)?;
    bring(&chosen)?;
    check_key(request, folder, &chosen)?;
    let mut whole = Vec::new();
    for &entry in &chosen {
        let path = folder.join(&entry.path);
        match fault(&path, entry) {
            None => whole.push((path, entry.session_id.clone().unwrap_or_default())),
            Some(fault) => restored.damaged.push((path, fault)),
        }
    }
    let kept = kept(request, &whole)?;
    restored.import = import::run(&request.import(&whole), progress)?;
    if request.mode == Mode::Write {
        // What was not imported was named already.
        let brought = &restored.import.brought;
        let failed = |id: &str| !restored.import.problems.is_empty() && !brought.contains_key(id);
        whole.retain(|(_, id)| !kept.contains(id) && !failed(id));
        restored.compared = whole.len() as u64;
        reunite(request, &chosen)?;
        restored.differing = export::differences(&request.into, &whole, &request.identities)?;
    }
    Ok(restored)
}

impl Request {
    fn import(&self, files: &[(PathBuf, String)]) -> import::Request {
        import::Request {
            inputs: files.iter().map(|(path, _)| path.clone()).collect(),
            store: self.into.clone(),
            on_conflict: self.on_conflict,
            fidelity: Fidelity::Verbatim,
            redacted: OnRedacted::Refuse,
            identities: self.identities.clone(),
            mode: self.mode,
            zone: self.zone.clone(),
        }
    }
}

/// The lines that are meant, in the order of their paths.
fn chosen<'m>(
    request: &Request,
    folder: &Path,
    manifest: &'m Manifest,
    restored: &mut Restored,
) -> Result<Vec<&'m Entry>, Error> {
    let whole = |entry: &&Entry| entry.mark.is_some() && entry.redacted == Redacted::No(false);
    let mut lines: Vec<&Entry> = manifest.counting().into_values().filter(whole).collect();
    if lines.is_empty() {
        return Err(Error::NoBackup(folder.to_owned()));
    }
    lines.sort_by(|a, b| a.path.cmp(&b.path));
    if request.ids.is_empty() {
        let all = lines.len();
        // What went to a cold archive was not deleted.
        let stays = |entry: &Entry| entry.gone_at.is_some() && !entry.only_copy;
        lines.retain(|entry| !stays(entry) || request.gone == Gone::Restored);
        restored.left = (all - lines.len()) as u64;
        return Ok(lines);
    }
    request.ids.iter().map(|id| named(&lines, id)).collect()
}

/// The line of the session with this id, or with the only id that begins so.
fn named<'m>(lines: &[&'m Entry], id: &str) -> Result<&'m Entry, Error> {
    const MIN_PREFIX: usize = 4;
    let of = |entry: &&&Entry| entry.session_id.as_deref() == Some(id);
    if let Some(entry) = lines.iter().find(of) {
        return Ok(entry);
    }
    let starts =
        |entry: &&&Entry| entry.session_id.as_deref().is_some_and(|own| own.starts_with(id));
    let mut found = lines.iter().filter(starts);
    match (found.next(), found.next()) {
        (Some(entry), None) if id.chars().count() >= MIN_PREFIX => Ok(entry),
        (Some(one), Some(other)) if id.chars().count() >= MIN_PREFIX => {
            let candidates = [one, other].map(|e| e.session_id.clone().unwrap_or_default());
            let given = id.to_owned();
            Err(store::Error::Ambiguous { given, candidates: candidates.to_vec() }.into())
        }
        _ => Err(Error::NoSuchSession(id.to_owned())),
    }
}

/// Gives sessions of the store their parents again that had gone to a cold archive.
fn reunite(request: &Request, chosen: &[&Entry]) -> Result<(), Error> {
    let parted: Vec<(&str, &[String])> = chosen
        .iter()
        .filter(|entry| !entry.children.is_empty())
        .filter_map(|entry| Some((entry.session_id.as_deref()?, entry.children.as_slice())))
        .collect();
    if parted.is_empty() || !request.into.exists() {
        return Ok(());
    }
    Ok(store::write(&request.into, |change| {
        for (parent, children) in parted {
            for child in children {
                change.adopt(parent, child)?;
            }
        }
        Ok::<_, store::Error>(())
    })?)
}

/// Whether there is a key for what is encrypted, as one of the files shows.
fn check_key(request: &Request, folder: &Path, chosen: &[&Entry]) -> Result<(), Error> {
    let sealed = |entry: &&&Entry| entry.sealed_to.is_some();
    let Some(entry) = chosen.iter().find(sealed) else { return Ok(()) };
    let path = folder.join(&entry.path);
    match File::open(&path).and_then(|file| unpack::reader(file, &request.identities)) {
        Err(source) if source.kind() == io::ErrorKind::PermissionDenied => {
            Err(Error::Closed { folder: folder.to_owned(), source })
        }
        // A damaged file is named with the others.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Why a file is not what its line says.
fn fault(path: &Path, entry: &Entry) -> Option<String> {
    match manifest::digest(path) {
        Ok(digest) if digest.sha256 == entry.sha256 => None,
        Ok(_) => Some("it was changed since it was written".to_owned()),
        Err(error) => Some(std::error::Error::source(&error).unwrap_or(&error).to_string()),
    }
}

/// Sessions of the store that stay as they are, so that they may differ from the backup.
fn kept(request: &Request, files: &[(PathBuf, String)]) -> Result<HashSet<String>, Error> {
    if request.on_conflict == OnConflict::Replace || !request.into.exists() {
        return Ok(HashSet::new());
    }
    Ok(store::read(&request.into, |snapshot| {
        let mut kept = HashSet::new();
        for (_, id) in files {
            if snapshot.find(id)?.is_some() {
                kept.insert(id.clone());
            }
        }
        Ok::<_, store::Error>(kept)
    })?)
}
