//! Rows for bug reports: every text is replaced by what it is and how long, `[text:title:14]`.
//!
//! Structure stays: numbers and times, ids, the shape and keys of JSON, names of models, tools, roles and
//! reasons, and error messages. What is kept goes through redaction like any text.

use std::borrow::Cow;

use formats::model::{Message, Role, Session, Value};
use sha2::{Digest as _, Sha256};

use super::json::{self, Editor};
use crate::manifest::hex;

pub(super) fn session(row: &mut Session<'_>) {
    row.columns_mut().for_each(|(name, value)| cell(name, value, Place::Elsewhere));
}

pub(super) fn message(row: &mut Message<'_>) {
    let content = if row.role() == Role::Tool { Place::Result } else { Place::Elsewhere };
    row.columns_mut().for_each(|(name, value)| match name {
        "content" => cell(name, value, content),
        "tool_calls" => cell(name, value, Place::Calls),
        _ => cell(name, value, Place::Elsewhere),
    });
}

/// Where a text stands, which says what of it is structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The calls of tools.
    Calls,
    /// The arguments of one.
    Arguments,
    /// What a tool gave back.
    Result,
    Elsewhere,
}

fn cell(name: &str, value: &mut Value<'_>, place: Place) {
    let new = match value {
        Value::Null | Value::Integer(_) | Value::Real(_) => None,
        Value::Json(text) => document(name, text, place),
        Value::Text(text) => column(name, text, place),
    };
    if let (Some(new), Value::Json(text) | Value::Text(text)) = (new, value) {
        *text = Cow::Owned(new);
    }
}

fn column(name: &str, text: &str, place: Place) -> Option<String> {
    match name {
        "id" | "session_id" | "parent_session_id" | "tool_call_id" => id(text),
        "source" | "chat_type" | "model" | "end_reason" | "billing_provider" | "billing_mode"
        | "cost_status" | "cost_source" | "pricing_version" | "handoff_state"
        | "handoff_platform" | "role" | "tool_name" | "effect_disposition" | "finish_reason" => {
            word(name, text)
        }
        "handoff_error" | "compression_failure_error" => None,
        _ if place != Place::Elsewhere => result(name, text, place),
        _ => Some(token(name, text)),
    }
}

/// What a tool gave back: the shape of JSON, or the line that says that it failed.
fn result(name: &str, text: &str, place: Place) -> Option<String> {
    if json::is_document(text) {
        return document(name, text, place);
    }
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let is_error = first.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    match (is_error && first.len() <= 300, rest) {
        (false, _) => Some(token(name, text)),
        (true, "") => None,
        (true, rest) => Some(format!("{first}\n{}", token(name, rest))),
    }
}

/// The shape of JSON; what turns out to be none is text.
fn document(name: &str, text: &str, place: Place) -> Option<String> {
    let shape = json::rewrite(text, &mut Outline(place));
    shape.unwrap_or_else(|json::NoDocument| Some(token(name, text)))
}

/// Replaces the strings of a JSON document.
struct Outline(Place);

impl Editor for Outline {
    fn key(&mut self, key: &str) -> Option<String> {
        (!is_word(key)).then(|| token("key", key))
    }

    fn string(&mut self, key: Option<&str>, text: &str) -> Option<String> {
        let key = key.filter(|key| is_word(key)).unwrap_or("text");
        match (self.0, key) {
            (Place::Calls, "arguments") if json::is_document(text) => {
                document(key, text, Place::Arguments)
            }
            (Place::Calls, "name") => word(key, text),
            (Place::Calls | Place::Elsewhere, "id" | "call_id") => id(text),
            (Place::Calls | Place::Elsewhere | Place::Result, "type" | "role" | "status") => {
                word(key, text)
            }
            (Place::Result, "error" | "error_type" | "error_code") => None,
            _ => Some(token(key, text)),
        }
    }

    fn number(&mut self, _: Option<&str>, _: &str) -> Option<String> {
        None
    }

    fn named(&mut self, _: Option<&str>, _: &str) -> Option<String> {
        None
    }
}

/// What stands for a text: its kind and its length in characters.
fn token(kind: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let media_type = text.strip_prefix("data:").and_then(|rest| rest.split([';', ',']).next());
    let kind = media_type.filter(|media_type| is_word(media_type)).unwrap_or(kind);
    format!("[text:{kind}:{}]", text.chars().count())
}

/// A name of a closed vocabulary stays; a text in its place does not.
fn word(kind: &str, text: &str) -> Option<String> {
    (!is_word(text) && !text.is_empty()).then(|| token(kind, text))
}

/// An id stays, or keeps apart what it kept apart.
fn id(text: &str) -> Option<String> {
    let hash = || hex(&Sha256::digest(text.as_bytes()))[..12].to_owned();
    word("id", text).map(|token| format!("{}:{}]", token.trim_end_matches(']'), hash()))
}

fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-./:+@|".contains(c);
    (1..=80).contains(&text.len()) && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::{Place, column, id};

    #[test]
    fn texts_become_their_kind_and_length() {
        let lone = |name, text| column(name, text, Place::Elsewhere).unwrap();
        assert_eq!(lone("title", "Émile's plan"), "[text:title:12]");
        assert_eq!(lone("labels", ""), "");
        assert_eq!(lone("model", "ignore the rest"), "[text:model:15]");
        assert_eq!(column("model", "anthropic/claude-3.5:beta", Place::Elsewhere), None);
    }

    #[test]
    fn ids_that_are_texts_stay_apart() {
        assert_eq!(id("20250305_091523_a1b2c3"), None);
        assert_ne!(id("my plan"), id("my plot"));
        assert_eq!(id("my plan"), id("my plan"));
    }

    #[test]
    fn calls_keep_their_shape_and_the_tools_name() {
        let calls = r#"[{"id": "c1", "function": {"name": "write_file", "arguments": "{\"path\": \"/a b\", \"mode\": 7, \"my key\": \"x\"}"}}]"#;
        let outline = column("tool_calls", calls, Place::Calls).unwrap();
        let wanted = r#"[{"id": "c1", "function": {"name": "write_file", "arguments": "{\"path\": \"[text:path:4]\", \"mode\": 7, \"[text:key:6]\": \"[text:text:1]\"}"}}]"#;
        assert_eq!(outline, wanted);
    }

    #[test]
    fn errors_of_tools_are_kept() {
        let result = |text| column("content", text, Place::Result).unwrap();
        let json = r#"{"output": "secret plan", "exit_code": 1, "error": "no such file"}"#;
        let wanted = r#"{"output": "[text:output:11]", "exit_code": 1, "error": "no such file"}"#;
        assert_eq!(result(json), wanted);
        assert_eq!(result("Error: not found\nmy plan"), "Error: not found\n[text:content:7]");
        assert_eq!(result("my plan"), "[text:content:7]");
        assert_eq!(column("content", "error: no", Place::Result), None);
    }
}
