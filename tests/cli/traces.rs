//! `--format trace`: where traces go, what is in them, and what Hugging Face's loader needs.

use serde_json::{Value as Json, json};

use crate::env::{Env, parsed_lines, text};
use crate::publishing::manifest;
use crate::store::{HOUR, START, session, talk};
use crate::tree::names;

/// The lines of a trace with this type.
fn of_type<'l>(lines: &'l [Json], kind: &str) -> Vec<&'l Json> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// A talk whose last message was sent so many hours after the start.
fn talk_at(id: &'static str, hours: f64) -> crate::store::Session {
    session(id).user(format!("question of {id}")).and("timestamp", START + hours * HOUR)
}

#[test]
fn without_output_and_selection_the_latest_conversation_goes_to_standard_output() {
    let env = Env::with([
        talk_at("early", 1.0),
        talk_at("latest", 5.0),
        talk_at("middle", 3.0),
        talk_at("delegate", 9.0).delegate_of("latest"),
        talk_at("archived", 9.0).with("archived", 1),
        session("empty").with("started_at", START + 10.0 * HOUR),
    ]);
    for shape in ["", "--trace-shape claude", "--trace-shape hermes"] {
        let ran = env.run(&format!("export --format trace {shape}")).ok();
        assert!(ran.stdout.contains("question of latest"), "{ran}");
        assert_eq!(names(&env.work("")), Vec::<String>::new());
        assert!(!env.hermes("session-exports").exists());
    }
    env.run("export out --format trace").fails(2).says("needs a selection");
}

#[test]
fn a_session_alone_goes_to_a_file_or_standard_output_and_a_selection_to_a_folder() {
    let env = Env::with([talk("s0").with("title", "Some title"), talk("s1")]);
    let alone = env.run("export --format trace --session-id s0").ok();
    assert_eq!(env.run("export - --format trace --session-id s0").ok().stdout, alone.stdout);
    env.run("export one.trace.jsonl --session-id s0").ok();
    assert_eq!(env.text("one.trace.jsonl"), alone.stdout);
    env.run("export one.trace.jsonl --source cli").fails(2).says("name a folder");
    env.run("export out --format trace --exclude id=s1").ok();
    assert_eq!(names(&env.work("out")), ["manifest.jsonl", "s0.trace.jsonl"]);
    assert_eq!(env.text("out/s0.trace.jsonl"), alone.stdout);
    env.run("export out --format trace --source cli").ok().says("1 unchanged");
    assert_eq!(names(&env.work("out")), ["manifest.jsonl", "s0.trace.jsonl", "s1.trace.jsonl"]);
}

#[test]
fn secrets_are_taken_out_unless_the_user_says_otherwise() {
    let token = ["gh", "p_", "x7Kd93mQzLw02VbNcR5tYuPa8sEfGhJ1iOk4"].concat();
    let env = Env::with([session("s0").user(format!("use {token}"))]);
    for shape in ["claude", "hermes"] {
        let line = format!("export --format trace --trace-shape {shape} --session-id s0");
        let ran = env.run(&line).ok().says("Took out 1 secret");
        assert!(ran.stdout.contains("[REDACTED:github-pat]"), "{ran}");
        assert!(!ran.stdout.contains(&token), "{ran}");
        let ran = env.run(&format!("{line} --no-redact")).ok();
        assert!(ran.stdout.contains(&token), "{ran}");
        env.run(&format!("{line} --report taken.json")).ok();
        env.run(&format!("{line} --report taken.json --no-redact")).fails(2);
    }
}

#[test]
fn a_session_without_a_conversation_is_named_and_left_out() {
    let env = Env::with([
        talk("s0"),
        session("empty"),
        session("meta").message("session_meta").and("content", "{}"),
    ]);
    for shape in ["claude", "hermes"] {
        let out = format!("out-{shape}");
        let ran =
            env.run(&format!("export {out} --format trace --trace-shape {shape} --source cli"));
        let ran = ran.ok().says("session empty was left out").says("session meta was left out");
        assert!(ran.stderr.contains("Exported 1 session"), "{ran}");
        assert_eq!(names(&env.work(&out)), ["manifest.jsonl", "s0.trace.jsonl"]);
        assert_eq!(manifest(&env.work(&out)).len(), 1);
    }
    let ran = env.run("export --format trace --session-id empty").ends(1);
    assert_eq!(ran.says("session empty was left out").stdout, "");
    let json = env.run("export all --format trace --source cli --json").ok().json();
    assert_eq!(
        (&json["exported"], &json["nothing_to_show"]),
        (&json!(1), &json!(["empty", "meta"]))
    );
}

#[test]
fn the_shape_is_a_choice_of_traces_alone() {
    let env = Env::with([talk("s0")]);
    let row = env.run("export --format trace --trace-shape hermes --session-id s0").ok().lines();
    assert_eq!((&row[0]["id"], &row[0]["system_prompt"]), (&json!("s0"), &json!("")));
    assert_eq!(row[0]["model"], "unknown");
    assert_eq!(row[0]["messages"].as_array().unwrap().len(), 2);
    env.run("export x.md --session-id s0 --trace-shape hermes")
        .fails(2)
        .says("--trace-shape hermes does not apply to md");
    env.run("export --format trace --trace-shape codex").ends(2);
}

