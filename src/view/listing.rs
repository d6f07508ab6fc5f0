//! A list of sessions.

use std::ops::ControlFlow;
use std::path::Path;

use formats::is_compaction_summary;
use formats::model::{MessageColumn, Session, SessionColumn};
use serde::Serialize;

use super::losses::Losses;
use super::said::Reader;
use super::text::{one_line, plain, preview};
use crate::redact::Redactor;
use crate::store::{self, Entry, Kind, Listing, SessionKey};

/// How many characters of the first message a list shows.
const PREVIEW: usize = 60;
/// How many messages are looked at for one that is the user's own.
const OPENINGS: usize = 5;

/// A list of sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    /// Last active first.
    pub sessions: Vec<Listed>,
    /// Whether there are more.
    pub more: bool,
    /// Sessions that `--exclude` took out.
    pub excluded: u64,
    /// Sessions whose rows are damaged.
    pub unreadable: u64,
    /// How what was said was looked for.
    pub searched: store::Searched,
    /// The times of messages are damaged, so the order is that of the starts.
    pub by_start: bool,
    /// What was lost on the way.
    pub losses: Losses,
}

/// A session as lists show it: a compressed conversation as its newest segment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// The first session of the conversation, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lineage_root_id: Option<String>,
    /// How it stands to other sessions.
    pub kind: &'static str,
    /// The platform.
    pub source: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The user's first words in it.
    pub preview: String,
    /// The model.
    pub model: Option<String>,
    /// The working folder.
    pub cwd: Option<String>,
    /// The git branch.
    pub git_branch: Option<String>,
    /// The root of the git repository, else the working folder.
    pub workspace: Option<String>,
    /// When the conversation began: seconds since the epoch.
    pub started_at: Option<f64>,
    /// Seconds since the epoch; null while it runs.
    pub ended_at: Option<f64>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// When its last message was sent, else when it began: seconds since the epoch.
    pub last_active: Option<f64>,
    /// Messages, as Hermes counted them.
    pub message_count: Option<i64>,
    /// Tool calls, as Hermes counted them.
    pub tool_call_count: Option<i64>,
    /// Whether it is archived.
    pub archived: bool,
}

/// Reads a list.
pub fn sessions(
    store: &Path,
    listing: &Listing,
    redactor: &Redactor,
) -> Result<Sessions, store::Error> {
    store::read(store, |snapshot| {
        let page = snapshot.listed(listing)?;
        let mut list = Sessions {
            sessions: Vec::new(),
            more: page.more,
            excluded: page.excluded,
            unreadable: page.unreadable,
            searched: page.searched,
            by_start: page.by_start,
            losses: Losses::default(),
        };
        for entry in page.entries {
            // Each session by itself: what is redacted in one says nothing of another.
            let mut reader = Reader::new(snapshot, redactor);
            let session = listed(&mut reader, entry);
            list.losses.add(reader.losses);
            match session {
                Ok(session) => list.sessions.push(session),
                Err(store::Error::Damaged(_)) => list.unreadable += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(list)
    })
}

pub(super) fn listed(reader: &mut Reader<'_>, entry: Entry) -> Result<Listed, store::Error> {
    let row = reader.begin(entry.tip)?;
    let text = |column| row.text(column).map(str::to_owned);
    let root = (entry.root != entry.tip).then(|| reader.row(entry.root)).transpose()?;
    Ok(Listed {
        id: row.id().to_owned(),
        lineage_root_id: root.map(|root| root.id().to_owned()),
        kind: name(entry.kind),
        source: text(SessionColumn::Source),
        title: text(SessionColumn::Title),
        preview: opening(reader, entry.tip)?,
        model: text(SessionColumn::Model),
        cwd: text(SessionColumn::Cwd),
        git_branch: text(SessionColumn::Branch),
        workspace: workspace(&row),
        started_at: entry.started_at,
        ended_at: row.number(SessionColumn::EndedAt),
        end_reason: text(SessionColumn::EndReason),
        last_active: entry.last_active,
        message_count: row.integer(SessionColumn::MessageCount),
        tool_call_count: row.integer(SessionColumn::ToolCallCount),
        archived: row.integer(SessionColumn::Archived).is_some_and(|flag| flag != 0),
    })
}

fn workspace(row: &Session<'_>) -> Option<String> {
    let text = |column| row.text(column).map(str::trim).filter(|text| !text.is_empty());
    text(SessionColumn::RepoRoot).or_else(|| text(SessionColumn::Cwd)).map(str::to_owned)
}

/// The user's first words; a compaction summary only where there is nothing else.
fn opening(reader: &mut Reader<'_>, key: SessionKey) -> Result<String, store::Error> {
    let (mut words, mut looked_at) = (String::new(), 0);
    let Reader { snapshot, redactor, scope, session, losses } = reader;
    let read = snapshot.openings(key, |raw, faults| {
        let message = redactor.apply(raw, scope);
        losses.message(session, message.integer(MessageColumn::Id).unwrap_or_default(), &faults);
        looked_at += 1;
        let is_own = !is_compaction_summary(&plain(&message));
        if is_own || words.is_empty() {
            words = preview(&one_line(&message), PREVIEW);
        }
        if is_own || looked_at == OPENINGS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    match read {
        // What stands on a damaged page is only the preview.
        Err(store::Error::Damaged(_)) => {
            losses.unreadable(format!("session {session}: its first message's page is damaged"));
            Ok(words)
        }
        other => other.map(|()| words),
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Conversation | Kind::All => "conversation",
        Kind::Branch => "branch",
        Kind::Delegate => "delegate",
        Kind::Segment => "segment",
    }
}
