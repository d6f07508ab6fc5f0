//! Values of the model as cells of the store: what [`decode`](super::decode) makes of a cell is a
//! value, and what this makes of that value is the cell again.

use std::borrow::Cow;

use formats::model::Value;
use rusqlite::types::{ToSqlOutput, Value as Sql, ValueRef};

use super::decode::{JSON_CONTENT, Kind};

/// The cell that holds a value in a column of this kind.
pub(super) fn cell<'v>(kind: Kind, value: &'v Value<'_>) -> ToSqlOutput<'v> {
    match value {
        Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
        Value::Integer(n) => ToSqlOutput::Borrowed(ValueRef::Integer(*n)),
        Value::Real(x) => ToSqlOutput::Borrowed(ValueRef::Real(*x)),
        Value::Text(text) => of_text(kind, text),
        Value::Json(json) => of_json(kind, json),
    }
}

/// Text that would be taken for JSON when it is read becomes a JSON string.
fn of_text(kind: Kind, value: &str) -> ToSqlOutput<'_> {
    let is_json = |text: &str| formats::check_json(text).is_some();
    match kind {
        Kind::Content if value.strip_prefix(JSON_CONTENT).is_some_and(is_json) => {
            text(format!("{JSON_CONTENT}{}", serde_json::Value::from(value)))
        }
        Kind::Calls if is_json(value) => text(serde_json::Value::from(value).to_string()),
        Kind::Content | Kind::Calls | Kind::Plain | Kind::Id | Kind::Time | Kind::JsonText => {
            ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes()))
        }
    }
}

fn of_json(kind: Kind, json: &str) -> ToSqlOutput<'_> {
    match (kind, json) {
        (Kind::Content, _) => text(format!("{JSON_CONTENT}{json}")),
        (Kind::Calls | Kind::JsonText, _) => ToSqlOutput::Borrowed(ValueRef::Text(json.as_bytes())),
        (_, "true") => ToSqlOutput::Borrowed(ValueRef::Integer(1)),
        (_, "false") => ToSqlOutput::Borrowed(ValueRef::Integer(0)),
        (Kind::Plain | Kind::Id | Kind::Time, _) => {
            ToSqlOutput::Borrowed(ValueRef::Text(json.as_bytes()))
        }
    }
}

fn text(text: impl Into<Cow<'static, str>>) -> ToSqlOutput<'static> {
    ToSqlOutput::Owned(Sql::Text(text.into().into_owned()))
}
