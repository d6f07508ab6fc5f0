//! `rename`: another title for a session.

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::environment::Environment;
use super::exit::UsageError;
use super::select::named;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::care::title;
use crate::store::{self, Retitled};

/// Give a session another title
///
/// A title has at most 100 characters on one line, and belongs to one session. Characters that cannot be
/// seen are taken out. The newest part of a compressed conversation takes the title from an older part.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions rename 20250305_091523_a1b2c3 debugging the auth flow
  hermes-sessions rename 20250305_091523_a1b2c3 --clear")]
pub(super) struct RenameArgs {
    /// The session, by its id or a unique prefix of at least 4 characters
    id: String,
    /// The title; words need no quotes
    #[arg(required_unless_present = "clear", conflicts_with = "clear")]
    title: Vec<String>,
    /// Take the title away
    #[arg(long)]
    clear: bool,
}

pub(super) fn run(
    args: &RenameArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    named("ID", &args.id)?;
    let title = if args.clear { None } else { Some(args.title()?) };
    let store = environment.store(global)?;
    let (id, retitled) = store::write(&store, |change| {
        let snapshot = change.snapshot()?;
        let key = snapshot.resolve(&args.id)?;
        let retitled = change.retitle(key, title.as_deref())?;
        Ok::<_, store::Error>((snapshot.id(key)?, retitled))
    })
    .context("the session was not renamed")?;
    if let Retitled::TakenFrom(other) = &retitled {
        terminal.note(&format!("taken from session {other}, which this one continues"));
    }
    match &title {
        Some(title) => terminal.done(&format!("Session {id} is now `{title}`")),
        None => terminal.done(&format!("Session {id} has no title now")),
    }
    let report = json!({ "command": "rename", "id": id, "title": title });
    terminal::print_report(global, &report)?;
    Ok(ExitStatus::Done)
}

impl RenameArgs {
    fn title(&self) -> Result<String, UsageError> {
        title::clean(&self.title.join(" ")).map_err(|refused| {
            let error = UsageError::new(refused.to_string());
            if refused == title::Refused::Empty {
                error.hint("--clear takes it away")
            } else {
                error
            }
        })
    }
}
