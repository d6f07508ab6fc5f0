//! Throughput of redaction over transcript-like text, JSON walking included.
//!
//! `cargo bench --bench redact [-- FILE]`: each line of FILE is one cell of a row. Without one,
//! cells are made from this repository's own sources: a user's text, a tool's call, its result.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Instant;

use hermes_sessions::redact::known::KnownValues;
use hermes_sessions::redact::rule::Group;
use hermes_sessions::redact::{Redactor, Scope};
use serde_json::json;

fn main() -> anyhow::Result<()> {
    let file = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let cells: Vec<String> = match file {
        Some(path) => std::fs::read_to_string(path)?.lines().map(str::to_owned).collect(),
        None => own_cells(),
    };
    let bytes: usize = cells.iter().map(String::len).sum();
    let mut report = String::new();
    let start = Instant::now();
    let redactor = Redactor::new(Vec::new(), &groups(), KnownValues::default())?;
    writeln!(report, "rules ready in {:?}", start.elapsed())?;
    for round in 0..3 {
        let start = busy();
        let mut scope = Scope::new();
        let changed = cells
            .iter()
            .filter(|cell| matches!(redactor.redact_text(cell, &mut scope), Cow::Owned(_)))
            .count();
        let seconds = busy() - start;
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let speed = bytes as f64 / 1e6 / seconds;
        writeln!(
            report,
            "round {round}: {speed:.0} MB/s, {changed} of {} cells changed",
            cells.len()
        )?;
        if round == 0 {
            writeln!(report, "{:?}", scope.counts())?;
        }
    }
    for (name, text) in adversarial() {
        let start = busy();
        redactor.redact_text(&text, &mut Scope::new());
        writeln!(report, "{name}: {:.1} ms", (busy() - start) * 1e3)?;
    }
    std::io::stdout().write_all(report.as_bytes())?;
    Ok(())
}

/// `REDACT_BENCH=none` measures the walk alone.
fn groups() -> Vec<Group> {
    let is_bare = std::env::var("REDACT_BENCH").is_ok_and(|v| v == "none");
    if is_bare { Vec::new() } else { vec![Group::Secrets] }
}

/// Seconds that this process was on a processor, for machines that others use as well; wall time
/// where Linux does not tell.
fn busy() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |n| n / 1e9)
}

/// Inputs on which backtracking takes minutes.
fn adversarial() -> Vec<(&'static str, String)> {
    vec![
        ("200 KB of a1, then x=1", "a1".repeat(100_000) + " x=1"),
        ("4000 ab., then x=1", "ab.".repeat(4000) + " x=1"),
        ("200 KB of -, then =", "-".repeat(200_000) + "="),
        (
            "5 MB of log lines",
            "2026-01-01T00:00:00Z INFO worker 7 fetched token page in 12 ms\n".repeat(80_000),
        ),
        ("200 KB of password=", "password=".repeat(22_000)),
        ("200 KB of password=\"", "password=\"".repeat(20_000)),
        ("200 KB of ://a:", "://a:".repeat(40_000)),
        ("200 KB of AKIA", "AKIA".repeat(50_000)),
        ("200 KB of sk-", "sk-".repeat(70_000)),
        ("200 KB of eyJ", "eyJ".repeat(70_000)),
        ("200 KB of backslashes", "\\".repeat(200_000) + "\"password\""),
        ("200 KB of {", "{".repeat(200_000)),
        ("200 KB of {\\n", "{\n".repeat(100_000)),
        ("200 KB of key: ", "key: ".repeat(40_000)),
        ("200 KB of mysql -p", "mysql -p ".repeat(22_000)),
        ("200 KB of curl -u ", "curl -u ".repeat(25_000)),
        ("200 KB of BEGIN", "-----BEGIN PRIVATE KEY-----".repeat(8_000)),
        ("200 KB of quotes", "\"+\"".repeat(70_000)),
    ]
}

fn own_cells() -> Vec<String> {
    let sources = [
        include_str!("../formats/src/json.rs"),
        include_str!("../formats/src/content.rs"),
        include_str!("../formats/src/model.rs"),
        include_str!("../formats/src/jsonl.rs"),
    ];
    let mut cells = Vec::new();
    for n in 0..200 {
        for source in sources {
            for piece in source.as_bytes().chunks(3000) {
                // What was found clean is remembered, so each is another text.
                let text = format!("{n}\n{}", String::from_utf8_lossy(piece));
                cells.push(text.clone());
                cells.push(json!({ "output": format!("{text} "), "exit_code": 0 }).to_string());
                let arguments =
                    json!({ "path": "src/x.rs", "content": format!("{text}\t") }).to_string();
                cells.push(json!([{ "id": "c1", "function": { "name": "write_file", "arguments": arguments } }]).to_string());
            }
        }
    }
    cells
}
