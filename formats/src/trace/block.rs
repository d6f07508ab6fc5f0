//! What a message says, in the blocks of Anthropic's messages API.

use serde::Deserialize;
use serde_json::Value as Json;

use super::line::{Block, Content, ImageSource, Input};
use crate::content::{Attachment, Part, Source, ToolCall, parts};
use crate::model::{Message, MessageColumn};
use crate::portable;

/// Base64 of a picture that a trace has room for; a larger one is named.
const PICTURE: usize = 1 << 20; // bytes
/// Types that Anthropic's API takes.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What somebody said: a text where it is one, else blocks.
pub(super) fn content(message: &Message<'_>) -> Content {
    let mut parts = parts(message);
    if let [Part::Text(text)] = parts.as_mut_slice() {
        return Content::Text(std::mem::take(text));
    }
    if parts.is_empty() {
        return Content::Text(String::new());
    }
    Content::Blocks(parts.into_iter().map(block).collect())
}

/// The model's turn: what it thought, said and called.
pub(super) fn turn(
    message: &Message<'_>,
    calls: impl Iterator<Item = (String, ToolCall)>,
) -> Vec<Block> {
    let mut blocks: Vec<Block> = thinking(message).into_iter().collect();
    let said = parts(message).into_iter().map(block);
    blocks.extend(said.filter(|block| !matches!(block, Block::Text { text } if text.is_empty())));
    blocks.extend(calls.map(|(id, call)| Block::ToolUse {
        id,
        name: call.name,
        input: input(&call.arguments),
    }));
    blocks
}

/// A tool's result; readers take its first text only, so it is one.
pub(super) fn result(message: &Message<'_>) -> String {
    parts(message).into_iter().map(text).collect::<Vec<_>>().join("\n")
}

fn block(part: Part) -> Block {
    match part {
        Part::Attachment(Attachment {
            kind: "image",
            label: Some(media_type),
            source: Source::Inline(data),
        }) if data.len() <= PICTURE && PICTURES.contains(&&*media_type) => {
            Block::Image { source: ImageSource { r#type: "base64", media_type, data } }
        }
        other => Block::Text { text: text(other) },
    }
}

fn text(part: Part) -> String {
    match part {
        Part::Text(text) => text,
        Part::Attachment(attachment) => attachment.to_string(),
        Part::Other(json) => json.to_string(),
    }
}

/// A call's arguments as the object that the API asks for.
fn input(arguments: &str) -> Input {
    if arguments.trim().is_empty() {
        return Input::Nothing {};
    }
    match portable::object(arguments) {
        Some(object) => Input::Object(object),
        None => {
            Input::Raw { raw: portable::tamed(arguments).unwrap_or_else(|| arguments.to_owned()) }
        }
    }
}

/// The model's reasoning, from the first column that has some. A signature is the provider's seal
/// on it, and is never made up.
fn thinking(message: &Message<'_>) -> Option<Block> {
    let details = message.value(MessageColumn::ReasoningDetails).as_str();
    let details = details.and_then(|json| serde_json::from_str(json).ok()).unwrap_or(Json::Null);
    let signature = items(&details).find_map(|item| item.get("signature")?.as_str());
    let texts = [MessageColumn::ReasoningContent, MessageColumn::Reasoning];
    let text = texts.into_iter().find_map(|column| message.text(column)).map(str::to_owned);
    let thinking = text.or_else(|| thoughts(&details)).or_else(|| {
        let codex = message.value(MessageColumn::CodexReasoningItems).as_str()?;
        thoughts(&serde_json::from_str(codex).ok()?)
    })?;
    Some(Block::Thinking { thinking, signature: signature.map(str::to_owned) })
}

fn items(json: &Json) -> impl Iterator<Item = &Json> {
    json.as_array().into_iter().flatten()
}

/// The text of structured reasoning: of details as `OpenRouter` sends them, or of summaries of the Responses API.
fn thoughts(json: &Json) -> Option<String> {
    let mut texts = Vec::new();
    for item in items(json) {
        match (item.get("text"), item.get("summary")) {
            (Some(Json::String(text)), _) | (_, Some(Json::String(text))) => texts.push(&**text),
            (_, Some(summary)) => {
                texts.extend(items(summary).filter_map(|part| part.get("text")?.as_str()));
            }
            (_, None) => {}
        }
    }
    texts.retain(|text| !text.is_empty());
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// What a tool's result says of its success, in the fields that Hermes' tools use.
#[derive(Deserialize)]
struct Outcome {
    error: Option<Json>,
    success: Option<Json>,
    exit_code: Option<Json>,
    returncode: Option<Json>,
}

/// Whether a tool's result is an error: a JSON object with an `error` that is not null, false or
/// empty, with `success` false, or with an `exit_code` or `returncode` other than 0.
pub(super) fn is_error(result: &str) -> bool {
    if !result.trim_start().starts_with('{') {
        return false;
    }
    let Ok(Outcome { error, success, exit_code, returncode }) = serde_json::from_str(result) else {
        return false;
    };
    let says_something = |error: &Json| match error {
        Json::Null | Json::Bool(false) => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(fields) => !fields.is_empty(),
        Json::Bool(true) | Json::Number(_) => true,
    };
    let failed = |code: Json| code.as_i64().is_some_and(|code| code != 0);
    error.as_ref().is_some_and(says_something)
        || success == Some(Json::Bool(false))
        || [exit_code, returncode].into_iter().flatten().any(failed)
}

#[cfg(test)]
mod tests {
    use super::is_error;

    #[test]
    fn errors_are_told_by_the_fields_of_hermes_tools() {
        for error in [
            r#"{"error": "no such file"}"#,
            r#" {"error": {"code": 5}, "output": ""}"#,
            r#"{"success": false}"#,
            r#"{"output": "x", "exit_code": 1, "error": null}"#,
            r#"{"returncode": -9}"#,
        ] {
            assert!(is_error(error), "{error}");
        }
        for fine in [
            r#"{"output": "error: none", "exit_code": 0, "error": null}"#,
            r#"{"success": true, "error": ""}"#,
            r#"{"error": false}"#,
            r#"[{"error": "nested"}]"#,
            r#"{"items": [{"error": "nested"}]}"#,
            "Error: said in words",
            r#"{"error": "cut off"#,
            "",
        ] {
            assert!(!is_error(fine), "{fine}");
        }
    }
}
