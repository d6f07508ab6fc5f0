//! The documents of an export on their way from the thread that reads to those that write.
//!
//! SQLite's rows are copied in batches, so that decoding, redaction and rendering go on while the
//! next rows are read. The batches are few and go round, so memory stays bounded by the largest
//! message.
//!
//! On its way a batch is searched for secrets by one of several threads. What they find clean the
//! redactor remembers, and most texts are; the one thread that redacts and renders, in order,
//! searches no more than the rest. So what is written does not depend on how many there are.
//!
//! Documents that go into files of their own can be dealt to several lanes, each a stream for itself.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::panic;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use formats::model::Session;

use super::Reach;
use super::document::Document;
use crate::redact::{Ahead, Raw, Redactor};
use crate::store::{self, Decoded, Decoder, Extent, Fault, Rows, SessionKey, Shown, Snapshot};

/// A batch is sent when it has so many bytes of messages, so many documents or so many events.
const FULL: usize = 1 << 18;
const DOCUMENTS: usize = 1 << 6;
const EVENTS: usize = 1 << 10;
/// So many that neither thread waits for the other's moods.
const BATCHES: usize = 8;
/// After a large one only one is filled while another is emptied.
const FEW: usize = 2;

/// What searches batches for secrets before they are consumed.
#[derive(Clone, Copy)]
pub(crate) struct Scouts<'r> {
    redactor: &'r Redactor,
    threads: usize,
}

impl<'r> Scouts<'r> {
    /// So many; none where the redactor would not remember what they find.
    pub(super) fn new(redactor: &'r Redactor, threads: NonZeroUsize) -> Self {
        let threads = if redactor.remembers() { threads.get() } else { 0 };
        Self { redactor, threads }
    }

    /// None at all.
    pub(crate) fn none(redactor: &'r Redactor) -> Self {
        Self { redactor, threads: 0 }
    }

    /// Fewer beside several lanes, which search for themselves.
    pub(super) fn beside(self, lanes: NonZeroUsize) -> Self {
        match lanes {
            NonZeroUsize::MIN => self,
            lanes => Self { threads: self.threads.saturating_sub(lanes.get()), ..self },
        }
    }

    fn search<'s>(&self, decoder: Decoder<'s>, unsearched: &Mutex<Receiver<Unsearched<'s>>>) {
        let next = || unsearched.lock().unwrap_or_else(PoisonError::into_inner).recv();
        while let Ok((mut batch, searched)) = next() {
            let Batch { rows, ahead, .. } = &mut batch;
            let messages = (0..rows.len()).map(|n| decoder.message(rows, n).0);
            self.redactor.search_ahead(messages, ahead);
            let _ = searched.send(batch); // nobody may want it any more
        }
    }
}

/// A batch, and where it goes once it is searched.
type Unsearched<'s> = (Batch<'s>, SyncSender<Batch<'s>>);

