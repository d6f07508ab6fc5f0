//! One run over one snapshot: from the selection to files that wait for their names.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

use formats::{Feature, Layout};

use super::document::{Document, documents};
use super::feed::{self, Scouts};
use super::place::Place;
use super::publish::Finished;
use super::renew::{Looked, Renewed};
use super::staging::Staging;
use super::write::{Each, Writing};
use super::{Error, Failure, Lineage, Listed, Listing, Reach, Renewal, Request, Summary, Target};
use crate::progress::Progress;
use crate::redact::Scope;
use crate::store::{self, SessionKey, Shown, Snapshot};

/// Runs an export. `stream` receives the bytes where the target is [`Target::Stream`].
pub fn run(
    store: &Path,
    request: &Request,
    stream: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<Summary, Error> {
    run_in(Place::of(&request.target), store, request, stream, progress)
}

/// Runs an export into a folder from which files are taken to where others lie already: these, with
/// their sizes. What the folder's manifest says of them holds, although the files are not in it.
pub fn run_for(
    there: BTreeMap<String, u64>,
    store: &Path,
    request: &Request,
    progress: &dyn Progress,
) -> Result<Summary, Error> {
    let place = Place::of(&request.target).map(|place| place.whose_files_are_at(there));
    run_in(place, store, request, &mut io::sink(), progress)
}

fn run_in(
    mut place: Option<Place>,
    store: &Path,
    request: &Request,
    stream: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<Summary, Error> {
    let mut skipped = BTreeMap::new();
    loop {
        let written = store::read(store, |snapshot| {
            let summary = Summary::default();
            let run = Run { request, snapshot, progress, skipped: &skipped, summary };
            match &mut place {
                None => run.dry(),
                Some(place) => run.write(place),
            }
        });
        match written {
            // The one file holds part of that session, so it is written again without it.
            Err(Error::Unreadable { key, session, source }) if !skipped.contains_key(&key) => {
                skipped.insert(key, Failure::of(session, &source));
                find_unreadable(store, request, &mut skipped)?;
            }
            // The pages about all sessions tell of them, so all is written again without them.
            Err(Error::Leaking { sessions }) => skipped.extend(sessions),
            Err(error) => return Err(error),
            Ok((waiting, mut summary)) => {
                if let (Some(place), Some((staging, files))) = (&mut place, waiting) {
                    place.deliver(request, &staging, files, stream, &mut summary)?;
                }
                if let Some(place) = &mut place {
                    place.note(&summary.gone)?;
                }
                summary.failures.extend(skipped.into_values());
                return Ok(summary);
            }
        }
    }
}

/// Reads all that is selected, so that what else is damaged need not be met one by one.
fn find_unreadable(
    store: &Path,
    request: &Request,
    skipped: &mut BTreeMap<SessionKey, Failure>,
) -> Result<(), Error> {
    store::read(store, |snapshot| {
        for key in snapshot.matching(&request.selection)?.sessions {
            let read = snapshot.session(key).and_then(|_| {
                let extent = snapshot.extent(key, request.shown)?;
                snapshot.messages(&extent, |_, _| Ok::<_, store::Error>(()))
            });
            match read.map_err(|error| unreadable(key, None, error)) {
                Err(Error::Unreadable { session, source, .. }) => {
                    skipped.entry(key).or_insert_with(|| Failure::of(session, &source));
                }
                other => other?,
            }
        }
        Ok(())
    })
}

/// Whole files, and the staging folder that holds them.
type Waiting = (Staging, Vec<Finished>);

struct Run<'r, 's> {
    request: &'r Request,
    snapshot: &'r Snapshot<'s>,
    progress: &'r dyn Progress,
    skipped: &'r BTreeMap<SessionKey, Failure>,
    summary: Summary,
}

impl Run<'_, '_> {
    /// Lists what the selection takes, and groups it into documents.
    fn list(&mut self) -> Result<Vec<Document>, Error> {
        let matches = self.snapshot.matching(&self.request.selection)?;
        self.summary.matched = matches.sessions.len() as u64;
        self.summary.running_left_out = matches.running_left_out;
        self.summary.excluded = matches.excluded;
        self.summary.searched = matches.searched;
        for key in matches.unreadable {
            let session = Some(format!("in row {key}"));
            let reason = "its row in the store is damaged".to_owned();
            self.summary.failures.push(Failure { session, reason });
        }
        let mut sessions = matches.sessions;
        if self.request.listing == Listing::Wanted {
            sessions = self.listed(sessions)?;
        }
        let mut documents = documents(self.snapshot, &sessions, self.request.lineage)?;
        if self.request.reach == Reach::Everything {
            sessions.extend(documents.iter().flat_map(|document| document.0.iter().copied()));
            let delegates = self.snapshot.delegates(&sessions)?;
            documents.extend(delegates.into_iter().map(|key| Document(vec![key])));
        }
        documents.retain(|document| !document.0.iter().any(|key| self.skipped.contains_key(key)));
        Ok(documents)
    }

    /// Takes down what lists show of these sessions, and leaves out those that cannot be read.
    fn listed(&mut self, sessions: Vec<SessionKey>) -> Result<Vec<SessionKey>, Error> {
        let mut readable = Vec::with_capacity(sessions.len());
        for key in sessions {
            match self.snapshot.brief(key).map_err(|error| unreadable(key, None, error)) {
                Ok(raw) => {
                    let row = self.request.redactor.apply(raw, &mut Scope::default());
                    self.summary.sessions.push(Listed::new(&row));
                    readable.push(key);
                }
                Err(Error::Unreadable { session, source, .. }) => self.fail(session, &source),
                Err(error) => return Err(error),
            }
        }
        Ok(readable)
    }

    fn fail(&mut self, session: String, source: &store::Error) {
        self.summary.failures.push(Failure::of(session, source));
    }

    /// Tells what would be written. Hermes itself counts the active messages of a session.
    fn dry(mut self) -> Result<(Option<Waiting>, Summary), Error> {
        let documents = self.list()?;
        if self.request.shown == Shown::Active && self.request.lineage == Lineage::Single {
            let counts = self.summary.sessions.iter().filter_map(|listed| listed.message_count);
            self.summary.messages = counts.filter_map(|count| u64::try_from(count).ok()).sum();
        } else {
            for key in documents.iter().flat_map(|document| &document.0) {
                let extent = self.snapshot.extent(*key, self.request.shown)?;
                self.summary.messages += extent.messages();
            }
        }
        Ok((None, self.summary))
    }

    fn write(mut self, place: &mut Place) -> Result<(Option<Waiting>, Summary), Error> {
        let documents = self.list()?;
        let Renewed { documents, marks, unchanged, gone, refused } = match self.request.renewal {
            Renewal::All => Renewed { documents, ..Renewed::default() },
            Renewal::Leaving => Renewed::leaving(self.snapshot, self.request, place, documents)?,
            Renewal::Changed(look) => {
                let looked = Looked { snapshot: self.snapshot, look, progress: self.progress };
                looked.renewed(self.request, place, documents)?
            }
        };
        self.summary.unchanged = unchanged;
        self.summary.gone = gone;
        self.summary.failures.extend(refused);
        let Some(most) = NonZeroUsize::new(documents.len()) else {
            return Ok((None, self.summary));
        };
        self.progress.begin(documents.len() as u64);
        let staging = place.staging()?;
        let Run { request, snapshot, progress, summary, .. } = self;
        let certain = snapshot.is_live();
        let wanted = (request.shown, request.reach);
        let each = Each { request, progress, marks };
        let mut writing = Writing::new(&each, summary);
        let fills_folder = matches!(request.target, Target::Folder(_));
        let folder = request.format.folder.filter(|_| fills_folder);
        let scouts = Scouts::new(&request.redactor, request.jobs);
        let is_apart = request.format.layout == Layout::FilePerSession
            || request.format.can(Feature::RendersApart);
        let lanes = if is_apart { request.jobs.min(most) } else { NonZeroUsize::MIN };
        let lanes = (scouts.beside(lanes), lanes);
        let files = feed::dealt(snapshot, &documents, wanted, lanes, |feeds| {
            match (folder, request.format.layout) {
                (Some(start), _) => writing.site(feeds, &documents, &staging, place, start),
                (None, Layout::OneFile | Layout::Folder) => {
                    writing.one_file(feeds, &documents, &staging, place)
                }
                (None, Layout::FilePerSession) => {
                    writing.file_each(feeds, &documents, (&staging, place), certain)
                }
            }
        })?;
        Ok((Some((staging, files)), writing.summary))
    }
}

/// A failure of the store that concerns one session alone.
pub(super) fn unreadable(key: SessionKey, session: Option<String>, source: store::Error) -> Error {
    match source {
        store::Error::Damaged(_) | store::Error::Sql(_) => {
            let session = session.unwrap_or_else(|| format!("in row {key}"));
            Error::Unreadable { key, session, source }
        }
        other => Error::Store(other),
    }
}
