//! Stores, built from the SQL texts in `fixtures/`.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::ToSql;
use rusqlite::{Connection, OpenFlags, params_from_iter};

/// As the program makes one, which is as Hermes does.
pub(crate) const SCHEMA: &str = concat!(
    include_str!("../../src/store/schema.sql"),
    include_str!("../../src/store/words.sql"),
    include_str!("../../src/store/trigrams.sql"),
    "CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;",
);
pub(crate) const OLDER: &str = include_str!("../../fixtures/schema-older.sql");
pub(crate) const NEWER: &str = include_str!("../../fixtures/schema-newer.sql");

/// When the first session of a store starts: 2026-07-10T00:00:00Z. Each next one is an hour later.
pub(crate) const START: f64 = 1_783_641_600.0;
/// The time that the program is told: 2026-07-31T12:00:00Z.
pub(crate) const NOW: f64 = 1_785_499_200.0;
pub(crate) const HOUR: f64 = 3600.0;

type Row = BTreeMap<&'static str, Box<dyn ToSql>>;

/// A session that ended well, until told otherwise.
pub(crate) struct Session {
    row: Row,
    messages: Vec<Row>,
}

pub(crate) fn session(id: impl ToSql + 'static) -> Session {
    let row: Row = BTreeMap::from([
        ("id", Box::new(id) as Box<dyn ToSql>),
        ("source", Box::new("cli")),
        ("end_reason", Box::new("done")),
    ]);
    Session { row, messages: Vec::new() }
}

/// A session with one question and one answer, both naming it.
pub(crate) fn talk(id: &'static str) -> Session {
    session(id).user(format!("question of {id}")).assistant(format!("answer of {id}"))
}

impl Session {
    pub(crate) fn with(mut self, column: &'static str, value: impl ToSql + 'static) -> Self {
        self.row.insert(column, Box::new(value));
        self
    }

    /// It still runs.
    pub(crate) fn running(self) -> Self {
        self.with("ended_at", None::<f64>).with("end_reason", None::<String>)
    }

    pub(crate) fn child_of(self, parent: &'static str) -> Self {
        self.with("parent_session_id", parent)
    }

    pub(crate) fn delegate_of(self, parent: &'static str) -> Self {
        let config = format!(r#"{{"_delegate_from": "{parent}"}}"#);
        self.child_of(parent).with("source", "subagent").with("model_config", config)
    }

    pub(crate) fn branch_of(self, parent: &'static str) -> Self {
        let config = format!(r#"{{"_branched_from": "{parent}"}}"#);
        self.child_of(parent).with("model_config", config)
    }

    pub(crate) fn user(self, text: impl ToSql + 'static) -> Self {
        self.message("user").and("content", text)
    }

    pub(crate) fn assistant(self, text: impl ToSql + 'static) -> Self {
        self.message("assistant").and("content", text)
    }

    /// Begins a message.
    pub(crate) fn message(mut self, role: &'static str) -> Self {
        self.messages.push(BTreeMap::from([("role", Box::new(role) as Box<dyn ToSql>)]));
        self
    }

    /// Sets a column of the last message.
    pub(crate) fn and(mut self, column: &'static str, value: impl ToSql + 'static) -> Self {
        self.messages.last_mut().unwrap().insert(column, Box::new(value));
        self
    }

    /// The last message was set aside by a compaction in place.
    pub(crate) fn compacted(self) -> Self {
        self.and("active", 0).and("compacted", 1)
    }

    /// The last message was taken back.
    pub(crate) fn rewound(self) -> Self {
        self.and("active", 0).and("compacted", 0)
    }
}

/// An open connection to a store.
pub(crate) struct Store {
    pub(crate) connection: Connection,
}

impl Store {
    pub(crate) fn create(path: &Path, schema: &[&str]) -> Self {
        let store = Self::open(path);
        store.sql("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; BEGIN");
        for part in schema {
            store.sql(part);
        }
        store.sql("COMMIT");
        store
    }

    pub(crate) fn open(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        // Hermes does not enforce them, either; this build of SQLite would.
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        Self { connection }
    }

    /// A store that stays as it is, committed files included.
    pub(crate) fn open_read_only(path: &Path) -> Self {
        let uri = format!("file:{}?immutable=1", path.display());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Self { connection: Connection::open_with_flags(uri, flags).unwrap() }
    }

    #[track_caller]
    pub(crate) fn sql(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }

    /// The first cell of every row, as text.
    pub(crate) fn column(&self, sql: &str) -> Vec<String> {
        let mut statement = self.connection.prepare(sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        let mut cells = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let cell: rusqlite::types::Value = row.get(0).unwrap();
            cells.push(match cell {
                rusqlite::types::Value::Text(text) => text,
                rusqlite::types::Value::Integer(n) => n.to_string(),
                other => format!("{other:?}"),
            });
        }
        cells
    }

    pub(crate) fn count(&self, sql: &str) -> i64 {
        self.connection.query_row(&format!("SELECT count(*) {sql}"), [], |row| row.get(0)).unwrap()
    }

    pub(crate) fn session_ids(&self) -> Vec<String> {
        self.column("SELECT id FROM sessions ORDER BY id")
    }

    /// Adds sessions in one transaction.
    pub(crate) fn add_all(&self, sessions: impl IntoIterator<Item = Session>) {
        self.sql("BEGIN");
        for session in sessions {
            self.add(session);
        }
        self.sql("COMMIT");
    }

    pub(crate) fn add(&self, mut session: Session) {
        let hour = f64::from(i32::try_from(self.count("FROM sessions")).unwrap());
        let start = START + hour * HOUR;
        session.row.entry("started_at").or_insert(Box::new(start));
        session.row.entry("ended_at").or_insert(Box::new(start + 60.0));
        let count = i64::try_from(session.messages.len()).unwrap();
        session.row.entry("message_count").or_insert(Box::new(count));
        self.insert("sessions", session.row);
        let key = self.connection.last_insert_rowid();
        for (n, mut message) in (1_i32..).zip(session.messages) {
            message.entry("timestamp").or_insert(Box::new(start + f64::from(n)));
            message.insert("session_id", Box::new(""));
            self.insert("messages", message);
            // The id may be any value, so it is copied rather than bound a second time.
            let message = self.connection.last_insert_rowid();
            self.sql(&format!(
                "UPDATE messages SET session_id = (SELECT id FROM sessions WHERE rowid = {key}) \
                 WHERE id = {message}"
            ));
        }
    }

    fn insert(&self, table: &str, row: Row) {
        let names = row.keys().copied().collect::<Vec<_>>().join(", ");
        let places = vec!["?"; row.len()].join(", ");
        let sql = format!("INSERT INTO {table} ({names}) VALUES ({places})");
        self.connection.execute(&sql, params_from_iter(row.into_values())).unwrap();
    }
}
