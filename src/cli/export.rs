//! `export`: sessions as files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use formats::{FORMATS, Feature, Format, Layout};
use serde_json::json;

use super::environment::Environment;
use super::exit::UsageError;
use super::redaction::{RedactArgs, write_report};
use super::select::SelectArgs;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::export::{
    self, Keeper, Lineage, Listing, Overwrite, Reach, Record, Request, Summary, Target,
};
use crate::filter::Selection;
use crate::manifest;
use crate::store::{self, Shown};

/// Write sessions to files
///
/// The format is --format, else that of OUTPUT's suffix, else jsonl. OUTPUT is a file for formats
/// that hold all sessions in one (`-` is standard output), and a folder for formats with a file per
/// session. Every file is recorded in manifest.jsonl beside it, with its SHA-256. A file appears
/// whole or not at all.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions export backup.jsonl
  hermes-sessions export telegram.jsonl --source telegram --newer-than 1w
  hermes-sessions export - --session-id 20250305_091523_a1b2c3 | jq .title
  hermes-sessions export archive/ --format md --older-than 90 --lineage logical
  hermes-sessions export prompts.md --only user-prompts --newer-than 30d
  hermes-sessions export archive/ --format md --session-id 2025 --delete-after-verified --yes")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(super) struct ExportArgs {
    #[arg(help = OUTPUT)]
    output: Option<PathBuf>,
    /// How to write them; `formats` lists all
    #[arg(long, value_name = "NAME", value_parser = format_names())]
    format: Option<String>,
    /// A part of the sessions alone
    #[arg(long, value_name = "PART", value_parser = only_names())]
    only: Option<String>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    redact: RedactArgs,
    /// Write what was taken out where to a JSON file: rule, session, message, field, count
    #[arg(long, value_name = "FILE", help_heading = "Redaction", requires = "redact")]
    report: Option<PathBuf>,
    /// single: each session is a document; logical: a compression chain is one
    #[arg(long, value_enum, value_name = "KIND")]
    lineage: Option<LineageArg>,
    /// Which messages: active, also those that an in-place compaction set aside, or also those that
    /// were taken back [default: active]
    #[arg(long, value_name = "WHICH", value_parser = message_names())]
    messages: Option<String>,
    /// Say what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace files that would be refused: a folder's files that the manifest does not know or that
    /// were changed since, and files that may be the only copy of deleted sessions
    #[arg(long)]
    force: bool,
    /// Record nothing in manifest.jsonl
    #[arg(long)]
    no_manifest: bool,
    /// End with status 0 although cells were damaged; they are warned about all the same
    #[arg(long)]
    lenient: bool,
    /// Delete the one session of --session-id, and what worked for it, when every row of it has been
    /// read back from the files and compared; needs --yes
    #[arg(long)]
    delete_after_verified: bool,
    /// Yes, delete
    #[arg(short, long, requires = "delete_after_verified")]
    yes: bool,
}

const OUTPUT: &str = "A file, a folder, or - for standard output [default for formats with a file \
per session: $HERMES_HOME/session-exports]";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LineageArg {
    Single,
    Logical,
}

fn format_names() -> PossibleValuesParser {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().into()
}

fn only_names() -> PossibleValuesParser {
    let mut names: Vec<_> = FORMATS.iter().filter_map(|format| format.only).collect();
    names.dedup();
    names.into()
}

fn message_names() -> PossibleValuesParser {
    Shown::ALL.map(Shown::name).into()
}

pub(super) fn run(
    args: &ExportArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = environment.store(global)?;
    let selection = args.select.selection(environment, terminal)?;
    let format = args.format()?;
    args.check_flags(format, &selection)?;
    let redactor = Arc::new(args.redact.redactor(environment)?);
    terminal.guard(&redactor);
    let target = args.target(format, environment, &store)?;
    args.check_place(format, &target)?;
    args.check_report(&target, environment, &store)?;
    let request = Request {
        selection,
        shown: args.shown(),
        lineage: args.lineage(),
        redactor,
        format,
        target: if args.dry_run { Target::Nowhere } else { target.clone() },
        overwrite: args.overwrite(format),
        record: if args.no_manifest { Record::Nothing } else { Record::Manifest },
        exported_at: environment.now(),
        reach: if args.delete_after_verified { Reach::Everything } else { Reach::Selected },
        listing: args.listing(global),
    };
    let mut stream = args.stream(&target)?;
    let mut summary = export::run(&store, &request, &mut stream, &terminal.progress())?;
    drop(stream);
    let deleted = if args.delete_after_verified && !args.dry_run {
        Some(delete(&store, &request, &mut summary, terminal)?)
    } else {
        None
    };
    if let Some(file) = args.report.as_deref().filter(|_| !args.dry_run) {
        write_report(&environment.expand(file), &summary.findings)?;
    }
    args.tell_all(&summary, deleted, &target, global, terminal)?;
    Ok(args.status(&summary))
}

