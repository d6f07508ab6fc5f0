//! Cells of the store as values of the model. Decoding is total: a cell that cannot be represented
//! costs its own fidelity and a [`Fault`], never the row.

use formats::model::Value;
use formats::{Shape, is_in_calendar};
use rusqlite::types::ValueRef;
use serde_json::Value as Json;

/// What Hermes puts before structured content (`hermes_state.py`, 0.19.0).
pub(super) const JSON_CONTENT: &str = "\0json:";

/// What a cell lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The column.
    pub column: String,
    /// What was wrong with it, and what became of it.
    pub what: &'static str,
}

/// What a column holds, beyond its SQL type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing to decode.
    Plain,
    /// A session's id, which must stay distinct from others.
    Id,
    /// Seconds since the epoch.
    Time,
    /// Text, or JSON behind [`JSON_CONTENT`].
    Content,
    /// A JSON array of objects, handed on decoded, as Hermes hands it on.
    Calls,
    /// JSON that Hermes hands on as text.
    JsonText,
}

/// What a column of `sessions` holds.
pub(super) fn session_kind(name: &str) -> Kind {
    match name {
        "id" | "parent_session_id" => Kind::Id,
        "started_at" | "ended_at" => Kind::Time,
        "model_config" | "origin_json" => Kind::JsonText,
        _ => Kind::Plain,
    }
}

/// What a column of `messages` holds.
pub(super) fn message_kind(name: &str) -> Kind {
    match name {
        "session_id" => Kind::Id,
        "timestamp" => Kind::Time,
        "content" => Kind::Content,
        "tool_calls" => Kind::Calls,
        "reasoning_details" | "codex_reasoning_items" | "codex_message_items" => Kind::JsonText,
        _ => Kind::Plain,
    }
}

/// A row of a table that the model does not know, as a JSON object.
pub(super) fn object(names: &[String], row: &rusqlite::Row<'_>) -> rusqlite::Result<Json> {
    let mut object = serde_json::Map::new();
    for (n, name) in names.iter().enumerate() {
        let value = match row.get_ref(n)? {
            ValueRef::Null => Json::Null,
            ValueRef::Integer(n) => n.into(),
            ValueRef::Real(x) => x.into(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
        };
        object.insert(name.clone(), value);
    }
    Ok(Json::Object(object))
}

/// Decodes one cell; what it loses is added to `faults`.
pub(super) fn cell<'a>(
    name: &str,
    kind: Kind,
    cell: ValueRef<'a>,
    faults: &mut Vec<Fault>,
) -> Value<'a> {
    let mut fault = |what| {
        faults.push(Fault { column: name.to_owned(), what });
    };
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => {
            let value = Value::Integer(n);
            if kind == Kind::Time && !value.as_f64().is_some_and(is_in_calendar) {
                fault("a time beyond the calendar, kept as a number");
            }
            value
        }
        ValueRef::Real(x) if !x.is_finite() => {
            fault("an infinite number, written as null");
            Value::Null
        }
        ValueRef::Real(x) => {
            if kind == Kind::Time && !is_in_calendar(x) {
                fault("a time beyond the calendar, kept as a number");
            }
            Value::Real(x)
        }
        ValueRef::Text(bytes) => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                return decoded(kind, text, &mut fault);
            }
            if kind == Kind::Id {
                fault("bytes that are no UTF-8, written as escapes");
                return Value::Text(bytes.escape_ascii().to_string().into());
            }
            fault("bytes that are no UTF-8, each written as U+FFFD");
            Value::Text(String::from_utf8_lossy(bytes))
        }
        ValueRef::Blob(bytes) => {
            fault("binary data, written as text");
            Value::Text(String::from_utf8_lossy(bytes))
        }
    }
}

fn decoded<'a>(kind: Kind, text: &'a str, fault: &mut impl FnMut(&'static str)) -> Value<'a> {
    let json = match kind {
        Kind::Plain | Kind::Id => return Value::Text(text.into()),
        Kind::Time => {
            fault("a time that is no number, kept as text");
            return Value::Text(text.into());
        }
        Kind::Content => match text.strip_prefix(JSON_CONTENT) {
            Some(json) => json,
            None => return Value::Text(text.into()),
        },
        Kind::Calls | Kind::JsonText => text,
    };
    if json.is_empty() && kind != Kind::Content {
        return Value::Text(text.into());
    }
    let Some(checked) = formats::check_json(json) else {
        fault("no JSON, or nested too deeply; kept as raw text");
        return Value::Text(text.into());
    };
    if kind == Kind::JsonText {
        return Value::Text(text.into());
    }
    if checked.repaired {
        fault("JSON with lone surrogates or infinite numbers, which were replaced");
    }
    if kind == Kind::Calls && checked.shape != Shape::Objects {
        fault("tool calls of an unknown shape, kept as JSON");
    }
    Value::Json(checked.text)
}
