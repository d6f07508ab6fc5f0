//! Copies of the whole store, each checked, and how long they are kept.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::lock::OWN;
use super::{Error, Request, failed};
#[cfg(feature = "object-store")]
use crate::bucket::Bucket;
use crate::export::{Scratch, sync_folder};
use crate::manifest;
use crate::seal::{self, Recipients};
use crate::store;

const FOLDER: &str = "snapshots";
const STAMP: &str = "%Y%m%dT%H%M%SZ";
/// What the name of a copy's SHA-256 ends with.
const SUM: &str = ".sha256";

/// How many copies are kept. The newest always is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Of so many days the day's last.
    pub daily: usize,
    /// Of so many weeks (ISO 8601) the week's last.
    pub weekly: usize,
    /// Of so many months the month's last.
    pub monthly: usize,
}

impl Retention {
    /// Without any rule all copies are kept.
    fn keeps_all(self) -> bool {
        self == Self::default()
    }

    /// Which of these times, newest first, have their copies kept.
    fn kept(self, times: &[DateTime]) -> HashSet<DateTime> {
        let mut kept: HashSet<DateTime> = times.first().copied().into_iter().collect();
        if self.keeps_all() {
            kept.extend(times);
        }
        let day = |time: &DateTime| time.date().to_string();
        let week = |time: &DateTime| {
            let week = time.date().iso_week_date();
            format!("{}-{}", week.year(), week.week())
        };
        let month = |time: &DateTime| format!("{}-{}", time.year(), time.month());
        kept.extend(last_of(times, self.daily, day));
        kept.extend(last_of(times, self.weekly, week));
        kept.extend(last_of(times, self.monthly, month));
        kept
    }
}

/// The first of each period, for so many periods.
fn last_of(
    times: &[DateTime],
    count: usize,
    period: impl Fn(&DateTime) -> String,
) -> Vec<DateTime> {
    let mut seen = HashSet::new();
    times.iter().filter(|time| seen.insert(period(time))).take(count).copied().collect()
}

/// Adds a copy to a folder, with its SHA-256 beside it, and removes those that are not to be kept.
pub(super) fn add(
    request: &Request,
    backup: &Path,
    retention: &Retention,
) -> Result<(PathBuf, Vec<PathBuf>), Error> {
    let folder = backup.join(FOLDER);
    fs::create_dir_all(&folder).map_err(failed("make", &folder))?;
    let staging = tempfile::tempdir_in(backup.join(OWN)).map_err(failed("use", &folder))?;
    let Copied { name, path, sum } = make(request, staging.path())?;
    let (target, beside) = (folder.join(&name), folder.join(format!("{name}{SUM}")));
    publish(&path, &target).map_err(failed("write", &target))?;
    fs::write(&beside, sum).and_then(|()| keep(&beside)).map_err(failed("write", &beside))?;
    sync_folder(&folder).map_err(failed("write", &folder))?;
    Ok((target, remove(&folder, *retention)?))
}

/// Adds a copy to a bucket, in the same way.
#[cfg(feature = "object-store")]
pub(super) fn send(
    request: &Request,
    bucket: &Bucket<'_>,
    retention: &Retention,
) -> Result<(PathBuf, Vec<PathBuf>), Error> {
    let outbox = Scratch::new()?;
    let Copied { name, path, sum } = make(request, outbox.path())?;
    let name = format!("{FOLDER}/{name}");
    bucket.send(&[(name.clone(), path)])?;
    bucket.put(&format!("{name}{SUM}"), sum.into_bytes())?;
    let there = bucket.list()?.into_keys();
    let copies = there.filter(|name| name.starts_with(FOLDER)).map(PathBuf::from).collect();
    let place = |path: &PathBuf| bucket.address().of(&path.to_string_lossy());
    let removed = outdated(copies, *retention);
    let names = removed.iter().flat_map(|path| {
        let name = path.to_string_lossy().into_owned();
        [format!("{name}{SUM}"), name]
    });
    let stay = bucket.remove(&names.collect::<Vec<_>>())?;
    let removed = if stay == 0 { removed } else { Vec::new() };
    Ok((bucket.address().of(&name).into(), removed.iter().map(|path| place(path).into()).collect()))
}

/// A copy that waits for its place.
struct Copied {
    name: String,
    path: PathBuf,
    /// What `sha256sum` prints of it.
    sum: String,
}

/// Makes a copy in a folder for files that are not whole yet.
fn make(request: &Request, staging: &Path) -> Result<Copied, Error> {
    check_room(&request.store, staging)?;
    #[expect(clippy::cast_possible_truncation, reason = "no clock shows more seconds than an i64")]
    let now = Timestamp::from_second(request.now as i64).unwrap_or_default();
    let name = format!("state-{}.db", now.strftime(STAMP));
    let (name, path) = match request.recipients.as_deref() {
        None => (name.clone(), copied(request, staging.join(&name))?),
        Some(recipients) => {
            // The folder may be anybody's to read, so the store must not lie there open even for a while.
            let scratch = Scratch::new()?;
            let copy = copied(request, scratch.path().join(&name))?;
            let name = format!("{name}{}", seal::SUFFIX);
            let sealed = staging.join(&name);
            seal(&copy, &sealed, recipients).map_err(failed("write", &sealed))?;
            (name, sealed)
        }
    };
    let sum = format!("{}  {name}\n", manifest::digest(&path)?.sha256);
    Ok(Copied { name, path, sum })
}

