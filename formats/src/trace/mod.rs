//! Agent traces, a file a session, as Hugging Face's Hub shows them.
//!
//! `trace` is Claude Code's own JSONL, which other tools read, too. `trace-hermes` is the row of
//! Hermes' own export, which the Hub reads as well and which keeps every column. Both are written so
//! that Hugging Face's loader, which fails a whole dataset for one bad line, takes them: see
//! [`portable`](crate::portable).
//!
//! Nothing in a file depends on when, where or how often it is written: times are the store's, and
//! ids are UUIDs (version 5) of session and row.

use std::io::{self, Seek, Write};

use tempfile::SpooledTempFile;
use uuid::Uuid;

use crate::content::{ToolCall, is_compaction_summary, tool_calls};
use crate::jsonl::{Jsonl, Style};
use crate::model::{Message, MessageColumn, Role, Session, SessionColumn, Standing};
use crate::pairing::Pairing;
use crate::portable::write_line;
use crate::{
    Feature, FileHead, Format, FormatWriter, Layout, NothingToShow, SessionHead, SessionWriter,
    Variant,
};
use line::{Block, Content, Hermes, Payload, Summary, Usage};
use thread::Thread;
use totals::Totals;

mod block;
mod hermes;
mod line;
mod thread;
mod totals;

pub(crate) const CLAUDE: Format = Format {
    name: "trace",
    only: None,
    variant: Some(Variant {
        of: "trace",
        flag: "trace-shape",
        value: "claude",
        about: "as Claude Code writes it, which other tools read, too",
    }),
    extension: "trace.jsonl",
    about: "a trace for the Hugging Face Hub, as Claude Code writes it, a file for each session",
    layout: Layout::FilePerSession,
    features: &[
        Feature::JoinsLineage,
        Feature::NeedsSelection,
        Feature::NamedById,
        Feature::DefaultsToLatest,
        Feature::RedactsByDefault,
        Feature::ForTheHub,
    ],
    start: &|out, head: &FileHead| Ok(Box::new(Claude { out, provenance: head.provenance })),
    folder: None,
};

pub(crate) const HERMES: Format = Format {
    name: "trace-hermes",
    variant: Some(Variant {
        of: "trace",
        flag: "trace-shape",
        value: "hermes",
        about: "as Hermes' own row, with every column",
    }),
    about: "a trace for the Hugging Face Hub, as Hermes' own row with every column",
    start: &|out, head: &FileHead| {
        let (style, provenance) = (Style::Portable, head.provenance);
        Ok(Box::new(hermes::Rows(Jsonl { out, style, provenance })))
    },
    ..CLAUDE
};

/// A file up to this size waits in memory for its first line, a longer one on the disk.
const IN_MEMORY: usize = 1 << 20;
/// Names of tools that the first line has room for.
const TOOLS: usize = 1000;

struct Claude<'w> {
    out: &'w mut (dyn Write + Send),
    provenance: Option<&'static str>,
}

impl FormatWriter for Claude<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let title = head.session.text(SessionColumn::Title).map(str::to_owned);
        Ok(Box::new(Trace {
            out: self.out,
            provenance: self.provenance,
            spool: SpooledTempFile::new(IN_MEMORY),
            thread: Thread::of(head.session),
            totals: Totals::of(head),
            title,
            pairing: Pairing::default(),
            tools: Vec::new(),
            turns: 0,
            before: Standing::Active,
            compacted: false,
        }))
    }
}

/// A session's trace while it is being written. Its first line names the tools, so the others wait.
struct Trace<'s> {
    out: &'s mut (dyn Write + Send),
    provenance: Option<&'static str>,
    spool: SpooledTempFile,
    thread: Thread,
    totals: Totals,
    title: Option<String>,
    /// Calls, each with the line that it stands in.
    pairing: Pairing<Uuid>,
    /// The tools that were called, each once, in the order of their first calls.
    tools: Vec<String>,
    /// Messages of the user and the model.
    turns: u64,
    /// How the last message that was not taken back stands to the conversation.
    before: Standing,
    /// Whether a compaction lies between that one and the next.
    compacted: bool,
}

