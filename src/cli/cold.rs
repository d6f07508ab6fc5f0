//! `archive --cold`: sessions out of the store, into a folder.

use std::path::PathBuf;

use serde_json::json;

use super::archive::ArchiveArgs;
use super::consent::{Proposal, counted};
use super::environment::Environment;
use super::exit::UsageError;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::backup::cold::{self, Request, Summary};
use crate::care;
use crate::filter::Archived;

pub(super) fn run(
    args: &ArchiveArgs,
    folder: PathBuf,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    if args.which.includes_open() {
        return Err(UsageError::new("archive --cold never takes running sessions").into());
    }
    let store = environment.store(global)?;
    let recipients = args.keys.recipients(environment)?;
    let selection = args.which.selection(Archived::Any, "archive", environment, terminal)?;
    let plan = care::plan_conversations(&store, &selection)?;
    let proposal = Proposal { verb: "Put away", plan: &plan, environment };
    let mut report = proposal.report("archive", args.which.dry_run);
    report["cold"] = json!(folder);
    let mut status = ExitStatus::Done;
    let empty = proposal.is_empty(terminal);
    if empty && !args.which.dry_run {
        cold::settle(&store, &folder, environment.now())?;
    } else if empty {
    } else if args.which.dry_run {
        proposal.rehearse(global, terminal)?;
    } else if proposal.is_agreed(args.which.yes, terminal)? {
        let (ids, changed) = care::still_there(&store, &plan)?;
        let mut left: Vec<(String, String)> = Vec::new();
        let since = "it has changed since it was shown";
        left.extend(plan.ids(&changed).into_iter().map(|id| (id.to_owned(), since.to_owned())));
        let request = Request { store, folder, ids, recipients, now: environment.now() };
        let summary = cold::put_away(&request, &terminal.progress())?;
        left.extend(failures(&summary));
        tell(&request, &summary, &left, terminal);
        report["left"] =
            left.iter().map(|(id, why)| json!({ "session_id": id, "reason": why })).collect();
        report["moved"] = json!({
            "sessions": summary.taken.removal.sessions,
            "messages": summary.taken.removal.messages,
            "session_ids": summary.taken.ids,
        });
        status = if left.is_empty() { ExitStatus::Done } else { ExitStatus::Failed };
    }
    terminal::print_report(global, &report)?;
    Ok(status)
}

/// What stays in the store, with the reasons.
fn failures(summary: &Summary) -> Vec<(String, String)> {
    let named = |failure: &crate::export::Failure| {
        (failure.session.clone().unwrap_or_else(|| "a session".to_owned()), failure.reason.clone())
    };
    let unwritten = summary.written.failures.iter().map(named);
    unwritten.chain(summary.taken.left.iter().cloned()).collect()
}

fn tell(request: &Request, summary: &Summary, left: &[(String, String)], terminal: &Terminal) {
    for (id, why) in left {
        terminal.warning(&format!("{id} stays in the store: {why}"));
    }
    let removal = summary.taken.removal;
    terminal.done(&format!(
        "Put away {} with {} in {}",
        counted(removal.sessions, "session"),
        counted(removal.messages, "message"),
        request.folder.display(),
    ));
}
