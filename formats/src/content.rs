//! What a message holds: the parts of structured content, tool calls, and Hermes' own marks.
//!
//! Shapes are those of the OpenAI chat and responses APIs and of Anthropic's messages API, which
//! Hermes stores as it got them. A shape that is none of these is kept as JSON, never dropped.

use std::fmt;

use serde_json::Value as Json;

use crate::model::{Message, MessageColumn, Value};

/// A part of a message's content.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture, sound or file.
    Attachment(Attachment),
    /// Something else, as JSON.
    Other(Json),
}

/// A picture, sound or file in a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    /// image, audio or file.
    pub kind: &'static str,
    /// Its media type, or its name where the type is not known.
    pub label: Option<String>,
    /// Where its bytes are.
    pub source: Source,
}

/// Where an attachment's bytes are.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// In the message, as base64.
    Inline(String),
    /// Elsewhere: an URL, a path or a provider's file id.
    Remote(String),
}

/// `[image: image/png, 165 bytes]` or `[image: https://…]`: a name in the place of the bytes.
impl fmt::Display for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = self.label.as_deref().unwrap_or("unknown type");
        match &self.source {
            Source::Inline(base64) => {
                let padding = base64.bytes().rev().take_while(|b| *b == b'=').count();
                let bytes = (base64.len() / 4 * 3).saturating_sub(padding);
                write!(f, "[{}: {label}, {bytes} bytes]", self.kind)
            }
            Source::Remote(place) => write!(f, "[{}: {place}]", self.kind),
        }
    }
}

impl Attachment {
    fn from_url(kind: &'static str, url: &str) -> Self {
        let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
        match inline {
            Some((head, data)) if head.ends_with(";base64") => {
                let media_type = head.split(';').next().filter(|t| !t.is_empty());
                Self {
                    kind,
                    label: media_type.map(str::to_owned),
                    source: Source::Inline(data.to_owned()),
                }
            }
            _ => Self { kind, label: None, source: Source::Remote(url.to_owned()) },
        }
    }

    fn inline(kind: &'static str, label: Option<&str>, data: &str) -> Self {
        Self { kind, label: label.map(str::to_owned), source: Source::Inline(data.to_owned()) }
    }
}

/// The parts of a message's content; a plain text is one part, no content is none.
pub fn parts(message: &Message<'_>) -> Vec<Part> {
    match message.value(MessageColumn::Content) {
        Value::Null => Vec::new(),
        Value::Text(text) if text.is_empty() => Vec::new(),
        Value::Text(text) => vec![Part::Text(text.clone().into_owned())],
        Value::Integer(n) => vec![Part::Text(n.to_string())],
        Value::Real(x) => vec![Part::Text(x.to_string())],
        Value::Json(json) => match serde_json::from_str(json) {
            Ok(Json::Array(items)) => items.into_iter().map(part).collect(),
            Ok(one) => vec![part(one)],
            Err(_) => vec![Part::Text(json.clone().into_owned())],
        },
    }
}

fn part(json: Json) -> Part {
    if let Json::String(text) = json {
        return Part::Text(text);
    }
    if let Some(attachment) = attachment(&json) {
        return Part::Attachment(attachment);
    }
    match json.get("text").or_else(|| json.get("content")) {
        Some(Json::String(text)) => Part::Text(text.clone()),
        _ => Part::Other(json),
    }
}

fn attachment(json: &Json) -> Option<Attachment> {
    let text = |path: &str| json.pointer(path).and_then(Json::as_str);
    let kind = match text("/type")? {
        "image_url" | "input_image" | "image" => "image",
        "input_audio" | "audio" => "audio",
        "file" | "input_file" | "document" => "file",
        _ => return None,
    };
    if let Some(url) = text("/image_url/url").or_else(|| text("/image_url")) {
        return Some(Attachment::from_url(kind, url));
    }
    if let Some(data) = text("/source/data") {
        return Some(Attachment::inline(kind, text("/source/media_type"), data));
    }
    if let Some(data) = text("/input_audio/data") {
        return Some(Attachment::inline(kind, text("/input_audio/format"), data));
    }
    let name = text("/file/filename").or_else(|| text("/filename"));
    if let Some(data) = text("/file/file_data").or_else(|| text("/file_data")) {
        let mut file = Attachment::from_url(kind, data);
        file.label = name.map(str::to_owned).or(file.label);
        return Some(file);
    }
    let place = ["/source/url", "/file/file_id", "/file_id", "/file_url", "/url", "/path"];
    let place = place.into_iter().find_map(text).or(name)?;
    Some(Attachment::from_url(kind, place))
}

