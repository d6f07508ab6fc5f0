//! `export`: sessions as files.

mod deletion;
mod output;
#[cfg(feature = "hub")]
mod sending;
mod share;
mod told;
mod upload;
mod variant;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::builder::{
    NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};
use clap::{ArgGroup, Args, ValueEnum};
use formats::{FORMATS, Feature, Format, Layout};
use jiff::tz::TimeZone;

use super::environment::Environment;
use super::exit::UsageError;
use super::from::FromArgs;
use super::place::refuse_bucket;
use super::redaction::{RedactArgs, write_report};
use super::select::SelectArgs;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, program};
use crate::export::{
    self, Encoding, Lineage, Listing, Names, Overwrite, Pattern, Preview, Reach, Record, Renewal,
    Request, Summary, Target,
};
use crate::filter::{Filter, Selection};
use crate::redact::Redactor;
use crate::store::{Shown, Words};
use deletion::delete;
use output::{
    as_file, as_folder, by_suffix, foreign_suffix, is_folder, is_one_file, is_stdout,
    refuse_own_files, refuse_session_id, resolved,
};
#[cfg(feature = "hub")]
use sending::Sending;
use share::ShareArgs;
use told::Outcome;
use upload::UploadArgs;
use variant::VariantArgs;

/// Write sessions to files
///
/// The format is --format, else that of OUTPUT's suffix, else jsonl. OUTPUT is a file for formats
/// that hold all sessions in one (`-` is standard output), and a folder for formats with a file per
/// session. Every file is recorded in manifest.jsonl beside it, with its SHA-256. A file appears
/// whole or not at all.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("asks").args(["delete_after_verified", "public"]).multiple(true)))]
#[command(after_help = "\
Examples:
  hermes-sessions export backup.jsonl
  hermes-sessions export telegram.jsonl --source telegram --newer-than 1w
  hermes-sessions export - --session-id 20250305_091523_a1b2c3 | jq .title
  hermes-sessions export archive/ --format md --older-than 90 --lineage logical
  hermes-sessions export archive/ --format md --newer-than 30d --name '{date}-{title}-{id}'
  hermes-sessions export talk.html --session-id 20250305_091523_a1b2c3
  hermes-sessions export site/ --format html --newer-than 6mo
  hermes-sessions export prompts.md --only user-prompts --newer-than 30d
  hermes-sessions export shared/ --format md --session-id 20250305_0915 --share
  hermes-sessions export archive/ --format md --session-id 2025 --delete-after-verified --yes
  hermes-sessions export --upload --repo lab/talks --source cli --newer-than 1w")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(super) struct ExportArgs {
    #[arg(help = OUTPUT)]
    output: Option<PathBuf>,
    /// How to write them; `formats` lists all. A name that is not built in is a program's: NAME is written
    /// by hermes-export-NAME, which is looked for on the path
    #[arg(long, value_name = "NAME", value_parser = FormatName)]
    format: Option<String>,
    #[command(flatten)]
    variant: VariantArgs,
    /// How long a program may neither take what it is given nor end [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    format_timeout: Option<u64>,
    /// Threads that redact, search and write; what is written is the same for any number [default: one for
    /// each of the machine's cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// A part of the sessions alone
    #[arg(long, value_name = "PART", value_parser = only_names())]
    only: Option<String>,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    redact: RedactArgs,
    #[command(flatten)]
    share: ShareArgs,
    /// Write what was taken out where to a JSON file: rule, session, message, field, count
    #[arg(long, value_name = "FILE", help_heading = "Redaction")]
    report: Option<PathBuf>,
    /// single: each session is a document; logical: a compression chain is one
    #[arg(long, value_enum, value_name = "KIND")]
    lineage: Option<LineageArg>,
    /// How the files of a folder are called, without the suffix: letters, digits, `-`, `_`, `.` and
    /// {date}, {time} (of the session's start, UTC), {title}, {id}, {source}, {model}. Where the id does not
    /// stand first or last, set apart by `-`, a hash keeps names distinct [default: {id}-{title}]
    #[arg(long, value_name = "PATTERN", conflicts_with = "share")]
    name: Option<String>,
    /// The zone in which a page shows times: local, or a name such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
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
    #[arg(long, conflicts_with_all = ["from", "cold"])]
    delete_after_verified: bool,
    /// Yes: delete, or let everybody read it
    #[arg(short, long, requires = "asks")]
    yes: bool,
    #[command(flatten)]
    upload: UploadArgs,
}

