//! What a command that deletes or hides is about to touch: the same rows are shown and then taken.

use std::collections::HashSet;
use std::path::Path;

use crate::export::Listed;
use crate::filter::Selection;
use crate::redact::{Redactor, Scope};
use crate::store::{self, Conversation, Doomed, Searched, SessionKey, Snapshot};

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
    /// How what was said was looked for.
    pub searched: Searched,
}

impl Plan {
    /// The ids of some of the chosen sessions.
    pub fn ids(&self, of: &[SessionKey]) -> Vec<&str> {
        let of: HashSet<&SessionKey> = of.iter().collect();
        let chosen = self.doomed.chosen.iter().zip(&self.sessions);
        let wanted = chosen.filter(|(shown, _)| of.contains(&shown.key));
        wanted.map(|(_, listed)| listed.id.as_str()).collect()
    }
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

/// What a selection would take together with all parts of the conversations that it touches. One of which
/// a part, or a delegate, is running is left out whole.
pub fn plan_conversations(store: &Path, selection: &Selection) -> Result<Plan, store::Error> {
    store::read(store, |snapshot| {
        let chosen = of(snapshot, selection, Running::LeftOut)?;
        let keys: Vec<SessionKey> = chosen.doomed.chosen.iter().map(|seen| seen.key).collect();
        let mut plan = Plan { sessions: Vec::new(), doomed: Doomed::default(), ..chosen };
        let mut keys_of_all = Vec::new();
        for Conversation { parts, delegates } in snapshot.families(&keys)? {
            let rows =
                parts.iter().map(|key| listed(snapshot, *key)).collect::<Result<Vec<_>, _>>()?;
            let mut others = delegates.iter().map(|key| listed(snapshot, *key));
            let busy = others.try_fold(false, |busy, row| {
                Ok::<_, store::Error>(busy || row?.ended_at.is_none())
            })?;
            if busy || rows.iter().any(|row| row.ended_at.is_none()) {
                plan.running_left_out += 1;
                continue;
            }
            keys_of_all.extend(parts);
            plan.sessions.extend(rows);
        }
        plan.doomed = snapshot.doomed(&keys_of_all)?;
        Ok(plan)
    })
}

fn listed(snapshot: &Snapshot<'_>, key: SessionKey) -> Result<Listed, store::Error> {
    Ok(Listed::new(&Redactor::none().apply(snapshot.brief(key)?, &mut Scope::default())))
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
        searched: matches.searched,
        ..Plan::default()
    };
    let named = matches!(selection, Selection::Sessions(_) | Selection::Latest);
    let mut keys = Vec::with_capacity(matches.sessions.len());
    for key in matches.sessions {
        let listed = listed(snapshot, key)?;
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

/// Which of the chosen sessions still are what was shown, by their ids, and which are not.
pub fn still_there(
    store: &Path,
    plan: &Plan,
) -> Result<(Vec<String>, Vec<SessionKey>), store::Error> {
    store::read(store, |snapshot| {
        let (mut steady, mut left) = (Vec::new(), Vec::new());
        for (shown, listed) in plan.doomed.chosen.iter().zip(&plan.sessions) {
            if snapshot.seen(shown.key)?.as_ref() == Some(shown) {
                steady.push(listed.id.clone());
            } else {
                left.push(shown.key);
            }
        }
        Ok((steady, left))
    })
}
