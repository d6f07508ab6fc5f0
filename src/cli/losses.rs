//! What was not found or not shown as it is stored, told beside the rest.

use super::ExitStatus;
use super::consent::counted;
use super::terminal::Terminal;
use crate::store::Searched;
use crate::view::Losses;

/// Tells what was lost; a failure where something is not shown at all.
pub(super) fn tell(losses: &Losses, terminal: &Terminal) -> ExitStatus {
    let patience = terminal.patience();
    for line in losses.lines().take(patience) {
        terminal.warning(line);
    }
    let untold = losses.lines().skip(patience).count() as u64 + losses.more;
    if untold > 0 {
        terminal.warning(&format!("and {} more; -v names them", counted(untold, "loss")));
    }
    if losses.has_unreadable() { ExitStatus::Failed } else { ExitStatus::Done }
}

/// Tells how a search went; a failure where messages could not be searched.
pub(super) fn tell_search(searched: Searched, terminal: &Terminal) -> ExitStatus {
    if let Some(note) = searched.unindexed.and_then(crate::store::Unindexed::note) {
        terminal.note(note);
    }
    match unsearched(searched) {
        Some(warning) => {
            terminal.warning(&warning);
            ExitStatus::Failed
        }
        None => ExitStatus::Done,
    }
}

/// What could not be searched.
pub(super) fn unsearched(searched: Searched) -> Option<String> {
    let messages = counted(searched.unreadable, "message");
    let text = format!("{messages} could not be searched, because the store is damaged");
    (searched.unreadable > 0).then_some(text)
}

/// Adds what was lost to a report, if anything was.
pub(super) fn report(losses: &Losses, searched: Searched, report: &mut serde_json::Value) {
    let unsearched = unsearched(searched);
    let lines: Vec<&str> = losses.lines().chain(unsearched.as_deref()).collect();
    if !lines.is_empty() {
        report["warnings"] = lines.into();
    }
}
