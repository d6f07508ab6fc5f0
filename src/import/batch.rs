//! Sessions on their way into the store: some at a time, in one short transaction.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use formats::model::Value;

use super::clean::{self, Changes};
use super::{
    Error, Fidelity, Found, Mode, OnConflict, Piece, Place, Problem, Reading, Request, Summary,
    Unfit,
};
use crate::store::{self, Insertion, Record};

/// Bytes of text that one transaction takes, unless one session alone has more. Others wait as long
/// as it lasts.
const FULL: usize = 1 << 20;
/// Sessions that one transaction takes.
const MANY: usize = 100;

/// Pieces that wait for the next transaction, and what is known of those before.
pub(super) struct Batch<'r> {
    request: &'r Request,
    pieces: Vec<(Piece, Rc<Reading>)>,
    bytes: usize,
    /// The sessions that this import brought, with their messages' number.
    brought: HashMap<String, u64>,
    /// Sessions with the parents that they name.
    parents: Vec<(String, String)>,
    conflicts: Vec<String>,
    may_add_columns: bool,
}

/// What one transaction did; it counts once that is committed.
#[derive(Default)]
struct Done {
    summary: Summary,
    brought: Vec<(String, u64)>,
    parents: Vec<(String, String)>,
    conflicts: Vec<String>,
}

/// What becomes of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Insert,
    Replace,
    Skip,
}

impl<'r> Batch<'r> {
    pub(super) fn new(request: &'r Request) -> Self {
        Self {
            request,
            pieces: Vec::new(),
            bytes: 0,
            brought: HashMap::new(),
            parents: Vec::new(),
            conflicts: Vec::new(),
            may_add_columns: false,
        }
    }

    /// The store is this import's own, so it gets the columns that it lacks.
    pub(super) fn widen(&mut self) {
        self.may_add_columns = true;
    }

    /// The sessions that the store has, where it must have none of them.
    pub(super) fn conflicts(&self) -> &[String] {
        &self.conflicts
    }

    /// The sessions that came, with their messages' number.
    pub(super) fn brought(self) -> HashMap<String, u64> {
        self.brought
    }

    /// Takes a piece, and makes it and those before it rows when there are enough.
    pub(super) fn push(
        &mut self,
        piece: Piece,
        reading: &Rc<Reading>,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        self.bytes += piece.text.len();
        self.pieces.push((piece, reading.clone()));
        let is_full = self.bytes >= FULL || self.pieces.len() >= MANY;
        if is_full { self.flush(summary) } else { Ok(()) }
    }

    /// Makes rows of what is left, and lets go of parents that are nowhere.
    pub(super) fn finish(&mut self, summary: &mut Summary) -> Result<(), Error> {
        self.flush(summary)?;
        let is_verbatim = self.request.fidelity == Fidelity::Verbatim;
        if is_verbatim || self.parents.is_empty() || self.request.mode == Mode::DryRun {
            return Ok(());
        }
        let parents = std::mem::take(&mut self.parents);
        summary.detached += store::insert(&self.request.store, |insertion| {
            let mut detached = 0;
            for (id, parent) in &parents {
                if !is_ancestry(insertion, id, parent)? {
                    insertion.detach(id)?;
                    detached += 1;
                }
            }
            Ok::<_, Error>(detached)
        })?;
        Ok(())
    }

    fn flush(&mut self, summary: &mut Summary) -> Result<(), Error> {
        let pieces = std::mem::take(&mut self.pieces);
        self.bytes = 0;
        if pieces.is_empty() {
            return Ok(());
        }
        let store = &self.request.store;
        if self.request.mode == Mode::Write && !store.exists() {
            store::create(store)?;
            summary.created = true;
            self.may_add_columns = true;
        }
        let done = match self.request.mode {
            Mode::Write => store::insert(store, |insertion| self.write(&pieces, insertion))?,
            Mode::DryRun if store.exists() => {
                store::read(store, |snapshot| self.look(&pieces, |id| Ok(snapshot.held(id)?)))?
            }
            Mode::DryRun => self.look(&pieces, |_| Ok(None))?,
        };
        self.brought.extend(done.brought);
        self.parents.extend(done.parents);
        self.conflicts.extend(done.conflicts);
        summary.add(done.summary);
        Ok(())
    }

