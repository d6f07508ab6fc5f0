//! Stores of older and newer versions of Hermes.

use serde_json::Value as Json;

use crate::env::Env;
use crate::formats;
use crate::store::{NEWER, OLDER, SCHEMA, Store, session, talk};

fn store_of(schema: &[&str]) -> Env {
    let env = Env::empty();
    let talkative = session("s1")
        .with("title", "Émile's plan")
        .user("where?")
        .message("assistant")
        .and("tool_calls", r#"[{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}]"#)
        .message("tool")
        .and("tool_call_id", "c1")
        .and("content", "here");
    Store::create(&env.db(), schema).add_all([talk("s0"), talkative]);
    env
}

fn keys(json: &Json) -> Vec<&str> {
    json.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn every_format_reads_older_and_newer_stores() {
    for schema in [&[OLDER][..], &[SCHEMA, NEWER]] {
        let env = store_of(schema);
        for format in formats::all() {
            for shown in ["active", "compacted", "all"] {
                let flags = format!("--session-id s0 --session-id s1 --messages {shown}");
                let ran = format.export(&env, &flags).ok();
                let written = format.written(&env);
                assert!(written.contains("question of s0") && written.contains("where?"), "{ran}");
            }
        }
    }
}

#[test]
fn an_older_store_gives_its_own_columns_and_no_more() {
    let env = store_of(&[OLDER]);
    let line = &env.run("export - --session-id s0").ok().lines()[0];
    let wanted = "id source user_id model model_config system_prompt parent_session_id started_at \
                  ended_at end_reason message_count tool_call_count input_tokens output_tokens title \
                  messages";
    assert_eq!(keys(line), wanted.split_whitespace().collect::<Vec<_>>());
    let wanted = "id session_id role content tool_call_id tool_calls tool_name timestamp \
                  token_count finish_reason";
    assert_eq!(keys(&line["messages"][0]), wanted.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn filters_on_columns_that_an_older_store_lacks_match_nothing() {
    let env = store_of(&[OLDER]);
    for flags in ["--cwd /", "--branch x", "--provider x", "--chat-id 1", "--chat-type dm"] {
        env.run(&format!("export - {flags}")).ok().says("no session matches");
    }
    assert_eq!(env.run("export - --title ÉMILE --max-cost 0").ok().ids(), ["s1"]);
    assert_eq!(env.run("export - --exclude cwd=/*").ok().ids(), ["s0", "s1"]);
}

#[test]
fn columns_that_nobody_knows_stand_where_the_store_has_them() {
    let env = store_of(&[SCHEMA, NEWER]);
    env.store().sql(
        "UPDATE sessions SET pinned = 1, last_activity_at = 1.5, labels = '[\"a\"]';
         UPDATE messages SET sentiment = 'glad'",
    );
    let line = &env.run("export - --session-id s0").ok().lines()[0];
    let names = keys(line);
    assert_eq!(
        names[names.len() - 5..],
        ["archived", "pinned", "last_activity_at", "labels", "messages"]
    );
    let cells = [&line["pinned"], &line["last_activity_at"], &line["labels"]];
    assert_eq!(cells, [&Json::from(1), &Json::from(1.5), &Json::from("[\"a\"]")]);
    assert_eq!(line["messages"][1]["sentiment"], "glad");
    assert_eq!(*keys(&line["messages"][0]).last().unwrap(), "sentiment");
}
