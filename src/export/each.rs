//! Writing each document into a file of its own, several at a time.

use std::io;
use std::path::Path;

use formats::program::ProgramError;

use super::document::Document;
use super::feed::Feed;
use super::gate::Gate;
use super::lanes::in_lanes;
use super::place::Place;
use super::publish::Finished;
use super::report::Told;
use super::staging::Staging;
use super::write::{Each, Writing, sound};
use super::{Error, Failure, Target};

/// Files that are published together: a crash costs at most so many lines, a sync serves so many.
const BATCH: usize = 64;

impl Writing<'_> {
    /// Writes a file for each document. Where what is read is certain at once, as beside a running
    /// Hermes, files are published as they become whole.
    pub(super) fn file_each(
        &mut self,
        feeds: Vec<Feed<'_>>,
        documents: &[Document],
        (staging, place): (&Staging, &mut Place),
        certain: bool,
    ) -> Result<Vec<Finished>, Error> {
        let (each, folder) = (self.each, place.folder.clone());
        let mut files = Vec::new();
        let work = |document: &Document, feed: &mut Feed<'_>| {
            each.outcome(document, feed, (staging, &folder))
        };
        in_lanes(feeds, documents, work, |(outcome, told)| {
            self.summary.take(told);
            files.extend(self.take(outcome)?);
            if files.len() >= BATCH && certain {
                let batch = std::mem::take(&mut files);
                let summary = &mut self.summary;
                place.deliver(each.request, staging, batch, &mut io::sink(), summary)?;
            }
            Ok(())
        })?;
        Ok(files)
    }

    /// The file, if there is one.
    fn take(&mut self, outcome: Outcome) -> Result<Option<Finished>, Error> {
        let failure = match outcome {
            Outcome::Whole(file) => {
                let id = file.entry.session_id.clone().unwrap_or_default();
                if self.ids.insert(id.clone()) {
                    return Ok(Some(*file));
                }
                file.staged.discard().map_err(Error::writing(&file.staged.path))?;
                Failure { session: Some(id), reason: "another session has the same id".to_owned() }
            }
            Outcome::Failed(failure) => failure,
            Outcome::Nothing(session) => {
                self.summary.nothing_to_show.push(session);
                return Ok(None);
            }
        };
        self.summary.failures.push(failure);
        Ok(None)
    }
}

/// What became of a document; what concerns more than one is an error.
enum Outcome {
    Whole(Box<Finished>),
    Failed(Failure),
    /// The format shows nothing of this session.
    Nothing(String),
}

impl Each<'_> {
    fn outcome(
        &self,
        document: &Document,
        feed: &mut Feed<'_>,
        to: (&Staging, &Path),
    ) -> Result<(Outcome, Told), Error> {
        let mut told = Told::default();
        let outcome = match self.file(document, feed, to, &mut told) {
            Ok(Ok(file)) => Outcome::Whole(Box::new(file)),
            Ok(Err(failure)) => Outcome::Failed(failure),
            Err(Error::Unreadable { session, source, .. }) => {
                Outcome::Failed(Failure::of(session, &source))
            }
            Err(Error::NothingToShow { session }) => Outcome::Nothing(session),
            Err(error) => return Err(error),
        };
        Ok((outcome, told))
    }

    /// The inner failure concerns this document alone.
    fn file(
        &self,
        document: &Document,
        feed: &mut Feed<'_>,
        (staging, folder): (&Staging, &Path),
        told: &mut Told,
    ) -> Result<Result<Finished, Failure>, Error> {
        let wrote = Error::writing(folder);
        let opened = self.open(document, feed, told)?;
        let id = opened.heading.session.id().to_owned();
        let failure = |reason: String| Ok(Err(Failure { session: Some(id.clone()), reason }));
        let name = match &self.request.target {
            Target::Folder(_) => {
                let name = self.request.names.file(&opened.heading.session, self.request.format);
                format!("{name}{}", self.request.encoding.suffix())
            }
            Target::File(_) | Target::Stream | Target::Nowhere => self.file_name(),
        };
        let lineage = opened.heading.lineage.clone();
        let messages = opened.heading.messages;
        let last = opened.heading.last_message_ids().into_iter().flatten().max();
        let mut file = staging
            .file(&self.request.encoding, Gate::new(&self.request.redactor, self.request.format))
            .map_err(&wrote)?;
        let head = self.request.file_head(1);
        let start = self.request.format.start;
        let written = start(&mut file, &head).map_err(&wrote).and_then(|mut writer| {
            let redactions =
                self.document(document, opened, (feed, writer.as_mut()), &wrote, told)?;
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
