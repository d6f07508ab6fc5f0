//! The gateway's older transcripts, `sessions/ID.jsonl`: a message a line, the file is the session.

use formats::model::Value;

use super::fields::Fields;
use super::foreign::{last_time, message, time};
use super::{Reading, Unfit};
use crate::store::Record;

/// Whether a line is a message rather than a session.
pub(super) fn is_message(fields: &Fields<'_>) -> bool {
    fields.has("role") && !fields.has("messages")
}

/// The session of a file, and the numbers of lines that are no message.
pub(super) fn record<'l>(text: &'l str, reading: &Reading) -> (Record<'l>, Vec<(u64, Unfit)>) {
    let (mut record, mut unfit) = (Record::default(), Vec::new());
    let mut source = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            continue;
        }
        let fields: Fields<'l> = match serde_json::from_str(line) {
            Ok(fields) if is_message(&fields) => fields,
            Ok(_) => {
                unfit.push((number, Unfit::NoSession));
                continue;
            }
            Err(error) => {
                unfit.push((number, Unfit::Json(error)));
                continue;
            }
        };
        if fields.text("role").as_deref() == Some("session_meta") {
            source = source.or_else(|| fields.text("platform"));
            if let Some(model) = fields.text("model") {
                record.set("model", Value::Text(model));
            }
            if let Some(start) = time(&fields.value("timestamp"), &reading.zone) {
                record.set("started_at", Value::Real(start));
            }
        } else {
            record.messages.push(message(fields, &reading.zone));
        }
    }
    record.set("id", Value::Text(reading.stem.clone().into()));
    record.set("source", Value::Text(source.unwrap_or("import".into())));
    if let Some(end) = last_time(&record) {
        record.set("ended_at", Value::Real(end));
    }
    (record, unfit)
}
