//! How long each stage of an export takes, alone: `cargo bench --bench stages [-- STAGE]`.

use std::hint::black_box;
use std::io;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use formats::model::{Message, Session};
use formats::{FORMATS, FileHead, Format, Layout, SessionHead};
use hermes_sessions::filter::query::Query;
use hermes_sessions::filter::{Column, Condition, Filter, Selection, Test};
use hermes_sessions::manifest::{Entry, Hasher, Locked, Manifest};
use hermes_sessions::redact::known::KnownValues;
use hermes_sessions::redact::rule::Group;
use hermes_sessions::redact::{Redactor, Scope};
use hermes_sessions::store::{self, Extent, Rows, Shown, Snapshot};

mod sample;

/// Does something with a store of some hundred sessions, read once.
fn with_store(mut work: impl FnMut(&Snapshot<'_>)) {
    let folder = tempfile::tempdir().expect("there is room for a store");
    let store = sample::store(folder.path());
    let read = store::read(&store, |snapshot| {
        work(snapshot);
        Ok::<_, store::Error>(())
    });
    read.expect("it can be read");
}

fn extents(snapshot: &Snapshot<'_>) -> Vec<Extent> {
    let sessions = snapshot.matching(&Selection::All).expect("it can be read").sessions;
    let extent = |key| snapshot.extent(key, Shown::All).expect("it can be read");
    sessions.into_iter().map(extent).collect()
}

/// From pages of the store to rows in a batch, and from there to messages.
fn decode(c: &mut Criterion) {
    with_store(|snapshot| {
        let extents = extents(snapshot);
        let mut group = c.benchmark_group("decode");
        group.throughput(Throughput::Elements(extents.iter().map(Extent::messages).sum()));
        let copied = || extents.iter().map(|extent| rows(snapshot, extent).len()).sum::<usize>();
        group.bench_function("copy", |b| b.iter(copied));
        let (decoder, rows) = (snapshot.decoder(), extents.iter().map(|e| rows(snapshot, e)));
        let rows: Vec<Rows> = rows.collect();
        let decode = |rows: &Rows| {
            (0..rows.len()).for_each(|n| drop(black_box(decoder.message(rows, n))));
        };
        group.bench_function("messages", |b| b.iter(|| rows.iter().for_each(decode)));
    });
}

/// A session's messages, as they are stored.
fn rows(snapshot: &Snapshot<'_>, extent: &Extent) -> Rows {
    let mut rows = Rows::default();
    let copied = snapshot.rows(extent, |stored| stored.copy_to(&mut rows));
    copied.expect("it can be read");
    rows
}

/// Selections to SQL, and SQL to sessions.
fn filter(c: &mut Criterion) {
    let test = |column, condition| {
        Selection::Filtered(Filter {
            tests: vec![Test { column, condition }],
            ..Filter::everything()
        })
    };
    let said = Query::parse("error OR test").expect("it is a query");
    let selections = [
        ("all", Selection::All),
        ("source", test(Column::Source, Condition::Is("cli".to_owned()))),
        ("title", test(Column::Title, Condition::Contains("TEST".to_owned()))),
        ("older", test(Column::LastActive, Condition::AtMost(1_780_000_000.0))),
        ("said", Selection::Filtered(Filter { said: vec![said], ..Filter::everything() })),
    ];
    with_store(|snapshot| {
        let mut group = c.benchmark_group("filter");
        for (name, selection) in &selections {
            let matching = || snapshot.matching(selection).expect("it can be read").sessions.len();
            group.bench_function(*name, |b| b.iter(matching));
        }
    });
}

/// A kind of text that transcripts have: another one for each number, as what was found clean is remembered.
type Kind = (&'static str, fn(u32) -> String);

const KINDS: [Kind; 7] = [
    ("prose", |n| format!("{n}\n{}", piece(include_str!("../README.md"), n))),
    ("code", |n| format!("{n}\n{}", piece(include_str!("../src/manifest.rs"), n))),
    ("log", |n| {
        let line = |i| format!("2026-03-05T09:15:{:02}Z INFO worker-{n} took {i} ms\n", i % 60);
        (0..60).map(line).collect()
    }),
    ("json", |n| {
        let output = format!("{n}\n{}", piece(include_str!("../src/manifest.rs"), n));
        serde_json::json!({ "output": output, "exit_code": 0, "error": null }).to_string()
    }),
    ("bytes", |n| {
        let digit = |i: u32| char::from_digit(i.wrapping_mul(i).wrapping_mul(n) >> 7 & 15, 16);
        (0..3000).filter_map(digit).collect()
    }),
    ("terminal", |n| {
        let line =
            |i| format!("\u{1b}[32m   Compiling\u{1b}[0m serde v1.{n}.{i} (/home/ana/serde)\n");
        (0..60).map(line).collect()
    }),
    ("secrets", |n| {
        let line = |i| format!("export DB_PASSWORD_{i}=q{n}Xv8Zr{i}2LmTp\nnothing else in {i}\n");
        (0..60).map(line).collect()
    }),
];

/// Some lines of a text, others for each number.
fn piece(text: &str, n: u32) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = n as usize * 31 % lines.len().saturating_sub(80);
    lines[from..from + 80].join("\n")
}

fn redact(c: &mut Criterion) {
    let redactor = Redactor::new(Vec::new(), &[Group::Secrets], KnownValues::default());
    let redactor = redactor.expect("the rules are sound");
    let mut group = c.benchmark_group("redact");
    let mut number = 0;
    for (name, kind) in KINDS {
        let mut cells = || {
            number += 100;
            (number..number + 100).map(kind).collect::<Vec<String>>()
        };
        let bytes: usize = cells().iter().map(String::len).sum();
        group.throughput(Throughput::Bytes(bytes as u64));
        let redacted = |cells: &Vec<String>| {
            let mut scope = Scope::new();
            cells.iter().map(|cell| redactor.redact_text(cell, &mut scope).len()).sum::<usize>()
        };
        group.bench_function(name, |b| {
            b.iter_batched_ref(&mut cells, |cells| redacted(cells), BatchSize::LargeInput);
        });
    }
}

/// From messages to bytes.
fn writers(c: &mut Criterion) {
    let open = Redactor::none();
    with_store(|snapshot| {
        let (decoder, mut sessions, mut rows) = (snapshot.decoder(), Vec::new(), Vec::new());
        for key in snapshot.matching(&Selection::All).expect("it can be read").sessions {
            let (row, _) = snapshot.session(key).expect("it can be read");
            sessions.push(open.apply(row, &mut Scope::new()));
            let extent = snapshot.extent(key, Shown::All).expect("it can be read");
            rows.push(crate::rows(snapshot, &extent));
        }
        let mut messages = Vec::new();
        for rows in &rows {
            let message = |n| open.apply(decoder.message(rows, n).0, &mut Scope::new());
            messages.push((0..rows.len()).map(message).collect::<Vec<_>>());
        }
        let mut group = c.benchmark_group("write");
        group.throughput(Throughput::Elements(messages.iter().map(|m| m.len() as u64).sum()));
        for format in FORMATS.iter().filter(|format| format.layout != Layout::Folder) {
            // A session of which a format shows nothing is an error, and costs it as much.
            let is_written = |(session, messages): (&Session<'_>, &Vec<Message<'_>>)| {
                written(format, session, messages).is_ok()
            };
            let write = || sessions.iter().zip(&messages).map(is_written).filter(|is| *is).count();
            group.bench_function(format.name, |b| b.iter(write));
        }
    });
}

fn written(format: &Format, session: &Session<'_>, messages: &[Message<'_>]) -> io::Result<()> {
    let zone = jiff::tz::TimeZone::UTC;
    let head = FileHead { sessions: 1, provenance: None, redacted: None, zone };
    let mut sink = io::sink();
    let mut file = (format.start)(&mut sink, &head)?;
    let lineage = [session.id().to_owned()];
    let mut writer = file.session(&SessionHead {
        session,
        messages: messages.len() as u64,
        last_active: None,
        lineage: &lineage,
        related: &[],
    })?;
    messages.iter().try_for_each(|message| writer.message(message))?;
    writer.finish()?;
    file.finish()
}

