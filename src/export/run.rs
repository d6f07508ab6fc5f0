//! One run over one snapshot: from the selection to files that wait for their names.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use formats::{FormatWriter, Layout};

use super::document::{Context, Document, Opened, documents};
use super::gate::Gate;
use super::place::Place;
use super::publish::Finished;
use super::staging::{Staged, Staging};
use super::{Error, Failure, Lineage, Listed, Listing, Reach, Request, Summary, Target};
use crate::manifest::{Entry, Redacted};
use crate::progress::Progress;
use crate::redact::Scope;
use crate::store::{self, SessionKey, Shown, Snapshot};

/// Files that are published together: a crash costs at most so many lines, a sync serves so many.
const BATCH: usize = 64;

/// Runs an export. `stream` receives the bytes where the target is [`Target::Stream`].
pub fn run(
    store: &Path,
    request: &Request,
    stream: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<Summary, Error> {
    let mut place = Place::of(&request.target);
    let mut skipped = BTreeMap::new();
    loop {
        let written = store::read(store, |snapshot| {
            let summary = Summary::default();
            let ids = HashSet::new();
            let run = Run { request, snapshot, progress, skipped: &skipped, summary, ids };
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
            Err(error) => return Err(error),
            Ok((waiting, mut summary)) => {
                if let (Some(place), Some((mut staging, files))) = (&mut place, waiting) {
                    place.deliver(request, &mut staging, files, stream, &mut summary)?;
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
    /// Of the documents so far; ids that are no UTF-8 can become the same.
    ids: HashSet<String>,
}

impl<'r> Run<'r, '_> {
    /// Lists what the selection takes, and groups it into documents.
    fn list(&mut self) -> Result<Vec<Document>, Error> {
        let matches = self.snapshot.matching(&self.request.selection)?;
        self.summary.matched = matches.sessions.len() as u64;
        self.summary.running_left_out = matches.running_left_out;
        self.summary.excluded = matches.excluded;
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
        if documents.is_empty() {
            return Ok((None, self.summary));
        }
        self.progress.begin(documents.len() as u64);
        let mut staging = place.staging()?;
        let files = match self.request.format.layout {
            Layout::OneFile => vec![self.one_file(&documents, &mut staging, place)?],
            Layout::FilePerSession => self.file_each(&documents, &mut staging, place)?,
        };
        Ok((Some((staging, files)), self.summary))
    }

    fn one_file(
        &mut self,
        documents: &[Document],
        staging: &mut Staging,
        place: &Place,
    ) -> Result<Finished, Error> {
        let wrote = Error::writing(&place.folder);
        let mut file = staging.file(Gate::new(&self.request.redactor)).map_err(&wrote)?;
        let (mut lineages, mut counts, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let mut redactions = BTreeMap::<String, u64>::new();
        let head = self.request.file_head(documents.len() as u64);
        let mut writer = (self.request.format.start)(&mut file, &head).map_err(&wrote)?;
        for document in documents {
            let opened = self.open(document)?;
            lineages.push(opened.lineage.clone());
            counts.extend_from_slice(&opened.message_counts());
            last.extend_from_slice(&opened.last_message_ids());
            for (rule, count) in self.document(document, opened, writer.as_mut(), &wrote)? {
                *redactions.entry(rule).or_default() += count;
            }
        }
        writer.finish().map_err(&wrote)?;
        let staged = sound(file.finish().map_err(&wrote)?)?;
        let mut entry = self.entry(&staged, self.file_name());
        entry.message_count = counts.iter().sum();
        entry.session_ids = Some(lineages.concat());
        entry.message_counts = Some(counts);
        entry.redactions = redactions;
        entry.last_message_ids = Some(last);
        Ok(Finished { staged, entry, documents: lineages })
    }

    /// Writes a file for each document. Beside a running Hermes the snapshot is sure to be steady,
    /// so files are published as they become whole.
    fn file_each(
        &mut self,
        documents: &[Document],
        staging: &mut Staging,
        place: &mut Place,
    ) -> Result<Vec<Finished>, Error> {
        let mut files = Vec::new();
        for document in documents {
            match self.file(document, staging, place) {
                Ok(file) => files.push(file),
                Err(Error::Unreadable { session, source, .. }) => self.fail(session, &source),
                Err(leak @ Error::Leaks { .. }) => {
                    let session = self.snapshot.session(document.0[0])?.0;
                    let row = self.request.redactor.apply(session, &mut Scope::default());
                    let (session, reason) = (Some(row.id().to_owned()), leak.to_string());
                    self.summary.failures.push(Failure { session, reason });
                }
                Err(Error::SameId { session }) => {
                    let reason = "another session has the same id".to_owned();
                    self.summary.failures.push(Failure { session: Some(session), reason });
                }
                Err(error) => return Err(error),
            }
            if files.len() >= BATCH && self.snapshot.is_live() {
                let batch = std::mem::take(&mut files);
                place.deliver(self.request, staging, batch, &mut io::sink(), &mut self.summary)?;
            }
        }
        Ok(files)
    }

    fn file(
        &mut self,
        document: &Document,
        staging: &mut Staging,
        place: &Place,
    ) -> Result<Finished, Error> {
        let wrote = Error::writing(&place.folder);
        let opened = self.open(document)?;
        let name = match &self.request.target {
            Target::Folder(_) => {
                self.request.names.file(opened.head.id(), opened.title(), self.request.format)
            }
            Target::File(_) | Target::Stream | Target::Nowhere => self.file_name(),
        };
        if !self.ids.insert(opened.head.id().to_owned()) {
            return Err(Error::SameId { session: opened.head.id().to_owned() });
        }
        let (id, lineage) = (opened.head.id().to_owned(), opened.lineage.clone());
        let messages = opened.messages;
        let last = opened.last_message_ids().into_iter().flatten().max();
        let mut file = staging.file(Gate::new(&self.request.redactor)).map_err(&wrote)?;
        let head = self.request.file_head(1);
        let mut writer = (self.request.format.start)(&mut file, &head).map_err(&wrote)?;
        let redactions = self.document(document, opened, writer.as_mut(), &wrote)?;
        writer.finish().map_err(&wrote)?;
        let staged = sound(file.finish().map_err(&wrote)?)?;
        let mut entry = self.entry(&staged, name);
        entry.session_id = Some(id);
        entry.lineage_session_ids.clone_from(&lineage);
        entry.message_count = messages;
        entry.last_message_id = last;
        entry.redactions = redactions;
        Ok(Finished { staged, entry, documents: vec![lineage] })
    }

    fn open(&mut self, document: &Document) -> Result<Opened<'r>, Error> {
        document
            .open(
                self.snapshot,
                (self.request.shown, self.request.reach),
                &self.request.redactor,
                &mut self.summary.warnings,
            )
            .map_err(|error| match error {
                Error::Store(source) => unreadable(document.0[0], None, source),
                other => other,
            })
    }

    fn document(
        &mut self,
        document: &Document,
        opened: Opened<'_>,
        writer: &mut dyn FormatWriter,
        wrote: &dyn Fn(io::Error) -> Error,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let id = opened.head.id().to_owned();
        let mut context = Context {
            redactor: &self.request.redactor,
            progress: self.progress,
            warnings: &mut self.summary.warnings,
        };
        let written = opened.write(self.snapshot, &mut context, writer, wrote);
        self.progress.step();
        let scope = written.map_err(|error| match error {
            Error::Store(source) => unreadable(document.0[0], Some(id), source),
            other => other,
        })?;
        if self.request.listing == Listing::Wanted {
            self.summary.findings.extend(scope.findings());
        }
        Ok(scope.counts())
    }

    /// The name that the user gave the one file.
    fn file_name(&self) -> String {
        match &self.request.target {
            Target::File(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            Target::Folder(_) | Target::Stream | Target::Nowhere => "-".to_owned(),
        }
    }

    fn entry(&self, staged: &Staged, path: String) -> Entry {
        let Request { format, shown, redactor, names, target, exported_at, .. } = self.request;
        let is_folder = matches!(target, Target::Folder(_));
        Entry {
            session_id: None,
            session_ids: None,
            message_counts: None,
            lineage_session_ids: Vec::new(),
            path,
            format: format.name.to_owned(),
            messages: Some(shown.name().to_owned()),
            message_count: 0,
            last_message_id: None,
            last_message_ids: None,
            bytes: staged.digest.bytes,
            sha256: staged.digest.sha256.clone(),
            exported_at: *exported_at,
            only_copy: self.request.reach == Reach::Everything,
            disclosure: redactor.disclosure().name().map(str::to_owned),
            naming: names.recorded().filter(|_| is_folder),
            redacted: redactor.groups().map_or(Redacted::No(false), |groups| {
                Redacted::By(groups.iter().map(|group| group.name().to_owned()).collect())
            }),
            redactions: BTreeMap::new(),
            tool: concat!("hermes-sessions ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// A redacted file in which nothing is found any more.
fn sound(staged: Staged) -> Result<Staged, Error> {
    if staged.leaks.is_empty() {
        return Ok(staged);
    }
    Err(Error::Leaks { rules: staged.leaks })
}

/// A failure of the store that concerns one session alone.
fn unreadable(key: SessionKey, session: Option<String>, source: store::Error) -> Error {
    match source {
        store::Error::Damaged(_) | store::Error::Sql(_) => {
            let session = session.unwrap_or_else(|| format!("in row {key}"));
            Error::Unreadable { key, session, source }
        }
        other => Error::Store(other),
    }
}