/// A call that the model asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Matches the `tool_call_id` of its result.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// Usually a JSON document, as the model wrote it.
    pub arguments: String,
}

/// The calls of an assistant message, whatever shape they were stored in.
pub fn tool_calls(message: &Message<'_>) -> Vec<ToolCall> {
    match message.value(MessageColumn::ToolCalls) {
        Value::Null | Value::Integer(_) | Value::Real(_) => Vec::new(),
        Value::Text(text) if text.is_empty() => Vec::new(),
        Value::Text(text) => vec![undecoded(text)],
        Value::Json(json) => match serde_json::from_str(json) {
            Ok(Json::Array(items)) => items.iter().map(tool_call).collect(),
            Ok(Json::Null) => Vec::new(),
            Ok(one) => vec![tool_call(&one)],
            Err(_) => vec![undecoded(json)],
        },
    }
}

fn undecoded(text: &str) -> ToolCall {
    ToolCall { id: None, name: "unknown".to_owned(), arguments: text.to_owned() }
}

fn tool_call(json: &Json) -> ToolCall {
    let text = |keys: &[&str]| {
        keys.iter().find_map(|key| json.pointer(key)).and_then(Json::as_str).map(str::to_owned)
    };
    let arguments = ["/function/arguments", "/arguments", "/input", "/args"];
    let Some(name) = text(&["/function/name", "/name"]) else {
        return undecoded(&json.to_string());
    };
    ToolCall {
        id: text(&["/id", "/call_id"]),
        name,
        arguments: match arguments.iter().find_map(|key| json.pointer(key)) {
            Some(Json::String(text)) => text.clone(),
            Some(Json::Null) | None => String::new(),
            Some(other) => other.to_string(),
        },
    }
}

/// Whether a tool message is the result of this call; where an id is missing, by name.
pub(crate) fn answers(result: &Message<'_>, call: &ToolCall) -> bool {
    match (result.text(MessageColumn::ToolCallId), &call.id) {
        (Some(result), Some(call)) => result == call,
        _ => result.text(MessageColumn::ToolName) == Some(&call.name),
    }
}

/// The columns that hold reasoning; providers fill one or several with the same text.
pub(crate) const REASONING: [MessageColumn; 4] = [
    MessageColumn::Reasoning,
    MessageColumn::ReasoningContent,
    MessageColumn::ReasoningDetails,
    MessageColumn::CodexReasoningItems,
];

/// What the model thought before it spoke.
pub(crate) struct Thought {
    /// The text, or structured reasoning that holds more than text.
    pub(crate) text: String,
    /// Whether it is the latter.
    pub(crate) is_json: bool,
}

impl Thought {
    fn of(value: &Value<'_>) -> Option<Self> {
        let plain = |text: String| Self { text, is_json: false };
        Some(match value {
            Value::Null => return None,
            Value::Json(json) => match serde_json::from_str(json) {
                Ok(json) => reasoning_text(&json)
                    .map_or_else(|| Self { text: format!("{json:#}"), is_json: true }, plain),
                Err(_) => plain(json.clone().into_owned()),
            },
            Value::Text(text) => plain(text.clone().into_owned()),
            Value::Integer(n) => plain(n.to_string()),
            Value::Real(x) => plain(x.to_string()),
        })
    }
}

/// The reasoning of a message, each text once.
pub(crate) fn thoughts(message: &Message<'_>) -> Vec<Thought> {
    let mut thoughts: Vec<Thought> = Vec::new();
    for thought in REASONING.into_iter().filter_map(|column| Thought::of(message.value(column))) {
        let text = thought.text.trim();
        let is_new = thoughts.iter().all(|other| other.text.trim() != text);
        if is_new && !matches!(text, "" | "[]" | "null") {
            thoughts.push(thought);
        }
    }
    thoughts
}

