//! One bad cell costs its own fidelity and a warning, in every format; one bad page costs a session.

use std::fs;

use crate::env::{Env, Ran};
use crate::formats::{self, Format};
use crate::store::{session, talk};

const ALL: &str = "--session-id first --session-id middle --session-id last";

/// What is wrong with the middle session's second message, and the column that the warning names.
const BAD_MESSAGES: [(&str, &str); 22] = [
    (
        "tool_calls = '[{\"function\": {\"name\": \"f\", \"arguments\": \"\\ud800\"}}]'",
        "tool_calls",
    ),
    (
        "tool_calls = '[{\"function\": {\"name\": \"f\", \"arguments\": \"a\\udc00b\"}}]'",
        "tool_calls",
    ),
    ("tool_calls = '[{\"name\": \"f\", \"x\": NaN}]'", "tool_calls"),
    ("tool_calls = '[{\"name\": \"f\", \"x\": 1e999}]'", "tool_calls"),
    ("tool_calls = '[\"bad\"]'", "tool_calls"),
    ("tool_calls = '{\"name\": \"f\"}'", "tool_calls"),
    ("tool_calls = '7'", "tool_calls"),
    ("tool_calls = '[{\"name\": '", "tool_calls"),
    ("tool_calls = 'no JSON at all'", "tool_calls"),
    ("tool_calls = X'5b5dff'", "tool_calls"),
    ("content = CAST(X'61ff62' AS TEXT)", "content"),
    ("content = CAST(X'eda080' AS TEXT)", "content"),
    ("content = X'00ff01'", "content"),
    ("content = CAST(X'006a736f6e3a' AS TEXT) || '{\"half\": '", "content"),
    ("content = CAST(X'006a736f6e3a' AS TEXT) || '{\"x\": \"\\udfff\"}'", "content"),
    ("content = CAST(X'006a736f6e3a' AS TEXT) || replace(hex(zeroblob(200)), '0', '[')", "content"),
    ("timestamp = 1e30", "timestamp"),
    ("timestamp = -9e999", "timestamp"),
    ("timestamp = 'yesterday'", "timestamp"),
    ("timestamp = X'ff'", "timestamp"),
    ("reasoning = CAST(X'ff' AS TEXT)", "reasoning"),
    ("reasoning_details = '[{'", "reasoning_details"),
];

/// What is wrong with the middle session's own row.
const BAD_SESSIONS: [(&str, &str); 8] = [
    ("ended_at = 9e999", "ended_at"),
    ("ended_at = 1e30", "ended_at"),
    ("started_at = -1e30", "started_at"),
    ("started_at = 'long ago'", "started_at"),
    ("title = CAST(X'61ff62' AS TEXT)", "title"),
    ("title = X'00ff01'", "title"),
    ("system_prompt = CAST(X'c3' AS TEXT)", "system_prompt"),
    ("estimated_cost_usd = 9e999", "estimated_cost_usd"),
];

fn three_sessions() -> Env {
    let middle = session("middle").user("one").assistant("two").user("three").assistant("four");
    Env::with([talk("first"), middle, talk("last")])
}

fn damaged(table: &str, change: &str) -> Env {
    let env = three_sessions();
    let which = if table == "sessions" {
        "id = 'middle'"
    } else {
        "session_id = 'middle' AND content = 'two'"
    };
    env.store().sql(&format!("UPDATE {table} SET {change} WHERE {which}"));
    env
}

/// The other sessions are whole, the rest of the middle one is there, and JSON is JSON.
#[track_caller]
fn assert_all_there(env: &Env, format: &Format, ran: &Ran, change: &str) {
    let written = format.written(env);
    for text in ["question of first", "one", "three", "question of last"] {
        assert!(written.contains(text), "{} with {change}: {text} is lost\n{ran}", format.name);
    }
    for file in format.files(env) {
        if file.extension().is_some_and(|extension| extension == "jsonl") {
            crate::env::parsed_lines(&fs::read_to_string(file).unwrap());
        }
    }
}

