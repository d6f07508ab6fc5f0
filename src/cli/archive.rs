//! `archive` and `unarchive`: hiding conversations from lists, and bringing them back.

use std::path::PathBuf;

use clap::Args;

use super::consent::{Proposal, counted};
use super::environment::Environment;
use super::exit::UsageError;
use super::from::cold_folder;
use super::keys::RecipientArgs;
use super::select::SelectArgs;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, cold};
use crate::care::{self, Running};
use crate::filter::{Archived, Filter, Selection};
use crate::store::{self, Hidden};

/// Hide sessions from Hermes' lists, or put them away in a folder
///
/// A conversation that was compressed lies over several sessions; all of them are archived together.
/// Messages and search stay as they are.
///
/// With --cold, conversations that have ended leave the store for a folder, in the form of a backup, with
/// the sessions that worked for them: written, read back, compared with every row, and only then deleted,
/// in one transaction. `list`, `show`, `search` and `export` read the folder with --cold, `restore` brings
/// sessions back. The store's file gets smaller with `optimize`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions archive --newer-than 5h --title 'smoke test' --dry-run
  hermes-sessions archive --source cron --older-than 30 --yes
  hermes-sessions archive --session-id 20250305_091523_a1b2c3 --yes
  hermes-sessions archive --cold /mnt/disk/hermes-cold --older-than 1y
  hermes-sessions search --cold=/mnt/disk/hermes-cold invoice
  hermes-sessions restore /mnt/disk/hermes-cold 20250305_0915 --into ~/.hermes/state.db")]
pub(super) struct ArchiveArgs {
    #[command(flatten)]
    pub(super) which: WhichArgs,
    /// Take them out of the store, into DIR [default: $HERMES_HOME/cold-sessions]
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "so clap has flags whose value may be left out")]
    pub(super) cold: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub(super) keys: RecipientArgs,
}

/// Which sessions, and whether they are touched.
#[derive(Debug, Args)]
pub(super) struct WhichArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Say what would be done, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(super) yes: bool,
}

/// Bring archived sessions back into Hermes' lists
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions unarchive --session-id 20250305_091523_a1b2c3 --yes
  hermes-sessions unarchive --title 'smoke test' --dry-run")]
pub(super) struct UnarchiveArgs {
    #[command(flatten)]
    which: WhichArgs,
}

pub(super) fn run(
    args: &ArchiveArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    if let Some(folder) = &args.cold {
        let folder = cold_folder(folder.as_deref(), environment)?;
        return cold::run(args, folder, global, environment, terminal);
    }
    if args.keys.is_given() {
        return Err(UsageError::new("--encrypt-to needs --cold: what is hidden stays").into());
    }
    change(&args.which, Hidden::Yes, global, environment, terminal)
}

pub(super) fn run_back(
    args: &UnarchiveArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    change(&args.which, Hidden::No, global, environment, terminal)
}

fn change(
    args: &WhichArgs,
    hidden: Hidden,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let (command, verb, done, archived) = match hidden {
        Hidden::Yes => ("archive", "Archive", "Archived", Archived::Not),
        Hidden::No => ("unarchive", "Unarchive", "Unarchived", Archived::Only),
    };
    let store = environment.store(global)?;
    let selection = args.selection(archived, command, environment, terminal)?;
    let plan = care::plan(&store, &selection, Running::Taken)?;
    let proposal = Proposal { verb, plan: &plan, environment };
    let mut report = proposal.report(command, args.dry_run);
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

impl WhichArgs {
    pub(super) fn includes_open(&self) -> bool {
        self.select.includes_open()
    }

    pub(super) fn selection(
        &self,
        archived: Archived,
        command: &str,
        environment: &Environment,
        terminal: &Terminal,
    ) -> Result<Selection, UsageError> {
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
