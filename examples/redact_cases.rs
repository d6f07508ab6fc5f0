//! Measures recall and false alarms over a file of cases.
//!
//! Each line of the files is `{"text", "secret"}`, or `{"context", "text"}` with the secret marked
//! as in the examples of rules, or, for an ordinary text, `{"case", "text"}`. A text is redacted
//! as it is, as an argument in JSON, and inside a tool's result.
//!
//! `cargo run --release --example redact_cases -- fixtures/redaction/*.jsonl`

use std::io::Write as _;

use hermes_sessions::redact::example::Example;
use hermes_sessions::redact::known::KnownValues;
use hermes_sessions::redact::rule::Group;
use hermes_sessions::redact::{Redactor, Scope};
use serde_json::{Value, json};

fn main() -> anyhow::Result<()> {
    let redactor = Redactor::new(Vec::new(), &[Group::Secrets], KnownValues::default())?;
    let mut out = std::io::stdout().lock();
    let mut tally = [[0_u32; 2]; 2];
    for path in std::env::args().skip(1) {
        for line in std::fs::read_to_string(path)?.lines() {
            let case = Case::read(line)?;
            for (place, shown) in places(&redactor, &case.text) {
                let leaks = case.secrets.iter().any(|secret| shown.contains(secret));
                let is_ordinary = case.secrets.is_empty();
                let wrong = leaks || is_ordinary && shown != case.text;
                let row = &mut tally[usize::from(is_ordinary)];
                row[0] += 1;
                row[1] += u32::from(wrong);
                if wrong {
                    let what = if is_ordinary { "touched" } else { "missed" };
                    writeln!(out, "{what} [{}] {place}: {:?} -> {shown:?}", case.name, case.text)?;
                }
            }
        }
    }
    let [[places, missed], [ordinary, touched]] = tally;
    writeln!(out, "missed {missed} of {places}; touched {touched} of {ordinary}")?;
    Ok(())
}

/// One line of a file.
struct Case {
    name: String,
    text: String,
    secrets: Vec<String>,
}

impl Case {
    fn read(line: &str) -> anyhow::Result<Self> {
        let case: Value = serde_json::from_str(line)?;
        let field = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
        let name = field("context") + &field("case");
        if case["secret"].is_string() || case["case"].is_string() {
            let secrets = case["secret"].as_str().map(str::to_owned).into_iter().collect();
            return Ok(Self { name, text: field("text"), secrets });
        }
        let example = Example::expand(&field("text"), &name);
        let secrets = example.secrets.iter().map(|range| example.text[range.clone()].to_owned());
        Ok(Self { secrets: secrets.collect(), text: example.text, name })
    }
}

/// The text as redaction leaves it in each place.
fn places(redactor: &Redactor, text: &str) -> [(&'static str, String); 3] {
    let apply = |text: String| redactor.redact_text(&text, &mut Scope::new()).into_owned();
    let arguments = apply(json!({ "command": text }).to_string());
    let result =
        apply(json!({ "output": format!("first line\n{text}"), "exit_code": 0 }).to_string());
    let leaf = |document: &str, key: &str| -> String {
        let value: Value = serde_json::from_str(document).unwrap_or_default();
        value[key].as_str().map_or_else(|| format!("broken JSON: {document}"), str::to_owned)
    };
    let result = leaf(&result, "output");
    [
        ("raw", apply(text.to_owned())),
        ("arguments", leaf(&arguments, "command")),
        ("result", result.strip_prefix("first line\n").unwrap_or(&result).to_owned()),
    ]
}
