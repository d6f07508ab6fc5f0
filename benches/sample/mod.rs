//! A store to measure with.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

/// The fixture's sessions, each some dozen times.
pub(crate) fn store(folder: &Path) -> PathBuf {
    let path = folder.join("state.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/state.db");
    std::fs::copy(fixture, &path).expect("the fixture can be copied");
    let connection = Connection::open(&path).expect("the copy opens");
    let columns = |table: &str| {
        let statement = connection.prepare(&format!("SELECT * FROM {table}")).expect("it is there");
        statement.column_names().map(str::to_owned).collect::<Vec<_>>()
    };
    let copied = |table: &str, changed: &[(&str, &str)]| {
        let columns = columns(table);
        let value = |name: &String| {
            let change = changed.iter().find(|(column, _)| column == name);
            change.map_or(name.clone(), |(_, value)| (*value).to_owned())
        };
        let values: Vec<String> = columns.iter().map(value).collect();
        format!("INSERT INTO {table} ({}) SELECT {}", columns.join(", "), values.join(", "))
    };
    let sessions = copied("sessions", &[("id", "id || '_' || n"), ("title", "NULL")]);
    let messages = copied("messages", &[("id", "NULL"), ("session_id", "session_id || '_' || n")]);
    let many =
        "WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < 30)";
    connection
        .execute_batch(&format!(
            "{many} {sessions} FROM sessions, copies; {many} {messages} FROM messages, copies;"
        ))
        .expect("rows can be copied");
    path
}
