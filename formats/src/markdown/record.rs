//! What a document says of its session: facts at the top, and at the end the record, with the
//! system prompt and every column that has a value, so that the document may stand for a session
//! that is deleted.

use serde_json::{Map, Value as Json};

use super::front::instant;
use crate::SessionHead;
use crate::facts::{cost, tokens};
use crate::inert::blocks::Blocks;
use crate::inert::name::{inline, literal};
use crate::model::{Column, Session, SessionColumn, Value};

/// The title and the facts below it.
pub(super) fn head(blocks: &mut Blocks, head: &SessionHead<'_>) {
    let session = head.session;
    let title = session.text(SessionColumn::Title).filter(|title| !inline(title).is_empty());
    blocks.heading(1, &[title.unwrap_or(session.id())]);
    let column = |column| session.text(column).map(literal);
    let time = |column| Some(instant(session.value(column))).filter(|t| !t.is_empty());
    let facts = [
        ("Session", Some(literal(session.id()))),
        ("Source", column(SessionColumn::Source)),
        ("Model", column(SessionColumn::Model)),
        ("Provider", column(SessionColumn::Provider)),
        ("Working folder", column(SessionColumn::Cwd)),
        ("Branch", column(SessionColumn::Branch)),
        ("Parent", column(SessionColumn::Parent)),
        ("Started", time(SessionColumn::StartedAt).map(|t| inline(&t))),
        ("Ended", ended(session)),
        ("Tokens", tokens(session)),
        ("Cost", cost(session)),
    ];
    blocks.facts(&known(facts));
}

/// The heading of a segment of a joined chain.
pub(super) fn segment(blocks: &mut Blocks, part: &Session<'_>) {
    blocks.heading(2, &[&format!("Segment: {}", part.id())]);
    let started = instant(part.value(SessionColumn::StartedAt));
    let started = (!started.is_empty()).then(|| inline(&started));
    blocks.facts(&known([("Started", started), ("Ended", ended(part))]));
}

fn known<const N: usize>(facts: [(&str, Option<String>); N]) -> Vec<(&str, String)> {
    let known = |(name, value): (_, Option<_>)| Some((name, value?));
    facts.into_iter().filter_map(known).collect()
}

fn ended(session: &Session<'_>) -> Option<String> {
    let ended = inline(&instant(session.value(SessionColumn::EndedAt)));
    let reason = session.text(SessionColumn::EndReason).map(inline);
    match (ended.is_empty(), reason) {
        (true, reason) => reason,
        (false, None) => Some(ended),
        (false, Some(reason)) => Some(format!("{ended} ({reason})")),
    }
}

/// A session's row, kept until the messages are written.
pub(super) struct Record {
    id: String,
    system_prompt: Option<String>,
    columns: Map<String, Json>,
}

impl Record {
    pub(super) fn of(session: &Session<'_>) -> Self {
        let columns = session
            .columns()
            .filter(|(name, value)| {
                *name != SessionColumn::SystemPrompt.name() && **value != Value::Null
            })
            .map(|(name, value)| (name.to_owned(), json(value)));
        Self {
            id: session.id().to_owned(),
            system_prompt: session.text(SessionColumn::SystemPrompt).map(str::to_owned),
            columns: columns.collect(),
        }
    }

    /// Writes the record; `named` where the document holds several.
    pub(super) fn write(&self, blocks: &mut Blocks, named: bool) {
        let heading = if named { format!("Record: {}", self.id) } else { "Record".to_owned() };
        blocks.heading(2, &[&heading]);
        if let Some(prompt) = &self.system_prompt {
            blocks.label("System prompt");
            blocks.fence("text", prompt);
        }
        blocks.label("Columns");
        blocks.fence("json", &format!("{:#}", Json::Object(self.columns.clone())));
    }
}

/// A cell as JSON.
pub(super) fn json(value: &Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(n) => (*n).into(),
        Value::Real(x) => (*x).into(),
        Value::Text(text) => Json::String(text.clone().into_owned()),
        Value::Json(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.clone().into_owned()))
        }
    }
}
