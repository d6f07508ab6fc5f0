//! How long each format takes over a few hundred sessions: `cargo bench`.

use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use formats::FORMATS;
use hermes_sessions::export::{
    self, Encoding, Lineage, Listing, Names, Overwrite, Reach, Record, Renewal, Request, Target,
};
use hermes_sessions::filter::Selection;
use hermes_sessions::redact::Redactor;
use hermes_sessions::store::Shown;
use rusqlite::Connection;

/// The fixture's sessions, each some dozen times.
fn store(folder: &Path) -> std::path::PathBuf {
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

fn every_format(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("there is room for a store");
    let store = store(folder.path());
    let redactor = Arc::new(Redactor::none());
    let mut group = c.benchmark_group("export");
    for format in FORMATS {
        let output = folder.path().join(format.name);
        let target = match format.layout {
            formats::Layout::OneFile => Target::Stream,
            formats::Layout::FilePerSession | formats::Layout::Folder => Target::Folder(output),
        };
        let request = Request {
            selection: Selection::All,
            shown: Shown::All,
            lineage: Lineage::Single,
            redactor: redactor.clone(),
            jobs: NonZeroUsize::MIN,
            format,
            encoding: Encoding::Plain,
            target,
            names: Names::Usual,
            overwrite: Overwrite::Force,
            record: Record::Nothing,
            exported_at: 0.0,
            zone: jiff::tz::TimeZone::UTC,
            reach: Reach::Selected,
            listing: Listing::Unwanted,
            renewal: Renewal::All,
        };
        let run =
            || export::run(&store, &request, &mut io::sink(), &()).expect("it can be exported");
        group.throughput(Throughput::Elements(run().matched));
        group.bench_function(format.name, |b| b.iter(run));
    }
    group.finish();
}

criterion_group!(benches, every_format);
criterion_main!(benches);
