//! What commands that ask show first, and the question.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::environment::Environment;
use super::exit::UsageError;
use super::terminal::{self, Terminal};
use super::{Global, losses};
use crate::care::Plan;
use crate::export::Listed;
use crate::filter::time::Clock;

/// How many sessions are listed before a question; a dry run lists all.
const LISTED: usize = 15;

/// What is about to be done.
pub(super) struct Proposal<'p> {
    /// `Delete`, `Archive`, …
    pub(super) verb: &'static str,
    pub(super) plan: &'p Plan,
    pub(super) environment: &'p Environment,
}

impl Proposal<'_> {
    /// What `--json` tells of a selection.
    pub(super) fn report(&self, command: &str, dry_run: bool) -> serde_json::Value {
        let Plan { sessions, running_left_out, excluded, .. } = self.plan;
        serde_json::json!({
            "command": command,
            "dry_run": dry_run,
            "matched": sessions.len(),
            "running_left_out": running_left_out,
            "excluded": excluded,
            "sessions": sessions,
        })
    }

    /// Tells what is left out, and whether anything is left to do.
    pub(super) fn is_empty(&self, terminal: &Terminal) -> bool {
        let Plan { running_left_out, excluded, unreadable, sessions, .. } = self.plan;
        if *running_left_out > 0 {
            let running = counted(*running_left_out, "running session");
            let verb = if *running_left_out == 1 { "matches" } else { "match" };
            terminal.note(&format!("{running} also {verb} and will be left"));
        }
        if *excluded > 0 {
            terminal.note(&format!("{} left out by --exclude", counted(*excluded, "session")));
        }
        if *unreadable > 0 {
            terminal
                .warning(&format!("{} left: the row is damaged", counted(*unreadable, "session")));
        }
        losses::tell_search(self.plan.searched, terminal);
        if sessions.is_empty() {
            terminal.note("no session matches; nothing was done");
        }
        sessions.is_empty()
    }

    /// Prints what a run without `--dry-run` would touch.
    pub(super) fn rehearse(&self, global: &Global, terminal: &Terminal) -> anyhow::Result<()> {
        if !global.json {
            terminal::list(&self.table(usize::MAX))?;
        }
        terminal.done(&format!("Would {} {}", self.verb.to_lowercase(), self.summary()));
        Ok(())
    }

    /// Whether the user wants it; without a terminal to ask on, that must have been said.
    pub(super) fn is_agreed(&self, yes: bool, terminal: &Terminal) -> anyhow::Result<bool> {
        if yes {
            return Ok(true);
        }
        if !terminal.can_ask() {
            let verb = self.verb.to_lowercase();
            let message = format!("nobody can be asked whether to {verb} {}", self.summary());
            return Err(UsageError::new(message).hint("--yes goes ahead, --dry-run shows").into());
        }
        let question = format!("{}{} {}?", self.table(LISTED), self.verb, self.summary());
        let agreed = terminal.agrees(&question)?;
        if !agreed {
            terminal.done("Nothing was done");
        }
        Ok(agreed)
    }

    fn summary(&self) -> String {
        let Plan { sessions, doomed, .. } = self.plan;
        let messages: u64 =
            sessions.iter().filter_map(|s| u64::try_from(s.message_count?).ok()).sum();
        let along = match doomed.along.len() as u64 {
            0 => String::new(),
            _ if self.verb != "Delete" => String::new(),
            n => format!(" and {} that worked for them", counted(n, "session")),
        };
        let clock = &self.environment.clock;
        let of = |session: Option<&Listed>| date(session.and_then(|s| s.started_at), clock);
        format!(
            "{} with {}{along} (oldest {}, newest {})",
            counted(sessions.len() as u64, "session"),
            counted(messages, "message"),
            of(sessions.first()),
            of(sessions.last()),
        )
    }

    fn table(&self, most: usize) -> String {
        let sessions = &self.plan.sessions;
        let mut table = String::new();
        for Listed { id, source, title, started_at, message_count, .. } in
            sessions.iter().take(most)
        {
            let _ = writeln!(
                table,
                "{}  {}  {:<10} {:>5} messages  {}",
                terminal::one_line(id),
                date(*started_at, &self.environment.clock),
                terminal::one_line(source.as_deref().unwrap_or("-")),
                message_count.unwrap_or(0),
                terminal::one_line(title.as_deref().unwrap_or("-")),
            );
        }
        if sessions.len() > most {
            let _ = writeln!(table, "… and {} more", sessions.len() - most);
        }
        table
    }
}

/// A time of the store in the user's zone.
pub(super) fn date(seconds: Option<f64>, clock: &Clock) -> String {
    let instant = seconds.and_then(|s| {
        #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest integer")]
        Timestamp::from_second(s as i64).ok()
    });
    instant.map_or("-".to_owned(), |instant| {
        clock.zone.to_datetime(instant).strftime("%Y-%m-%d %H:%M").to_string()
    })
}

pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
