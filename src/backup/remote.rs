//! Backups in an object store: the same files and manifest as in a folder, as objects under one prefix.
//!
//! An object is never written twice: the file of a session that has changed gets a name of its own, and the
//! manifest, which is replaced as a whole and only if nobody else has replaced it since it was read, is
//! what makes it count. So a run that is killed, or that another one overtakes, leaves every line with
//! its object, and at worst objects without a line. Those it wrote down before it began (`run-….json`),
//! and the next run that replaces the manifest removes them.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::checkpoint::Checkpoint;
use super::lock::OWN;
use super::restore::{self, Restored};
use super::{Error, Request, Summary, check_seal, failed, snapshots};
use crate::bucket::{self, Bucket, Condition, Object, Version};
use crate::export::{self, Exported, Scratch};
use crate::manifest::{self, Entry, Hasher, Manifest};
use crate::progress::Progress;
use crate::seal::Identities;
use crate::store;
use crate::verify::{self, Report, verify_elsewhere};

/// Bytes that are sent before the manifest is replaced, so that they need not be sent again if the run is
/// killed; more where the manifest itself is large.
const STRETCH: u64 = 32 << 20;
/// How many runs that did not end are cleaned up after at once.
const LEFTOVERS: usize = 8;

/// Brings the backup in a bucket up to date with the store.
pub fn run(
    request: &Request,
    bucket: &Bucket<'_>,
    progress: &dyn Progress,
) -> Result<Summary, Error> {
    let begun = Instant::now();
    let state = store::file_state(&request.store)?;
    let there = bucket.list()?;
    let checkpoint = Checkpoint::of(request, &state);
    let mut summary = Summary::default();
    if is_reached(&checkpoint, &there, bucket)? {
        summary.idle = true;
    } else {
        summary.sessions = send(request, bucket, there, progress)?;
    }
    if let Some(retention) = &request.copies {
        let (copy, removed) = snapshots::send(request, bucket, retention)?;
        summary.copy = Some(copy);
        summary.removed = removed;
    }
    let has_written = !summary.idle || summary.copy.is_some();
    if summary.is_whole() && has_written {
        let now = request.now + begun.elapsed().as_secs_f64();
        if store::file_state(&request.store)? == state && state.is_settled(now) {
            reach(&checkpoint, bucket)?;
        }
    }
    Ok(summary)
}

/// Sends the sessions that have changed.
fn send(
    request: &Request,
    bucket: &Bucket<'_>,
    there: BTreeMap<String, Object>,
    progress: &dyn Progress,
) -> Result<export::Summary, Error> {
    let outbox = Scratch::new()?;
    let sizes = there.iter().map(|(name, object)| (name.clone(), object.bytes)).collect();
    let mut shelf = Shelf::open(bucket, there, outbox.path())?;
    check_seal(outbox.path(), request.recipients.as_deref())
        .map_err(|error| error.about(bucket.address().to_string()))?;
    let export = request.export(outbox.path());
    let mut sessions = export::run_for(sizes, &request.store, &export, progress)?;
    shelf.take_in(outbox.path(), progress)?;
    shelf.name(&mut sessions.files);
    Ok(sessions)
}

/// The name of what the last run found, a digest.
fn checkpoint_name() -> String {
    format!("{OWN}/checkpoint")
}

/// Whether neither the store nor the bucket was written to since the last run ended.
fn is_reached(
    checkpoint: &Checkpoint,
    there: &BTreeMap<String, Object>,
    bucket: &Bucket<'_>,
) -> Result<bool, Error> {
    let name = checkpoint_name();
    let (true, Some(now)) = (there.contains_key(&name), checkpoint.digest(&stamp(there))) else {
        return Ok(false);
    };
    Ok(bucket.get(&name)?.is_some_and(|(last, _)| last == now.as_bytes()))
}

fn reach(checkpoint: &Checkpoint, bucket: &Bucket<'_>) -> Result<(), Error> {
    match checkpoint.digest(&stamp(&bucket.list()?)) {
        Some(digest) => Ok(bucket.put(&checkpoint_name(), digest.into_bytes())?),
        None => Ok(()),
    }
}

/// A digest of all objects but the checkpoint.
fn stamp(there: &BTreeMap<String, Object>) -> String {
    let mut hasher = Hasher::default();
    for (name, object) in there.iter().filter(|(name, _)| **name != checkpoint_name()) {
        hasher.update(format!("{name}\0{}\0{:?}\n", object.bytes, object.tag).as_bytes());
    }
    hasher.finish().sha256
}

/// What is in a bucket, and what its manifest says.
struct Shelf<'b, 'p> {
    bucket: &'b Bucket<'p>,
    there: BTreeMap<String, Object>,
    manifest: Manifest,
    /// Lines of the manifest that are no entries; they stay, for somebody to look at.
    unreadable: Vec<String>,
    version: Option<Version>,
    /// Different in every run.
    nonce: u64,
}

