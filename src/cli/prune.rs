//! `prune`: old sessions, or those that pass a filter.

use std::path::PathBuf;

use super::consent::Proposal;
use super::environment::Environment;
use super::exit::UsageError;
use super::select::SelectArgs;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, deletion, extend};
use crate::care::{self, Running, retention};
use crate::filter::{Archived, Selection};
use clap::Args;

/// Delete ended sessions that are old or pass a filter
///
/// Without any filter: those whose last message is older than 90 days. Any filter lifts that, so
/// `prune --source cron` takes cron's sessions of every age. Running and archived sessions stay.
/// Delegates that worked for a session go with it; what continues it, or left it as a branch, stays as a
/// session of its own.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions prune --dry-run
  hermes-sessions prune --source cron --older-than 30 --yes
  hermes-sessions prune --older-than 1y --export-to ~/hermes-archive
  hermes-sessions prune --newer-than 5h --title 'smoke test'")]
pub(super) struct PruneArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Take archived sessions, too
    #[arg(long)]
    include_archived: bool,
    /// Write all that goes to a JSONL file in this folder first, and delete only when every row of it
    /// has been read back and compared
    #[arg(long, value_name = "DIR")]
    export_to: Option<PathBuf>,
    /// Say what would go, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(
    args: &PruneArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = environment.store(global)?;
    let selection = args.selection(environment, terminal)?;
    let folder = args.export_to.as_deref().map(|folder| environment.expand(folder));
    if folder.as_ref().is_some_and(|folder| folder.as_os_str().is_empty()) {
        return Err(UsageError::new("--export-to is empty").into());
    }
    let plan = care::plan(&store, &selection, Running::LeftOut)?;
    let proposal = Proposal { verb: "Delete", plan: &plan, environment };
    let mut report = proposal.report("prune", args.dry_run);
    let mut status = ExitStatus::Done;
    if proposal.is_empty(terminal) {
    } else if args.dry_run {
        proposal.rehearse(global, terminal)?;
    } else if proposal.is_agreed(args.yes, terminal)? {
        let deleted = match &folder {
            None => deletion::delete(&store, &plan)?,
            Some(folder) => {
                let kept = deletion::keep(&store, &plan, folder, environment, terminal)?;
                report["file"] = kept.path.display().to_string().into();
                kept.deleted
            }
        };
        let (done, ended) = deletion::finish(&store, &plan, &deleted, terminal);
        extend(&mut report, done);
        status = ended;
    }
    terminal::print_report(global, &report)?;
    Ok(status)
}

impl PruneArgs {
    fn selection(
        &self,
        environment: &Environment,
        terminal: &Terminal,
    ) -> Result<Selection, UsageError> {
        if self.select.includes_open() {
            return Err(UsageError::new("prune never deletes running sessions")
                .hint("`delete ID` deletes one that was named"));
        }
        let archived = if self.include_archived { Archived::Any } else { Archived::Not };
        Ok(match self.select.selection(environment, terminal)? {
            Selection::All => {
                let filter = retention::older_than(retention::DAYS, environment.now());
                Selection::Filtered(crate::filter::Filter { archived, ..filter })
            }
            Selection::Filtered(filter) => {
                Selection::Filtered(crate::filter::Filter { archived, ..filter })
            }
            named @ (Selection::Sessions(_) | Selection::Latest) => named,
        })
    }
}
