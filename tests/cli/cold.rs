//! `archive --cold`: sessions that leave the store for a folder, stay in reach there, and come back.

use std::fs;

use serde_json::{Value as Json, json};

use crate::env::{Env, parsed_lines, text};
use crate::store::{session, talk};

const DB: &str = "../home/.hermes/state.db";

fn home() -> Env {
    Env::with([
        talk("first").with("title", "Of one thing").with("source", "telegram"),
        talk("worker").delegate_of("first"),
        talk("branch").branch_of("first"),
        session("deep").user("question").assistant("answer").user("taken back").rewound(),
        session("runs").user("and runs").running(),
        session("begun").user("long ago").with("end_reason", "compression"),
        session("goes-on").user("and still").child_of("begun").running(),
    ])
}

fn lines(env: &Env, id: &str) -> Vec<Json> {
    let mut lines = parsed_lines(&env.text("cold/manifest.jsonl"));
    lines.retain(|line| line["session_id"] == id);
    lines
}

/// All rows of both tables, as text.
fn rows(env: &Env) -> Vec<String> {
    let columns = |table: &str| {
        let names = env.store().column(&format!("SELECT name FROM pragma_table_info('{table}')"));
        let quoted: Vec<String> = names.iter().map(|name| format!("quote({name})")).collect();
        quoted.join(" || ',' || ")
    };
    let mut rows = Vec::new();
    for table in ["sessions", "messages"] {
        rows.extend(
            env.store().column(&format!("SELECT {} FROM {table} ORDER BY id", columns(table))),
        );
    }
    rows
}

#[test]
fn what_is_put_away_leaves_the_store_with_its_delegates_and_comes_back_to_the_cell() {
    let env = home();
    let before = rows(&env);
    let report = env.run("archive --cold cold --source telegram --yes --json").ok().json();
    assert_eq!(
        report["moved"],
        json!({
            "sessions": 2, "messages": 4, "session_ids": ["first", "worker"],
        })
    );
    let here = ["begun", "branch", "deep", "goes-on", "runs"];
    assert_eq!(env.store().session_ids(), here);
    assert_eq!(
        env.store()
            .column("SELECT ifnull(parent_session_id, '') FROM sessions WHERE id = 'branch'"),
        [""]
    );
    env.run("verify cold").ok().says("2 files intact");
    env.run(&format!("restore cold --into {DB}")).ok().says("Restored 2 sessions");
    assert_eq!(rows(&env), before, "the branch has its parent again, too");
}

#[test]
fn a_tombstone_stands_in_the_manifest_and_nothing_of_ours_in_the_store() {
    let env = home();
    let tables = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    let before = env.store().column(tables);
    env.run("archive --cold cold --session-id first --yes").ok();
    let last = lines(&env, "first").pop().unwrap();
    assert_eq!((&last["only_copy"], &last["children"]), (&json!(true), &json!(["branch"])));
    assert!(last["gone_at"].is_number(), "{last}");
    assert_eq!(env.store().column(tables), before);
    assert_eq!(env.store().column("PRAGMA integrity_check"), ["ok"]);
}

#[test]
fn what_was_put_away_is_listed_searched_shown_and_exported() {
    let env = home();
    env.run("archive --cold=cold --session-id first --session-id deep --yes").ok();
    let listed = env.run("list --cold=cold --json").ok().json();
    let ids: Vec<String> =
        listed["sessions"].as_array().unwrap().iter().map(|row| text(&row["id"])).collect();
    assert_eq!(ids, ["deep", "first"]);
    let found = env.run("search --cold=cold 'answer of first' --json").ok().json();
    assert_eq!(found["results"][0]["session_id"], "first");
    assert!(env.run("show --cold=cold deep").ok().stdout.contains("question"));
    assert_eq!(
        env.run("export - --cold=cold --session-id deep --messages all").ok().ids(),
        ["deep"]
    );
    assert!(env.run("list").ok().stdout.find("Of one thing").is_none());
}

#[test]
fn a_conversation_goes_whole_or_not_at_all() {
    let env = home();
    env.run("archive --cold cold --session-id begun --yes")
        .ok()
        .says("1 running session also matches");
    assert!(env.store().session_ids().contains(&"begun".to_owned()));
    env.store().sql("UPDATE sessions SET ended_at = started_at + 9 WHERE id = 'goes-on'");
    let moved = env.run("archive --cold cold --session-id begun --yes --json").ok().json();
    assert_eq!(moved["moved"]["session_ids"], json!(["begun", "goes-on"]));
}

