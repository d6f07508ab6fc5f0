//! `--upload`: export into a folder, check every file, and send what is there.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::super::environment::Environment;
use super::super::exit::{self, UsageError};
use super::super::redaction::write_report;
use super::super::terminal::{self, Terminal};
use super::super::{ExitStatus, Global};
use super::ExportArgs;
use super::told::{counted, note, warn};
use crate::export::{self, Exported, Listing, Request, Scratch, Summary, Surveyed, Target};
use crate::filter::Selection;
use crate::hub::{
    self, Card, Client, Dataset, Journal, Line, Local, Places, Report, Settings, Token, Upload,
    Visibility,
};
use crate::manifest::Hasher;

/// The journal, in the folder for exports of Hermes' home.
const JOURNAL: &str = "uploads.jsonl";
/// How long the Hub may be silent, in seconds, unless `HERMES_SESSIONS_HUB_TIMEOUT` says otherwise.
const TIMEOUT: u64 = 300;

/// An export that is sent.
pub(super) struct Sending<'a> {
    pub(super) args: &'a ExportArgs,
    pub(super) store: &'a Path,
    pub(super) global: &'a Global,
    pub(super) environment: &'a Environment,
    pub(super) terminal: &'a Terminal,
}

/// Where it goes, and what became of it.
struct Outcome {
    dataset: Dataset,
    /// What people open.
    address: String,
    report: Report,
    failure: Option<hub::Error>,
}

