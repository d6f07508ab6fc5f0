//! Whom files are encrypted to, and what opens them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::environment::Environment;
use super::exit::UsageError;
use crate::seal::{Error, Identities, Recipients};

/// Whom files are encrypted to.
#[derive(Debug, Args)]
pub(super) struct RecipientArgs {
    /// Encrypt files, as `age` does, to this recipient: age1…, or a file with one a line; may be given
    /// more than once
    #[arg(long, value_name = "RECIPIENT")]
    encrypt_to: Vec<String>,
}

/// What opens encrypted files.
#[derive(Debug, Args)]
pub(super) struct IdentityArgs {
    /// A file with the key that opens encrypted files, as `age-keygen` writes it; may be given more than
    /// once
    #[arg(long, value_name = "FILE")]
    identity: Vec<PathBuf>,
}

impl RecipientArgs {
    pub(super) fn recipients(
        &self,
        environment: &Environment,
    ) -> Result<Option<Arc<Recipients>>, UsageError> {
        let expand = |path: &Path| environment.expand(path);
        let named =
            Recipients::named(&self.encrypt_to, expand).map_err(|e| usage("--encrypt-to", &e))?;
        Ok(named.map(Arc::new))
    }

    pub(super) fn is_given(&self) -> bool {
        !self.encrypt_to.is_empty()
    }
}

impl IdentityArgs {
    pub(super) fn identities(
        &self,
        environment: &Environment,
    ) -> Result<Arc<Identities>, UsageError> {
        let paths: Vec<PathBuf> =
            self.identity.iter().map(|path| environment.expand(path)).collect();
        Ok(Arc::new(Identities::in_files(&paths).map_err(|e| usage("--identity", &e))?))
    }

    pub(super) fn is_given(&self) -> bool {
        !self.identity.is_empty()
    }
}

fn usage(flag: &str, error: &Error) -> UsageError {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    UsageError::new(format!("{flag}: {error}{}", cause.unwrap_or_default()))
}
