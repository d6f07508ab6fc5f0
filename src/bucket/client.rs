//! Objects under one prefix: the only place that names `object_store` and `tokio`.
//!
//! The crate tries again what may pass, within the limits set here. All calls wait for their end, or for
//! the user's: a thread of its own is not needed, since the network is all that is waited for.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::future::Future;
use std::io::{self, Read, Write as _};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::ClientConfigKey;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, RetryConfig,
    UpdateVersion, WriteMultipart,
};
use tokio::runtime::{Builder, Runtime};

use super::said;
use super::{Address, Error, Kind};
use crate::progress::Progress;

/// How many requests are under way at once.
const AT_ONCE: usize = 8;
/// What is larger goes in parts of so many bytes, the least that S3 takes.
const PART: usize = 5 << 20;
/// How soon Ctrl-C is heard.
const TICK: Duration = Duration::from_millis(50);
/// How long a server may say nothing; a part must be through a slow line in that time.
const SILENCE: &str = "2 minutes";
/// How long one request may take in all.
const LONGEST: &str = "1 hour";

/// Objects under one prefix.
pub struct Bucket<'p> {
    store: Arc<dyn ObjectStore>,
    runtime: Runtime,
    address: Address,
    progress: &'p dyn Progress,
}

/// An object of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its size.
    pub bytes: u64,
    /// Another one when it was written again, if the server tells.
    pub tag: Option<String>,
}

/// Which writing of an object it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(UpdateVersion);

/// How an object was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// The server made sure that nobody had written it in between.
    Checked,
    /// The server cannot; it was looked at just before.
    Unchecked,
}