    fn write(
        &self,
        pieces: &[(Piece, Rc<Reading>)],
        insertion: &mut Insertion<'_>,
    ) -> Result<Done, Error> {
        let mut done = Done::default();
        for (piece, reading) in pieces {
            let text = piece.sound();
            for Found { place, record } in piece.records(&text, reading) {
                let Some((mut record, changes)) = self.cleaned(record, &place, &mut done) else {
                    continue;
                };
                let held = insertion.held(record.id())?;
                let verdict = self.judge(&record, held, &mut done);
                if verdict != Verdict::Skip {
                    self.insert(&mut record, changes, verdict, &place, insertion, &mut done)?;
                } else if let Some(parent) = insertion.parent(record.id())? {
                    // An import that was killed may have left a parent that never came.
                    done.parents.push((record.id().to_owned(), parent));
                }
            }
        }
        Ok(done)
    }

    /// The same without writing.
    fn look(
        &self,
        pieces: &[(Piece, Rc<Reading>)],
        held: impl Fn(&str) -> Result<Option<u64>, Error>,
    ) -> Result<Done, Error> {
        let mut done = Done::default();
        for (piece, reading) in pieces {
            let text = piece.sound();
            for Found { place, record } in piece.records(&text, reading) {
                let Some((record, changes)) = self.cleaned(record, &place, &mut done) else {
                    continue;
                };
                let id = record.id();
                let now = done.brought.iter().find(|(own, _)| own == id).map(|(_, n)| *n);
                let before = now.or_else(|| self.brought.get(id).copied());
                let held = before.map_or_else(|| held(id), |n| Ok(Some(n)))?;
                let verdict = self.judge(&record, held, &mut done);
                if verdict != Verdict::Skip {
                    done.count(&record, changes, verdict);
                }
            }
        }
        Ok(done)
    }