/// Reads documents on this thread while `consume` runs on another.
pub(super) fn with<T: Send>(
    snapshot: &Snapshot<'_>,
    documents: &[Document],
    wanted: (Shown, Reach),
    scouts: Scouts<'_>,
    consume: impl FnOnce(&mut Feed<'_>) -> T + Send,
) -> T {
    dealt(snapshot, documents, wanted, (scouts, NonZeroUsize::MIN), |mut feeds| {
        consume(&mut feeds[0])
    })
}

/// The same, where so many feeds take turns: the first document goes to the first one.
pub(crate) fn dealt<T: Send>(
    snapshot: &Snapshot<'_>,
    documents: &[Document],
    (shown, reach): (Shown, Reach),
    (scouts, feeds): (Scouts<'_>, NonZeroUsize),
    consume: impl FnOnce(Vec<Feed<'_>>) -> T + Send,
) -> T {
    let decoder = snapshot.decoder();
    let (lanes, feeds) = (0..feeds.get()).map(|_| Lane::new(decoder)).unzip();
    let (unsearched, queue) = channel();
    let queue = Mutex::new(queue);
    thread::scope(|scope| {
        let consumer = scope.spawn(move || consume(feeds));
        for _ in 0..scouts.threads {
            scope.spawn(|| scouts.search(decoder, &queue));
        }
        let unsearched = (scouts.threads > 0).then_some(unsearched);
        let mut reader = Reader { snapshot, shown, reach, lanes, unsearched };
        // It ends early when nobody wants more.
        let _ = reader.read(documents);
        drop(reader);
        consumer.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

/// Part of a stream of documents.
#[derive(Default)]
struct Batch<'s> {
    rows: Rows,
    /// What was said of each row, if it was searched.
    ahead: Vec<Ahead>,
    events: VecDeque<Event<'s>>,
    documents: usize,
}

impl Batch<'_> {
    fn is_full(&self) -> bool {
        self.rows.bytes() >= FULL || self.documents >= DOCUMENTS || self.events.len() >= EVENTS
    }

    fn clear(&mut self) {
        self.rows.clear(FULL);
        self.ahead.clear();
        self.events.clear();
        self.documents = 0;
    }
}

enum Event<'s> {
    /// A document begins, or cannot be read at all.
    Document(Result<Box<Found<'s>>, store::Error>),
    /// A message: the row of this number in the batch.
    Message(usize),
    /// A segment of the document has no more messages.
    End,
    /// The document cannot be read any further.
    Failed(store::Error),
}

/// The rows of a document's sessions.
pub(crate) struct Found<'s> {
    /// Its segments, oldest first.
    pub(crate) segments: Vec<Segment<'s>>,
}

/// One session of a document.
pub(crate) struct Segment<'s> {
    pub(crate) row: Raw<Session<'s>>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) extent: Extent,
    /// Rows of other tables, where they are to be kept, too.
    pub(crate) related: Vec<(String, Raw<String>)>,
}

/// The end of the stream, where documents are taken out.
pub(crate) struct Feed<'s> {
    /// Each batch comes through a channel of its own, so that they stay in order.
    batches: Receiver<Receiver<Batch<'s>>>,
    used: Sender<Batch<'s>>,
    decoder: Decoder<'s>,
    batch: Batch<'s>,
}

impl<'s> Feed<'s> {
    /// The next document; what is left of the one before is passed over. `None` after the last.
    pub(crate) fn document(&mut self) -> Option<Result<Box<Found<'s>>, store::Error>> {
        loop {
            match self.next()? {
                Event::Document(found) => return Some(found),
                Event::Message(_) | Event::End | Event::Failed(_) => {}
            }
        }
    }

    /// The next message of the segment in hand, with what it lost; `None` after its last.
    pub(crate) fn message(&mut self) -> Result<Option<Decoded<'_>>, store::Error> {
        match self.next() {
            Some(Event::Message(n)) => {
                let (raw, faults) = self.decoder.message(&self.batch.rows, n);
                let ahead = self.batch.ahead.get(n).copied().unwrap_or(Ahead::Unknown);
                Ok(Some((raw.searched(ahead), faults)))
            }
            Some(Event::Failed(error)) => Err(error),
            Some(Event::End) => Ok(None),
            // What was read until then must not pass for the whole.
            None => Err(store::Error::CutOff),
            Some(document @ Event::Document(_)) => {
                self.batch.events.push_front(document);
                Ok(None)
            }
        }
    }

    fn next(&mut self) -> Option<Event<'s>> {
        loop {
            if let Some(event) = self.batch.events.pop_front() {
                return Some(event);
            }
            let next = self.batches.recv().ok()?.recv().ok()?;
            let mut used = std::mem::replace(&mut self.batch, next);
            used.clear();
            let _ = self.used.send(used); // the reader may have ended
        }
    }
}

/// The beginning of the streams.
struct Reader<'c, 's> {
    snapshot: &'s Snapshot<'c>,
    shown: Shown,
    reach: Reach,
    lanes: Vec<Lane<'s>>,
    unsearched: Option<Sender<Unsearched<'s>>>,
}

/// The beginning of one stream.
struct Lane<'s> {
    coming: SyncSender<Receiver<Batch<'s>>>,
    free: Receiver<Batch<'s>>,
    spare: Vec<Batch<'s>>,
    batch: Batch<'s>,
}

/// Why a document's messages ended early.
enum Stop {
    /// The store cannot be read.
    Store(store::Error),
    /// Nobody wants more.
    Unwanted,
}

impl From<store::Error> for Stop {
    fn from(error: store::Error) -> Self {
        Stop::Store(error)
    }
}

