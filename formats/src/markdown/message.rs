//! One message: its heading, reasoning, content and remaining columns. A tool's result stands
//! together with the call that it answers.

use serde_json::{Map, Value as Json};

use super::front::instant;
use super::record::json;
use crate::content::{Part, REASONING, ToolCall, is_compaction_summary, parts, thoughts};
use crate::inert::blocks::Blocks;
use crate::model::{Column, Message, MessageColumn, Role, Standing, Value};

/// Somebody's turn: everything but tools.
pub(super) fn turn(blocks: &mut Blocks, message: &Message<'_>) {
    let parts = parts(message);
    let summary = parts.iter().any(|part| match part {
        Part::Text(text) => is_compaction_summary(text),
        Part::Attachment(_) | Part::Other(_) => false,
    });
    let mark = if summary { "compaction summary" } else { "" };
    blocks.heading(3, &[speaker(message), &sent(message), mark, standing(message)]);
    reasoning(blocks, message);
    for part in &parts {
        match part {
            Part::Text(text) => blocks.prose(text),
            Part::Attachment(attachment) => blocks.stand_in(&attachment.to_string()),
            Part::Other(json) => blocks.fence("json", &format!("{json:#}")),
        }
    }
    remaining(blocks, message);
}

/// A tool's result, below the call that it answers.
pub(super) fn result(blocks: &mut Blocks, message: &Message<'_>, call: Option<&ToolCall>) {
    let name = message.text(MessageColumn::ToolName);
    let name = name.or(call.map(|call| &*call.name)).unwrap_or_default();
    blocks.heading(3, &["Tool", name, &sent(message), standing(message)]);
    if let Some(call) = call {
        arguments(blocks, call);
        blocks.label("Result");
    }
    reasoning(blocks, message);
    for part in parts(message) {
        match part {
            Part::Text(text) => output(blocks, &text),
            Part::Attachment(attachment) => blocks.stand_in(&attachment.to_string()),
            Part::Other(json) => returned(blocks, json),
        }
    }
    remaining(blocks, message);
}

/// A call whose result is not in the session.
pub(super) fn unanswered(blocks: &mut Blocks, call: &ToolCall) {
    blocks.heading(3, &["Tool", &call.name, "no result"]);
    arguments(blocks, call);
    if let Some(id) = &call.id {
        blocks.remark(&format!("{}: {id}", MessageColumn::ToolCallId.name()));
    }
}

fn speaker<'m>(message: &'m Message<'_>) -> &'m str {
    match message.role() {
        Role::System => "System",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
        Role::Other("") => "Message",
        Role::Other(name) => name,
    }
}

fn sent(message: &Message<'_>) -> String {
    instant(message.value(MessageColumn::Timestamp))
}

fn standing(message: &Message<'_>) -> &'static str {
    match message.standing() {
        Standing::Active => "",
        Standing::Compacted => "set aside by compaction",
        Standing::Rewound => "taken back",
    }
}

fn arguments(blocks: &mut Blocks, call: &ToolCall) {
    blocks.label("Call");
    match structure(&call.arguments) {
        Some(json) => blocks.fence("json", &format!("{json:#}")),
        None => blocks.fence("text", &call.arguments),
    }
}

/// A JSON object or array; a number or a string that happens to be JSON is text.
fn structure(text: &str) -> Option<Json> {
    let json: Json = serde_json::from_str(text).ok()?;
    (json.is_object() || json.is_array()).then_some(json)
}

fn output(blocks: &mut Blocks, text: &str) {
    match structure(text) {
        Some(json) => returned(blocks, json),
        None => blocks.fence("text", text),
    }
}

/// The fields in which Hermes' tools return text, the likeliest first.
const OUTPUT: [&str; 4] = ["output", "content", "stdout", "result"];

/// What a tool returned: its output as text, its other fields as JSON.
fn returned(blocks: &mut Blocks, mut json: Json) {
    let fields = json.as_object_mut();
    let text = fields.and_then(|fields| {
        let name =
            OUTPUT.into_iter().find(|name| fields.get(*name).is_some_and(Json::is_string))?;
        fields.shift_remove(name)
    });
    if let Some(Json::String(text)) = &text {
        blocks.fence("text", text);
    }
    if text.is_none() || json.as_object().is_some_and(|rest| !rest.is_empty()) {
        blocks.fence("json", &format!("{json:#}"));
    }
}

fn reasoning(blocks: &mut Blocks, message: &Message<'_>) {
    for thought in thoughts(message) {
        blocks.label("Reasoning");
        blocks.fence(if thought.is_json { "json" } else { "text" }, &thought.text);
    }
}

/// The columns that a message's heading and blocks show already.
const SHOWN: [MessageColumn; 9] = [
    MessageColumn::Id,
    MessageColumn::Session,
    MessageColumn::Role,
    MessageColumn::Content,
    MessageColumn::ToolCalls,
    MessageColumn::ToolName,
    MessageColumn::Timestamp,
    MessageColumn::Active,
    MessageColumn::Compacted,
];

/// The other columns: short ones as a remark, long or structured ones as JSON.
fn remaining(blocks: &mut Blocks, message: &Message<'_>) {
    let mut short = Vec::new();
    let mut long = Map::new();
    for (name, value) in message.columns().filter(|(name, value)| tells(name, value)) {
        match value {
            Value::Integer(n) => short.push(format!("{name}: {n}")),
            Value::Text(text) if text.len() <= 80 && !text.contains('\n') => {
                short.push(format!("{name}: {text}"));
            }
            Value::Null | Value::Real(_) | Value::Text(_) | Value::Json(_) => {
                long.insert(name.to_owned(), json(value));
            }
        }
    }
    if !short.is_empty() {
        blocks.remark(&short.join(", "));
    }
    if !long.is_empty() {
        blocks.fence("json", &format!("{:#}", Json::Object(long)));
    }
}

/// Whether a column says anything that is not shown, and not the same for nearly all messages.
fn tells(name: &str, value: &Value<'_>) -> bool {
    let shown = SHOWN.iter().chain(&REASONING).any(|column| column.name() == name);
    let usual = match value {
        Value::Null | Value::Integer(0) => true,
        Value::Text(text) if name == MessageColumn::FinishReason.name() => {
            matches!(&**text, "" | "stop" | "tool_calls")
        }
        Value::Text(text) => text.is_empty(),
        Value::Integer(_) | Value::Real(_) | Value::Json(_) => false,
    };
    !shown && !usual
}