    /// A record that fits; what does not is told.
    fn cleaned<'l>(
        &self,
        record: Result<Record<'l>, Unfit>,
        place: &Place,
        done: &mut Done,
    ) -> Option<(Record<'l>, Changes)> {
        let mut id = None;
        let cleaned = record.and_then(|mut record| {
            id = Some(record.id().to_owned()).filter(|id| !id.is_empty());
            match self.request.fidelity {
                Fidelity::Verbatim if record.id().is_empty() => Err(Unfit::Id),
                Fidelity::Verbatim => Ok((record, Changes::default())),
                Fidelity::Fitting => {
                    let changes = clean::clean(&mut record, &self.request.zone)?;
                    Ok((record, changes))
                }
            }
        });
        cleaned.map_err(|what| done.refuse(place, id, what)).ok()
    }

    fn judge(&self, record: &Record<'_>, held: Option<u64>, done: &mut Done) -> Verdict {
        let Some(held) = held else {
            return Verdict::Insert;
        };
        match self.request.on_conflict {
            OnConflict::Replace => Verdict::Replace,
            OnConflict::Skip => {
                done.summary.skipped += 1;
                if record.messages.len() as u64 > held {
                    done.summary.longer.push(record.id().to_owned());
                }
                Verdict::Skip
            }
            OnConflict::Fail => {
                done.conflicts.push(record.id().to_owned());
                Verdict::Skip
            }
        }
    }

    fn insert(
        &self,
        record: &mut Record<'_>,
        mut changes: Changes,
        verdict: Verdict,
        place: &Place,
        insertion: &mut Insertion<'_>,
        done: &mut Done,
    ) -> Result<(), Error> {
        if self.request.fidelity == Fidelity::Fitting {
            changes.handoff |= self.leave_channel(record, insertion, done)?;
        }
        if self.may_add_columns {
            insertion.widen(record)?;
        }
        let added = match verdict {
            Verdict::Replace => insertion.replace(record),
            Verdict::Insert | Verdict::Skip => insertion.add(record),
        };
        let added = match added {
            Ok(added) => added,
            Err(error) if error.is_of_row() => {
                done.refuse(place, Some(record.id().to_owned()), Unfit::Refused(error));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        done.count(record, changes, verdict);
        done.summary.retitled += u64::from(added.retitled);
        done.summary.renumbered += u64::from(added.renumbered);
        for column in added.homeless {
            *done.summary.homeless.entry(column).or_default() += 1;
        }
        Ok(())
    }

    /// Gives up the channel that another session of the store is live in, where Hermes would go on
    /// with this one instead.
    fn leave_channel(
        &self,
        record: &mut Record<'_>,
        insertion: &Insertion<'_>,
        done: &Done,
    ) -> Result<bool, Error> {
        let Some(key) = record.text("session_key") else {
            return Ok(false);
        };
        let live = insertion.in_channel(key)?;
        let ours: HashSet<&str> = done.brought.iter().map(|(id, _)| id.as_str()).collect();
        let is_ours =
            |id: &str| ours.contains(id) || self.brought.contains_key(id) || id == record.id();
        let start = store::value(&record.session, "started_at").and_then(Value::as_f64);
        let ended = store::value(&record.session, "ended_at");
        let is_live = ended.is_none_or(|end| *end == Value::Null)
            || matches!(record.text("end_reason"), Some("agent_close" | "ws_orphan_reap"));
        let gives_way = live.iter().any(|(id, since)| {
            !is_ours(id) && (is_live || start.is_none_or(|start| start > *since))
        });
        if gives_way {
            record.set("session_key", Value::Null);
        }
        Ok(gives_way)
    }
}

impl Done {
    fn refuse(&mut self, place: &Place, session: Option<String>, what: Unfit) {
        self.summary.problems.push(Problem { place: place.clone(), session, what });
    }

    fn count(&mut self, record: &Record<'_>, changes: Changes, verdict: Verdict) {
        let messages = record.messages.len() as u64;
        self.brought.push((record.id().to_owned(), messages));
        if let Some(parent) = record.text("parent_session_id") {
            self.parents.push((record.id().to_owned(), parent.to_owned()));
        }
        let counter = match verdict {
            Verdict::Replace => &mut self.summary.replaced,
            Verdict::Insert | Verdict::Skip => &mut self.summary.imported,
        };
        *counter += 1;
        self.summary.messages += messages;
        self.summary.tidied += u64::from(changes.title);
        self.summary.released += u64::from(changes.handoff);
    }
}

impl Summary {
    fn add(&mut self, other: Summary) {
        self.imported += other.imported;
        self.replaced += other.replaced;
        self.skipped += other.skipped;
        self.longer.extend(other.longer);
        self.messages += other.messages;
        self.problems.extend(other.problems);
        self.retitled += other.retitled;
        self.tidied += other.tidied;
        self.renumbered += other.renumbered;
        self.detached += other.detached;
        self.released += other.released;
        for (column, sessions) in other.homeless {
            *self.homeless.entry(column).or_default() += sessions;
        }
    }
}

/// Whether a parent is in the store, and the session is not its own ancestor.
fn is_ancestry(insertion: &Insertion<'_>, id: &str, parent: &str) -> Result<bool, Error> {
    if insertion.held(parent)?.is_none() {
        return Ok(false);
    }
    let mut seen = HashSet::from([id.to_owned()]);
    let mut next = Some(parent.to_owned());
    while let Some(ancestor) = next {
        if !seen.insert(ancestor.clone()) {
            return Ok(ancestor != id);
        }
        next = insertion.parent(&ancestor)?;
    }
    Ok(true)
}
