//! `--only user-prompts`: what the user typed, and nothing else.

use serde_json::json;

use crate::env::{Env, text};
use crate::store::{START, session, talk};

fn prompts(env: &Env, flags: &str) -> Vec<String> {
    let lines = env.run(&format!("export - --only user-prompts {flags}")).ok().lines();
    lines.iter().map(|line| text(&line["text"])).collect()
}

#[test]
fn a_prompt_is_a_record_with_its_place_and_time() {
    let env = Env::with([
        session("s0")
            .user("first")
            .assistant("answer")
            .user("second")
            .and("platform_message_id", "77"),
        talk("s1"),
    ]);
    let ran = env.run("export - --only user-prompts").ok();
    let time = |n: f64| json!(format!("2026-07-10T00:00:0{n}Z"));
    let lines = ran.lines();
    assert_eq!(lines.len(), 3, "{ran}");
    assert_eq!(
        lines[0],
        json!({"session_id": "s0", "index": 1, "created_at": time(1.0), "role": "user",
               "text": "first", "message_id": 1})
    );
    assert_eq!(
        lines[1],
        json!({"session_id": "s0", "index": 2, "created_at": time(3.0), "role": "user",
               "text": "second", "message_id": 3, "event_id": "77"})
    );
    assert_eq!((&lines[2]["session_id"], &lines[2]["index"]), (&json!("s1"), &json!(1)));
}

#[test]
fn summaries_of_compactions_are_no_prompts() {
    let env = Env::with([session("s")
        .user("real")
        .user("[CONTEXT COMPACTION] summary of it all")
        .user("[CONTEXT SUMMARY]: and again")
        .user("I said: [CONTEXT COMPACTION]")]);
    assert_eq!(prompts(&env, ""), ["real", "I said: [CONTEXT COMPACTION]"]);
}

#[test]
fn pictures_are_named_and_not_dumped() {
    let env = Env::with([session("s").user(
        "\0json:[{\"type\": \"text\", \"text\": \"look\"}, {\"type\": \"image_url\", \
         \"image_url\": {\"url\": \"data:image/png;base64,QUJD\"}}]",
    )]);
    let prompts = prompts(&env, "");
    assert_eq!(prompts, ["look\n[image: image/png, 3 bytes]"]);
}

#[test]
fn prompts_are_those_of_the_messages_that_were_asked_for() {
    let env =
        Env::with([session("s").user("old").compacted().user("undone").rewound().user("now")]);
    assert_eq!(prompts(&env, ""), ["now"]);
    assert_eq!(prompts(&env, "--messages compacted"), ["old", "now"]);
    assert_eq!(prompts(&env, "--messages all"), ["old", "undone", "now"]);
}

#[test]
fn prompts_go_through_the_same_filters() {
    let env = Env::with([talk("s0").with("source", "telegram"), talk("s1")]);
    assert_eq!(prompts(&env, "--source telegram"), ["question of s0"]);
    assert_eq!(prompts(&env, "--session-id s1"), ["question of s1"]);
}

#[test]
fn a_time_beyond_the_calendar_is_given_as_the_store_has_it() {
    let env = Env::with([session("s").user("x").and("timestamp", 1e30)]);
    let ran = env.run("export - --only user-prompts").ends(1);
    assert_eq!(ran.lines()[0]["text"], "x");
    let env = Env::with([session("s").user("x").and("timestamp", START + 0.25)]);
    let ran = env.run("export - --only user-prompts").ok();
    assert!(text(&ran.lines()[0]["created_at"]).starts_with("2026-07-10T00:00:00"), "{ran}");
}
