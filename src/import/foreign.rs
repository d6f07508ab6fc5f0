//! What Hermes' other records share: messages in the shape of the model's API, with a few keys of
//! their own, and times as text.

use std::borrow::Cow;

use formats::model::Value;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::value::RawValue;

use super::Unfit;
use super::fields::{Fields, cell};
use crate::store::{Columns, Record, set};

/// Keys of a message that are columns under the same name.
const SAME: [&str; 14] = [
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "finish_reason",
    "token_count",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "platform_message_id",
    "effect_disposition",
];

/// Keys of a message that are columns under another name.
const RENAMED: [(&str, &str); 2] = [("name", "tool_name"), ("message_id", "platform_message_id")];

/// A message as a row. Keys that begin with `_` are its program's own business; others that no
/// column is for stay, so that their loss is told.
pub(super) fn message<'l>(fields: Fields<'l>, zone: &TimeZone) -> Columns<'l> {
    let mut row = Columns::new();
    let time = ["timestamp", "_ts"].iter().find_map(|key| time(&fields.value(key), zone));
    for (key, raw) in fields {
        let renamed = RENAMED.iter().find(|(from, _)| key == *from).map(|(_, to)| *to);
        let value = cell(&key, raw);
        if let Some(column) = renamed {
            if crate::store::value(&row, column).is_none_or(|old| *old == Value::Null) {
                set(&mut row, column, value);
            }
        } else if let Some(column) = SAME.iter().find(|column| key == **column) {
            if value != Value::Null || crate::store::value(&row, column).is_none() {
                set(&mut row, column, value);
            }
        } else if key != "timestamp" && !key.starts_with('_') {
            row.push((key, value));
        }
    }
    if let Some(time) = time {
        set(&mut row, "timestamp", Value::Real(time));
    }
    row
}

/// The messages of an array.
pub(super) fn messages<'l>(
    array: &[&'l RawValue],
    zone: &TimeZone,
) -> Result<Vec<Columns<'l>>, Unfit> {
    let row = |raw: &&'l RawValue| {
        let fields = serde_json::from_str(raw.get()).map_err(|_| Unfit::Messages)?;
        Ok(message(fields, zone))
    };
    array.iter().map(row).collect()
}

/// Seconds since the epoch, of a number or of a text in ISO 8601; one without a zone is local time.
pub(super) fn time(value: &Value<'_>, zone: &TimeZone) -> Option<f64> {
    let Value::Text(text) = value else {
        return value.as_f64();
    };
    let instant = text.parse::<Timestamp>().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        zone.to_timestamp(local).ok()
    })?;
    Some(instant.as_duration().as_secs_f64())
}

/// When the last of a record's messages was sent.
pub(super) fn last_time(record: &Record<'_>) -> Option<f64> {
    let time = |row: &Columns<'_>| crate::store::value(row, "timestamp")?.as_f64();
    record.messages.iter().rev().find_map(time)
}

/// Copies keys to columns, where they have a value.
pub(super) fn copy<'l>(
    fields: &Fields<'l>,
    columns: &[(&'static str, &'static str)],
    record: &mut Record<'l>,
) {
    for (key, column) in columns {
        let value = fields.value(key);
        if value != Value::Null && value != Value::Text(Cow::Borrowed("")) {
            record.set(column, value);
        }
    }
}
