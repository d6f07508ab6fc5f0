//! A session's messages as they come: a turn is an article, with a card for each tool call in it.
//!
//! Calls wait for their results, which follow them; a call that got none is shown when somebody
//! else speaks. So nothing is held longer than a turn.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::mem;

use maud::{Markup, html};

use super::clock::{Precision, Zone};
use super::text::{brief, show, shown};
use super::tool::Card;
use super::{Origin, code, picture, prose};
use crate::Record;
use crate::content::{
    Part, Thought, ToolCall, answers, is_compaction_summary, own_words, parts, thoughts, tool_calls,
};
use crate::model::{Message, MessageColumn, Role, Session, SessionColumn, Standing, Value};

/// Calls that are remembered while they wait for a result.
const WAITING: usize = 1000;

/// A prompt, for the outline.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) id: i64,
    pub(super) text: String,
}

/// The markup of some messages of a session, one after the other.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    pub(super) markup: String,
    pub(super) messages: Vec<Begun>,
}

/// Where a message begins in a stretch; what ends the turn before stands before it.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) at: usize,
    pub(super) is_users: bool,
    pub(super) prompt: Option<Prompt>,
}

/// The markup of a session's messages.
pub(super) struct Transcript {
    out: String,
    begun: Vec<Begun>,
    zone: Zone,
    /// Whether calls that failed are folded, too.
    shuts_all: bool,
    /// The level of a turn's heading.
    level: u8,
    is_in_turn: bool,
    /// Calls of the turn that have no result yet.
    pending: Vec<ToolCall>,
    /// Calls that got no result in their turn, with the row that made them: one may come later.
    unanswered: VecDeque<(String, i64)>,
    /// The row of the turn in hand.
    row: Option<i64>,
    /// When the next of them began: seconds since the epoch.
    asked: Option<f64>,
    day: Option<String>,
    standing: Standing,
}

impl Transcript {
    /// Of a session whose title is a heading of this level.
    pub(super) fn below(level: u8, origin: &Origin) -> Self {
        Self {
            out: String::new(),
            begun: Vec::new(),
            zone: origin.zone.clone(),
            shuts_all: origin.is_shared,
            level: level + 1,
            is_in_turn: false,
            pending: Vec::new(),
            unanswered: VecDeque::new(),
            row: None,
            asked: None,
            day: None,
            standing: Standing::Active,
        }
    }

    /// How many bytes of markup there are since the last time.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// What has been written since the last time.
    pub(super) fn take(&mut self) -> Stretch {
        Stretch { markup: mem::take(&mut self.out), messages: mem::take(&mut self.begun) }
    }

    /// Ends the turn in hand.
    pub(super) fn end_turn(&mut self) {
        for call in mem::take(&mut self.pending) {
            self.card(&Card { call: Some(&call), made_in: None, asked: self.asked, result: None });
            self.unanswered.extend(call.id.zip(self.row));
        }
        let surplus = self.unanswered.len().saturating_sub(WAITING);
        self.unanswered.drain(..surplus);
        if self.is_in_turn {
            self.out.push_str("</article>\n");
        }
        self.is_in_turn = false;
    }

    /// Begins a segment of a chain.
    pub(super) fn segment(&mut self, part: &Session<'_>) {
        self.end_turn();
        self.day = None;
        let started = self.zone.instant(part.value(SessionColumn::StartedAt), Precision::Full);
        self.push(&html! {
            p.cut { "Session " (shown(part.id())) @if let Some(started) = started { ", " (started) } }
        });
    }

    pub(super) fn message(&mut self, message: &Message<'_>) {
        let role = message.role();
        if role != Role::Tool {
            self.end_turn();
        }
        let is_users = role == Role::User;
        self.begun.push(Begun { at: self.out.len(), is_users, prompt: prompt(message) });
        if role == Role::Tool {
            return self.result(message);
        }
        self.standing(message);
        self.begin_turn(message);
        for thought in thoughts(message) {
            self.push(&reasoning(&thought));
        }
        for part in parts(message) {
            let markup = self.part(message, &part);
            self.push(&markup);
        }
        self.push(&remark(message));
        self.pending = tool_calls(message);
        self.row = message.integer(MessageColumn::Id);
        self.asked = message.number(MessageColumn::Timestamp);
    }

