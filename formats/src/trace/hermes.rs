//! Hermes' own row, in the one shape that Hugging Face's loader knows it by.
//!
//! The loader takes a file for sessions of Hermes if `id`, `source`, `model` and `system_prompt` are
//! texts and `started_at` is a time; a column that is null in all rows has no type, and one that is
//! missing, or a year that Python does not have, fails the whole dataset.

use std::io;

use crate::jsonl::Jsonl;
use crate::model::{Column, Header, Message, Role, Row, Session, SessionColumn, Value};
use crate::{FormatWriter, NothingToShow, SessionHead, SessionWriter};

pub(super) struct Rows<'w>(pub(super) Jsonl<'w>);

/// What the loader needs to be texts, each with what stands in for none.
const TEXTS: [(SessionColumn, &str); 4] = [
    (SessionColumn::Id, ""),
    (SessionColumn::Source, "unknown"),
    (SessionColumn::Model, "unknown"),
    (SessionColumn::SystemPrompt, ""),
];
/// Times that the loader takes for seconds since the epoch.
const TIMES: std::ops::RangeInclusive<f64> = 0.0..=1e10;

impl FormatWriter for Rows<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let header = header(head.session);
        let session = &known(head.session, &header);
        Ok(Box::new(Turns { row: self.0.session(&SessionHead { session, ..*head })?, turns: 0 }))
    }
}

fn header(session: &Session<'_>) -> Header<SessionColumn> {
    let mut names: Vec<String> = session.columns().map(|(name, _)| name.to_owned()).collect();
    let needed = TEXTS.map(|(column, _)| column).into_iter().chain([SessionColumn::StartedAt]);
    for name in needed.map(Column::name) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Header::new(names)
}

fn known<'a>(session: &Session<'a>, header: &'a Header<SessionColumn>) -> Session<'a> {
    let mut cells: Vec<Value<'a>> = session.columns().map(|(_, value)| value.clone()).collect();
    cells.resize(header.names().len(), Value::Null);
    let mut row = Row::new(header, cells);
    for (column, absent) in TEXTS {
        let text = match row.value(column) {
            Value::Null => absent.into(),
            Value::Integer(n) => n.to_string().into(),
            Value::Real(x) => x.to_string().into(),
            Value::Text(text) | Value::Json(text) => text.clone(),
        };
        row.set(column, Value::Text(text));
    }
    if !row.number(SessionColumn::StartedAt).is_some_and(|time| TIMES.contains(&time)) {
        row.set(SessionColumn::StartedAt, Value::Real(0.0));
    }
    row
}

/// A row that counts whether there is anything to show in it.
struct Turns<'s> {
    row: Box<dyn SessionWriter + 's>,
    turns: u64,
}

impl SessionWriter for Turns<'_> {
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()> {
        self.row.segment(part)
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        self.turns += u64::from(matches!(message.role(), Role::User | Role::Assistant));
        self.row.message(message)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        if self.turns == 0 { Err(io::Error::other(NothingToShow)) } else { self.row.finish() }
    }
}