/// Copies the store into a new file.
fn copied(request: &Request, copy: PathBuf) -> Result<PathBuf, Error> {
    store::read(&request.store, |snapshot| {
        let _ = fs::remove_file(&copy); // of a reading that did not count
        snapshot.copy_to(&copy)
    })?;
    Ok(copy)
}

fn seal(copy: &Path, sealed: &Path, recipients: &Recipients) -> io::Result<()> {
    let mut out = recipients.seal(File::create_new(sealed)?)?;
    io::copy(&mut File::open(copy)?, &mut out)?;
    out.finish().map(drop)
}

fn publish(copy: &Path, target: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(copy, fs::Permissions::from_mode(0o600))?;
    }
    keep(copy)?;
    fs::rename(copy, target)
}

/// Waits until a file is on the disk.
fn keep(file: &Path) -> io::Result<()> {
    File::open(file)?.sync_all()
}

/// The copy is as large as the store; SQLite's check needs no room.
fn check_room(store: &Path, folder: &Path) -> Result<(), Error> {
    let needed = fs::metadata(store).map_err(failed("read", store))?.len();
    let free = fs4::available_space(folder).map_err(failed("read", folder))?;
    if free > needed {
        return Ok(());
    }
    Err(Error::NoRoom { folder: folder.to_owned(), needed, free })
}

fn remove(folder: &Path, retention: Retention) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for file in fs::read_dir(folder).map_err(failed("read", folder))? {
        files.push(file.map_err(failed("read", folder))?.path());
    }
    let removed = outdated(files, retention);
    for path in &removed {
        let mut sum = path.clone().into_os_string();
        sum.push(SUM);
        let _ = fs::remove_file(PathBuf::from(sum)); // it may never have been written
        fs::remove_file(path).map_err(failed("remove", path))?;
    }
    Ok(removed)
}

/// The copies among these files that are not to be kept, newest first.
fn outdated(files: Vec<PathBuf>, retention: Retention) -> Vec<PathBuf> {
    let with_time = |path: PathBuf| Some((time_of(&path)?, path));
    let mut copies: Vec<(DateTime, PathBuf)> = files.into_iter().filter_map(with_time).collect();
    copies.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let times: Vec<DateTime> = copies.iter().map(|(time, _)| *time).collect();
    let kept = retention.kept(&times);
    copies.retain(|(time, _)| !kept.contains(time));
    copies.into_iter().map(|(_, path)| path).collect()
}

/// When a copy was made, by its name; `None` for files that are not ours.
fn time_of(path: &Path) -> Option<DateTime> {
    let stamp = path.file_name()?.to_str()?.strip_prefix("state-")?;
    let stamp = stamp.strip_suffix(seal::SUFFIX).unwrap_or(stamp).strip_suffix(".db")?;
    DateTime::strptime(STAMP, stamp).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jiff::civil::DateTime;

    use super::{Retention, time_of};

    #[test]
    fn the_last_copy_of_each_period_is_kept_and_the_newest_always() {
        let all: Vec<DateTime> = [
            "2026-03-03T12:00",
            "2026-03-03T01:00",
            "2026-03-02T01:00",
            "2026-02-27T01:00",
            "2026-02-20T01:00",
            "2026-01-31T01:00",
        ]
        .map(|text| text.parse().unwrap())
        .to_vec();
        let kept = |retention: Retention| {
            let kept = retention.kept(&all);
            (0..all.len()).filter(|n| kept.contains(&all[*n])).collect::<Vec<_>>()
        };
        let none = Retention::default();
        assert_eq!(kept(none), [0, 1, 2, 3, 4, 5]);
        assert_eq!(kept(Retention { daily: 2, ..none }), [0, 2]);
        assert_eq!(kept(Retention { weekly: 2, ..none }), [0, 3]);
        assert_eq!(kept(Retention { monthly: 3, ..none }), [0, 3, 5]);
        assert_eq!(kept(Retention { daily: 1, weekly: 3, monthly: 0 }), [0, 3, 4]);
    }

    #[test]
    fn only_our_own_names_are_copies() {
        assert!(time_of(Path::new("/b/state-20260303T120000Z.db")).is_some());
        assert!(time_of(Path::new("/b/state-20260303T120000Z.db.age")).is_some());
        for other in ["state.db", "state-old.db", "state-20260303T120000Z.db.sha256"] {
            assert!(time_of(Path::new(other)).is_none(), "{other}");
        }
    }
}
