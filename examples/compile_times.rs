//! How long each rule's pattern takes to compile, longest first.

use std::io::Write as _;
use std::time::Instant;

use hermes_sessions::redact::builtin;
use hermes_sessions::redact::rule::Matcher;

fn main() -> anyhow::Result<()> {
    let mut times = Vec::new();
    for rule in builtin::rules()? {
        let start = Instant::now();
        Matcher::new(&rule)?;
        times.push((start.elapsed(), rule.id));
    }
    times.sort();
    let mut out = std::io::stdout().lock();
    let total: std::time::Duration = times.iter().map(|(time, _)| *time).sum();
    writeln!(out, "{} rules in {total:?}", times.len())?;
    for (time, id) in times.iter().rev().take(20) {
        writeln!(out, "{time:?} {id}")?;
    }
    Ok(())
}
