//! Conversations to train a model on, one a line.
//!
//! Trainers refuse, or silently skip, what is not well formed, so all of them are: a system prompt, then
//! by turns somebody who speaks and the model that answers, each of whose calls is followed by its
//! result. The model has the last word. Turns of one speaker in a row are one. What has no place is left
//! out: calls without a result and results without a call, what follows the model's last turn (which may
//! call), what precedes the first question, and what was taken back. Pictures and files are named.

use std::io::{self, Write};

use text::Text;

use crate::content::{Part, ToolCall, answers, parts, thoughts, tool_calls};
use crate::json::check;
use crate::model::{Message, MessageColumn, Role, Session, SessionColumn, Standing};
use crate::{FormatWriter, NothingToShow, SessionHead, SessionWriter, Variant};

pub(crate) mod chat;
pub(crate) mod sharegpt;
mod text;

/// Names of tools that a session has room for.
const TOOLS: usize = 1000;
/// The longest name of a tool that OpenAI takes.
const NAME: usize = 64; // bytes

/// Whether the model's reasoning is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reasoning {
    Keep,
    Drop,
}

impl Reasoning {
    const fn variant(self, of: &'static str) -> Variant {
        let (value, about) = match self {
            Reasoning::Keep => ("keep", "with what the model thought before it spoke"),
            Reasoning::Drop => ("drop", "without, as OpenAI takes it"),
        };
        Variant { of, flag: "reasoning", value, about }
    }
}

/// How turns are written down.
trait Shape: Send + Sync {
    fn system(&self, prompt: Text, out: &mut dyn Write) -> io::Result<()>;
    fn user(&self, words: Text, out: &mut dyn Write) -> io::Result<()>;
    /// The model's turn: what it thought, said and called.
    fn model(&self, turn: &mut Turn, out: &mut dyn Write) -> io::Result<()>;
    /// What its calls gave back.
    fn results(&self, calls: Vec<Call>, out: &mut dyn Write) -> io::Result<()>;
    /// The key of the turns.
    fn key(&self) -> &'static str;
    /// The tools that were called, by name: what follows the turns.
    fn tools(&self, names: &[String], out: &mut dyn Write) -> io::Result<()>;
}

/// Writes one session a line.
struct Lines<'w> {
    out: &'w mut (dyn Write + Send),
    shape: &'static dyn Shape,
    reasoning: Reasoning,
    provenance: Option<&'static str>,
}

impl FormatWriter for Lines<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let mut system = Text::default();
        system.add(head.session.text(SessionColumn::SystemPrompt).unwrap_or_default())?;
        Ok(Box::new(Dialogue {
            out: self.out,
            shape: self.shape,
            reasoning: self.reasoning,
            provenance: self.provenance,
            system,
            asked: Text::default(),
            model: None,
            since: Text::default(),
            tools: Vec::new(),
            messages: 0,
            is_open: false,
        }))
    }
}

/// A session while it is being written.
struct Dialogue<'s> {
    out: &'s mut (dyn Write + Send),
    shape: &'static dyn Shape,
    reasoning: Reasoning,
    provenance: Option<&'static str>,
    system: Text,
    /// What was said to the model before its turn.
    asked: Text,
    /// The model's turn, which waits for results and for what comes next.
    model: Option<Turn>,
    /// What was said to the model since.
    since: Text,
    /// The tools that were called, each once, in the order of their first calls.
    tools: Vec<String>,
    messages: u64,
    /// Whether a turn is written.
    is_open: bool,
}

/// A turn of the model.
#[derive(Default)]
struct Turn {
    thought: Text,
    words: Text,
    calls: Vec<Call>,
}

/// A call of the model.
struct Call {
    /// Distinct within the turn.
    id: String,
    /// As trainers take it.
    name: String,
    asked: ToolCall,
    result: Option<Text>,
}

impl Call {
    /// Its arguments: a JSON object, in which stands what is none.
    fn arguments(&self) -> String {
        let text = self.asked.arguments.trim();
        if text.is_empty() {
            return "{}".to_owned();
        }
        match check(text).filter(|_| text.starts_with('{')) {
            Some(object) => object.text.into_owned(),
            None => serde_json::json!({ "_raw": text }).to_string(),
        }
    }
}

impl SessionWriter for Dialogue<'_> {
    fn segment(&mut self, _: &Session<'_>) -> io::Result<()> {
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        self.messages += 1;
        if message.standing() == Standing::Rewound {
            return Ok(());
        }
        match message.role() {
            Role::User if self.model.is_some() => self.since.add(&words(message)),
            Role::User => self.asked.add(&words(message)),
            Role::Assistant => self.answer(message),
            Role::Tool => self.result(message),
            Role::System if !self.has_begun() => self.system.add(&words(message)),
            // Later than that, a trainer takes none.
            Role::System | Role::Other(_) => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let Some(last) = self.model.take() else {
            return Err(io::Error::other(NothingToShow));
        };
        self.write(last)?;
        self.out.write_all(b"]")?;
        self.shape.tools(&self.tools, self.out)?;
        if let Some(provenance) = self.provenance {
            self.out.write_all(b", \"provenance\": ")?;
            Text::of(provenance)?.write_quoted(self.out)?;
        }
        self.out.write_all(b"}\n")
    }
}