/// A line of the manifest.
fn entry(n: u32) -> Entry {
    let line = serde_json::json!({
        "session_id": format!("20260305_091523_{n:06x}"),
        "lineage_session_ids": [format!("20260305_091523_{n:06x}")],
        "path": format!("20260305_091523_{n:06x}-debugging-the-auth-flow.md"),
        "format": "md", "messages": "active", "message_count": n, "last_message_id": n,
        "bytes": 4096, "sha256": "0".repeat(64), "exported_at": 1_780_000_000.25,
        "redacted": ["secrets"], "redactions": {"github-pat": 2}, "tool": "hermes-sessions",
    });
    serde_json::from_value(line).expect("it is a line")
}

fn manifest(c: &mut Criterion) {
    const LINES: u32 = 10_000;
    let folder = tempfile::tempdir().expect("there is room");
    let entries: Vec<Entry> = (0..LINES).map(entry).collect();
    let mut locked = Locked::open(folder.path()).expect("it can be begun");
    locked.append(&entries).expect("there is room");
    let mut group = c.benchmark_group("manifest");
    group.throughput(Throughput::Elements(u64::from(LINES)));
    let read = || Manifest::read(folder.path()).expect("it can be read").current().len();
    group.bench_function("read", |b| b.iter(read));
    let bytes = vec![b'x'; 1 << 20];
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("hash", |b| {
        b.iter(|| {
            let mut hasher = Hasher::default();
            hasher.update(&bytes);
            hasher.finish().bytes
        });
    });
}

criterion_group!(benches, decode, filter, redact, writers, manifest);
criterion_main!(benches);
