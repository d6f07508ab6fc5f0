//! `list`: sessions, last active first.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::environment::Environment;
use super::from::FromArgs;
use super::redaction::RedactArgs;
use super::select::{SelectArgs, given};
use super::table::{WIDTH, ago, base_name, cell, shown, zoned};
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, losses};
use crate::filter::time::Clock;
use crate::filter::{Archived, Column, Condition, Test};
use crate::store::{Kind, Listing, Words};
use crate::view::{self, Listed, Sessions};

/// List sessions, last active first
///
/// A conversation that Hermes compressed is one line, with the id, title and counts of its newest
/// segment, which is what `hermes --resume` takes. Subagents' sessions and those of the source
/// `tool` are left out, archived ones, too. Running sessions are always in the list; filters narrow
/// it, and a conversation passes when one of its segments does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions list
  hermes-sessions list --source telegram --limit 50
  hermes-sessions list '#billing' --newer-than 1w
  hermes-sessions list --from webui
  hermes-sessions list --workspace api --json | jq -r '.sessions[].id'
  hermes-sessions list --kind delegate --all")]
pub(super) struct ListArgs {
    /// Only sessions with all of these tags in their titles; quote the number sign
    #[arg(value_name = "#TAG")]
    tags: Vec<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Only sessions of a workspace: part of the git repository's root, else of the working folder
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    workspace: Option<String>,
    /// Only archived sessions
    #[arg(long, conflicts_with = "all")]
    archived: bool,
    /// Archived sessions, too
    #[arg(long)]
    all: bool,
    /// How sessions stand to others
    #[arg(long, value_enum, default_value_t = KindName::Conversation, value_name = "KIND")]
    kind: KindName,
    /// Put days above the lines, which is the default on a terminal
    #[arg(long)]
    days: bool,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    redact: RedactArgs,
}

/// How sessions stand to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindName {
    /// What somebody began or branched off
    Conversation,
    /// What branched off
    Branch,
    /// What worked for another session
    Delegate,
    /// Continuations of compressed sessions, each on its own
    Segment,
    /// Every session, each on its own
    All,
}

pub(super) fn run(
    args: &ListArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = args.from.store(Words::Left, global, environment, terminal)?;
    let listing = listing(args, environment, terminal)?;
    let list = view::sessions(&store, &listing, &args.redact.redactor(&[], environment)?)?;
    if global.json {
        let mut report = json!({ "sessions": list.sessions });
        losses::report(&list.losses, list.searched, &mut report);
        terminal::print(&format!("{report}\n"))?;
    } else if !list.sessions.is_empty() {
        let days = args.days || terminal::is_terminal();
        let layout = Layout::of(&list.sessions, args.workspace.is_some());
        terminal::print(&layout.table(&list.sessions, days, &environment.clock, terminal))?;
    }
    let status = tell(args, &list, terminal);
    Ok(store.ends(status))
}