impl<'p> Bucket<'p> {
    /// Prepares a connection, with settings as variables of the environment have them.
    pub fn open(
        address: &Address,
        settings: &[(String, String)],
        progress: &'p dyn Progress,
    ) -> Result<Self, Error> {
        let unusable = |why: String| Error::Settings { place: address.to_string(), why };
        let store = connect(address, settings).map_err(|cause| unusable(cause.to_string()))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unusable(error.to_string()))?;
        Ok(Self { store, runtime, address: address.clone(), progress })
    }

    /// Where it is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// All objects, by their names below the prefix.
    pub fn list(&self) -> Result<BTreeMap<String, Object>, Error> {
        let prefix = (!self.address.prefix.is_empty()).then(|| Path::from(&*self.address.prefix));
        let listed = self.wait("", self.store.list(prefix.as_ref()).try_collect::<Vec<_>>());
        let listed = listed.map_err(|error| match error {
            Error::Gone(place) => Error::NoBucket { place, said: "it answered 404".to_owned() },
            error => error,
        })?;
        let skipped =
            if self.address.prefix.is_empty() { 0 } else { self.address.prefix.len() + 1 };
        let named = listed.into_iter().filter_map(|meta| {
            let name = meta.location.as_ref().get(skipped..)?.to_owned();
            Some((name, Object { bytes: meta.size, tag: meta.e_tag.or(meta.version) }))
        });
        Ok(named.collect())
    }

    /// An object and which writing of it that is; `None` where there is none.
    pub fn get(&self, name: &str) -> Result<Option<(Vec<u8>, Version)>, Error> {
        let path = self.path(name)?;
        let got = self.wait(name, async {
            let got = self.store.get(&path).await?;
            let version =
                UpdateVersion { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
            Ok((got.bytes().await?.to_vec(), Version(version)))
        });
        match got {
            Ok(got) => Ok(Some(got)),
            Err(Error::Gone(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes an object, whatever was there.
    pub fn put(&self, name: &str, content: Vec<u8>) -> Result<(), Error> {
        let path = self.path(name)?;
        self.wait(name, self.store.put(&path, content.into())).map(drop)
    }

    /// Writes an object if what is there is what was read, or nothing where nothing was.
    pub fn replace(
        &self,
        name: &str,
        content: &[u8],
        before: Option<&Version>,
    ) -> Result<(Version, Condition), Error> {
        let path = self.path(name)?;
        let mode = before.map_or(PutMode::Create, |version| PutMode::Update(version.0.clone()));
        let payload = PutPayload::from(content.to_vec());
        let put = self.hear(self.store.put_opts(&path, payload.clone(), PutOptions::from(mode)))?;
        let (put, condition) = match put {
            Err(cause) if said::is_unconditional(&cause) => {
                self.look_at(name, before)?;
                (self.wait(name, self.store.put(&path, payload))?, Condition::Unchecked)
            }
            // An answer may have been lost, and the second try have met what the first one wrote.
            Err(cause) => match said::error(self.address.of(name), &cause) {
                Error::Overtaken(_) => match self.get(name)? {
                    Some((there, version)) if there == content => {
                        return Ok((version, Condition::Checked));
                    }
                    _ => return Err(Error::Overtaken(self.address.to_string())),
                },
                error => return Err(error),
            },
            Ok(put) => (put, Condition::Checked),
        };
        Ok((Version(UpdateVersion { e_tag: put.e_tag, version: put.version }), condition))
    }

    /// Where a server knows no conditions, we look ourselves, which leaves a moment for another run.
    fn look_at(&self, name: &str, before: Option<&Version>) -> Result<(), Error> {
        let now = self.get(name)?.map(|(_, version)| version);
        if now.as_ref() == before {
            Ok(())
        } else {
            Err(Error::Overtaken(self.address.to_string()))
        }
    }

    /// Writes files as objects of these names, in parts where they are large; tells each that is through.
    pub fn send(&self, files: &[(String, PathBuf)]) -> Result<(), Error> {
        let sent = stream::iter(files).map(|(name, file)| async move {
            let sent = send(&*self.store, &self.path(name)?, file).await;
            self.progress.step();
            sent.map_err(|failure| self.failed(name, failure))
        });
        self.until_cancelled(sent.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>()).map(drop)
    }

    /// Reads objects into files; those that are not there are left out.
    pub fn fetch(&self, files: &[(String, PathBuf)]) -> Result<(), Error> {
        let got = stream::iter(files).map(|(name, file)| async move {
            match fetch(&*self.store, &self.path(name)?, file).await {
                Err(Failure::Server(object_store::Error::NotFound { .. })) | Ok(()) => Ok(()),
                Err(failure) => Err(self.failed(name, failure)),
            }
        });
        self.until_cancelled(got.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>()).map(drop)
    }

    /// Removes objects; how many could not be, because they must stay or we may not.
    pub fn remove(&self, names: &[String]) -> Result<u64, Error> {
        let paths: Vec<_> = names.iter().map(|name| self.path(name)).collect::<Result<_, _>>()?;
        let paths = stream::iter(paths.into_iter().map(Ok)).boxed();
        let refused = self.store.delete_stream(paths).filter(|done| {
            let stays = !matches!(done, Ok(_) | Err(object_store::Error::NotFound { .. }));
            std::future::ready(stays)
        });
        self.until_cancelled(async { Ok(refused.count().await as u64) })
    }

    fn path(&self, name: &str) -> Result<Path, Error> {
        let Address { prefix, .. } = &self.address;
        let key = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        Path::parse(&key).map_err(|_| Error::BadPrefix(key))
    }

    fn failed(&self, name: &str, failure: Failure) -> Error {
        match failure {
            Failure::Server(cause) => said::error(self.address.of(name), &cause),
            Failure::Disk(path, source) => Error::Io { path, source },
        }
    }

    /// Waits for a request about an object, or about all of them.
    fn wait<T>(
        &self,
        name: &str,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, Error> {
        let place = if name.is_empty() { self.address.to_string() } else { self.address.of(name) };
        self.hear(work)?.map_err(|cause| said::error(place, &cause))
    }

    fn hear<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        self.until_cancelled(async { Ok(work.await) })
    }

    fn until_cancelled<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.runtime.block_on(async {
            let ended = async {
                while !self.progress.is_cancelled() {
                    tokio::time::sleep(TICK).await;
                }
            };
            tokio::select! {
                done = work => done,
                () = ended => Err(Error::Cancelled),
            }
        })
    }
}

/// What can go wrong with one object.
enum Failure {
    Server(object_store::Error),
    Disk(PathBuf, io::Error),
}

impl From<object_store::Error> for Failure {
    fn from(cause: object_store::Error) -> Self {
        Failure::Server(cause)
    }
}

async fn send(store: &dyn ObjectStore, path: &Path, file: &FilePath) -> Result<(), Failure> {
    let disk = |source| Failure::Disk(file.to_owned(), source);
    if fs::metadata(file).map_err(disk)?.len() <= PART as u64 {
        store.put(path, fs::read(file).map_err(disk)?.into()).await?;
        return Ok(());
    }
    let input = File::open(file).map_err(disk)?;
    let mut upload = WriteMultipart::new_with_chunk_size(store.put_multipart(path).await?, PART);
    loop {
        let mut part = Vec::with_capacity(PART);
        let read = Read::take(&input, PART as u64).read_to_end(&mut part);
        match read {
            Ok(0) => break,
            Ok(_) => upload.put(Bytes::from(part)),
            Err(error) => {
                let _ = upload.abort().await; // the file's trouble is what is told
                return Err(disk(error));
            }
        }
        upload.wait_for_capacity(1).await?;
    }
    upload.finish().await?;
    Ok(())
}

async fn fetch(store: &dyn ObjectStore, path: &Path, file: &FilePath) -> Result<(), Failure> {
    let disk = |source| Failure::Disk(file.to_owned(), source);
    let mut parts = store.get(path).await?.into_stream();
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(disk)?;
    }
    let mut output = File::create_new(file).map_err(disk)?;
    while let Some(part) = parts.try_next().await? {
        output.write_all(&part).map_err(disk)?;
    }
    Ok(())
}

fn connect(
    address: &Address,
    settings: &[(String, String)],
) -> object_store::Result<Arc<dyn ObjectStore>> {
    let ours = [(ClientConfigKey::Timeout, LONGEST), (ClientConfigKey::ReadTimeout, SILENCE)];
    let settings = |prefix: &'static str| {
        let own = settings.iter().filter(move |(key, _)| key.starts_with(prefix));
        own.map(|(key, value)| (key.to_ascii_lowercase(), value.clone()))
    };
    Ok(match address.kind {
        Kind::S3 => {
            let mut builder = AmazonS3Builder::new();
            for (key, value) in ours {
                builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
            }
            for (key, value) in settings("AWS_") {
                if let Ok(key) = key.parse() {
                    builder = builder.with_config(key, value);
                }
            }
            Arc::new(builder.with_retry(retries()).with_bucket_name(&address.bucket).build()?)
        }
        Kind::Google => {
            let mut builder = GoogleCloudStorageBuilder::new();
            for (key, value) in ours {
                builder = builder.with_config(GoogleConfigKey::Client(key), value);
            }
            for (key, value) in settings("GOOGLE_") {
                if let Ok(key) = key.parse() {
                    builder = builder.with_config(key, value);
                }
            }
            Arc::new(builder.with_retry(retries()).with_bucket_name(&address.bucket).build()?)
        }
        Kind::Azure => {
            let mut builder = MicrosoftAzureBuilder::new();
            for (key, value) in ours {
                builder = builder.with_config(AzureConfigKey::Client(key), value);
            }
            for (key, value) in settings("AZURE_") {
                if let Ok(key) = key.parse() {
                    builder = builder.with_config(key, value);
                }
            }
            Arc::new(builder.with_retry(retries()).with_container_name(&address.bucket).build()?)
        }
    })
}

/// What may pass is tried again for some seconds; a night's run can wait no longer than that for a
/// server, and the next one goes on.
fn retries() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(10),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: 5, retry_timeout: Duration::from_mins(3) }
}
