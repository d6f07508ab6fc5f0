//! `doctor`: where the sessions are, and why one may seem lost.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::HumanBytes;
use serde_json::json;

use super::consent::counted;
use super::environment::Environment;
use super::select::named;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, missed};
use crate::care::places::{self, OtherStore, Transcripts};
use crate::care::transcripts;
use crate::store::{self, Census, Size};

/// Tell where the sessions are, and why one may seem lost
///
/// Looks at the store that the other commands would use, at the stores of profiles and at other places
/// where Hermes or its web interface may have kept sessions, and tells which sessions no list shows. Changes
/// nothing. The status is 1 if the store is missing or damaged.
///
/// With ID: where that session is, and why lists do not show it. The status is 1 if the store does not
/// have it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions doctor
  hermes-sessions doctor 20250305_091523_a1b2c3
  hermes-sessions --profile work doctor --json")]
pub(super) struct DoctorArgs {
    /// Tell about this session alone: an id, a unique prefix of at least 4 characters, or a title
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    id: Option<String>,
}

/// All that was found.
struct Findings {
    store: PathBuf,
    here: Option<(Census, Size)>,
    others: Vec<OtherStore>,
    webui: Vec<(PathBuf, usize)>,
    transcripts: Transcripts,
}

pub(super) fn run(
    args: &DoctorArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    if let Some(id) = &args.id {
        return missed::run(named("ID", id)?, global, environment, terminal);
    }
    let findings = examine(environment.store(global)?, environment)?;
    if global.json {
        terminal::print(&format!("{}\n", findings.as_json()))?;
    } else {
        terminal::list(&findings.as_text(environment))?;
    }
    let whole = findings.here.as_ref().is_some_and(|(census, _)| census.damage.is_empty());
    if !whole {
        let what = if findings.here.is_some() { "damaged" } else { "missing" };
        terminal.error(&format!("the store {} is {what}", findings.store.display()), &[], None);
    }
    Ok(if whole { ExitStatus::Done } else { ExitStatus::Failed })
}

fn examine(store: PathBuf, environment: &Environment) -> anyhow::Result<Findings> {
    let folder = transcripts::folder(&store);
    let (here, transcripts) = match store::existing(&store) {
        Err(store::Error::Missing(_)) => {
            (None, Transcripts::of(&folder, |_| Ok::<_, store::Error>(false))?)
        }
        Err(error) => return Err(error.into()),
        Ok(path) => store::read(&store, |snapshot| {
            let here = Some((snapshot.census()?, store::size(&path)?));
            let is_known = |id: &str| snapshot.find(id).map(|found| found.is_some());
            Ok::<_, store::Error>((here, Transcripts::of(&folder, is_known)?))
        })?,
    };
    let (others, webui) = elsewhere(&store, environment);
    Ok(Findings { store, here, others, webui, transcripts })
}

/// Other stores, and folders of the web interface with how many sessions they have.
pub(super) fn elsewhere(
    store: &Path,
    environment: &Environment,
) -> (Vec<OtherStore>, Vec<(PathBuf, usize)>) {
    let mut others = places::profiles(&environment.hermes_home);
    let default = environment.home.as_ref().map(|home| home.join(".hermes"));
    let homes = [Some(environment.hermes_home.clone()), default.clone()];
    others.extend(homes.iter().flatten().filter_map(|home| OtherStore::at(home.join("state.db"))));
    others.retain(|other| !is_same(&other.path, store));
    others.dedup_by(|a, b| is_same(&a.path, &b.path));
    let mut webui: Vec<PathBuf> = environment.webui.iter().cloned().collect();
    webui.extend(homes.iter().flatten().map(|home| home.join("webui")));
    webui.dedup_by(|a, b| is_same(a, b));
    let webui = webui.into_iter().filter_map(|state| {
        let sessions = places::webui_sessions(&state)?;
        Some((state, sessions))
    });
    (others, webui.collect())
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

impl Findings {
    fn as_text(&self, environment: &Environment) -> String {
        let mut text = String::new();
        let mut line = |head: &str, body: &str| {
            let _ = writeln!(text, "{head:<12} {body}");
        };
        let because = if environment.is_home_given { ", from HERMES_HOME" } else { "" };
        let store = self.store.display();
        match &self.here {
            None => line("store", &format!("{store}: there is none{because}")),
            Some((census, size)) => {
                let schema = census.schema_version.as_deref().unwrap_or("unknown");
                let wal = HumanBytes(size.wal);
                let file = HumanBytes(size.file);
                let of = format!("{store} ({file}, log {wal}, schema {schema}{because})");
                line("store", &of);
                describe(census, &mut line);
            }
        }
        for other in &self.others {
            let sessions = other
                .sessions
                .map_or("cannot be read".to_owned(), |n| counted(n as u64, "session"));
            line("other store", &format!("{}: {sessions}", other.path.display()));
        }
        for (state, sessions) in &self.webui {
            let sessions = counted(*sessions as u64, "session");
            line("WebUI", &format!("{}: {sessions} of its own", state.display()));
        }
        let Transcripts { kept, only_here, has_routing_index } = &self.transcripts;
        if !kept.is_empty() {
            let files = counted(kept.len() as u64, "old transcript");
            line(
                "transcripts",
                &format!("{files} of sessions that the store has; nobody reads them"),
            );
        }
        for name in only_here {
            line("transcripts", &format!("sessions/{name}: its session is not in the store"));
        }
        if *has_routing_index {
            line("routing", "sessions/sessions.json is the gateway's index, no list of sessions");
        }
        text
    }

    fn as_json(&self) -> serde_json::Value {
        let here = self.here.as_ref().map(|(census, size)| {
            json!({
                "schema_version": census.schema_version,
                "bytes": size.file,
                "wal_bytes": size.wal,
                "sessions": census.sessions,
                "running": census.running,
                "archived": census.archived,
                "delegates": census.delegates,
                "continued": census.continued,
                "tools": census.tools,
                "messages": census.messages,
                "orphaned_messages": census.orphans,
                "damage": census.damage.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        });
        let other = |other: &OtherStore| json!({ "path": other.path.display().to_string(), "sessions": other.sessions });
        let webui = |(path, sessions): &(PathBuf, usize)| json!({ "path": path.display().to_string(), "sessions": sessions });
        json!({
            "command": "doctor",
            "store": self.store.display().to_string(),
            "holds": here,
            "other_stores": self.others.iter().map(other).collect::<Vec<_>>(),
            "webui": self.webui.iter().map(webui).collect::<Vec<_>>(),
            "transcripts_in_store": self.transcripts.kept,
            "transcripts_only_here": self.transcripts.only_here,
            "routing_index": self.transcripts.has_routing_index,
        })
    }
}

/// What the store holds, and what of it lists leave out.
fn describe(census: &Census, line: &mut impl FnMut(&str, &str)) {
    let sessions = counted(census.sessions, "session");
    line("holds", &format!("{sessions}, {}", counted(census.messages, "message")));
    for (head, count, what) in [
        ("running", census.running, "left out by filters without --include-open"),
        ("archived", census.archived, "in no list; `unarchive` brings back"),
        ("compressed", census.continued, "in lists as the session that goes on from there"),
        ("delegates", census.delegates, "in no list, but for the session that they worked for"),
        ("tool", census.tools, "left out of Hermes' lists"),
    ] {
        if count > 0 {
            line(head, &format!("{}: {what}", counted(count, "session")));
        }
    }
    if census.orphans > 0 {
        line("orphans", &format!("{} of no session", counted(census.orphans, "message")));
    }
    for damage in &census.damage {
        line("damage", &damage.to_string());
    }
}
