//! `sts`: Hugging Face's Session Trace Simple Format, a file a session.
//!
//! A `session` line, then a `message` line for each message: what the Hub documents for harnesses that it does not know
//! (hub docs, Session Traces Format). It shows less than `trace`: no tokens, cost or errors, and of pictures the names. The
//! Hub's loader knows a trace by messages of differing keys, so the system prompt stands first, empty or not,
//! and is the one message without a time. What was taken back has no place in a list and is left out.

use std::io::{self, Write};

use serde::Serialize;

use crate::content::{Part, parts, thoughts, tool_calls};
use crate::model::{Message, MessageColumn, Role, Session, SessionColumn, Standing};
use crate::pairing::Pairing;
use crate::portable::{tamed, write_line};
use crate::time::iso_millis;
use crate::{
    Feature, FileHead, Format, FormatWriter, Layout, NothingToShow, SessionHead, SessionWriter,
};

pub(crate) const FORMAT: Format = Format {
    name: "sts",
    only: None,
    variant: None,
    extension: "sts.jsonl",
    about: "a trace in the Hub's Session Trace Simple Format, a file for each session",
    layout: Layout::FilePerSession,
    features: &[
        Feature::JoinsLineage,
        Feature::NeedsSelection,
        Feature::NamedById,
        Feature::DefaultsToLatest,
        Feature::RedactsByDefault,
    ],
    start: &|out, head: &FileHead| Ok(Box::new(Sts { out, provenance: head.provenance })),
    folder: None,
};

/// Who made the trace, as the Hub is to label it.
const HARNESS: &str = "hermes-agent";

struct Sts<'w> {
    out: &'w mut (dyn Write + Send),
    provenance: Option<&'static str>,
}

/// The first line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Header<'a> {
    r#type: &'static str,
    harness: &'static str,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<&'static str>,
}

/// Each other line.
#[derive(Serialize)]
struct Line<'a> {
    r#type: &'static str,
    message: Said<'a>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Said<'a> {
    role: &'static str,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    /// Milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
}

#[derive(Serialize)]
struct Call {
    id: String,
    function: Function,
}

#[derive(Serialize)]
struct Function {
    name: String,
    /// As JSON text, as the model wrote it.
    arguments: String,
}

impl FormatWriter for Sts<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let session = head.session;
        let header = Header {
            r#type: "session",
            harness: HARNESS,
            id: session.id(),
            name: session.text(SessionColumn::Title),
            timestamp: session.number(SessionColumn::StartedAt).and_then(iso_millis),
            source: session.text(SessionColumn::Source),
            cwd: session.text(SessionColumn::Cwd),
            git_branch: session.text(SessionColumn::Branch),
            parent_session_id: session.text(SessionColumn::Parent),
            provenance: self.provenance,
        };
        write_line(self.out, &header)?;
        let prompt = session.text(SessionColumn::SystemPrompt).unwrap_or_default().to_owned();
        write(self.out, Said { role: "system", content: prompt, ..Said::default() })?;
        let model = session.text(SessionColumn::Model).map(str::to_owned);
        let pairing = Pairing::default();
        Ok(Box::new(Conversation { out: self.out, model, pairing, messages: 0, turns: 0 }))
    }
}

struct Conversation<'s> {
    out: &'s mut (dyn Write + Send),
    model: Option<String>,
    pairing: Pairing<()>,
    messages: u64,
    /// Messages of the user and the model.
    turns: u64,
}

impl SessionWriter for Conversation<'_> {
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()> {
        self.model = part.text(SessionColumn::Model).map(str::to_owned);
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        self.messages += 1;
        if message.standing() == Standing::Rewound {
            return Ok(());
        }
        let row = message.integer(MessageColumn::Id).map(|row| row.to_string());
        let row = row.unwrap_or_else(|| format!("n{}", self.messages));
        let content = content(message);
        let said = Said { content, timestamp: millis(message), ..Said::default() };
        match message.role() {
            Role::User => {
                self.turns += 1;
                write(self.out, Said { role: "user", ..said })
            }
            Role::Assistant => self.assistant(message, &row, said),
            Role::Tool => {
                let call = self.pairing.answered(message).map(|call| call.id);
                let given = || message.text(MessageColumn::ToolCallId).map(str::to_owned);
                let id = call.or_else(given).unwrap_or_else(|| format!("call_{row}"));
                write(self.out, Said { role: "tool", tool_call_id: Some(id), ..said })
            }
            Role::System | Role::Other(_) if said.content.is_empty() => Ok(()),
            Role::System | Role::Other(_) => write(self.out, Said { role: "system", ..said }),
        }
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        if self.turns == 0 { Err(io::Error::other(NothingToShow)) } else { Ok(()) }
    }
}

