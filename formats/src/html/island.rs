//! Markup packed into a page: deflated, as base64, until a reader opens it.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::picture::LINE;

/// Packs text; the script unpacks it with `DecompressionStream("deflate-raw")`.
pub(super) struct Island {
    packed: DeflateEncoder<Vec<u8>>,
}

impl Island {
    /// Begins an island in the page.
    pub(super) fn begin(out: &mut dyn Write) -> io::Result<Self> {
        out.write_all(b"<script type=\"text/plain\" class=\"isle\">")?;
        Ok(Self { packed: DeflateEncoder::new(Vec::new(), Compression::new(6)) })
    }

    /// Ends the island.
    pub(super) fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write_lines(&self.packed.reset(Vec::new())?, out)?;
        out.write_all(b"</script>\n")
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

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use flate2::read::DeflateDecoder;

    use super::Island;

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
}
