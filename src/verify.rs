//! Whether files are still what the manifest says, and whether the store has more than they do.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::iter::repeat;
use std::path::{Path, PathBuf};

use formats::FORMATS;
use serde::Serialize;

use crate::bucket;
use crate::export::is_staging;
use crate::manifest::{self, Entry, Manifest};
use crate::progress::Progress;
use crate::redact::{Redactor, Scope};
use crate::seal::Identities;
use crate::store::{self, Shown, Snapshot};
use crate::unpack;

/// What a verification found. Paths are as the user can open them.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Files that are what their manifest line says.
    pub intact: u64,
    /// Listed, and not there.
    pub missing: Vec<PathBuf>,
    /// There, and not what any line says.
    pub changed: Vec<PathBuf>,
    /// There, and what an older line says.
    pub stale: Vec<PathBuf>,
    /// There, in a format of ours, and not listed.
    pub unlisted: Vec<PathBuf>,
    /// Encrypted, what the manifest says, and not to be opened with the keys that were given.
    pub closed: Vec<Closed>,
    /// Lines of a manifest that are no entries, or whose path leads out of its folder.
    pub bad_lines: Vec<BadLine>,
    /// The comparison with the store, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<Difference>,
}

/// An encrypted file that cannot be read to its end.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Closed {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// What became of a listed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// It is what its line says.
    Intact,
    /// It is not, and that was taken down.
    Other,
}

/// A line of a manifest that tells nothing of a file beside it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// The manifest.
    pub manifest: PathBuf,
    /// From 1.
    pub line: usize,
}

/// How the files differ from the store.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Sessions of the store that are in no file.
    pub missing: Vec<String>,
    /// Sessions of which the store has other messages than the file.
    pub grown: Vec<Grown>,
    /// Sessions in a file that the store no longer has.
    pub gone: Vec<String>,
}

/// A session of which the store has other messages than the file.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Grown {
    /// The session; for a chain its first segment.
    pub session_id: String,
    /// Messages in the file.
    pub archived: u64,
    /// Messages in the store.
    pub stored: u64,
}

impl Report {
    /// All paths that it names, for whoever knows better where those files are.
    #[cfg(feature = "object-store")]
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let Self { missing, changed, stale, unlisted, closed, bad_lines, .. } = self;
        let paths = [missing, changed, stale, unlisted].into_iter().flatten();
        let closed = closed.iter_mut().map(|closed| &mut closed.path);
        paths.chain(closed).chain(bad_lines.iter_mut().map(|bad| &mut bad.manifest))
    }

    /// Whether nothing differs.
    pub fn is_clean(&self) -> bool {
        let Self { intact: _, missing, changed, stale, unlisted, closed, bad_lines, store } = self;
        let paths = [missing, changed, stale, unlisted].into_iter().all(Vec::is_empty);
        paths
            && closed.is_empty()
            && bad_lines.is_empty()
            && store.as_ref().is_none_or(|store| *store == Difference::default())
    }
}

/// Verifies folders whole, and files by the manifest beside them. With identities, encrypted files are
/// read to their ends, too.
pub fn verify(
    targets: &[PathBuf],
    store: Option<&Path>,
    identities: &Identities,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    let mut report = Report::default();
    let mut archived = Vec::new();
    for (folder, files) in by_folder(targets) {
        let mut manifest = Manifest::read(&folder)?;
        if !folder.join(manifest::NAME).exists() {
            return Err(Error::nothing_at(folder, targets));
        }
        let bad = |line| BadLine { manifest: folder.join(manifest::NAME), line };
        report.bad_lines.extend(manifest.unreadable.iter().copied().map(bad));
        if let Some(files) = &files {
            manifest.entries.retain(|entry| files.contains(&entry.path));
            report.find_unlisted_among(&folder, files, &manifest)?;
        } else {
            report.find_unlisted(&folder, &manifest)?;
        }
        report.check(&folder, &manifest, identities, progress)?;
        let whole = |entry: &&Entry| entry.disclosure.is_none();
        archived.extend(manifest.counting().into_values().filter(whole).cloned());
    }
    if let Some(path) = store {
        report.store = Some(store::read(path, |snapshot| compare(snapshot, &archived))?);
    }
    report.sort();
    Ok(report)
}

