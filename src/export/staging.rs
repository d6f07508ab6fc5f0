//! Files that are not whole yet, in a hidden folder beside those that are.
//!
//! A staging folder is locked while its process lives. One that nobody holds was left by a process
//! that was killed; the next export into the same place finishes what is certain (files that had
//! their names but not yet their manifest lines) and removes the rest.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tempfile::TempDir;

use super::Encoding;
use super::gate::Gate;
use super::partial::Partial;
use crate::manifest::{self, Digest, Entry, Locked, Manifest};

const PREFIX: &str = ".hermes-sessions-";
const SUFFIX: &str = ".partial";
const LOCK: &str = "lock";

/// A folder for files that are not whole yet.
#[derive(Debug)]
pub(super) struct Staging {
    folder: TempDir,
    /// Held for as long as the folder is in use.
    _lock: File,
    files: AtomicU64,
    is_kept: AtomicBool,
}

impl Staging {
    /// Makes a staging folder in `output`, after tidying up what killed processes left there.
    pub(super) fn create(output: &Path) -> io::Result<Self> {
        for left in leftovers(output)? {
            // What cannot be tidied up, perhaps another user's, does not keep us from our work.
            let _ = recover(output, &left);
        }
        Self::plain(output)
    }

    /// Makes a staging folder in `output`, which everybody uses. What our own killed processes left
    /// there is removed; nothing else is looked at.
    pub(super) fn spool(output: &Path) -> io::Result<Self> {
        let staging = Self::plain(output)?;
        let ours = owner(staging.folder.path())?;
        for left in leftovers(output)? {
            if owner(&left).is_ok_and(|owner| owner == ours) && !is_locked(&left) {
                // Another of our processes may be quicker.
                let _ = fs::remove_dir_all(&left);
            }
        }
        Ok(staging)
    }

    fn plain(output: &Path) -> io::Result<Self> {
        loop {
            let folder = builder().tempdir_in(output)?;
            let path = folder.path().join(LOCK);
            let lock = File::create_new(&path).and_then(|file| file.lock().map(|()| file));
            // Another export may have taken the folder for a leftover before it was locked.
            match lock {
                Ok(lock) if path.exists() => {
                    let (files, is_kept) = (AtomicU64::new(0), AtomicBool::new(false));
                    return Ok(Self { folder, _lock: lock, files, is_kept });
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Begins a file.
    pub(super) fn file(&self, encoding: &Encoding, gate: Option<Gate>) -> io::Result<Partial> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.path().join(number.to_string());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        manifest::private(&mut options);
        let file = options.open(&path)?;
        Partial::new(path, file, encoding, gate)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder to the next export here, with what was announced.
    pub(super) fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    /// Writes down what is about to be published, for whoever finds this folder after a crash.
    pub(super) fn announce(&self, entries: &[&Entry]) -> io::Result<()> {
        let mut lines = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut lines, entry)?;
            lines.push(b'\n');
        }
        let mut file = File::create(self.folder.path().join(manifest::NAME))?;
        file.write_all(&lines)?;
        file.sync_all()
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.folder.disable_cleanup(*self.is_kept.get_mut());
    }
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder
}

/// Whether a process still uses a staging folder; one without a lock file is just being made.
fn is_locked(left: &Path) -> bool {
    File::open(left.join(LOCK)).map_or(true, |lock| lock.try_lock().is_err())
}

#[cfg(unix)]
fn owner(path: &Path) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(fs::symlink_metadata(path)?.uid())
}

#[cfg(not(unix))]
fn owner(_: &Path) -> io::Result<u32> {
    Ok(0) // the temporary folder is the user's own
}

/// Whether a name in an output folder belongs to a staging folder.
pub(crate) fn is_staging(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

fn leftovers(output: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(output)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_staging) && entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn recover(output: &Path, left: &Path) -> io::Result<()> {
    let lock = left.join(LOCK);
    if fs::symlink_metadata(&lock).is_ok_and(|meta| !meta.is_file()) {
        return Ok(()); // not made by us; opening a pipe would wait for ever
    }
    let lock = match File::open(lock) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return remove_unlocked(left),
        Err(error) => return Err(error),
    };
    if lock.try_lock().is_err() {
        return Ok(()); // in use
    }
    adopt(output, &Manifest::read(left).map_err(io::Error::other)?).map_err(io::Error::other)?;
    fs::remove_dir_all(left)
}

/// A folder gets its lock before anything else. An empty one without belongs to a process that was
/// killed very early, or that will make another; one with files to a process that was killed while
/// it removed the folder.
fn remove_unlocked(left: &Path) -> io::Result<()> {
    let has_files = fs::read_dir(left)?.next().is_some();
    if has_files && !left.join(LOCK).exists() {
        fs::remove_dir_all(left)
    } else {
        fs::remove_dir(left)
    }
}

/// Appends the lines of files that got their names before their process was killed.
fn adopt(output: &Path, announced: &Manifest) -> Result<(), manifest::Error> {
    let finished = |entry: &&Entry| {
        let digest = manifest::digest(&output.join(&entry.path));
        digest.is_ok_and(|digest| digest.sha256 == entry.sha256)
    };
    let finished: Vec<&Entry> = announced.entries.iter().filter(finished).collect();
    if finished.is_empty() {
        return Ok(());
    }
    let mut manifest = Locked::open(output)?;
    let lines = manifest.entries()?;
    let current = lines.current();
    let known = |entry: &Entry| {
        current.get(entry.path.as_str()).is_some_and(|line| line.sha256 == entry.sha256)
    };
    let lacking: Vec<Entry> = finished.into_iter().filter(|entry| !known(entry)).cloned().collect();
    manifest.append(&lacking)
}

/// A whole file that waits for its name.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) path: PathBuf,
    pub(super) digest: Digest,
    /// The rules that find something in it although it was redacted.
    pub(super) leaks: Vec<String>,
}

