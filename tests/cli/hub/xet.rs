//! The storage of large files: chunks in xorbs, and shards that say which chunks a file is made of.
//!
//! Nothing is taken on trust: a shard's files are put together from the chunks, and kept under
//! their SHA-256 only if it is the one that the shard names.

use std::collections::HashMap;

use super::store::{hex, sha256};

#[derive(Default)]
pub(super) struct Xet {
    /// Each the chunks of one xorb.
    xorbs: HashMap<String, Vec<Vec<u8>>>,
    files: HashMap<String, Vec<u8>>,
}

/// Entries of a shard are this long.
const ENTRY: usize = 48;
const HAS_VERIFICATION: u32 = 1 << 31;
const HAS_SHA256: u32 = 1 << 30;

impl Xet {
    pub(super) fn file(&self, sha256: &str) -> Option<&[u8]> {
        self.files.get(sha256).map(Vec::as_slice)
    }

    pub(super) fn take_xorb(&mut self, hash: &str, xorb: &[u8]) -> Result<bool, &'static str> {
        let chunks = chunks(xorb)?;
        Ok(self.xorbs.insert(hash.to_owned(), chunks).is_none())
    }

    /// Puts the files of a shard together; says how many there are.
    pub(super) fn take_shard(&mut self, shard: &[u8]) -> Result<usize, &'static str> {
        let (mut at, mut files) = (ENTRY, 0);
        while field(shard, at, 32)? != [0xff; 32] {
            let flags = number(shard, at + 32)?;
            let terms = number(shard, at + 36)? as usize;
            at += ENTRY;
            let mut content = Vec::new();
            for term in 0..terms {
                self.append_term(shard, at + term * ENTRY, &mut content)?;
            }
            let verified = if flags & HAS_VERIFICATION == 0 { 1 } else { 2 };
            at += ENTRY * terms * verified;
            if flags & HAS_SHA256 == 0 {
                return Err("a file without its SHA-256");
            }
            let named = text(field(shard, at, 32)?);
            at += ENTRY;
            if sha256(&content) != named {
                return Err("a file that is not what its SHA-256 says");
            }
            self.files.insert(named, content);
            files += 1;
        }
        Ok(files)
    }

    fn append_term(&self, shard: &[u8], at: usize, to: &mut Vec<u8>) -> Result<(), &'static str> {
        let xorb = self.xorbs.get(&text(field(shard, at, 32)?)).ok_or("an unknown xorb")?;
        let (length, first, end) =
            (number(shard, at + 36)?, number(shard, at + 40)?, number(shard, at + 44)?);
        let chunks = xorb.get(first as usize..end as usize).ok_or("chunks that are not there")?;
        let before = to.len();
        to.extend(chunks.concat());
        if to.len() - before == length as usize { Ok(()) } else { Err("a term of another length") }
    }
}

fn field(shard: &[u8], at: usize, length: usize) -> Result<&[u8], &'static str> {
    shard.get(at..at + length).ok_or("a shard that is cut off")
}

fn number(shard: &[u8], at: usize) -> Result<u32, &'static str> {
    Ok(u32::from_le_bytes(field(shard, at, 4)?.try_into().unwrap()))
}

/// A hash as text: each eight bytes are a number, written from its highest digit.
fn text(hash: &[u8]) -> String {
    let words = hash.chunks(8).flat_map(|bytes| bytes.iter().rev().copied());
    hex(&words.collect::<Vec<u8>>())
}

fn chunks(mut xorb: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    let mut chunks = Vec::new();
    while xorb.len() >= 8 && !xorb.starts_with(b"XETBLOB") {
        let length = |at: usize| u32::from_le_bytes([xorb[at], xorb[at + 1], xorb[at + 2], 0]);
        let (packed, scheme, unpacked) = (length(1) as usize, xorb[4], length(5) as usize);
        let body = xorb.get(8..8 + packed).ok_or("a xorb that is cut off")?;
        let chunk = match scheme {
            0 => body.to_vec(),
            1 => lz4(body)?,
            2 => ungrouped(&lz4(body)?),
            _ => return Err("an unknown compression"),
        };
        if chunk.len() != unpacked {
            return Err("a chunk of another length");
        }
        chunks.push(chunk);
        xorb = &xorb[8 + packed..];
    }
    Ok(chunks)
}

fn lz4(body: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::new();
    let mut decoder = lz4_flex::frame::FrameDecoder::new(body);
    std::io::copy(&mut decoder, &mut out).map_err(|_| "a chunk that is no LZ4")?;
    Ok(out)
}

/// Bytes that were sorted by their place in groups of four.
fn ungrouped(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0; bytes.len()];
    let mut from = bytes.iter();
    for place in 0..4 {
        for to in out.iter_mut().skip(place).step_by(4) {
            *to = *from.next().unwrap();
        }
    }
    out
}
