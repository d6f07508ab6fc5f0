//! What git calls a file's content, and how that tells whether a dataset has it.
//!
//! The Hub names a file either by the hash of its bytes, as git does, or, where it keeps the bytes
//! elsewhere, by the hash of the pointer that stands for them. Both follow from the bytes.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use crate::manifest::hex;

/// A file's size and both names that its content can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: u64,
    blob: String,
    pointer: String,
}

impl Content {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let (mut blob, mut whole) = (Sha1::new(), Sha256::new());
        blob.update(header(bytes));
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            blob.update(&buffer[..read]);
            whole.update(&buffer[..read]);
        }
        let oid = hex(&whole.finalize());
        let pointer =
            format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {bytes}\n");
        let mut hash = Sha1::new();
        hash.update(header(pointer.len() as u64));
        hash.update(&pointer);
        Ok(Self { bytes, blob: hex(&blob.finalize()), pointer: hex(&hash.finalize()) })
    }

    /// Whether git's name in the dataset stands for these bytes.
    pub(super) fn is(&self, oid: &str) -> bool {
        oid == self.blob || oid == self.pointer
    }
}

fn header(bytes: u64) -> String {
    format!("blob {bytes}\0")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both from `git hash-object`, the second of what `git lfs pointer` prints.
    #[test]
    fn names_are_those_that_git_gives() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "hello\n").unwrap();
        let content = Content::of(file.path()).unwrap();
        assert!(content.is("ce013625030ba8dba906f756967f9e9ca394464a"));
        assert!(content.is("fa61e1ef71c9908c0926776a4aa3504b3a27f159"));
        assert!(!content.is("0000000000000000000000000000000000000000"));
        assert_eq!(content.bytes, 6);
    }
}
