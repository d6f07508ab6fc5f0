use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value as Json;

use super::{Conditions, Program, find, list};
use crate::testing::write_all;
use crate::{Feature, Format, Layout};

fn programs() -> Vec<PathBuf> {
    vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/programs")]
}

fn conditions() -> Conditions {
    Conditions { patience: Duration::from_mins(1), scratch: std::env::temp_dir() }
}

fn format(name: &str) -> &'static Format {
    let program = find(name, &programs()).unwrap().unwrap();
    program.format(conditions()).unwrap()
}

#[test]
fn a_program_says_what_it_is() {
    let format = format("events");
    assert_eq!((format.name, format.extension), ("events", "events.jsonl"));
    assert_eq!((format.layout, format.about), (Layout::OneFile, "the events themselves"));
    assert!(format.can(Feature::IsProgram) && format.can(Feature::JoinsLineage));
    assert!(format.can(Feature::ShowsAll));
}

#[test]
fn a_program_is_given_these_events() {
    insta::assert_snapshot!("program_events", write_all(format("events")));
}

#[test]
fn events_are_what_the_schema_says() {
    let schema: Json = serde_json::from_str(include_str!("../../program.schema.json")).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for line in write_all(format("events")).lines().filter(|line| line.starts_with('{')) {
        let event: Json = serde_json::from_str(line).unwrap();
        let kind = event["event"].as_str().unwrap().to_owned();
        let wanted = &schema["$defs"][&kind];
        assert!(wanted.is_object(), "the schema has no {kind}");
        let required = wanted["required"].as_array().unwrap();
        assert!(required.iter().all(|key| event.get(key.as_str().unwrap()).is_some()), "{line}");
        let known = |key: &String| wanted["properties"].get(key).is_some();
        assert!(event.as_object().unwrap().keys().all(known), "{line}");
        seen.insert(kind);
    }
    let all = ["begin", "end", "end-session", "message", "segment", "session"];
    assert_eq!(seen, all.map(str::to_owned).into());
}

#[test]
fn programs_are_looked_for_in_absolute_folders_alone() {
    let here = std::env::current_dir().unwrap();
    let relative = ["", ".", "../fixtures/programs"].map(PathBuf::from);
    assert!(here.join(&relative[2]).join("hermes-export-count").is_file());
    assert_eq!(find("count", &relative).unwrap(), None);
    assert_eq!(list(&relative), []);
    for name in ["../programs/hermes-export-count", "", "COUNT", "a b"] {
        assert_eq!(find(name, &programs()).unwrap(), None, "{name}");
    }
    let names: Vec<String> =
        list(&programs()).into_iter().map(|Program { name, .. }| name).collect();
    assert_eq!(names, ["broken", "count", "events", "org"]);
}
