use std::collections::BTreeMap;
use std::io::{self, Seek as _, Write};

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::json;

use super::start;
use crate::model::{Column, MessageColumn, Row, SessionColumn, Value};
use crate::testing::{Sample, json as cell, message, sample, samples, session, text};
use crate::{FileHead, Folder, Leaf, SessionHead};

/// A folder in memory.
#[derive(Default)]
struct Memory {
    pages: BTreeMap<String, Vec<u8>>,
    open: String,
    looked_at: Vec<u8>,
}

impl Folder for Memory {
    fn begin(&mut self, leaf: Leaf<'_>) -> io::Result<String> {
        self.open = self.name(leaf);
        self.pages.entry(self.open.clone()).or_default();
        Ok(self.open.clone())
    }

    fn name(&self, leaf: Leaf<'_>) -> String {
        match leaf {
            Leaf::Among { name, .. } | Leaf::Beside(name) => name.to_owned(),
            other => panic!("{other:?} is no partition"),
        }
    }

    fn look(&mut self, text: &dyn Fn() -> Vec<u8>) -> io::Result<()> {
        self.looked_at.extend(text());
        Ok(())
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pages.get_mut(&self.open).unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn written(samples: &[Sample]) -> Memory {
    let mut folder = Memory::default();
    let head = FileHead {
        sessions: samples.len() as u64,
        redacted: None,
        provenance: Some("us"),
        zone: jiff::tz::TimeZone::UTC,
    };
    let mut dataset = start(&mut folder, &head).unwrap();
    for sample in samples {
        let mut session = dataset
            .session(&SessionHead {
                session: &sample.head,
                messages: 0,
                last_active: None,
                lineage: &[],
                related: &[],
            })
            .unwrap();
        for (_, messages) in &sample.segments {
            for message in messages {
                session.message(message).unwrap();
            }
        }
        session.finish().unwrap();
    }
    dataset.finish().unwrap();
    folder
}

type Cells = BTreeMap<String, Field>;

fn read(bytes: &[u8]) -> (Vec<Cells>, usize) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata();
    let keys = metadata.file_metadata().key_value_metadata().unwrap();
    assert_eq!((&*keys[0].key, keys[0].value.as_deref()), ("provenance", Some("us")));
    let groups = metadata.num_row_groups();
    let rows = reader.get_row_iter(None).unwrap();
    let cells = |row: parquet::record::Row| row.into_columns().into_iter().collect();
    (rows.map(|row| cells(row.unwrap())).collect(), groups)
}

/// What a file has to say of a row: its cells, and those that `extra` holds.
fn assert_holds<C: Column>(cells: &Cells, row: &Row<'_, C>) {
    let extra = match &cells["extra"] {
        Field::Str(json) => serde_json::from_str(json).unwrap(),
        _ => json!({}),
    };
    for (name, value) in row.columns() {
        let cell = cells.get(name).filter(|cell| **cell != Field::Null);
        let decoded = cells.get(&format!("{name}_json")).filter(|cell| **cell != Field::Null);
        match (cell.or(decoded), value) {
            (None, Value::Null) => assert!(extra.get(name).is_none(), "{name}"),
            (None, Value::Text(text)) => assert_eq!(extra[name], **text, "{name}"),
            (None, Value::Json(text)) => assert_eq!(extra[name].to_string(), **text, "{name}"),
            (None, Value::Integer(n)) => assert_eq!(extra[name], *n, "{name}"),
            (None, Value::Real(x)) => assert_eq!(extra[name], *x, "{name}"),
            (Some(Field::Str(text)), Value::Text(v) | Value::Json(v)) => assert_eq!(text, v),
            (Some(Field::Long(n)), Value::Integer(v)) => assert_eq!(n, v, "{name}"),
            (Some(Field::Bool(flag)), Value::Integer(v)) => assert_eq!(i64::from(*flag), *v),
            (Some(Field::Double(x)), _) => assert_eq!(Some(*x), value.as_f64(), "{name}"),
            (Some(Field::TimestampMicros(time)), _) => {
                #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
                let seconds = *time as f64 / 1e6;
                assert!((seconds - value.as_f64().unwrap()).abs() < 1e-6, "{name}");
            }
            (cell, value) => panic!("{name}: {cell:?} for {value:?}"),
        }
    }
}

/// Every row of these samples is in the files of one month, in their order.
fn assert_month(folder: &Memory, month: &str, samples: &[&Sample]) {
    let file = |table: &str| read(&folder.pages[&format!("{table}/month={month}/part-0.parquet")]);
    let (sessions, _) = file("sessions");
    assert_eq!(sessions.len(), samples.len());
    for (cells, sample) in sessions.iter().zip(samples) {
        assert_holds(cells, &sample.head);
    }
    let (rows, _) = file("messages");
    let messages: Vec<_> =
        samples.iter().flat_map(|s| &s.segments).flat_map(|(_, messages)| messages).collect();
    assert_eq!(rows.len(), messages.len());
    for (cells, message) in rows.iter().zip(messages) {
        assert_holds(cells, message);
    }
}

#[test]
fn every_cell_comes_back() {
    let samples = samples();
    let folder = written(&samples);
    assert_month(&folder, "2026-07", &samples.iter().collect::<Vec<_>>());
    assert_eq!(folder.pages.len(), 2);
    let lines = String::from_utf8(folder.looked_at).unwrap();
    assert!(lines.contains("First, a\\nlist.") && lines.contains("snake_case"), "{lines}");
}

#[test]
fn a_cell_of_another_type_stands_in_extra() {
    let odd = session(
        "odd",
        vec![
            (SessionColumn::MessageCount, text("many")),
            (SessionColumn::InputTokens, Value::Real(1.5)),
            (SessionColumn::Archived, Value::Integer(7)),
            (SessionColumn::EndedAt, Value::Real(1e30)),
            (SessionColumn::EstimatedCost, Value::Integer(i64::MAX)),
            (SessionColumn::ActualCost, Value::Integer(2)),
            (SessionColumn::ModelConfig, text("no JSON")),
            (SessionColumn::Title, cell(&json!({"a": [1]}))),
        ],
    );
    let parts = cell(&json!([{"type": "text", "text": "Hi."}]));
    let says = message("user", "", vec![(MessageColumn::Content, parts)]);
    let sample = sample("odd", odd, vec![says]);
    let folder = written(std::slice::from_ref(&sample));
    assert_month(&folder, "2026-07", &[&sample]);
}

#[test]
fn months_are_partitions_and_a_start_without_a_date_is_in_none() {
    let at = |id: &str, start: Value<'static>| {
        let session = session(id, vec![(SessionColumn::Title, text(id))]);
        let mut sample = sample("", session, vec![message("user", "Hi.", vec![])]);
        sample.head.set(SessionColumn::StartedAt, start);
        sample
    };
    let samples = [
        at("no start", Value::Null),
        at("january", Value::Real(1_769_903_999.5)),
        at("february", Value::Real(1_769_904_000.0)),
        at("a text", text("yesterday")),
    ];
    let folder = written(&samples);
    let none = "month=__HIVE_DEFAULT_PARTITION__";
    let wanted = [
        "messages/month=2026-01/part-0.parquet".to_owned(),
        "messages/month=2026-02/part-0.parquet".to_owned(),
        format!("messages/{none}/part-0.parquet"),
        format!("messages/{none}/part-1.parquet"),
    ];
    let sessions = wanted.each_ref().map(|path| path.replace("messages", "sessions"));
    let wanted: Vec<_> = wanted.into_iter().chain(sessions).collect();
    assert_eq!(folder.pages.keys().collect::<Vec<_>>(), wanted.iter().collect::<Vec<_>>());
    assert_month(&folder, "2026-02", &[&samples[2]]);
}

#[test]
fn groups_of_rows_are_of_bounded_size() {
    let large = "x".repeat(6 << 20);
    let messages = (0..7).map(|n| message("user", &format!("{n}{large}"), vec![])).collect();
    let sample = sample("large", session("s", vec![]), messages);
    let folder = written(std::slice::from_ref(&sample));
    let (rows, groups) = read(&folder.pages["messages/month=2026-07/part-0.parquet"]);
    assert_eq!((rows.len(), groups), (7, 3));
    assert_month(&folder, "2026-07", &[&sample]);
}
