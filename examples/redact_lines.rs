//! Redacts each line of standard input as a text by itself: `… | redact_lines | diff - FILE`.

use std::io::{BufRead as _, Write as _};

use hermes_sessions::redact::known::KnownValues;
use hermes_sessions::redact::rule::Group;
use hermes_sessions::redact::{Redactor, Scope};

fn main() -> anyhow::Result<()> {
    let redactor = Redactor::new(Vec::new(), &[Group::Secrets], KnownValues::default())?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut scope = Scope::new();
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", redactor.redact_text(&line?, &mut scope))?;
    }
    Ok(())
}
