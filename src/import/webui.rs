//! The WebUI's sidecars, `webui/sessions/ID.json`, and what it exports: one JSON document a session.
//!
//! What Hermes has no column for gets one of its own name: `pinned`, `project`, `tags`. A store that
//! lacks them takes the rest. `_index.json` repeats what the sidecars say, and is not read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use formats::model::Value;
use serde_json::{Value as Json, json};

use super::fields::Fields;
use super::foreign::{copy, last_time, messages, time};
use super::{Reading, Unfit};
use crate::store::{self, Columns, Record, set};

/// Keys that are columns under another name, or the same.
const COLUMNS: [(&str, &str); 17] = [
    ("session_id", "id"),
    ("workspace", "cwd"),
    ("model", "model"),
    ("model_provider", "billing_provider"),
    ("archived", "archived"),
    ("profile", "profile_name"),
    ("parent_session_id", "parent_session_id"),
    ("input_tokens", "input_tokens"),
    ("output_tokens", "output_tokens"),
    ("cache_read_tokens", "cache_read_tokens"),
    ("cache_write_tokens", "cache_write_tokens"),
    ("reasoning_tokens", "reasoning_tokens"),
    ("estimated_cost", "estimated_cost_usd"),
    ("worktree_branch", "git_branch"),
    ("worktree_repo_root", "git_repo_root"),
    ("system_prompt", "system_prompt"),
    ("pinned", "pinned"),
];

/// What the WebUI calls a session that nobody has named.
const UNTITLED: &str = "Untitled";

/// The folder of sidecars in the WebUI's folder, or this one where it is none.
pub fn folder(own: &Path) -> PathBuf {
    let sessions = own.join("sessions");
    if sessions.is_dir() { sessions } else { own.to_owned() }
}

/// The session of a sidecar.
pub(super) fn record<'l>(fields: &Fields<'l>, reading: &Reading) -> Result<Record<'l>, Unfit> {
    let mut said = fields.array("messages").ok_or(Unfit::Messages)?;
    if said.is_empty() {
        said = fields.array("context_messages").unwrap_or_default();
    }
    let mut record = Record { messages: messages(&said, &reading.zone)?, ..Record::default() };
    copy(fields, &COLUMNS, &mut record);
    if record.id().is_empty() {
        record.set("id", Value::Text(reading.stem.clone().into()));
    }
    let source = ["raw_source", "source_tag", "session_source"];
    let source = source.iter().find_map(|key| fields.text(key)).unwrap_or("webui".into());
    record.set("source", Value::Text(source));
    titled(fields, &mut record);
    if let Some(id) = fields.text("project_id") {
        let name = reading.projects.get(id.as_ref()).cloned().map_or(id, Cow::Owned);
        record.set("project", Value::Text(name));
    }
    add_tool_calls(fields, &mut record);
    times(fields, reading, &mut record);
    Ok(record)
}

/// The title, and the words behind `#` in it.
fn titled<'l>(fields: &Fields<'l>, record: &mut Record<'l>) {
    let Some(title) = fields.text("title").filter(|title| title != UNTITLED) else { return };
    let tags: Vec<&str> = title.split_whitespace().filter_map(tag).collect();
    if !tags.is_empty() {
        record.set("tags", Value::Json(json!(tags).to_string().into()));
    }
    record.set("title", Value::Text(title));
}

fn tag(word: &str) -> Option<&str> {
    let tag = word.strip_prefix('#')?.trim_end_matches([',', '.', ';', ':', '!', '?', ')']);
    tag.chars().any(char::is_alphabetic).then_some(tag)
}

/// The WebUI ends no session: one that is not at work counts as ended when it was last changed.
fn times<'l>(fields: &Fields<'l>, reading: &Reading, record: &mut Record<'l>) {
    let at = |key| time(&fields.value(key), &reading.zone);
    if let Some(start) = at("created_at") {
        record.set("started_at", Value::Real(start));
    }
    let is_busy =
        fields.text("active_stream_id").is_some() || fields.text("pending_user_message").is_some();
    if !is_busy && let Some(end) = last_time(record).or(at("updated_at")).or(at("created_at")) {
        record.set("ended_at", Value::Real(end));
    }
}

/// The session's list of tool calls has those that the messages themselves lack.
fn add_tool_calls(fields: &Fields<'_>, record: &mut Record<'_>) {
    let calls: Vec<Json> = fields
        .get("tool_calls")
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let mut results: Vec<(usize, Columns<'static>)> = Vec::new();
    for call in calls {
        let Some(id) = call["tid"].as_str().filter(|id| !id.is_empty()) else { continue };
        let at = call["assistant_msg_idx"].as_u64().and_then(|at| usize::try_from(at).ok());
        let Some(at) = at else { continue };
        let answered = record.messages.iter().any(|row| has_text(row, "tool_call_id", id));
        let Some(message) = record.messages.get_mut(at) else { continue };
        if !has_text(message, "role", "assistant") {
            continue;
        }
        add_call(message, id, &call);
        if !answered && let Some(snippet) = call["snippet"].as_str() {
            results.push((at + 1, result(message, id, &call["name"], snippet)));
        }
    }
    // From the end, so that the places before them stay what they are.
    results.sort_by_key(|(at, _)| *at);
    for (at, row) in results.into_iter().rev() {
        record.messages.insert(at, row);
    }
}

fn has_text(row: &Columns<'_>, column: &str, text: &str) -> bool {
    matches!(store::value(row, column), Some(Value::Text(own)) if own == text)
}

fn add_call(message: &mut Columns<'_>, id: &str, call: &Json) {
    let own = store::value(message, "tool_calls").and_then(Value::as_str).unwrap_or("[]");
    let Ok(Json::Array(mut own)) = serde_json::from_str(own) else { return };
    if own.iter().any(|other| other["id"] == id) {
        return;
    }
    let arguments = match &call["args"] {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let function = json!({ "name": call["name"], "arguments": arguments });
    own.push(json!({ "id": id, "type": "function", "function": function }));
    set(message, "tool_calls", Value::Json(Json::Array(own).to_string().into()));
}

fn result(message: &Columns<'_>, id: &str, name: &Json, snippet: &str) -> Columns<'static> {
    let text = |text: &str| Value::Text(Cow::Owned(text.to_owned()));
    let time = store::value(message, "timestamp").cloned().map_or(Value::Null, Value::into_owned);
    vec![
        ("role".into(), text("tool")),
        ("content".into(), text(snippet)),
        ("tool_call_id".into(), text(id)),
        ("tool_name".into(), text(name.as_str().unwrap_or_default())),
        ("timestamp".into(), time),
    ]
}

/// The names of projects, from `projects.json` beside the folder of sidecars.
pub(super) fn projects(sidecar: &Path) -> HashMap<String, String> {
    let beside = sidecar.parent().and_then(Path::parent).map(|dir| dir.join("projects.json"));
    let text = beside.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let projects: Vec<Json> = serde_json::from_str(&text).unwrap_or_default();
    let pair = |project: Json| {
        let text = |key: &str| project[key].as_str().map(str::to_owned);
        Some((text("project_id")?, text("name")?))
    };
    projects.into_iter().filter_map(pair).collect()
}
