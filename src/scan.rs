//! Which secrets are in how many sessions, so that a person knows what to rotate.
//!
//! A secret is known by a keyed hash whose key ends with the process; nothing here holds one.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use formats::model::{MessageColumn, SessionColumn};

use crate::filter::Selection;
use crate::progress::Progress;
use crate::redact::{Finding, Redactor, Scope};
use crate::store::{self, SessionKey, Shown, Snapshot};

/// What a scan found.
#[derive(Debug, Default)]
pub struct Report {
    /// Sessions that were searched.
    pub sessions: u64,
    /// Messages that were searched.
    pub messages: u64,
    /// What was found, by secret; those in most sessions first.
    pub secrets: Vec<Secret>,
    /// Where it was found.
    pub findings: Vec<Finding>,
    /// Sessions that were not searched, because their rows are damaged.
    pub unreadable: u64,
    /// How what was said was looked for.
    pub searched: store::Searched,
}

/// A secret, wherever it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Secret {
    /// The rule that finds it.
    pub rule: String,
    /// The sessions that hold it.
    pub sessions: BTreeSet<String>,
    /// How often it was found.
    pub count: u64,
    /// When it was first said, in seconds since the epoch.
    pub first_seen: Option<f64>,
    /// When it was last said, in seconds since the epoch.
    pub last_seen: Option<f64>,
}

/// What can go wrong with a scan.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The user asked for an end.
    #[error("interrupted")]
    Cancelled,
}

/// Searches all messages of the selected sessions, and the sessions' own columns.
pub fn run(
    store: &Path,
    selection: &Selection,
    redactor: &Redactor,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    store::read(store, |snapshot| {
        let matches = snapshot.matching(selection)?;
        progress.begin(matches.sessions.len() as u64);
        let unreadable = matches.unreadable.len() as u64;
        let report = Report { searched: matches.searched, unreadable, ..Report::default() };
        let mut scan = Scan { redactor, progress, report, by_value: HashMap::new() };
        for key in matches.sessions {
            scan.session(snapshot, key)?;
            progress.step();
        }
        Ok(scan.finish())
    })
}

struct Scan<'a> {
    redactor: &'a Redactor,
    progress: &'a dyn Progress,
    report: Report,
    by_value: HashMap<(u64, String), Secret>,
}

impl Scan<'_> {
    fn session(&mut self, snapshot: &Snapshot<'_>, key: SessionKey) -> Result<(), Error> {
        let mut scope = Scope::new();
        let mut times = HashMap::new();
        let row = self.redactor.apply(snapshot.session(key)?.0, &mut scope);
        let started = row.number(SessionColumn::StartedAt);
        let extent = snapshot.extent(key, Shown::All)?;
        snapshot.messages(&extent, |raw, _| {
            if self.progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let before = scope.total();
            let message = self.redactor.apply(raw, &mut scope);
            if scope.total() > before {
                let time = message.number(MessageColumn::Timestamp);
                times.insert(message.integer(MessageColumn::Id), time);
            }
            Ok(())
        })?;
        self.report.sessions += 1;
        self.report.messages += extent.messages();
        for finding in scope.findings() {
            let said =
                finding.message.map_or(started, |id| times.get(&Some(id)).copied().flatten());
            self.add(finding, row.id(), said);
        }
        Ok(())
    }

    fn add(&mut self, finding: Finding, session: &str, said: Option<f64>) {
        let key = (finding.fingerprint, finding.rule.clone());
        let secret = self.by_value.entry(key).or_insert_with(|| Secret {
            rule: finding.rule.clone(),
            sessions: BTreeSet::new(),
            count: 0,
            first_seen: None,
            last_seen: None,
        });
        secret.sessions.insert(session.to_owned());
        secret.count += finding.count;
        let earlier = |a: f64, b: f64| a.min(b);
        let later = |a: f64, b: f64| a.max(b);
        secret.first_seen = either(secret.first_seen, said, earlier);
        secret.last_seen = either(secret.last_seen, said, later);
        self.report.findings.push(finding);
    }

    fn finish(self) -> Report {
        let mut secrets: Vec<Secret> = self.by_value.into_values().collect();
        secrets.sort_by(|a, b| {
            let most = b.sessions.len().cmp(&a.sessions.len());
            most.then_with(|| a.rule.cmp(&b.rule)).then_with(|| a.sessions.cmp(&b.sessions))
        });
        Report { secrets, ..self.report }
    }
}

fn either(one: Option<f64>, other: Option<f64>, choose: impl Fn(f64, f64) -> f64) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(choose(one, other)),
        (one, other) => one.or(other),
    }
}