impl Sending<'_> {
    pub(super) fn run(&self, mut request: Request) -> anyhow::Result<ExitStatus> {
        Dataset::check(self.args.upload.dataset())?;
        request.listing = Listing::Wanted;
        let scratch = Scratch::new()?;
        quieten(scratch.path());
        let client = Client::new(self.settings()?)?;
        let me = client.whoami(&self.terminal.progress())?;
        let dataset = Dataset::of(self.args.upload.dataset(), &me)?;
        let address = client.address(&dataset);
        let journal = Journal::read(&self.journal())?;
        let sessions = self.look(&mut request, &journal, &address)?;
        if self.args.output.is_none() {
            request.target = Target::Folder(scratch.path().join("traces"));
        }
        self.args.preview(self.store, &request, self.terminal)?;
        let progress = self.terminal.progress();
        let mut summary = export::run(self.store, &request, &mut io::sink(), &progress)?;
        drop(progress);
        if let Some(file) = self.args.report.as_deref() {
            write_report(&self.environment.expand(file), &summary.findings)?;
        }
        for file in &summary.files {
            hub::check_trace(&file.path)?;
        }
        let mut outcome = Outcome { dataset, address, report: Report::default(), failure: None };
        if !summary.files.is_empty() {
            self.confirm(&outcome, &request, &summary)?;
            self.send(&client, &request, &summary, &mut outcome);
        }
        journal.append(&self.journal(), &self.lines(&outcome, &summary, &sessions))?;
        if self.args.output.is_none() {
            summary.files.clear(); // they go away
        }
        self.tell(&summary, outcome)
    }

    /// Narrows the selection of a dry run, which asks nobody: the dataset is the one that sessions
    /// were sent to before under that name.
    pub(super) fn rehearse(&self, request: &mut Request) -> anyhow::Result<()> {
        let given = self.args.upload.dataset();
        Dataset::check(given)?;
        let journal = Journal::read(&self.journal())?;
        let datasets = format!("{}/datasets/", self.endpoint().trim_end_matches('/'));
        let address = match given.split_once('/') {
            Some(_) => format!("{datasets}{given}"),
            None => journal.address(&datasets, given).unwrap_or_default().to_owned(),
        };
        self.look(request, &journal, &address)?;
        Ok(())
    }

    fn endpoint(&self) -> String {
        self.environment.variable("HF_ENDPOINT").unwrap_or_else(|| hub::ENDPOINT.to_owned())
    }

    fn settings(&self) -> Result<Settings, anyhow::Error> {
        let variable = |name: &str| self.environment.variable(name);
        let file = self.args.upload.token_file.as_deref().map(|file| self.environment.expand(file));
        let token = Token::find(&Places {
            file: file.as_deref(),
            variable: &variable,
            hermes_home: &self.environment.hermes_home,
            home: self.environment.home.as_deref(),
        })?;
        self.terminal.detail(&format!("Using the token from {}", token.source));
        let timeout = match variable("HERMES_SESSIONS_HUB_TIMEOUT") {
            None => TIMEOUT,
            Some(text) => text.parse().ok().filter(|seconds| *seconds > 0).ok_or_else(|| {
                UsageError::new(format!("HERMES_SESSIONS_HUB_TIMEOUT: `{text}` is no time"))
            })?,
        };
        Ok(Settings { endpoint: self.endpoint(), token, timeout: Duration::from_secs(timeout) })
    }

    fn journal(&self) -> PathBuf {
        self.environment.hermes_home.join("session-exports").join(JOURNAL)
    }

    /// What the selected sessions are now; narrows the selection to those that changed, if asked to.
    fn look(
        &self,
        request: &mut Request,
        journal: &Journal,
        address: &str,
    ) -> anyhow::Result<Vec<Surveyed>> {
        let Request { selection, shown, redactor, .. } = &*request;
        let progress = self.terminal.progress();
        let mut sessions = export::survey(self.store, selection, *shown, redactor, &progress)?;
        let written = written(request);
        for session in &mut sessions {
            let mut hasher = Hasher::default();
            hasher.update(format!("{} {written}", session.state).as_bytes());
            session.state = hasher.finish().sha256;
        }
        if self.args.upload.since_last_upload {
            let changed = |session: &&Surveyed| !journal.has(address, &session.id, &session.state);
            let changed = sessions.iter().filter(changed).map(|session| session.given.clone());
            request.selection = Selection::Sessions(changed.collect());
        }
        Ok(sessions)
    }

    /// Asks before everybody can read it.
    fn confirm(
        &self,
        outcome: &Outcome,
        request: &Request,
        summary: &Summary,
    ) -> anyhow::Result<()> {
        if !self.args.upload.public || self.args.yes {
            return Ok(());
        }
        let Outcome { dataset, address, .. } = outcome;
        let sessions = counted(summary.files.len() as u64, "session");
        let taken: u64 = summary.redactions.values().sum();
        let taken = match groups(request) {
            Some(groups) => format!("{} taken out (by {groups})", counted(taken, "text")),
            None => "nothing taken out".to_owned(),
        };
        let question = format!(
            "Everybody will be able to read {sessions}, with {taken}, at {address}.\n\
             Type {dataset} to go on: "
        );
        if self.terminal.ask(&question)?.as_deref() == Some(&dataset.to_string()) {
            return Ok(());
        }
        Err(UsageError::new(format!("that was not {dataset}; nothing was sent")).into())
    }

    fn send(&self, client: &Client, request: &Request, summary: &Summary, outcome: &mut Outcome) {
        let visibility =
            if self.args.upload.public { Visibility::Public } else { Visibility::Private };
        let upload = Upload {
            dataset: outcome.dataset.clone(),
            visibility,
            files: summary.files.iter().map(local).collect(),
            card: Card { redacted: groups(request), tool: tool() },
        };
        let progress = self.terminal.bytes();
        outcome.failure = hub::send(client, &upload, &mut outcome.report, &progress).err();
    }

    /// What is certain to be there, or has nothing to show there.
    fn lines(&self, outcome: &Outcome, summary: &Summary, sessions: &[Surveyed]) -> Vec<Line> {
        let is_settled = |file: &&Exported| outcome.report.settled.contains(&local(file).name);
        let settled = summary.files.iter().filter(is_settled);
        let held = settled.flat_map(|file| file.documents.iter().flatten());
        let certain: std::collections::HashSet<&String> =
            held.chain(&summary.nothing_to_show).collect();
        let line = |session: &Surveyed| Line {
            dataset: outcome.address.clone(),
            session_id: session.id.clone(),
            state: session.state.clone(),
            sent_at: self.environment.now(),
        };
        sessions.iter().filter(|session| certain.contains(&session.id)).map(line).collect()
    }

    fn tell(&self, summary: &Summary, outcome: Outcome) -> anyhow::Result<ExitStatus> {
        let (Self { args, terminal, .. }, Outcome { report, address, .. }) = (self, &outcome);
        warn(summary, terminal);
        note(summary, terminal);
        let there = match report.unchanged {
            0 => String::new(),
            n => format!(", {n} there already"),
        };
        if report.sent > 0 || report.created {
            let (sent, bytes) = (counted(report.sent, "session"), report.bytes);
            let visibility = args.upload.visibility();
            let bytes = indicatif::HumanBytes(bytes);
            terminal.done(&format!("Sent {sent}, {bytes}, to {address} ({visibility}){there}"));
        } else if summary.matched == 0 && !args.upload.since_last_upload {
            terminal.note("no session matches; nothing was sent");
        } else if outcome.failure.is_none() {
            terminal.done(&format!("Nothing is new for {address}{there}"));
        }
        let mut object = args.json(summary, None);
        object["upload"] = self.json(&outcome);
        let mut status = args.status(summary);
        if let Some(failure) = outcome.failure {
            let failed = exit::report(&failure.into(), terminal);
            if failed != ExitStatus::Done {
                status = failed;
            }
        }
        if self.global.json {
            terminal::print(&format!("{object}\n"))?;
        }
        Ok(status)
    }

    fn json(&self, outcome: &Outcome) -> serde_json::Value {
        let Outcome { dataset, address, report, failure } = outcome;
        let error = failure.as_ref().map(|error| self.terminal.redacted(&error.to_string()));
        json!({
            "dataset": dataset.to_string(),
            "address": address,
            "visibility": self.args.upload.visibility(),
            "created": report.created,
            "sent": report.sent,
            "unchanged": report.unchanged,
            "commits": report.commits,
            "bytes": report.bytes,
            "files": report.settled,
            "error": error,
            "hint": failure.as_ref().and_then(hub::Error::hint),
        })
    }
}

