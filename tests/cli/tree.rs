//! What lies in a folder, so that a file too many fails a test.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// Every file, folder and link below a folder, hidden ones included, with what is in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<String, Vec<u8>>);

impl Tree {
    pub(crate) fn of(folder: &Path) -> Self {
        let mut tree = BTreeMap::new();
        walk(folder, folder, &mut tree);
        Self(tree)
    }

    #[track_caller]
    pub(crate) fn assert_is(&self, before: &Tree) {
        let differs: Vec<&String> = self
            .0
            .keys()
            .chain(before.0.keys())
            .filter(|name| self.0.get(*name) != before.0.get(*name))
            .collect();
        assert!(differs.is_empty(), "added, removed or changed: {differs:?}");
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, content)| {
            writeln!(f, "=== {name} ===\n{}", String::from_utf8_lossy(content))
        })
    }
}

/// The names below a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    Tree::of(folder).0.into_keys().collect()
}

pub(crate) fn sha256(path: &Path) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(fs::read(path).unwrap()) {
        write!(hex, "{byte:02x}").unwrap();
    }
    hex
}

fn walk(root: &Path, folder: &Path, tree: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            tree.insert(format!("{name}/"), Vec::new());
            walk(root, &path, tree);
        } else if meta.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            tree.insert(name, format!("a link to {}", target.display()).into_bytes());
        } else if meta.is_file() {
            tree.insert(name, fs::read(&path).unwrap());
        } else {
            tree.insert(name, b"a pipe or device".to_vec());
        }
    }
}