/// Verifies files that lie elsewhere, under these names. The folder has their manifest alone; `bring` puts
/// some of the files there, so far as there are such, and they are removed again.
#[cfg(feature = "object-store")]
pub(crate) fn verify_elsewhere(
    folder: &Path,
    names: &BTreeSet<String>,
    mut bring: impl FnMut(&[&Entry]) -> Result<(), bucket::Error>,
    store: Option<&Path>,
    identities: &Identities,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    const AT_ONCE: usize = 32;
    let manifest = Manifest::read(folder)?;
    let (by_path, said) = (manifest.current(), Said::of(&manifest));
    let mut report = Report::default();
    let bad = |line| BadLine { manifest: folder.join(manifest::NAME), line };
    report.bad_lines.extend(manifest.unreadable.iter().copied().map(bad));
    let unlisted = names.iter().filter(|name| {
        let is_known = by_path.contains_key(name.as_str()) || *name == manifest::NAME;
        is_ours(name) && !is_known && !name.starts_with('.')
    });
    report.unlisted.extend(unlisted.map(|name| folder.join(name)));
    progress.begin(by_path.len() as u64);
    let entries: Vec<&Entry> = by_path.into_values().collect();
    for entries in entries.chunks(AT_ONCE) {
        bring(entries)?;
        for entry in entries {
            report.check_line(folder, entry, &said, identities)?;
            let _ = fs::remove_file(folder.join(&entry.path)); // it may have been missing
            progress.step();
        }
    }
    if let Some(path) = store {
        let whole = |entry: &&Entry| entry.disclosure.is_none();
        let archived: Vec<Entry> =
            manifest.counting().into_values().filter(whole).cloned().collect();
        report.store = Some(store::read(path, |snapshot| compare(snapshot, &archived))?);
    }
    report.sort();
    Ok(report)
}

/// Whether a file of this name is in a format of ours.
fn is_ours(name: &str) -> bool {
    FORMATS.iter().any(|format| name.ends_with(&format!(".{}", format.extension)))
}

/// What can go wrong with a verification itself.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A manifest or file cannot be read.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A folder or file cannot be looked at.
    #[error("cannot read {}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is nothing to verify by.
    #[error("there is no {} in {}", manifest::NAME, .0.display())]
    NoManifest(PathBuf),
    /// An object store does not do what it should.
    #[error(transparent)]
    Bucket(#[from] bucket::Error),
    /// The user asked for an end.
    #[error("interrupted")]
    Cancelled,
}

impl Error {
    /// Of a folder without a manifest: what was named may not be there at all.
    fn nothing_at(folder: PathBuf, targets: &[PathBuf]) -> Self {
        let missing = targets.iter().find_map(|path| Some((path, fs::metadata(path).err()?)));
        match missing {
            Some((path, source)) => Error::Io { path: path.clone(), source },
            None => Error::NoManifest(folder),
        }
    }
}

/// What all lines of a manifest say together.
struct Said<'m> {
    /// The paths that sessions have now.
    counting: HashSet<&'m str>,
    /// What any line says of a path.
    digests: HashSet<(&'m str, &'m str)>,
}

impl<'m> Said<'m> {
    fn of(manifest: &'m Manifest) -> Self {
        let digest = |entry: &'m Entry| (entry.path.as_str(), entry.sha256.as_str());
        Self {
            counting: manifest.counting().into_keys().collect(),
            digests: manifest.entries.iter().map(digest).collect(),
        }
    }
}

/// The folders to look at, each with the files that were named in it; `None` for all.
fn by_folder(targets: &[PathBuf]) -> BTreeMap<PathBuf, Option<BTreeSet<String>>> {
    let mut folders = BTreeMap::new();
    for target in targets {
        let is_manifest = target.file_name().is_some_and(|name| name == manifest::NAME);
        let parent = target.parent().filter(|p| !p.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).to_owned();
        if target.is_dir() {
            folders.insert(target.clone(), None);
        } else if is_manifest {
            folders.insert(parent, None);
        } else if let Some(name) = target.file_name() {
            let files = folders.entry(parent).or_insert_with(|| Some(BTreeSet::new()));
            if let Some(files) = files {
                files.insert(name.to_string_lossy().into_owned());
            }
        }
    }
    folders
}

impl Report {
    fn check(
        &mut self,
        folder: &Path,
        manifest: &Manifest,
        identities: &Identities,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let (by_path, said) = (manifest.current(), Said::of(manifest));
        progress.begin(by_path.len() as u64);
        for entry in by_path.values() {
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            self.check_line(folder, entry, &said, identities)?;
            progress.step();
        }
        Ok(())
    }

    fn check_line(
        &mut self,
        folder: &Path,
        entry: &Entry,
        said: &Said<'_>,
        identities: &Identities,
    ) -> Result<(), Error> {
        if self.check_file(folder, entry, said)? == Found::Intact
            && entry.sealed_to.is_some()
            && !identities.is_empty()
        {
            self.open(folder.join(&entry.path), identities);
        }
        Ok(())
    }

