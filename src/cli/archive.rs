//! `archive` and `unarchive`: hiding conversations from lists, and bringing them back.

use clap::Args;
use serde_json::json;

use super::consent::{Proposal, counted};
use super::environment::Environment;
use super::exit::UsageError;
use super::select::SelectArgs;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::care::{self, Running};
use crate::filter::{Archived, Filter, Selection};
use crate::store::{self, Hidden};

/// Hide sessions from Hermes' lists, without deleting anything
///
/// A conversation that was compressed lies over several sessions; all of them are archived together.
/// Messages and search stay as they are.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions archive --newer-than 5h --title 'smoke test' --dry-run
  hermes-sessions archive --source cron --older-than 30 --yes
  hermes-sessions archive --session-id 20250305_091523_a1b2c3 --yes")]
pub(super) struct ArchiveArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Say what would be hidden, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Bring archived sessions back into Hermes' lists
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions unarchive --session-id 20250305_091523_a1b2c3 --yes
  hermes-sessions unarchive --title 'smoke test' --dry-run")]
pub(super) struct UnarchiveArgs {
    #[command(flatten)]
    archive: ArchiveArgs,
}

pub(super) fn run(
    args: &ArchiveArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    change(args, Hidden::Yes, global, environment, terminal)
}

pub(super) fn run_back(
    args: &UnarchiveArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    change(&args.archive, Hidden::No, global, environment, terminal)
}

fn change(
    args: &ArchiveArgs,
    hidden: Hidden,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let (command, verb, done) = match hidden {
        Hidden::Yes => ("archive", "Archive", "Archived"),
        Hidden::No => ("unarchive", "Unarchive", "Unarchived"),
    };
    let store = environment.store(global)?;
    let selection = args.selection(hidden, command, environment, terminal)?;
    let plan = care::plan(&store, &selection, Running::Taken)?;
    let proposal = Proposal { verb, plan: &plan, environment };
    let mut report = json!({
        "command": command,
        "dry_run": args.dry_run,
        "matched": plan.sessions.len(),
        "running_left_out": plan.running_left_out,
        "excluded": plan.excluded,
        "sessions": plan.sessions,
    });
    let mut status = ExitStatus::Done;
    if proposal.is_empty(terminal) {
    } else if args.dry_run {
        proposal.rehearse(global, terminal)?;
    } else if proposal.is_agreed(args.yes, terminal)? {
        let moved = store::write(&store, |change| change.archive(&plan.doomed.chosen, hidden))?;
        terminal.done(&format!("{done} {}", counted(moved.changed, "session")));
        let left = plan.ids(&moved.left);
        for id in &left {
            terminal.warning(&format!("session {id} was left: it has changed since it was shown"));
        }
        report["changed"] = moved.changed.into();
        report["left"] = left.into();
        status = if moved.left.is_empty() { ExitStatus::Done } else { ExitStatus::Failed };
    }
    terminal::print_report(global, &report)?;
    Ok(status)
}

impl ArchiveArgs {
    fn selection(
        &self,
        hidden: Hidden,
        command: &str,
        environment: &Environment,
        terminal: &Terminal,
    ) -> Result<Selection, UsageError> {
        let archived = match hidden {
            Hidden::Yes => Archived::Not,
            Hidden::No => Archived::Only,
        };
        let bare = |filter: &Filter| {
            filter.tests.is_empty() && filter.said.is_empty() && filter.excluded.is_empty()
        };
        match self.select.selection(environment, terminal)? {
            Selection::Filtered(filter) if !bare(&filter) => {
                Ok(Selection::Filtered(Filter { archived, ..filter }))
            }
            Selection::All | Selection::Filtered(_) => {
                Err(UsageError::new(format!("{command} needs a filter or --session-id"))
                    .hint("`--older-than 0` is every session that has ended"))
            }
            named @ (Selection::Sessions(_) | Selection::Latest) => Ok(named),
        }
    }
}
