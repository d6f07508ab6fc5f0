//! Text packed into a page: deflated, as base64, until a reader opens it; and the way back for
//! whoever has to see all of a page.
//!
//! Packing takes about as long as making the markup, so it has a thread of its own.

use std::io::{self, Write};
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::{DeflateDecoder, DeflateEncoder};
use memchr::memmem;

use super::picture::LINE;

const BEGIN: &[u8] = b"<script type=\"text/plain\" class=\"isle\">";
const END: &[u8] = b"</script>";

/// Text goes to the thread in pieces of this size.
const PIECE: usize = 1 << 16; // bytes
/// So many that neither thread waits for the other's moods.
const WAITING: usize = 16; // pieces

/// Writes markup and islands, one after the other. The script unpacks islands with
/// `DecompressionStream("deflate-raw")`.
pub(super) struct Packer {
    pieces: SyncSender<Piece>,
    packed: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
    /// What is on its way to the thread.
    waiting: String,
    is_in_island: bool,
}

/// What the thread is given.
enum Piece {
    /// As it is.
    Markup(String),
    /// To be packed.
    Text(String),
    /// The end of an island.
    End,
}

impl Packer {
    pub(super) fn new() -> Self {
        let (pieces, received) = sync_channel::<Piece>(WAITING);
        let (ready, packed) = channel();
        let thread = thread::spawn(move || {
            let mut island = None;
            for piece in received {
                // Nobody takes it any more where writing failed, and nobody has to.
                let _ = ready.send(piece.packed(&mut island)?);
            }
            Ok(())
        });
        Self { pieces, packed, thread, waiting: String::new(), is_in_island: false }
    }

    /// Adds markup between islands.
    pub(super) fn markup(&mut self, markup: &str, out: &mut dyn Write) -> io::Result<()> {
        self.end_island(out)?;
        self.add(markup, out)
    }

    /// Adds text to the island in hand, or to a new one.
    pub(super) fn text(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        if !self.is_in_island {
            self.send(out)?;
            self.is_in_island = true;
        }
        self.add(text, out)
    }

    /// Ends the island in hand, if there is one.
    pub(super) fn end_island(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.is_in_island {
            return Ok(());
        }
        self.send(out)?;
        self.is_in_island = false;
        self.give(Piece::End, out)
    }

    /// Writes what is still on its way.
    pub(super) fn finish(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.end_island(out)?;
        self.send(out)?;
        let Self { pieces, packed, thread, .. } = self;
        drop(pieces);
        packed.into_iter().try_for_each(|bytes| out.write_all(&bytes))?;
        thread.join().unwrap_or_else(|_| Err(broken()))
    }

    fn add(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.waiting.push_str(text);
        if self.waiting.len() >= PIECE { self.send(out) } else { Ok(()) }
    }

    fn send(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.waiting.is_empty() && !self.is_in_island {
            return Ok(());
        }
        let text = mem::take(&mut self.waiting);
        self.give(if self.is_in_island { Piece::Text(text) } else { Piece::Markup(text) }, out)
    }

    /// Gives a piece to the thread, and takes what it has done.
    fn give(&mut self, piece: Piece, out: &mut dyn Write) -> io::Result<()> {
        self.pieces.send(piece).map_err(|_| broken())?;
        self.packed.try_iter().try_for_each(|bytes| out.write_all(&bytes))
    }
}

fn broken() -> io::Error {
    io::Error::other("packing ended early")
}

impl Piece {
    /// What it adds to the page.
    fn packed(self, island: &mut Option<DeflateEncoder<Vec<u8>>>) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        match self {
            Piece::Markup(markup) => return Ok(markup.into_bytes()),
            Piece::Text(text) => {
                let encoder = island.get_or_insert_with(|| {
                    out.extend(BEGIN);
                    DeflateEncoder::new(Vec::new(), Compression::new(LEVEL))
                });
                encoder.write_all(text.as_bytes())?;
                let bytes = encoder.get_mut();
                let whole = bytes.len() / LINE_BYTES * LINE_BYTES;
                write_lines(&bytes[..whole], &mut out);
                bytes.drain(..whole);
            }
            Piece::End => {
                if let Some(encoder) = island.take() {
                    write_lines(&encoder.finish()?, &mut out);
                    out.extend(END);
                    out.push(b'\n');
                }
            }
        }
        Ok(out)
    }
}

