//! What the program learns from outside its arguments: folders, clock and zone.

use std::env;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Global;
use super::exit::UsageError;
use crate::filter::time::Clock;

/// Folders, clock and zone.
#[derive(Debug)]
pub(super) struct Environment {
    pub(super) home: Option<PathBuf>,
    pub(super) hermes_home: PathBuf,
    /// Where programs are looked for.
    pub(super) path: Vec<PathBuf>,
    pub(super) clock: Clock,
    /// What long texts are read with.
    pub(super) pager: Option<String>,
    /// Where SQLite makes its temporary files.
    pub(super) temporary: PathBuf,
    /// Whether `HERMES_HOME` says where the stores are.
    pub(super) is_home_given: bool,
    /// Where the web interface was told to keep its sessions.
    pub(super) webui: Option<PathBuf>,
}

impl Environment {
    pub(super) fn read() -> Result<Self, UsageError> {
        let home = env::home_dir();
        let hermes_home = match env::var_os("HERMES_HOME").filter(|value| !value.is_empty()) {
            Some(folder) => folder.into(),
            None => default_hermes_home(home.as_deref()),
        };
        let clock = Clock { now: now()?, zone: TimeZone::system() };
        let path = env::var_os("PATH").map(|path| env::split_paths(&path).collect());
        let pager = env::var("PAGER").ok();
        let given = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Ok(Self {
            home,
            hermes_home,
            path: path.unwrap_or_default(),
            clock,
            pager,
            temporary: given("SQLITE_TMPDIR").unwrap_or_else(env::temp_dir),
            is_home_given: given("HERMES_HOME").is_some(),
            webui: given("HERMES_WEBUI_STATE_DIR"),
        })
    }

    /// The store that the arguments name.
    pub(super) fn store(&self, global: &Global) -> Result<PathBuf, UsageError> {
        if let Some(db) = &global.db {
            if db.as_os_str().is_empty() {
                return Err(UsageError::new("--db needs a file"));
            }
            return Ok(self.expand(db));
        }
        match global.profile.as_deref() {
            None | Some("default") => Ok(self.hermes_home.join("state.db")),
            Some(name) if is_one_component(name) => {
                Ok(self.hermes_home.join("profiles").join(name).join("state.db"))
            }
            Some(name) => Err(UsageError::new(format!("--profile: `{name}` is no profile's name"))),
        }
    }

    /// A variable that is set to something.
    #[cfg(feature = "hub")]
    #[expect(clippy::unused_self, reason = "the environment is read here alone")]
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        env::var(name).ok().filter(|value| !value.trim().is_empty())
    }

    /// All variables; what reaches object stores knows which of them are for it.
    #[cfg(feature = "object-store")]
    #[expect(clippy::unused_self, reason = "the environment is read here alone")]
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        env::vars_os().filter_map(text).collect()
    }

    /// The WebUI's folder.
    pub(super) fn webui(&self) -> PathBuf {
        match env::var_os("HERMES_WEBUI_STATE_DIR").filter(|value| !value.is_empty()) {
            Some(folder) => folder.into(),
            None => self.hermes_home.join("webui"),
        }
    }

    /// `~/x` where no shell has expanded it.
    pub(super) fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) if rest.as_os_str().is_empty() => home.clone(),
            (Ok(rest), Some(home)) => home.join(rest),
            (Ok(_), None) | (Err(_), _) => path.to_owned(),
        }
    }

    /// Now, in seconds since the epoch.
    pub(super) fn now(&self) -> f64 {
        self.clock.now.as_duration().as_secs_f64()
    }
}

fn is_one_component(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(part)), None) if part == name)
}

fn default_hermes_home(home: Option<&Path>) -> PathBuf {
    let local = env::var_os("LOCALAPPDATA").filter(|_| cfg!(windows));
    match (local, home) {
        (Some(local), _) => PathBuf::from(local).join("hermes"),
        (None, Some(home)) => home.join(".hermes"),
        (None, None) => PathBuf::from(".hermes"),
    }
}

/// The time; tests fix it with `HERMES_SESSIONS_NOW`, an ISO 8601 instant.
fn now() -> Result<Timestamp, UsageError> {
    match env::var("HERMES_SESSIONS_NOW") {
        Ok(text) => text
            .parse()
            .map_err(|_| UsageError::new(format!("HERMES_SESSIONS_NOW: `{text}` is no instant"))),
        Err(_) => Ok(Timestamp::now()),
    }
}