    /// Shows that something of the last message is not what the store holds.
    pub(super) fn lost(&mut self, column: &str, what: &str) {
        self.push(&html! {
            p.lost { "Could not show this part as it is: " b { (shown(column)) } ", " (shown(what)) "." }
        });
    }

    /// Says what the session's messages are made from.
    pub(super) fn made_from(&mut self, record: &Record<'_>) {
        self.end_turn();
        let taken_out = record.redactions.map(|counts| {
            let counts = counts.iter().map(|(rule, count)| format!("{count} × {rule}"));
            counts.collect::<Vec<_>>().join(", ")
        });
        self.push(&html! {
            p.made {
                @match taken_out.as_deref() {
                    None => {}
                    Some("") => "Nothing had to be taken out. ",
                    Some(counts) => { "Taken out: " (shown(counts)) ". " }
                }
                "SHA-256 of its JSONL: " code { (record.jsonl_sha256) }
            }
        });
    }

    fn push(&mut self, markup: &Markup) {
        self.out.push_str(&markup.0);
    }

    fn card(&mut self, card: &Card<'_>) {
        let markup = card.markup(self.shuts_all);
        self.push(&markup);
    }

    fn result(&mut self, message: &Message<'_>) {
        if !self.is_in_turn {
            self.standing(message);
            self.begin_article("", None);
        }
        let at = self.pending.iter().position(|call| answers(message, call));
        let call = at.map(|at| self.pending.remove(at));
        let made_in = if call.is_none() { self.late(message) } else { None };
        let asked = self.asked.filter(|_| made_in.is_none());
        self.card(&Card { call: call.as_ref(), made_in, asked, result: Some(message) });
        // Calls are carried out one after another.
        self.asked = message.number(MessageColumn::Timestamp);
    }

    /// The row of an earlier turn that made the call which a tool message answers.
    fn late(&mut self, message: &Message<'_>) -> Option<i64> {
        let id = message.text(MessageColumn::ToolCallId)?;
        let at = self.unanswered.iter().rposition(|(call, _)| call == id)?;
        self.unanswered.remove(at).map(|(_, row)| row)
    }

    /// Marks where messages begin, or cease, to be set aside.
    fn standing(&mut self, message: &Message<'_>) {
        let standing = message.standing();
        if standing == self.standing {
            return;
        }
        self.standing = standing;
        self.push(&html! {
            p.cut {
                @match standing {
                    Standing::Active => "The conversation as it stands",
                    Standing::Compacted => "Set aside by compaction",
                    Standing::Rewound => "Taken back by the user",
                }
            }
        });
    }

    fn begin_turn(&mut self, message: &Message<'_>) {
        let (class, speaker) = match message.role() {
            Role::User => (" class=u", "User"),
            Role::Assistant | Role::Tool => ("", "Assistant"),
            Role::System => (" class=s", "System"),
            Role::Other("") => (" class=s", "Message"),
            Role::Other(name) => (" class=s", name),
        };
        let id = message.integer(MessageColumn::Id);
        let time = self.sent(message.value(MessageColumn::Timestamp));
        let level = self.level;
        self.begin_article(class, id);
        self.add(format_args!("<h{level}>"));
        show(speaker, &mut self.out);
        self.out.push(' ');
        let time = time.map(|time| time.0);
        match (id, time) {
            (Some(id), Some(time)) => self.add(format_args!("<a href=#m{id}>{time}</a>")),
            (Some(id), None) => self.add(format_args!("<a href=#m{id}>#{id}</a>")),
            (None, time) => self.out.push_str(&time.unwrap_or_default()),
        }
        self.add(format_args!("</h{level}>"));
    }

    fn begin_article(&mut self, class: &str, id: Option<i64>) {
        let away = if self.standing == Standing::Active { "" } else { " data-away" };
        match id {
            Some(id) => self.add(format_args!("<article{class} id=m{id}{away}>")),
            None => self.add(format_args!("<article{class}{away}>")),
        }
        self.is_in_turn = true;
    }

    fn add(&mut self, markup: fmt::Arguments<'_>) {
        self.out.write_fmt(markup).unwrap_or_default();
    }

