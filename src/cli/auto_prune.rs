//! `auto-prune`: what Hermes does at its start when `config.yaml` asks for it, for cron.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::consent::{Proposal, date};
use super::environment::Environment;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, deletion, extend, optimize};
use crate::care::retention::{self, Retention};
use crate::care::{self, Plan, Running};
use crate::filter::Selection;
use crate::store::{self, Deleted};

/// Prune as config.yaml says, if it is time, without asking
///
/// Follows `auto_prune`, `retention_days`, `vacuum_after_prune` and `min_interval_hours` in the section
/// `sessions` of the config.yaml beside the store. When it last ran stands in the store, where Hermes
/// looks, too: whoever comes first prunes, and the other waits for the interval to pass. Does nothing
/// unless `auto_prune` is true.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions auto-prune --dry-run
  hermes-sessions auto-prune -q            # from cron, as often as you like")]
pub(super) struct AutoPruneArgs {
    /// The configuration [default: config.yaml beside the store]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Say what would go, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(
    args: &AutoPruneArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = environment.store(global)?;
    let config = match &args.config {
        Some(file) => environment.expand(file),
        None => store.with_file_name("config.yaml"),
    };
    let retention = Retention::read(&config)?;
    let now = environment.now();
    let mark = store::read(&store, |snapshot| snapshot.mark(retention::MARK))?;
    let mut report = json!({ "command": "auto-prune", "dry_run": args.dry_run, "skipped": false });
    let skipped = if !retention.auto_prune {
        Some(format!("sessions.auto_prune is not true in {}", config.display()))
    } else if !retention.is_due(mark.as_deref(), now) {
        Some(match Retention::ahead(mark.as_deref(), now) {
            Some(last) => format!(
                "the store's mark says that it was last done on {}, which is yet to come; \
                 Hermes waits for that, too",
                date(Some(last), &environment.clock)
            ),
            None => format!("the last one is less than {} hours ago", retention.interval_hours),
        })
    } else {
        None
    };
    if let Some(why) = skipped {
        terminal.note(&format!("nothing was pruned: {why}"));
        report["skipped"] = true.into();
        terminal::print_report(global, &report)?;
        return Ok(ExitStatus::Done);
    }
    let selection = Selection::Filtered(retention::older_than(retention.days, now));
    let plan = care::plan(&store, &selection, Running::LeftOut)?;
    report["matched"] = plan.sessions.len().into();
    let proposal = Proposal { verb: "Delete", plan: &plan, environment };
    let mut status = ExitStatus::Done;
    if args.dry_run {
        if !proposal.is_empty(terminal) {
            proposal.rehearse(global, terminal)?;
        }
    } else if let Some(deleted) = prune(&store, &plan, &retention, now)? {
        let (done, ended) = deletion::finish(&store, &plan, &deleted, terminal);
        extend(&mut report, done);
        status = ended;
        if retention.vacuum && deleted.removal.sessions > 0 {
            report["vacuum"] = optimize::after_pruning(&store, environment, terminal)?;
        }
    } else {
        terminal.note("nothing was pruned: another program has just done it");
        report["skipped"] = true.into();
    }
    terminal::print_report(global, &report)?;
    Ok(status)
}

/// Deletes and sets the mark; `None` where somebody else has set it since it was read.
fn prune(
    store: &std::path::Path,
    plan: &Plan,
    retention: &Retention,
    now: f64,
) -> Result<Option<Deleted>, store::Error> {
    store::write(store, |change| {
        let mark = change.snapshot()?.mark(retention::MARK)?;
        if !retention.is_due(mark.as_deref(), now) {
            return Ok(None);
        }
        let deleted = change.delete(&plan.doomed)?;
        change.set_mark(retention::MARK, &format!("{now:?}"))?;
        Ok(Some(deleted))
    })
}
