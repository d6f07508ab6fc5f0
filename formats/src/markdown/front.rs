//! Front matter: `key: value` lines whose values are JSON, so that YAML readers and a line-wise
//! script understand them alike. Keys and values are those of hermes-agent 0.19.0, without the
//! time of the export; a file for strangers adds `provenance`, Quarto's document adds what keeps it from running or loading anything.

use std::io::{self, Write};

use crate::SessionHead;
use crate::inert::blocks::Dialect;
use crate::inert::name::json_string;
use crate::model::{SessionColumn, Value};
use crate::time::iso_micros;

/// The lines that are known before the body is.
pub(super) fn matter(head: &SessionHead<'_>, dialect: Dialect, provenance: Option<&str>) -> String {
    let column = |column| json(head.session.value(column));
    let time = |column| json_string(&instant(head.session.value(column)));
    let whole = |column| head.session.integer(column).unwrap_or(0);
    let updated = head.last_active.map_or(String::new(), seconds);
    let mut lines = vec![
        ("session_id", column(SessionColumn::Id)),
        ("title", column(SessionColumn::Title)),
        ("source", column(SessionColumn::Source)),
        ("created_at", time(SessionColumn::StartedAt)),
        ("updated_at", json_string(&updated)),
        ("ended_at", time(SessionColumn::EndedAt)),
        ("model", column(SessionColumn::Model)),
        ("provider", column(SessionColumn::Provider)),
        ("cwd", column(SessionColumn::Cwd)),
        ("archived", (whole(SessionColumn::Archived) != 0).to_string()),
        ("message_count", head.messages.to_string()),
        ("tool_call_count", whole(SessionColumn::ToolCallCount).to_string()),
    ];
    if head.lineage.len() > 1 {
        let ids: Vec<String> = head.lineage.iter().map(|id| json_string(id)).collect();
        lines.push(("lineage_session_ids", format!("[{}]", ids.join(", "))));
    }
    lines.extend(about_the_file(dialect));
    lines.extend(provenance.map(|text| ("provenance", json_string(text))));
    let line = |(key, value): (&str, String)| format!("{key}: {value}\n");
    lines.into_iter().map(line).collect()
}

fn about_the_file(dialect: Dialect) -> Vec<(&'static str, String)> {
    let exporter = ("exporter", "\"hermes-sessions\"".to_owned());
    match dialect {
        Dialect::Markdown => vec![("format", "\"md\"".to_owned()), exporter],
        Dialect::Quarto => vec![
            ("format", "\"qmd\"".to_owned()),
            exporter,
            ("engine", "markdown".to_owned()),
            ("execute", "{\"enabled\": false}".to_owned()),
            ("embed-resources", "true".to_owned()),
        ],
    }
}

/// Writes the front matter and the empty line below it.
pub(super) fn write(out: &mut dyn Write, matter: &str, changed: Option<u64>) -> io::Result<()> {
    write!(out, "---\n{matter}")?;
    if let Some(changed) = changed {
        writeln!(out, "changed_places: {changed}")?;
    }
    out.write_all(b"---\n\n")
}

fn json(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(n) => n.to_string(),
        Value::Real(x) => x.to_string(),
        Value::Text(text) | Value::Json(text) => json_string(text),
    }
}

/// A stored time in ISO 8601; one beyond the calendar, or that is none, as it stands.
pub(super) fn instant(value: &Value<'_>) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(_) | Value::Real(_) => value.as_f64().map_or(String::new(), seconds),
        Value::Text(text) | Value::Json(text) => match text.trim().parse() {
            Ok(number) => seconds(number),
            Err(_) => text.clone().into_owned(),
        },
    }
}

fn seconds(seconds: f64) -> String {
    iso_micros(seconds).unwrap_or_else(|| seconds.to_string())
}
