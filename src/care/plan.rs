//! What a command that deletes or hides is about to touch: the same rows are shown and then taken.

use std::path::Path;

use crate::export::Listed;
use crate::filter::Selection;
use crate::redact::{Redactor, Scope};
use crate::store::{self, Doomed, Snapshot};

/// What a selection would take.
#[derive(Debug, Default)]
pub struct Plan {
    /// The rows, as they are shown.
    pub doomed: Doomed,
    /// The chosen ones, oldest first.
    pub sessions: Vec<Listed>,
    /// Running sessions that were left out.
    pub running_left_out: u64,
    /// Sessions that `--exclude` took out.
    pub excluded: u64,
    /// Sessions whose row is damaged, which nobody can be shown.
    pub unreadable: u64,
}

/// What happens to a running session that was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// It is left out.
    LeftOut,
    /// It is taken.
    Taken,
}

/// What this selection would take.
pub fn plan(store: &Path, selection: &Selection, running: Running) -> Result<Plan, store::Error> {
    store::read(store, |snapshot| of(snapshot, selection, running))
}

fn of(
    snapshot: &Snapshot<'_>,
    selection: &Selection,
    running: Running,
) -> Result<Plan, store::Error> {
    let matches = snapshot.matching(selection)?;
    let mut plan = Plan {
        running_left_out: matches.running_left_out,
        excluded: matches.excluded,
        unreadable: matches.unreadable.len() as u64,
        ..Plan::default()
    };
    let named = matches!(selection, Selection::Sessions(_));
    let mut keys = Vec::with_capacity(matches.sessions.len());
    for key in matches.sessions {
        let row = Redactor::none().apply(snapshot.brief(key)?, &mut Scope::default());
        let listed = Listed::new(&row);
        if named && running == Running::LeftOut && listed.ended_at.is_none() {
            plan.running_left_out += 1;
            continue;
        }
        keys.push(key);
        plan.sessions.push(listed);
    }
    plan.doomed = snapshot.doomed(&keys)?;
    Ok(plan)
}
