//! `scan`: which secrets are in how many sessions.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::consent::counted;
use super::environment::Environment;
use super::from::FromArgs;
use super::redaction::{RedactArgs, write_report};
use super::select::SelectArgs;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, losses};
use crate::scan::{self, Report, Secret};
use crate::store::Words;

/// Tell which secrets are in how many sessions, without showing one
///
/// Every text of the selected sessions is searched, messages that were compacted or taken back
/// included. The same secret in many sessions is one line, with when it was first and last said, so
/// that you know what to rotate.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions scan
  hermes-sessions scan --source telegram --newer-than 30d --report findings.json
  hermes-sessions scan --fail-on-findings -q || echo 'look before you share'")]
pub(super) struct ScanArgs {
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    redact: RedactArgs,
    /// Write where each secret stands to a JSON file: rule, session, message, field, count
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// End with status 1 if anything is found
    #[arg(long)]
    fail_on_findings: bool,
}

pub(super) fn run(
    args: &ScanArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = args.from.store(Words::Left, global, environment, terminal)?;
    let selection = args.select.selection(environment, terminal)?;
    let redactor = args.redact.always(environment)?;
    let report = scan::run(&store, &selection, &redactor, &terminal.progress())?;
    if let Some(file) = &args.report {
        write_report(&environment.expand(file), &report.findings)?;
    }
    if global.json {
        terminal::print(&format!("{}\n", as_json(&report)))?;
    } else {
        terminal::list(&as_table(&report))?;
        terminal.done(&format!(
            "{} in {} with {}",
            counted(report.secrets.len() as u64, "secret"),
            counted(report.sessions, "session"),
            counted(report.messages, "message")
        ));
    }
    let failed = args.fail_on_findings && !report.secrets.is_empty();
    if report.unreadable > 0 {
        terminal.warning(&format!("{} damaged sessions were not searched", report.unreadable));
    }
    let failed = failed || report.unreadable > 0;
    let status = if failed { ExitStatus::Failed } else { ExitStatus::Done };
    Ok(store.ends(status.and(losses::tell_search(report.searched, terminal))))
}

fn as_table(report: &Report) -> String {
    if report.secrets.is_empty() {
        return String::new();
    }
    let mut table = format!(
        "{:<32} {:>8} {:>7}  {:<20}  {}\n",
        "RULE", "SESSIONS", "TIMES", "FIRST SAID", "LAST SAID"
    );
    for Secret { rule, sessions, count, first_seen, last_seen } in &report.secrets {
        let (first, last) = (time(*first_seen), time(*last_seen));
        let _ = writeln!(table, "{rule:<32} {:>8} {count:>7}  {first:<20}  {last}", sessions.len());
    }
    table
}

fn time(seconds: Option<f64>) -> String {
    seconds.and_then(formats::iso_seconds).unwrap_or_else(|| "-".to_owned())
}

fn as_json(report: &Report) -> serde_json::Value {
    let secret = |secret: &Secret| {
        json!({
            "rule": secret.rule,
            "sessions": secret.sessions,
            "count": secret.count,
            "first_seen": secret.first_seen,
            "last_seen": secret.last_seen,
        })
    };
    json!({
        "command": "scan",
        "sessions": report.sessions,
        "messages": report.messages,
        "secrets": report.secrets.iter().map(secret).collect::<Vec<_>>(),
    })
}
