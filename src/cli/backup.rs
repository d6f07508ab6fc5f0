//! `backup`: a folder that keeps up with the store.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::consent::counted;
use super::environment::Environment;
use super::exit::UsageError;
use super::keys::RecipientArgs;
use super::place::Place;
use super::select::SelectArgs;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::backup::{self, Request, Retention, Summary};
#[cfg(feature = "object-store")]
use crate::bucket::Bucket;
use crate::export::{Listing, Look};

/// Keep a folder up to date with the store
///
/// Each session is a file of its own, JSONL packed by zstd, with all messages and all that belongs
/// to it; manifest.jsonl lists them with their SHA-256. Running it again writes what is new or has
/// changed. A session that was deleted from the store stays, and is marked. Nothing is redacted: this
/// is for you.
///
/// Where neither the store nor the folder was touched since the last run, nothing is read. Else the store
/// is read to see which sessions have changed, down to a letter; --quick reads no message for that, and
/// goes by rows, flags and the lengths of texts.
///
/// With --encrypt-to, files can be opened by the recipients alone. Ids, times, counts, sizes and digests
/// stay readable, in manifest.jsonl and as names; whether a session has changed is told without opening
/// its file.
///
/// Instead of a folder it can be a place in an object store, if this program was built for that:
/// `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX`, with credentials and settings from
/// the environment (`AWS_…`, `GOOGLE_…`, `AZURE_…`). What has changed is packed in a temporary folder first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions backup ~/backup/hermes
  hermes-sessions backup ~/backup/hermes --snapshot --keep-daily 7 --keep-weekly 4 --keep-monthly 12
  hermes-sessions verify ~/backup/hermes
  hermes-sessions restore ~/backup/hermes --into restored.db
  hermes-sessions backup s3://my-bucket/hermes
  hermes-sessions backup /mnt/cloud/hermes --encrypt-to age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p

In a crontab, at 3 every night; only failures send mail:
  0 3 * * * hermes-sessions -q backup ~/backup/hermes --snapshot --keep-daily 7")]
pub(super) struct BackupArgs {
    /// The folder, which is made where there is none, or a place in an object store
    #[arg(value_name = "DIR|URL")]
    folder: PathBuf,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    keys: RecipientArgs,
    /// Do not read messages to tell which sessions have changed: a text that was replaced by another of
    /// the same length, and nothing else, is not seen then
    #[arg(long)]
    quick: bool,
    /// Also keep a copy of the whole database, checked by SQLite, in snapshots/ there
    #[arg(long)]
    snapshot: bool,
    /// Of the copies, keep the last of each of the last N days
    #[arg(long, value_name = "N", requires = "snapshot")]
    keep_daily: Option<usize>,
    /// Of the copies, keep the last of each of the last N weeks
    #[arg(long, value_name = "N", requires = "snapshot")]
    keep_weekly: Option<usize>,
    /// Of the copies, keep the last of each of the last N months
    #[arg(long, value_name = "N", requires = "snapshot")]
    keep_monthly: Option<usize>,
}

pub(super) fn run(
    args: &BackupArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    if args.folder.as_os_str().is_empty() {
        return Err(UsageError::new("DIR|URL is empty").into());
    }
    let place = Place::named(&args.folder, environment)?;
    let request = Request {
        store: environment.store(global)?,
        selection: args.select.selection(environment, terminal)?,
        copies: args.snapshot.then_some(Retention {
            daily: args.keep_daily.unwrap_or(0),
            weekly: args.keep_weekly.unwrap_or(0),
            monthly: args.keep_monthly.unwrap_or(0),
        }),
        recipients: args.keys.recipients(environment)?,
        look: if args.quick { Look::Shape } else { Look::Texts },
        now: environment.now(),
        listing: if global.json { Listing::Wanted } else { Listing::Unwanted },
    };
    let progress = terminal.progress();
    let summary = match &place {
        Place::Folder(folder) => backup::run(&request, folder, &progress)?,
        #[cfg(feature = "object-store")]
        Place::Bucket(address) => {
            let bucket = Bucket::open(address, &environment.variables(), &progress)?;
            backup::remote::run(&request, &bucket, &progress)?
        }
    };
    tell(&place, &summary, terminal);
    if global.json {
        terminal::print(&format!("{}\n", as_json(&summary)))?;
    }
    let sound = summary.is_whole() && summary.sessions.warnings.count == 0;
    Ok(if sound { ExitStatus::Done } else { ExitStatus::Failed })
}

fn tell(place: &Place, summary: &Summary, terminal: &Terminal) {
    let sessions = &summary.sessions;
    for failure in &sessions.failures {
        let session = failure.session.as_deref().unwrap_or("a session");
        terminal.warning(&format!("{session} is not backed up: {}", failure.reason));
    }
    for warning in sessions.warnings.kept.iter().take(terminal.patience()) {
        terminal.warning(&warning.to_string());
    }
    if let Some(copy) = &summary.copy {
        terminal.done(&format!("Copied the store to {}", copy.display()));
    }
    for removed in &summary.removed {
        terminal.detail(&format!("  removed {}", removed.display()));
    }
    if summary.idle {
        terminal.done("Nothing has changed since the last run");
        return;
    }
    terminal.done(&format!(
        "Backed up {} to {place}; {} were unchanged, {} have left the store and stay",
        counted(sessions.exported, "session"),
        sessions.unchanged,
        sessions.gone.len(),
    ));
}

fn as_json(summary: &Summary) -> serde_json::Value {
    let sessions = &summary.sessions;
    let failure = |failure: &crate::export::Failure| json!({ "session_id": failure.session, "reason": failure.reason });
    json!({
        "command": "backup",
        "idle": summary.idle,
        "matched": sessions.matched,
        "exported": sessions.exported,
        "unchanged": sessions.unchanged,
        "failed": sessions.failures.len(),
        "failures": sessions.failures.iter().map(failure).collect::<Vec<_>>(),
        "gone": sessions.gone.iter().map(|line| &line.session_id).collect::<Vec<_>>(),
        "messages": sessions.messages,
        "bytes": sessions.bytes,
        "warnings": sessions.warnings.kept.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "files": sessions.files,
        "snapshot": summary.copy,
        "removed_snapshots": summary.removed,
    })
}
