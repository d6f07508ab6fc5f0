//! `chat`: the shape that OpenAI takes for fine-tuning, and most trainers of open models after it.
//!
//! `{"messages": [{"role": …, "content": …}], "tools": […]}`, one session a line. Calls are `tool_calls`, each
//! with an id and its arguments as JSON text; results follow, with that id. Reasoning stands in
//! `reasoning_content`, where chat templates of open models look for it and which OpenAI does not take. The store
//! does not keep what tools were offered, so `tools` has those that were called, by name, with any parameters.

use std::io::{self, Write};

use super::text::Text;
use super::{Call, Lines, Reasoning, Shape, Turn};
use crate::{Feature, FileHead, Format, Layout};

pub(crate) const KEEP: Format = Format {
    name: "chat",
    only: None,
    variant: Some(Reasoning::Keep.variant("chat")),
    extension: "chat.jsonl",
    about: "conversations to train a model on, in OpenAI's chat shape, one session a line",
    layout: Layout::OneFile,
    features: &[Feature::JoinsLineage],
    start: &|out, head: &FileHead| {
        let (reasoning, provenance) = (Reasoning::Keep, head.provenance);
        Ok(Box::new(Lines { out, shape: &Chat, reasoning, provenance }))
    },
    folder: None,
};

pub(crate) const DROP: Format = Format {
    name: "chat-plain",
    variant: Some(Reasoning::Drop.variant("chat")),
    about: "the same without reasoning, as OpenAI takes it",
    start: &|out, head: &FileHead| {
        let (reasoning, provenance) = (Reasoning::Drop, head.provenance);
        Ok(Box::new(Lines { out, shape: &Chat, reasoning, provenance }))
    },
    ..KEEP
};

struct Chat;

impl Shape for Chat {
    fn key(&self) -> &'static str {
        "messages"
    }

    fn system(&self, prompt: Text, out: &mut dyn Write) -> io::Result<()> {
        message("system", prompt, out)
    }

    fn user(&self, words: Text, out: &mut dyn Write) -> io::Result<()> {
        message("user", words, out)
    }

    fn model(&self, turn: &mut Turn, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(br#"{"role": "assistant", "content": "#)?;
        if turn.words.is_empty() {
            out.write_all(b"null")?;
        } else {
            turn.words.write_quoted(out)?;
        }
        if !turn.thought.is_empty() {
            out.write_all(br#", "reasoning_content": "#)?;
            turn.thought.write_quoted(out)?;
        }
        for (n, call) in turn.calls.iter().enumerate() {
            out.write_all(if n == 0 { br#", "tool_calls": ["# } else { b", " })?;
            out.write_all(br#"{"id": "#)?;
            Text::of(&call.id)?.write_quoted(out)?;
            write!(out, r#", "type": "function", "function": {{"name": "{}""#, call.name)?;
            out.write_all(br#", "arguments": "#)?;
            Text::of(&call.arguments())?.write_quoted(out)?;
            out.write_all(b"}}")?;
        }
        out.write_all(if turn.calls.is_empty() { b"}" } else { b"]}" })
    }

    fn results(&self, calls: Vec<Call>, out: &mut dyn Write) -> io::Result<()> {
        for mut call in calls {
            out.write_all(br#", {"role": "tool", "tool_call_id": "#)?;
            Text::of(&call.id)?.write_quoted(out)?;
            out.write_all(br#", "content": "#)?;
            call.result.take().unwrap_or_default().write_quoted(out)?;
            out.write_all(b"}")?;
        }
        Ok(())
    }

    fn tools(&self, names: &[String], out: &mut dyn Write) -> io::Result<()> {
        for (n, name) in names.iter().enumerate() {
            out.write_all(if n == 0 { br#", "tools": ["# } else { b", " })?;
            write!(out, r#"{{"type": "function", "function": {{"name": "{name}", "#)?;
            // There is nothing to describe it by, but some templates ask for a description.
            out.write_all(br#""description": "", "parameters": "#)?;
            out.write_all(br#"{"type": "object", "properties": {}}}}"#)?;
        }
        if names.is_empty() { Ok(()) } else { out.write_all(b"]") }
    }
}

fn message(role: &str, mut words: Text, out: &mut dyn Write) -> io::Result<()> {
    write!(out, r#"{{"role": "{role}", "content": "#)?;
    words.write_quoted(out)?;
    out.write_all(b"}")
}