#[test]
fn a_bad_cell_of_a_message_is_warned_about_and_costs_itself_only() {
    for (change, column) in BAD_MESSAGES {
        let env = damaged("messages", change);
        let id =
            env.store().column("SELECT id FROM messages WHERE role = 'assistant' LIMIT 1 OFFSET 1");
        for format in formats::all() {
            let warning = format!("warning: session middle, message {}, {column}: ", id[0]);
            let ran = format.export(&env, ALL).ends(1).says(&warning);
            assert_eq!(ran.stderr.matches("warning: ").count(), 1, "{change}\n{ran}");
            assert_all_there(&env, format, &ran, change);
        }
    }
}

#[test]
fn a_bad_cell_of_a_session_is_warned_about_and_costs_itself_only() {
    for (change, column) in BAD_SESSIONS {
        let env = damaged("sessions", change);
        for format in formats::all() {
            let warning = format!("warning: session middle, {column}: ");
            let ran = format.export(&env, ALL).ends(1).says(&warning);
            assert_all_there(&env, format, &ran, change);
        }
    }
}

#[test]
fn lenient_forgives_what_it_still_warns_about() {
    let env = damaged("messages", "content = X'00ff01'");
    let ran = env.run("export all.jsonl --lenient -q").ok();
    assert!(ran.stderr.starts_with("warning: session middle, message "), "{ran}");
    let json = env.run("export all.jsonl --lenient --json").ok().json();
    assert_eq!(json["warnings"].as_array().unwrap().len(), 1, "{json}");
}

#[test]
fn filters_and_lists_put_up_with_bad_cells() {
    for (change, _) in BAD_SESSIONS {
        let env = damaged("sessions", change);
        let flags = "--title x --exclude title=zzz* --max-cost 1 --newer-than 10y";
        env.run(&format!("export --dry-run {flags}")).ok();
        let json = env.run("export --dry-run --json").ok().json();
        assert_eq!(json["matched"], 3, "{change}");
    }
}

#[test]
fn bad_json_is_kept_as_it_stands_and_good_json_beside_it_is_decoded() {
    let env = damaged("messages", "tool_calls = '[{\"name\": '");
    let middle = &env.run("export - --session-id middle").ends(1).lines()[0];
    assert_eq!(middle["messages"][1]["tool_calls"], "[{\"name\": ");
    let env = damaged("messages", "tool_calls = '[\"bad\"]'");
    let middle = &env.run("export - --session-id middle").ends(1).lines()[0];
    assert_eq!(middle["messages"][1]["tool_calls"], serde_json::json!(["bad"]));
}

#[test]
fn infinite_numbers_are_null_and_bytes_are_text() {
    let env = damaged("sessions", "ended_at = 9e999, title = CAST(X'61ff62' AS TEXT)");
    let middle = &env.run("export - --session-id middle").ends(1).lines()[0];
    assert_eq!(
        (&middle["ended_at"], &middle["title"]),
        (&serde_json::Value::Null, &"a\u{fffd}b".into())
    );
}

#[test]
fn an_id_that_is_no_text_costs_only_its_own_fidelity() {
    for id in ["CAST(X'6dff' AS TEXT)", "X'6d00ff'"] {
        let env = three_sessions();
        env.store().sql(&format!(
            "UPDATE messages SET session_id = {id} WHERE session_id = 'middle';
             UPDATE sessions SET id = {id} WHERE id = 'middle'"
        ));
        for format in formats::all() {
            let ran = format.export(&env, "--older-than 0").ends(1).says("warning: session m");
            assert_all_there(&env, format, &ran, id);
        }
    }
}

/// Overwrites the page that a text is on.
fn destroy_page_with(env: &Env, text: &str) {
    const PAGE: usize = 4096;
    let mut bytes = fs::read(env.db()).unwrap();
    let at = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    bytes[at / PAGE * PAGE..][..PAGE].fill(0xee);
    fs::write(env.db(), bytes).unwrap();
}