    /// The time of day, with the date where it is another than before.
    fn sent(&mut self, time: &Value<'_>) -> Option<Markup> {
        let day = time.as_f64().and_then(|time| self.zone.day(time));
        let precision =
            if day.is_some() && day == self.day { Precision::Clock } else { Precision::Full };
        self.day = day;
        self.zone.instant(time, precision)
    }

    fn part(&self, message: &Message<'_>, part: &Part) -> Markup {
        match part {
            Part::Text(text) if is_compaction_summary(text) => html! {
                @if let Some(words) = own_words(text) { (self.text(message, words)) }
                details.sum {
                    summary { "Compaction summary" }
                    (self.text(message, text))
                }
            },
            Part::Text(text) => self.text(message, text),
            Part::Attachment(attachment) => picture::attachment(attachment),
            Part::Other(json) => code::block("json", &format!("{json:#}")),
        }
    }

    fn text(&self, message: &Message<'_>, text: &str) -> Markup {
        match message.role() {
            Role::User | Role::Assistant => prose::prose(text, self.level),
            Role::System | Role::Tool | Role::Other(_) => prose::verbatim(text),
        }
    }
}

/// What the outline says of a message.
fn prompt(message: &Message<'_>) -> Option<Prompt> {
    if message.role() != Role::User {
        return None;
    }
    let id = message.integer(MessageColumn::Id)?;
    let text = parts(message).into_iter().find_map(|part| match part {
        Part::Text(text) => {
            own_words(&text).map(|words| brief(&words.replace('`', "").replace("**", ""), 80))
        }
        Part::Attachment(attachment) => Some(attachment.to_string()),
        Part::Other(_) => None,
    });
    text.map(|text| Prompt { id, text })
}

fn reasoning(thought: &Thought) -> Markup {
    html! {
        details.think {
            summary { "Reasoning" }
            @if thought.is_json { (code::block("json", &thought.text)) }
            @else { (prose::verbatim(&thought.text)) }
        }
    }
}

/// Why the model stopped, where it did not just come to an end.
fn remark(message: &Message<'_>) -> Markup {
    let reason = message.text(MessageColumn::FinishReason);
    let unusual = reason.filter(|reason| !matches!(*reason, "stop" | "tool_calls" | "end_turn"));
    html! { @if let Some(reason) = unusual { p.note { "Ended: " (shown(reason)) } } }
}

/// A heading of this level, `h1` to `h6`.
pub(super) fn heading(level: u8, inner: &Markup) -> Markup {
    html! {
        @match level {
            0 | 1 => h1 { (inner) },
            2 => h2 { (inner) },
            3 => h3 { (inner) },
            4 => h4 { (inner) },
            5 => h5 { (inner) },
            _ => h6 { (inner) },
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::{Origin, Transcript, Zone};
    use crate::model::{Message, MessageColumn, Value};
    use crate::testing::{json, message, text};

    fn row(id: i64, mut message: Message<'static>) -> Message<'static> {
        message.set(MessageColumn::Id, Value::Integer(id));
        message
    }

    #[test]
    fn a_result_that_comes_late_leads_to_its_call() {
        let calls = json(&serde_json::json!([{"id": "c1", "name": "ls", "input": {}}]));
        let origin = Origin {
            redaction: String::new(),
            provenance: "",
            is_shared: false,
            zone: Zone(TimeZone::UTC),
        };
        let mut transcript = Transcript::below(1, &origin);
        transcript
            .message(&row(1, message("assistant", "", vec![(MessageColumn::ToolCalls, calls)])));
        transcript.message(&row(2, message("user", "well?", vec![])));
        let late =
            vec![(MessageColumn::ToolCallId, text("c1")), (MessageColumn::ToolName, text("ls"))];
        transcript.message(&row(3, message("tool", "a.txt", late)));
        transcript.end_turn();
        let markup = transcript.take().markup;
        assert!(markup.contains("<i>no result</i>"), "{markup}");
        let (_, card) = markup.split_once("id=m3").unwrap();
        assert!(card.contains("Answers a call of <a href=\"#m1\">"), "{card}");
    }
}
