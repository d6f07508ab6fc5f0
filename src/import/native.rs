//! A session as JSONL has it: its columns, then `messages`. A compression chain that was joined is
//! taken apart again.

use std::borrow::Cow;

use formats::model::Value;
use serde_json::value::RawValue;

use super::Unfit;
use super::fields::{Fields, cell, value};
use crate::store::{Columns, Record};

/// Keys that no table has: what exports compute.
const COMPUTED: [&str; 6] = [
    "messages",
    "segments",
    "lineage_session_ids",
    "last_active",
    "preview",
    "effective_last_active",
];

/// The session of a line, or the segments of the chain that it is.
pub(super) fn records(fields: Fields<'_>) -> Vec<Result<Record<'_>, Unfit>> {
    let Some(segments) = fields.array("segments") else {
        return vec![one(fields)];
    };
    match chain(&segments, &fields) {
        Ok(records) => records,
        Err(unfit) => vec![Err(unfit)],
    }
}

fn one(fields: Fields<'_>) -> Result<Record<'_>, Unfit> {
    let mut record = Record::default();
    for (key, raw) in fields {
        if key == "messages" {
            record.messages = rows(raw).ok_or(Unfit::Messages)?;
        } else if COMPUTED.contains(&key.as_ref()) {
        } else if let Some(rows) = related(raw) {
            record.related.push((key, rows));
        } else {
            record.session.push((key, value(raw)));
        }
    }
    Ok(record)
}

/// A chain's segments: Hermes puts the messages into each, this program has them once, with the
/// session that each belongs to.
fn chain<'l>(
    segments: &[&'l RawValue],
    joined: &Fields<'l>,
) -> Result<Vec<Result<Record<'l>, Unfit>>, Unfit> {
    let mut records = Vec::new();
    for segment in segments {
        records.push(one(serde_json::from_str(segment.get()).map_err(|_| Unfit::Segments)?)?);
    }
    if records.iter().all(|record| record.messages.is_empty()) {
        for message in joined.get("messages").and_then(rows).ok_or(Unfit::Messages)? {
            let owner = match crate::store::value(&message, "session_id") {
                Some(Value::Text(owner)) => owner.to_string(),
                _ => return Err(Unfit::Segments),
            };
            let segment = records.iter_mut().find(|record| record.id() == owner);
            segment.ok_or(Unfit::Segments)?.messages.push(message);
        }
    }
    Ok(records.into_iter().map(Ok).collect())
}

/// An array of objects as rows.
fn rows(raw: &RawValue) -> Option<Vec<Columns<'_>>> {
    let objects: Vec<Fields<'_>> = serde_json::from_str(raw.get()).ok()?;
    Some(objects.into_iter().map(row).collect())
}

fn row<'l>(fields: Fields<'l>) -> Columns<'l> {
    let with_cell = |(key, raw): (Cow<'l, str>, &'l RawValue)| {
        let cell = cell(&key, raw);
        (key, cell)
    };
    fields.into_iter().map(with_cell).collect()
}

/// Rows of another table: an array with nothing but objects, and at least one.
fn related(raw: &RawValue) -> Option<Vec<Columns<'_>>> {
    if !raw.get().starts_with('[') {
        return None;
    }
    rows(raw).filter(|rows| !rows.is_empty())
}
