//! What the Hub keeps: accounts, datasets with their commits, large files.

use std::collections::{BTreeMap, HashMap};

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::xet::Xet;

/// What is written to every dataset when it is made.
const ATTRIBUTES: &str = "*.bin filter=lfs diff=lfs merge=lfs -text\n";

#[derive(Clone)]
pub(crate) enum Content {
    Regular(Vec<u8>),
    /// A large file, by its SHA-256.
    Large {
        sha256: String,
        bytes: usize,
    },
}

impl Content {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Content::Regular(bytes) => bytes.len(),
            Content::Large { bytes, .. } => *bytes,
        }
    }

    fn pointer(sha256: &str, bytes: usize) -> String {
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {bytes}\n")
    }

    /// Git's name.
    pub(super) fn oid(&self) -> String {
        match self {
            Content::Regular(bytes) => blob(bytes),
            Content::Large { sha256, bytes } => blob(Self::pointer(sha256, *bytes).as_bytes()),
        }
    }

    pub(super) fn pointer_bytes(&self) -> usize {
        match self {
            Content::Regular(_) => 0,
            Content::Large { sha256, bytes } => Self::pointer(sha256, *bytes).len(),
        }
    }
}

fn blob(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hex(&hash.finalize())
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

pub(crate) type Tree = BTreeMap<String, Content>;

#[derive(Clone)]
pub(crate) struct Commit {
    pub(crate) oid: String,
    pub(crate) title: String,
    pub(crate) tree: Tree,
}

pub(crate) struct Dataset {
    pub(crate) is_private: bool,
    pub(crate) commits: Vec<Commit>,
}

impl Dataset {
    fn new(is_private: bool) -> Self {
        let mut dataset = Self { is_private, commits: Vec::new() };
        let attributes = Content::Regular(ATTRIBUTES.as_bytes().to_vec());
        dataset.commit("initial commit", [(".gitattributes".to_owned(), attributes)].into());
        dataset
    }

    pub(crate) fn head(&self) -> &Commit {
        self.commits.last().unwrap()
    }

    pub(super) fn at(&self, revision: &str) -> Option<&Commit> {
        if revision == "main" {
            return self.commits.last();
        }
        self.commits.iter().find(|commit| commit.oid == revision)
    }

    pub(super) fn commit(&mut self, title: &str, tree: Tree) -> &Commit {
        let mut seed = format!("{} {title}", self.commits.len());
        seed.extend(tree.iter().map(|(path, content)| format!("\n{path} {}", content.oid())));
        let oid = blob(seed.as_bytes());
        self.commits.push(Commit { oid, title: title.to_owned(), tree });
        self.head()
    }

    /// Somebody else writes a file.
    pub(crate) fn write(&mut self, path: &str, text: &str) {
        let mut tree = self.head().tree.clone();
        tree.insert(path.to_owned(), Content::Regular(text.as_bytes().to_vec()));
        self.commit("by somebody else", tree);
    }
}

/// How large files are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    Xet,
    /// Git LFS alone, which the Rust client does not speak.
    Basic,
}

pub(crate) struct State {
    pub(crate) datasets: HashMap<String, Dataset>,
    pub(crate) storage: Storage,
    /// Larger files are large ones.
    pub(crate) threshold: usize,
    pub(super) large: HashMap<String, Vec<u8>>,
    pub(super) xet: Xet,
    pub(crate) telemetry: u32,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            datasets: HashMap::new(),
            storage: Storage::Xet,
            threshold: 10 << 20,
            large: HashMap::new(),
            xet: Xet::default(),
            telemetry: 0,
        }
    }

    pub(crate) fn create(&mut self, id: &str, is_private: bool) -> &mut Dataset {
        self.datasets.insert(id.to_owned(), Dataset::new(is_private));
        self.dataset(id)
    }

    #[track_caller]
    pub(crate) fn dataset(&mut self, id: &str) -> &mut Dataset {
        self.datasets.get_mut(id).unwrap_or_else(|| panic!("there is no dataset {id}"))
    }

    /// How long a large file is that was sent.
    pub(super) fn large_bytes(&self, sha256: &str) -> Option<usize> {
        let sent = self.large.get(sha256).map(Vec::len);
        sent.or_else(|| self.xet.file(sha256).map(<[u8]>::len))
    }

    pub(super) fn read(&self, content: &Content) -> Vec<u8> {
        match content {
            Content::Regular(bytes) => bytes.clone(),
            Content::Large { sha256, .. } => match self.large.get(sha256) {
                Some(bytes) => bytes.clone(),
                None => self.xet.file(sha256).unwrap().to_vec(),
            },
        }
    }
}
