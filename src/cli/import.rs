//! `import`: files into the store.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

use super::environment::Environment;
use super::exit::UsageError;
use super::keys::IdentityArgs;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::import::{self, Fidelity, Mode, OnConflict, OnRedacted, Problem, Request, Summary};

/// Take sessions from files into the store
///
/// FILE is JSONL of `export` or of `hermes sessions export`, a snapshot of `/save` or of
/// `sessions/session_ID.json`, a transcript of the gateway (`sessions/ID.jsonl`), a sidecar or an
/// export of the WebUI, a folder of such, or `-` for standard input; plain, compressed with gzip or
/// zstd, or encrypted with age. What it is, is seen in it.
///
/// A session goes in whole, with messages that were compacted or taken back as they are marked,
/// with its title (`#2` where another session has it) and, where that is in the store, too, its
/// parent. What cannot be imported is named with file and line, and the rest goes in. Running it
/// again does what an interrupted run left. A store that does not exist is made.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions import backup.jsonl --dry-run
  hermes-sessions import backup.jsonl.zst
  hermes-sessions import ~/.hermes/webui/sessions
  hermes-sessions --db restored.db import archive.jsonl --verbatim
  ssh other 'hermes-sessions export - ' | hermes-sessions import -")]
pub(super) struct ImportArgs {
    /// Files, or folders of files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What becomes of a session that the store has already
    #[arg(long, value_enum, default_value_t = Conflict::Skip, value_name = "HOW")]
    on_conflict: Conflict,
    /// Take records as they are: odd ids and titles, parents that are nowhere, the channel that a
    /// session was live in, a handoff under way
    #[arg(long)]
    verbatim: bool,
    /// Also take sessions whose secrets were taken out, which nothing can put back
    #[arg(long)]
    allow_redacted: bool,
    #[command(flatten)]
    keys: IdentityArgs,
    /// Say what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// What becomes of a session that the store has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Conflict {
    /// The store's stays
    Skip,
    /// The file's takes its place
    Replace,
    /// Nothing is imported at all
    Fail,
}

impl ImportArgs {
    fn request(&self, global: &Global, environment: &Environment) -> Result<Request, UsageError> {
        if self.files.iter().any(|file| file.as_os_str().is_empty()) {
            return Err(UsageError::new("an empty path names nothing to import"));
        }
        if self.files.iter().filter(|file| file.as_path() == Path::new("-")).count() > 1 {
            return Err(UsageError::new("standard input can be read but once"));
        }
        Ok(Request {
            inputs: self.files.iter().map(|file| environment.expand(file)).collect(),
            store: environment.store(global)?,
            on_conflict: match self.on_conflict {
                Conflict::Skip => OnConflict::Skip,
                Conflict::Replace => OnConflict::Replace,
                Conflict::Fail => OnConflict::Fail,
            },
            fidelity: if self.verbatim { Fidelity::Verbatim } else { Fidelity::Fitting },
            redacted: if self.allow_redacted { OnRedacted::Allow } else { OnRedacted::Refuse },
            mode: if self.dry_run { Mode::DryRun } else { Mode::Write },
            identities: self.keys.identities(environment)?,
            zone: environment.clock.zone.clone(),
        })
    }
}

pub(super) fn run(
    args: &ImportArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let request = args.request(global, environment)?;
    let summary = import::run(&request, &terminal.progress())?;
    tell(&request, &summary, terminal);
    if global.json {
        terminal::print(&format!("{}\n", as_json(args, &summary)))?;
    }
    Ok(if summary.problems.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}

fn tell(request: &Request, summary: &Summary, terminal: &Terminal) {
    for problem in summary.problems.iter().take(terminal.patience()) {
        terminal.warning(&reason(problem));
    }
    let untold = summary.problems.len().saturating_sub(terminal.patience());
    if untold > 0 {
        terminal.warning(&format!("{untold} more were not imported; -v names them"));
    }
    for path in &summary.changed {
        terminal.warning(&format!(
            "{} was changed since the manifest beside it listed it",
            path.display()
        ));
    }
    for path in &summary.indexes {
        terminal.note(&format!("{} lists sessions and holds none", path.display()));
    }
    if summary.created {
        terminal.note(&format!("made the store {}", request.store.display()));
    }
    for (count, what) in notes(summary) {
        if count > 0 {
            terminal.note(&format!("{} {what}", sessions(count)));
        }
    }
    for (column, count) in &summary.homeless {
        terminal.warning(&format!("the store has no `{column}`, which {} had", sessions(*count)));
    }
    terminal.done(&outcome(request, summary));
}

fn outcome(request: &Request, summary: &Summary) -> String {
    let verb = match request.mode {
        Mode::Write => "imported",
        Mode::DryRun => "would import",
    };
    let taken = sessions(summary.imported + summary.replaced);
    let messages = match summary.messages {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    };
    let mut text = format!("{verb} {taken} with {messages}");
    if summary.replaced > 0 {
        let _ = write!(text, ", {} in the place of the store's", summary.replaced); // a String takes all
    }
    if summary.skipped > 0 {
        let _ = write!(text, "; {} were there already", summary.skipped);
    }
    text
}

/// What else happened, by the number of sessions.
fn notes(summary: &Summary) -> [(u64, &'static str); 6] {
    [
        (summary.retitled, "got a title with a number, because the title is another's"),
        (summary.tidied, "had a title that Hermes would not take as it was"),
        (summary.renumbered, "got new ids for their messages, because the ids are others'"),
        (summary.detached, "lost a parent that is not in the store"),
        (summary.released, "gave up a live channel, or a handoff; --verbatim keeps them"),
        (
            summary.longer.len() as u64,
            "have more messages in the file; --on-conflict replace takes those",
        ),
    ]
}

fn sessions(count: u64) -> String {
    format!("{count} session{}", if count == 1 { "" } else { "s" })
}

/// A problem with its causes, on one line.
pub(super) fn reason(problem: &Problem) -> String {
    let mut text = problem.to_string();
    let mut cause = std::error::Error::source(&problem.what);
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}

fn as_json(args: &ImportArgs, summary: &Summary) -> serde_json::Value {
    let problem = |problem: &Problem| {
        json!({
            "file": problem.place.file,
            "line": problem.place.line,
            "session_id": problem.session,
            "reason": reason(problem),
        })
    };
    json!({
        "command": "import",
        "dry_run": args.dry_run,
        "created": summary.created,
        "imported": summary.imported,
        "replaced": summary.replaced,
        "skipped": summary.skipped,
        "longer_in_file": summary.longer,
        "failed": summary.problems.len(),
        "messages": summary.messages,
        "retitled": summary.retitled,
        "tidied": summary.tidied,
        "renumbered": summary.renumbered,
        "detached": summary.detached,
        "released": summary.released,
        "without_a_column": summary.homeless,
        "changed_files": summary.changed,
        "problems": summary.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}
