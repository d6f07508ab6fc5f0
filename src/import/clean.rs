//! What a record must be before it may become rows of a store that Hermes works with.
//!
//! A record comes from anywhere, so its id must be one that file names and command lines can hold,
//! its title one that Hermes itself would take, its rows complete. A handoff that was under way when
//! the record was written must not be carried out again. [`Fidelity::Verbatim`](super::Fidelity)
//! leaves all of this out, of what has the columns of a store already.

use std::borrow::Cow;

use formats::model::Value;
use jiff::tz::TimeZone;
use serde::de::IgnoredAny;

use super::Unfit;
use super::foreign::time;
use crate::store::{Columns, Record, set, value};

/// What was changed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Changes {
    /// The title had control characters, or too many characters.
    pub(super) title: bool,
    /// A handoff was under way.
    pub(super) handoff: bool,
}

/// Makes a record fit, or says why it does not.
pub(super) fn clean(record: &mut Record<'_>, zone: &TimeZone) -> Result<Changes, Unfit> {
    if !is_safe_id(record.id()) {
        return Err(Unfit::Id);
    }
    complete(record, zone)?;
    Ok(Changes { title: title(record), handoff: handoff(record) })
}

/// Gives a record what every row has in a store: times, roles, counters.
pub(super) fn complete(record: &mut Record<'_>, zone: &TimeZone) -> Result<(), Unfit> {
    if record.text("source").is_none_or(str::is_empty) {
        record.set("source", Value::Text("import".into()));
    }
    let start = started_at(record, zone).ok_or(Unfit::Time)?;
    record.set("started_at", start);
    if let Some(Value::Text(_)) = value(&record.session, "ended_at") {
        let end = value(&record.session, "ended_at").and_then(|end| time(end, zone));
        record.set("ended_at", end.map_or(Value::Null, Value::Real));
    }
    rows(record, zone)?;
    count(record);
    Ok(())
}

/// Whether an id can stand in a file's name, in a path of an address and on a command line.
fn is_safe_id(id: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | '\u{202a}'..='\u{202e}');
    !id.is_empty()
        && id.len() <= 255
        && !id.contains(is_odd)
        && !id.starts_with(['.', '-'])
        && id.trim() == id
}

/// The time of its start as a number; the first message's where it has none.
fn started_at(record: &Record<'_>, zone: &TimeZone) -> Option<Value<'static>> {
    let own = value(&record.session, "started_at").cloned().map(Value::into_owned);
    match own {
        Some(number @ (Value::Integer(_) | Value::Real(_))) => Some(number),
        other => {
            let own = other.and_then(|own| time(&own, zone));
            let first = || time(value(record.messages.first()?, "timestamp")?, zone);
            own.or_else(first).map(Value::Real)
        }
    }
}

/// Messages have a role and a time; one without follows the one before it at once.
fn rows(record: &mut Record<'_>, zone: &TimeZone) -> Result<(), Unfit> {
    const NEXT: f64 = 1e-6;
    let start = value(&record.session, "started_at").and_then(Value::as_f64);
    let mut last = start.unwrap_or_default();
    for message in &mut record.messages {
        if !matches!(value(message, "role"), Some(Value::Text(role)) if !role.is_empty()) {
            return Err(Unfit::Role);
        }
        let own = value(message, "timestamp");
        let given = own.and_then(|own| time(own, zone));
        if own.is_none_or(|own| own.as_f64().is_none()) {
            set(message, "timestamp", Value::Real(given.unwrap_or(last + NEXT)));
        }
        last = given.unwrap_or(last + NEXT);
    }
    Ok(())
}

/// Counters that the record does not have.
fn count(record: &mut Record<'_>) {
    let lacks = |column| value(&record.session, column).is_none_or(|own| *own == Value::Null);
    let (no_messages, no_calls) = (lacks("message_count"), lacks("tool_call_count"));
    let is_active = |row: &&Columns<'_>| {
        !matches!(
            value(row, "active"),
            Some(Value::Integer(0) | Value::Json(Cow::Borrowed("false")))
        )
    };
    let active: Vec<&Columns<'_>> = record.messages.iter().filter(is_active).collect();
    let calls: usize = active.iter().map(|row| calls(row)).sum();
    let messages = active.len();
    let whole = |count: usize| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX));
    if no_messages {
        record.set("message_count", whole(messages));
    }
    if no_calls {
        record.set("tool_call_count", whole(calls));
    }
}

fn calls(message: &Columns<'_>) -> usize {
    let calls = value(message, "tool_calls").and_then(Value::as_str);
    let calls = calls.and_then(|json| serde_json::from_str::<Vec<IgnoredAny>>(json).ok());
    calls.map_or(0, |calls| calls.len())
}

/// Makes the title one that Hermes takes (`sanitize_title` in `hermes_state.py`, 0.19.0), and says
/// whether anything of it is lost.
fn title(record: &mut Record<'_>) -> bool {
    let Some(own) = record.text("title") else { return false };
    let visible: String = own.chars().filter(|c| !is_invisible(*c)).collect();
    let words: Vec<&str> = visible.split_whitespace().collect();
    let clean: String = words.join(" ").chars().take(100).collect();
    let clean = clean.trim_end();
    let changed = clean != own;
    let clean = (!clean.is_empty()).then(|| Value::Text(clean.to_owned().into()));
    if changed {
        record.set("title", clean.unwrap_or(Value::Null));
    }
    changed
}

fn is_invisible(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    control
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffc}')
}

/// Ends a handoff that was under way, and says whether one was.
fn handoff(record: &mut Record<'_>) -> bool {
    let under_way = matches!(record.text("handoff_state"), Some("pending" | "running"));
    if under_way {
        for column in ["handoff_state", "handoff_platform", "handoff_error"] {
            record.set(column, Value::Null);
        }
    }
    under_way
}

#[cfg(test)]
mod tests {
    use super::{is_safe_id, title};
    use crate::store::Record;
    use formats::model::Value;

    #[test]
    fn ids_can_stand_in_file_names_and_on_command_lines() {
        for id in ["20250305_091523_a1b2c3", "api-1", "cron_x:1", "мир", "a b"] {
            assert!(is_safe_id(id), "{id}");
        }
        let long = "x".repeat(256);
        for id in ["", "../x", "a/b", "a\\b", "-rf", ".x", " a", "a\n", "a\0", &long] {
            assert!(!is_safe_id(id), "{id:?}");
        }
    }

    #[test]
    fn titles_become_what_hermes_would_have_made_of_them() {
        let cleaned = |text: &'static str| {
            let mut record = Record::default();
            record.set("title", Value::Text(text.into()));
            let changed = title(&mut record);
            (record.text("title").map(str::to_owned), changed)
        };
        assert_eq!(cleaned("résumé  parser\n"), (Some("résumé parser".to_owned()), true));
        assert_eq!(cleaned("zero\u{200b}width"), (Some("zerowidth".to_owned()), true));
        assert_eq!(cleaned("plain #2"), (Some("plain #2".to_owned()), false));
        assert_eq!(cleaned("\u{feff}"), (None, true));
    }
}