fn listing(
    args: &ListArgs,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<Listing> {
    let mut own = Vec::new();
    if let Some(workspace) = &args.workspace {
        let condition = Condition::Contains(given("--workspace", workspace)?.to_owned());
        own.push(Test { column: Column::Workspace, condition });
    }
    for tag in &args.tags {
        let name = tag.strip_prefix('#').filter(|name| !name.is_empty()).ok_or_else(|| {
            let message = format!("`{tag}` is no tag; a tag is a number sign and a word");
            super::exit::UsageError::new(message).hint("part of a title is `--title TEXT`")
        })?;
        let condition = Condition::Tagged(name.to_owned());
        own.push(Test { column: Column::Title, condition });
    }
    let archived = match (args.archived, args.all) {
        (true, _) => Archived::Only,
        (false, true) => Archived::Any,
        (false, false) => Archived::Not,
    };
    let (kind, all) = kind(args.kind);
    Ok(Listing {
        selection: args.select.shown(own, environment, terminal)?,
        kind,
        archived,
        hidden: if all || args.select.names_source() { &[] } else { &["tool"] },
        limit: args.limit,
    })
}

fn kind(name: KindName) -> (Kind, bool) {
    match name {
        KindName::Conversation => (Kind::Conversation, false),
        KindName::Branch => (Kind::Branch, false),
        KindName::Delegate => (Kind::Delegate, false),
        KindName::Segment => (Kind::Segment, false),
        KindName::All => (Kind::All, true),
    }
}

fn tell(args: &ListArgs, list: &Sessions, terminal: &Terminal) -> ExitStatus {
    if list.sessions.is_empty() && !list.more {
        terminal.note("no session matches");
    }
    if list.more {
        terminal.note(&match args.limit {
            0 => "--limit 0 shows none of them".to_owned(),
            limit => format!("there are more than {limit}; --limit N shows them"),
        });
    }
    if list.excluded > 0 {
        terminal.note(&format!("{} left out by --exclude", list.excluded));
    }
    if list.unreadable > 0 {
        terminal.warning(&format!("{} damaged sessions are left out", list.unreadable));
    }
    if list.by_start {
        terminal.warning(
            "the times of messages are damaged; sessions are in the order of their starts",
        );
    }
    let status = losses::tell(&list.losses, terminal);
    let damaged = list.unreadable > 0 || list.by_start;
    let rows = if damaged { ExitStatus::Failed } else { ExitStatus::Done };
    rows.and(status).and(losses::tell_search(list.searched, terminal))
}

/// Which columns a table has, and how wide they are.
struct Layout {
    title: usize,
    preview: usize,
    workspace: usize,
    source: usize,
}

/// The width of the times, and of the blanks between the columns.
const TIME: usize = 11;
const GAP: usize = 2;

impl Layout {
    /// Titles, workspaces and sources are columns where they tell something.
    fn of(sessions: &[Listed], by_workspace: bool) -> Self {
        let titled = sessions.iter().any(|session| session.title.is_some());
        let placed = by_workspace || sessions.iter().any(|session| session.workspace.is_some());
        let mixed = sessions.windows(2).any(|pair| pair[0].source != pair[1].source);
        let widest = |text: fn(&Listed) -> &str| {
            sessions.iter().map(|session| text(session).chars().count()).max().unwrap_or(0)
        };
        let workspace = if placed { widest(workspace).clamp(9, 18) } else { 0 };
        let source = if mixed || !titled { widest(source).clamp(3, 10) } else { 0 };
        let id = widest(|session| &session.id);
        let fixed = [TIME, workspace, source].into_iter().filter(|w| *w > 0).map(|w| w + GAP);
        let left = terminal::width().unwrap_or(WIDTH).saturating_sub(fixed.sum::<usize>() + id);
        let title = if titled { (left / 2).clamp(16, 32) } else { 0 };
        let preview = left.saturating_sub(if titled { title + GAP } else { 0 } + GAP);
        // A preview of a few letters tells nothing, but it is all there is without titles.
        let preview = if preview >= 12 {
            preview.min(48)
        } else if titled {
            0
        } else {
            12
        };
        Self { title, preview, workspace, source }
    }

    fn table(&self, sessions: &[Listed], days: bool, clock: &Clock, to: &Terminal) -> String {
        let mut table = to.bold(
            self.line(["Title", "Preview", "Workspace", "Last Active", "Src"], "ID").trim_end(),
        );
        table.push('\n');
        let mut day = "";
        for session in sessions {
            let here = group(session.last_active, clock);
            if days && here != day {
                let _ = writeln!(table, "{}", to.dim(here)); // a String takes everything
                day = here;
            }
            let title = session.title.as_deref().unwrap_or("—");
            let last = ago(session.last_active, clock);
            let cells = [title, &session.preview, workspace(session), &last, source(session)];
            table.push_str(&self.line(cells, &shown(&session.id)));
            table.push('\n');
        }
        table
    }

    fn line(&self, cells: [&str; 5], id: &str) -> String {
        let widths = [self.title, self.preview, self.workspace, TIME, self.source];
        let mut line = String::new();
        for (text, width) in cells.into_iter().zip(widths).filter(|(_, width)| *width > 0) {
            line.push_str(&cell(text, width));
            line.push_str(&" ".repeat(GAP));
        }
        line + id
    }
}

fn workspace(session: &Listed) -> &str {
    session.workspace.as_deref().map_or("—", base_name)
}

fn source(session: &Listed) -> &str {
    session.source.as_deref().unwrap_or("—")
}

/// The day above a line.
fn group(time: Option<f64>, clock: &Clock) -> &'static str {
    let today = clock.now.to_zoned_datetime(clock.zone.clone()).date();
    match time.and_then(|time| zoned(time, clock)).map(|zoned| zoned.date()) {
        Some(day) if day >= today => "Today",
        Some(day) if today.yesterday().is_ok_and(|yesterday| day == yesterday) => "Yesterday",
        _ => "Earlier",
    }
}
