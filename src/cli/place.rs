//! Where backups are: a folder, or a place in an object store.

use std::fmt;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::exit::UsageError;
use crate::bucket::Address;

/// Where a backup is.
#[derive(Debug)]
pub(super) enum Place {
    Folder(PathBuf),
    #[cfg(feature = "object-store")]
    Bucket(Address),
}

impl Place {
    /// Reads what the user gave for one.
    pub(super) fn named(given: &Path, environment: &Environment) -> anyhow::Result<Self> {
        match given.to_str().and_then(Address::parse) {
            None => Ok(Self::Folder(environment.expand(given))),
            #[cfg(feature = "object-store")]
            Some(address) => Ok(Self::Bucket(address?)),
            #[cfg(not(feature = "object-store"))]
            Some(_) => Err(UsageError::new("this program was built without object stores")
                .hint("`cargo install --path . --locked --features object-store` builds one with them")
                .into()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            #[cfg(feature = "object-store")]
            Self::Bucket(address) => write!(f, "{address}"),
        }
    }
}

/// Refuses a place in an object store where files are wanted.
pub(super) fn refuse_bucket(given: &Path, what: &str) -> Result<(), UsageError> {
    match given.to_str().and_then(Address::parse) {
        None => Ok(()),
        Some(_) => Err(UsageError::new(format!("{what} takes folders and files, no object store"))
            .hint("`backup`, `restore` and `verify` take one")),
    }
}