impl ExportArgs {
    fn format(&self) -> Result<&'static Format, UsageError> {
        let only = self.only.as_deref();
        let named = |f: &&Format| match &self.format {
            // `--only PART --format md` is the part's row with that suffix.
            Some(name) if only.is_some() => f.only == only && f.extension == name,
            Some(name) => f.name == name,
            None => false,
        };
        if self.format.is_some() {
            return FORMATS.iter().find(named).ok_or_else(|| {
                let parts = FORMATS.iter().filter(|f| f.only == only).map(|f| f.extension);
                let parts = parts.collect::<Vec<_>>().join(" or ");
                UsageError::new(format!("--only {} comes as {parts}", only.unwrap_or_default()))
            });
        }
        if let Some(suffix) = self.output.as_deref().and_then(foreign_suffix) {
            let message = format!("no format of this version writes .{suffix}");
            return Err(UsageError::new(message).hint("--format NAME says what to write there"));
        }
        let suffix = self.output.as_deref().and_then(|output| by_suffix(output, only));
        let default = || FORMATS.iter().find(|f| f.only == only);
        suffix.or_else(default).ok_or_else(|| UsageError::new("there is no such format"))
    }

    fn shown(&self) -> Shown {
        let default = if self.delete_after_verified { Shown::All } else { Shown::Active };
        self.messages.as_deref().and_then(Shown::named).unwrap_or(default)
    }

    fn overwrite(&self, format: &Format) -> Overwrite {
        match format.layout {
            _ if self.force => Overwrite::Force,
            Layout::FilePerSession => Overwrite::Known,
            Layout::OneFile if self.delete_after_verified => Overwrite::Extend,
            Layout::OneFile => Overwrite::Replace,
        }
    }

    fn listing(&self, global: &Global) -> Listing {
        let wanted = global.json
            || global.verbose
            || self.dry_run
            || self.delete_after_verified
            || self.report.is_some();
        if wanted { Listing::Wanted } else { Listing::Unwanted }
    }

    fn lineage(&self) -> Lineage {
        match self.lineage {
            Some(LineageArg::Logical) => Lineage::Logical,
            Some(LineageArg::Single) | None => Lineage::Single,
        }
    }

    /// Refuses flags that do not apply: ignoring one would do something else than was asked for.
    fn check_flags(&self, format: &Format, selection: &Selection) -> Result<(), UsageError> {
        let name = format.name;
        if self.lineage() == Lineage::Logical && !format.can(Feature::JoinsLineage) {
            return Err(UsageError::new(format!("--lineage logical does not apply to {name}")));
        }
        if matches!(selection, Selection::All) && format.can(Feature::NeedsSelection) {
            return Err(UsageError::new(format!("{name} needs a selection")).hint(
                "--include-open selects every session, `--older-than 0` those that have ended",
            ));
        }
        if self.delete_after_verified { self.check_deletion(format) } else { Ok(()) }
    }

    fn check_deletion(&self, format: &Format) -> Result<(), UsageError> {
        let refused = |why: String| {
            Err(UsageError::new(format!("--delete-after-verified {why}; nothing was deleted")))
        };
        if !format.can(Feature::KeepsDeleted) {
            return refused(format!("does not apply to {}", format.name));
        }
        if self.select.ids().len() != 1 {
            return refused("needs exactly one --session-id".to_owned());
        }
        if !self.yes && !self.dry_run {
            return refused("needs --yes".to_owned());
        }
        if self.shown() != Shown::All {
            return refused("needs --messages all".to_owned());
        }
        if self.redact.is_on() {
            return refused(
                "does not go with --redact: what is taken out would be lost".to_owned(),
            );
        }
        if self.no_manifest {
            return refused("does not go with --no-manifest".to_owned());
        }
        Ok(())
    }

    /// The report must not take the place of what it is about.
    fn check_report(
        &self,
        target: &Target,
        environment: &Environment,
        store: &Path,
    ) -> Result<(), UsageError> {
        let Some(report) = self.report.as_deref().map(|report| environment.expand(report)) else {
            return Ok(());
        };
        let is_output = matches!(target, Target::File(file) if resolved(file) == resolved(&report));
        if is_output {
            return Err(UsageError::new("--report names the same file as OUTPUT"));
        }
        refuse_own_files(&report, store)
    }

    /// A file to delete by must be one that can be read back, and one for each session.
    fn check_place(&self, format: &Format, target: &Target) -> Result<(), UsageError> {
        let one_of_many =
            matches!(target, Target::File(_)) && format.layout == Layout::FilePerSession;
        if !self.delete_after_verified || !(one_of_many || *target == Target::Stream) {
            return Ok(());
        }
        let needed = if one_of_many { "a folder" } else { "a file that can be read back" };
        let message = format!("--delete-after-verified needs {needed}; nothing was deleted");
        Err(UsageError::new(message))
    }

    fn target(
        &self,
        format: &Format,
        environment: &Environment,
        store: &Path,
    ) -> anyhow::Result<Target> {
        let Some(output) = &self.output else {
            return match format.layout {
                Layout::FilePerSession => {
                    Ok(Target::Folder(environment.hermes_home.join("session-exports")))
                }
                Layout::OneFile if self.dry_run => Ok(Target::Nowhere),
                Layout::OneFile => Err(UsageError::new(format!("{} needs OUTPUT", format.name))
                    .hint("a file, or - for standard output")
                    .into()),
            };
        };
        if output.as_os_str().is_empty() {
            return Err(UsageError::new("OUTPUT is empty").into());
        }
        refuse_session_id(output, store)?;
        let output = environment.expand(output);
        refuse_own_files(&output, store)?;
        let one_document = self.select.ids().len() == 1;
        let is_file = is_stdout(&output) || is_one_file(&output, format);
        match format.layout {
            Layout::FilePerSession if !is_file => Ok(Target::Folder(as_folder(output)?)),
            Layout::FilePerSession if !one_document => Err(UsageError::new(format!(
                "{} writes a file per session, and {} is one file",
                format.name,
                output.display()
            ))
            .hint("name a folder, or one --session-id")
            .into()),
            Layout::OneFile | Layout::FilePerSession => Ok(as_file(output)?),
        }
    }

    /// Where the bytes go that are not for a file of ours.
    fn stream(&self, target: &Target) -> anyhow::Result<Box<dyn Write>> {
        if *target != Target::Stream || self.dry_run {
            return Ok(Box::new(std::io::sink()));
        }
        match self.output.as_deref() {
            Some(device) if !is_stdout(device) => {
                // Appending, because a descriptor may stand for a file with something in it.
                let file = fs::OpenOptions::new().append(true).open(device);
                Ok(Box::new(
                    file.map_err(|source| export::Error::Write {
                        path: device.to_owned(),
                        source,
                    })?,
                ))
            }
            Some(_) | None => Ok(Box::new(terminal::stdout())),
        }
    }

    fn status(&self, summary: &Summary) -> ExitStatus {
        let damaged = summary.warnings.count > 0 && !self.lenient;
        if summary.failures.is_empty() && summary.stale.is_empty() && !damaged {
            ExitStatus::Done
        } else {
            ExitStatus::Failed
        }
    }

    fn tell_all(
        &self,
        summary: &Summary,
        deleted: Option<store::Removal>,
        target: &Target,
        global: &Global,
        terminal: &Terminal,
    ) -> anyhow::Result<()> {
        warn(summary, terminal);
        self.tell(summary, target, terminal);
        if let Some(store::Removal { sessions, messages }) = deleted {
            terminal.done(&format!(
                "Deleted {} and {} from the store",
                counted(sessions, "session"),
                counted(messages, "message")
            ));
        }
        if global.json {
            let object = self.json(summary, deleted);
            let is_data = *target == Target::Stream && !self.dry_run;
            let line = format!("{object}\n");
            if is_data { terminal::print_aside(&line) } else { terminal::print(&line) }?;
        }
        Ok(())
    }

    fn tell(&self, summary: &Summary, target: &Target, terminal: &Terminal) {
        if summary.running_left_out > 0 {
            let running = counted(summary.running_left_out, "running session");
            let verb = if summary.running_left_out == 1 { "matches" } else { "match" };
            terminal.note(&format!("{running} also {verb}; --include-open adds them"));
        }
        if summary.excluded > 0 {
            let excluded = counted(summary.excluded, "session");
            terminal.note(&format!("{excluded} left out by --exclude"));
        }
        if summary.matched == 0 {
            terminal.note("no session matches; nothing was written");
            return;
        }
        let place = match target {
            Target::File(path) | Target::Folder(path) => path.display().to_string(),
            Target::Stream => "-".to_owned(),
            Target::Nowhere => "a file".to_owned(),
        };
        if self.dry_run {
            let delete =
                if self.delete_after_verified { ", then delete it from the store" } else { "" };
            let (matched, messages) =
                (counted(summary.matched, "session"), counted(summary.messages, "message"));
            let counted =
                if self.shown() == Shown::Active { " (as Hermes counts them)" } else { "" };
            let what = format!("{matched} with {messages}{counted}");
            terminal.done(&format!("Would export {what} to {place}{delete}"));
            for session in &summary.sessions {
                terminal.detail(&format!(
                    "  {} {}",
                    session.id,
                    session.title.as_deref().unwrap_or("-")
                ));
            }
            return;
        }
        let unchanged = match summary.unchanged {
            0 => String::new(),
            n => format!(", {n} unchanged"),
        };
        terminal.done(&format!(
            "Exported {} with {}, {}, to {place}{unchanged}",
            counted(summary.exported, "session"),
            counted(summary.messages, "message"),
            indicatif::HumanBytes(summary.bytes),
        ));
        let taken: u64 = summary.redactions.values().sum();
        if taken > 0 {
            let kinds = counted(summary.redactions.len() as u64, "rule");
            terminal.done(&format!("Took out {} by {kinds}", counted(taken, "secret")));
        }
        for file in &summary.files {
            terminal.detail(&format!("  {}", file.path.display()));
        }
    }

    /// The report of an export that failed as a whole: nothing matched, nothing was written.
    pub(super) fn report_failure(&self, object: &mut serde_json::Value) -> std::io::Result<()> {
        if let (Some(failure), serde_json::Value::Object(report)) =
            (object.as_object_mut(), self.json(&Summary::default(), None))
        {
            failure.extend(report);
        }
        let is_data = !self.dry_run && self.output.as_deref().is_some_and(is_stdout);
        let line = format!("{object}\n");
        if is_data { terminal::print_aside(&line) } else { terminal::print(&line) }
    }

    fn json(&self, summary: &Summary, deleted: Option<store::Removal>) -> serde_json::Value {
        let warnings: Vec<String> = summary.warnings.kept.iter().map(ToString::to_string).collect();
        let failures: Vec<_> = summary
            .failures
            .iter()
            .map(|failure| json!({ "session_id": failure.session, "reason": failure.reason }))
            .collect();
        let mut object = json!({
            "command": "export",
            "dry_run": self.dry_run,
            "matched": summary.matched,
            "exported": summary.exported,
            "unchanged": summary.unchanged,
            "failed": summary.failures.len(),
            "failures": failures,
            "excluded": summary.excluded,
            "running_left_out": summary.running_left_out,
            "messages": summary.messages,
            "bytes": summary.bytes,
            "redactions": summary.redactions,
            "warnings": warnings,
            "files": summary.files,
            "sessions": summary.sessions,
        });
        if let Some(store::Removal { sessions, messages }) = deleted {
            object["deleted"] = json!({ "sessions": sessions, "messages": messages });
        }
        object
    }
}

