//! `doctor ID`: where one session is, and why lists do not show it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::consent::counted;
use super::environment::Environment;
use super::table::shown;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, doctor};
use crate::care::places;
use crate::care::transcripts;
use crate::store;
use crate::view::{self, Trace};

/// All places where a session was looked for.
struct Search {
    /// In the store.
    here: Option<Trace>,
    /// Messages in the store whose session is lost.
    orphans: u64,
    /// In other stores.
    elsewhere: Vec<(PathBuf, Trace)>,
    /// Files of it.
    files: Vec<PathBuf>,
}

pub(super) fn run(
    id: &str,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = environment.store(global)?;
    let search = look(&store, id, environment)?;
    if global.json {
        terminal::print(&format!("{}\n", search.as_json(&store)))?;
    } else {
        terminal::list(&search.as_text())?;
    }
    if search.here.is_some() {
        return Ok(ExitStatus::Done);
    }
    let hint = if search.is_lost() {
        "it was deleted or pruned, or HERMES_HOME was another; `restore` brings back what a backup has"
    } else {
        "what has it is named above"
    };
    terminal.error(
        &format!("the store {} has no session `{id}`", store.display()),
        &[],
        Some(hint),
    );
    Ok(ExitStatus::Failed)
}

fn look(store: &Path, id: &str, environment: &Environment) -> anyhow::Result<Search> {
    let (here, orphans) = match view::trace(store, id) {
        Err(store::Error::Missing(_)) => (None, 0),
        here => (here?, view::orphans(store, id)?),
    };
    let (others, webui) = doctor::elsewhere(store, environment);
    let mut elsewhere = Vec::new();
    for other in others {
        // One that cannot be read, or has several that are meant, has nothing to tell.
        if let Ok(Some(trace)) = view::trace(&other.path, id) {
            elsewhere.push((other.path, trace));
        }
    }
    let named = here.as_ref().map_or(id, |trace| trace.session.id.as_str());
    let mut files = places::files_of(&transcripts::folder(store), named);
    for (state, _) in webui {
        files.extend(places::files_of(&state.join("sessions"), named));
    }
    Ok(Search { here, orphans, elsewhere, files })
}

impl Search {
    fn is_lost(&self) -> bool {
        self.orphans == 0 && self.elsewhere.is_empty() && self.files.is_empty()
    }

    fn as_text(&self) -> String {
        let mut text = String::new();
        let mut line = |head: &str, body: &str| {
            let _ = writeln!(text, "{head:<12} {body}"); // a String takes everything
        };
        if let Some(trace) = &self.here {
            describe(trace, &mut line);
        }
        if self.orphans > 0 {
            let messages = counted(self.orphans, "message");
            line(
                "orphans",
                &format!(
                    "the store has {messages} of it without its row; `repair --into NEW` makes it anew"
                ),
            );
        }
        for (path, trace) in &self.elsewhere {
            let title = trace.session.title.as_deref().map_or("—".to_owned(), shown);
            let body = format!("{} has it ({title}); `--db` reads that", path.display());
            line("other store", &body);
        }
        for path in &self.files {
            line("file", &format!("{}; `import` takes it", path.display()));
        }
        text
    }

    fn as_json(&self, store: &Path) -> serde_json::Value {
        let other = |(path, trace): &(PathBuf, Trace)| json!({ "path": path.display().to_string(), "found": trace });
        json!({
            "command": "doctor",
            "store": store.display().to_string(),
            "found": self.here,
            "orphaned_messages": self.orphans,
            "other_stores": self.elsewhere.iter().map(other).collect::<Vec<_>>(),
            "files": self.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        })
    }
}

fn describe(trace: &Trace, line: &mut impl FnMut(&str, &str)) {
    let Trace { session, kind, archived, hidden_source, worked_for, listed_as } = trace;
    let title = session.title.as_deref().map_or("—".to_owned(), shown);
    let id = shown(&session.id);
    line("session", &format!("{id} · {title} · {}", counted(session.messages, "message")));
    let mut hidden = false;
    let mut why = |head: &str, body: &str| {
        hidden = true;
        line(head, body);
    };
    if *archived {
        why("archived", &format!("in no list; `unarchive --session-id {id}` brings it back"));
    }
    if let Some(tip) = listed_as {
        why(
            "compressed",
            &format!("lists show {} in its place, which goes on from there", shown(tip)),
        );
    }
    if *kind == "delegate" {
        let owner = worked_for.as_deref().map_or("a session that is gone".to_owned(), shown);
        why("delegate", &format!("it worked for {owner}; `list --kind delegate` shows it"));
    }
    if *hidden_source {
        why("tool", "its source is left out of lists; `list --source tool` shows it");
    }
    if session.messages == 0 {
        why("empty", "no message of it is active");
    }
    if session.ended_at.is_none() {
        line("running", "it has not ended, so filters leave it out without --include-open");
    }
    if !hidden {
        line("listed", "`list --limit N` shows it, if N is large enough");
    }
}
