//! `manifest.jsonl`: one line for each finished file, beside the files it speaks of.
//!
//! The manifest is append-only. Paths are relative to it, so a folder can be moved; the last line
//! for a path is the one that counts. Lines are appended under a lock and in one write, after the
//! file they speak of has its name.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The manifest's name in every folder.
pub const NAME: &str = "manifest.jsonl";

/// A finished file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The session in the file; for a chain its first segment; null where a file holds many.
    pub session_id: Option<String>,
    /// The sessions of a file that holds many, in the file's order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ids: Option<Vec<String>>,
    /// How many messages of each of them the file holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_counts: Option<Vec<u64>>,
    /// The row id of the last message of each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message_ids: Option<Vec<Option<i64>>>,
    /// The segments of a chain, oldest first; the session alone where nothing is joined.
    #[serde(default)]
    pub lineage_session_ids: Vec<String>,
    /// Relative to the manifest, with `/` between components.
    pub path: String,
    /// The format's name.
    pub format: String,
    /// Which messages: active, compacted or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<String>,
    /// How many messages the file holds.
    pub message_count: u64,
    /// The row id of the last of them, in a file of one session or chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message_id: Option<i64>,
    /// The file's size.
    #[serde(default)]
    pub bytes: u64,
    /// The file's SHA-256, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Seconds since the epoch.
    pub exported_at: f64,
    /// Whether it was written to delete its sessions from the store, so that it may be their only
    /// copy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_copy: bool,
    /// How much of its sessions' rows it shows, where that is not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disclosure: Option<String>,
    /// What the session was like when it was written; another one where it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// A digest of all of it, to the last cell of its messages, as it was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<String>,
    /// Another one where the file is encrypted to others; `None` where it is not encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_to: Option<String>,
    /// When the session was found to have left the store, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_at: Option<f64>,
    /// Sessions that stayed in the store and had this one for their parent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<String>,
    /// How its name was made, where that is not the usual way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naming: Option<String>,
    /// The groups of rules that took secrets out, or false.
    #[serde(default)]
    pub redacted: Redacted,
    /// How often each rule did.
    #[serde(default)]
    pub redactions: BTreeMap<String, u64>,
    /// What wrote the file, with its version.
    #[serde(default)]
    pub tool: String,
}

impl Entry {
    /// The ids of the sessions in the file.
    pub fn sessions(&self) -> impl Iterator<Item = &str> {
        let many = self.session_ids.iter().flatten();
        many.chain(&self.lineage_session_ids).map(String::as_str)
    }

    /// What a folder has one file of: a session in a format, and in a form for certain eyes.
    pub fn slot(&self) -> Option<Slot> {
        Some((self.session_id.clone()?, self.format.clone(), self.disclosure.clone()))
    }
}

/// A session, a format, and how much of the session's rows is shown.
pub type Slot = (String, String, Option<String>);

/// Whether and how a file was redacted: `false`, or the groups of rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Redacted {
    /// By no group of rules.
    No(bool),
    /// By these.
    By(Vec<String>),
}

impl Default for Redacted {
    fn default() -> Self {
        Redacted::No(false)
    }
}

/// What can go wrong with a manifest.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read or written.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// read, lock, append to, …
        doing: &'static str,
        /// The manifest, or a file that it speaks of.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is a link, which might lead anywhere.
    #[error("{} is not a regular file", .0.display())]
    NotAFile(PathBuf),
}

fn failed<'p>(doing: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> Error + 'p {
    move |source| Error::Io { doing, path: path.to_owned(), source }
}

/// The lines of a manifest.
#[derive(Debug, Default)]
pub struct Manifest {
    /// In the order of the file.
    pub entries: Vec<Entry>,
    /// The numbers, from 1, of lines that are no entries or whose path leads out of the folder.
    pub unreadable: Vec<usize>,
}

impl Manifest {
    /// Reads the manifest of a folder; a folder without one has an empty one.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed("read", &path)(error)),
            Ok(meta) if !meta.is_file() => return Err(Error::NotAFile(path)),
            Ok(_) => {}
        }
        let file = File::open(&path).map_err(failed("read", &path))?;
        Self::parse(BufReader::new(file)).map_err(failed("read", &path))
    }

    fn parse(mut lines: impl io::BufRead) -> io::Result<Self> {
        let (mut manifest, mut line, mut number) = (Self::default(), Vec::new(), 0);
        while lines.read_until(b'\n', &mut line)? > 0 {
            number += 1;
            match serde_json::from_slice(&line) {
                Ok(entry) if is_name(&entry.path) => manifest.entries.push(entry),
                Err(_) if line.trim_ascii().is_empty() => {}
                Ok(Entry { .. }) | Err(_) => manifest.unreadable.push(number),
            }
            line.clear();
        }
        Ok(manifest)
    }

    /// The entry that counts for each path, without those of sessions that have another path since.
    pub fn counting(&self) -> HashMap<&str, &Entry> {
        let mut by_path = self.current();
        let mut by_session = HashMap::new();
        for entry in &self.entries {
            if let Some(slot) = entry.slot() {
                by_session.insert(slot, entry.path.as_str());
            }
        }
        by_path.retain(|path, entry| {
            let newest = entry.slot().and_then(|slot| by_session.get(&slot));
            newest.is_none_or(|newest| newest == path)
        });
        by_path
    }

    /// The entry that counts for each path.
    pub fn current(&self) -> HashMap<&str, &Entry> {
        self.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect()
    }
}