impl<'s> Reader<'_, 's> {
    fn read(&mut self, documents: &[Document]) -> Result<(), Stop> {
        for (n, document) in documents.iter().enumerate() {
            let lane = n % self.lanes.len();
            match self.document(document, lane) {
                Ok(()) => {}
                Err(Stop::Store(error)) => self.push(Event::Failed(error), lane)?,
                Err(Stop::Unwanted) => return Err(Stop::Unwanted),
            }
            // The next lane may have to wait for this one, which may wait for the rest of its document.
            if self.lanes.len() > 1 && !self.lanes[lane].batch.events.is_empty() {
                let next = self.lanes[lane].spare()?;
                self.send(next, lane)?;
            }
        }
        (0..self.lanes.len()).try_for_each(|lane| self.send(Batch::default(), lane))
    }

    fn document(&mut self, document: &Document, lane: usize) -> Result<(), Stop> {
        let segments = document.0.iter().map(|key| self.segment(*key)).collect();
        let segments: Vec<Segment<'s>> = match segments {
            Ok(segments) => segments,
            Err(error) => return self.push(Event::Document(Err(error)), lane),
        };
        let extents: Vec<Extent> = segments.iter().map(|segment| segment.extent.clone()).collect();
        self.push(Event::Document(Ok(Box::new(Found { segments }))), lane)?;
        let snapshot = self.snapshot;
        for extent in &extents {
            snapshot.rows(extent, |stored| {
                let rows = &mut self.lanes[lane].batch.rows;
                stored.copy_to(rows)?;
                let row = rows.len() - 1;
                self.push(Event::Message(row), lane)
            })?;
            self.push(Event::End, lane)?;
        }
        Ok(())
    }

    fn segment(&self, key: SessionKey) -> Result<Segment<'s>, store::Error> {
        let (row, faults) = self.snapshot.session(key)?;
        let related = match self.reach {
            Reach::Everything => self.snapshot.related(key)?,
            Reach::Selected => Vec::new(),
        };
        Ok(Segment { row, faults, extent: self.snapshot.extent(key, self.shown)?, related })
    }

    fn push(&mut self, event: Event<'s>, to: usize) -> Result<(), Stop> {
        let lane = &mut self.lanes[to];
        lane.batch.documents += usize::from(matches!(event, Event::Document(_)));
        lane.batch.events.push_back(event);
        if !lane.batch.is_full() {
            return Ok(());
        }
        let next = lane.spare()?;
        self.send(next, to)
    }

    /// Sends what a lane has, and goes on with the next batch.
    fn send(&mut self, next: Batch<'s>, to: usize) -> Result<(), Stop> {
        let lane = &mut self.lanes[to];
        let batch = std::mem::replace(&mut lane.batch, next);
        let (searched, ready) = sync_channel(1);
        lane.coming.send(ready).map_err(|_| Stop::Unwanted)?;
        let sent = match &self.unsearched {
            Some(queue) => queue.send((batch, searched)).is_ok(),
            None => searched.send(batch).is_ok(),
        };
        if sent { Ok(()) } else { Err(Stop::Unwanted) }
    }
}

impl<'s> Lane<'s> {
    /// A lane, and its other end.
    fn new(decoder: Decoder<'s>) -> (Self, Feed<'s>) {
        let (coming, batches) = sync_channel(BATCHES);
        let (used, free) = channel();
        let spare = (0..BATCHES).map(|_| Batch::default()).collect();
        let lane = Self { coming, free, spare, batch: Batch::default() };
        (lane, Feed { batches, used, decoder, batch: Batch::default() })
    }

    /// An empty batch, once there are enough of them.
    fn spare(&mut self) -> Result<Batch<'s>, Stop> {
        let is_large = self.batch.rows.bytes() > BATCHES * FULL;
        let enough = if is_large { BATCHES - FEW } else { 1 };
        self.spare.extend(self.free.try_iter());
        while self.spare.len() < enough {
            self.spare.push(self.free.recv().map_err(|_| Stop::Unwanted)?);
        }
        self.spare.pop().ok_or(Stop::Unwanted)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::{channel, sync_channel};

    use super::{Batch, Feed};
    use crate::store;

    #[test]
    fn a_reader_that_ended_early_does_not_make_a_session_shorter() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/state.db");
        let message = store::read(&fixture, |snapshot| {
            let (coming, batches) = sync_channel(1);
            let (used, _free) = channel();
            drop(coming);
            let decoder = snapshot.decoder();
            let mut feed = Feed { batches, used, decoder, batch: Batch::default() };
            feed.message().map(|message| message.is_some())
        });
        assert!(matches!(message, Err(store::Error::CutOff)));
    }
}
