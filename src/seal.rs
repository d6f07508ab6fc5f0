//! Files for certain eyes alone, as <https://age-encryption.org/v1> has them: who they are sealed to, and
//! what opens them. The only module that names the `age` crate.

use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use age::armor::ArmoredReader;
use age::stream::StreamWriter;
use age::x25519;
use age::{DecryptError, Decryptor, Encryptor, IdentityFile};

use crate::manifest;

/// What a file's name ends with that is sealed.
pub const SUFFIX: &str = ".age";

/// Whom files are sealed to; each of them can open all of them.
pub struct Recipients {
    keys: Vec<x25519::Recipient>,
    digest: String,
}

/// What opens sealed files.
#[derive(Default)]
pub struct Identities(Vec<Box<dyn age::Identity + Send + Sync>>);

/// A sealed file that is being written.
pub type Sealed<W> = StreamWriter<W>;

/// Keys that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing to seal to.
    #[error("there is no recipient in {}", .0.display())]
    NoRecipient(PathBuf),
    /// Nothing that could open a file.
    #[error("there is no identity in {}", .0.display())]
    NoIdentity(PathBuf),
    /// Neither a recipient nor a file with such.
    #[error("`{0}` is neither a recipient (age1…) nor a file of such")]
    NotARecipient(String),
    /// What opens files. It is not repeated.
    #[error("that is a secret key, and its recipient (age1…) is wanted; `age-keygen -y` tells it")]
    Secret,
    /// A line of a file is no recipient. What it says is not repeated: it may be a secret.
    #[error("{}, line {line}, is no recipient (age1…)", path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// A key file cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Recipients {
    /// Those that are named: recipients, or files with one a line; where none is, there is no sealing.
    pub fn named(
        given: &[String],
        expand: impl Fn(&Path) -> PathBuf,
    ) -> Result<Option<Self>, Error> {
        let mut keys = Vec::new();
        for name in given {
            let name = name.trim();
            match name.parse() {
                Ok(key) => keys.push(key),
                Err(_) if is_secret(name) => return Err(Error::Secret),
                Err(_) if name.starts_with("age1") || name.is_empty() => {
                    return Err(Error::NotARecipient(name.to_owned()));
                }
                Err(_) => keys.extend(in_file(&expand(name.as_ref()))?),
            }
        }
        Ok(if keys.is_empty() { None } else { Some(Self::of(keys)) })
    }

    fn of(keys: Vec<x25519::Recipient>) -> Self {
        let mut names: Vec<String> = keys.iter().map(ToString::to_string).collect();
        names.sort();
        names.dedup();
        let mut hasher = manifest::Hasher::default();
        hasher.update(names.join("\n").as_bytes());
        let digest = hasher.finish().sha256[..16].to_owned();
        Self { keys, digest }
    }

    /// The same for the same recipients, and tells nobody who they are.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// These, and one that nobody but this process can open files with; its key dies with it.
    pub fn with_witness(&self) -> (Self, Identities) {
        let witness = x25519::Identity::generate();
        let mut keys = self.keys.clone();
        keys.push(witness.to_public());
        let recipients = Self { keys, digest: self.digest.clone() };
        (recipients, Identities(vec![Box::new(witness)]))
    }

    /// Begins a file; [`Sealed::finish`] ends it.
    pub fn seal<W: Write>(&self, out: W) -> io::Result<Sealed<W>> {
        let keys = self.keys.iter().map(|key| key as &dyn age::Recipient);
        Encryptor::with_recipients(keys).map_err(io::Error::other)?.wrap_output(out)
    }
}

/// Whether this is what opens files, typed for whom they are sealed to.
fn is_secret(name: &str) -> bool {
    const BEGIN: &str = "AGE-SECRET-KEY-";
    name.get(..BEGIN.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(BEGIN))
}

/// One recipient a line, with comments behind `#`.
fn in_file(path: &Path) -> Result<Vec<x25519::Recipient>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::NotARecipient(path.display().to_string()));
        }
        Err(source) => return Err(Error::Io { path: path.to_owned(), source }),
    };
    let lines = text.lines().map(str::trim).zip(1..);
    let keys = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let keys = keys.map(|(text, line)| {
        text.parse().map_err(|_| Error::BadLine { path: path.to_owned(), line })
    });
    let keys: Vec<_> = keys.collect::<Result<_, _>>()?;
    if keys.is_empty() { Err(Error::NoRecipient(path.to_owned())) } else { Ok(keys) }
}

