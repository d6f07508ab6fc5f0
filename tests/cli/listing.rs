//! `list`: each conversation once, last active first.

use crate::env::{Env, Ran, text};
use crate::store::{HOUR, NEWER, NOW, OLDER, SCHEMA, Session, Store, session, talk};

#[track_caller]
fn ids(ran: &Ran) -> Vec<String> {
    ran.json()["sessions"].as_array().unwrap().iter().map(|row| text(&row["id"])).collect()
}

#[track_caller]
fn assert_lists(env: &Env, flags: &str, wanted: &[&str]) {
    let ran = env.run(&format!("list --json {flags}")).ok();
    assert_eq!(ids(&ran), wanted, "{flags}\n{ran}");
}

fn at(id: &'static str, hours_ago: f64) -> Session {
    let time = NOW - hours_ago * HOUR;
    session(id)
        .with("started_at", time - 60.0)
        .user(format!("question of {id}"))
        .and("timestamp", time)
}

/// A compressed conversation of two segments, a branch, a delegate, a tool's session.
fn family() -> Env {
    Env::with([
        at("root", 50.0).with("title", "plan").with("end_reason", "compression"),
        at("tip", 1.0).child_of("root").with("title", "plan #2").running(),
        at("branch", 3.0).branch_of("root"),
        at("delegate", 2.0).delegate_of("root"),
        at("both", 4.0)
            .child_of("root")
            .with("model_config", r#"{"_branched_from": "root", "_delegate_from": "root"}"#),
        at("shelved", 5.0).with("archived", 1),
        at("by_tool", 6.0).with("source", "tool"),
    ])
}

#[test]
fn a_compressed_conversation_is_its_newest_segment() {
    let env = family();
    assert_lists(&env, "", &["tip", "branch", "both"]);
    let row = &env.run("list --json").ok().json()["sessions"][0];
    assert_eq!(row["lineage_root_id"], "root");
    assert_eq!(row["started_at"], NOW - 50.0 * HOUR - 60.0);
    assert_eq!(row["last_active"], NOW - HOUR);
    assert_eq!(row["preview"], "question of tip");
}

#[test]
fn kinds_and_archives_are_asked_for() {
    let env = family();
    assert_lists(&env, "--archived", &["shelved"]);
    assert_lists(&env, "--all", &["tip", "branch", "both", "shelved"]);
    assert_lists(&env, "--kind branch", &["branch", "both"]);
    assert_lists(&env, "--kind delegate", &["delegate"]);
    assert_lists(&env, "--kind segment", &["tip"]);
    assert_lists(&env, "--source tool", &["by_tool"]);
    let all = ["tip", "delegate", "branch", "both", "shelved", "by_tool", "root"];
    assert_lists(&env, "--kind all --all", &all);
    env.run("list --archived --all").ends(2);
}

#[test]
fn filters_narrow_the_list_before_it_is_cut() {
    let old = at("beta", 400.0).with("cwd", "/src/beta").with("title", "notes #Work");
    let alphas = (1..=25).map(|n| {
        let id: &'static str = format!("alpha{n:02}").leak();
        at(id, f64::from(n)).with("cwd", "/src/alpha").with("git_repo_root", "/src/alpha")
    });
    let env = Env::with(std::iter::once(old).chain(alphas));
    assert_lists(&env, "--workspace BETA", &["beta"]);
    assert_lists(&env, "#work", &["beta"]);
    assert_lists(&env, "#work --title nothing", &[]);
    assert_lists(&env, "--older-than 1w", &["beta"]);
    assert_lists(&env, "--limit 2", &["alpha01", "alpha02"]);
    env.run("list --limit 0").ok().says("--limit 0 shows none of them");
    assert_lists(&env, "--session-id beta", &["beta"]);
    assert_eq!(ids(&env.run("list --json").says("there are more than 20")).len(), 20);
    env.run("list work").fails(2).says("no tag");
    env.run_words(&["list", "--workspace", ""]).fails(2).says("--workspace");
}

#[test]
fn a_conversation_passes_when_one_of_its_segments_does() {
    let env = family();
    assert_lists(&env, "--end-reason compression", &["tip"]);
    assert_lists(&env, "--title 'plan #2'", &["tip"]);
    assert_lists(&env, "--session-id root", &["tip"]);
    // Running sessions are no secret.
    assert_lists(&env, "--source cli", &["tip", "branch", "both"]);
}

#[test]
fn the_order_is_that_of_the_last_message_and_odd_times_are_none() {
    let env = Env::with([
        at("long_lived", 0.5).with("started_at", NOW - 2000.0 * HOUR),
        at("fresh", 1.0),
        session("empty").with("started_at", NOW - 2.0 * HOUR),
        at("beyond", 3.0).user("x").and("timestamp", 1e30),
        at("worded", 4.0).user("x").and("timestamp", "tomorrow"),
    ]);
    assert_lists(&env, "", &["long_lived", "fresh", "empty", "beyond", "worded"]);
}

#[test]
fn a_table_shows_what_there_is_to_tell() {
    let env = Env::with([
        at("20260731_110000_aaaaaa", 1.0).with("title", "refactoring auth").with("cwd", "/src/api"),
        at("20260730_110000_bbbbbb", 25.0).with("source", "telegram").user("more"),
        at("20260720_110000_cccccc", 265.0).with("title", "\u{1b}]0;owned\u{7}数据库\nplan"),
    ]);
    insta::assert_snapshot!(env.run("list --days").ok().seen(&env));
    let plain = Env::with([at("20260731_110000_aaaaaa", 1.0)]);
    insta::assert_snapshot!(plain.run("list").ok().seen(&plain));
}

#[test]
fn a_preview_is_the_users_own_words() {
    let parts = "\0json:[{\"type\": \"text\", \"text\": \"look  at\\nthis\"}]";
    let env = Env::with([
        session("summary").user("[CONTEXT COMPACTION] earlier").user("go on"),
        session("parts").user(parts),
        session("long").user("é".repeat(70)),
        session("nothing").assistant("hello"),
    ]);
    let rows = env.run("list --json").ok().json();
    let previews: Vec<String> =
        rows["sessions"].as_array().unwrap().iter().map(|row| text(&row["preview"])).collect();
    let long = format!("{}...", "é".repeat(60));
    assert_eq!(previews, ["", &long, "look at this", "go on"]);
}

#[test]
fn older_and_newer_stores_are_listed() {
    for schema in [&[OLDER][..], &[SCHEMA, NEWER]] {
        let env = Env::empty();
        Store::create(&env.db(), schema).add_all([talk("s0"), talk("s1").child_of("gone")]);
        assert_lists(&env, "--title x --all", &[]);
        assert_lists(&env, "", &["s1", "s0"]);
    }
}

#[test]
fn circles_and_missing_indexes_do_not_end_the_list() {
    let ring = |id, of| at(id, 1.0).child_of(of).with("end_reason", "compression");
    let env = Env::with([ring("a", "b"), ring("b", "a"), talk("c")]);
    env.store().sql(
        "DROP INDEX idx_messages_session; DROP INDEX idx_messages_session_active;
                     DROP INDEX idx_messages_platform_msg_id",
    );
    assert_lists(&env, "", &["b", "c"]);
    assert_lists(&env, "--kind all", &["b", "a", "c"]);
}

#[test]
fn a_long_chain_is_walked_once() {
    let segment = |n: u32| {
        let id: &'static str = format!("s{n:04}").leak();
        let segment = session(id).with("end_reason", "compression");
        if n == 0 { segment } else { segment.child_of(format!("s{:04}", n - 1).leak()) }
    };
    let env = Env::with((0..1000).map(segment));
    assert_lists(&env, "", &["s0999"]);
}

#[test]
fn bytes_that_are_no_utf_8_cost_themselves() {
    let env = family();
    env.store().sql("UPDATE sessions SET title = CAST(X'61ff62' AS TEXT) WHERE id = 'branch'");
    env.store().sql("UPDATE messages SET content = CAST(X'61ff62' AS TEXT)");
    let row = &env.run("list --json").ok().json()["sessions"][1];
    assert_eq!((&row["title"], &row["preview"]), (&"a\u{fffd}b".into(), &"a\u{fffd}b".into()));
}

#[test]
fn a_list_is_redacted_where_that_is_asked_for() {
    let token = ["ghp", "_", "R2vX8kQ1mZ", "7tLw4Yc9Bn", "3Hd6Js0PfG", "5aEuTi"].concat();
    let env = Env::with([talk("s0").with("title", format!("use {token}")).user(token.clone())]);
    let ran = env.run("list --redact --json").ok();
    assert!(!ran.stdout.contains(&token), "{ran}");
    assert!(env.run("list --json").ok().stdout.contains(&token));
}

#[test]
fn no_store_is_made_by_looking_for_one() {
    let env = Env::empty();
    env.run("list").fails(1).says("there is no store");
    assert!(!env.db().exists());
}
