//! A file that is being written: hashing, the last look and the disk's own time on another thread.
//!
//! While the next buffer fills, the last one is hashed, searched and written. Data is synced on the way, so that
//! the sync at the end finds little left to do. A file that fits one buffer needs no thread.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::Encoding;
use super::gate::Gate;
use super::staging::Staged;
use crate::manifest::{Digest, Hasher};
use crate::seal::Sealed;

const BUFFER: usize = 1 << 18; // bytes
const WAITING: usize = 4; // buffers on their way
const SYNC_EVERY: u64 = 32 << 20; // bytes
/// zstd's own default: a fifth of the size at the speed of the disk.
const ZSTD_LEVEL: i32 = 3;

/// A file that is being written.
pub(super) struct Partial {
    path: PathBuf,
    buffer: Vec<u8>,
    state: State,
}

enum State {
    /// Nothing has left the buffer.
    Small(Sink),
    /// A thread takes the buffers.
    Large { buffers: SyncSender<Vec<u8>>, sink: JoinHandle<io::Result<Sink>> },
    /// The thread ended early; its error has been told.
    Broken,
}

/// Where the bytes end up.
struct Sink {
    out: Encoded,
    gate: Option<Gate>,
}

/// The file, and what packs the bytes on their way to it.
enum Encoded {
    Plain(Counted),
    Zstd(Box<zstd::stream::write::Encoder<'static, Counted>>),
    Sealed(Box<zstd::stream::write::Encoder<'static, Sealed<Counted>>>),
}

/// A file with the digest of what is in it.
struct Counted {
    file: File,
    hasher: Hasher,
    unsynced: u64,
}

impl Partial {
    pub(super) fn new(
        path: PathBuf,
        file: File,
        encoding: &Encoding,
        gate: Option<Gate>,
    ) -> io::Result<Self> {
        let sink = Sink { out: Encoded::new(file, encoding)?, gate };
        Ok(Self { path, buffer: Vec::new(), state: State::Small(sink) })
    }

    /// The file is whole and waits for its name.
    pub(super) fn finish(mut self) -> io::Result<Staged> {
        let mut sink = match mem::replace(&mut self.state, State::Broken) {
            State::Small(sink) => sink,
            State::Large { buffers, sink } => {
                drop(buffers);
                join(sink)?
            }
            State::Broken => return Err(broken()),
        };
        sink.take(&self.buffer)?;
        let leaks = sink.gate.map(Gate::finish).transpose()?.unwrap_or_default();
        Ok(Staged { path: self.path, digest: sink.out.finish()?, leaks })
    }

    /// Sends the buffer on its way.
    fn send(&mut self) -> io::Result<()> {
        let full = mem::replace(&mut self.buffer, Vec::with_capacity(BUFFER));
        if let State::Small(_) = self.state
            && let State::Small(sink) = mem::replace(&mut self.state, State::Broken)
        {
            let (buffers, received) = sync_channel(WAITING);
            let sink = thread::spawn(move || sink.drain(&received));
            self.state = State::Large { buffers, sink };
        }
        let State::Large { buffers, .. } = &self.state else { return Err(broken()) };
        if buffers.send(full).is_ok() {
            return Ok(());
        }
        match mem::replace(&mut self.state, State::Broken) {
            State::Large { sink, .. } => Err(join(sink).err().unwrap_or_else(broken)),
            State::Small(_) | State::Broken => Err(broken()),
        }
    }
}

impl Write for Partial {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() == BUFFER {
            self.send()?;
        }
        let taken = bytes.len().min(BUFFER - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    fn drain(mut self, buffers: &Receiver<Vec<u8>>) -> io::Result<Self> {
        while let Ok(buffer) = buffers.recv() {
            self.take(&buffer)?;
        }
        Ok(self)
    }

    fn take(&mut self, buffer: &[u8]) -> io::Result<()> {
        if let Some(gate) = &mut self.gate {
            gate.push(buffer)?;
        }
        self.out.write_all(buffer)
    }
}

impl Encoded {
    fn new(file: File, encoding: &Encoding) -> io::Result<Self> {
        let counted = Counted { file, hasher: Hasher::default(), unsynced: 0 };
        Ok(match encoding {
            Encoding::Plain => Encoded::Plain(counted),
            Encoding::Zstd => Encoded::Zstd(Box::new(packed(counted)?)),
            Encoding::Sealed(recipients) => {
                Encoded::Sealed(Box::new(packed(recipients.seal(counted)?)?))
            }
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoded::Plain(counted) => counted.write_all(bytes),
            Encoded::Zstd(encoder) => encoder.write_all(bytes),
            Encoded::Sealed(encoder) => encoder.write_all(bytes),
        }
    }

    /// The digest of the file as it lies there.
    fn finish(self) -> io::Result<Digest> {
        let counted = match self {
            Encoded::Plain(counted) => counted,
            Encoded::Zstd(encoder) => encoder.finish()?,
            Encoded::Sealed(encoder) => encoder.finish()?.finish()?,
        };
        Ok(counted.hasher.finish())
    }
}

fn packed<W: Write>(out: W) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    let mut encoder = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.unsynced += bytes.len() as u64;
        if self.unsynced >= SYNC_EVERY {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn join(sink: JoinHandle<io::Result<Sink>>) -> io::Result<Sink> {
    sink.join().unwrap_or_else(|_| Err(broken()))
}

fn broken() -> io::Error {
    io::Error::other("writing ended early")
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;

    use super::{BUFFER, Encoding, Partial};

    #[test]
    fn small_and_large_files_hold_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        for pieces in [0, 1, 3, 2000] {
            let path = folder.path().join(pieces.to_string());
            let file = File::create(&path).unwrap();
            let mut partial = Partial::new(path.clone(), file, &Encoding::Plain, None).unwrap();
            let piece = vec![b'x'; BUFFER / 100];
            for _ in 0..pieces {
                partial.write_all(&piece).unwrap();
            }
            let staged = partial.finish().unwrap();
            assert_eq!(staged.digest.bytes, (pieces * piece.len()) as u64);
            assert_eq!(staged.digest, crate::manifest::digest(&path).unwrap());
            assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == b'x'));
        }
    }

    #[test]
    fn a_packed_file_unpacks_to_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packed");
        let file = File::create(&path).unwrap();
        let mut partial = Partial::new(path.clone(), file, &Encoding::Zstd, None).unwrap();
        let text = "a line that comes again\n".repeat(BUFFER / 8);
        partial.write_all(text.as_bytes()).unwrap();
        let staged = partial.finish().unwrap();
        assert_eq!(staged.digest, crate::manifest::digest(&path).unwrap());
        assert!(staged.digest.bytes < text.len() as u64 / 100);
        assert_eq!(zstd::decode_all(File::open(&path).unwrap()).unwrap(), text.as_bytes());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_with_its_own_error() {
        let path = std::path::PathBuf::from("/dev/full");
        let file = File::options().write(true).open(&path).unwrap();
        let mut partial = Partial::new(path.clone(), file, &Encoding::Plain, None).unwrap();
        let piece = vec![b'x'; BUFFER];
        let error = (0..100)
            .find_map(|_| partial.write_all(&piece).err())
            .or_else(|| partial.finish().err())
            .unwrap();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    }
}