/// Keeps a full record beside the files, verifies all of them, and deletes.
fn delete(
    store: &Path,
    request: &Request,
    summary: &mut Summary,
    terminal: &Terminal,
) -> anyhow::Result<store::Removal> {
    if let Some(failure) = summary.failures.first() {
        anyhow::bail!("{}; nothing was deleted", failure.reason);
    }
    for running in summary.sessions.iter().filter(|session| session.ended_at.is_none()) {
        terminal
            .warning(&format!("session {} has not ended; Hermes may go on with it", running.id));
    }
    let mut keepers: Vec<Keeper> =
        summary.files.iter().map(|f| keeper(f, request.format)).collect();
    if request.format.layout == Layout::FilePerSession {
        let record =
            FORMATS.iter().find(|f| f.can(Feature::KeepsDeleted) && f.layout == Layout::OneFile);
        let (Some(record), Some(first)) = (record, summary.files.first()) else {
            anyhow::bail!("there is nothing to delete");
        };
        let path = first.path.with_extension(record.extension);
        let request = Request {
            selection: request.selection.clone(),
            redactor: request.redactor.clone(),
            format: record,
            target: Target::File(path),
            overwrite: match request.overwrite {
                Overwrite::Force => Overwrite::Force,
                Overwrite::Replace | Overwrite::Known | Overwrite::Extend => Overwrite::Extend,
            },
            ..*request
        };
        let kept = export::run(store, &request, &mut std::io::sink(), &terminal.progress())?;
        keepers.extend(kept.files.iter().map(|file| keeper(file, record)));
        summary.files.extend(kept.files);
    }
    Ok(export::delete_kept(store, &keepers)?)
}

