//! `optimize`: a smaller file, quicker search.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use indicatif::HumanBytes;
use serde_json::json;

use super::environment::Environment;
use super::exit::UsageError;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::store::{self, Size, Vacuum};

/// Merge the search indexes and give unused space back
///
/// The indexes are merged beside a running Hermes. The file is written anew only when no other program
/// has it open, and only if the disk has room for the copies that this takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions optimize
  hermes-sessions optimize --into /backup/state.db   # a compact copy; the store stays as it is")]
pub(super) struct OptimizeArgs {
    /// Write a compact copy to this new file, and leave the store as it is
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

pub(super) fn run(
    args: &OptimizeArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = environment.store(global)?;
    if let Some(file) = &args.into {
        return into(&store, &environment.expand(file), global, terminal);
    }
    let before = store::size(&store)?;
    let indexes = store::merge_indexes(&store)?;
    let vacuum = vacuum(&store, environment)?;
    let after = store::size(&store)?;
    tell(vacuum.as_ref().err(), before, after, terminal);
    let report = json!({
        "command": "optimize",
        "indexes": indexes,
        "vacuumed": vacuum.is_ok(),
        "reason": vacuum.as_ref().err().map(ToString::to_string),
        "bytes_before": before.whole(),
        "bytes_after": after.whole(),
    });
    terminal::print_report(global, &report)?;
    Ok(vacuum.map_or_else(|why| why.status(), |()| ExitStatus::Done))
}

/// The same after pruning unasked, where it is no failure if it has to wait.
pub(super) fn after_pruning(
    store: &Path,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<serde_json::Value> {
    let before = store::size(store)?;
    store::merge_indexes(store)?;
    let vacuum = vacuum(store, environment)?;
    let after = store::size(store)?;
    tell(vacuum.as_ref().err(), before, after, terminal);
    Ok(json!({
        "vacuumed": vacuum.is_ok(),
        "reason": vacuum.as_ref().err().map(ToString::to_string),
        "bytes_before": before.whole(),
        "bytes_after": after.whole(),
    }))
}

/// Why the file was not written anew.
#[derive(Debug, thiserror::Error)]
enum Reason {
    #[error("another program has the store open")]
    InUse,
    #[error(
        "{} has {} free, and {} are needed",
        folder.display(), HumanBytes(*free), HumanBytes(*needed)
    )]
    NoRoom { folder: PathBuf, free: u64, needed: u64 },
}

impl Reason {
    fn status(&self) -> ExitStatus {
        match self {
            Reason::InUse => ExitStatus::InUse,
            Reason::NoRoom { .. } => ExitStatus::Failed,
        }
    }
}

fn vacuum(store: &Path, environment: &Environment) -> anyhow::Result<Result<(), Reason>> {
    let store = store::existing(store)?;
    let needed = store::size(&store)?.whole();
    let beside = store.parent().unwrap_or(Path::new("/")).to_owned();
    // One copy is made where SQLite keeps temporary files, and one comes into the log.
    for folder in [beside, environment.temporary.clone()] {
        let free = fs4::available_space(&folder)
            .with_context(|| format!("cannot tell how much is free in {}", folder.display()))?;
        if free < needed {
            return Ok(Err(Reason::NoRoom { folder, free, needed }));
        }
    }
    Ok(match store::vacuum(&store)? {
        Vacuum::Done => Ok(()),
        Vacuum::InUse => Err(Reason::InUse),
    })
}

fn tell(reason: Option<&Reason>, before: Size, after: Size, terminal: &Terminal) {
    if let Some(reason) = reason {
        terminal.warning(&format!("the file was not written anew: {reason}"));
    }
    terminal.done(&format!(
        "The store takes {} (before: {})",
        HumanBytes(after.whole()),
        HumanBytes(before.whole())
    ));
}

fn into(
    store: &Path,
    file: &Path,
    global: &Global,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    if file.as_os_str().is_empty() {
        return Err(UsageError::new("--into is empty").into());
    }
    let before = store::size(store)?;
    let after = store::copy_into(store, file)?;
    terminal.done(&format!(
        "Wrote {}: {} (the store: {})",
        file.display(),
        HumanBytes(after),
        HumanBytes(before.whole())
    ));
    let report = json!({
        "command": "optimize",
        "into": file.display().to_string(),
        "bytes_before": before.whole(),
        "bytes_after": after,
    });
    terminal::print_report(global, &report)?;
    Ok(ExitStatus::Done)
}