impl SessionWriter for Trace<'_> {
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()> {
        self.compacted = true;
        self.thread.enter(part);
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        let row = self.thread.turn_to(message);
        self.notice_compaction(message.standing());
        if self.compacted {
            self.boundary()?;
        }
        match message.role() {
            Role::User => self.user(message, &row),
            Role::Assistant => self.assistant(message, &row),
            Role::Tool => self.tool(message, &row),
            Role::System | Role::Other(_) => self.system(message, &row),
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.turns == 0 {
            return Err(io::Error::other(NothingToShow));
        }
        self.start()?;
        self.spool.rewind()?;
        io::copy(&mut self.spool, self.out)?;
        write_line(self.out, &self.totals)?;
        let Some(title) = &self.title else { return Ok(()) };
        let leaf_uuid = self.thread.tip();
        write_line(self.out, &Summary { r#type: "summary", title, leaf_uuid })
    }
}

impl Trace<'_> {
    /// The line that a trace begins with.
    fn start(&mut self) -> io::Result<()> {
        let thread = &self.thread;
        let mut line = thread.head();
        line.subtype = Some("init");
        line.model = Some(thread.model());
        line.tools = Some(&self.tools);
        line.message = Some(Payload::Start {
            role: "system",
            model: thread.model(),
            content: "session start",
        });
        line.hermes.parent_session_id = thread.parent_session_id();
        line.hermes.provenance = self.provenance;
        write_line(self.out, &line)
    }

    /// What an in-place compaction set aside stands before what it left.
    fn notice_compaction(&mut self, standing: Standing) {
        self.compacted |= (self.before, standing) == (Standing::Compacted, Standing::Active);
        if standing != Standing::Rewound {
            self.before = standing;
        }
    }

    /// Tells that the conversation goes on from a summary; nothing where it only begins.
    fn boundary(&mut self) -> io::Result<()> {
        self.compacted = false;
        if self.thread.is_at_start() {
            return Ok(());
        }
        let before = self.thread.tip();
        let uuid = self.thread.id(&format!("boundary after {before}"));
        let mut line = self.thread.line("system", None, uuid);
        line.subtype = Some("compact_boundary");
        line.logical_parent_uuid = Some(before);
        line.content = Some("Conversation compacted");
        line.level = Some("info");
        write_line(&mut self.spool, &line)?;
        self.thread.follow(uuid, Standing::Active);
        Ok(())
    }

    fn user(&mut self, message: &Message<'_>, row: &str) -> io::Result<()> {
        self.turns += 1;
        let (uuid, standing) = (self.thread.id(row), message.standing());
        let content = block::content(message);
        let mut line = self.thread.line("user", Some(self.thread.before(standing)), uuid);
        line.is_compact_summary = content.texts().any(is_compaction_summary).then_some(true);
        line.message = Some(Payload::User { role: "user", content });
        line.hermes = Hermes::of(message);
        write_line(&mut self.spool, &line)?;
        self.thread.follow(uuid, standing);
        Ok(())
    }

    fn assistant(&mut self, message: &Message<'_>, row: &str) -> io::Result<()> {
        self.turns += 1;
        let (uuid, standing) = (self.thread.id(row), message.standing());
        let calls = tool_calls(message);
        let ids = self.pairing.ask(&calls, row, uuid);
        self.name_tools(&calls);
        let thread = &self.thread;
        let mut line = thread.line("assistant", Some(thread.before(standing)), uuid);
        line.message = Some(Payload::Assistant {
            id: format!("msg_{row}"),
            r#type: "message",
            role: "assistant",
            model: thread.model(),
            content: block::turn(message, ids.into_iter().zip(calls)),
            stop_reason: message.text(MessageColumn::FinishReason).map(stop_reason),
            stop_sequence: (),
            usage: usage_of(message),
        });
        line.hermes = Hermes::of(message);
        write_line(&mut self.spool, &line)?;
        self.thread.follow(uuid, standing);
        Ok(())
    }

    /// A result follows the turn that asked for it; one that nobody asked for follows nothing.
    fn tool(&mut self, message: &Message<'_>, row: &str) -> io::Result<()> {
        let (uuid, standing) = (self.thread.id(row), message.standing());
        let call = self.pairing.answered(message);
        let given = || message.text(MessageColumn::ToolCallId).map(str::to_owned);
        let id = call.as_ref().map(|call| call.id.clone()).or_else(given);
        let content = block::result(message);
        let result = Block::ToolResult {
            tool_use_id: id.unwrap_or_else(|| format!("call_{row}")),
            is_error: block::is_error(&content).then_some(true),
            content,
        };
        let parent = call.as_ref().map(|call| call.mark);
        let mut line = self.thread.line("user", parent, uuid);
        let content = Content::Blocks(vec![result]);
        line.message = Some(Payload::User { role: "user", content });
        let name = message.text(MessageColumn::ToolName).or(call.as_ref().map(|call| &*call.name));
        line.hermes = Hermes { tool_name: name, ..Hermes::of(message) };
        write_line(&mut self.spool, &line)?;
        if call.is_some() {
            self.thread.follow(uuid, standing);
        }
        Ok(())
    }

    /// A message of a role that Claude Code's conversations do not have.
    fn system(&mut self, message: &Message<'_>, row: &str) -> io::Result<()> {
        let (uuid, standing) = (self.thread.id(row), message.standing());
        let text = block::result(message);
        let mut line = self.thread.line("system", Some(self.thread.before(standing)), uuid);
        line.subtype = Some("informational");
        line.content = (!text.is_empty()).then_some(&text);
        line.level = Some("info");
        line.hermes = Hermes { role: message.text(MessageColumn::Role), ..Hermes::of(message) };
        write_line(&mut self.spool, &line)?;
        self.thread.follow(uuid, standing);
        Ok(())
    }

    fn name_tools(&mut self, calls: &[ToolCall]) {
        for call in calls {
            if self.tools.len() < TOOLS && !self.tools.contains(&call.name) {
                self.tools.push(call.name.clone());
            }
        }
    }
}

/// Why the model stopped, in Anthropic's words where it has one.
fn stop_reason(reason: &str) -> &str {
    match reason {
        "stop" => "end_turn",
        "tool_calls" => "tool_use",
        "length" => "max_tokens",
        other => other,
    }
}

/// What a turn cost, where the store says so.
fn usage_of(message: &Message<'_>) -> Option<Usage> {
    let tokens = message.integer(MessageColumn::TokenCount).filter(|tokens| *tokens > 0)?;
    Some(Usage { output_tokens: Some(tokens), ..Usage::default() })
}