impl Staged {
    /// Waits until the bytes are on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    /// Gives the file its name.
    pub(super) fn rename(&self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)
    }

    pub(super) fn discard(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    pub(super) fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        io::copy(&mut BufReader::with_capacity(1 << 18, File::open(&self.path)?), out)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::super::Encoding;
    use super::{LOCK, Staging};
    use crate::manifest::{Manifest, NAME};

    #[test]
    fn a_killed_process_leaves_its_lines_to_the_next_one() {
        let output = tempfile::tempdir().unwrap();
        let left = output.path().join(".hermes-sessions-killed.partial");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        fs::write(left.join("1"), "half a file").unwrap();
        fs::write(output.path().join("done.md"), "abc").unwrap();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let line = |path: &str| {
            format!(
                r#"{{"session_id":"s","path":"{path}","format":"md","message_count":1,"sha256":"{sha256}","exported_at":0.0}}"#
            )
        };
        fs::write(left.join(NAME), format!("{}\n{}\n", line("done.md"), line("not-done.md")))
            .unwrap();

        let staging = Staging::create(output.path()).unwrap();

        assert!(!left.exists());
        let manifest = Manifest::read(output.path()).unwrap();
        assert_eq!(manifest.entries.len(), 1);
        assert_eq!(manifest.entries[0].path, "done.md");
        drop(staging);
        assert_eq!(fs::read_dir(output.path()).unwrap().count(), 2, "done.md and the manifest");
    }

    #[test]
    fn a_folder_without_a_lock_is_removed() {
        let output = tempfile::tempdir().unwrap();
        let left = output.path().join(".hermes-sessions-early.partial");
        fs::create_dir(&left).unwrap();
        drop(Staging::create(output.path()).unwrap());
        assert!(!left.exists());
        fs::create_dir(&left).unwrap();
        fs::write(left.join("13"), "half removed").unwrap();
        drop(Staging::create(output.path()).unwrap());
        assert!(!left.exists());
    }

    #[test]
    fn a_folder_in_use_is_left_alone() {
        let output = tempfile::tempdir().unwrap();
        let first = Staging::create(output.path()).unwrap();
        let mut file = first.file(&Encoding::Plain, None).unwrap();
        let second = Staging::create(output.path()).unwrap();
        file.write_all(b"abc").unwrap();
        let staged = file.finish().unwrap();
        staged.rename(&output.path().join("abc")).unwrap();
        assert_eq!(staged.digest.bytes, 3);
        drop((first, second));
        assert_eq!(fs::read_dir(output.path()).unwrap().count(), 1);
    }
}
