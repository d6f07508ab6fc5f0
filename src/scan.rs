//! Which secrets are in how many sessions, so that a person knows what to rotate.
//!
//! A secret is known by a keyed hash whose key ends with the process; nothing here holds one.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;

use formats::model::{MessageColumn, SessionColumn};

use crate::export::feed::{self, Feed, Scouts};
use crate::export::lanes::{Cut, in_lanes};
use crate::export::{self, Document, Reach};
use crate::filter::Selection;
use crate::progress::Progress;
use crate::redact::{Finding, Redactor, Scope};
use crate::store::{self, Shown};

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

impl Cut for Error {
    fn is_cut_off(&self) -> bool {
        matches!(self, Error::Store(store::Error::CutOff))
    }
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
        let documents: Vec<Document> =
            matches.sessions.into_iter().map(|key| Document(vec![key])).collect();
        let Some(most) = NonZeroUsize::new(documents.len()) else { return Ok(report) };
        let lanes = (Scouts::none(redactor), export::cores().min(most));
        let wanted = (Shown::All, Reach::Selected);
        let mut scan = Scan { report, by_value: HashMap::new() };
        feed::dealt(snapshot, &documents, wanted, lanes, |feeds| {
            let search = |_: &Document, feed: &mut Feed<'_>| {
                let searched = searched(redactor, feed, progress);
                progress.step();
                searched
            };
            in_lanes(feeds, &documents, search, |session| {
                scan.session(session);
                Ok::<_, Error>(())
            })
        })?;
        Ok(scan.finish())
    })
}

/// What was found in a session.
struct Searched {
    id: String,
    messages: u64,
    /// Each with when it was said, in seconds since the epoch.
    findings: Vec<(Finding, Option<f64>)>,
}

/// Searches the one session of the next document.
fn searched(
    redactor: &Redactor,
    feed: &mut Feed<'_>,
    progress: &dyn Progress,
) -> Result<Searched, Error> {
    let found = feed.document().ok_or(store::Error::CutOff)??;
    let segment = found.segments.into_iter().next().ok_or(store::Error::CutOff)?;
    let mut scope = Scope::new();
    let mut times = HashMap::new();
    let row = redactor.apply(segment.row, &mut scope);
    let started = row.number(SessionColumn::StartedAt);
    while let Some((raw, _)) = feed.message()? {
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let before = scope.total();
        let message = redactor.apply(raw, &mut scope);
        if scope.total() > before {
            let time = message.number(MessageColumn::Timestamp);
            times.insert(message.integer(MessageColumn::Id), time);
        }
    }
    let said = |finding: &Finding| match finding.message {
        Some(id) => times.get(&Some(id)).copied().flatten(),
        None => started,
    };
    let with_time = |finding: Finding| {
        let said = said(&finding);
        (finding, said)
    };
    let findings = scope.findings().map(with_time).collect();
    let messages = segment.extent.messages();
    Ok(Searched { id: row.id().to_owned(), messages, findings })
}

struct Scan {
    report: Report,
    /// Where each secret stands in the report, by fingerprint and rule.
    by_value: HashMap<(u64, String), usize>,
}

impl Scan {
    fn session(&mut self, Searched { id, messages, findings }: Searched) {
        self.report.sessions += 1;
        self.report.messages += messages;
        for (finding, said) in findings {
            self.add(finding, &id, said);
        }
    }

    fn add(&mut self, finding: Finding, session: &str, said: Option<f64>) {
        let secrets = &mut self.report.secrets;
        let key = (finding.fingerprint, finding.rule.clone());
        let place = *self.by_value.entry(key).or_insert(secrets.len());
        if place == secrets.len() {
            let (rule, sessions) = (finding.rule.clone(), BTreeSet::new());
            secrets.push(Secret { rule, sessions, count: 0, first_seen: None, last_seen: None });
        }
        let secret = &mut secrets[place];
        secret.sessions.insert(session.to_owned());
        secret.count += finding.count;
        let earlier = |a: f64, b: f64| a.min(b);
        let later = |a: f64, b: f64| a.max(b);
        secret.first_seen = either(secret.first_seen, said, earlier);
        secret.last_seen = either(secret.last_seen, said, later);
        self.report.findings.push(finding);
    }

    fn finish(mut self) -> Report {
        // Those that are alike stay in the order in which they were found.
        self.report.secrets.sort_by(|a, b| {
            let most = b.sessions.len().cmp(&a.sessions.len());
            most.then_with(|| a.rule.cmp(&b.rule)).then_with(|| a.sessions.cmp(&b.sessions))
        });
        self.report
    }
}

fn either(one: Option<f64>, other: Option<f64>, choose: impl Fn(f64, f64) -> f64) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(choose(one, other)),
        (one, other) => one.or(other),
    }
}
