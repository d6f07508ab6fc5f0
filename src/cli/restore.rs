//! `restore`: sessions from a backup into a store.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::environment::Environment;
use super::exit::UsageError;
use super::keys::IdentityArgs;
use super::place::Place;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
#[cfg(feature = "object-store")]
use crate::backup::remote;
use crate::backup::restore::{self, Gone, Request, Restored};
#[cfg(feature = "object-store")]
use crate::bucket::Bucket;
use crate::import::{Mode, OnConflict};

/// Put sessions from a backup into a store
///
/// Every file is compared with the manifest before a row is written; one that was changed is named
/// and left out. Afterwards every column of every row is compared with the files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions restore ~/backup/hermes --into restored.db
  hermes-sessions restore ~/backup/hermes 20250305_091523_a1b2c3 --into ~/.hermes/state.db
  hermes-sessions restore ~/backup/hermes --into restored.db --deleted --dry-run
  hermes-sessions restore s3://my-bucket/hermes --into restored.db
  hermes-sessions restore ~/backup/sealed --identity ~/keys/backup.txt --into restored.db")]
pub(super) struct RestoreArgs {
    /// The backup: a folder, or a place in an object store, as `backup` takes them
    #[arg(value_name = "DIR|URL")]
    folder: PathBuf,
    /// The sessions: ids, or the first 4 or more characters of such [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// The store; it is made where there is none
    #[arg(long, value_name = "FILE")]
    into: PathBuf,
    /// Replace sessions that the store has already; they are left alone otherwise
    #[arg(long)]
    replace: bool,
    /// Also restore sessions that had been deleted from the store before the last backup
    #[arg(long)]
    deleted: bool,
    #[command(flatten)]
    keys: IdentityArgs,
    /// Check the files, say what would be restored, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(
    args: &RestoreArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    if args.into.as_os_str().is_empty() {
        return Err(UsageError::new("--into needs a file").into());
    }
    let place = Place::named(&args.folder, environment)?;
    let request = Request {
        ids: args.ids.clone(),
        into: environment.expand(&args.into),
        on_conflict: if args.replace { OnConflict::Replace } else { OnConflict::Skip },
        gone: if args.deleted { Gone::Restored } else { Gone::Left },
        identities: args.keys.identities(environment)?,
        mode: if args.dry_run { Mode::DryRun } else { Mode::Write },
        zone: environment.clock.zone.clone(),
    };
    let progress = terminal.progress();
    let restored = match &place {
        Place::Folder(folder) => restore::restore(&request, folder, &progress)?,
        #[cfg(feature = "object-store")]
        Place::Bucket(address) => {
            let bucket = Bucket::open(address, &environment.variables(), &progress)?;
            remote::restore(&request, &bucket, &progress)?
        }
    };
    tell(args, &restored, terminal);
    if global.json {
        terminal::print(&format!("{}\n", as_json(args, &restored)))?;
    }
    let sound = restored.damaged.is_empty()
        && restored.differing.is_empty()
        && restored.import.problems.is_empty();
    Ok(if sound { ExitStatus::Done } else { ExitStatus::Failed })
}

fn tell(args: &RestoreArgs, restored: &Restored, terminal: &Terminal) {
    for (path, fault) in &restored.damaged {
        terminal.warning(&format!("{} was not restored: {fault}", path.display()));
    }
    for problem in &restored.import.problems {
        terminal.warning(&format!("{problem}: {}", problem.what));
    }
    for (id, what) in &restored.differing {
        terminal
            .warning(&format!("session {id} is not in the store as it is in the backup: {what}"));
    }
    if restored.left > 0 {
        let left = restored.left;
        terminal.note(&format!("{left} sessions had been deleted; --deleted restores them, too"));
    }
    let import = &restored.import;
    let verb = if args.dry_run { "Would restore" } else { "Restored" };
    let taken = import.imported + import.replaced;
    let skipped = match import.skipped {
        0 => String::new(),
        skipped => format!("; {skipped} were there already"),
    };
    terminal.done(&format!(
        "{verb} {taken} sessions with {} messages into {}{skipped}",
        import.messages,
        args.into.display()
    ));
    if !args.dry_run && restored.differing.is_empty() {
        terminal.done(&format!("Compared {} sessions with the backup", restored.compared));
    }
}

fn as_json(args: &RestoreArgs, restored: &Restored) -> serde_json::Value {
    let import = &restored.import;
    json!({
        "command": "restore",
        "dry_run": args.dry_run,
        "imported": import.imported,
        "replaced": import.replaced,
        "skipped": import.skipped,
        "messages": import.messages,
        "left_deleted": restored.left,
        "compared": restored.compared,
        "damaged": restored.damaged.iter()
            .map(|(path, fault)| json!({ "path": path, "reason": fault })).collect::<Vec<_>>(),
        "differing": restored.differing.iter()
            .map(|(id, what)| json!({ "session_id": id, "difference": what })).collect::<Vec<_>>(),
        "problems": import.problems.iter()
            .map(|problem| format!("{problem}: {}", problem.what)).collect::<Vec<_>>(),
    })
}
