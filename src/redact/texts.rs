//! What can be redacted: values that hold texts, and the seal that keeps them in until then.

use std::borrow::Cow;

use formats::model::{Message, MessageColumn, Session, Value};

use super::context::Kind;
use super::disclosure::Disclosure;
use super::redactor::Pen;

/// A value of the store that nothing can look into before redaction.
pub struct Raw<T> {
    value: T,
    ahead: Ahead,
}

/// What a search ahead of redaction said of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// Nothing in it must go.
    Clean,
    /// Something in it must go.
    Dirty,
    /// Nobody has searched it.
    Unknown,
}

impl<T> Raw<T> {
    /// Seals a value that was just read.
    pub(crate) fn new(value: T) -> Self {
        Self { value, ahead: Ahead::Unknown }
    }

    /// The value of which the same redactor said this when it met it as a copy.
    pub(crate) fn searched(self, ahead: Ahead) -> Self {
        Self { ahead, ..self }
    }

    pub(super) fn open(self) -> (T, Ahead) {
        (self.value, self.ahead)
    }
}

/// A value with texts in it.
pub trait Texts {
    /// Leaves only what may be shown at all; a text by itself is no row, and stays.
    fn disclose(&mut self, _: Disclosure) {}

    /// Has the pen go over every text.
    fn edit_texts(&mut self, pen: &mut Pen<'_>);
}

impl Texts for Session<'_> {
    fn disclose(&mut self, disclosure: Disclosure) {
        disclosure.session(self);
    }

    fn edit_texts(&mut self, pen: &mut Pen<'_>) {
        pen.row(None);
        // The title comes before the working folder that says whose name is in it.
        for (_, value) in self.columns_mut() {
            if let Value::Text(text) | Value::Json(text) = value {
                pen.learn(text);
            }
        }
        for (name, value) in self.columns_mut() {
            edit_cell(name, value, pen);
            if let (true, Value::Text(id)) = (name == "id", &*value) {
                pen.session(id);
            }
        }
    }
}

impl Texts for Message<'_> {
    fn disclose(&mut self, disclosure: Disclosure) {
        disclosure.message(self);
    }

    fn edit_texts(&mut self, pen: &mut Pen<'_>) {
        pen.row(self.integer(MessageColumn::Id));
        for (name, value) in self.columns_mut() {
            edit_cell(name, value, pen);
        }
    }
}

/// Columns that say who somebody is on a platform.
const IDS: &[&str] = &[
    "user_id",
    "chat_id",
    "thread_id",
    "display_name",
    "platform_message_id",
    "session_key",
    "chat_name",
    "user_name",
];

fn edit_cell(name: &str, value: &mut Value<'_>, pen: &mut Pen<'_>) {
    if pen.takes_ids() && IDS.contains(&name) {
        hide_id(name, value, pen);
        return;
    }
    if let Value::Text(text) | Value::Json(text) = value
        && let Some(new) = pen.column(name, text)
    {
        *text = Cow::Owned(new);
    }
}

fn hide_id(name: &str, value: &mut Value<'_>, pen: &mut Pen<'_>) {
    let written = match value {
        Value::Null | Value::Real(_) => return,
        Value::Integer(n) => n.to_string(),
        Value::Text(text) | Value::Json(text) => text.to_string(),
    };
    if !written.is_empty() && !written.starts_with(super::search::MARKER) {
        *value = Value::Text(Cow::Owned(pen.whole(name, Kind::PlatformId, &written)));
    }
}

impl Texts for String {
    fn edit_texts(&mut self, pen: &mut Pen<'_>) {
        if let Some(new) = pen.column("", self) {
            *self = new;
        }
    }
}

impl Texts for Cow<'_, str> {
    fn edit_texts(&mut self, pen: &mut Pen<'_>) {
        if let Some(new) = pen.column("", self) {
            *self = Cow::Owned(new);
        }
    }
}

impl<T: Texts> Texts for Option<T> {
    fn edit_texts(&mut self, pen: &mut Pen<'_>) {
        if let Some(value) = self {
            value.edit_texts(pen);
        }
    }
}

impl<T: Texts> Texts for Vec<T> {
    fn edit_texts(&mut self, pen: &mut Pen<'_>) {
        for value in self {
            value.edit_texts(pen);
        }
    }
}