/// How deep below its manifest a file may be.
const DEPTH: usize = 3;

/// Whether a path names a file in the manifest's own folder, or below; a planted line must not lead away.
fn is_name(path: &str) -> bool {
    let is_part = |part: &str| {
        let mut names = Path::new(part).components();
        let first = names.next().filter(|name| matches!(name, std::path::Component::Normal(_)));
        first.is_some_and(|name| name.as_os_str() == part)
            && names.next().is_none()
            && part.len() <= 255
            && !part.contains(['\\', '\0'])
    };
    path.split('/').count() <= DEPTH && path.split('/').all(is_part)
}

/// What is no folder on the way to a file below its manifest, such as a link that somebody planted.
pub(crate) fn link_on_the_way(folder: &Path, path: &str) -> Option<PathBuf> {
    let folders = path.match_indices('/').map(|(at, _)| folder.join(&path[..at]));
    let is_other = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_dir());
    folders.into_iter().find(is_other)
}

/// A manifest that no other process appends to until this is dropped.
#[derive(Debug)]
pub struct Locked {
    file: File,
    path: PathBuf,
}

impl Locked {
    /// Opens a folder's manifest, or begins one, and waits until it is ours.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        if fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file()) {
            return Err(Error::NotAFile(path));
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        private(&mut options);
        let file = options.open(&path).map_err(failed("open", &path))?;
        file.lock().map_err(failed("lock", &path))?;
        Ok(Self { file, path })
    }

    /// The lines as they are now.
    pub fn entries(&mut self) -> Result<Manifest, Error> {
        Ok(self.entries_from(0)?.0)
    }

    /// The lines from an offset on, in bytes, and where the last that has an end ends. All of them where
    /// the manifest has become shorter than that.
    pub fn entries_from(&mut self, offset: u64) -> Result<(Manifest, u64), Error> {
        self.try_entries_from(offset).map_err(failed("read", &self.path))
    }

    fn try_entries_from(&mut self, offset: u64) -> io::Result<(Manifest, u64)> {
        let end = self.file.seek(SeekFrom::End(0))?;
        let whole = end - cut_off(&mut self.file, end)?.len() as u64;
        let offset = if offset > whole { 0 } else { offset };
        self.file.seek(SeekFrom::Start(offset))?;
        Ok((Manifest::parse(BufReader::new(&self.file))?, whole))
    }

    /// Appends lines in one write; where that fails, the manifest is as it was.
    pub fn append(&mut self, entries: &[Entry]) -> Result<(), Error> {
        if entries.is_empty() {
            return Ok(());
        }
        self.try_append(entries).map_err(failed("append to", &self.path))
    }

    fn try_append(&mut self, entries: &[Entry]) -> io::Result<()> {
        let mut end = self.file.seek(SeekFrom::End(0))?;
        let mut lines = Vec::new();
        let tail = cut_off(&mut self.file, end)?;
        if serde_json::from_slice::<serde::de::IgnoredAny>(&tail).is_ok() {
            lines.push(b'\n');
        } else if !tail.is_empty() {
            // Whoever wrote this was killed, and it says nothing.
            end -= tail.len() as u64;
            self.file.set_len(end)?;
        }
        for entry in entries {
            serde_json::to_writer(&mut lines, entry)?;
            lines.push(b'\n');
        }
        let written = self.file.write_all(&lines).and_then(|()| self.file.sync_all());
        if written.is_err() {
            self.file.set_len(end)?;
        }
        written
    }
}

/// What stands after the last line's end.
fn cut_off(file: &mut File, end: u64) -> io::Result<Vec<u8>> {
    const STEP: u64 = 4096;
    let (mut tail, mut from) = (Vec::new(), end);
    while from > 0 && !tail.contains(&b'\n') {
        let to = from;
        from = from.saturating_sub(STEP);
        file.seek(SeekFrom::Start(from))?;
        let mut before = Vec::new();
        file.take(to - from).read_to_end(&mut before)?;
        tail.splice(..0, before);
    }
    let line = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    Ok(tail.split_off(line))
}

/// For the owner's eyes alone, and never through a link that somebody planted.
pub(crate) fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// A file's size and SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// In bytes.
    pub bytes: u64,
    /// In lower-case hexadecimal digits.
    pub sha256: String,
}

