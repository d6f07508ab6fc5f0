//! Files to a dataset on the Hugging Face Hub.
//!
//! What is sent has been written, redacted and checked before: this module takes whole files. It
//! never changes who can see a dataset, and looks at that before anything is sent and again before
//! every commit. What the dataset has already is not sent again, so an upload that was cut off goes
//! on when it is run once more. `client` is the only place that names `hf_hub`.

mod card;
mod client;
mod content;
mod dataset;
mod error;
mod journal;
mod patience;
mod send;
mod token;
mod trace;

use std::path::PathBuf;
use std::time::Duration;

pub use card::Card;
pub use client::Client;
pub use dataset::Dataset;
pub use error::Error;
pub use journal::{Journal, Line};
pub use send::{Report, Upload, send};
pub use token::{Places, Token};
pub use trace::check as check_trace;

/// The Hub, unless `HF_ENDPOINT` names another.
pub const ENDPOINT: &str = "https://huggingface.co";

/// How to reach the Hub.
pub struct Settings {
    /// Its address.
    pub endpoint: String,
    /// Who we are there.
    pub token: Token,
    /// How long a connection may be silent.
    pub timeout: Duration,
}

/// Who can see a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Its owner.
    Private,
    /// Everybody.
    Public,
}

impl Visibility {
    /// As people say it.
    pub fn name(self) -> &'static str {
        match self {
            Visibility::Private => "private",
            Visibility::Public => "public",
        }
    }
}

/// A file to send.
#[derive(Debug, Clone)]
pub struct Local {
    /// Where it is.
    pub path: PathBuf,
    /// Its path in the dataset.
    pub name: String,
}