impl<'b, 'p> Shelf<'b, 'p> {
    /// Reads the manifest, and puts it into a folder.
    fn open(
        bucket: &'b Bucket<'p>,
        there: BTreeMap<String, Object>,
        folder: &Path,
    ) -> Result<Self, Error> {
        let (text, version) = match bucket.get(manifest::NAME)? {
            Some((text, version)) => (text, Some(version)),
            None => (Vec::new(), None),
        };
        let path = folder.join(manifest::NAME);
        fs::write(&path, &text).map_err(failed("write", &path))?;
        let manifest = Manifest::read(folder)?;
        let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        let line = |number: &usize| Some(String::from_utf8_lossy(lines.get(number - 1)?).into());
        let unreadable = manifest.unreadable.iter().filter_map(line).collect();
        let nonce = RandomState::new().build_hasher().finish();
        Ok(Self { bucket, there, manifest, unreadable, version, nonce })
    }

    /// Sends what an export has put into the folder, and makes it count.
    fn take_in(&mut self, folder: &Path, progress: &dyn Progress) -> Result<(), Error> {
        let known = self.manifest.entries.len();
        let lines = Manifest::read(folder)?.entries.split_off(known);
        let (files, marks): (Vec<Entry>, Vec<Entry>) =
            lines.into_iter().partition(|line| folder.join(&line.path).is_file());
        if files.is_empty() && marks.is_empty() {
            return Ok(());
        }
        let files: Vec<(PathBuf, Entry)> =
            files.into_iter().map(|line| (folder.join(&line.path), self.named(line))).collect();
        let plan = Plan::new(self, files.iter().map(|(_, line)| line));
        if !plan.names.is_empty() {
            self.bucket.put(&plan.name, plan.text())?;
        }
        progress.begin(files.len() as u64);
        let mut condition = self.commit(marks)?;
        for stretch in self.stretches(files) {
            let named: Vec<(String, PathBuf)> =
                stretch.iter().map(|(path, line)| (line.path.clone(), path.clone())).collect();
            self.bucket.send(&named)?;
            for (path, _) in &stretch {
                let _ = fs::remove_file(path); // it goes with its folder otherwise
            }
            condition = self.commit(stretch.into_iter().map(|(_, line)| line).collect())?;
        }
        self.clear(plan, condition)
    }

    /// The line with a name for its object that nothing has had before.
    fn named(&self, line: Entry) -> Entry {
        const LONGEST: usize = 255;
        let mut hasher = Hasher::default();
        hasher.update(&self.nonce.to_le_bytes());
        hasher.update(line.path.as_bytes());
        hasher.update(line.sha256.as_bytes());
        let tag = &hasher.finish().sha256[..16];
        let (stem, suffix) =
            line.path.split_at(line.path.rfind(".jsonl").unwrap_or(line.path.len()));
        let stem = &stem[..stem.floor_char_boundary(LONGEST - 1 - tag.len() - suffix.len())];
        Entry { path: format!("{stem}.{tag}{suffix}"), ..line }
    }

    /// So many files at once that a killed run loses little, and few enough manifests are written.
    fn stretches(&self, files: Vec<(PathBuf, Entry)>) -> Vec<Vec<(PathBuf, Entry)>> {
        let longest = STRETCH.max(8 * self.text().len() as u64);
        let (mut stretches, mut stretch, mut bytes) = (Vec::new(), Vec::new(), 0);
        for file in files {
            bytes += file.1.bytes;
            stretch.push(file);
            if bytes >= longest {
                stretches.push(std::mem::take(&mut stretch));
                bytes = 0;
            }
        }
        stretches.extend((!stretch.is_empty()).then_some(stretch));
        stretches
    }

    /// Replaces the manifest by one with these lines, too.
    fn commit(&mut self, lines: Vec<Entry>) -> Result<Condition, Error> {
        if lines.is_empty() {
            return Ok(Condition::Checked);
        }
        self.manifest.entries.extend(lines);
        let (version, condition) =
            self.bucket.replace(manifest::NAME, self.text().as_bytes(), self.version.as_ref())?;
        self.version = Some(version);
        Ok(condition)
    }

    /// The manifest, without the lines that count no longer.
    fn text(&self) -> String {
        let counting = self.manifest.counting();
        let mut lines = self.unreadable.clone();
        let counts = |entry: &&Entry| {
            counting.get(entry.path.as_str()).is_some_and(|that| std::ptr::eq(*that, *entry))
        };
        let entries = self.manifest.entries.iter().filter(counts);
        lines.extend(entries.filter_map(|entry| serde_json::to_string(entry).ok()));
        lines.push(String::new());
        lines.join("\n")
    }

    /// Gives files that were exported the names that their objects have.
    fn name(&self, files: &mut [Exported]) {
        let counting = self.manifest.counting();
        let named = counting.values().filter_map(|line| Some((line.session_id.as_ref()?, *line)));
        let lines: HashMap<&String, &Entry> = named.collect();
        for file in files {
            if let Some(line) = file.session_id.as_ref().and_then(|id| lines.get(id)) {
                file.path = self.bucket.address().of(&line.path).into();
            }
        }
    }

