//! The prompts alone (`--only user-prompts`): what the user typed, as JSONL records or Markdown.
//!
//! A compaction summary stands in the user's place but is no prompt; a picture is named, not
//! dumped. Records are those of hermes-agent 0.19.0: `session_id`, `index` (from 1), `created_at`
//! (ISO 8601, UTC), `role`, `text`, `message_id` and, where the platform gave one, `event_id`.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};

use crate::content::{Part, own_words, parts};
use crate::model::{Message, MessageColumn, Role, Session, Value};
use crate::time::iso_seconds;
use crate::{FileHead, Format, FormatWriter, Layout, SessionHead, SessionWriter};

const ONLY: &str = "user-prompts";

pub(crate) const JSONL: Format = Format {
    name: "prompts",
    only: Some(ONLY),
    extension: "jsonl",
    about: "the user's prompts alone, one a line",
    layout: Layout::OneFile,
    features: &[],
    start: |out, _: &FileHead| Ok(Box::new(Records { out })),
};

/// A message's prompt: its text with attachments named, or `None` where the user said nothing.
fn prompt(message: &Message<'_>) -> Option<String> {
    if message.role() != Role::User {
        return None;
    }
    let mut lines = Vec::new();
    let mut summary = false;
    for part in parts(message) {
        match part {
            Part::Text(text) => match own_words(&text) {
                Some(words) => lines.push(words.to_owned()),
                None => summary = true,
            },
            Part::Attachment(attachment) => lines.push(attachment.to_string()),
            Part::Other(json) => lines.push(json.to_string()),
        }
    }
    lines.retain(|line| !line.is_empty());
    (!summary || !lines.is_empty()).then(|| lines.join("\n"))
}

/// When a message was sent; a time beyond the calendar is given as the store has it.
fn created_at(message: &Message<'_>) -> Option<String> {
    let seconds = message.number(MessageColumn::Timestamp)?;
    Some(iso_seconds(seconds).unwrap_or_else(|| seconds.to_string()))
}

struct Records<'w> {
    out: &'w mut dyn Write,
}

impl FormatWriter for Records<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let session_id = head.session.id().to_owned();
        Ok(Box::new(SessionRecords { out: self.out, session_id, index: 0 }))
    }
}

struct SessionRecords<'s> {
    out: &'s mut dyn Write,
    session_id: String,
    index: u64,
}

impl SessionWriter for SessionRecords<'_> {
    fn segment(&mut self, _: &Session<'_>) -> io::Result<()> {
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        let Some(text) = prompt(message) else {
            return Ok(());
        };
        self.index += 1;
        let mut record = Map::new();
        record.insert("session_id".into(), self.session_id.clone().into());
        record.insert("index".into(), self.index.into());
        record.insert("created_at".into(), created_at(message).into());
        record.insert("role".into(), "user".into());
        record.insert("text".into(), text.into());
        if let Some(id) = message.integer(MessageColumn::Id) {
            record.insert("message_id".into(), id.into());
        }
        if let Value::Text(id) = message.value(MessageColumn::PlatformMessageId)
            && !id.is_empty()
        {
            record.insert("event_id".into(), id.clone().into_owned().into());
        }
        serde_json::to_writer(&mut *self.out, &Json::Object(record))?;
        self.out.write_all(b"\n")
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}