fn keeper(file: &export::Exported, format: &'static Format) -> Keeper {
    Keeper { path: file.path.clone(), format, documents: file.documents.clone() }
}

fn warn(summary: &Summary, terminal: &Terminal) {
    let shown = summary.warnings.kept.iter().take(terminal.patience());
    let mut printed = 0;
    for warning in shown {
        terminal.warning(&warning.to_string());
        printed += 1;
    }
    if summary.warnings.count > printed {
        terminal.warning(&format!("{} more", summary.warnings.count - printed));
    }
    for failure in &summary.failures {
        let what =
            failure.session.as_ref().map_or("the file".to_owned(), |id| format!("session {id}"));
        let reason = format!("{what} was not exported: {}", failure.reason);
        terminal.error(&reason, &[], None);
    }
    for path in &summary.stale {
        let what = "the session was renamed, but its old file was changed since it was exported";
        terminal.warning(&format!("{path}: {what}, so it was left"));
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn by_suffix(output: &Path, only: Option<&str>) -> Option<&'static Format> {
    let name = output.file_name()?.to_str()?.to_lowercase();
    let fits = |f: &&Format| f.only == only && name.ends_with(&format!(".{}", f.extension));
    FORMATS.iter().filter(fits).max_by_key(|f| f.extension.len())
}

/// A suffix that stands for a format of hermes-agent which is not in the table.
fn foreign_suffix(output: &Path) -> Option<&'static str> {
    let name = output.file_name()?.to_str()?.to_lowercase();
    let foreign = |suffix: &&str| name.ends_with(&format!(".{suffix}"));
    let suffix = ["html", "trace.jsonl"].into_iter().find(foreign)?;
    FORMATS.iter().all(|format| format.extension != suffix).then_some(suffix)
}