/// The highest that is quick: 6 takes three times as long for a twelfth of the size.
const LEVEL: u32 = 2;

/// What one line of base64 holds.
const LINE_BYTES: usize = LINE / 4 * 3;

fn write_lines(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() / LINE_BYTES * (LINE + 1) + LINE + 1);
    let mut line = [0; LINE];
    for bytes in bytes.chunks(LINE_BYTES) {
        // A line has room for its bytes.
        let length = STANDARD.encode_slice(bytes, &mut line).unwrap_or_default();
        out.extend(&line[..length]);
        out.push(b'\n');
    }
}

/// A page as it comes, with what is packed in it unpacked.
#[derive(Debug, Default)]
pub struct Unpacking {
    /// What has not been looked at, for want of its end.
    waiting: Vec<u8>,
    island: Option<DeflateDecoder<Vec<u8>>>,
}

impl Unpacking {
    /// Takes more of the page, and adds what it says to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        self.waiting.extend_from_slice(bytes);
        while let Some(mark) = memmem::find(&self.waiting, self.mark()) {
            let after = mark + self.mark().len();
            self.take(mark, out)?;
            self.waiting.drain(..after - mark);
            match self.island.take() {
                None => self.island = Some(DeflateDecoder::new(Vec::new())),
                Some(island) => out.extend(island.finish()?),
            }
        }
        // The mark may have begun.
        self.take((self.waiting.len() + 1).saturating_sub(self.mark().len()), out)
    }

    /// Adds what is left of the page.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.take(self.waiting.len(), out)
    }

    /// What ends the part in hand.
    fn mark(&self) -> &'static [u8] {
        if self.island.is_some() { END } else { BEGIN }
    }

    /// Takes so many bytes of the part in hand.
    fn take(&mut self, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(island) = &mut self.island else {
            out.extend(self.waiting.drain(..length));
            return Ok(());
        };
        // Lines are whole groups of base64; only the last has no end.
        let lines = match self.waiting[..length].iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None => 0,
        };
        let mut digits: Vec<u8> = self.waiting.drain(..lines).collect();
        digits.retain(|byte| *byte != b'\n');
        island.write_all(&STANDARD.decode(digits).map_err(io::Error::other)?)?;
        out.append(island.get_mut());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE, Packer, Unpacking};

    /// A page of markup and islands.
    fn page(parts: &[&str]) -> Vec<u8> {
        let (mut packer, mut page) = (Packer::new(), Vec::new());
        packer.markup("<p>before</p>", &mut page).unwrap();
        for part in parts {
            packer.text(part, &mut page).unwrap();
            packer.text("!", &mut page).unwrap();
            packer.end_island(&mut page).unwrap();
        }
        packer.markup("<p>after</p><scr", &mut page).unwrap();
        packer.finish(&mut page).unwrap();
        page
    }

    #[test]
    fn an_island_has_short_lines_and_the_same_bytes_again() {
        let text: String =
            (0..50_000_u32).flat_map(|n| ["<p>".to_owned(), n.to_string()]).collect();
        let once = page(&[&text]);
        assert_eq!(once, page(&[&text]));
        let once = String::from_utf8(once).unwrap();
        assert!(once.len() < text.len() / 2);
        let island = once.split("isle\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert!(island.lines().count() > 1000 && island.lines().all(|line| line.len() <= LINE));
    }

    #[test]
    fn what_a_page_packs_is_unpacked_however_it_comes() {
        let text = "a line of an island\n".repeat(500);
        let page = page(&[&text, "", "short"]);
        for size in [1, 7, 100, page.len()] {
            let (mut unpacking, mut out) = (Unpacking::default(), Vec::new());
            for piece in page.chunks(size) {
                unpacking.push(piece, &mut out).unwrap();
            }
            unpacking.finish(&mut out).unwrap();
            let seen = String::from_utf8(out).unwrap();
            assert_eq!(seen, format!("<p>before</p>{text}!\n!\nshort!\n<p>after</p><scr"));
        }
    }
}