impl Identities {
    /// Those in these files, as `age-keygen` writes them.
    pub fn in_files(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut identities = Vec::new();
        for path in paths {
            let failed = |source| Error::Io { path: path.clone(), source };
            let text = fs::File::open(path).map_err(failed)?;
            let file = IdentityFile::from_buffer(io::BufReader::new(text)).map_err(failed)?;
            let found = file.into_identities().map_err(|error| failed(io::Error::other(error)))?;
            if found.is_empty() {
                return Err(Error::NoIdentity(path.clone()));
            }
            identities.extend(found);
        }
        Ok(Self(identities))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is in a sealed file, binary or armored.
    pub(crate) fn open(&self, file: impl BufRead + 'static) -> io::Result<Box<dyn Read>> {
        if self.is_empty() {
            let what = "it is encrypted; --identity FILE names the key that opens it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        let decryptor = Decryptor::new_buffered(ArmoredReader::new(file)).map_err(told)?;
        let keys = self.0.iter().map(|key| key.as_ref() as &dyn age::Identity);
        Ok(Box::new(decryptor.decrypt(keys).map_err(told)?))
    }
}

/// Whether a file that begins so is sealed.
pub(crate) fn is_sealed(beginning: &[u8]) -> bool {
    beginning.starts_with(b"age-encryption.org/v1")
        || beginning.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----")
}

fn told(error: DecryptError) -> io::Error {
    match error {
        DecryptError::Io(error) => error,
        DecryptError::NoMatchingKeys => {
            let what = "it is encrypted, and not to any of the identities";
            io::Error::new(io::ErrorKind::PermissionDenied, what)
        }
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    }
}

impl std::fmt::Debug for Recipients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} recipients", self.keys.len())
    }
}

/// Keys are nobody's to see.
impl std::fmt::Debug for Identities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} identities", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _, Write as _};

    use age::x25519;

    use super::{Error, Identities, Recipients, is_sealed};

    fn sealed(to: &Recipients, text: &[u8]) -> Vec<u8> {
        let mut out = to.seal(Vec::new()).unwrap();
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    fn opened(by: &Identities, file: Vec<u8>) -> std::io::Result<Vec<u8>> {
        let mut text = Vec::new();
        by.open(Cursor::new(file))?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn each_recipient_and_the_witness_opens_what_is_sealed_and_nobody_else_does() {
        let keys = [x25519::Identity::generate(), x25519::Identity::generate()];
        let names: Vec<String> = keys.iter().map(|key| key.to_public().to_string()).collect();
        let to = Recipients::named(&names, std::path::Path::to_owned).unwrap().unwrap();
        let (to, witness) = to.with_witness();
        let file = sealed(&to, b"what was said");
        assert!(is_sealed(&file));
        assert_eq!(opened(&witness, file.clone()).unwrap(), b"what was said");
        for key in keys {
            let by = Identities(vec![Box::new(key)]);
            assert_eq!(opened(&by, file.clone()).unwrap(), b"what was said");
        }
        let stranger = Identities(vec![Box::new(x25519::Identity::generate())]);
        let error = opened(&stranger, file.clone()).unwrap_err();
        assert!(error.to_string().contains("not to any of the identities"), "{error}");
        let error = opened(&Identities::default(), file).unwrap_err();
        assert!(error.to_string().contains("--identity"), "{error}");
    }

    #[test]
    fn a_file_of_keys_says_which_line_is_none_and_not_what_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let key = x25519::Identity::generate().to_public();
        std::fs::write(&path, format!("# mine\n{key}\nprecious\n")).unwrap();
        let given = [path.display().to_string()];
        let error = Recipients::named(&given, std::path::Path::to_owned).unwrap_err();
        assert!(matches!(error, Error::BadLine { line: 3, .. }), "{error}");
        assert!(!error.to_string().contains("precious"));
        std::fs::write(&path, format!("# mine\n{key}\n")).unwrap();
        let named = Recipients::named(&given, std::path::Path::to_owned).unwrap().unwrap();
        let same = Recipients::named(&[key.to_string()], std::path::Path::to_owned).unwrap();
        assert_eq!(named.digest(), same.unwrap().digest());
    }
}