/// Sets what the Hub's client reads from the environment alone, where the user has not: it sends
/// no telemetry, and leaves nothing behind in a cache. Nothing else runs beside it yet.
fn quieten(scratch: &Path) {
    let mut settings = vec!["HF_HUB_DISABLE_TELEMETRY=1".to_owned()];
    let cache = scratch.join("cache");
    if let Some(cache) = cache.to_str().filter(|cache| !cache.contains(['\'', '\n', '\\'])) {
        settings.push(format!("HF_XET_CACHE='{cache}'"));
    }
    // These lines are well-formed; there is nothing else that could fail.
    let _ = dotenvy::from_read(settings.join("\n").as_bytes());
}

/// How sessions become files: another way makes other files of the same sessions.
fn written(request: &Request) -> String {
    let Request { format, shown, lineage, .. } = request;
    let groups = groups(request);
    format!("{} {} {lineage:?} {groups:?} {}", format.name, shown.name(), tool())
}

fn groups(request: &Request) -> Option<String> {
    let names = request.redactor.groups()?.iter().map(|group| group.name());
    Some(names.collect::<Vec<_>>().join(", "))
}

fn tool() -> String {
    format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
}

/// A file with its path in the dataset: the one under which Hermes itself would send the session.
fn local(file: &Exported) -> Local {
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".trace.jsonl").unwrap_or(&name);
    Local { path: file.path.clone(), name: format!("sessions/{stem}.jsonl") }
}
