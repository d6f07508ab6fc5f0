//! Outlines for bug reports: everything but the words.

use serde_json::Value as Json;

use crate::env::Env;
use crate::formats;
use crate::store::{NEWER, SCHEMA, Store, session};

const CALLS: &str = r#"[{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"/srv/merger plan.md\", \"limit\": 20}"}}]"#;

fn env() -> Env {
    let parts = r#"[{"type": "text", "text": "merger part"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]"#;
    let talk = session("20260710_000000_a1b2c3")
        .with("title", "The merger")
        .with("system_prompt", "merger prompt")
        .with("cwd", "/home/jane/merger")
        .with("user_id", "merger-user")
        .with("model", "anthropic/claude-3.5")
        .with("input_tokens", 77)
        .with("model_config", r#"{"note": "merger", "temperature": 0.5}"#)
        .with("labels", "merger label")
        .user("the merger")
        .user(format!("\0json:{parts}"))
        .assistant("")
        .and("reasoning", "merger thought")
        .and("tool_calls", CALLS)
        .message("tool")
        .and("tool_name", "read_file")
        .and("tool_call_id", "c1")
        .and("content", r#"{"content": "merger text", "exit_code": 1, "error": "no such file"}"#);
    let env = Env::empty();
    Store::create(&env.db(), &[SCHEMA, NEWER]).add(talk);
    env
}

#[test]
fn no_word_is_left_in_any_format() {
    let env = env();
    for format in formats::all() {
        format.export(&env, "--session-id 20260710 --sanitize").ok();
        let written = format.written(&env);
        assert!(!written.to_lowercase().contains("merger"), "{}: {written}", format.name);
        assert!(!written.contains("jane"), "{}", format.name);
        for file in format.files(&env) {
            assert!(!file.display().to_string().contains("merger"), "{}", file.display());
        }
    }
}

#[test]
fn structure_counters_models_tools_and_errors_are_left() {
    let line = &env().run("export - --sanitize").ok().lines()[0];
    let text = |pointer: &str| line.pointer(pointer).and_then(Json::as_str).unwrap().to_owned();
    assert_eq!(text("/id"), "20260710_000000_a1b2c3");
    assert_eq!(text("/title"), "[text:title:10]");
    assert_eq!(text("/model"), "anthropic/claude-3.5");
    assert_eq!(line["input_tokens"], 77);
    assert_eq!(text("/messages/0/content"), "[text:content:10]");
    assert_eq!(text("/messages/1/content/0/text"), "[text:text:11]");
    assert_eq!(text("/messages/1/content/1/image_url/url"), "[text:image/png:26]");
    assert_eq!(text("/messages/2/tool_calls/0/function/name"), "read_file");
    let arguments: Json =
        serde_json::from_str(&text("/messages/2/tool_calls/0/function/arguments")).unwrap();
    assert_eq!(arguments, serde_json::json!({"path": "[text:path:19]", "limit": 20}));
    let result: Json = serde_json::from_str(&text("/messages/3/content")).unwrap();
    assert_eq!((&result["exit_code"], &result["error"]), (&1.into(), &"no such file".into()));
    assert_eq!(result["content"], "[text:content:11]");
    assert!(text("/provenance").starts_with("Sanitized with"), "{line}");
}

#[test]
fn what_is_kept_is_redacted() {
    let env = env();
    env.store().sql(
        r#"UPDATE messages SET content = '{"error": "jane.doe@' || 'corp.org was refused"}' WHERE role = 'tool'"#,
    );
    let line = &env.run("export - --sanitize").ok().lines()[0];
    assert_eq!(line["messages"][3]["content"], r#"{"error": "[REDACTED:email] was refused"}"#);
    env.run("export - --sanitize --no-redact").fails(2);
    env.run("export - --sanitize --share").fails(2);
}