impl Dialogue<'_> {
    /// Whether somebody has spoken to the model.
    fn has_begun(&self) -> bool {
        self.is_open || self.model.is_some() || !self.asked.is_empty()
    }

    fn answer(&mut self, message: &Message<'_>) -> io::Result<()> {
        let (words, calls) = (words(message), tool_calls(message));
        if words.trim().is_empty() && calls.is_empty() {
            return Ok(());
        }
        let is_next = !self.since.is_empty() || self.model.as_ref().is_some_and(Turn::has_results);
        if is_next {
            self.settle()?;
        }
        if !self.has_begun() {
            return Ok(());
        }
        let row = message.integer(MessageColumn::Id).map(|row| row.to_string());
        let row = row.unwrap_or_else(|| format!("n{}", self.messages));
        let turn = self.model.get_or_insert_default();
        if self.reasoning == Reasoning::Keep {
            let thought = thoughts(message).into_iter().find(|thought| !thought.is_json);
            turn.thought.add(&thought.map(|thought| thought.text).unwrap_or_default())?;
        }
        turn.words.add(&words)?;
        turn.call(calls, &row);
        Ok(())
    }

    /// A result goes to its call, even if somebody spoke in between.
    fn result(&mut self, message: &Message<'_>) -> io::Result<()> {
        let calls = self.model.iter_mut().flat_map(|turn| &mut turn.calls);
        let mut waiting = calls.filter(|call| call.result.is_none());
        if let Some(call) = waiting.find(|call| answers(message, &call.asked)) {
            call.result = Some(Text::of(&words(message))?);
        }
        Ok(())
    }

    /// The model's turn is over: it is written with the calls that have results.
    fn settle(&mut self) -> io::Result<()> {
        let Some(mut turn) = self.model.take() else { return Ok(()) };
        let since = std::mem::take(&mut self.since);
        turn.calls.retain(|call| call.result.is_some());
        if turn.words.is_empty() && turn.calls.is_empty() {
            return self.asked.append(since);
        }
        let calls = self.write(turn)?;
        if !calls.is_empty() {
            self.shape.results(calls, self.out)?;
        }
        self.asked = since;
        Ok(())
    }

    /// Writes what was asked and what the model answered; gives back its calls.
    fn write(&mut self, mut turn: Turn) -> io::Result<Vec<Call>> {
        if self.is_open {
            self.out.write_all(b", ")?;
        } else {
            self.is_open = true;
            write!(self.out, "{{\"{}\": [", self.shape.key())?;
            if !self.system.is_empty() {
                self.shape.system(std::mem::take(&mut self.system), self.out)?;
                self.out.write_all(b", ")?;
            }
        }
        if !self.asked.is_empty() {
            self.shape.user(std::mem::take(&mut self.asked), self.out)?;
            self.out.write_all(b", ")?;
        }
        for call in &turn.calls {
            if self.tools.len() < TOOLS && !self.tools.contains(&call.name) {
                self.tools.push(call.name.clone());
            }
        }
        self.shape.model(&mut turn, self.out)?;
        Ok(turn.calls)
    }
}

impl Turn {
    fn has_results(&self) -> bool {
        self.calls.iter().any(|call| call.result.is_some())
    }

    /// Takes the calls of one message, whose row is `row`.
    fn call(&mut self, calls: Vec<ToolCall>, row: &str) {
        for (n, asked) in (1..).zip(calls) {
            let is_new = |id: &String| !id.is_empty() && self.calls.iter().all(|c| c.id != *id);
            let id = asked.id.clone().filter(is_new).unwrap_or_else(|| format!("call_{row}_{n}"));
            let name = trained_name(&asked.name);
            self.calls.push(Call { id, name, asked, result: None });
        }
    }
}

/// A tool's name with the characters alone that OpenAI takes.
fn trained_name(name: &str) -> String {
    let taken = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let name: String = name.chars().map(taken).take(NAME).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// What a message says, as text; what is no text is named.
fn words(message: &Message<'_>) -> String {
    let mut parts = parts(message);
    if let [Part::Text(text)] = parts.as_mut_slice() {
        return std::mem::take(text);
    }
    let text = |part| match part {
        Part::Text(text) => text,
        Part::Attachment(attachment) => attachment.to_string(),
        Part::Other(json) => json.to_string(),
    };
    parts.into_iter().map(text).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
