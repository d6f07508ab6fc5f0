//! Files as they were before they were packed or sealed: what was done to one is seen in its first bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use crate::seal::{self, Identities};

const BUFFER: usize = 1 << 16; // bytes

/// What is in a file, from where it stands. Sealed files hold packed ones, and those plain text.
pub(crate) fn reader(file: File, identities: &Identities) -> io::Result<Box<dyn BufRead>> {
    let mut file = BufReader::with_capacity(BUFFER, file);
    if seal::is_sealed(file.fill_buf()?) {
        return unpacked(BufReader::with_capacity(BUFFER, identities.open(file)?));
    }
    unpacked(file)
}

fn unpacked(mut file: BufReader<impl Read + 'static>) -> io::Result<Box<dyn BufRead>> {
    let beginning = file.fill_buf()?;
    Ok(if beginning.starts_with(&[0x1f, 0x8b]) {
        let gzip = flate2::bufread::MultiGzDecoder::new(file);
        Box::new(BufReader::with_capacity(BUFFER, gzip))
    } else if beginning.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let zstandard = zstd::stream::read::Decoder::with_buffer(file)?;
        Box::new(BufReader::with_capacity(BUFFER, zstandard))
    } else {
        Box::new(file)
    })
}
