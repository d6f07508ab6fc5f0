//! A session's messages on their way into a page, stretch by stretch.
//!
//! Making markup takes most of the time that a page takes, and needs nothing of the page. So it can be
//! done apart, for several sessions at once: [`apart`] gives each stretch to whoever asked, and
//! the page takes it later, as if it had been made there.

use std::io;

use super::Origin;
use super::transcript::{Stretch, Transcript};
use crate::model::{Message, Session};
use crate::{Apart, Record, SessionWriter, Stretches};

/// A stretch has about so much markup; what a page packs depends on it.
const STRETCH: usize = 1 << 14; // bytes

/// Markup of some of a session's messages, made apart from the page that it goes into.
#[derive(Debug)]
pub struct Rendered(Stretch);

impl Rendered {
    /// How large it is.
    pub fn bytes(&self) -> usize {
        self.0.markup.len()
    }
}

/// Where stretches of one session go.
pub(super) trait Place: Send {
    fn take(&mut self, stretch: Stretch) -> io::Result<()>;

    /// Ends the session.
    fn finish(self) -> io::Result<()>;
}

/// A session that is being written.
pub(super) struct Stream<P> {
    transcript: Transcript,
    place: P,
}

impl<P: Place> Stream<P> {
    pub(super) fn new(transcript: Transcript, place: P) -> Self {
        Self { transcript, place }
    }

    fn flush_from(&mut self, length: usize) -> io::Result<()> {
        if self.transcript.len() < length {
            return Ok(());
        }
        self.place.take(self.transcript.take())
    }
}

impl<P: Place> SessionWriter for Stream<P> {
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()> {
        self.transcript.segment(part);
        self.flush_from(STRETCH)
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        self.transcript.message(message);
        self.flush_from(STRETCH)
    }

    fn lost(&mut self, column: &str, what: &str) -> io::Result<()> {
        self.transcript.lost(column, what);
        self.flush_from(STRETCH)
    }

    fn made_from(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.transcript.made_from(record);
        self.flush_from(STRETCH)
    }

    fn rendered(&mut self, stretch: Rendered) -> io::Result<()> {
        self.place.take(stretch.0)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.transcript.end_turn();
        self.flush_from(1)?;
        self.place.finish()
    }
}

/// Renders sessions whose titles are headings of this level.
pub(super) fn apart(level: u8, origin: &Origin) -> Apart {
    let origin = origin.clone();
    Box::new(move |to| {
        let transcript = Transcript::below(level, &origin);
        Box::new(Stream::new(transcript, Elsewhere(to)))
    })
}

/// A place that is not at hand.
struct Elsewhere<'s>(Stretches<'s>);

impl Place for Elsewhere<'_> {
    fn take(&mut self, stretch: Stretch) -> io::Result<()> {
        (self.0)(Rendered(stretch))
    }

    fn finish(self) -> io::Result<()> {
        Ok(())
    }
}
