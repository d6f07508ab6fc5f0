//! What a view does not show as it is stored, told beside it.

use formats::model::{Column as _, Session, SessionColumn, Value};

use crate::store::Fault;

/// A store with a million bad cells must not fill the memory with them.
const KEPT: usize = 1000;

/// Lines about what is shown otherwise than it is stored, or not at all. Ids in them are redacted.
#[derive(Debug, Default)]
pub struct Losses {
    /// Cells that are shown otherwise than they are stored.
    pub odd: Vec<String>,
    /// What stands on a damaged page and is not shown.
    pub unreadable: Vec<String>,
    /// Lines that are not kept.
    pub more: u64,
}

/// Columns of a session that are counts.
const COUNTS: [SessionColumn; 5] = [
    SessionColumn::MessageCount,
    SessionColumn::ToolCallCount,
    SessionColumn::ApiCallCount,
    SessionColumn::InputTokens,
    SessionColumn::OutputTokens,
];
/// Columns of a session that are numbers.
const NUMBERS: [SessionColumn; 2] = [SessionColumn::EstimatedCost, SessionColumn::ActualCost];

impl Losses {
    /// Takes note of what a session's own row lost, and of figures that are none.
    pub(super) fn session(&mut self, row: &Session<'_>, faults: &[Fault]) {
        for fault in faults {
            self.odd(format!("session {}, {}: {}", row.id(), fault.column, fault.what));
        }
        let is_count = |value: &Value<'_>| matches!(value, Value::Null | Value::Integer(0..));
        let is_number =
            |value: &Value<'_>| matches!(value, Value::Null) || value.as_f64().is_some();
        let counts = COUNTS.into_iter().filter(|column| !is_count(row.value(*column)));
        let numbers = NUMBERS.into_iter().filter(|column| !is_number(row.value(*column)));
        for column in counts.chain(numbers) {
            let name = column.name();
            if faults.iter().all(|fault| fault.column != name) {
                self.odd(format!("session {}, {name}: no number that it can be", row.id()));
            }
        }
    }

    /// Takes note of what a message's row lost.
    pub(super) fn message(&mut self, session: &str, message: i64, faults: &[Fault]) {
        for Fault { column, what } in faults {
            self.odd(format!("session {session}, message {message}, {column}: {what}"));
        }
    }

    /// Takes note of a message that cannot be read.
    pub(super) fn lost(&mut self, session: &str, message: i64) {
        self.unreadable(format!("session {session}, message {message}: its page is damaged"));
    }

    pub(super) fn unreadable(&mut self, line: String) {
        if self.unreadable.len() < KEPT { self.unreadable.push(line) } else { self.more += 1 }
    }

    fn odd(&mut self, line: String) {
        if self.odd.len() < KEPT { self.odd.push(line) } else { self.more += 1 }
    }

    /// All lines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.unreadable.iter().chain(&self.odd).map(String::as_str)
    }

    /// Whether anything is not shown at all.
    pub fn has_unreadable(&self) -> bool {
        !self.unreadable.is_empty()
    }

    pub(super) fn add(&mut self, other: Self) {
        other.unreadable.into_iter().for_each(|line| self.unreadable(line));
        other.odd.into_iter().for_each(|line| self.odd(line));
        self.more += other.more;
    }
}
