//! Documents that go into one file, or one folder of pages, in their order: read as they are wanted, or
//! rendered side by side by lanes that take turns.
//!
//! A lane may be ahead of the file by some megabytes, so that a document in hand is not the only one at
//! which there is work; what is larger waits for its turn.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use formats::{Apart, FormatWriter, Rendered, SessionHead, SessionWriter};

use super::Error;
use super::document::{Document, Heading, Opened};
use super::feed::Feed;
use super::lanes::Cut as _;
use super::report::Told;
use super::write::Each;
use crate::store;

/// A lane may be ahead by so many of these.
const AHEAD: usize = 64;
const SHARE: usize = 1 << 15; // bytes

/// Where documents come from, one after the other.
pub(super) struct Turns<'s> {
    from: From<'s>,
    next: usize,
}

/// The feeds or lanes that take turns.
enum From<'s> {
    Rows(Vec<Feed<'s>>),
    Lanes(Vec<Receiver<Part<'s>>>),
}

/// A document of which what is said comes next.
pub(super) struct Begun<'s> {
    pub(super) heading: Heading<'s>,
    body: Body<'s>,
}

enum Body<'s> {
    Rows { opened: Box<Opened<'s>>, feed: usize },
    Lane(usize),
}

/// What a lane has made.
enum Part<'s> {
    Begin(Box<Heading<'s>>),
    Stretch(Rendered),
    /// Takes up room, so that a large stretch is not one of many.
    Room,
    /// What each rule took out.
    End(Result<BTreeMap<String, u64>, Error>, Told),
}

/// Has documents written in turn: `consume` gets them, rendered apart where the format can.
pub(super) fn in_turn<'s, T>(
    each: &Each<'_>,
    feeds: Vec<Feed<'s>>,
    documents: &[Document],
    apart: Option<Apart>,
    consume: impl FnOnce(&mut Turns<'s>) -> Result<T, Error>,
) -> Result<T, Error> {
    let Some(apart) = apart.filter(|_| feeds.len() > 1) else {
        return consume(&mut Turns { from: From::Rows(feeds), next: 0 });
    };
    thread::scope(|scope| {
        let lanes = feeds.len();
        let begin = |(lane, mut feed): (usize, Feed<'s>)| {
            let (parts, received) = sync_channel(AHEAD);
            let own = documents.iter().skip(lane).step_by(lanes);
            let apart = &apart;
            scope.spawn(move || Lane { apart, parts }.render(each, own, &mut feed));
            received
        };
        let lanes = feeds.into_iter().enumerate().map(begin).collect();
        // What is left of the lanes ends with this.
        let mut turns = Turns { from: From::Lanes(lanes), next: 0 };
        consume(&mut turns)
    })
}

