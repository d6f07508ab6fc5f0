//! `delete`: sessions by their ids.

use clap::Args;
use serde_json::json;

use super::consent::Proposal;
use super::environment::Environment;
use super::select::named;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, deletion, extend};
use crate::care::{self, Running};
use crate::filter::Selection;

/// Delete sessions by their ids
///
/// Delegates that worked for a session go with it; what continues it, or left it as a branch, stays as
/// a session of its own. Its transcripts and request dumps beside the store go, too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions delete 20250305_091523_a1b2c3
  hermes-sessions delete 20250305 20250306 --yes
  hermes-sessions export archive/ --format md --session-id 2025 --delete-after-verified --yes")]
pub(super) struct DeleteArgs {
    /// Sessions, each by its id or a unique prefix of at least 4 characters
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Say what would go, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(
    args: &DeleteArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    for id in &args.ids {
        named("ID", id)?;
    }
    let store = environment.store(global)?;
    let plan = care::plan(&store, &Selection::Sessions(args.ids.clone()), Running::Taken)?;
    let proposal = Proposal { verb: "Delete", plan: &plan, environment };
    for running in plan.sessions.iter().filter(|session| session.ended_at.is_none()) {
        terminal.warning(&format!("session {} has not ended", running.id));
    }
    let mut report = json!({
        "command": "delete",
        "dry_run": args.dry_run,
        "matched": plan.sessions.len(),
        "sessions": plan.sessions,
    });
    let mut status = ExitStatus::Done;
    if proposal.is_empty(terminal) {
        status = ExitStatus::Failed;
    } else if args.dry_run {
        proposal.rehearse(global, terminal)?;
    } else if proposal.is_agreed(args.yes, terminal)? {
        let deleted = deletion::delete(&store, &plan)?;
        let (done, ended) = deletion::finish(&store, &plan, &deleted, terminal);
        extend(&mut report, done);
        status = ended;
    }
    terminal::print_report(global, &report)?;
    Ok(status)
}
