//! What an export tells about itself: counts, files, failures, and what was lost on the way.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use formats::model::{Message, MessageColumn, Session, SessionColumn};
use serde::Serialize;

use crate::manifest::Entry;
use crate::redact::Finding;
use crate::store::{self, Fault};

/// What an export did, or would do.
#[derive(Debug, Default)]
pub struct Summary {
    /// Sessions that the selection took.
    pub matched: u64,
    /// Sessions in files that were written, or would be.
    pub exported: u64,
    /// Sessions whose files were right already.
    pub unchanged: u64,
    /// Lines of sessions that have left the store since; only with
    /// [`Renewal::Changed`](super::Renewal::Changed).
    pub gone: Vec<Entry>,
    /// Sessions that are in no file, each with the reason.
    pub failures: Vec<Failure>,
    /// Sessions that are in no file because the format has nothing to show of them.
    pub nothing_to_show: Vec<String>,
    /// Messages in the files that were written.
    pub messages: u64,
    /// Bytes of the files that were written.
    pub bytes: u64,
    /// How often each rule took something out.
    pub redactions: BTreeMap<String, u64>,
    /// What was taken out where; only with [`Listing::Wanted`](super::Listing::Wanted).
    pub findings: Vec<Finding>,
    /// What was lost on the way.
    pub warnings: Warnings,
    /// Files that are right now, written or found so.
    pub files: Vec<Exported>,
    /// The selected sessions, oldest first.
    pub sessions: Vec<Listed>,
    /// Running sessions that the filters left out.
    pub running_left_out: u64,
    /// Sessions that `--exclude` took out.
    pub excluded: u64,
    /// How `--match` was looked for.
    pub searched: store::Searched,
    /// Files of renamed sessions that somebody changed, so that they were not removed.
    pub stale: Vec<String>,
}

/// What comes up about a document while it is written down.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) warnings: Warnings,
    /// What was taken out where; only with [`Listing::Wanted`](super::Listing::Wanted).
    pub(super) findings: Vec<Finding>,
}

impl Told {
    pub(super) fn extend(&mut self, later: Told) {
        self.warnings.extend(later.warnings);
        self.findings.extend(later.findings);
    }
}

impl Summary {
    pub(super) fn take(&mut self, told: Told) {
        self.warnings.extend(told.warnings);
        self.findings.extend(told.findings);
    }
}

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Where it is.
    pub path: PathBuf,
    /// The format's name.
    pub format: String,
    /// Its session; null where it holds many.
    pub session_id: Option<String>,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Its documents, each the ids of its segments, oldest first.
    #[serde(skip)]
    pub documents: Vec<Vec<String>>,
}

/// A selected session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// The platform.
    pub source: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Seconds since the epoch.
    pub started_at: Option<f64>,
    /// Seconds since the epoch; null while it runs.
    pub ended_at: Option<f64>,
    /// Messages, as Hermes counted them.
    pub message_count: Option<i64>,
}

impl Listed {
    pub(crate) fn new(row: &Session<'_>) -> Self {
        Self {
            id: row.id().to_owned(),
            source: row.text(SessionColumn::Source).map(str::to_owned),
            title: row.text(SessionColumn::Title).map(str::to_owned),
            started_at: row.number(SessionColumn::StartedAt),
            ended_at: row.number(SessionColumn::EndedAt),
            message_count: row.integer(SessionColumn::MessageCount),
        }
    }
}

/// Why a session is in no file.
#[derive(Debug)]
pub struct Failure {
    /// The session; `None` where a file of many failed.
    pub session: Option<String>,
    /// Why.
    pub reason: String,
}

impl Failure {
    /// A session that the store does not give, with all causes.
    pub(super) fn of(session: String, error: &store::Error) -> Self {
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            reason = format!("{reason}: {error}");
            cause = error.source();
        }
        Self { session: Some(session), reason }
    }
}

/// A cell that could not be represented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The session.
    pub session: String,
    /// The message's row id; `None` for the session's own row.
    pub message: Option<i64>,
    /// The column, and what it lost.
    pub fault: Fault,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {}", self.session)?;
        if let Some(message) = self.message {
            write!(f, ", message {message}")?;
        }
        write!(f, ", {}: {}", self.fault.column, self.fault.what)
    }
}

/// Warnings; a store with a million bad cells must not fill the memory with them.
#[derive(Debug, Default)]
pub struct Warnings {
    /// The first of them.
    pub kept: Vec<Warning>,
    /// All of them.
    pub count: u64,
}

impl Warnings {
    const KEPT: usize = 1000;

    fn add(&mut self, make: impl FnOnce() -> Warning) {
        self.count += 1;
        if self.kept.len() < Self::KEPT {
            self.kept.push(make());
        }
    }
}

impl Warnings {
    /// Takes note of what a session's own row lost.
    pub(super) fn session(&mut self, id: &str, faults: &[Fault]) {
        for fault in faults {
            self.add(|| Warning { session: id.to_owned(), message: None, fault: fault.clone() });
        }
    }

    /// Takes note of what came up later.
    pub(super) fn extend(&mut self, later: Self) {
        self.count += later.count;
        self.kept.extend(later.kept);
        self.kept.truncate(Self::KEPT);
    }

    /// Takes note of what a message's row lost.
    pub(super) fn message(&mut self, id: &str, message: &Message<'_>, faults: &[Fault]) {
        for fault in faults {
            let row = message.integer(MessageColumn::Id);
            self.add(|| Warning { session: id.to_owned(), message: row, fault: fault.clone() });
        }
    }
}
