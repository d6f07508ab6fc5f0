//! What `delete`, `prune` and `auto-prune` do once it is agreed what goes.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use formats::{FORMATS, Feature, Layout};
use serde_json::json;

use super::ExitStatus;
use super::consent::counted;
use super::environment::Environment;
use super::terminal::Terminal;
use crate::care::{self, Plan, transcripts};
use crate::export::{
    self, Encoding, Keeper, Lineage, Listing, Names, Overwrite, Reach, Record, Renewal, Request,
    Target,
};
use crate::filter::Selection;
use crate::redact::Redactor;
use crate::store::{self, Deleted, Removal, Shown};

/// Deletes what still is what was shown.
pub(super) fn delete(store: &Path, plan: &Plan) -> Result<Deleted, store::Error> {
    store::write(store, |change| change.delete(&plan.doomed))
}

/// Removes the files of what was deleted, and tells all.
pub(super) fn finish(
    store: &Path,
    plan: &Plan,
    deleted: &Deleted,
    terminal: &Terminal,
) -> (serde_json::Value, ExitStatus) {
    let files = transcripts::remove(&transcripts::folder(store), &deleted.ids);
    for (path, error) in &files.failures {
        terminal.warning(&format!("{} was not removed: {error}", path.display()));
    }
    let left = plan.ids(&deleted.left);
    for id in &left {
        terminal.warning(&format!("session {id} was left: it has changed since it was shown"));
    }
    if deleted.gone > 0 {
        terminal.note(&format!("{} had gone already", counted(deleted.gone, "session")));
    }
    let Removal { sessions, messages } = deleted.removal;
    let also = if files.files == 0 {
        String::new()
    } else {
        format!(" and {}", counted(files.files, "file"))
    };
    let what = format!("{} with {}", counted(sessions, "session"), counted(messages, "message"));
    terminal.done(&format!("Deleted {what}{also}"));
    let report = json!({
        "deleted": { "sessions": sessions, "messages": messages, "files": files.files },
        "left": left,
    });
    let complete = files.failures.is_empty() && left.is_empty();
    (report, if complete { ExitStatus::Done } else { ExitStatus::Failed })
}

/// What was written down before it was deleted.
pub(super) struct Kept {
    /// Where it is.
    pub(super) path: PathBuf,
    pub(super) deleted: Deleted,
}

/// Writes all that is to go to a new JSONL file, reads it back, and deletes only then.
pub(super) fn keep(
    store: &Path,
    plan: &Plan,
    folder: &Path,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<Kept> {
    let format = FORMATS
        .iter()
        .find(|f| f.can(Feature::KeepsDeleted) && f.layout == Layout::OneFile)
        .context("no format keeps all of a session")?;
    let path = free_name(folder, format.extension, environment)?;
    let (steady, left) = care::still_there(store, plan)?;
    anyhow::ensure!(!steady.is_empty(), "all of them have changed since they were shown");
    let request = Request {
        selection: Selection::Sessions(steady),
        shown: Shown::All,
        lineage: Lineage::Single,
        redactor: Arc::new(Redactor::none()),
        jobs: NonZeroUsize::MIN,
        format,
        encoding: Encoding::Plain,
        target: Target::File(path.clone()),
        names: Names::Usual,
        overwrite: Overwrite::Extend,
        record: Record::Manifest,
        exported_at: environment.now(),
        zone: jiff::tz::TimeZone::UTC,
        reach: Reach::Everything,
        listing: Listing::Wanted,
        renewal: Renewal::All,
    };
    let summary = export::run(store, &request, &mut std::io::sink(), &terminal.progress())?;
    if let Some(failure) = summary.failures.first() {
        anyhow::bail!("{}; nothing was deleted", failure.reason);
    }
    let keepers: Vec<Keeper> = summary
        .files
        .iter()
        .map(|file| Keeper { path: file.path.clone(), format, documents: file.documents.clone() })
        .collect();
    let ids: Vec<String> =
        keepers.iter().flat_map(|k| k.documents.iter().flatten().cloned()).collect();
    let removal = export::delete_kept(store, &keepers)?;
    terminal.done(&format!("Wrote {}", path.display()));
    Ok(Kept { path, deleted: Deleted { removal, ids, left, gone: 0 } })
}

/// A file that does not exist yet, named after the time.
fn free_name(folder: &Path, suffix: &str, environment: &Environment) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let stem = environment.clock.now.strftime("pruned-%Y%m%dT%H%M%SZ").to_string();
    let names = (1..).map(|n: u32| match n {
        1 => format!("{stem}.{suffix}"),
        n => format!("{stem}-{n}.{suffix}"),
    });
    let free = names.map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_err());
    free.context("every name is taken")
}
