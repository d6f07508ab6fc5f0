//! The prompts alone (`--only user-prompts`): what the user typed, as JSONL records or Markdown.
//!
//! A compaction summary stands in the user's place but is no prompt; a picture is named, not
//! dumped. Records are those of hermes-agent 0.19.0: `session_id`, `index` (from 1), `created_at`
//! (ISO 8601, UTC), `role`, `text`, `message_id` and, where the platform gave one, `event_id`; for strangers also
//! `provenance`.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};

use crate::content::{Part, own_words, parts};
use crate::inert::blocks::{Blocks, Dialect};
use crate::inert::name::{inline, literal};
use crate::model::{Message, MessageColumn, Role, Session, SessionColumn, Value};
use crate::time::iso_seconds;
use crate::{FileHead, Format, FormatWriter, Layout, SessionHead, SessionWriter};

const ONLY: &str = "user-prompts";

pub(crate) const JSONL: Format = Format {
    name: "prompts",
    only: Some(ONLY),
    variant: None,
    extension: "jsonl",
    about: "the user's prompts alone, one a line",
    layout: Layout::OneFile,
    features: &[],
    start: &|out, head: &FileHead| Ok(Box::new(Records { out, provenance: head.provenance })),
    folder: None,
};

pub(crate) const MD: Format = Format {
    name: "prompts-md",
    only: Some(ONLY),
    variant: None,
    extension: "md",
    about: "the user's prompts alone, as Markdown",
    layout: Layout::OneFile,
    features: &[],
    start: &|out, head: &FileHead| {
        let mut blocks = Blocks::new(Dialect::Markdown);
        let level = if head.sessions == 1 { 1 } else { 2 };
        if level == 2 {
            blocks.heading(1, &["User prompts"]);
        }
        if head.sessions == 0 {
            blocks.remark("No user prompts.");
        }
        out.write_all(blocks.take().as_bytes())?;
        Ok(Box::new(Pages { out, blocks, level, provenance: head.provenance }))
    },
    folder: None,
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

/// When a message was sent.
fn created_at(message: &Message<'_>) -> Option<String> {
    message.number(MessageColumn::Timestamp).map(instant)
}

/// A time in ISO 8601; one beyond the calendar as the store has it.
fn instant(seconds: f64) -> String {
    iso_seconds(seconds).unwrap_or_else(|| seconds.to_string())
}

struct Records<'w> {
    out: &'w mut (dyn Write + Send),
    provenance: Option<&'static str>,
}

impl FormatWriter for Records<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let session_id = head.session.id().to_owned();
        Ok(Box::new(SessionRecords {
            out: self.out,
            provenance: self.provenance,
            session_id,
            index: 0,
        }))
    }
}

struct SessionRecords<'s> {
    out: &'s mut (dyn Write + Send),
    provenance: Option<&'static str>,
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
        if let Some(provenance) = self.provenance {
            record.insert("provenance".into(), provenance.into());
        }
        serde_json::to_writer(&mut *self.out, &Json::Object(record))?;
        self.out.write_all(b"\n")
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

struct Pages<'w> {
    out: &'w mut (dyn Write + Send),
    blocks: Blocks,
    /// The level of a session's heading; its prompts stand one below.
    level: usize,
    provenance: Option<&'static str>,
}

impl FormatWriter for Pages<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let session = head.session;
        let heading = match self.level {
            1 => format!("User prompts for session {}", session.id()),
            _ => format!("Session {}", session.id()),
        };
        self.blocks.heading(self.level, &[&heading]);
        let started = session.number(SessionColumn::StartedAt).map(instant);
        let facts = [
            ("Source", session.text(SessionColumn::Source).map(literal)),
            ("Model", session.text(SessionColumn::Model).map(literal)),
            ("Title", session.text(SessionColumn::Title).map(inline)),
            ("Started", started),
        ];
        let known = |(name, value): (_, Option<_>)| Some((name, value?));
        self.blocks.facts(&facts.into_iter().filter_map(known).collect::<Vec<_>>());
        self.out.write_all(self.blocks.take().as_bytes())?;
        Ok(Box::new(Page {
            out: self.out,
            blocks: &mut self.blocks,
            level: self.level + 1,
            prompts: 0,
        }))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if let Some(provenance) = self.provenance {
            self.blocks.remark(provenance);
        }
        self.out.write_all(self.blocks.take().as_bytes())
    }
}

struct Page<'s> {
    out: &'s mut (dyn Write + Send),
    blocks: &'s mut Blocks,
    /// The level of a prompt's heading.
    level: usize,
    prompts: u64,
}

impl SessionWriter for Page<'_> {
    fn segment(&mut self, _: &Session<'_>) -> io::Result<()> {
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        let Some(text) = prompt(message) else {
            return Ok(());
        };
        self.prompts += 1;
        let sent = created_at(message).unwrap_or_else(|| "no time".to_owned());
        self.blocks.heading(self.level, &[&format!("{}. {sent}", self.prompts)]);
        self.blocks.prose(&text);
        self.out.write_all(self.blocks.take().as_bytes())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        if self.prompts == 0 {
            self.blocks.remark("No user prompts.");
        }
        self.out.write_all(self.blocks.take().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::MD;
    use crate::testing::{message, sample, session, write};

    #[test]
    fn a_session_alone_is_the_document() {
        let messages =
            vec![message("user", "# Do it", vec![]), message("assistant", "Done.", vec![])];
        let document = write(&MD, &[&sample("s", session("s_1", vec![]), messages)]);
        let wanted = "# User prompts for session s_1\n\n- Source: `cli`\n\
                      - Started: 2026-07-05T14:30:00Z\n\n\
                      ## 1. 2026-07-05T14:30:00Z\n\n#### Do it\n";
        assert_eq!(document, wanted);
    }

    #[test]
    fn no_session_is_a_document_too() {
        assert_eq!(write(&MD, &[]), "# User prompts\n\n_No user prompts._\n");
    }
}