#[test]
fn running_sessions_are_never_taken_and_nothing_goes_unasked() {
    let env = home();
    env.run("archive --cold cold --source cli --include-open --yes").fails(2);
    env.run("archive --cold cold --older-than 0").fails(2).says("--yes goes ahead");
    env.run("archive --cold cold").fails(2).says("needs a filter");
    env.run("archive --cold= --older-than 0 --yes").fails(2);
    env.run("archive --older-than 0 --encrypt-to age1x --yes").fails(2).says("--cold");
    env.run("archive --cold cold --older-than 0 --dry-run").ok().says("Would put away");
    assert!(!env.work("cold").exists());
    assert_eq!(env.store().session_ids().len(), 7);
}

#[test]
fn a_session_that_json_cannot_hold_stays_and_the_others_go() {
    let env = home();
    env.store().sql("UPDATE messages SET content = X'00FF01' WHERE content = 'answer'");
    let ran = env.run("archive --cold cold --session-id deep --session-id first --yes").ends(1);
    ran.says("deep stays in the store");
    let left = env.store().session_ids();
    assert!(left.contains(&"deep".to_owned()) && !left.contains(&"first".to_owned()), "{left:?}");
    assert!(lines(&env, "deep").iter().all(|line| line["gone_at"].is_null()));
}

#[test]
fn a_file_that_somebody_changed_is_not_trusted() {
    let env = home();
    env.run("archive --cold cold --session-id deep --yes").ok();
    env.run(&format!("restore cold --into {DB}")).ok();
    let path = env.work("cold/deep.jsonl.zst");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    env.run("archive --cold cold --session-id deep --yes").ends(1).says("deep stays in the store");
    assert!(env.store().session_ids().contains(&"deep".to_owned()));
    assert_eq!(fs::read(&path).unwrap(), bytes, "nor is it replaced");
    env.run("list --cold=cold").ends(1);
}

#[test]
fn a_later_session_with_the_id_of_one_put_away_does_not_take_its_place() {
    let env = home();
    env.run("archive --cold cold --session-id deep --yes").ok();
    let file = fs::read(env.work("cold/deep.jsonl.zst")).unwrap();
    let other = "INSERT INTO sessions (id, source, started_at, ended_at) VALUES ('deep', 'cli', 1, 2);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('deep', 'user', 'anew', 1)";
    env.store().sql(other);
    let ran = env.run("archive --cold cold --session-id deep --yes").ends(1);
    ran.says("deep stays in the store: deep.jsonl.zst holds another session with this id");
    env.run("backup cold").ends(1).says("deep is not backed up: deep.jsonl.zst holds another");
    assert_eq!(fs::read(env.work("cold/deep.jsonl.zst")).unwrap(), file);
    assert!(env.store().session_ids().contains(&"deep".to_owned()));
    env.run("archive --cold elsewhere --session-id deep --yes").ok();
}

#[test]
fn what_was_restored_and_went_on_goes_again() {
    let env = home();
    env.run("archive --cold cold --session-id deep --yes").ok();
    env.run(&format!("restore cold deep --into {DB}")).ok();
    env.store().sql(
        "UPDATE messages SET content = 'put otherwise' WHERE content = 'answer';
         INSERT INTO messages (session_id, role, content, timestamp)
         VALUES ('deep', 'user', 'more', 1)",
    );
    let before = rows(&env);
    env.run("archive --cold cold --session-id deep --yes").ok();
    env.run(&format!("restore cold deep --into {DB}")).ok();
    assert_eq!(rows(&env), before);
}

#[test]
fn what_a_killed_run_did_is_finished_by_the_next() {
    let env = home();
    env.run("archive --cold cold --session-id deep --yes").ok();
    // Deleted and not marked: the last line is not there yet.
    let text = env.text("cold/manifest.jsonl");
    let (first, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(env.work("cold/manifest.jsonl"), format!("{first}\n")).unwrap();
    assert!(env.run("list --cold=cold").ok().stdout.contains("deep"));
    // Written and not deleted: the file of a session that is in the store.
    env.run(&format!("restore cold deep --into {DB}")).ok();
    env.run("archive --cold cold --session-id deep --yes").ok();
    fs::write(env.work("cold/manifest.jsonl"), format!("{first}\n")).unwrap();
    env.run("archive --cold cold --session-id first --yes").ok();
    assert!(lines(&env, "deep").pop().unwrap()["gone_at"].is_number());
    env.run("verify cold").ok().says("3 files intact");
}

#[test]
fn a_folder_without_an_archive_is_named() {
    let env = home();
    env.run("list --cold").fails(1).says("cold-sessions is no cold archive");
    env.run("archive --cold --session-id deep --yes").ok();
    assert!(env.hermes("cold-sessions/deep.jsonl.zst").exists());
    env.run("list --cold").ok();
}
