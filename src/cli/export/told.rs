//! What an export tells when it is done: lines for people, one object for scripts.

use formats::NothingToShow;
use serde_json::json;

use super::super::terminal::{self, Terminal};
use super::super::{Global, losses};
use super::ExportArgs;
use super::output::is_stdout;
use crate::export::{Preview, Summary, Target};
use crate::store::{self, Shown};

/// What an export did, and where.
pub(super) struct Outcome<'a> {
    pub(super) summary: &'a Summary,
    /// Of a snapshot for strangers.
    pub(super) preview: Option<&'a Preview>,
    pub(super) deleted: Option<store::Removal>,
    /// Where it went, or would have gone.
    pub(super) target: &'a Target,
    pub(super) shown: Shown,
}

impl ExportArgs {
    /// Tells people, and scripts that asked for JSON, what was done.
    pub(super) fn tell_all(
        &self,
        outcome: &Outcome<'_>,
        global: &Global,
        terminal: &Terminal,
    ) -> anyhow::Result<()> {
        let Outcome { summary, preview, deleted, target, shown: _ } = *outcome;
        warn(summary, terminal);
        self.tell(outcome, terminal);
        if let Some(store::Removal { sessions, messages }) = deleted {
            terminal.done(&format!(
                "Deleted {} and {} from the store",
                counted(sessions, "session"),
                counted(messages, "message")
            ));
        }
        if global.json {
            let mut object = self.json(summary, deleted);
            if let Some(Preview { holds, findings }) = preview {
                object["preview"] = json!({ "holds": holds, "findings": findings });
            }
            if self.upload.is_on() {
                let (dataset, visibility) = (self.upload.dataset(), self.upload.visibility());
                object["upload"] = json!({ "dataset": dataset, "visibility": visibility });
            }
            let is_data = *target == Target::Stream && !self.dry_run;
            let line = format!("{object}\n");
            if is_data { terminal::print_aside(&line) } else { terminal::print(&line) }?;
        }
        Ok(())
    }

    fn tell(&self, outcome: &Outcome<'_>, terminal: &Terminal) {
        let Outcome { summary, preview, target, shown, .. } = *outcome;
        note(summary, terminal);
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
            let counted = if shown == Shown::Active && preview.is_none() {
                " (as Hermes counts them)"
            } else {
                ""
            };
            let what = format!("{matched} with {messages}{counted}");
            let (dataset, visibility) = (self.upload.dataset(), self.upload.visibility());
            let then = if self.upload.is_on() {
                format!("and send it to {dataset} ({visibility})")
            } else {
                format!("to {place}{delete}")
            };
            terminal.done(&format!("Would export {what} {then}"));
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
    pub(in crate::cli) fn report_failure(
        &self,
        object: &mut serde_json::Value,
        terminal: &Terminal,
    ) -> std::io::Result<()> {
        if let (Some(failure), serde_json::Value::Object(report)) =
            (object.as_object_mut(), self.json(&Summary::default(), None))
        {
            failure.extend(report);
        }
        let named = !self.dry_run && self.output.as_deref().is_some_and(is_stdout);
        let is_data = named || terminal.has_data();
        let line = format!("{object}\n");
        if is_data { terminal::print_aside(&line) } else { terminal::print(&line) }
    }

    pub(super) fn json(
        &self,
        summary: &Summary,
        deleted: Option<store::Removal>,
    ) -> serde_json::Value {
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
            "nothing_to_show": summary.nothing_to_show,
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

/// Says what the selection left out.
pub(super) fn note(summary: &Summary, terminal: &Terminal) {
    if summary.running_left_out > 0 {
        let running = counted(summary.running_left_out, "running session");
        let verb = if summary.running_left_out == 1 { "matches" } else { "match" };
        terminal.note(&format!("{running} also {verb}; --include-open adds them"));
    }
    losses::tell_search(summary.searched, terminal);
    if summary.excluded > 0 {
        let excluded = counted(summary.excluded, "session");
        terminal.note(&format!("{excluded} left out by --exclude"));
    }
    for id in summary.nothing_to_show.iter().take(terminal.patience()) {
        terminal.note(&format!("session {id} was left out: {NothingToShow}"));
    }
    if summary.nothing_to_show.len() > terminal.patience() {
        let more = summary.nothing_to_show.len() - terminal.patience();
        terminal.note(&format!("{} more were left out, too", counted(more as u64, "session")));
    }
}

/// Says what was lost on the way.
pub(super) fn warn(summary: &Summary, terminal: &Terminal) {
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

pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