/// Reads a file whole; a link is not followed.
pub fn digest(path: &Path) -> Result<Digest, Error> {
    let mut options = OpenOptions::new();
    options.read(true);
    private(&mut options);
    let mut file = options.open(path).map_err(failed("read", path))?;
    let mut hasher = Hasher::default();
    io::copy(&mut file, &mut hasher).map_err(failed("read", path))?;
    Ok(hasher.finish())
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Counts and hashes what is written to it.
#[derive(Debug, Default)]
pub struct Hasher {
    bytes: u64,
    sha256: Sha256,
}

impl Hasher {
    /// Takes more of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.sha256.update(bytes);
    }

    /// The size and hash of what was written.
    pub fn finish(self) -> Digest {
        let sha256 = hex(&self.sha256.finalize());
        Digest { bytes: self.bytes, sha256 }
    }
}

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Locked, Manifest, NAME, Redacted, digest};

    fn entry(path: &str, sha256: &str) -> Entry {
        Entry {
            session_id: Some("s".to_owned()),
            session_ids: None,
            message_counts: None,
            lineage_session_ids: vec!["s".to_owned()],
            path: path.to_owned(),
            format: "md".to_owned(),
            messages: Some("active".to_owned()),
            message_count: 1,
            last_message_id: None,
            last_message_ids: None,
            bytes: 2,
            sha256: sha256.to_owned(),
            exported_at: 0.5,
            only_copy: false,
            disclosure: None,
            mark: None,
            texts: None,
            sealed_to: None,
            gone_at: None,
            children: Vec::new(),
            naming: None,
            redacted: Redacted::No(false),
            redactions: std::collections::BTreeMap::new(),
            tool: "t".to_owned(),
        }
    }

    #[test]
    fn the_last_line_for_a_path_counts() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Locked::open(folder.path()).unwrap();
        manifest.append(&[entry("a", "1"), entry("b", "2")]).unwrap();
        manifest.append(&[entry("a", "3")]).unwrap();
        assert_eq!(manifest.entries().unwrap().current()["a"].sha256, "3");
        assert_eq!(Manifest::read(folder.path()).unwrap().entries.len(), 3);
    }

    #[test]
    fn a_line_that_was_cut_off_is_named_until_another_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let long = entry(&"a".repeat(200), &"0".repeat(9000));
        Locked::open(folder.path()).unwrap().append(&[entry("a", "1"), long]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 2]).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap().unreadable, [2]);
        let mut manifest = Locked::open(folder.path()).unwrap();
        let (_, read) = manifest.entries_from(0).unwrap();
        manifest.append(&[entry("b", "1")]).unwrap();
        assert_eq!(manifest.entries_from(read).unwrap().0.entries, [entry("b", "1")]);
        let manifest = Manifest::read(folder.path()).unwrap();
        assert_eq!(
            (manifest.entries, manifest.unreadable),
            (vec![entry("a", "1"), entry("b", "1")], vec![])
        );
    }

    #[test]
    fn a_line_that_lacks_its_end_alone_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let line = serde_json::to_string(&entry("a", "1")).unwrap();
        std::fs::write(folder.path().join(NAME), line).unwrap();
        Locked::open(folder.path()).unwrap().append(&[entry("b", "1")]).unwrap();
        let manifest = Manifest::read(folder.path()).unwrap();
        assert_eq!(manifest.entries, [entry("a", "1"), entry("b", "1")]);
    }

    #[test]
    fn lines_without_our_additions_are_read() {
        let line = r#"{"exported_at": 1.5, "format": "md", "lineage_session_ids": ["s"], "message_count": 3, "path": "s.md", "session_id": "s", "sha256": "00"}"#;
        let manifest = Manifest::parse(line.as_bytes()).unwrap();
        assert_eq!(manifest.entries[0].redacted, Redacted::No(false));
    }

    #[test]
    fn a_path_that_leads_away_is_no_entry() {
        let long = "x".repeat(256);
        for path in [
            "/x/s.md",
            "../s.md",
            "./s.md",
            "a//b.md",
            "a/../b.md",
            "a/b/c/d.md",
            r"a\\b.md",
            "",
            ".",
            "..",
            r"a\u0000b",
            &long,
        ] {
            let line = format!(
                r#"{{"exported_at": 1.5, "format": "md", "message_count": 3, "path": "{path}", "session_id": "s", "sha256": "00"}}"#
            );
            let manifest = Manifest::parse(line.as_bytes()).unwrap();
            assert_eq!((manifest.entries.len(), manifest.unreadable), (0, vec![1]), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join(NAME)).unwrap();
        assert!(Locked::open(folder.path()).is_err());
        assert!(Manifest::read(folder.path()).is_err());
        assert!(digest(&folder.path().join(NAME)).is_err());
    }
}
