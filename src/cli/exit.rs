//! Errors as text and exit status.

use std::io;
use std::process::ExitCode;

use super::terminal::{self, Terminal};
#[cfg(feature = "hub")]
use crate::hub;
use crate::{backup, bucket, export, import, scan, store, verify};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done; also when nothing matched.
    Done,
    /// Failed, or something was skipped or damaged, or a verification found a difference.
    Failed,
    /// Wrong usage.
    Usage,
    /// The store is in use by another process.
    InUse,
    /// Interrupted.
    Interrupted,
}

impl ExitStatus {
    fn code(self) -> u8 {
        match self {
            ExitStatus::Done => 0,
            ExitStatus::Failed => 1,
            ExitStatus::Usage => 2,
            ExitStatus::InUse => 3,
            ExitStatus::Interrupted => 130,
        }
    }
}

impl ExitStatus {
    /// How the program ends when it ends one way for one reason and another for another.
    pub(super) fn and(self, other: Self) -> Self {
        if self == ExitStatus::Done { other } else { self }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        ExitCode::from(status.code())
    }
}

/// Arguments that make no sense, alone or together.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct UsageError {
    message: String,
    hint: Option<String>,
}

impl UsageError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Prints what clap has to say: help to standard output, errors to standard error.
pub(super) fn from_clap(error: &clap::Error) -> ExitStatus {
    terminal::print_clap(error);
    if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Done }
}

/// Prints an error with its causes and a hint, and says how the program ends.
pub(super) fn report(error: &anyhow::Error, terminal: &Terminal) -> ExitStatus {
    let status = status(error);
    if status != ExitStatus::Done {
        terminal.error(&error.to_string(), &causes(error), hint(error).as_deref());
    }
    status
}

/// An error as the object that `--json` prints.
pub(super) fn as_json(
    error: &anyhow::Error,
    status: ExitStatus,
    terminal: &Terminal,
) -> serde_json::Value {
    let causes: Vec<_> = causes(error).iter().map(|cause| terminal.redacted(cause)).collect();
    serde_json::json!({
        "command": null,
        "error": terminal.redacted(&error.to_string()),
        "causes": causes,
        "hint": hint(error),
        "exit_status": status.code(),
    })
}

/// What clap has to say as the same object: its message, and its tips as the hint.
pub(super) fn clap_as_json(error: &clap::Error) -> serde_json::Value {
    let text = error.to_string();
    let said = text.split("\n\nUsage:").next().unwrap_or_default();
    let mut paragraphs = said.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>());
    let message = paragraphs.next().unwrap_or_default().join(" ");
    let tips = paragraphs.map(|words| words.join(" ")).filter(|text| text.starts_with("tip: "));
    let tips: Vec<String> = tips.map(|tip| tip.replace("tip: ", "")).collect();
    serde_json::json!({
        "command": null,
        "error": message.strip_prefix("error: ").unwrap_or(&message),
        "causes": [],
        "hint": (!tips.is_empty()).then(|| tips.join("; ")),
        "exit_status": ExitStatus::Usage.code(),
    })
}

fn status(error: &anyhow::Error) -> ExitStatus {
    for cause in error.chain() {
        if cause.is::<UsageError>() {
            return ExitStatus::Usage;
        }
        if let Some(store::Error::InUse(_) | store::Error::Unsteady) = of_store(cause) {
            return ExitStatus::InUse;
        }
        if matches!(cause.downcast_ref(), Some(backup::Error::Running { .. })) {
            return ExitStatus::InUse;
        }
        match of_bucket(cause) {
            Some(bucket::Error::Cancelled) => return ExitStatus::Interrupted,
            Some(bucket::Error::Overtaken(_)) => return ExitStatus::InUse,
            Some(error) if error.is_misuse() => return ExitStatus::Usage,
            Some(_) | None => {}
        }
        if matches!(cause.downcast_ref(), Some(export::Error::Cancelled))
            || matches!(cause.downcast_ref(), Some(backup::Error::Export(export::Error::Cancelled)))
            || matches!(cause.downcast_ref(), Some(backup::Error::Import(import::Error::Cancelled)))
            || matches!(cause.downcast_ref(), Some(import::Error::Cancelled))
            || matches!(cause.downcast_ref(), Some(verify::Error::Cancelled))
            || matches!(cause.downcast_ref(), Some(scan::Error::Cancelled))
        {
            return ExitStatus::Interrupted;
        }
        #[cfg(feature = "hub")]
        match cause.downcast_ref() {
            Some(hub::Error::Cancelled) => return ExitStatus::Interrupted,
            Some(error) if hub::Error::is_refusal(error) => return ExitStatus::Usage,
            Some(_) | None => {}
        }
        // Whoever read our output has read enough.
        if cause.downcast_ref().is_some_and(|e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe) {
            return ExitStatus::Done;
        }
    }
    ExitStatus::Failed
}

fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(usage) = cause.downcast_ref::<UsageError>() {
            return usage.hint.clone();
        }
        #[cfg(feature = "hub")]
        if let Some(error) = cause.downcast_ref::<hub::Error>() {
            return error.hint();
        }
        if let Some(hint) = cause.downcast_ref().and_then(backup::Error::hint) {
            return Some(hint.to_owned());
        }
        if let Some(hint) = of_bucket(cause).and_then(bucket::Error::hint) {
            return Some(hint.to_owned());
        }
        of_store(cause)?.hint().map(str::to_owned)
    })
}

/// An object store's part of an error.
fn of_bucket<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e bucket::Error> {
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(backup::Error::Bucket(bucket)), _) | (_, Some(verify::Error::Bucket(bucket))) => {
            Some(bucket)
        }
        _ => error.downcast_ref(),
    }
}

/// The store's part of an error; other modules pass it on as their own.
fn of_store<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e store::Error> {
    if let Some(export::Error::Store(store)) = error.downcast_ref() {
        return Some(store);
    }
    if let Some(
        backup::Error::Store(store)
        | backup::Error::Export(export::Error::Store(store))
        | backup::Error::Import(import::Error::Store(store)),
    ) = error.downcast_ref()
    {
        return Some(store);
    }
    if let Some(import::Error::Store(store)) = error.downcast_ref() {
        return Some(store);
    }
    if let Some(verify::Error::Store(store)) = error.downcast_ref() {
        return Some(store);
    }
    if let Some(scan::Error::Store(store)) = error.downcast_ref() {
        return Some(store);
    }
    error.downcast_ref()
}

/// The causes, without those that say again what the one before them said.
fn causes(error: &anyhow::Error) -> Vec<String> {
    let mut said = error.to_string();
    let mut causes = Vec::new();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.contains(&cause) && !cause.contains(&said) {
            causes.push(cause.clone());
            said = cause;
        }
    }
    causes
}