/// Whether OUTPUT names a single file of a format that writes one for each session.
fn is_one_file(output: &Path, format: &Format) -> bool {
    by_suffix(output, format.only).is_some() && !output.is_dir()
}

fn as_folder(output: PathBuf) -> Result<PathBuf, UsageError> {
    match fs::metadata(&output) {
        Ok(meta) if !meta.is_dir() => Err(UsageError::new(format!(
            "{} is a file, and the format writes a folder",
            output.display()
        ))),
        Ok(_) | Err(_) => Ok(output),
    }
}

fn as_file(output: PathBuf) -> Result<Target, UsageError> {
    if is_stdout(&output) {
        return Ok(Target::Stream);
    }
    let is_device = output.starts_with("/dev") || output.starts_with("/proc");
    match fs::metadata(&output) {
        Ok(meta) if meta.is_dir() => Err(UsageError::new(format!(
            "{} is a folder, and the format writes one file",
            output.display()
        ))),
        Ok(meta) if is_device || !meta.is_file() => Ok(Target::Stream),
        Ok(_) | Err(_) => Ok(Target::File(output)),
    }
}

fn is_stdout(output: &Path) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    names.iter().any(|name| output == Path::new(name))
}

/// The store, and a manifest, are no places for an export.
fn refuse_own_files(output: &Path, store: &Path) -> Result<(), UsageError> {
    let name = output.file_name().unwrap_or_default();
    if name == manifest::NAME {
        return Err(UsageError::new(format!("OUTPUT {} is a manifest's name", output.display())));
    }
    let (output, store) = (resolved(output), resolved(store));
    let is_store = ["", "-wal", "-shm", "-journal"].iter().any(|suffix| {
        let mut file = store.clone().into_os_string();
        file.push(suffix);
        output == Path::new(&file)
    });
    if is_store {
        return Err(UsageError::new(format!("OUTPUT {} belongs to the store", output.display())));
    }
    if name.to_str().is_none() {
        return Err(UsageError::new(format!("OUTPUT {} is no UTF-8", output.display())));
    }
    Ok(())
}

/// A path without links, also where the file itself is not there yet.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    folder.join(path.file_name().unwrap_or_default())
}

/// `export 20250305_091523_a1b2c3` would write a file of that name; the session was meant.
fn refuse_session_id(output: &Path, store: &Path) -> anyhow::Result<()> {
    let is_name = |name: &&str| !name.contains(['/', '\\']) && !is_stdout(output);
    let Some(name) = output.to_str().filter(is_name) else { return Ok(()) };
    let is_session =
        store::read(store, |snapshot| Ok::<_, store::Error>(snapshot.find(name)?.is_some()))?;
    if is_session {
        return Err(UsageError::new(format!("OUTPUT `{name}` is the id of a session"))
            .hint(format!("export OUTPUT --session-id {name}"))
            .into());
    }
    Ok(())
}
