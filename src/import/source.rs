//! Files as pieces of text, each of which holds sessions: a line of JSONL, a JSON document, a
//! transcript. What it holds is seen in the first line.

use std::fs::{self, File};
use std::io::{self, BufRead, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::fields::Fields;
use super::{Error, Place, Problem, Unfit, transcript};
use crate::manifest;
use crate::seal::Identities;
use crate::unpack;

/// A longer line is more than memory should be asked for.
const LONGEST_LINE: u64 = 1 << 30;

/// Where sessions come from.
pub(super) struct Source {
    /// What the user called it.
    pub(super) path: PathBuf,
    file: File,
    identities: Arc<Identities>,
}

/// What a first reading tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Survey {
    /// So many lines.
    Lines(u64),
    /// The file ends in the midst of something.
    CutOff,
}

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Sessions as JSON.
    Json,
    /// The messages of one session, a line each.
    Transcript,
}

/// A piece of text that holds sessions.
pub(super) struct Piece {
    pub(super) place: Place,
    pub(super) shape: Shape,
    pub(super) text: String,
}

/// The files that are meant: a folder stands for the sessions in it.
pub(super) fn expand(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        let unreadable = |source| Error::Folder { path: input.clone(), source };
        let entries = fs::read_dir(input).map_err(unreadable)?;
        let entries = entries.map(|entry| entry.map(|entry| entry.path()));
        let mut own: Vec<PathBuf> = entries.collect::<Result<_, _>>().map_err(unreadable)?;
        own.retain(|path| is_session_file(path));
        own.sort();
        files.extend(own);
    }
    Ok(files)
}

fn is_session_file(path: &Path) -> bool {
    let is_hidden = path.file_name().is_none_or(|name| {
        let name = name.as_encoded_bytes();
        name.starts_with(b".") || name.starts_with(b"_")
    });
    !is_hidden && matches!(suffix(path), Some("json" | "jsonl")) && path.is_file()
}

/// A file's suffix, before the one that says how it is compressed.
fn suffix(path: &Path) -> Option<&str> {
    let last = path.extension()?.to_str()?;
    match last {
        "gz" | "zst" | "age" => suffix(Path::new(path.file_stem()?)),
        _ => Some(last),
    }
}

/// Whether a file speaks of sessions without holding any: a manifest, the WebUI's index.
pub(super) fn is_index(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == manifest::NAME || name == "_index.json")
}

/// The name of a file without its suffixes; what some formats take for the session's id.
pub(super) fn stem(path: &Path) -> String {
    let mut name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for suffix in [".age", ".gz", ".zst", ".json", ".jsonl"] {
        if let Some(shorter) = name.strip_suffix(suffix) {
            name = shorter.to_owned();
        }
    }
    name.strip_prefix("session_").map_or(name.clone(), str::to_owned)
}

impl Source {
    /// Opens a file; `-` is standard input. What can be read but once is kept in a private file.
    pub(super) fn open(path: &Path, identities: &Arc<Identities>) -> io::Result<Self> {
        let mut file = if path == Path::new("-") {
            spooled(&mut io::stdin().lock())?
        } else {
            File::open(path)?
        };
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !meta.is_file() {
            file = spooled(&mut file)?;
        }
        Ok(Self { path: path.to_owned(), file, identities: identities.clone() })
    }

    /// Reads everything once, so that a file whose checksums are wrong is known before anything of
    /// it is taken.
    pub(super) fn survey(&mut self) -> io::Result<Survey> {
        let mut reader = self.reader()?;
        let mut lines = 0;
        loop {
            match reader.fill_buf() {
                Ok([]) => return Ok(Survey::Lines(lines)),
                Ok(bytes) => {
                    lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
                    let len = bytes.len();
                    reader.consume(len);
                }
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(Survey::CutOff);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The file's SHA-256.
    pub(super) fn digest(&mut self) -> io::Result<String> {
        let mut hasher = manifest::Hasher::default();
        self.file.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.file, &mut hasher)?;
        Ok(hasher.finish().sha256)
    }

    /// Its pieces, from the first.
    pub(super) fn pieces(&mut self) -> io::Result<Pieces> {
        Ok(Pieces { path: self.path.clone(), reader: self.reader()?, line: 0, is_first: true })
    }

    fn reader(&mut self) -> io::Result<Box<dyn BufRead>> {
        self.file.seek(SeekFrom::Start(0))?;
        unpack::reader(self.file.try_clone()?, &self.identities)
    }
}

fn spooled(from: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(from, &mut file)?;
    Ok(file)
}

/// The pieces of one file.
pub(super) struct Pieces {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    line: u64,
    is_first: bool,
}

impl Iterator for Pieces {
    type Item = Result<Piece, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.line() {
                Ok(None) => return None,
                Ok(Some(text)) if text.trim().is_empty() => {}
                Ok(Some(text)) => {
                    let piece = self.piece(text);
                    return Some(piece.map_err(|what| self.problem(what)));
                }
                Err(what) => return Some(Err(self.problem(what))),
            }
        }
    }
}

