//! Writing documents down as they come from the store: into one file, or each into its own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use formats::program::ProgramError;
use formats::{Feature, FormatWriter, NothingToShow};

use super::document::{Context, Document, Opened};
use super::feed::Feed;
use super::gate::Gate;
use super::place::Place;
use super::publish::Finished;
use super::renew::Mark;
use super::run::unreadable;
use super::staging::{Staged, Staging};
use super::{Error, Failure, Listing, Reach, Renewal, Request, Summary, Target};
use crate::manifest::Entry;
use crate::progress::Progress;
use crate::store::SessionKey;

/// Files that are published together: a crash costs at most so many lines, a sync serves so many.
const BATCH: usize = 64;

/// Documents being written down.
pub(super) struct Writing<'r> {
    pub(super) request: &'r Request,
    progress: &'r dyn Progress,
    pub(super) summary: Summary,
    /// Of the documents so far; ids that are no UTF-8 can become the same.
    pub(super) ids: HashSet<String>,
    /// What the sessions are like, where that is to be recorded.
    marks: HashMap<SessionKey, Mark>,
}

impl<'r> Writing<'r> {
    pub(super) fn new(
        request: &'r Request,
        progress: &'r dyn Progress,
        summary: Summary,
        marks: HashMap<SessionKey, Mark>,
    ) -> Self {
        Self { request, progress, summary, ids: HashSet::new(), marks }
    }

