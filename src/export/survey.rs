//! What sessions are now, each as one short text: whether one has changed since it was last
//! written can be told from that, without writing it again.

use std::path::Path;

use super::{Error, manifest};
use crate::filter::Selection;
use crate::progress::Progress;
use crate::redact::{Redactor, Scope};
use crate::store::{self, SessionKey, Shown, Snapshot};

/// A session as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surveyed {
    /// What selects it.
    pub given: String,
    /// Its id, as messages and files have it.
    pub id: String,
    /// Differs where any column of its row does, or which messages it has.
    pub state: String,
}

/// Looks at all sessions that a selection takes, oldest first. One that cannot be read, or whose id
/// is no text, is left out.
pub fn survey(
    store: &Path,
    selection: &Selection,
    shown: Shown,
    redactor: &Redactor,
    progress: &dyn Progress,
) -> Result<Vec<Surveyed>, Error> {
    store::read(store, |snapshot| {
        let mut surveyed = Vec::new();
        for key in snapshot.matching(selection)?.sessions {
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            match look(snapshot, key, shown, redactor) {
                Ok(session) if snapshot.find(&session.given)? == Some(key) => {
                    surveyed.push(session);
                }
                Ok(_) | Err(Error::Store(store::Error::Damaged(_) | store::Error::Sql(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(surveyed)
    })
}

fn look(
    snapshot: &Snapshot<'_>,
    key: SessionKey,
    shown: Shown,
    redactor: &Redactor,
) -> Result<Surveyed, Error> {
    let row = Redactor::none().apply(snapshot.session(key)?.0, &mut Scope::default());
    let extent = snapshot.extent(key, shown)?;
    let mut hasher = manifest::Hasher::default();
    for (name, value) in row.columns() {
        hasher.update(format!("{name} {value:?}\n").as_bytes());
    }
    let messages = (extent.messages(), extent.last_id(), extent.last_active);
    hasher.update(format!("{messages:?}").as_bytes());
    let id = redactor.redact_text(row.id(), &mut Scope::default()).into_owned();
    Ok(Surveyed { given: row.id().to_owned(), id, state: hasher.finish().sha256 })
}