const OUTPUT: &str = "A file, a folder, or - for standard output [default for formats with a file \
per session: $HERMES_HOME/session-exports]";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LineageArg {
    Single,
    Logical,
}

/// The name of a format, which need not be built in.
#[derive(Debug, Clone, Copy)]
struct FormatName;

impl TypedValueParser for FormatName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        NonEmptyStringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(FORMATS.iter().map(|format| PossibleValue::new(format.name))))
    }
}

fn only_names() -> PossibleValuesParser {
    let mut names: Vec<_> = FORMATS.iter().filter_map(|format| format.only).collect();
    names.dedup();
    names.into()
}

fn message_names() -> PossibleValuesParser {
    Shown::ALL.map(Shown::name).into()
}

/// Whether a selection takes one session, whatever the store holds.
fn is_alone(selection: &Selection) -> bool {
    match selection {
        Selection::Latest => true,
        Selection::Sessions(ids) => ids.len() == 1,
        Selection::All | Selection::Filtered(_) => false,
    }
}

pub(super) fn run(
    args: &ExportArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = args.from.store(Words::Left, global, environment, terminal)?;
    let format = args.variant.chosen(args.format(environment)?)?;
    let selection = match args.select.selection(environment, terminal)? {
        Selection::All if args.upload.since_last_upload => Selection::Filtered(Filter::ended()),
        Selection::All if args.may_be_stdout(format) => Selection::Latest,
        selection => selection,
    };
    args.check_flags(format, &selection)?;
    let redactor = args.redact.redactor(args.share.groups(format), environment)?;
    let redactor = Arc::new(redactor.disclosing(args.share.disclosure()));
    terminal.guard(&redactor);
    let target = args.target(format, &selection, environment, &store)?;
    if let Target::File(file) = &target {
        // Hermes' own store is no place for an export from elsewhere, either.
        refuse_own_files(file, &environment.store(global)?)?;
    }
    if target == Target::Stream && !args.dry_run {
        terminal.expect_data();
    }
    args.check_place(format, &target)?;
    if args.output.is_some() || !args.upload.is_on() {
        args.share.check_place(args.output.as_deref(), &target)?;
    }
    args.check_report(&redactor, &target, environment, &store)?;
    let is_redacted = redactor.groups().is_some();
    let output = args.output.is_some().then_some(&target);
    args.upload.check(format, output, (is_redacted, args.yes))?;
    #[cfg_attr(not(feature = "hub"), expect(unused_mut, reason = "a rehearsed upload narrows it"))]
    let mut request = Request {
        selection,
        shown: args.shown(format),
        lineage: args.lineage(),
        redactor,
        jobs: args.jobs.unwrap_or_else(export::cores),
        format,
        encoding: Encoding::Plain,
        target: if args.dry_run { Target::Nowhere } else { target.clone() },
        names: args.names(&target)?,
        overwrite: args.overwrite(format, &target),
        record: if args.no_manifest { Record::Nothing } else { Record::Manifest },
        exported_at: environment.now(),
        zone: args.zone(format, environment)?,
        reach: if args.delete_after_verified { Reach::Everything } else { Reach::Selected },
        listing: args.listing(global),
        renewal: Renewal::All,
    };
    #[cfg(feature = "hub")]
    if args.upload.is_on() {
        let sending = Sending { args, store: &store, global, environment, terminal };
        if !args.dry_run {
            return sending.run(request);
        }
        sending.rehearse(&mut request)?;
    }
    let preview = args.preview(&store, &request, terminal)?;
    let mut stream = args.stream(&target)?;
    let mut summary = export::run(&store, &request, &mut stream, &terminal.progress())?;
    drop(stream);
    if let Some(preview) = &preview {
        share::warn_of_name(&target, &summary, terminal);
        if args.dry_run {
            summary.messages = preview.holds.messages;
            summary.redactions.clone_from(&preview.findings);
        }
    }
    let deleted = if args.delete_after_verified && !args.dry_run {
        Some(delete(&store, &request, &mut summary, terminal)?)
    } else {
        None
    };
    if let Some(file) = args.report.as_deref().filter(|_| !args.dry_run) {
        write_report(&environment.expand(file), &summary.findings)?;
    }
    let outcome = Outcome {
        summary: &summary,
        preview: preview.as_ref(),
        deleted,
        target: &target,
        shown: request.shown,
    };
    args.tell_all(&outcome, global, terminal)?;
    Ok(store.ends(args.status(&summary)))
}

