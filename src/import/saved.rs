//! Hermes' snapshots: what `/save` writes to `sessions/saved/`, and `sessions/session_ID.json`.

use formats::model::Value;

use super::fields::Fields;
use super::foreign::{copy, last_time, messages, time};
use super::{Reading, Unfit};
use crate::store::Record;

/// Keys that are columns under another name, or the same.
const COLUMNS: [(&str, &str); 4] = [
    ("session_id", "id"),
    ("model", "model"),
    ("system_prompt", "system_prompt"),
    ("base_url", "billing_base_url"),
];

/// Whether an object is such a snapshot.
pub(super) fn is_saved(fields: &Fields<'_>) -> bool {
    fields.has("session_start") && fields.has("messages")
}

pub(super) fn record<'l>(fields: &Fields<'l>, reading: &Reading) -> Result<Record<'l>, Unfit> {
    let mut record = Record {
        messages: messages(&fields.array("messages").ok_or(Unfit::Messages)?, &reading.zone)?,
        ..Record::default()
    };
    copy(fields, &COLUMNS, &mut record);
    if record.id().is_empty() {
        record.set("id", Value::Text(reading.stem.clone().into()));
    }
    let platform = fields.text("platform").unwrap_or("cli".into());
    record.set("source", Value::Text(platform));
    let start = time(&fields.value("session_start"), &reading.zone);
    if let Some(start) = start {
        record.set("started_at", Value::Real(start));
    }
    let updated = time(&fields.value("last_updated"), &reading.zone);
    // A snapshot does not go on, so the session counts as ended.
    if let Some(end) = updated.or_else(|| last_time(&record)).or(start) {
        record.set("ended_at", Value::Real(end));
    }
    Ok(record)
}
