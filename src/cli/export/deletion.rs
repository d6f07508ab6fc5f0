//! `--delete-after-verified`: a full record beside the files, and then the deletion.

use std::path::Path;

use formats::{FORMATS, Feature, Format, Layout};

use super::super::terminal::Terminal;
use crate::export::{self, Keeper, Overwrite, Request, Summary, Target};
use crate::store;

/// Keeps a full record beside the files, verifies all of them, and deletes.
pub(super) fn delete(
    store: &Path,
    request: &Request,
    summary: &mut Summary,
    terminal: &Terminal,
) -> anyhow::Result<store::Removal> {
    if let Some(failure) = summary.failures.first() {
        anyhow::bail!("{}; nothing was deleted", failure.reason);
    }
    for running in summary.sessions.iter().filter(|session| session.ended_at.is_none()) {
        terminal
            .warning(&format!("session {} has not ended; Hermes may go on with it", running.id));
    }
    let mut keepers: Vec<Keeper> =
        summary.files.iter().map(|f| keeper(f, request.format)).collect();
    if request.format.layout == Layout::FilePerSession {
        let record =
            FORMATS.iter().find(|f| f.can(Feature::KeepsDeleted) && f.layout == Layout::OneFile);
        let (Some(record), Some(first)) = (record, summary.files.first()) else {
            anyhow::bail!("there is nothing to delete");
        };
        let path = first.path.with_extension(record.extension);
        let request = Request {
            selection: request.selection.clone(),
            zone: request.zone.clone(),
            redactor: request.redactor.clone(),
            encoding: request.encoding.clone(),
            format: record,
            target: Target::File(path),
            names: request.names.clone(),
            overwrite: match request.overwrite {
                Overwrite::Force => Overwrite::Force,
                Overwrite::Replace | Overwrite::Known | Overwrite::Extend => Overwrite::Extend,
            },
            ..*request
        };
        let kept = export::run(store, &request, &mut std::io::sink(), &terminal.progress())?;
        keepers.extend(kept.files.iter().map(|file| keeper(file, record)));
        summary.files.extend(kept.files);
    }
    Ok(export::delete_kept(store, &keepers)?)
}

fn keeper(file: &export::Exported, format: &'static Format) -> Keeper {
    Keeper { path: file.path.clone(), format, documents: file.documents.clone() }
}
