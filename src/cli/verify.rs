//! `verify`: whether files are still what the manifest says.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::environment::Environment;
use super::exit::UsageError;
use super::keys::IdentityArgs;
use super::place::Place;
use super::terminal::{self, Terminal, one_line};
use super::{ExitStatus, Global};
#[cfg(feature = "object-store")]
use crate::backup::remote;
#[cfg(feature = "object-store")]
use crate::bucket::Bucket;
use crate::verify::{self, Report};

/// Check exported files against their manifest, and the manifest against the store
///
/// Every file that manifest.jsonl lists is read and hashed. Differences are told apart: missing
/// (listed, not there), changed (not what any line says), stale (what an older line says, or left
/// behind by a renamed session), unlisted. A folder may have been moved; paths in the manifest are
/// relative to it. Encrypted files are compared as they lie there; with --identity they are opened and
/// read to their ends, too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions verify ~/.hermes/session-exports
  hermes-sessions verify backup.jsonl --against-store --json
  hermes-sessions verify ~/backup/sealed --identity ~/keys/backup.txt")]
pub(super) struct VerifyArgs {
    /// Folders, or files beside their manifest; or one backup in an object store, as `s3://BUCKET/PREFIX`
    #[arg(required = true, value_name = "DIR|FILE|URL")]
    targets: Vec<PathBuf>,
    /// Also report sessions that are in no file, that grew since, or that the store no longer has
    #[arg(long)]
    against_store: bool,
    #[command(flatten)]
    keys: IdentityArgs,
}

pub(super) fn run(
    args: &VerifyArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let targets: Vec<PathBuf> = args.targets.iter().map(|t| environment.expand(t)).collect();
    if targets.iter().any(|target| target.as_os_str().is_empty()) {
        return Err(UsageError::new("an empty path names nothing to verify").into());
    }
    let store = args.against_store.then(|| environment.store(global)).transpose()?;
    let identities = args.keys.identities(environment)?;
    let places = args.targets.iter().map(|target| Place::named(target, environment));
    let places = places.collect::<anyhow::Result<Vec<Place>>>()?;
    let progress = terminal.progress();
    let report = match &places[..] {
        #[cfg(feature = "object-store")]
        [Place::Bucket(address)] => {
            let bucket = Bucket::open(address, &environment.variables(), &progress)?;
            remote::verify(&bucket, store.as_deref(), &identities, &progress)?
        }
        #[cfg(feature = "object-store")]
        places if places.iter().any(|place| matches!(place, Place::Bucket(_))) => {
            return Err(UsageError::new("an object store is verified alone").into());
        }
        _ => verify::verify(&targets, store.as_deref(), &identities, &progress)?,
    };
    if global.json {
        let mut object = json!({ "command": "verify", "clean": report.is_clean() });
        if let (Some(object), serde_json::Value::Object(report)) =
            (object.as_object_mut(), serde_json::to_value(&report)?)
        {
            object.extend(report);
        }
        terminal::print(&format!("{object}\n"))?;
    } else {
        terminal::list(&differences(&report))?;
        terminal.done(&format!("{} intact", files(report.intact)));
    }
    Ok(if report.is_clean() { ExitStatus::Done } else { ExitStatus::Failed })
}

fn files(count: u64) -> String {
    format!("{count} file{}", if count == 1 { "" } else { "s" })
}

fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

fn differences(report: &Report) -> String {
    let mut text = String::new();
    let kinds = [
        ("missing", &report.missing),
        ("changed", &report.changed),
        ("stale", &report.stale),
        ("unlisted", &report.unlisted),
    ];
    for (kind, paths) in kinds {
        for path in paths {
            let _ = writeln!(text, "{kind}: {}", shown(path));
        }
    }
    for closed in &report.closed {
        let _ = writeln!(text, "closed: {} ({})", shown(&closed.path), one_line(&closed.reason));
    }
    for bad in &report.bad_lines {
        let _ = writeln!(text, "no entry: {}, line {}", shown(&bad.manifest), bad.line);
    }
    if let Some(store) = &report.store {
        for id in &store.missing {
            let _ = writeln!(text, "not archived: {}", one_line(id));
        }
        for grown in &store.grown {
            let (id, archived, stored) =
                (one_line(&grown.session_id), grown.archived, grown.stored);
            let _ = writeln!(text, "grown: {id} ({archived} messages archived, {stored} stored)");
        }
        for id in &store.gone {
            let _ = writeln!(text, "gone from the store: {}", one_line(id));
        }
    }
    text
}
