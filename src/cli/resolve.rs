//! `resolve`: which session somebody means.

use clap::Args;
use serde_json::json;

use super::environment::Environment;
use super::exit::UsageError;
use super::select::{given, named};
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::filter::{Archived, Column, Condition, Filter, Selection, Test};
use crate::store::{self, Kind, Listing};
use crate::view;

/// Print the id of the session that a name means
///
/// A title means the newest session of its lineage: `my project #3`, where that is the last, and of a
/// compressed conversation the segment in which it goes on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes --resume \"$(hermes-sessions resolve 'my project')\"
  hermes --resume \"$(hermes-sessions resolve --latest --source cli)\"
  hermes-sessions resolve 20250305_0915")]
pub(super) struct ResolveArgs {
    /// A title, an id, or a unique prefix of one of at least 4 characters
    #[arg(
        value_name = "NAME|ID|PREFIX",
        allow_hyphen_values = true,
        required_unless_present = "latest"
    )]
    name: Option<String>,
    /// The session that was last active
    #[arg(long, conflicts_with = "name")]
    latest: bool,
    /// With --latest: on this platform
    #[arg(long, value_name = "NAME", requires = "latest")]
    source: Option<String>,
}

pub(super) fn run(
    args: &ResolveArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = environment.store(global)?;
    let head = match &args.name {
        Some(name) => Some(view::resolve(&store, named("NAME", name)?)?),
        None => view::latest(&store, &latest(args)?)?,
    };
    let Some(head) = head else {
        return Err(store::Error::NoSession.into());
    };
    if global.json {
        terminal::print(&format!("{}\n", json!({ "session": head })))?;
    } else {
        terminal::list(&format!("{}\n", head.id))?;
        terminal.detail(head.title.as_deref().unwrap_or("without a title"));
    }
    Ok(ExitStatus::Done)
}

fn latest(args: &ResolveArgs) -> Result<Listing, UsageError> {
    let mut selection = Selection::All;
    if let Some(source) = &args.source {
        let condition = Condition::Is(given("--source", source)?.to_owned());
        let tests = vec![Test { column: Column::Source, condition }];
        selection = Selection::Filtered(Filter { tests, ..Filter::everything() });
    }
    let (kind, archived) = (Kind::Conversation, Archived::Not);
    let hidden: &[&str] = if args.source.is_some() { &[] } else { &["tool", "subagent"] };
    Ok(Listing { selection, kind, archived, hidden, limit: 1 })
}
