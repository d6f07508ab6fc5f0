//! Markup packed into a page: deflated, as base64, until a reader opens it; and the way back for
//! whoever has to see all of a page.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::{DeflateDecoder, DeflateEncoder};
use memchr::memmem;

use super::picture::LINE;

const BEGIN: &[u8] = b"<script type=\"text/plain\" class=\"isle\">";
const END: &[u8] = b"</script>";

/// Packs text; the script unpacks it with `DecompressionStream("deflate-raw")`.
pub(super) struct Island {
    packed: DeflateEncoder<Vec<u8>>,
}

impl Island {
    /// Begins an island in the page.
    pub(super) fn begin(out: &mut dyn Write) -> io::Result<Self> {
        out.write_all(BEGIN)?;
        Ok(Self { packed: DeflateEncoder::new(Vec::new(), Compression::new(6)) })
    }

    /// Ends the island.
    pub(super) fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write_lines(&self.packed.reset(Vec::new())?, out)?;
        out.write_all(END)?;
        out.write_all(b"\n")
    }

    /// Adds text; what is packed of it so far goes to the page.
    pub(super) fn write(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.packed.write_all(text.as_bytes())?;
        let bytes = self.packed.get_mut();
        let whole = bytes.len() / LINE_BYTES * LINE_BYTES;
        write_lines(&bytes[..whole], out)?;
        bytes.drain(..whole);
        Ok(())
    }
}

/// What one line of base64 holds.
const LINE_BYTES: usize = LINE / 4 * 3;

fn write_lines(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::with_capacity(LINE + 1);
    for bytes in bytes.chunks(LINE_BYTES) {
        line.clear();
        STANDARD.encode_string(bytes, &mut line);
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
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
    use std::io::Read as _;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use flate2::read::DeflateDecoder;

    use super::{Island, Unpacking};

    #[test]
    fn an_island_holds_what_was_written_in_short_lines() {
        let mut page = Vec::new();
        let mut island = Island::begin(&mut page).unwrap();
        let text: String =
            (0..50_000_u32).flat_map(|n| ["<p>".to_owned(), n.to_string()]).collect();
        island.write(&text[..10], &mut page).unwrap();
        island.write(&text[10..], &mut page).unwrap();
        island.end(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let data = page.strip_suffix("</script>\n").unwrap().split_once('>').unwrap().1;
        assert!(data.lines().all(|line| line.len() <= 32));
        let bytes = STANDARD.decode(data.replace('\n', "")).unwrap();
        let mut unpacked = String::new();
        DeflateDecoder::new(&*bytes).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, text);
    }

    #[test]
    fn what_a_page_packs_is_unpacked_however_it_comes() {
        let mut page = b"<p>before</p>".to_vec();
        let text = "a line of an island\n".repeat(500);
        for part in [&*text, "", "short"] {
            let mut island = Island::begin(&mut page).unwrap();
            island.write(part, &mut page).unwrap();
            island.end(&mut page).unwrap();
        }
        page.extend(b"<p>after</p><scr");
        for size in [1, 7, 100, page.len()] {
            let (mut unpacking, mut out) = (Unpacking::default(), Vec::new());
            for piece in page.chunks(size) {
                unpacking.push(piece, &mut out).unwrap();
            }
            unpacking.finish(&mut out).unwrap();
            let seen = String::from_utf8(out).unwrap();
            assert_eq!(seen, format!("<p>before</p>{text}\n\nshort\n<p>after</p><scr"));
        }
    }
}
