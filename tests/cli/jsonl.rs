//! JSONL: the shape that scripts parse.

use serde_json::{Value as Json, json};

use crate::env::Env;
use crate::store::{session, talk};

fn keys(json: &Json) -> Vec<String> {
    json.as_object().unwrap().keys().cloned().collect()
}

/// One session with a cell of every kind.
fn rich() -> Env {
    let rich = session("rich")
        .with("title", "Zoë \"quoted\" \\ 数据 \u{1F642}")
        .with("model_config", r#"{"temperature": 0.5}"#)
        .with("origin_json", r#"{"chat": {"id": -5}}"#)
        .with("estimated_cost_usd", 0.1)
        .with("input_tokens", i64::MAX)
        .user("line\r\n\ttab \u{2028} \u{7f} \u{0}after NUL")
        .user("\0json:[{\"type\": \"text\", \"text\": \"hi\"}, {\"n\": 1.50, \"big\": 12345678901234567890123}]")
        .message("assistant")
        .and("content", None::<String>)
        .and("tool_calls", r#"[{"id": "c1", "type": "function", "function": {"name": "sh", "arguments": "{\"a\": 1}"}}]"#)
        .and("reasoning", "thinking")
        .and("reasoning_details", r#"[{"type": "x"}]"#)
        .and("codex_message_items", r#"[{"y": 2}]"#)
        .message("tool")
        .and("tool_call_id", "c1")
        .and("tool_name", "sh")
        .and("content", r#"{"output": "no decoding"}"#)
        .message("oracle")
        .and("content", "a role of the future");
    Env::with([rich])
}

#[test]
fn columns_stand_verbatim_in_the_order_of_the_store() {
    let env = rich();
    let ran = env.run("export -").ok();
    let columns =
        |table: &str| env.store().column(&format!("SELECT name FROM pragma_table_info('{table}')"));
    let line = &ran.lines()[0];
    assert_eq!(keys(line), [columns("sessions"), vec!["messages".to_owned()]].concat());
    for message in line["messages"].as_array().unwrap() {
        assert_eq!(keys(message), columns("messages"));
    }
    insta::assert_snapshot!("jsonl", ran.stdout);
}

#[test]
fn structured_content_and_tool_calls_are_decoded_and_other_json_stays_text() {
    let env = rich();
    let line = &env.run("export -").ok().lines()[0];
    let messages = &line["messages"];
    assert_eq!(messages[1]["content"][0], json!({"type": "text", "text": "hi"}));
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], r#"{"a": 1}"#);
    assert_eq!(messages[2]["reasoning_details"], r#"[{"type": "x"}]"#);
    assert_eq!(messages[2]["codex_message_items"], r#"[{"y": 2}]"#);
    assert_eq!(messages[3]["content"], r#"{"output": "no decoding"}"#);
    assert_eq!(line["model_config"], r#"{"temperature": 0.5}"#);
    assert_eq!(line["origin_json"], r#"{"chat": {"id": -5}}"#);
}

#[test]
fn texts_and_numbers_come_through_unchanged() {
    let env = rich();
    let ran = env.run("export -").ok();
    let line = &ran.lines()[0];
    assert_eq!(line["title"], "Zoë \"quoted\" \\ 数据 \u{1F642}");
    assert_eq!(line["messages"][0]["content"], "line\r\n\ttab \u{2028} \u{7f} \u{0}after NUL");
    assert_eq!(line["input_tokens"], i64::MAX);
    assert_eq!(line["estimated_cost_usd"], 0.1);
    assert!(ran.stdout.contains("\"n\": 1.50, \"big\": 12345678901234567890123"), "{ran}");
    assert_eq!(ran.stdout.lines().count(), 1);
    assert_eq!(line["messages"][4]["role"], "oracle");
}

#[test]
fn sessions_are_oldest_first_and_messages_in_the_order_of_their_rows() {
    let late = session("late")
        .with("started_at", 9e8)
        .user("a")
        .and("timestamp", 9.0)
        .user("b")
        .and("timestamp", 1.0);
    let env = Env::with([late, session("early").with("started_at", 8e8), session("latest")]);
    let ran = env.run("export -").ok();
    assert_eq!(ran.ids(), ["early", "late", "latest"]);
    let late = &ran.lines()[1]["messages"];
    assert_eq!((&late[0]["content"], &late[1]["content"]), (&"a".into(), &"b".into()));
}

#[test]
fn messages_are_those_that_were_asked_for() {
    let env = Env::with([session("s")
        .user("set aside")
        .compacted()
        .user("taken back")
        .rewound()
        .user("summary")
        .user("active")]);
    let contents = |flags: &str| -> Vec<String> {
        let line = &env.run(&format!("export - {flags}")).ok().lines()[0];
        let messages = line["messages"].as_array().unwrap();
        messages.iter().map(|message| crate::env::text(&message["content"])).collect()
    };
    let active = ["summary", "active"];
    assert_eq!(contents(""), active);
    assert_eq!(contents("--messages active"), active);
    assert_eq!(contents("--messages compacted"), ["set aside", "summary", "active"]);
    assert_eq!(contents("--messages all"), ["set aside", "taken back", "summary", "active"]);
}

#[test]
fn a_session_without_messages_is_a_line_too() {
    let env = Env::with([session("empty")]);
    assert_eq!(env.run("export -").ok().lines()[0]["messages"], json!([]));
}

#[test]
fn a_store_without_sessions_gives_no_line() {
    let env = Env::with([]);
    assert_eq!(env.run("export -").ok().stdout, "");
}

#[test]
fn two_runs_give_the_same_bytes() {
    let env = Env::with([talk("s0"), talk("s1").with("title", "x"), talk("s2")]);
    let first = env.run("export - --messages all").ok().stdout;
    assert_eq!(env.run("export - --messages all").ok().stdout, first);
    env.run("export all.jsonl --messages all").ok();
    assert_eq!(env.text("all.jsonl"), first);
}

#[test]
fn the_store_that_hermes_itself_wrote_is_exported_whole() {
    let env = Env::empty();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/state.db");
    let lines = env.run(&format!("export - --messages all --db {fixture}")).ok().lines();
    let store = crate::store::Store::open_read_only(fixture.as_ref());
    assert_eq!(i64::try_from(lines.len()).unwrap(), store.count("FROM sessions"));
    let messages: usize = lines.iter().map(|line| line["messages"].as_array().unwrap().len()).sum();
    assert_eq!(i64::try_from(messages).unwrap(), store.count("FROM messages"));
}
