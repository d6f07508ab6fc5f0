//! What can go wrong with an upload, and what the user can do about it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why an upload ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No token anywhere.
    #[error("there is no token for the Hugging Face Hub")]
    NoToken,
    /// What was found can be none.
    #[error("what {0} holds is no token")]
    BadToken(String),
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The list of what was sent cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The list.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The address is none.
    #[error("HF_ENDPOINT `{0}` is no address of a Hub")]
    Endpoint(String),
    /// The name is none.
    #[error("`{0}` is no name of a dataset")]
    Name(String),
    /// The dataset would hold more files than a folder of it may.
    #[error("{0} files are too many for one dataset")]
    TooMany(usize),
    /// A file is not what the Hub reads as a trace.
    #[error("{}, line {line}: {what}; nothing was sent", path.display())]
    NotATrace {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// 401.
    #[error("{host} did not accept the token from {token}")]
    Rejected {
        /// The Hub.
        host: String,
        /// Where the token was found.
        token: String,
        /// Where new ones are made.
        settings: String,
    },
    /// 403.
    #[error("the token from {token} may not write to {what}")]
    Forbidden {
        /// Where the token was found.
        token: String,
        /// The dataset.
        what: String,
        /// What the Hub says.
        said: String,
    },
    /// 404.
    #[error("{0} does not exist, or the token cannot see it")]
    Missing(String),
    /// Everybody would see what was meant for nobody else.
    #[error("{dataset} is public, so nothing {more}was sent to it")]
    IsPublic {
        /// The dataset.
        dataset: String,
        /// `more ` where something was.
        more: &'static str,
        /// Where its owner can change that.
        settings: String,
    },
    /// Nobody would see what was meant for everybody.
    #[error("{dataset} is private, so nothing {more}was sent to it")]
    IsPrivate {
        /// The dataset.
        dataset: String,
        /// `more ` where something was.
        more: &'static str,
        /// Where its owner can change that.
        settings: String,
    },
    /// 429.
    #[error("{host} limits how often it may be asked")]
    Limited {
        /// The Hub.
        host: String,
        /// When it may be asked again, if it said so.
        after: Option<Duration>,
    },
    /// 409, 412, over and over.
    #[error("{0} keeps being changed by somebody else")]
    Contended(String),
    /// The server takes small files alone.
    #[error("{host} has no storage for a file as large as {file}")]
    TooLarge {
        /// The Hub.
        host: String,
        /// The largest file.
        file: String,
    },
    /// Nobody is there.
    #[error("no connection to {host}: {why}")]
    Unreachable {
        /// The Hub.
        host: String,
        /// What the system says.
        why: String,
    },
    /// Somebody is, and says nothing.
    #[error("{host} did not answer within {} s", within.as_secs())]
    Silent {
        /// The Hub.
        host: String,
        /// How long it had.
        within: Duration,
    },
    /// The connection broke, or what came was cut off.
    #[error("the connection to {host} broke: {why}")]
    Broken {
        /// The Hub.
        host: String,
        /// What the system says.
        why: String,
    },
    /// Any other answer.
    #[error("{host} answered {status}: {said}")]
    Answered {
        /// The Hub.
        host: String,
        /// The status.
        status: u16,
        /// What it says.
        said: String,
    },
    /// Any other failure of the client.
    #[error("the upload to {host} failed: {why}")]
    Failed {
        /// The Hub.
        host: String,
        /// What the client says.
        why: String,
    },
    /// The user asked for an end.
    #[error("interrupted")]
    Cancelled,
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::NoToken => {
                "set HF_TOKEN, run `hf auth login`, or name a file with --token-file; \
                               tokens with write access are made at \
                               https://huggingface.co/settings/tokens"
                    .to_owned()
            }
            Error::BadToken(_) => "a token is one word, as hf_…".to_owned(),
            Error::Endpoint(_) => "it begins with https://".to_owned(),
            Error::Name(_) => "OWNER/NAME, of letters, digits and - _ .".to_owned(),
            Error::TooMany(_) => {
                "select fewer sessions, and send others to another --repo".to_owned()
            }
            Error::Rejected { settings, .. } => {
                format!("it is wrong, revoked or expired; make one with write access at {settings}")
            }
            Error::Forbidden { said, .. } if said.is_empty() => {
                "it needs write access to that dataset".to_owned()
            }
            Error::Forbidden { said, .. } => {
                format!("it needs write access to that dataset; the Hub says: {said}")
            }
            Error::IsPublic { settings, .. } => format!(
                "make it private at {settings}, name another with --repo, or add --public if \
                 everybody may read these sessions"
            ),
            Error::IsPrivate { settings, .. } => format!(
                "make it public at {settings}, name another with --repo, or leave --public out"
            ),
            Error::Limited { after: Some(after), .. } => {
                format!("try again in {} s; what was sent stays", after.as_secs())
            }
            Error::Limited { after: None, .. } => {
                "try again in a few minutes; what was sent stays".to_owned()
            }
            Error::Missing(_) => "name another with --repo OWNER/NAME".to_owned(),
            Error::Contended(_)
            | Error::Unreachable { .. }
            | Error::Silent { .. }
            | Error::Broken { .. } => {
                "run it again: what was sent stays, and only the rest is sent".to_owned()
            }
            Error::TooLarge { .. } => {
                "leave that session out, or send to a Hub that takes large files".to_owned()
            }
            Error::Read { .. }
            | Error::Write { .. }
            | Error::NotATrace { .. }
            | Error::Answered { .. }
            | Error::Failed { .. }
            | Error::Cancelled => return None,
        })
    }

    /// Whether what was asked for must not be, rather than did not work.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Error::Name(_)
                | Error::Endpoint(_)
                | Error::TooMany(_)
                | Error::IsPublic { more: "", .. }
                | Error::IsPrivate { more: "", .. }
        )
    }
}
