//! What a piece of text holds: which of the formats it is, and its sessions.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::fields::Fields;
use super::source::{Piece, Shape};
use super::{Found, Place, Reading, Unfit, clean, native, saved, transcript, webui};
use crate::store::Record;

/// What redaction leaves in the place of a secret.
const MARKER: &str = "[REDACTED:";

/// Whether the marker of a redacted secret stands in a text.
pub(super) fn is_marked(text: &str) -> bool {
    let is_rule = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '#');
    text.match_indices(MARKER).any(|(at, marker)| {
        let rule = &text[at + marker.len()..];
        let len = rule.find(|c| !is_rule(c)).unwrap_or(rule.len());
        len > 0 && rule[len..].starts_with(']')
    })
}

impl Piece {
    /// The text, with what strict JSON does not allow replaced: NaN, infinities.
    pub(super) fn sound(&self) -> Cow<'_, str> {
        let is_json = || serde_json::from_str::<&RawValue>(self.text.trim()).is_ok();
        if self.shape == Shape::Transcript || is_json() {
            return Cow::Borrowed(&self.text);
        }
        let checked = formats::check_json(self.text.trim());
        checked.map_or(Cow::Borrowed(&self.text), |checked| checked.text)
    }

    /// The sessions in a text that this piece has, [sound](Self::sound) or as it is.
    pub(super) fn records<'l>(&self, text: &'l str, reading: &Reading) -> Vec<Found<'l>> {
        if self.shape == Shape::Transcript {
            return self.of_transcript(text, reading);
        }
        let found = |record| Found { place: self.place.clone(), record };
        let records = match serde_json::from_str::<&RawValue>(text.trim()) {
            Ok(raw) => of_json(raw, reading),
            Err(error) => vec![Err(Unfit::Json(error))],
        };
        records.into_iter().map(found).collect()
    }

    fn of_transcript<'l>(&self, text: &'l str, reading: &Reading) -> Vec<Found<'l>> {
        let (record, unfit) = transcript::record(text, reading);
        let record = completed(Ok(record), reading);
        let at = |line| Place { line: Some(line), ..self.place.clone() };
        let unfit = unfit.into_iter().map(|(line, what)| (at(line), Err(what)));
        let all = unfit.chain([(self.place.clone(), record)]);
        all.map(|(place, record)| Found { place, record }).collect()
    }
}

/// The sessions of a document: one, an array of some, or an object around such an array.
fn of_json<'l>(raw: &'l RawValue, reading: &Reading) -> Vec<Result<Record<'l>, Unfit>> {
    if let Ok(items) = serde_json::from_str::<Vec<&'l RawValue>>(raw.get()) {
        return items.into_iter().flat_map(|item| of_object(item, reading)).collect();
    }
    of_object(raw, reading)
}

fn of_object<'l>(raw: &'l RawValue, reading: &Reading) -> Vec<Result<Record<'l>, Unfit>> {
    let Ok(fields) = serde_json::from_str::<Fields<'l>>(raw.get()) else {
        return vec![Err(Unfit::NoSession)];
    };
    let has_messages = fields.has("messages");
    if fields.has("id") && (has_messages || fields.has("segments")) {
        native::records(fields)
    } else if saved::is_saved(&fields) {
        vec![completed(saved::record(&fields, reading), reading)]
    } else if has_messages {
        vec![completed(webui::record(&fields, reading), reading)]
    } else if let Some(sessions) = fields.array("sessions") {
        sessions.into_iter().flat_map(|item| of_object(item, reading)).collect()
    } else {
        vec![Err(Unfit::NoSession)]
    }
}

/// A record of another program, with what every row has in a store.
fn completed<'l>(
    record: Result<Record<'l>, Unfit>,
    reading: &Reading,
) -> Result<Record<'l>, Unfit> {
    let mut record = record?;
    clean::complete(&mut record, &reading.zone).map(|()| record)
}

#[cfg(test)]
mod tests {
    use super::is_marked;

    #[test]
    fn a_marker_is_told_from_talk_of_one() {
        assert!(is_marked("the key is [REDACTED:github-pat#2], rotate it"));
        for text in ["[REDACTED]", "[REDACTED:]", "[REDACTED:Rule", "write [REDACTED: x]"] {
            assert!(!is_marked(text), "{text}");
        }
    }
}
