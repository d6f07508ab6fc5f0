//! `repair`: what is damaged, and what can be done about it.

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::HumanBytes;
use serde_json::json;

use super::consent::counted;
use super::environment::Environment;
use super::exit::UsageError;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::store::{self, Checked, Damage, Repair, Salvage};

/// Mend a damaged store, or copy what can be read of it
///
/// Indexes and full-text indexes are made anew from the rows that they are about, and what is defined
/// twice is defined once; the files are copied first, and all of it is one transaction. Rows themselves
/// are never changed: where a table is damaged, --into copies what can be read of it to a new store.
/// A store that another program is writing to is in use, not damaged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions repair --check-only
  hermes-sessions repair
  hermes-sessions repair --into recovered.db")]
pub(super) struct RepairArgs {
    /// Say what is damaged, and change nothing; status 1 if anything is
    #[arg(long)]
    check_only: bool,
    /// Copy all that can be read to a new store at this place, and leave the damaged one as it is
    #[arg(long, value_name = "FILE", conflicts_with = "check_only")]
    into: Option<PathBuf>,
}

pub(super) fn run(
    args: &RepairArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = environment.store(global)?;
    match &args.into {
        Some(file) if file.as_os_str().is_empty() => Err(UsageError::new("--into is empty").into()),
        Some(file) => salvage(&store, &environment.expand(file), global, terminal),
        None if args.check_only => {
            let Checked { found, by_writing } = store::check(&store)?;
            if !by_writing {
                terminal
                    .note("the store is read-only, so it was not tried whether it can be written");
            }
            let repair = Repair { left: found.clone(), found, backup: None };
            tell(&repair, "`repair` mends what can be mended", global, terminal)
        }
        None => tell(&store::repair(&store)?, INTO, global, terminal),
    }
}

const INTO: &str = "`repair --into NEW` copies all that can be read to a new store";

fn tell(
    repair: &Repair,
    hint: &str,
    global: &Global,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    for damage in &repair.found {
        let mended = if repair.left.contains(damage) { "" } else { "; it was mended" };
        terminal.warning(&format!("{damage}{mended}"));
    }
    for damage in repair.left.iter().filter(|damage| !repair.found.contains(damage)) {
        terminal.warning(&damage.to_string());
    }
    if let Some(backup) = &repair.backup {
        let (path, bytes) = (backup.path.display(), HumanBytes(backup.bytes));
        terminal.done(&format!("The store as it was is {path} ({bytes})"));
    }
    if repair.left.is_empty() {
        let what = if repair.found.is_empty() { "nothing is damaged" } else { "all is well now" };
        terminal.done(&format!("Checked every page and index: {what}"));
    } else {
        let what = counted(repair.left.len() as u64, "object");
        terminal.error(&format!("{what} damaged"), &[], Some(hint));
    }
    let names = |damage: &[Damage]| damage.iter().map(ToString::to_string).collect::<Vec<_>>();
    let report = json!({
        "command": "repair",
        "found": names(&repair.found),
        "left": names(&repair.left),
        "backup": repair.backup.as_ref().map(|b| b.path.display().to_string()),
        "backup_bytes": repair.backup.as_ref().map(|b| b.bytes),
    });
    terminal::print_report(global, &report)?;
    Ok(if repair.left.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}

fn salvage(
    store: &Path,
    file: &Path,
    global: &Global,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let saved = store::salvage(store, file)?;
    let Salvage { rows, gaps, remade, bytes } = &saved;
    for (table, places) in gaps {
        let places = counted(*places, "place");
        terminal.warning(&format!("{table}: rows at {places} could not be read"));
    }
    if *remade > 0 {
        let sessions = counted(*remade, "session");
        terminal
            .warning(&format!("{sessions} lost but for messages; the source is `recovered` now"));
    }
    let of = |table| rows.get(table).copied().unwrap_or_default();
    terminal.done(&format!(
        "Wrote {} ({}): {} and {}",
        file.display(),
        HumanBytes(*bytes),
        counted(of("sessions") + remade, "session"),
        counted(of("messages"), "message"),
    ));
    let report = json!({
        "command": "repair",
        "into": file.display().to_string(),
        "rows": rows,
        "gaps": gaps,
        "remade_sessions": remade,
        "bytes": bytes,
    });
    terminal::print_report(global, &report)?;
    Ok(if gaps.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}