#[test]
fn no_text_or_number_of_a_session_breaks_the_loader() {
    let odd = "a\u{85}b\u{2028}c\u{2029}d\u{7f}e\u{9f}\u{feff}";
    let calls = r#"[{"id": "c1", "function": {"name": "ls", "arguments":
        "{\"n\": 123456789012345678901234567890, \"s\": \"\\ud800\", \"x\": NaN}"}}]"#;
    let deep = format!("{}1{}", "[".repeat(2000), "]".repeat(2000));
    let env = Env::with([session("s0")
        .with("title", odd)
        .with("cwd", odd)
        .user(odd)
        .message("assistant")
        .and("tool_calls", calls)
        .and("reasoning", odd)
        .message("tool")
        .and("content", odd)
        .and("tool_call_id", "c1")
        .message("assistant")
        .and("tool_calls", format!(r#"[{{"name": "deep", "input": {deep}}}]"#))]);
    for shape in ["claude", "hermes"] {
        let line = format!("export --format trace --trace-shape {shape} --session-id s0 --lenient");
        let ran = env.run(&line).ok();
        let plain = |c: char| {
            c == '\n' || c == '\u{feff}' || !c.is_control() && !"\u{2028}\u{2029}".contains(c)
        };
        assert!(ran.stdout.chars().all(plain), "{ran}");
        assert_eq!(env.run(&line).stdout, ran.stdout, "the same bytes every time");
        assert!(!ran.stdout.lines().any(|line| line.trim().is_empty()), "{ran}");
        assert!(ran.stdout.contains(r"a\u0085b\u2028c\u2029d\u007fe\u009f"), "{ran}");
    }
    // The loader reads arguments as JSON once more.
    let row = env.run("export --format trace-hermes --session-id s0 --lenient").ok().lines();
    let arguments = text(&row[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]);
    let arguments: Json = serde_json::from_str(&arguments).unwrap();
    assert_eq!(arguments["n"], "123456789012345678901234567890");
    let lines = env.run("export --format trace --session-id s0 --lenient").ok().lines();
    assert_eq!(text(&lines[1]["message"]["content"]), odd);
    let input = &of_type(&lines, "assistant")[0]["message"]["content"][1]["input"];
    assert_eq!(*input, json!({"n": "123456789012345678901234567890", "s": "\u{fffd}", "x": null}));
}

#[test]
fn a_trace_says_where_and_when_the_conversation_was() {
    let env = Env::with([session("s0")
        .with("cwd", "/home/ana/api")
        .with("git_branch", "fix/x")
        .user("hello")
        .and("timestamp", START + 1.25)]);
    let lines = env.run("export --format trace --session-id s0").ok().lines();
    for line in of_type(&lines, "user") {
        assert_eq!((&line["cwd"], &line["gitBranch"]), (&json!("/home/ana/api"), &json!("fix/x")));
        assert_eq!(line["timestamp"], "2026-07-10T00:00:01.250Z");
    }
}

#[test]
fn a_delegate_is_a_side_chain_and_a_joined_conversation_has_boundaries() {
    let env = Env::with([
        talk("root").with("end_reason", "compression"),
        session("next").child_of("root").user("[CONTEXT SUMMARY]: so far").user("go on"),
        talk("delegate").delegate_of("root"),
    ]);
    let lines = env.run("export --format trace --session-id delegate").ok().lines();
    assert!(of_type(&lines, "user").iter().all(|line| line["isSidechain"] == true));
    assert_eq!(
        (&lines[0]["agentId"], &lines[0]["hermes"]["parent_session_id"]),
        (&json!("delegate"), &json!("root"))
    );

    let lines = env.run("export --format trace --session-id next --lineage logical").ok().lines();
    let at = lines.iter().position(|line| line["subtype"] == "compact_boundary").unwrap();
    let [before, boundary, summary] = [&lines[at - 1], &lines[at], &lines[at + 1]];
    assert_eq!(
        (&boundary["parentUuid"], &boundary["logicalParentUuid"]),
        (&Json::Null, &before["uuid"])
    );
    assert_eq!(
        (&summary["parentUuid"], &summary["isCompactSummary"]),
        (&boundary["uuid"], &json!(true))
    );
    let ids: Vec<&Json> =
        lines.iter().map(|line| &line["sessionId"]).filter(|id| !id.is_null()).collect();
    assert!(ids.iter().all(|id| **id == "root"), "{ids:?}");
}

#[test]
fn what_was_taken_back_is_a_branch_beside_what_came_instead() {
    let env = Env::with([session("s0")
        .user("first")
        .user("taken back")
        .rewound()
        .assistant("taken back, too")
        .rewound()
        .user("instead")]);
    let ran = env.run("export --format trace --session-id s0 --messages all").ok();
    let lines = parsed_lines(&ran.stdout);
    let [first, back, too, instead] = [1, 2, 3, 4].map(|n| &lines[n]);
    assert_eq!(back["parentUuid"], first["uuid"]);
    assert_eq!(too["parentUuid"], back["uuid"]);
    assert_eq!(instead["parentUuid"], first["uuid"]);
}
