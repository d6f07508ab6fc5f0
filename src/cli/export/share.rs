//! `--share`, a snapshot for strangers, with what is told of it before it is written; and `--sanitize`, an
//! outline for bug reports.

use std::path::Path;

use clap::{Args, ValueEnum};
use formats::{Feature, Format, Tally};

use super::super::exit::UsageError;
use super::super::terminal::Terminal;
use super::told::counted;
use crate::export::{Names, Preview, Summary, Target};
use crate::manifest::Manifest;
use crate::redact::rule::Group;
use crate::redact::{Disclosure, Redactor, ToolOutput};

/// How much of the sessions is shown.
#[derive(Debug, Args)]
pub(super) struct ShareArgs {
    /// A snapshot for strangers: secrets, what names people, and paths are taken out, and there is no
    /// system prompt, profile, user, chat, origin, model set-up or working folder. Files get names that
    /// tell nothing, and say which version made them. What they hold is told before they are written;
    /// with --dry-run that is all. `no-tools` also leaves out what tools gave back
    #[arg(
        long,
        value_enum,
        value_name = "no-tools",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        hide_possible_values = true,
        conflicts_with = "delete_after_verified",
        help_heading = "Redaction"
    )]
    share: Option<ShareArg>,
    /// An outline for a bug report: each text becomes its kind and length, `[text:title:14]`. Counters,
    /// times, ids, models, tools, the shape of JSON and error messages stay; what stays is redacted
    #[arg(
        long,
        conflicts_with_all = ["share", "no_redact", "delete_after_verified"],
        help_heading = "Redaction"
    )]
    sanitize: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShareArg {
    All,
    NoTools,
}

impl ShareArgs {
    pub(super) fn is_share(&self) -> bool {
        self.share.is_some()
    }

    pub(super) fn disclosure(&self) -> Disclosure {
        match self.share {
            None if self.sanitize => Disclosure::Outline,
            None => Disclosure::Whole,
            Some(ShareArg::All) => Disclosure::Share(ToolOutput::Kept),
            Some(ShareArg::NoTools) => Disclosure::Share(ToolOutput::LeftOut),
        }
    }

    /// The groups of rules that are on without being asked for.
    pub(super) fn groups(&self, format: &Format) -> &'static [Group] {
        if self.is_share() || self.sanitize {
            &Group::ALL
        } else if format.can(Feature::RedactsByDefault) {
            &[Group::Secrets]
        } else {
            &[]
        }
    }

    pub(super) fn names(&self) -> Names {
        if self.is_share() { Names::Neutral } else { Names::Usual }
    }

    /// A folder that is handed on must hold nothing else, so none is taken unnamed or with an archive in it.
    pub(super) fn check_place(&self, output: Option<&Path>, target: &Target) -> anyhow::Result<()> {
        let Target::Folder(folder) = target else { return Ok(()) };
        if !self.is_share() {
            return Ok(());
        }
        if output.is_none() {
            let hint = "a folder of its own, such as shared/";
            return Err(UsageError::new("--share needs OUTPUT").hint(hint).into());
        }
        let manifest = Manifest::read(folder)?;
        let others = manifest.current().into_values().any(|line| {
            !line.disclosure.as_deref().is_some_and(|disclosure| disclosure.starts_with("share"))
        });
        if others {
            let message = format!("{} holds files that are not for strangers", folder.display());
            return Err(UsageError::new(message).hint("name another folder").into());
        }
        Ok(())
    }
}

/// Says what strangers would get.
pub(super) fn tell(preview: &Preview, redactor: &Redactor, terminal: &Terminal) {
    let Tally { sessions, messages, tool_results, images, other_attachments } = preview.holds;
    if sessions == 0 {
        return;
    }
    let (sessions, messages) = (counted(sessions, "session"), counted(messages, "message"));
    let results = counted(tool_results, "tool result");
    terminal.done(&format!("For strangers: {sessions}, {messages}, {results} among them"));
    let attachments = [(images, "image"), (other_attachments, "other attachment")]
        .into_iter()
        .filter(|a| a.0 > 0);
    let attachments: Vec<_> = attachments.map(|(count, noun)| counted(count, noun)).collect();
    if !attachments.is_empty() {
        let what = attachments.join(" and ");
        terminal.done(&format!("  with {what}, in which nothing can be redacted"));
    }
    for (rule, count) in &preview.findings {
        terminal.done(&format!("  taken out: {count} × {rule}"));
    }
    if redactor.groups().is_none() {
        terminal.warning("nothing is redacted in it");
    }
    let tools = match redactor.disclosure() {
        Disclosure::Share(ToolOutput::LeftOut) => "tool output, ",
        Disclosure::Share(ToolOutput::Kept) | Disclosure::Whole | Disclosure::Outline => "",
    };
    let what = format!("{tools}system prompts, people, chats, profiles, folders and set-up");
    terminal.done(&format!("  left out: {what}"));
}

/// A file that the user names can tell what its name should not.
pub(super) fn warn_of_name(target: &Target, summary: &Summary, terminal: &Terminal) {
    let Target::File(file) = target else { return };
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let tells = |text: &str| text.chars().count() > 3 && name.contains(&text.to_lowercase());
    let told = |listed: &crate::export::Listed| {
        tells(&listed.id) || listed.title.as_deref().is_some_and(tells)
    };
    if summary.sessions.iter().any(told) {
        terminal.warning(&format!("the name of {} tells which session it is", file.display()));
    }
}
