//! `rename`, `archive` and `unarchive`: what lists show of a session.

use crate::env::Env;
use crate::store::{Session, session, talk};

fn titled(id: &'static str, title: &'static str) -> Session {
    talk(id).with("title", title)
}

/// Three sessions that are one conversation, and what else came out of them.
fn conversation() -> Env {
    Env::with([
        titled("root", "talk").with("end_reason", "compression"),
        titled("middle", "talk #2").child_of("root").with("end_reason", "compression"),
        titled("tip", "talk #3").child_of("middle"),
        titled("branch", "a branch").branch_of("root"),
        titled("delegate", "a delegate").delegate_of("root"),
        titled("stranger", "another"),
    ])
}

fn archived(env: &Env) -> Vec<String> {
    env.store().column("SELECT id FROM sessions WHERE archived ORDER BY id")
}

fn title(env: &Env, id: &str) -> Vec<String> {
    env.store().column(&format!("SELECT COALESCE(title, '-') FROM sessions WHERE id = '{id}'"))
}

#[test]
fn a_title_is_tidied_and_set() {
    let env = Env::with([talk("s0"), talk("s1")]);
    env.run("rename s0   debugging the\u{200b}  auth\u{7f} flow")
        .ok()
        .says("Session s0 is now `debugging the auth flow`");
    assert_eq!(title(&env, "s0"), ["debugging the auth flow"]);
    let ran = env.run("rename --json s1 '日本語 タイトル'").ok();
    assert_eq!(ran.json()["title"], "日本語 タイトル");
    env.run("rename s1 --clear").ok();
    assert_eq!(title(&env, "s1"), ["-"]);
}

#[test]
fn what_is_no_title_is_refused() {
    let env = Env::with([titled("s0", "old")]);
    env.run("rename s0 ''").fails(2).says("the title is empty").says("--clear");
    env.run("rename s0").ends(2);
    env.run("rename s0 x --clear").ends(2);
    env.run(&format!("rename s0 {}", "x".repeat(101))).fails(2).says("101 characters");
    env.run("rename '' x").fails(2);
    env.run("rename nope x").fails(1);
    assert_eq!(title(&env, "s0"), ["old"]);
}

#[test]
fn a_title_that_another_session_has_is_refused_with_one_that_is_free() {
    let env =
        Env::with([titled("s0", "x%"), titled("s1", "x% #7"), titled("s2", "xyz #9"), talk("s3")]);
    env.run("rename s3 x%").fails(1).says("session s0 has the title `x%`; `x% #8` is free");
    env.run("rename s3 'x% #7'").fails(1).says("`x% #8` is free");
    env.run("rename s0 x%").ok();
    assert_eq!(title(&env, "s3"), ["-"]);
}

#[test]
fn the_newest_part_of_a_conversation_takes_the_title_from_an_older_one() {
    let env = conversation();
    env.run("rename tip talk").ok().says("taken from session root");
    assert_eq!((title(&env, "tip"), title(&env, "root")), (vec!["talk".into()], vec!["-".into()]));
    // A branch is a conversation of its own, and an older part takes nothing from a newer one.
    env.run("rename branch 'talk #2'").fails(1);
    env.run("rename root talk").fails(1).says("session tip has the title");
}

#[test]
fn a_conversation_is_archived_as_a_whole() {
    for id in ["root", "middle", "tip"] {
        let env = conversation();
        env.run(&format!("archive --session-id {id} --yes")).ok().says("Archived 3 sessions");
        assert_eq!(archived(&env), ["middle", "root", "tip"], "{id}");
        env.run(&format!("unarchive --session-id {id} --yes")).ok().says("Unarchived 3 sessions");
        assert_eq!(archived(&env), Vec::<String>::new());
    }
    let env = conversation();
    env.run("archive --title 'a ' --yes").ok().says("Archived 2 sessions");
    assert_eq!(archived(&env), ["branch", "delegate"]);
}

#[test]
fn archiving_needs_a_filter_and_leaves_what_is_archived() {
    let env = Env::with([
        talk("s0").with("archived", 1),
        session("empty"),
        talk("running").running(),
        talk("s1"),
    ]);
    for line in ["archive --yes", "archive --include-open --yes", "unarchive --yes"] {
        env.run(line).fails(2).says("needs a filter or --session-id");
    }
    for flag in ["--source", "--title"] {
        env.run(&format!("archive {flag} '' --yes")).fails(2);
    }
    env.run("archive --older-than 0 --dry-run").ok().says("Would archive 2 sessions");
    env.run("archive --max-messages 0 --yes").ok().says("Archived 1 session");
    assert_eq!(archived(&env), ["empty", "s0"]);
    let ran = env.run("archive --older-than 0 --yes --json").ok();
    assert_eq!((&ran.json()["matched"], &ran.json()["changed"]), (&1.into(), &1.into()));
    env.run("archive --older-than 0 --yes").ok().says("no session matches");
    env.run("archive --older-than 0 --include-open --yes").ok();
    assert_eq!(archived(&env), ["empty", "running", "s0", "s1"]);
    env.run("unarchive --title nothing --yes").ok().says("no session matches");
    env.run("unarchive --older-than 0 --yes").ok().says("Unarchived 3 sessions");
}

#[test]
fn messages_and_search_stay_as_they_are() {
    let env = conversation();
    let all = "SELECT id || role || content FROM messages ORDER BY id";
    let before = env.store().column(all);
    env.run("archive --older-than 0 --yes").ok();
    env.run("rename tip new").ok();
    let store = env.store();
    assert_eq!(store.column(all), before);
    assert_eq!(store.count("FROM messages_fts WHERE messages_fts MATCH 'question'"), 6);
    assert_eq!(store.column("PRAGMA journal_mode"), ["wal"]);
}
