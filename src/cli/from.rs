//! `--from`: sessions that are elsewhere than in Hermes' store, for commands that read.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::Args;
use tempfile::TempDir;

use super::environment::Environment;
use super::exit::UsageError;
use super::import::reason;
use super::keys::IdentityArgs;
use super::place::refuse_bucket;
use super::terminal::Terminal;
use super::{ExitStatus, Global};
use crate::backup;
use crate::import::{self, Fidelity, Mode, OnConflict, OnRedacted, Request, Summary};
use crate::store::{self, Words};

/// Where `archive --cold` puts sessions.
const COLD: &str = "cold-sessions";

const FROM: &str =
    "Read the WebUI's sessions instead of the store's: $HERMES_HOME/webui, or another folder";

/// Where sessions are read from.
#[derive(Debug, Args)]
pub(super) struct FromArgs {
    #[arg(long, value_name = "webui[=DIR]", help = FROM)]
    from: Option<String>,
    /// Read the sessions that `archive --cold` put away: those in DIR [default:
    /// $HERMES_HOME/cold-sessions]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, conflicts_with = "from")]
    #[expect(clippy::option_option, reason = "so clap has flags whose value may be left out")]
    cold: Option<Option<PathBuf>>,
    #[command(flatten)]
    keys: IdentityArgs,
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
        let Some(inputs) = self.inputs(environment)? else {
            let path = environment.store(global)?;
            return Ok(Lent { path, is_partial: false, _folder: None });
        };
        let folder = tempfile::Builder::new().prefix("hermes-sessions-").tempdir()?;
        let request = Request {
            inputs,
            store: folder.path().join("state.db"),
            on_conflict: OnConflict::Skip,
            fidelity: Fidelity::Verbatim,
            redacted: OnRedacted::Allow,
            identities: self.keys.identities(environment)?,
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

impl FromArgs {
    /// The files to read; `None` where the store is.
    fn inputs(&self, environment: &Environment) -> anyhow::Result<Option<Vec<PathBuf>>> {
        if let Some(folder) = &self.cold {
            let folder = cold_folder(folder.as_deref(), environment)?;
            return Ok(Some(backup::cold::files(&folder)?));
        }
        if self.keys.is_given() {
            return Err(UsageError::new("--identity opens nothing without --cold").into());
        }
        self.from.as_ref().map(|from| Ok(vec![sidecars(from, environment)?])).transpose()
    }
}

/// Where sessions are put away.
pub(super) fn cold_folder(
    given: Option<&Path>,
    environment: &Environment,
) -> Result<PathBuf, UsageError> {
    match given {
        None => Ok(environment.hermes_home.join(COLD)),
        Some(folder) if folder.as_os_str().is_empty() => {
            Err(UsageError::new("--cold: an empty path names no folder"))
        }
        Some(folder) => {
            refuse_bucket(folder, "--cold")?;
            Ok(environment.expand(folder))
        }
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
