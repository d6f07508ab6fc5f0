//! What scripts get: one JSON object, silence, and data and talk on their own streams.

use std::fs;

use serde_json::{Value as Json, json};

use crate::env::{Env, parsed_lines, text};
use crate::store::{START, talk};
use crate::tree::sha256;

fn env() -> Env {
    Env::with([
        talk("s1").with("started_at", START + 50.0).with("ended_at", START + 99.0),
        talk("s0").with("title", "Plan").with("started_at", START),
    ])
}

#[test]
fn the_object_has_these_fields() {
    let env = env();
    let ran = env.run("export all.jsonl --json").ok();
    let mut json = ran.json();
    let bytes = fs::metadata(env.work("all.jsonl")).unwrap().len();
    assert_eq!(json["bytes"].take(), bytes);
    assert_eq!(json["files"][0]["sha256"].take(), sha256(&env.work("all.jsonl")));
    let wanted = json!({
        "command": "export", "dry_run": false, "matched": 2, "exported": 2, "unchanged": 0,
        "failed": 0, "failures": [], "nothing_to_show": [], "excluded": 0, "running_left_out": 0, "messages": 4,
        "bytes": null, "redactions": {}, "warnings": [],
        "files": [{"path": "./all.jsonl", "format": "jsonl", "session_id": null, "sha256": null}],
        "sessions": [
            {"id": "s0", "source": "cli", "title": "Plan", "started_at": START,
             "ended_at": START + 3660.0, "message_count": 2},
            {"id": "s1", "source": "cli", "title": null, "started_at": START + 50.0,
             "ended_at": START + 99.0, "message_count": 2},
        ],
    });
    let wanted = wanted.as_object().unwrap();
    for (key, value) in wanted {
        assert_eq!(&json[key], value, "{key}");
    }
    let keys: Vec<&String> =
        json.as_object().unwrap().keys().filter(|key| !wanted.contains_key(*key)).collect();
    assert_eq!(keys, Vec::<&String>::new(), "not promised");
}

#[test]
fn a_second_run_counts_what_was_unchanged() {
    let env = env();
    env.run("export all.jsonl").ok();
    let json = env.run("export all.jsonl --json").ok().json();
    assert_eq!(
        (&json["exported"], &json["unchanged"], &json["bytes"]),
        (&0.into(), &2.into(), &0.into())
    );
    assert_eq!(json["files"].as_array().unwrap().len(), 1);
}

#[test]
fn with_data_on_standard_output_the_object_goes_to_standard_error() {
    let env = env();
    for output in ["-", "/dev/stdout"] {
        let ran = env.run(&format!("export {output} --json")).ok();
        assert_eq!(ran.ids(), ["s0", "s1"], "{ran}");
        let last = ran.stderr.lines().last().unwrap();
        assert_eq!(parsed_lines(&format!("{last}\n"))[0]["exported"], 2, "{ran}");
    }
    let ran = env.run("export - --json -q").ok();
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
}

#[test]
fn quiet_silent_on_success_and_not_on_failure() {
    let env = env();
    for line in [
        "export all.jsonl -q",
        "export all.jsonl -q",
        "export all.jsonl -q --source none",
        "export all.jsonl -q --older-than 6m --exclude id=s0",
        "export --dry-run -q",
        "verify all.jsonl -q",
    ] {
        env.run(line).ok().silent();
    }
    env.run("export all.jsonl -q --session-id nope").fails(1);
    let ran = env.run("export - -q").ok();
    assert_eq!((ran.lines().len(), ran.stderr.as_str()), (2, ""), "{ran}");
}

#[test]
fn without_flags_a_line_for_people_goes_to_standard_error() {
    let env = env();
    let ran = env.run("export all.jsonl").ok();
    assert_eq!(ran.stdout, "");
    ran.says("Exported 2 sessions with 4 messages");
    env.run("export all.jsonl").ok().says("2 unchanged");
    env.run("export - -v").ok().says("Exported 2 sessions");
}

#[test]
fn a_failure_is_one_object_too() {
    let env = env();
    for (line, status) in [
        ("export all.jsonl --json --session-id nope", 1),
        ("export all.jsonl --json --source ''", 2),
        ("export all.jsonl --json --db absent.db", 1),
        ("verify . --json --against-store --db absent.db", 1),
    ] {
        let ran = env.run(line).ends(status);
        let json = ran.json();
        assert_eq!(json["exit_status"], status, "{ran}");
        assert!(ran.stderr.starts_with(&format!("error: {}", text(&json["error"]))), "{ran}");
    }
    let ran = env.run("export - --json --session-id nope").ends(1);
    assert_eq!(ran.stdout, "", "{ran}");
    assert!(ran.stderr.lines().any(|line| line.starts_with('{')), "{ran}");
}

#[test]
fn warnings_are_in_the_object_and_on_standard_error() {
    let env = env();
    env.store().sql("UPDATE messages SET content = X'ff' WHERE session_id = 's0'");
    let ran = env.run("export all.jsonl --json").ends(1);
    let warnings = ran.json()["warnings"].clone();
    let warnings: Vec<&Json> = warnings.as_array().unwrap().iter().collect();
    assert_eq!(warnings.len(), 2, "{ran}");
    for warning in warnings {
        assert!(ran.stderr.contains(&format!("warning: {}", text(warning))), "{ran}");
    }
}

#[test]
fn many_warnings_are_counted_rather_than_listed() {
    let mut many = crate::store::session("many");
    for _ in 0..30 {
        many = many.user(vec![0xff_u8]);
    }
    let env = Env::with([many]);
    let ran = env.run("export all.jsonl").ends(1).says("warning: 10 more");
    assert_eq!(ran.stderr.matches("warning: ").count(), 21, "{ran}");
    let ran = env.run("export all.jsonl -v").ends(1);
    assert_eq!(ran.stderr.matches("warning: ").count(), 30, "{ran}");
}

#[test]
fn control_characters_of_titles_do_not_reach_the_terminal() {
    let env = Env::with([talk("s0").with("title", "a\u{1b}]0;x\u{7}\u{202e}b\nc")]);
    let ran = env.run("export --dry-run -v").ok();
    assert!(!ran.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{ran}");
    ran.says("\\u{1b}]0;x");
}

#[test]
fn colours_are_for_those_who_ask() {
    let env = env();
    let failing = "export - --session-id nope";
    env.run(failing).fails(1).does_not_say("\u{1b}");
    let ran = env.run(&format!("{failing} --color always")).ends(1);
    ran.says("\u{1b}[1;31merror: ");
    env.run(&format!("{failing} --color never")).fails(1).does_not_say("\u{1b}");
}
