//! `--from`: sessions that are elsewhere than in Hermes' store, for commands that read.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::Args;
use tempfile::TempDir;

use super::environment::Environment;
use super::exit::UsageError;
use super::import::reason;
use super::terminal::Terminal;
use super::{ExitStatus, Global};
use crate::import::{self, Fidelity, Mode, OnConflict, OnRedacted, Request, Summary};
use crate::store::{self, Words};

const FROM: &str =
    "Read the WebUI's sessions instead of the store's: $HERMES_HOME/webui, or another folder";

/// Where sessions are read from.
#[derive(Debug, Args)]
pub(super) struct FromArgs {
    #[arg(long, value_name = "webui[=DIR]", help = FROM)]
    from: Option<String>,
}

/// A store to read: Hermes' own, or one that ends with this value.
pub(super) struct Lent {
    path: PathBuf,
    /// Sessions of it could not be read.
    is_partial: bool,
    _folder: Option<TempDir>,
}

impl Deref for Lent {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl Lent {
    /// How a command ends that would end like this, had everything been read.
    pub(super) fn ends(&self, status: ExitStatus) -> ExitStatus {
        if self.is_partial && status == ExitStatus::Done { ExitStatus::Failed } else { status }
    }
}

impl FromArgs {
    /// The store that the arguments name; the WebUI's sessions become a private one.
    pub(super) fn store(
        &self,
        words: Words,
        global: &Global,
        environment: &Environment,
        terminal: &Terminal,
    ) -> anyhow::Result<Lent> {
        let Some(from) = &self.from else {
            let path = environment.store(global)?;
            return Ok(Lent { path, is_partial: false, _folder: None });
        };
        let sidecars = sidecars(from, environment)?;
        let folder = tempfile::Builder::new().prefix("hermes-sessions-").tempdir()?;
        let request = Request {
            inputs: vec![sidecars],
            store: folder.path().join("state.db"),
            on_conflict: OnConflict::Skip,
            fidelity: Fidelity::Verbatim,
            redacted: OnRedacted::Allow,
            mode: Mode::Write,
            zone: environment.clock.zone.clone(),
        };
        let summary = import::view(&request, words, &terminal.progress())?;
        for problem in summary.problems.iter().take(terminal.patience()) {
            terminal.warning(&reason(problem));
        }
        compare(&summary, &environment.store(global)?, terminal);
        let is_partial = !summary.problems.is_empty();
        Ok(Lent { path: request.store, is_partial, _folder: Some(folder) })
    }
}

fn sidecars(from: &str, environment: &Environment) -> Result<PathBuf, UsageError> {
    let (name, folder) = match from.split_once('=') {
        Some((name, folder)) => (name, Some(folder)),
        None => (from, None),
    };
    if name != "webui" {
        return Err(UsageError::new(format!("--from: `{name}` is no source; there is webui")));
    }
    let own = match folder {
        Some("") => return Err(UsageError::new("--from webui= needs a folder")),
        Some(folder) => environment.expand(folder.as_ref()),
        None => environment.webui(),
    };
    let sidecars = import::webui_folder(&own);
    if !sidecars.is_dir() {
        let message = format!("--from: there is no folder {}", sidecars.display());
        return Err(UsageError::new(message).hint("name another with --from webui=DIR"));
    }
    Ok(sidecars)
}

/// Says which sessions are in the store, too, and where there is more of them. A store that cannot be
/// read is not what was asked for.
fn compare(summary: &Summary, store: &Path, terminal: &Terminal) {
    let mut shared: Vec<(&String, u64, u64)> = Vec::new();
    let read = store::read(store, |snapshot| {
        shared.clear();
        for (id, here) in &summary.brought {
            if let Some(there) = snapshot.held(id)? {
                shared.push((id, *here, there));
            }
        }
        Ok::<_, store::Error>(())
    });
    if read.is_err() || shared.is_empty() {
        return;
    }
    shared.sort();
    for (id, here, there) in shared.iter().take(terminal.patience()) {
        let which = match here.cmp(there) {
            std::cmp::Ordering::Greater => "longer here",
            std::cmp::Ordering::Less => "longer there",
            std::cmp::Ordering::Equal => "as long there",
        };
        terminal.note(&format!(
            "{id} is in the store, too, and {which}: {here} messages here, {there} there"
        ));
    }
}
