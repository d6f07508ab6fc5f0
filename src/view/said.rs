//! Messages in the shape that Hermes' `session_search` gives them.

use formats::model::{Message, MessageColumn, Session, Standing, Value};
use formats::{ToolCall, is_compaction_summary, tool_calls};
use serde::Serialize;
use serde_json::Value as Json;

use super::losses::Losses;
use super::text::plain;
use crate::redact::{Redactor, Scope};
use crate::store::{self, SessionKey, Snapshot};

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    /// Its row.
    pub id: Option<i64>,
    /// Who says it.
    pub role: String,
    /// Text, or the parts of structured content.
    pub content: Json,
    /// Seconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<f64>,
    /// On a tool's message: which tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What the model calls.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub tool_calls: Json,
    /// On a tool's message: which call it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Whether it is what was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anchor: bool,
    /// Its content as plain text; attachments are named.
    #[serde(skip)]
    pub text: String,
    /// What the model calls.
    #[serde(skip)]
    pub calls: Vec<ToolCall>,
    /// What the model thought.
    #[serde(skip)]
    pub reasoning: Option<String>,
    /// How it stands to the conversation as it is now.
    #[serde(skip)]
    pub standing: Standing,
}

impl Said {
    pub(super) fn new(message: &Message<'_>) -> Self {
        let text = |column| message.text(column).map(str::to_owned);
        Self {
            id: message.integer(MessageColumn::Id),
            role: text(MessageColumn::Role).unwrap_or_default(),
            content: json(message.value(MessageColumn::Content)),
            timestamp: message.number(MessageColumn::Timestamp),
            tool_name: text(MessageColumn::ToolName),
            tool_calls: json(message.value(MessageColumn::ToolCalls)),
            tool_call_id: text(MessageColumn::ToolCallId),
            anchor: false,
            text: plain(message),
            calls: tool_calls(message),
            reasoning: text(MessageColumn::Reasoning).or(text(MessageColumn::ReasoningContent)),
            standing: message.standing(),
        }
    }

    /// Whether it is prose of the two who talk.
    pub(super) fn is_talk(&self) -> bool {
        matches!(self.role.as_str(), "user" | "assistant")
    }

    /// Whether it is a summary that Hermes wrote in the user's name.
    pub(super) fn is_summary(&self) -> bool {
        is_compaction_summary(&self.text)
    }
}

fn json(value: &Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(n) => (*n).into(),
        Value::Real(x) => (*x).into(),
        Value::Text(text) => text.as_ref().into(),
        Value::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| text.as_ref().into()),
    }
}

/// Messages of one session, read one by one and redacted.
pub(super) struct Reader<'r> {
    pub(super) snapshot: &'r Snapshot<'r>,
    pub(super) redactor: &'r Redactor,
    pub(super) scope: Scope,
    /// The session's id, for what is told of its messages.
    pub(super) session: String,
    /// What was lost on the way.
    pub(super) losses: Losses,
}

impl<'r> Reader<'r> {
    pub(super) fn new(snapshot: &'r Snapshot<'r>, redactor: &'r Redactor) -> Self {
        let (scope, losses) = (Scope::new(), Losses::default());
        Self { snapshot, redactor, scope, session: String::new(), losses }
    }

    /// A session's own row; the messages that follow are its own.
    pub(super) fn begin(&mut self, key: SessionKey) -> Result<Session<'r>, store::Error> {
        let row = self.row(key)?;
        row.id().clone_into(&mut self.session);
        Ok(row)
    }

    /// The row of a session.
    pub(super) fn row(&mut self, key: SessionKey) -> Result<Session<'r>, store::Error> {
        let (raw, faults) = self.snapshot.brief_with_faults(key)?;
        let row = self.redactor.apply(raw, &mut self.scope);
        self.losses.session(&row, &faults);
        Ok(row)
    }

    /// One message; nothing where its page is damaged.
    pub(super) fn said(&mut self, row: i64) -> Result<Option<Said>, store::Error> {
        let said = self.snapshot.message(row, |raw, faults| {
            self.losses.message(&self.session, row, &faults);
            Said::new(&self.redactor.apply(raw, &mut self.scope))
        });
        match said {
            Err(store::Error::Damaged(_)) => {
                self.losses.lost(&self.session, row);
                Ok(None)
            }
            other => other,
        }
    }

    /// The first so many of these rows that are wanted.
    pub(super) fn first(
        &mut self,
        rows: impl Iterator<Item = i64>,
        most: usize,
        wanted: impl Fn(&Said) -> bool,
    ) -> Result<Vec<Said>, store::Error> {
        let mut found = Vec::new();
        for row in rows {
            if found.len() == most {
                break;
            }
            found.extend(self.said(row)?.filter(|said| wanted(said)));
        }
        Ok(found)
    }
}
