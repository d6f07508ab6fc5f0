//! Measures recall and false alarms over a file of cases.
//!
//! Each line of the files is `{"text", "secret"}` or, for an ordinary text, `{"text"}`. A text is
//! redacted as it is, as an argument in JSON, and inside a tool's result.
//!
//! `cargo run --release --example redact_cases -- CONTEXTS ORDINARY [--show N]`

use std::io::Write as _;

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
            let case: Value = serde_json::from_str(line)?;
            let text = case["text"].as_str().unwrap_or_default();
            for (place, shown) in places(&redactor, text) {
                let secret = case["secret"].as_str();
                let wrong = secret.map_or(shown != text, |secret| shown.contains(secret));
                let row = &mut tally[usize::from(secret.is_none())];
                row[0] += 1;
                row[1] += u32::from(wrong);
                if wrong {
                    let what = if secret.is_some() {
                        "missed"
                    } else {
                        "touched"
                    };
                    let name = case["context"].as_str().or(case["case"].as_str());
                    writeln!(
                        out,
                        "{what} [{}] {place}: {text:?} -> {shown:?}",
                        name.unwrap_or("")
                    )?;
                }
            }
        }
    }
    let [[places, missed], [ordinary, touched]] = tally;
    writeln!(
        out,
        "missed {missed} of {places}; touched {touched} of {ordinary}"
    )?;
    Ok(())
}

/// The text as redaction leaves it in each place.
fn places(redactor: &Redactor, text: &str) -> [(&'static str, String); 3] {
    let apply = |text: String| redactor.redact_text(&text, &mut Scope::new());
    let arguments = apply(json!({ "command": text }).to_string());
    let result =
        apply(json!({ "output": format!("first line\n{text}"), "exit_code": 0 }).to_string());
    let leaf = |document: &str, key: &str| -> String {
        let value: Value = serde_json::from_str(document).unwrap_or_default();
        value[key]
            .as_str()
            .map_or_else(|| format!("broken JSON: {document}"), str::to_owned)
    };
    let result = leaf(&result, "output");
    [
        ("raw", apply(text.to_owned())),
        ("arguments", leaf(&arguments, "command")),
        (
            "result",
            result
                .strip_prefix("first line\n")
                .unwrap_or(&result)
                .to_owned(),
        ),
    ]
}
