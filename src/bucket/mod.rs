//! Places in object stores: `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`.
//!
//! What reaches them is `client`, the only place that names `object_store`; a build without the feature
//! of that name knows their addresses alone. Objects are whole or not there, so nothing is staged.

#[cfg(feature = "object-store")]
mod client;
#[cfg(feature = "object-store")]
mod said;

use std::fmt;
use std::io;
use std::path::PathBuf;

#[cfg(feature = "object-store")]
pub use client::{Bucket, Condition, Object, Version};

/// Whose object store it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Amazon's, and the many that speak like it.
    S3,
    /// Google's.
    Google,
    /// Microsoft's.
    Azure,
}

const KINDS: [(&str, Kind); 3] = [("s3", Kind::S3), ("gs", Kind::Google), ("az", Kind::Azure)];

/// A place in an object store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Whose it is.
    pub kind: Kind,
    /// The bucket; Azure calls it a container.
    pub bucket: String,
    /// What the names of all objects there begin with, without slashes at its ends.
    pub prefix: String,
}

impl Address {
    /// Reads an address; `None` for what names a file or folder.
    pub fn parse(text: &str) -> Option<Result<Self, Error>> {
        let (scheme, rest) = text.split_once("://")?;
        let (_, kind) = *KINDS.iter().find(|(name, _)| *name == scheme)?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_end_matches('/');
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_part = |part: &str| {
            !matches!(part, "" | "." | "..")
                && !part.contains(|c: char| c.is_control() || c == '\\')
        };
        if bucket.is_empty() || !bucket.chars().all(is_letter) {
            return Some(Err(Error::BadBucket(scheme.to_owned())));
        }
        if !prefix.is_empty() && !prefix.split('/').all(is_part) {
            return Some(Err(Error::BadPrefix(prefix.to_owned())));
        }
        Some(Ok(Self { kind, bucket: bucket.to_owned(), prefix: prefix.to_owned() }))
    }

    /// What people write for an object there.
    pub fn of(&self, name: &str) -> String {
        format!("{self}/{name}")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = KINDS.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(name, _)| name);
        write!(f, "{scheme}://{}", self.bucket)?;
        if self.prefix.is_empty() { Ok(()) } else { write!(f, "/{}", self.prefix) }
    }
}

/// Why something does not work with an object store. What a server says is shortened, and addresses of
/// requests, which may hold signatures, are left out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text after the scheme may be a secret, so it is not repeated.
    #[error("that is no bucket: {0}://NAME/PREFIX is, with letters, digits, - _ and . in the name")]
    BadBucket(String),
    /// A key that begins so could not be a file's path.
    #[error("`{0}` is no prefix: it has a part that is empty, . or .., or a character no name has")]
    BadPrefix(String),
    /// What the environment says makes no sense to the client.
    #[error("the settings for {place} cannot be used: {why}")]
    Settings {
        /// The place.
        place: String,
        /// What the client says.
        why: String,
    },
    /// There are no credentials, and no service nearby that hands some out.
    #[error("there are no credentials for {0}")]
    NoCredentials(String),
    /// 401, or 403.
    #[error("{place} refuses us: {said}")]
    Refused {
        /// The place.
        place: String,
        /// What the server says.
        said: String,
    },
    /// 404, for the whole place.
    #[error("there is no bucket for {place}: {said}")]
    NoBucket {
        /// The place.
        place: String,
        /// What the server says.
        said: String,
    },
    /// An object that was there is not.
    #[error("{0} is not there any more")]
    Gone(String),
    /// Somebody else wrote there in between.
    #[error("{0} was changed by another run meanwhile")]
    Overtaken(String),
    /// Anything else that a server says, or that keeps us from hearing it.
    #[error("{place} cannot be reached as it should: {said}")]
    Failed {
        /// The place, or the object.
        place: String,
        /// What the server says, or the system.
        said: String,
    },
    /// A file of ours cannot be read or written.
    #[error("cannot use {}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The user asked for an end.
    #[error("interrupted")]
    Cancelled,
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::BadBucket(_) => {
                Some("credentials come from the environment, as AWS_SECRET_ACCESS_KEY")
            }
            Error::NoCredentials(_) => Some(
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, or \
                 AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
            ),
            Error::Refused { .. } => Some(
                "the key needs to list, read, write and delete there; is it the right one, and the region?",
            ),
            Error::NoBucket { .. } => {
                Some("make the bucket first; is its name right, and the region?")
            }
            Error::Overtaken(_) => Some("what that run wrote counts; run this again"),
            Error::Failed { .. } => Some("nothing was lost; run it again"),
            _ => None,
        }
    }

    /// Whether what was asked for makes no sense, rather than did not work.
    pub fn is_misuse(&self) -> bool {
        matches!(self, Error::BadBucket(_) | Error::BadPrefix(_))
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Error, Kind};

    fn parse(text: &str) -> Address {
        Address::parse(text).unwrap().unwrap()
    }

    #[test]
    fn an_address_is_a_bucket_and_perhaps_a_prefix() {
        let address = parse("s3://my-bucket.x/hermes/laptop/");
        assert_eq!((address.kind, address.bucket.as_str()), (Kind::S3, "my-bucket.x"));
        assert_eq!(address.prefix, "hermes/laptop");
        assert_eq!(address.to_string(), "s3://my-bucket.x/hermes/laptop");
        assert_eq!(parse("gs://b").of("x"), "gs://b/x");
        assert_eq!(parse("az://c/p").kind, Kind::Azure);
    }

    #[test]
    fn folders_are_no_addresses() {
        for text in ["/mnt/s3", "s3:/b", "s3", "./s3://b", "file:///b", "S3://b", "https://x/y"] {
            assert!(Address::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn what_may_be_a_secret_is_not_repeated() {
        let error = Address::parse("s3://KEY:hunter2@bucket/x").unwrap().unwrap_err();
        assert!(matches!(error, Error::BadBucket(_)) && !error.to_string().contains("hunter2"));
    }

    #[test]
    fn a_prefix_has_parts_that_are_names() {
        for text in
            ["s3://b//x", "s3://b/x//y", "s3://b/../x", "s3://b/./x", "s3://b/x\n", "s3:///x"]
        {
            assert!(Address::parse(text).unwrap().is_err(), "{text}");
        }
    }
}
