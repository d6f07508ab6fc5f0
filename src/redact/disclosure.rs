//! How much of a row is shown at all, decided before its texts are searched.
//!
//! [`Disclosure::Share`] is for strangers: a column that is not known to be theirs to see is NULL, so
//! what a newer Hermes adds stays out, and so does what no rule can read, such as encrypted reasoning.
//! [`Disclosure::Outline`] is for bug reports.

use std::borrow::Cow;

use formats::model::{Message, MessageColumn, Role, Session, Value};

use super::outline;

/// How much of a row is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Disclosure {
    /// Every column.
    #[default]
    Whole,
    /// The conversation, and nothing of the people, places and set-up around it.
    Share(ToolOutput),
    /// Every column, and in the place of each text its kind and length.
    Outline,
}

/// Whether strangers see what tools gave back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutput {
    /// They do.
    Kept,
    /// They see how long it was.
    LeftOut,
}

impl Disclosure {
    /// What a manifest calls it; `None` where every column is shown.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Disclosure::Whole => None,
            Disclosure::Share(ToolOutput::Kept) => Some("share"),
            Disclosure::Share(ToolOutput::LeftOut) => Some("share=no-tools"),
            Disclosure::Outline => Some("sanitize"),
        }
    }

    pub(super) fn session(self, row: &mut Session<'_>) {
        match self {
            Disclosure::Whole => {}
            Disclosure::Outline => outline::session(row),
            Disclosure::Share(_) => {
                row.columns_mut().filter(|(name, _)| !SESSION.contains(name)).for_each(take_away);
            }
        }
    }

    pub(super) fn message(self, row: &mut Message<'_>) {
        let output = match self {
            Disclosure::Whole => return,
            Disclosure::Outline => return outline::message(row),
            Disclosure::Share(output) => output,
        };
        row.columns_mut().filter(|(name, _)| !MESSAGE.contains(name)).for_each(take_away);
        let content = match row.role() {
            Role::User | Role::Assistant => return,
            Role::Tool if output == ToolOutput::Kept => return,
            Role::Tool => left_out(row.value(MessageColumn::Content)),
            // Whatever else Hermes keeps as a message is set-up, such as the system prompt.
            Role::System | Role::Other(_) => {
                row.set(MessageColumn::ToolCalls, Value::Null);
                Value::Null
            }
        };
        row.set(MessageColumn::Content, content);
    }
}

fn take_away((_, value): (&str, &mut Value<'_>)) {
    *value = Value::Null;
}

fn left_out(output: &Value<'_>) -> Value<'static> {
    match output.as_str() {
        Some(text) if !text.is_empty() => {
            let count = text.chars().count();
            Value::Text(Cow::Owned(format!("[tool output left out: {count} characters]")))
        }
        Some(_) | None => Value::Null,
    }
}

/// Columns of `sessions` that strangers see.
const SESSION: &[&str] = &[
    "id",
    "source",
    "chat_type",
    "expiry_finalized",
    "model",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "git_branch",
    "billing_provider",
    "billing_mode",
    "estimated_cost_usd",
    "actual_cost_usd",
    "cost_status",
    "cost_source",
    "pricing_version",
    "title",
    "api_call_count",
    "compression_failure_cooldown_until",
    "compression_fallback_streak",
    "rewind_count",
    "archived",
];

/// Columns of `messages` that strangers see.
const MESSAGE: &[&str] = &[
    "id",
    "session_id",
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "effect_disposition",
    "timestamp",
    "token_count",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "observed",
    "active",
    "compacted",
];