    fn check_file(
        &mut self,
        folder: &Path,
        entry: &Entry,
        said: &Said<'_>,
    ) -> Result<Found, Error> {
        let path = folder.join(&entry.path);
        let is_elsewhere = manifest::link_on_the_way(folder, &entry.path).is_some();
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_file() && !is_elsewhere => {}
            Ok(_) => {
                self.changed.push(path);
                return Ok(Found::Other);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if said.counting.contains(entry.path.as_str()) {
                    self.missing.push(path);
                }
                return Ok(Found::Other);
            }
            Err(source) => return Err(Error::Io { path, source }),
        }
        let found = manifest::digest(&path)?;
        if entry.sha256 == found.sha256 {
            self.intact += 1;
            return Ok(Found::Intact);
        } else if said.digests.contains(&(entry.path.as_str(), found.sha256.as_str())) {
            self.stale.push(path);
        } else {
            self.changed.push(path);
        }
        Ok(Found::Other)
    }

    /// The digest is right; whether what is in the file can be read is another matter.
    fn open(&mut self, path: PathBuf, identities: &Identities) {
        let opened = fs::File::open(&path).and_then(|file| unpack::reader(file, identities));
        let read = opened.and_then(|mut text| io::copy(&mut text, &mut io::sink()));
        if let Err(error) = read {
            self.closed.push(Closed { path, reason: error.to_string() });
        }
    }

    fn find_unlisted_among(
        &mut self,
        folder: &Path,
        files: &BTreeSet<String>,
        manifest: &Manifest,
    ) -> Result<(), Error> {
        let listed = manifest.current();
        for path in files.iter().filter(|file| !listed.contains_key(file.as_str())) {
            let path = folder.join(path);
            match fs::symlink_metadata(&path) {
                Ok(_) => self.unlisted.push(path),
                Err(source) => return Err(Error::Io { path, source }),
            }
        }
        Ok(())
    }

    fn find_unlisted(&mut self, folder: &Path, manifest: &Manifest) -> Result<(), Error> {
        let listed = manifest.current();
        let failed = |source| Error::Io { path: folder.to_owned(), source };
        fs::read_dir(folder).map_err(failed)?;
        let below = listed.keys().filter_map(|path| Some(path.rsplit_once('/')?.0));
        let folders: BTreeSet<&str> = below.chain([""]).collect();
        for inner in folders {
            let Ok(files) = fs::read_dir(folder.join(inner)) else {
                continue; // what lies there is missing, and told
            };
            for file in files {
                let file = file.map_err(failed)?;
                let name = file.file_name().to_string_lossy().into_owned();
                let path = if inner.is_empty() { name.clone() } else { format!("{inner}/{name}") };
                let ours = is_ours(&name);
                let known = listed.contains_key(path.as_str()) || path == manifest::NAME;
                if ours && !known && !is_staging(&name) {
                    self.unlisted.push(file.path());
                }
            }
        }
        Ok(())
    }

    fn sort(&mut self) {
        for paths in [&mut self.missing, &mut self.changed, &mut self.stale, &mut self.unlisted] {
            paths.sort();
        }
    }
}

fn compare(snapshot: &Snapshot<'_>, archived: &[Entry]) -> Result<Difference, store::Error> {
    let mut difference = Difference::default();
    let mut seen = HashSet::new();
    for entry in archived {
        if let (Some(ids), Some(counts)) = (&entry.session_ids, &entry.message_counts) {
            let last = entry.last_message_ids.iter().flatten().copied();
            for ((id, count), last) in ids.iter().zip(counts).zip(last.chain(repeat(None))) {
                let ids = std::slice::from_ref(id);
                difference.compare(snapshot, entry, ids, Archived { messages: *count, last })?;
            }
            seen.extend(ids.iter().cloned());
        } else {
            let ids = &entry.lineage_session_ids;
            let archived = Archived { messages: entry.message_count, last: entry.last_message_id };
            difference.compare(snapshot, entry, ids, archived)?;
            seen.extend(ids.iter().cloned());
        }
    }
    let mut scope = Scope::default();
    for key in snapshot.matching(&crate::filter::Selection::All)?.sessions {
        let row = Redactor::none().apply(snapshot.brief(key)?, &mut scope);
        if !seen.contains(row.id()) {
            difference.missing.push(row.id().to_owned());
        }
    }
    difference.gone.sort();
    difference.gone.dedup();
    difference.grown.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    difference.grown.dedup();
    Ok(difference)
}

/// What the manifest says of the messages of a session or chain.
#[derive(Debug, Clone, Copy)]
struct Archived {
    messages: u64,
    last: Option<i64>,
}

impl Difference {
    fn compare(
        &mut self,
        snapshot: &Snapshot<'_>,
        entry: &Entry,
        ids: &[String],
        archived: Archived,
    ) -> Result<(), store::Error> {
        let shown = entry.messages.as_deref().and_then(Shown::named).unwrap_or(Shown::Active);
        let mut keys = Vec::new();
        for id in ids {
            match snapshot.find(id)? {
                Some(key) => keys.push(key),
                None => self.gone.push(id.clone()),
            }
        }
        let (Some(first), true) = (keys.first(), keys.len() == ids.len()) else {
            return Ok(());
        };
        if ids.len() > 1 {
            keys = snapshot.chain(*first)?; // the conversation may have gone on
        }
        let (mut stored, mut last) = (0, None);
        for key in keys {
            let extent = snapshot.extent(key, shown)?;
            stored += extent.messages();
            last = extent.last_id().max(last);
        }
        let same_last = archived.last.is_none() || archived.last == last;
        if stored != archived.messages || !same_last {
            let (session_id, archived) = (ids[0].clone(), archived.messages);
            self.grown.push(Grown { session_id, archived, stored });
        }
        Ok(())
    }
}