impl Pieces {
    fn place(&self) -> Place {
        Place { file: self.path.clone(), line: Some(self.line) }
    }

    fn problem(&self, what: Unfit) -> Problem {
        Problem { place: self.place(), session: None, what }
    }

    /// The next line, if there is one. After an error of reading there is none.
    fn line(&mut self) -> Result<Option<String>, Unfit> {
        let mut bytes = Vec::new();
        self.line += 1;
        let read = (&mut self.reader).take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes);
        if let Err(error) = read {
            self.reader = Box::new(io::empty());
            return Err(Unfit::Read(error));
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.len() as u64 > LONGEST_LINE {
            self.reader.skip_until(b'\n').map_err(Unfit::Read)?;
            return Err(Unfit::TooLong);
        }
        let mut text = String::from_utf8(bytes).map_err(|_| Unfit::NotText)?;
        if self.line == 1 && text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        Ok(Some(text))
    }

    /// What begins with this line; the first one tells whether it is the whole file.
    fn piece(&mut self, line: String) -> Result<Piece, Unfit> {
        let place = self.place();
        if std::mem::take(&mut self.is_first) {
            if self.is_document(&line) {
                let text = compact(&self.rest(line)?);
                return Ok(Piece { place, shape: Shape::Json, text });
            }
            let fields = serde_json::from_str::<Fields<'_>>(line.trim());
            if fields.is_ok_and(|fields| transcript::is_message(&fields)) {
                let place = Place { line: None, ..place };
                let text = self.rest(line)?;
                return Ok(Piece { place, shape: Shape::Transcript, text });
            }
        }
        Ok(Piece { place, shape: Shape::Json, text: line })
    }

    /// Whether the first line begins a document that goes on for more than it.
    fn is_document(&self, line: &str) -> bool {
        let is_json = || serde_json::from_str::<IgnoredAny>(line);
        matches!(line.trim(), "{" | "[")
            || suffix(&self.path) == Some("json") && is_json().is_err_and(|error| error.is_eof())
    }

    /// The first line and all that follow.
    fn rest(&mut self, mut text: String) -> Result<String, Unfit> {
        let mut reader = (&mut self.reader).take(LONGEST_LINE);
        let read = reader.read_to_string(&mut text);
        let is_whole = reader.limit() > 0;
        match read {
            Ok(_) if is_whole => Ok(text),
            Ok(_) => Err(Unfit::TooLong),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Unfit::NotText),
            Err(error) => Err(Unfit::Read(error)),
        }
    }
}

/// A JSON document without the blanks between its tokens.
fn compact(text: &str) -> String {
    let (mut out, mut in_string, mut is_escaped) =
        (String::with_capacity(text.len()), false, false);
    for c in text.chars() {
        if in_string {
            in_string = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
        } else if matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            in_string = c == '"';
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{compact, stem};

    #[test]
    fn blanks_go_between_tokens_alone() {
        let pretty = "{\n  \"a b\": [1,\t2],\n  \"c\\\" \\\\\": \" \"\n}\n";
        assert_eq!(compact(pretty), r#"{"a b":[1,2],"c\" \\":" "}"#);
    }

    #[test]
    fn a_file_is_named_after_its_session() {
        for name in ["x/20250305_0915.jsonl.gz", "20250305_0915.json", "session_20250305_0915.json"]
        {
            assert_eq!(stem(Path::new(name)), "20250305_0915");
        }
    }
}