    /// Removes what the manifest lists no longer, of this run and of those that did not end. Who had begun
    /// before us cannot replace the manifest any more, if the server looks after that.
    fn clear(&self, plan: Plan, condition: Condition) -> Result<(), Error> {
        let mut plans = vec![plan];
        if condition == Condition::Checked {
            let left = self.there.keys().filter(|name| Plan::is_name(name)).take(LEFTOVERS);
            for name in left {
                plans.extend(self.bucket.get(name)?.and_then(|(text, _)| Plan::read(name, &text)));
            }
        }
        let counting = self.manifest.counting();
        let names = plans.iter().flat_map(|plan| plan.names.iter());
        let doomed: BTreeSet<&String> =
            names.filter(|name| !counting.contains_key(name.as_str())).collect();
        let doomed: Vec<String> = doomed.into_iter().cloned().collect();
        // What may not be removed costs room, and nothing else; its plan stays.
        if self.bucket.remove(&doomed)? == 0 {
            let plans: Vec<String> = plans.into_iter().map(|plan| plan.name).collect();
            self.bucket.remove(&plans)?;
        }
        Ok(())
    }
}

/// The names of objects that a run writes, and of those that they take the place of. Once it has ended,
/// those that the manifest does not list are nobody's.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    name: String,
    names: Vec<String>,
}

impl Plan {
    fn new<'e>(shelf: &Shelf<'_, '_>, lines: impl Iterator<Item = &'e Entry>) -> Self {
        let counting = shelf.manifest.counting();
        let before: HashMap<_, _> =
            counting.values().filter_map(|line| Some((line.slot()?, &line.path))).collect();
        let mut names = Vec::new();
        for line in lines {
            names.push(line.path.clone());
            let replaced = line.slot().and_then(|slot| before.get(&slot).copied());
            names.extend(replaced.cloned());
        }
        Self { name: format!("{OWN}/run-{:016x}.json", shelf.nonce), names }
    }

    fn is_name(name: &str) -> bool {
        let own = name.strip_prefix(OWN).and_then(|rest| rest.strip_prefix("/run-"));
        own.is_some_and(|rest| rest.strip_suffix(".json").is_some())
    }

    fn text(&self) -> Vec<u8> {
        serde_json::to_vec(&self.names).unwrap_or_default()
    }

    /// Only names of sessions' files are believed.
    fn read(name: &str, text: &[u8]) -> Option<Self> {
        let mut names: Vec<String> = serde_json::from_slice(text).ok()?;
        names.retain(|name| !name.contains('/') && name.contains(".jsonl."));
        Some(Self { name: name.to_owned(), names })
    }
}

/// Restores what the request names.
pub fn restore(
    request: &restore::Request,
    bucket: &Bucket<'_>,
    progress: &dyn Progress,
) -> Result<Restored, Error> {
    let inbox = Scratch::new()?;
    let there = bucket.list()?;
    Shelf::open(bucket, there, inbox.path())?;
    let bring = |entries: &[&Entry]| Ok(bring(bucket, inbox.path(), entries)?);
    let restored = restore::restore_brought(request, inbox.path(), bring, progress);
    let mut restored = restored.map_err(|error| error.about(bucket.address().to_string()))?;
    for (path, _) in &mut restored.damaged {
        *path = there_is(bucket, inbox.path(), path);
    }
    Ok(restored)
}

/// Verifies all objects against the manifest, and it against a store.
pub fn verify(
    bucket: &Bucket<'_>,
    store: Option<&Path>,
    identities: &Identities,
    progress: &dyn Progress,
) -> Result<Report, verify::Error> {
    let unusable =
        |error| verify::Error::Io { path: export::spool_folder(), source: io::Error::other(error) };
    let inbox = Scratch::new().map_err(unusable)?;
    let names: BTreeSet<String> = bucket.list()?.into_keys().collect();
    let Some((text, _)) = bucket.get(manifest::NAME)? else {
        return Err(verify::Error::NoManifest(bucket.address().to_string().into()));
    };
    let path = inbox.path().join(manifest::NAME);
    fs::write(&path, text).map_err(|source| verify::Error::Io { path, source })?;
    let fetch = |entries: &[&Entry]| bring(bucket, inbox.path(), entries);
    let mut report = verify_elsewhere(inbox.path(), &names, fetch, store, identities, progress)?;
    for path in report.paths_mut() {
        *path = there_is(bucket, inbox.path(), path);
    }
    Ok(report)
}

/// Reads the objects of these lines into a folder.
fn bring(bucket: &Bucket<'_>, folder: &Path, entries: &[&Entry]) -> Result<(), bucket::Error> {
    let file = |entry: &&Entry| (entry.path.clone(), folder.join(&entry.path));
    bucket.fetch(&entries.iter().map(file).collect::<Vec<_>>())
}

/// Where the object is that lies at a path for a while.
fn there_is(bucket: &Bucket<'_>, folder: &Path, path: &Path) -> PathBuf {
    let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
    bucket.address().of(&name).into()
}
