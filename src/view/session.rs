//! One session: found by its name, whole, or as a recap of its end.

use std::collections::VecDeque;
use std::path::Path;

use formats::model::SessionColumn;
use serde::Serialize;

use super::losses::Losses;
use super::said::{Reader, Said};
use super::text::preview;
use crate::redact::Redactor;
use crate::store::{self, Listing, SessionKey, Shown, Snapshot};

/// Exchanges in a recap, each of a question and an answer.
const EXCHANGES: usize = 10;
/// Characters of a user's message in a recap.
const USER_CHARS: usize = 300;
/// Characters and lines of an answer in a recap.
const ANSWER_CHARS: usize = 200;
const ANSWER_LINES: usize = 3;
/// Names of tools in a summary of calls.
const TOOLS: usize = 4;

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Head {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// The platform.
    pub source: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The working folder.
    pub cwd: Option<String>,
    /// The git branch.
    pub git_branch: Option<String>,
    /// Seconds since the epoch.
    pub started_at: Option<f64>,
    /// Seconds since the epoch; null while it runs.
    pub ended_at: Option<f64>,
    /// The session that it continues, branched off from or works for.
    pub parent_session_id: Option<String>,
    /// The segment in which a compressed conversation goes on, where that is another one.
    pub continued_in: Option<String>,
    /// Messages that are shown.
    pub messages: u64,
}

/// What a reader of a transcript is handed. Reading may begin anew, so what came before a `Session`
/// counts for nothing.
#[derive(Debug)]
pub enum Event<'e> {
    /// It begins.
    Session(&'e Head),
    /// The next message.
    Message(&'e Said),
}

/// A turn of a recap.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turn {
    /// user or assistant.
    pub role: &'static str,
    /// What was said, cut.
    pub text: String,
    /// `[3 tool calls: terminal, web_search]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<String>,
}

/// The end of a session.
#[derive(Debug, Serialize)]
pub struct Recap {
    /// The session.
    pub session: Head,
    /// Turns before these.
    pub earlier: usize,
    /// The last turns.
    pub turns: Vec<Turn>,
    /// What was lost on the way.
    #[serde(skip)]
    pub losses: Losses,
}

/// The session that somebody means by an id, a title or the beginning of an id. A title means the
/// newest of its lineage.
pub(super) fn named(snapshot: &Snapshot<'_>, name: &str) -> Result<SessionKey, store::Error> {
    if let Some(key) = snapshot.find(name)? {
        return Ok(key);
    }
    match snapshot.titled(name)? {
        Some(key) => snapshot.tip(key),
        None => snapshot.resolve(name),
    }
}

/// The session that somebody means.
pub fn resolve(store: &Path, name: &str) -> Result<Head, store::Error> {
    store::read(store, |snapshot| head_of(snapshot, named(snapshot, name)?))
}

/// The first session of a list.
pub fn latest(store: &Path, listing: &Listing) -> Result<Option<Head>, store::Error> {
    store::read(store, |snapshot| {
        let first = snapshot.listed(listing)?.entries.first().map(|entry| entry.tip);
        let redactor = Redactor::none();
        let mut reader = Reader::new(snapshot, &redactor);
        first.map(|key| head(&mut reader, key, Shown::Active)).transpose()
    })
}

