//! Writing each document into a file of its own, several at a time.
//!
//! Documents are dealt to lanes, each a thread that redacts and writes. What becomes of them is taken
//! down in their order, so that nothing depends on how many lanes there are, or on which is quicker.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use formats::program::ProgramError;

use super::document::Document;
use super::feed::Feed;
use super::gate::Gate;
use super::place::Place;
use super::publish::Finished;
use super::report::Told;
use super::staging::Staging;
use super::write::{Each, Writing, sound};
use super::{Error, Failure, Target};
use crate::store;

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
        let (lanes, folder) = (feeds.len(), place.folder.clone());
        let (done, coming) = sync_channel(BATCH);
        let mut files = Vec::new();
        thread::scope(|scope| {
            for (lane, feed) in feeds.into_iter().enumerate() {
                let (done, each, to) = (done.clone(), self.each, (staging, folder.as_path()));
                let documents = documents.iter().enumerate().skip(lane).step_by(lanes);
                scope.spawn(move || each.lane(documents, feed, to, &done));
            }
            drop(done);
            in_order(coming, |done| {
                files.extend(self.take(done)?);
                if files.len() >= BATCH && certain {
                    let batch = std::mem::take(&mut files);
                    let (request, summary) = (self.each.request, &mut self.summary);
                    place.deliver(request, staging, batch, &mut io::sink(), summary)?;
                }
                Ok(())
            })
        })?;
        Ok(files)
    }

    /// The file, if there is one.
    fn take(&mut self, Done { file, told, .. }: Done) -> Result<Option<Finished>, Error> {
        self.summary.take(told);
        let failure = match file {
            Ok(Ok(file)) => {
                let id = file.entry.session_id.clone().unwrap_or_default();
                if self.ids.insert(id.clone()) {
                    return Ok(Some(file));
                }
                file.staged.discard().map_err(Error::writing(&file.staged.path))?;
                Failure { session: Some(id), reason: "another session has the same id".to_owned() }
            }
            Ok(Err(failure)) => failure,
            Err(Error::Unreadable { session, source, .. }) => Failure::of(session, &source),
            Err(Error::NothingToShow { session }) => {
                self.summary.nothing_to_show.push(session);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.summary.failures.push(failure);
        Ok(None)
    }
}

/// What became of the document of this number.
struct Done {
    number: usize,
    /// The inner failure concerns this document alone.
    file: Result<Result<Finished, Failure>, Error>,
    told: Told,
}

/// Takes what is done in the order of the documents, up to the first error. A lane that fails makes the
/// reader end, so that others are cut off, perhaps at an earlier document: its error is the one to tell.
fn in_order(
    coming: Receiver<Done>,
    mut take: impl FnMut(Done) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut early, mut next, mut cut_off) = (BTreeMap::new(), 0, None);
    for done in coming {
        early.insert(done.number, done);
        while cut_off.is_none()
            && let Some(done) = early.remove(&next)
        {
            next += 1;
            match take(done) {
                Err(error) if is_cut_off(&error) => cut_off = Some(error),
                taken => taken?,
            }
        }
    }
    let Some(cut_off) = cut_off else { return Ok(()) };
    let failed = early.into_values().filter_map(|done| done.file.err());
    Err(failed.filter(|error| !is_cut_off(error)).find(ends_a_lane).unwrap_or(cut_off))
}

fn is_cut_off(error: &Error) -> bool {
    matches!(error, Error::Nothing | Error::Store(store::Error::CutOff))
}

/// Whether an error concerns more than one document.
fn ends_a_lane(error: &Error) -> bool {
    !matches!(error, Error::NothingToShow { .. } | Error::Unreadable { .. })
}

impl Each<'_> {
    fn lane<'d>(
        &self,
        documents: impl Iterator<Item = (usize, &'d Document)>,
        mut feed: Feed<'_>,
        to: (&Staging, &Path),
        done: &SyncSender<Done>,
    ) {
        for (number, document) in documents {
            let mut told = Told::default();
            let file = self.file(document, &mut feed, to, &mut told);
            let ends = file.as_ref().is_err_and(ends_a_lane);
            if done.send(Done { number, file, told }).is_err() || ends {
                return;
            }
        }
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
        let id = opened.head.id().to_owned();
        let failure = |reason: String| Ok(Err(Failure { session: Some(id.clone()), reason }));
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::{Done, Error, Failure, Told, in_order};

    fn done(number: usize, error: Option<Error>) -> Done {
        let failure = Failure { session: None, reason: number.to_string() };
        Done { number, file: error.map_or(Ok(Err(failure)), Err), told: Told::default() }
    }

    fn taken(all: impl IntoIterator<Item = Done>) -> (Vec<usize>, Result<(), Error>) {
        let (send, coming) = channel();
        all.into_iter().for_each(|done| send.send(done).unwrap());
        drop(send);
        let mut numbers = Vec::new();
        let result = in_order(coming, |done| {
            numbers.push(done.number);
            done.file.map(drop)
        });
        (numbers, result)
    }

    #[test]
    fn documents_are_taken_in_their_order() {
        let (numbers, result) = taken([2, 0, 3, 1].map(|number| done(number, None)));
        assert_eq!(numbers, [0, 1, 2, 3]);
        assert!(result.is_ok());
    }

    #[test]
    fn the_error_is_the_first_one_and_not_that_of_a_lane_that_it_cut_off() {
        let cut_off = || Some(Error::Store(crate::store::Error::CutOff));
        let same = |session: &str| Some(Error::SameId { session: session.to_owned() });
        let (numbers, result) = taken([done(0, None), done(1, cut_off()), done(2, same("a"))]);
        assert_eq!(numbers, [0, 1]);
        assert!(matches!(result, Err(Error::SameId { .. })));
        let (_, result) = taken([done(1, same("b")), done(0, same("a"))]);
        assert!(matches!(result, Err(Error::SameId { session }) if session == "a"));
        let (_, result) = taken([done(0, None), done(1, cut_off())]);
        assert!(matches!(result, Err(Error::Store(crate::store::Error::CutOff))));
    }
}
