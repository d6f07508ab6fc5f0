//! What redaction promises for any bytes: it ends, does not panic, keeps JSON valid, leaves nothing
//! that a second look finds, and changes nothing the second time.
#![no_main]

use std::sync::LazyLock;

use hermes_sessions::redact::known::KnownValues;
use hermes_sessions::redact::rule::Group;
use hermes_sessions::redact::{Redactor, Scope};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;

static SECRETS: LazyLock<Redactor> = LazyLock::new(|| redactor(&[Group::Secrets]));
/// Has seen nothing of what the first has found to be clean.
static SECOND: LazyLock<Redactor> = LazyLock::new(|| redactor(&[Group::Secrets]));
static ALL: LazyLock<Redactor> = LazyLock::new(|| redactor(&Group::ALL));

fn redactor(groups: &[Group]) -> Redactor {
    Redactor::new(Vec::new(), groups, KnownValues::default()).expect("built-in rules compile")
}

fuzz_target!(|bytes: &[u8]| {
    ALL.scan_bytes(bytes);
    let text = String::from_utf8_lossy(bytes);
    ALL.redact_text(&text, &mut Scope::new());
    for document in [text.to_string(), serde_json::json!({ "output": text }).to_string()] {
        let once = SECRETS.redact_text(&document, &mut Scope::new());
        let twice = SECOND.redact_text(&once, &mut Scope::new());
        assert_eq!(once, twice);
        assert!(SECOND.scan_bytes(once.as_bytes()).is_empty());
        assert_eq!(is_json(&document), is_json(&once));
    }
});

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}
