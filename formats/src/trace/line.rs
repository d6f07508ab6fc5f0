//! The lines of Claude Code's JSONL, as far as a Hermes session fills them.
//!
//! Names and shapes are those that Claude Code 2 writes into `~/.claude/projects`; `init` and
//! `result` are those of its `--output-format stream-json`. What only Hermes knows stands in
//! `hermes`, which other readers pass over.

use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::model::{Message, MessageColumn, Standing};
use crate::time::iso_millis;

/// A line that has a place in the conversation.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'a> {
    pub(super) r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subtype: Option<&'static str>,
    pub(super) parent_uuid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logical_parent_uuid: Option<Uuid>,
    pub(super) is_sidechain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent_id: Option<&'a str>,
    pub(super) user_type: &'static str,
    pub(super) entrypoint: &'a str,
    pub(super) cwd: &'a str,
    pub(super) session_id: &'a str,
    pub(super) version: &'static str,
    pub(super) git_branch: &'a str,
    pub(super) uuid: Uuid,
    pub(super) timestamp: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_compact_summary: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Payload<'a>>,
    #[serde(skip_serializing_if = "Hermes::is_empty")]
    pub(super) hermes: Hermes<'a>,
}

/// What a line says.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Payload<'a> {
    /// The user's words, or a tool's result, which Claude Code gives the user's role.
    User { role: &'static str, content: Content },
    /// The model's turn.
    Assistant {
        id: String,
        r#type: &'static str,
        role: &'static str,
        model: &'a str,
        content: Vec<Block>,
        stop_reason: Option<&'a str>,
        stop_sequence: (),
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The head of a file. Hugging Face's loader knows a trace by messages of differing keys, so
    /// this one's differ from all others'.
    Start { role: &'static str, model: &'a str, content: &'static str },
}

/// A text, or blocks.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

impl Content {
    /// The texts in it.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let (text, blocks) = match self {
            Content::Text(text) => (Some(&**text), &[][..]),
            Content::Blocks(blocks) => (None, &**blocks),
        };
        text.into_iter().chain(blocks.iter().filter_map(|block| match block {
            Block::Text { text } => Some(&**text),
            Block::Thinking { .. }
            | Block::Image { .. }
            | Block::ToolUse { .. }
            | Block::ToolResult { .. } => None,
        }))
    }
}

/// A piece of a message.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Thinking {
        thinking: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    Text {
        text: String,
    },
    Image {
        source: ImageSource,
    },
    ToolUse {
        id: String,
        name: String,
        input: Input,
    },
    ToolResult {
        tool_use_id: String,
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
}

/// What a tool is called with.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Input {
    Object(Box<RawValue>),
    /// What is no object.
    Raw {
        #[serde(rename = "_raw")]
        raw: String,
    },
    Nothing {},
}

/// A picture's bytes.
#[derive(Debug, Serialize)]
pub(super) struct ImageSource {
    pub(super) r#type: &'static str,
    pub(super) media_type: String,
    pub(super) data: String,
}

/// What a turn or a session cost, in tokens.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_field_names, reason = "names of the API")]
pub(super) struct Usage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_creation_input_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_read_input_tokens: Option<i64>,
}

impl Usage {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What Claude Code has no place for.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Hermes<'a> {
    /// The session that this one works for, continues or branches off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_session_id: Option<&'a str>,
    /// What strangers are told of where the file comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) provenance: Option<&'a str>,
    /// A role that Claude Code does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effect: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) platform_message_id: Option<&'a str>,
    /// Overheard in a group, not addressed to the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) observed: Option<bool>,
    /// compacted or rewound, where a message is no longer part of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) standing: Option<&'static str>,
    /// The stored time, where it has no date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<String>,
}

impl<'a> Hermes<'a> {
    /// What any message may have.
    pub(super) fn of(message: &'a Message<'_>) -> Self {
        let dateless = |seconds: &f64| iso_millis(*seconds).is_none();
        let timestamp = message.number(MessageColumn::Timestamp).filter(dateless);
        Self {
            effect: message.text(MessageColumn::Effect),
            platform_message_id: message.text(MessageColumn::PlatformMessageId),
            observed: (message.integer(MessageColumn::Observed) == Some(1)).then_some(true),
            standing: match message.standing() {
                Standing::Active => None,
                Standing::Compacted => Some("compacted"),
                Standing::Rewound => Some("rewound"),
            },
            timestamp: timestamp.map(|seconds| seconds.to_string()),
            ..Self::default()
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The session's title.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summary<'a> {
    pub(super) r#type: &'static str,
    #[serde(rename = "summary")]
    pub(super) title: &'a str,
    pub(super) leaf_uuid: Uuid,
}
