//! `sharegpt`: conversations with `from` and `value`, as axolotl, LLaMA-Factory and Hermes' own trajectories have them.
//!
//! `system` stands first, then `human` or `tool` and `gpt` by turns. Everything is text, so that nothing that
//! the model said is lost: what it thought is in `<think>`, a call is a JSON object in `<tool_call>`, both in its turn.
//! Several results are one turn, set apart as chat templates set them apart, which put `<tool_response>` around it.
//! `tools` is JSON text and always there, as loaders learn columns from the first lines.

use std::io::{self, Write};

use super::text::Text;
use super::{Call, Lines, Reasoning, Shape, Turn};
use crate::{Feature, FileHead, Format, Layout};

pub(crate) const KEEP: Format = Format {
    name: "sharegpt",
    only: None,
    variant: Some(Reasoning::Keep.variant("sharegpt")),
    extension: "sharegpt.jsonl",
    about: "the same in ShareGPT's shape, with from and value",
    layout: Layout::OneFile,
    features: &[Feature::JoinsLineage],
    start: &|out, head: &FileHead| {
        let (reasoning, provenance) = (Reasoning::Keep, head.provenance);
        Ok(Box::new(Lines { out, shape: &ShareGpt, reasoning, provenance }))
    },
    folder: None,
};

pub(crate) const DROP: Format = Format {
    name: "sharegpt-plain",
    variant: Some(Reasoning::Drop.variant("sharegpt")),
    about: "the same without reasoning",
    start: &|out, head: &FileHead| {
        let (reasoning, provenance) = (Reasoning::Drop, head.provenance);
        Ok(Box::new(Lines { out, shape: &ShareGpt, reasoning, provenance }))
    },
    ..KEEP
};

struct ShareGpt;

impl Shape for ShareGpt {
    fn key(&self) -> &'static str {
        "conversations"
    }

    fn system(&self, prompt: Text, out: &mut dyn Write) -> io::Result<()> {
        turn("system", prompt, out)
    }

    fn user(&self, words: Text, out: &mut dyn Write) -> io::Result<()> {
        turn("human", words, out)
    }

    fn model(&self, said: &mut Turn, out: &mut dyn Write) -> io::Result<()> {
        let mut value = Text::default();
        if !said.thought.is_empty() {
            value.push("<think>\n")?;
            value.push_all(std::mem::take(&mut said.thought))?;
            value.push("\n</think>")?;
        }
        if !said.words.is_empty() {
            value.break_line()?;
            value.push_all(std::mem::take(&mut said.words))?;
        }
        for call in &said.calls {
            value.break_line()?;
            value.push(&asked(call))?;
        }
        turn("gpt", value, out)
    }

    fn results(&self, calls: Vec<Call>, out: &mut dyn Write) -> io::Result<()> {
        let mut value = Text::default();
        for (n, call) in calls.into_iter().enumerate() {
            if n > 0 {
                value.push("\n</tool_response>\n<tool_response>\n")?;
            }
            value.push_all(call.result.unwrap_or_default())?;
        }
        out.write_all(b", ")?;
        turn("tool", value, out)
    }

    fn tools(&self, names: &[String], out: &mut dyn Write) -> io::Result<()> {
        let tool = |name: &String| {
            format!(
                r#"{{"name": "{name}", "description": "", "parameters": {{"type": "object", "properties": {{}}}}}}"#
            )
        };
        let tools = names.iter().map(tool).collect::<Vec<_>>().join(", ");
        out.write_all(br#", "tools": "#)?;
        Text::of(&format!("[{tools}]"))?.write_quoted(out)
    }
}

/// A call, as models of Nous Research and Qwen write it.
fn asked(call: &Call) -> String {
    let (name, arguments) = (&call.name, call.arguments());
    format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>")
}

fn turn(from: &str, mut value: Text, out: &mut dyn Write) -> io::Result<()> {
    write!(out, r#"{{"from": "{from}", "value": "#)?;
    value.write_quoted(out)?;
    out.write_all(b"}")
}