impl Conversation<'_> {
    fn assistant(&mut self, message: &Message<'_>, row: &str, said: Said<'_>) -> io::Result<()> {
        self.turns += 1;
        let calls = tool_calls(message);
        let ids = self.pairing.ask(&calls, row, ());
        let call = |(id, call): (String, crate::content::ToolCall)| {
            let arguments = tamed(&call.arguments).unwrap_or(call.arguments);
            Call { id, function: Function { name: call.name, arguments } }
        };
        let thought = thoughts(message).into_iter().find(|thought| !thought.is_json);
        write(
            self.out,
            Said {
                role: "assistant",
                reasoning_content: thought.map(|thought| thought.text),
                tool_calls: ids.into_iter().zip(calls).map(call).collect(),
                model: self.model.as_deref(),
                ..said
            },
        )
    }
}

fn write(out: &mut (dyn Write + Send), message: Said<'_>) -> io::Result<()> {
    write_line(out, &Line { r#type: "message", message })
}

fn content(message: &Message<'_>) -> String {
    let text = |part| match part {
        Part::Text(text) => text,
        Part::Attachment(attachment) => attachment.to_string(),
        Part::Other(json) => json.to_string(),
    };
    parts(message).into_iter().map(text).collect::<Vec<_>>().join("\n")
}

/// When a message was sent; `None` beyond the calendar.
fn millis(message: &Message<'_>) -> Option<i64> {
    let seconds = message.number(MessageColumn::Timestamp)?;
    iso_millis(seconds)?;
    #[expect(clippy::cast_possible_truncation, reason = "within the calendar")]
    let millis = (seconds * 1000.0).floor() as i64;
    Some(millis)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::FORMAT;
    use crate::model::{MessageColumn, Value};
    use crate::testing::{json as cell, message, sample, session, text, write};

    #[test]
    fn results_name_their_calls_and_what_was_taken_back_is_left_out() {
        let calls =
            json!([{"function": {"name": "ls", "arguments": "{\"n\": 123456789012345678901}"}}]);
        let away = vec![(MessageColumn::Active, Value::Integer(0))];
        let thinks = vec![
            (MessageColumn::ToolCalls, cell(&calls)),
            (MessageColumn::Reasoning, text("Why not?")),
        ];
        let messages = vec![
            message("user", "Look.", vec![]),
            message("user", "Never mind.", away),
            message("assistant", "", thinks),
            message("tool", "a", vec![(MessageColumn::ToolName, text("ls"))]),
            message("tool", "b", vec![]),
        ];
        let written = write(&FORMAT, &[&sample("s", session("s", vec![]), messages)]);
        let lines: Vec<Json> = written.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines[0]["type"], "session");
        let said: Vec<_> = lines[1..].iter().map(|line| &line["message"]).collect();
        assert_eq!(said[0], &json!({"role": "system", "content": ""}));
        let time = 1_783_261_800_000_i64;
        assert_eq!(said[1], &json!({"role": "user", "content": "Look.", "timestamp": time}));
        assert_eq!(said[2]["reasoningContent"], "Why not?");
        let call = json!({"id": "call_3_1", "function": {"name": "ls", "arguments": "{\"n\": \"123456789012345678901\"}"}});
        assert_eq!(said[2]["toolCalls"], json!([call]));
        assert_eq!(
            (&said[3]["toolCallId"], &said[4]["toolCallId"]),
            (&json!("call_3_1"), &json!("call_5"))
        );
        assert_eq!(said.len(), 5);
    }
}