/// Hands a session's head and messages to `each`; says what was lost on the way.
pub fn transcript<E: From<store::Error>>(
    store: &Path,
    name: &str,
    shown: Shown,
    redactor: &Redactor,
    mut each: impl FnMut(Event<'_>) -> Result<(), E>,
) -> Result<Losses, E> {
    store::read(store, |snapshot| {
        let key = named(snapshot, name)?;
        let mut reader = Reader::new(snapshot, redactor);
        each(Event::Session(&head(&mut reader, key, shown)?))?;
        for row in snapshot.extent(key, shown)?.rows() {
            if let Some(said) = reader.said(row)? {
                each(Event::Message(&said))?;
            }
        }
        Ok(reader.losses)
    })
}

/// What is known of a session, unredacted.
pub(super) fn head_of(snapshot: &Snapshot<'_>, key: SessionKey) -> Result<Head, store::Error> {
    head(&mut Reader::new(snapshot, &Redactor::none()), key, Shown::Active)
}

fn head(reader: &mut Reader<'_>, key: SessionKey, shown: Shown) -> Result<Head, store::Error> {
    let row = reader.begin(key)?;
    let text = |column| row.text(column).map(str::to_owned);
    let snapshot = reader.snapshot;
    let tip = snapshot.tip(key)?;
    let next = (tip != key).then(|| reader.row(tip)).transpose()?;
    Ok(Head {
        id: row.id().to_owned(),
        title: text(SessionColumn::Title),
        source: text(SessionColumn::Source),
        model: text(SessionColumn::Model),
        cwd: text(SessionColumn::Cwd),
        git_branch: text(SessionColumn::Branch),
        started_at: row.number(SessionColumn::StartedAt),
        ended_at: row.number(SessionColumn::EndedAt),
        parent_session_id: text(SessionColumn::Parent),
        continued_in: next.map(|next| next.id().to_owned()),
        messages: snapshot.extent(key, shown)?.messages(),
    })
}

/// The last exchanges of a session: what the two said, calls of tools as counts.
pub fn recap(store: &Path, name: &str, redactor: &Redactor) -> Result<Recap, store::Error> {
    store::read(store, |snapshot| {
        let key = named(snapshot, name)?;
        let mut reader = Reader::new(snapshot, redactor);
        let session = head(&mut reader, key, Shown::Active)?;
        let mut turns = Turns::default();
        for row in snapshot.extent(key, Shown::Active)?.rows() {
            if let Some(said) = reader.said(row)? {
                turns.hear(&said);
            }
        }
        turns.close();
        Ok(Recap {
            session,
            earlier: turns.earlier,
            turns: turns.last.into(),
            losses: reader.losses,
        })
    })
}

/// The turns of a conversation, as far as a recap shows them.
#[derive(Debug, Default)]
struct Turns {
    last: VecDeque<Turn>,
    earlier: usize,
    /// Calls since the last turn, by messages that said nothing.
    calls: Vec<String>,
}

impl Turns {
    fn hear(&mut self, said: &Said) {
        match said.role.as_str() {
            "user" if !said.is_summary() => {
                self.close();
                self.push("user", preview(said.text.trim(), USER_CHARS), None);
            }
            "assistant" => {
                self.calls.extend(said.calls.iter().map(|call| call.name.clone()));
                let text = answer(&said.text);
                if !text.is_empty() {
                    let calls = self.summary();
                    self.push("assistant", text, calls);
                }
            }
            _ => {}
        }
    }

    /// Calls that no words followed are a turn of their own.
    fn close(&mut self) {
        if let Some(calls) = self.summary() {
            self.push("assistant", String::new(), Some(calls));
        }
    }

    fn push(&mut self, role: &'static str, text: String, tool_calls: Option<String>) {
        self.last.push_back(Turn { role, text, tool_calls });
        if self.last.len() > EXCHANGES * 2 {
            self.last.pop_front();
            self.earlier += 1;
        }
    }

    fn summary(&mut self) -> Option<String> {
        let calls = std::mem::take(&mut self.calls);
        let mut names: Vec<&str> = Vec::new();
        for call in &calls {
            if !names.contains(&call.as_str()) {
                names.push(call);
            }
        }
        let more = if names.len() > TOOLS { ", ..." } else { "" };
        names.truncate(TOOLS);
        let noun = if calls.len() == 1 { "call" } else { "calls" };
        let text = format!("[{} tool {noun}: {}{more}]", calls.len(), names.join(", "));
        (!calls.is_empty()).then_some(text)
    }
}

/// The beginning of an answer, without what the model thought aloud.
fn answer(text: &str) -> String {
    let text = without_thoughts(text);
    let text = text.trim();
    let mut lines = text.lines();
    let mut head = lines.by_ref().take(ANSWER_LINES).collect::<Vec<_>>().join("\n");
    if lines.next().is_some() {
        head.push_str(" ...");
    }
    preview(&head, ANSWER_CHARS)
}

/// A text without `<think>…</think>` and its like; what is not closed is left out to the end.
fn without_thoughts(text: &str) -> String {
    const TAGS: [(&str, &str); 4] = [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<reasoning>", "</reasoning>"),
        ("<thought>", "</thought>"),
    ];
    let mut out = text.to_owned();
    for (open, close) in TAGS {
        while let Some(start) = out.find(open) {
            let end = out[start..].find(close).map_or(out.len(), |at| start + at + close.len());
            out.replace_range(start..end, "");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn an_answer_is_cut_at_lines_and_characters_and_thoughts_are_left_out() {
        assert_eq!(answer("a\nb\nc"), "a\nb\nc");
        assert_eq!(answer("a\nb\nc\nd"), "a\nb\nc ...");
        assert_eq!(answer("<think>secret plan</think>\nDone."), "Done.");
        assert_eq!(answer("Done.<thinking>and so"), "Done.");
        assert_eq!(answer(&"é".repeat(201)), format!("{}...", "é".repeat(200)));
    }
}