impl<'s> Turns<'s> {
    /// The next document.
    pub(super) fn begin(
        &mut self,
        each: &Each<'_>,
        document: &Document,
        told: &mut Told,
    ) -> Result<Begun<'s>, Error> {
        let turn = self.next;
        self.next += 1;
        let part = match &mut self.from {
            From::Rows(feeds) => {
                let feed = turn % feeds.len();
                let opened = Box::new(each.open(document, &mut feeds[feed], told)?);
                let heading = opened.heading.clone();
                return Ok(Begun { heading, body: Body::Rows { opened, feed } });
            }
            From::Lanes(lanes) => lanes[turn % lanes.len()].recv(),
        };
        match part {
            Ok(Part::Begin(heading)) => {
                Ok(Begun { heading: *heading, body: Body::Lane(turn % self.lanes().len()) })
            }
            Ok(Part::End(Err(error), _)) => Err(self.cause(error)),
            Ok(Part::Stretch(_) | Part::Room | Part::End(Ok(_), _)) | Err(_) => {
                Err(self.cause(cut_off()))
            }
        }
    }

    /// Writes the document down, and gives what redaction took out of it.
    pub(super) fn write(
        &mut self,
        (each, document): (&Each<'_>, &Document),
        begun: Begun<'s>,
        writer: &mut dyn FormatWriter,
        wrote: &dyn Fn(io::Error) -> Error,
        told: &mut Told,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let lane = match (begun.body, &mut self.from) {
            (Body::Rows { opened, feed }, From::Rows(feeds)) => {
                let to = (&mut feeds[feed], writer);
                return each.document(document, *opened, to, wrote, told);
            }
            (Body::Lane(lane), _) => lane,
            (Body::Rows { .. }, From::Lanes(_)) => return Err(cut_off()),
        };
        let mut session = writer.session(&begun.heading.head()).map_err(wrote)?;
        loop {
            match self.lanes()[lane].recv() {
                Ok(Part::Stretch(stretch)) => session.rendered(stretch).map_err(wrote)?,
                Ok(Part::Room) => {}
                Ok(Part::End(Ok(taken_out), of_lane)) => {
                    session.finish().map_err(wrote)?;
                    told.extend(of_lane);
                    return Ok(taken_out);
                }
                Ok(Part::End(Err(error), _)) => return Err(self.cause(error)),
                Ok(Part::Begin(_)) | Err(_) => return Err(self.cause(cut_off())),
            }
        }
    }

    /// Passes over what is said in the document.
    pub(super) fn pass(&mut self, begun: &Begun<'s>) {
        if let Body::Lane(lane) = begun.body {
            let is_end = |part: &Part<'_>| matches!(part, Part::End(..));
            let _ = self.lanes()[lane].iter().find(is_end); // the next one meets what failed
        }
    }

    fn lanes(&self) -> &[Receiver<Part<'s>>] {
        match &self.from {
            From::Rows(_) => &[],
            From::Lanes(lanes) => lanes,
        }
    }

    /// Why a lane ended. One that fails makes the reader end, so that others are cut off, perhaps at an
    /// earlier document: its error is the one to tell.
    fn cause(&self, error: Error) -> Error {
        if !error.is_cut_off() {
            return error;
        }
        let parts = self.lanes().iter().flat_map(Receiver::iter);
        let mut errors = parts.filter_map(|part| match part {
            Part::End(Err(error), _) if !error.is_cut_off() => Some(error),
            _ => None,
        });
        errors.next().unwrap_or(error)
    }
}

fn cut_off() -> Error {
    Error::Store(store::Error::CutOff)
}

/// Renders every so many-th document.
struct Lane<'l, 's> {
    apart: &'l Apart,
    parts: SyncSender<Part<'s>>,
}

impl<'s> Lane<'_, 's> {
    /// Renders them up to the first error, or until nobody wants them.
    fn render<'d>(
        mut self,
        each: &Each<'_>,
        documents: impl Iterator<Item = &'d Document>,
        feed: &mut Feed<'s>,
    ) {
        for document in documents {
            let mut told = Told::default();
            let outcome = self.document(each, document, feed, &mut told);
            let failed = outcome.is_err();
            if self.parts.send(Part::End(outcome, told)).is_err() || failed {
                return;
            }
        }
    }

    fn document(
        &mut self,
        each: &Each<'_>,
        document: &Document,
        feed: &mut Feed<'s>,
        told: &mut Told,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let opened = each.open(document, feed, told)?;
        let heading = Box::new(opened.heading.clone());
        self.parts.send(Part::Begin(heading)).map_err(|_| cut_off())?;
        // Nobody wants it any more.
        let wrote = |_: io::Error| cut_off();
        each.document(document, opened, (feed, self), &wrote, told)
    }
}

impl FormatWriter for Lane<'_, '_> {
    fn session<'w>(
        &'w mut self,
        _head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 'w>> {
        let parts = &self.parts;
        Ok((self.apart)(Box::new(move |stretch| send(stretch, parts))))
    }
}

fn send(stretch: Rendered, parts: &SyncSender<Part<'_>>) -> io::Result<()> {
    let room = (stretch.bytes() / SHARE).min(AHEAD);
    let send = |part| parts.send(part).map_err(|_| io::Error::other("nobody takes it"));
    send(Part::Stretch(stretch))?;
    (0..room).try_for_each(|_| send(Part::Room))
}