    /// Writes all documents into one file; none where the format shows nothing of any of them.
    pub(super) fn one_file(
        &mut self,
        feed: &mut Feed<'_>,
        documents: &[Document],
        staging: &mut Staging,
        place: &Place,
    ) -> Result<Vec<Finished>, Error> {
        let wrote = Error::writing(&place.folder);
        let mut file = staging
            .file(&self.request.encoding, Gate::new(&self.request.redactor, self.request.format))
            .map_err(&wrote)?;
        let (mut lineages, mut counts, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let mut redactions = BTreeMap::<String, u64>::new();
        let head = self.request.file_head(documents.len() as u64);
        let mut writer = (self.request.format.start)(&mut file, &head).map_err(&wrote)?;
        for document in documents {
            let opened = self.open(document, feed)?;
            let lineage = opened.lineage.clone();
            let (messages, until) = (opened.message_counts(), opened.last_message_ids());
            let taken_out = match self.document(document, opened, feed, writer.as_mut(), &wrote) {
                Err(Error::NothingToShow { session }) => {
                    self.summary.nothing_to_show.push(session);
                    continue;
                }
                other => other?,
            };
            lineages.push(lineage);
            counts.extend(messages);
            last.extend(until);
            for (rule, count) in taken_out {
                *redactions.entry(rule).or_default() += count;
            }
        }
        writer.finish().map_err(&wrote)?;
        if lineages.is_empty() {
            return Ok(Vec::new());
        }
        let staged = sound(file.finish().map_err(&wrote)?)?;
        let mut entry = self.entry(&staged, self.file_name());
        entry.message_count = counts.iter().sum();
        entry.session_ids = Some(lineages.concat());
        entry.message_counts = Some(counts);
        entry.redactions = redactions;
        entry.last_message_ids = Some(last);
        Ok(vec![Finished { staged, entry, documents: lineages }])
    }

    /// Writes a file for each document. Where what is read is certain at once, as beside a running
    /// Hermes, files are published as they become whole.
    pub(super) fn file_each(
        &mut self,
        feed: &mut Feed<'_>,
        documents: &[Document],
        staging: &mut Staging,
        place: &mut Place,
        certain: bool,
    ) -> Result<Vec<Finished>, Error> {
        let mut files = Vec::new();
        for document in documents {
            match self.file(document, feed, staging, place) {
                Ok(Ok(file)) => files.push(file),
                Ok(Err(failure)) => self.summary.failures.push(failure),
                Err(Error::NothingToShow { session }) => {
                    self.summary.nothing_to_show.push(session);
                }
                Err(Error::Unreadable { session, source, .. }) => {
                    self.summary.failures.push(Failure::of(session, &source));
                }
                Err(error) => return Err(error),
            }
            if files.len() >= BATCH && certain {
                let batch = std::mem::take(&mut files);
                place.deliver(self.request, staging, batch, &mut io::sink(), &mut self.summary)?;
            }
        }
        Ok(files)
    }

    /// The inner failure concerns this document alone.
    fn file(
        &mut self,
        document: &Document,
        feed: &mut Feed<'_>,
        staging: &mut Staging,
        place: &Place,
    ) -> Result<Result<Finished, Failure>, Error> {
        let wrote = Error::writing(&place.folder);
        let opened = self.open(document, feed)?;
        let id = opened.head.id().to_owned();
        let failure = |reason: String| Ok(Err(Failure { session: Some(id.clone()), reason }));
        if !self.ids.insert(id.clone()) {
            return failure("another session has the same id".to_owned());
        }
        let name = match &self.request.target {
            Target::Folder(_) => {
                let name = self.request.names.file(&opened.head, self.request.format);
                format!("{name}{}", self.request.encoding.suffix())
            }
            Target::File(_) | Target::Stream | Target::Nowhere => self.file_name(),
        };
        let lineage = opened.lineage.clone();
        let messages = opened.messages;
        let last = opened.last_message_ids().into_iter().flatten().max();
        let mut file = staging
            .file(&self.request.encoding, Gate::new(&self.request.redactor, self.request.format))
            .map_err(&wrote)?;
        let head = self.request.file_head(1);
        let start = self.request.format.start;
        let written = start(&mut file, &head).map_err(&wrote).and_then(|mut writer| {
            let redactions = self.document(document, opened, feed, writer.as_mut(), &wrote)?;
            writer.finish().map_err(&wrote)?;
            Ok(redactions)
        });
        let redactions = match written {
            Ok(redactions) => redactions,
            Err(error) => return own_failure(error).and_then(failure),
        };
        let staged = match sound(file.finish().map_err(&wrote)?) {
            Ok(staged) => staged,
            Err(leak) => return failure(leak.to_string()),
        };
        let mut entry = self.entry(&staged, name);
        if let Some(mark) = self.marks.get(&document.0[0]).cloned() {
            entry.mark = Some(mark.shape);
            entry.texts = Some(mark.texts);
            entry.children = mark.children;
        }
        entry.session_id = Some(id);
        entry.lineage_session_ids.clone_from(&lineage);
        entry.message_count = messages;
        entry.last_message_id = last;
        entry.redactions = redactions;
        Ok(Ok(Finished { staged, entry, documents: vec![lineage] }))
    }

    pub(super) fn open<'s>(
        &mut self,
        document: &Document,
        feed: &mut Feed<'s>,
    ) -> Result<Opened<'s>, Error> {
        let found = feed.document().ok_or(Error::Nothing)?;
        let found = found.map_err(|source| unreadable(document.0[0], None, source))?;
        Opened::of(*found, &self.request.redactor, &mut self.summary.warnings)
    }

    pub(super) fn document(
        &mut self,
        document: &Document,
        opened: Opened<'_>,
        feed: &mut Feed<'_>,
        writer: &mut dyn FormatWriter,
        wrote: &dyn Fn(io::Error) -> Error,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let id = opened.head.id().to_owned();
        let names_record = self.request.format.can(Feature::NamesItsRecord);
        let record = names_record.then(|| self.request.file_head(1));
        let mut context = Context {
            record: record.as_ref(),
            redactor: &self.request.redactor,
            progress: self.progress,
            warnings: &mut self.summary.warnings,
        };
        let written = opened.write(feed, &mut context, writer, wrote);
        self.progress.step();
        let scope = written.map_err(|error| match error {
            Error::Store(source) => unreadable(document.0[0], Some(id), source),
            Error::Write { source, .. } if NothingToShow::is_cause(&source) => {
                Error::NothingToShow { session: id }
            }
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

    pub(super) fn entry(&self, staged: &Staged, path: String) -> Entry {
        let Request { format, shown, redactor, names, target, exported_at, encoding, .. } =
            self.request;
        let Request { reach, renewal, .. } = *self.request;
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
            only_copy: reach == Reach::Everything && !matches!(renewal, Renewal::Changed(_)),
            disclosure: redactor.disclosure().name().map(str::to_owned),
            mark: None,
            texts: None,
            sealed_to: encoding.sealed_to().map(str::to_owned),
            gone_at: None,
            children: Vec::new(),
            naming: names.recorded().filter(|_| is_folder),
            redacted: self.request.redacted(),
            redactions: BTreeMap::new(),
            tool: concat!("hermes-sessions ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// How a program failed at one file; others may succeed, but to wait for it once is enough.
fn own_failure(error: Error) -> Result<String, Error> {
    let source = match &error {
        Error::Write { source, .. } => ProgramError::within(source),
        _ => None,
    };
    match source {
        None | Some(ProgramError::Hung { .. } | ProgramError::Start { .. }) => Err(error),
        Some(failed) => Ok(failed.to_string()),
    }
}

/// A redacted file in which nothing is found any more.
pub(super) fn sound(staged: Staged) -> Result<Staged, Error> {
    if staged.leaks.is_empty() {
        return Ok(staged);
    }
    Err(Error::Leaks { rules: staged.leaks })
}