/// The text of structured reasoning that holds nothing else worth keeping.
fn reasoning_text(json: &Json) -> Option<String> {
    const KNOWN: [&str; 5] = ["type", "text", "format", "index", "id"];
    let items = json.as_array()?;
    let text = |item: &Json| {
        let fields = item.as_object()?;
        let known = fields.iter().all(|(name, value)| value.is_null() || KNOWN.contains(&&**name));
        fields.get("text").filter(|_| known)?.as_str().map(str::to_owned)
    };
    let texts: Option<Vec<String>> = items.iter().map(text).collect();
    texts.map(|texts| texts.join("\n"))
}

/// The marks that Hermes' context compressor puts into a conversation (hermes-agent 0.19.0).
const SUMMARY_MARKS: [&str; 2] = ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:"];
const PRIOR_CONTEXT: &str = "[PRIOR CONTEXT — for reference only; not a new message]";
const SUMMARY_BELOW: &str = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]";

/// Whether a text is the compressor's summary rather than somebody's words.
pub fn is_compaction_summary(text: &str) -> bool {
    let text = text.split_once(SUMMARY_BELOW).map_or(text, |(_, below)| below);
    SUMMARY_MARKS.iter().any(|mark| text.trim_start().starts_with(mark))
}

/// The user's own words in a user message's text: nothing of a compaction summary, and what
/// stands above one that the compressor merged into the message.
pub(crate) fn own_words(text: &str) -> Option<&str> {
    if !is_compaction_summary(text) {
        return Some(text);
    }
    let (above, _) = text.split_once(SUMMARY_BELOW)?;
    let words = above.trim_start().strip_prefix(PRIOR_CONTEXT).unwrap_or(above).trim();
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Attachment, Source, is_compaction_summary, own_words, part, tool_call};

    #[test]
    fn attachments_are_named_by_type_and_size() {
        let shapes = [
            (
                json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}),
                "[image: image/png, 3 bytes]",
            ),
            (
                json!({"type": "input_image", "image_url": "https://example.org/a.png"}),
                "[image: https://example.org/a.png]",
            ),
            (
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "AAA="}}),
                "[image: image/gif, 2 bytes]",
            ),
            (
                json!({"type": "input_audio", "input_audio": {"format": "wav", "data": "AAAA"}}),
                "[audio: wav, 3 bytes]",
            ),
            (
                json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}}),
                "[file: a.pdf, 3 bytes]",
            ),
        ];
        for (shape, name) in shapes {
            match part(shape) {
                super::Part::Attachment(a) => assert_eq!(a.to_string(), name),
                other => panic!("{other:?} is no attachment"),
            }
        }
    }

    #[test]
    fn a_part_of_an_unknown_shape_is_kept() {
        let odd = json!({"type": "hologram", "depth": 3});
        assert_eq!(part(odd.clone()), super::Part::Other(odd));
        let url = Attachment::from_url("image", "data:,plain");
        assert_eq!(url.source, Source::Remote("data:,plain".to_owned()));
    }

    #[test]
    fn tool_calls_of_every_shape_are_read() {
        let openai = tool_call(&json!({"id": "c1", "function": {"name": "ls", "arguments": "{}"}}));
        assert_eq!(
            (openai.id.as_deref(), &*openai.name, &*openai.arguments),
            (Some("c1"), "ls", "{}")
        );
        let anthropic = tool_call(&json!({"id": "c2", "name": "ls", "input": {"a": 1}}));
        assert_eq!(anthropic.arguments, "{\"a\":1}");
        let odd = tool_call(&json!({"function": null}));
        assert_eq!((&*odd.name, &*odd.arguments), ("unknown", "{\"function\":null}"));
    }

    #[test]
    fn summaries_are_not_the_users_words() {
        assert!(is_compaction_summary("[CONTEXT COMPACTION — REFERENCE ONLY] Earlier"));
        assert!(!is_compaction_summary("what does [CONTEXT COMPACTION mean?"));
        assert_eq!(own_words("[CONTEXT SUMMARY]: x"), None);
        assert_eq!(own_words("hello"), Some("hello"));
        let merged = format!(
            "{}\nfix it\n\n{}\n\n[CONTEXT COMPACTION — REFERENCE ONLY] …",
            super::PRIOR_CONTEXT,
            super::SUMMARY_BELOW
        );
        assert_eq!(own_words(&merged), Some("fix it"));
    }
}
