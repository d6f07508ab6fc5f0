//! Whether there is anything to do at all: where neither the store nor the folder has been written
//! to since the last run ended, there is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::lock::OWN;
use super::{Error, Request, failed};
use crate::filter::Selection;
use crate::manifest;
use crate::store::FileState;

const NAME: &str = "checkpoint.json";

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// Of the store; `None` where a later write might not show.
    store: Option<String>,
    path: PathBuf,
    /// Whom the files are encrypted to.
    #[serde(default)]
    sealed_to: Option<String>,
    tool: String,
    /// Of the folder and its manifest; known when the run ends.
    folder: Option<String>,
}

impl Checkpoint {
    pub(super) fn of(request: &Request, state: &FileState) -> Self {
        let everything = matches!(request.selection, Selection::All);
        Self {
            store: everything.then(|| state.text.clone()),
            path: fs::canonicalize(&request.store).unwrap_or_else(|_| request.store.clone()),
            sealed_to: request.recipients.as_ref().map(|to| to.digest().to_owned()),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            folder: None,
        }
    }

    /// Whether the last run found the same, and nobody touched its files since.
    pub(super) fn is_reached(&self, folder: &Path) -> bool {
        let now = Self { folder: stamp(folder), ..self.clone() };
        let last = fs::read(folder.join(OWN).join(NAME)).ok();
        let last = last.and_then(|text| serde_json::from_slice::<Self>(&text).ok());
        now.store.is_some() && now.folder.is_some() && last == Some(now)
    }

    /// Stands for all this of a backup elsewhere, which looks like `stamp`; `None` where a later write to
    /// the store might not show.
    #[cfg(feature = "object-store")]
    pub(super) fn digest(&self, stamp: &str) -> Option<String> {
        self.store.as_ref()?;
        let mut hasher = manifest::Hasher::default();
        hasher.update(&serde_json::to_vec(self).ok()?);
        hasher.update(stamp.as_bytes());
        Some(hasher.finish().sha256)
    }

    /// Records that the run ended well; unless the store was steady it says nothing of that.
    pub(super) fn write(&self, folder: &Path, is_steady: bool) -> Result<(), Error> {
        let own = folder.join(OWN);
        let store = self.store.clone().filter(|_| is_steady);
        let reached = Self { store, folder: stamp(folder), ..self.clone() };
        let wrote = NamedTempFile::new_in(&own).and_then(|file| {
            serde_json::to_writer(&file, &reached)?;
            file.persist(own.join(NAME)).map(drop).map_err(|error| error.error)
        });
        wrote.map_err(failed("write", &own.join(NAME)))
    }
}

/// A name that comes or goes changes the folder's time, a line the manifest's.
fn stamp(folder: &Path) -> Option<String> {
    let time = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let manifest = folder.join(manifest::NAME);
    let size = fs::metadata(&manifest).ok()?.len();
    Some(format!("{:?} {:?} {size}", time(folder)?, time(&manifest)?))
}
