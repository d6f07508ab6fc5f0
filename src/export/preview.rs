//! What an export would hold, before anything of it is written where it was asked for.

use std::collections::BTreeMap;
use std::path::Path;

use formats::{TALLY, Tally};

use super::{Error, Listing, Names, Overwrite, Record, Request, Target, run};
use crate::progress::Progress;

/// What an export would hold.
#[derive(Debug, Clone, Default)]
pub struct Preview {
    /// Counts of what would be in its files.
    pub holds: Tally,
    /// How often each rule would take something out.
    pub findings: BTreeMap<String, u64>,
}

/// Reads and redacts all that a request selects, and counts it.
pub fn preview(store: &Path, request: &Request, progress: &dyn Progress) -> Result<Preview, Error> {
    let counted = Request {
        selection: request.selection.clone(),
        zone: request.zone.clone(),
        redactor: request.redactor.clone(),
        encoding: request.encoding.clone(),
        format: &TALLY,
        target: Target::Stream,
        names: Names::Usual,
        overwrite: Overwrite::Force,
        record: Record::Nothing,
        listing: Listing::Unwanted,
        ..*request
    };
    let mut line = Vec::new();
    let summary = run(store, &counted, &mut line, progress)?;
    let holds = match line.as_slice() {
        [] => Tally::default(), // nothing matches
        line => serde_json::from_slice(line)
            .map_err(|error| Error::writing(Path::new("-"))(error.into()))?,
    };
    Ok(Preview { holds, findings: summary.redactions })
}