impl ExportArgs {
    fn format(&self, environment: &Environment) -> anyhow::Result<&'static Format> {
        match (self.built_in()?, &self.format) {
            (Some(format), _) => Ok(format),
            (None, Some(name)) => self.program(name, environment),
            (None, None) => Err(UsageError::new("there is no such format").into()),
        }
    }

    /// The format, if it is in the table.
    fn built_in(&self) -> Result<Option<&'static Format>, UsageError> {
        let only = self.only.as_deref();
        if self.upload.is_on() && self.format.is_none() && only.is_none() {
            return Ok(Some(UploadArgs::format()));
        }
        let named = |f: &&Format| match &self.format {
            // `--only PART --format md` is the part's row with that suffix.
            Some(name) if only.is_some() => f.only == only && f.extension == name,
            Some(name) => f.name == name,
            None => false,
        };
        if self.format.is_some() {
            let format = FORMATS.iter().find(named);
            if let (None, Some(only)) = (format, only) {
                let parts = FORMATS.iter().filter(|f| f.only == Some(only)).map(|f| f.extension);
                let parts = parts.collect::<Vec<_>>().join(" or ");
                return Err(UsageError::new(format!("--only {only} comes as {parts}")));
            }
            return Ok(format);
        }
        if let Some(suffix) = self.output.as_deref().and_then(foreign_suffix) {
            let message = format!("no format of this version writes .{suffix}");
            return Err(UsageError::new(message).hint("--format NAME says what to write there"));
        }
        let suffix = self.output.as_deref().and_then(|output| by_suffix(output, only));
        Ok(suffix.or_else(|| FORMATS.iter().find(|f| f.only == only)))
    }

    /// A format that is not built in.
    fn program(&self, name: &str, environment: &Environment) -> anyhow::Result<&'static Format> {
        let patience = self.format_timeout.map_or(program::PATIENCE, Duration::from_secs);
        let format = program::format(name, patience, environment)?;
        format.ok_or_else(|| {
            let built_in: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
            let (message, program) =
                (format!("--format: there is no format `{name}`"), format!("hermes-export-{name}"));
            let built_in = built_in.join(", ");
            let hint = format!("built in are {built_in}; {program} on the path would be another");
            UsageError::new(message).hint(hint).into()
        })
    }

    /// Looks at what strangers would get, and says so.
    pub(super) fn preview(
        &self,
        store: &Path,
        request: &Request,
        terminal: &Terminal,
    ) -> anyhow::Result<Option<Preview>> {
        if !self.share.is_share() {
            return Ok(None);
        }
        let preview = export::preview(store, request, &terminal.progress())?;
        share::tell(&preview, &request.redactor, terminal);
        Ok(Some(preview))
    }

    fn names(&self, target: &Target) -> Result<Names, UsageError> {
        let Some(pattern) = &self.name else { return Ok(self.share.names()) };
        if !matches!(target, Target::Folder(_)) {
            return Err(UsageError::new("--name does not apply to one file"));
        }
        let pattern = Pattern::parse(pattern);
        pattern.map(Names::Laid).map_err(|error| UsageError::new(format!("--name: {error}")))
    }

    /// Whether a session alone goes to standard output although no OUTPUT says so.
    fn may_be_stdout(&self, format: &Format) -> bool {
        self.output.is_none() && format.can(Feature::DefaultsToLatest)
    }

    fn shown(&self, format: &Format) -> Shown {
        let default = if self.delete_after_verified || format.can(Feature::ShowsAll) {
            Shown::All
        } else if format.can(Feature::ShowsCompacted) {
            Shown::Compacted
        } else {
            Shown::Active
        };
        self.messages.as_deref().and_then(Shown::named).unwrap_or(default)
    }

    fn zone(&self, format: &Format, environment: &Environment) -> Result<TimeZone, UsageError> {
        let Some(name) = &self.tz else { return Ok(TimeZone::UTC) };
        if !format.can(Feature::ShowsTimes) {
            return Err(UsageError::new(format!("--tz does not apply to {}", format.name)));
        }
        if name == "local" {
            return Ok(environment.clock.zone.clone());
        }
        TimeZone::get(name).map_err(|_| {
            UsageError::new(format!("--tz: there is no zone `{name}`"))
                .hint("local, UTC, or a name such as Europe/Berlin")
        })
    }

    fn overwrite(&self, format: &Format, target: &Target) -> Overwrite {
        let is_folder = matches!(target, Target::Folder(_));
        match format.layout {
            _ if self.force => Overwrite::Force,
            Layout::OneFile if is_folder => Overwrite::Known,
            Layout::FilePerSession => Overwrite::Known,
            Layout::Folder => Overwrite::Extend,
            Layout::OneFile if self.delete_after_verified => Overwrite::Extend,
            Layout::OneFile => Overwrite::Replace,
        }
    }

    fn listing(&self, global: &Global) -> Listing {
        let wanted = global.json
            || global.verbose
            || self.dry_run
            || self.delete_after_verified
            || self.share.is_share()
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
        if self.name.is_some() && format.layout == Layout::Folder {
            return Err(UsageError::new(format!("--name does not apply to {name}")));
        }
        if self.format_timeout.is_some() && !format.can(Feature::IsProgram) {
            return Err(UsageError::new(format!("--format-timeout does not apply to {name}")));
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
        if self.shown(format) != Shown::All {
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
        redactor: &Redactor,
        target: &Target,
        environment: &Environment,
        store: &Path,
    ) -> Result<(), UsageError> {
        let Some(report) = self.report.as_deref().map(|report| environment.expand(report)) else {
            return Ok(());
        };
        if redactor.groups().is_none() {
            return Err(UsageError::new("--report needs --redact"));
        }
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
        selection: &Selection,
        environment: &Environment,
        store: &Path,
    ) -> anyhow::Result<Target> {
        let Some(output) = &self.output else {
            return match format.layout {
                _ if self.may_be_stdout(format) && is_alone(selection) => Ok(Target::Stream),
                Layout::FilePerSession => {
                    Ok(Target::Folder(environment.hermes_home.join("session-exports")))
                }
                Layout::OneFile | Layout::Folder if self.dry_run => Ok(Target::Nowhere),
                Layout::OneFile => Err(UsageError::new(format!("{} needs OUTPUT", format.name))
                    .hint("a file, or - for standard output")
                    .into()),
                Layout::Folder => Err(UsageError::new(format!("{} needs OUTPUT", format.name))
                    .hint("a folder")
                    .into()),
            };
        };
        if output.as_os_str().is_empty() {
            return Err(UsageError::new("OUTPUT is empty").into());
        }
        refuse_bucket(output, "export")?;
        refuse_session_id(output, store)?;
        let output = environment.expand(output);
        refuse_own_files(&output, store)?;
        let one_document = self.select.ids().len() == 1;
        let is_file = is_stdout(&output) || is_one_file(&output, format);
        match format.layout {
            Layout::Folder if is_stdout(&output) => {
                Err(UsageError::new(format!("{} writes a folder", format.name)).into())
            }
            Layout::Folder => Ok(Target::Folder(as_folder(output)?)),
            Layout::FilePerSession if !is_file => Ok(Target::Folder(as_folder(output)?)),
            Layout::FilePerSession if !one_document => Err(UsageError::new(format!(
                "{} writes a file per session, and {} is one file",
                format.name,
                output.display()
            ))
            .hint("name a folder, or one --session-id")
            .into()),
            Layout::OneFile if format.folder.is_some() && is_folder(&output, format) => {
                Ok(Target::Folder(as_folder(output)?))
            }
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
        let unsearched = summary.searched.unreadable > 0;
        let damaged = unsearched || (summary.warnings.count > 0 && !self.lenient);
        // Of many sessions some may be empty; one that was named should not be.
        let missed = !self.select.ids().is_empty() && !summary.nothing_to_show.is_empty();
        if summary.failures.is_empty() && summary.stale.is_empty() && !damaged && !missed {
            ExitStatus::Done
        } else {
            ExitStatus::Failed
        }
    }
}
