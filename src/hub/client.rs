//! The Hub as we talk to it: the only place that names `hf_hub` and `reqwest`.
//!
//! The crate retries on its own, without heeding what the server asks for; that is off, and
//! `patience` decides. It has no timeouts, so it is given a client that has. A call runs on a thread
//! of its own, so that Ctrl-C is heard while the network is waited for.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use hf_hub::progress::{ProgressEvent, ProgressHandler, UploadEvent};
use hf_hub::repository::{CommitOperation, RepoTreeEntry, RepoTypeDataset};
use hf_hub::{HFClient, HFClientSync, HFError, HFRepositorySync, HFResult};

use super::patience::{Patience, Trouble};
use super::{Dataset, Error, Local, Settings};
use crate::progress::Progress;

/// A connection to the Hub; none is opened before something is asked.
pub struct Client {
    inner: HFClientSync,
    endpoint: String,
    token: String,
    timeout: Duration,
}

/// A dataset as it is now.
pub(super) struct View {
    pub(super) is_private: bool,
    /// Its newest commit.
    pub(super) head: Option<String>,
}

/// What one commit does.
pub(super) struct Commit {
    pub(super) files: Vec<Local>,
    pub(super) card: Option<(&'static str, String)>,
    pub(super) message: String,
    pub(super) parent: Option<String>,
}

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How often progress is drawn, and Ctrl-C heard.
const TICK: Duration = Duration::from_millis(50);
/// Longer texts of a server say no more.
const SAID: usize = 300;

impl Client {
    /// Prepares a connection.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let Settings { endpoint, token, timeout } = settings;
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let wrong = |_| Error::Endpoint(endpoint.clone());
        if !endpoint.starts_with("https://") && !endpoint.starts_with("http://") {
            return Err(Error::Endpoint(endpoint));
        }
        let http = reqwest::Client::builder()
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT.min(timeout))
            .read_timeout(timeout)
            .build();
        let http = http.map_err(|error| Error::Failed {
            host: host(&endpoint).to_owned(),
            why: root(&error),
        })?;
        let inner = HFClient::builder()
            .endpoint(&endpoint)
            .token(token.value)
            .client(http)
            .cache_enabled(false)
            .retry_max_attempts(0)
            .build_sync()
            .map_err(wrong)?;
        Ok(Self { inner, endpoint, token: token.source, timeout })
    }

    /// The name of the user whose token it is.
    pub fn whoami(&self, progress: &dyn Progress) -> Result<String, Error> {
        self.ask("the account", progress, |hub| Ok(hub.whoami().send()?.username))
    }

    /// Where people see a dataset.
    pub fn address(&self, dataset: &Dataset) -> String {
        format!("{}/datasets/{dataset}", self.endpoint)
    }

    /// The dataset as it is now; `None` where there is none.
    pub(super) fn look(
        &self,
        dataset: &Dataset,
        progress: &dyn Progress,
    ) -> Result<Option<View>, Error> {
        let this = dataset.clone();
        let expand = || Some(["private", "sha"].map(str::to_owned).to_vec());
        self.ask(&dataset.to_string(), progress, move |hub| {
            match repository(hub, &this).info().maybe_expand(expand()).send() {
                // Who says nothing of it does not say that it is private.
                Ok(info) => {
                    Ok(Some(View { is_private: info.private.unwrap_or(false), head: info.sha }))
                }
                Err(HFError::RepoNotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Makes a dataset. One that somebody else has just made is as good; whoever calls looks at it.
    pub(super) fn create(
        &self,
        dataset: &Dataset,
        private: bool,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let id = dataset.to_string();
        self.ask(&dataset.to_string(), progress, move |hub| {
            let created = hub
                .create_repository()
                .repo_id(&id)
                .repo_type(RepoTypeDataset)
                .private(private)
                .send();
            match created {
                Ok(_) | Err(HFError::Conflict { .. }) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    /// What git calls the contents of these paths; those that are missing are left out.
    pub(super) fn contents(
        &self,
        dataset: &Dataset,
        revision: &str,
        paths: Vec<String>,
        progress: &dyn Progress,
    ) -> Result<HashMap<String, String>, Error> {
        let (this, revision) = (dataset.clone(), revision.to_owned());
        let entries = self.ask(&dataset.to_string(), progress, move |hub| {
            let repository = repository(hub, &this);
            repository.get_paths_info().paths(paths.clone()).revision(revision.clone()).send()
        })?;
        let file = |entry| match entry {
            RepoTreeEntry::File { path, oid, .. } => Some((path, oid)),
            RepoTreeEntry::Directory { .. } => None,
        };
        Ok(entries.into_iter().filter_map(file).collect())
    }

    /// Makes a commit, once; gives its name. `so_far` bytes were sent by others before it.
    pub(super) fn commit(
        &self,
        dataset: &Dataset,
        commit: Commit,
        so_far: u64,
        progress: &dyn Progress,
    ) -> Result<Option<String>, Trouble> {
        let Commit { files, card, message, parent } = commit;
        let largest = files.iter().max_by_key(|file| {
            // A file that is gone is an error of the client's, soon.
            std::fs::metadata(&file.path).map_or(0, |meta| meta.len())
        });
        let largest = largest.map_or(String::new(), |file| file.name.clone());
        let card = card.map(|(name, text)| CommitOperation::add_bytes(name, text.into_bytes()));
        let add = |file: Local| CommitOperation::add_file(file.name, file.path);
        let operations = card.into_iter().chain(files.into_iter().map(add)).collect();
        let meter = Arc::new(AtomicU64::new(so_far));
        let (hub, this) = (self.inner.clone(), dataset.clone());
        let counter = Meter { so_far, bytes: meter.clone() };
        let done = self.run(progress, Some(&meter), move || {
            let repository = repository(&hub, &this);
            let commit = repository.create_commit().operations(operations);
            commit.commit_message(message).maybe_parent_commit(parent).progress(counter).send()
        });
        let done = done.map_err(Trouble::Lasting)?;
        done.map(|info| info.commit_oid).map_err(|error| {
            if needs_storage(&error) {
                let host = host(&self.endpoint).to_owned();
                return Trouble::Lasting(Error::TooLarge { host, file: largest });
            }
            self.trouble(&dataset.to_string(), error)
        })
    }

    /// Asks for something that may be asked for again.
    fn ask<T: Send + 'static>(
        &self,
        what: &str,
        progress: &dyn Progress,
        question: impl Fn(&HFClientSync) -> HFResult<T> + Send + Sync + 'static,
    ) -> Result<T, Error> {
        let question = Arc::new(question);
        let mut patience = Patience::default();
        loop {
            let (question, hub) = (question.clone(), self.inner.clone());
            match self.run(progress, None, move || question(&hub))? {
                Ok(answer) => return Ok(answer),
                Err(error) => patience.wait(self.trouble(what, error), what, progress)?,
            }
        }
    }

    /// Runs something on a thread of its own until it is done, or the user wants an end.
    fn run<T: Send + 'static>(
        &self,
        progress: &dyn Progress,
        meter: Option<&AtomicU64>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (done, result) = mpsc::channel();
        thread::spawn(move || done.send(work()));
        loop {
            match result.recv_timeout(TICK) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) if progress.is_cancelled() => {
                    return Err(Error::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let host = host(&self.endpoint).to_owned();
                    return Err(Error::Failed { host, why: "its thread ended early".to_owned() });
                }
            }
            if let Some(meter) = meter {
                progress.reach(meter.load(Ordering::Relaxed));
            }
        }
    }

    fn trouble(&self, what: &str, error: HFError) -> Trouble {
        let host = host(&self.endpoint).to_owned();
        let what = what.to_owned();
        match error {
            HFError::AuthRequired { .. } => Trouble::Lasting(Error::Rejected {
                host,
                token: self.token.clone(),
                settings: format!("{}/settings/tokens", self.endpoint),
            }),
            HFError::Forbidden { context } => Trouble::Lasting(Error::Forbidden {
                token: self.token.clone(),
                what,
                said: said(context.server_message.as_deref()),
            }),
            HFError::RepoNotFound { .. } | HFError::RevisionNotFound { .. } => {
                Trouble::Lasting(Error::Missing(what))
            }
            HFError::Conflict { .. } => Trouble::Moved,
            HFError::RateLimited { retry_after, .. } => {
                Trouble::Passing(Error::Limited { host, after: retry_after }, retry_after)
            }
            HFError::Http { context } => {
                let status = context.status.as_u16();
                let said = said(context.server_message.as_deref());
                match status {
                    412 => Trouble::Moved,
                    408 | 500 | 502 | 503 | 504 => {
                        Trouble::Passing(Error::Answered { host, status, said }, None)
                    }
                    _ => Trouble::Lasting(Error::Answered { host, status, said }),
                }
            }
            HFError::Request { source, .. } => Trouble::Passing(self.transport(&source), None),
            // An answer that was cut off.
            HFError::Json(error) => {
                Trouble::Passing(Error::Broken { host, why: error.to_string() }, None)
            }
            error @ HFError::Xet { .. } => {
                Trouble::Passing(Error::Broken { host, why: root(&error) }, None)
            }
            error => Trouble::Lasting(Error::Failed { host, why: root(&error) }),
        }
    }

    fn transport(&self, error: &reqwest::Error) -> Error {
        let host = host(&self.endpoint).to_owned();
        if error.is_connect() {
            Error::Unreachable { host, why: root(error) }
        } else if error.is_timeout() {
            Error::Silent { host, within: self.timeout }
        } else {
            Error::Broken { host, why: root(error) }
        }
    }
}

fn repository(hub: &HFClientSync, dataset: &Dataset) -> HFRepositorySync<RepoTypeDataset> {
    hub.dataset(&dataset.owner, &dataset.name)
}

/// Whether a server that keeps large files elsewhere has no such place: it offers none, and refuses
/// what the crate sends in the commit instead.
fn needs_storage(error: &HFError) -> bool {
    match error {
        HFError::RepoNotFound { context: Some(context), .. } => {
            context.url.contains("/xet-write-token/")
        }
        HFError::Http { context } => {
            let said = context.server_message.as_deref().unwrap_or(&context.body);
            context.status.as_u16() == 413
                || context.status.as_u16() == 400 && said.contains("files larger than")
        }
        _ => false,
    }
}

/// The host of an address, without what may be a password before it.
fn host(endpoint: &str) -> &str {
    let rest = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
}

/// The cause that has no other, which is what the system says.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    said(Some(&error.to_string()))
}

fn said(text: Option<&str>) -> String {
    text.unwrap_or("(nothing)").chars().take(SAID).collect()
}

/// Counts what the crate says it has sent.
struct Meter {
    so_far: u64,
    bytes: Arc<AtomicU64>,
}

impl ProgressHandler for Meter {
    fn on_progress(&self, event: &ProgressEvent) {
        if let ProgressEvent::Upload(UploadEvent::Progress { bytes_completed, .. }) = event {
            self.bytes.store(self.so_far + bytes_completed, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_host_is_named_without_what_opens_it() {
        assert_eq!(host("https://huggingface.co"), "huggingface.co");
        assert_eq!(host("http://user:secret@127.0.0.1:8080/hub"), "127.0.0.1:8080");
    }
}