/// Three sessions, of which the middle one has a message on a destroyed page.
fn with_a_destroyed_page() -> Env {
    let mut middle = session("middle");
    for n in 0..12 {
        middle = middle.user(format!("unsaid {n:02} {}", "x".repeat(3000)));
    }
    let env = Env::with([talk("first"), middle, talk("last")]);
    env.store().sql("DROP TRIGGER messages_fts_delete; DELETE FROM messages_fts; VACUUM");
    destroy_page_with(&env, "unsaid 05");
    env
}

#[test]
fn what_stands_on_a_destroyed_page_is_never_taken_for_nothing() {
    let env = with_a_destroyed_page();
    let lost = "warning: session middle, message 8: its page is damaged";
    let ran = env.run("show middle").ends(1).says(lost);
    assert!(ran.stdout.contains("unsaid 04") && ran.stdout.contains("unsaid 06"), "{ran}");
    let json = env.run("show middle --json").ends(1).json();
    assert_eq!(json["messages"].as_array().unwrap().len(), 11, "{json}");
    assert!(json["warnings"][0].as_str().unwrap().contains("message 8"), "{json}");
    env.run("show middle --recap").ends(1).says(lost);
    env.run("search --session-id middle").ends(1).says(lost);
    env.run("search --session-id middle --around-message-id 4").ends(1).says(lost);
    env.run("search unsaid").ends(1).says("1 message could not be searched");
    for command in ["list", "stats", "export all.jsonl", "prune --dry-run"] {
        let line = format!("{command} --match unsaid");
        env.run(&line).says("1 message could not be searched");
    }
    env.run("list --match unsaid").ends(1);
    env.run("stats --match unsaid").ends(1);
}

#[test]
fn a_preview_on_a_destroyed_page_is_said_to_be_lost() {
    let env = Env::with([talk("first"), session("big").user(format!("lost{}", "x".repeat(9000)))]);
    env.store().sql("DELETE FROM messages_fts; VACUUM");
    destroy_page_with(&env, "question of first");
    let ran = env.run("list").ends(1).says("its first message's page is damaged");
    assert_eq!(ran.stdout.lines().count(), 3, "{ran}");
}

#[test]
fn odd_cells_are_warned_about_where_they_are_shown() {
    for (change, column) in BAD_MESSAGES {
        let env = damaged("messages", change);
        let ran = env.run("show middle").ok();
        assert!(ran.stderr.contains("warning: session middle, message "), "{change}\n{ran}");
        assert!(ran.stderr.contains(&format!(", {column}: ")), "{change}\n{ran}");
    }
    let shown = BAD_SESSIONS.iter().filter(|(_, column)| *column != "system_prompt");
    for (change, column) in shown {
        let env = damaged("sessions", change);
        let warning = format!("warning: session middle, {column}: ");
        for command in ["list", "show middle", "stats"] {
            env.run(command).ok().says(&warning);
        }
    }
    for change in ["input_tokens = 'many'", "message_count = X'ff'", "actual_cost_usd = 'much'"] {
        let env = damaged("sessions", change);
        env.run("stats").ok().says("warning: session middle, ");
        let json = env.run("stats --json").ok().json();
        assert_eq!(json["warnings"].as_array().unwrap().len(), 1, "{json}");
    }
}

#[test]
fn a_session_on_a_destroyed_page_costs_itself_only() {
    let env = with_a_destroyed_page();
    for format in formats::all() {
        let ran = format.export(&env, ALL).ends(1).says("error: session middle was not exported: ");
        let written = format.written(&env);
        assert!(
            written.contains("question of first") && written.contains("question of last"),
            "{ran}"
        );
        assert!(!written.contains("unsaid"), "half of the session was written\n{ran}");
    }
    let json = env.run("export all.jsonl --json").ends(1).json();
    assert_eq!((&json["exported"], &json["failed"]), (&2.into(), &1.into()), "{json}");
    assert_eq!(json["failures"][0]["session_id"], "middle", "{json}");
}
