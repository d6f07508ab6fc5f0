//! What `--upload` takes, and what it refuses before anything is read or sent.

use std::path::PathBuf;

use clap::Args;
use formats::{FORMATS, Feature, Format};

use super::super::exit::UsageError;
use super::super::terminal;
use crate::export::Target;

/// Where traces are sent to, and who will see them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Upload")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(super) struct UploadArgs {
    /// Send the sessions, as traces, to a dataset on the Hugging Face Hub: private, and made if
    /// there is none. All files are written, redacted and checked first, in OUTPUT or in a folder
    /// that goes away; what the dataset has already is not sent again
    #[arg(long, conflicts_with = "name")]
    upload: bool,
    /// The dataset [default: hermes-traces of the token's owner]
    #[arg(long, value_name = "[OWNER/]NAME", requires = "upload")]
    pub(super) repo: Option<String>,
    /// For everybody to read: asks for the dataset's name, or needs --yes. Who can see a dataset
    /// that exists is never changed
    #[arg(long, requires = "upload")]
    pub(super) public: bool,
    /// With --public --no-redact: I have read all of it
    #[arg(long, requires = "public")]
    i_reviewed_this: bool,
    #[arg(long, value_name = "FILE", requires = "upload", help = TOKEN_FILE)]
    pub(super) token_file: Option<PathBuf>,
    /// Look only at sessions that changed since they were last sent there; without a selection, at
    /// all that have ended
    #[arg(long, requires = "upload")]
    pub(super) since_last_upload: bool,
}

const TOKEN_FILE: &str = "A file with the token [default: HF_TOKEN and its older names, \
HF_TOKEN_PATH, Hermes' .env, what `hf auth login` keeps]";

/// What sessions are sent to unless a name is given.
pub(super) const DEFAULT_DATASET: &str = "hermes-traces";

impl UploadArgs {
    pub(super) fn is_on(&self) -> bool {
        self.upload
    }

    /// What is sent unless a format is named.
    pub(super) fn format() -> &'static Format {
        FORMATS.iter().find(|format| format.can(Feature::ForTheHub)).unwrap_or(&FORMATS[0])
    }

    /// The dataset, as far as it is known without asking.
    pub(super) fn dataset(&self) -> &str {
        self.repo.as_deref().unwrap_or(DEFAULT_DATASET)
    }

    pub(super) fn visibility(&self) -> &'static str {
        if self.public { "public" } else { "private" }
    }

    /// Refuses what makes no sense, or must not happen by accident.
    pub(super) fn check(
        &self,
        format: &Format,
        output: Option<&Target>,
        (is_redacted, is_confirmed): (bool, bool),
    ) -> Result<(), UsageError> {
        if !self.upload {
            return Ok(());
        }
        if !cfg!(feature = "hub") {
            return Err(UsageError::new("this program was built without --upload")
                .hint("build it with its default features"));
        }
        if !format.can(Feature::ForTheHub) {
            return Err(UsageError::new(format!("--upload does not apply to {}", format.name))
                .hint("--format trace is what the Hub shows"));
        }
        if matches!(output, Some(Target::File(_) | Target::Stream)) {
            return Err(UsageError::new("--upload sends a folder, and OUTPUT is a file")
                .hint("leave OUTPUT out, or name a folder that is to keep the files"));
        }
        if !self.public {
            return Ok(());
        }
        if !is_redacted && !self.i_reviewed_this {
            return Err(UsageError::new("--public --no-redact publishes every secret there is")
                .hint(
                    "leave --no-redact out, or add --i-reviewed-this when you have read it all",
                ));
        }
        if !is_confirmed && !terminal::can_ask() {
            return Err(UsageError::new("--public asks first, and nobody is there to answer")
                .hint("--yes answers in a script"));
        }
        Ok(())
    }
}
