//! `search` and `--match`: what was said is found, in every script, with and without an index.

use serde_json::Value as Json;

use crate::env::{Env, Ran, text};
use crate::store::{HOUR, NEWER, NOW, OLDER, SCHEMA, Session, Store, session, talk};

#[track_caller]
fn ids(ran: &Ran) -> Vec<String> {
    ran.json()["results"].as_array().unwrap().iter().map(|row| text(&row["session_id"])).collect()
}

#[track_caller]
fn assert_finds(env: &Env, line: &str, wanted: &[&str]) {
    let ran = env.run(&format!("search --json --limit 10 {line}")).ok();
    assert_eq!(ids(&ran), wanted, "{line}\n{ran}");
}

fn said(id: &'static str, what: &'static str) -> Session {
    session(id).user(what)
}

/// Sorted, as relevance is the index's affair.
#[track_caller]
fn assert_finds_all(env: &Env, line: &str, wanted: &[&str]) {
    let mut found = ids(&env.run(&format!("search --json --limit 10 {line}")).ok());
    found.sort();
    assert_eq!(found, wanted, "{line}");
}

fn library() -> Env {
    Env::with([
        said("docker", "docker deployment of the service"),
        said("kube", "kubernetes deployment, no containers"),
        said("path", "import os.path and my-app.config"),
        said("russian", "Отчёт за ИЮЛЬ"),
        said("chinese", "请帮我看看这个数据库错误信息"),
        said("thai", "ภาษาไทยง่ายนิดเดียว"),
        said("french", "le Résumé"),
        session("by_tool")
            .message("tool")
            .and("content", "needle in output")
            .and("tool_name", "grep"),
        session("taken_back").user("regret").rewound(),
        session("set_aside").user("ancient").compacted(),
    ])
}

/// The same answers with both indexes, without one, and with a broken one.
#[track_caller]
fn assert_finds_in_every_way(line: &str, wanted: &[&str]) {
    let env = library();
    assert_finds_all(&env, line, wanted);
    env.store().sql("DROP TABLE messages_fts_trigram");
    assert_finds_all(&env, line, wanted);
    env.store().sql("DROP TABLE messages_fts");
    assert_finds_all(&env, line, wanted);
}

#[test]
fn words_phrases_operators_and_prefixes_are_found() {
    assert_finds_in_every_way("deployment", &["docker", "kube"]);
    assert_finds_in_every_way("deployment docker", &["docker"]);
    assert_finds_in_every_way("'\"docker deployment\"'", &["docker"]);
    assert_finds_in_every_way("'\"deployment docker\"'", &[]);
    assert_finds_in_every_way("'docker OR kubernetes'", &["docker", "kube"]);
    assert_finds_in_every_way("'deployment NOT containers'", &["docker"]);
    assert_finds_in_every_way("kuber*", &["kube"]);
    assert_finds_in_every_way("kuber", &[]);
    assert_finds_in_every_way("os.path", &["path"]);
    assert_finds_in_every_way("my-app.config", &["path"]);
    assert_finds_in_every_way("'import: (os)'", &["path"]);
    assert_finds_in_every_way("отчёт", &["russian"]);
    assert_finds_in_every_way("RESUME", &["french"]);
}

#[test]
fn scripts_without_blanks_are_found_by_any_part() {
    assert_finds_in_every_way("数据库错误", &["chinese"]);
    assert_finds_in_every_way("错误", &["chinese"]);
    assert_finds_in_every_way("库", &["chinese"]);
    assert_finds_in_every_way("'数据 错误'", &["chinese"]);
    assert_finds_in_every_way("'数据 桂林'", &[]);
    assert_finds_in_every_way("'桂林 OR 数据库'", &["chinese"]);
    assert_finds_in_every_way("ไทย", &["thai"]);
}

#[test]
fn tools_are_searched_where_they_are_asked_for_and_what_was_taken_back_never() {
    assert_finds_in_every_way("needle", &[]);
    assert_finds_in_every_way("needle --role tool", &["by_tool"]);
    assert_finds_in_every_way("grep --role user,tool", &["by_tool"]);
    assert_finds_in_every_way("regret", &[]);
    assert_finds_in_every_way("ancient", &["set_aside"]);
}

#[test]
fn an_index_that_is_missing_damaged_or_behind_is_told() {
    let scan = "every message was searched";
    let env = library();
    env.run("search docker").ok().does_not_say(scan);
    env.run("search 错误").ok().does_not_say(scan);
    env.store().sql("DROP TABLE messages_fts");
    let ran = env.run("search docker --json").ok().says("the store has no full-text index");
    assert!(text(&ran.json()["warning"]).contains(scan));

    for damage in [
        "UPDATE messages_fts_data SET block = X'00' WHERE id > 1",
        "UPDATE messages_fts_data SET block = X'00' WHERE id > 10",
        "UPDATE messages_fts_data SET block = X'ffffffffffff'",
        "DELETE FROM messages_fts_data WHERE id > 10",
        "DELETE FROM messages_fts_idx; DELETE FROM messages_fts_data",
        "DROP TABLE messages_fts_data",
    ] {
        let env = library();
        env.store().sql(damage);
        let ran = env.run("search docker --json").ok().says("is damaged").says(scan);
        assert_eq!(ids(&ran), ["docker"], "{damage}");
    }

    let env = library();
    env.store().sql("DROP TRIGGER messages_fts_insert; DROP TRIGGER messages_fts_update");
    env.store().add(said("fresh", "docker again"));
    env.run("search docker").ok().says("lacks the newest messages");
    assert_finds_all(&env, "docker", &["docker", "fresh"]);
}

#[test]
fn a_family_is_found_once_cron_comes_last_and_helpers_not_at_all() {
    let env = Env::with([
        said("root", "alpha alpha alpha").with("end_reason", "compression"),
        said("tip", "alpha").child_of("root"),
        said("branch", "alpha beta").branch_of("root"),
        said("nightly", "alpha alpha").with("source", "cron"),
        said("other", "alpha and much more that makes it less relevant than the rest"),
        said("sub", "alpha").delegate_of("other"),
        said("third_party", "alpha").with("source", "tool"),
    ]);
    assert_finds(&env, "alpha", &["root", "other", "nightly"]);
    let two = env.run("search --json --limit 2 alpha").ok();
    assert_eq!(ids(&two), ["root", "other"]);
    assert_finds(&env, "beta", &["branch"]);
    let found = &env.run("search beta --json").ok().json()["results"][0];
    assert_eq!(found["parent_session_id"], "root");
    assert_finds(&env, "alpha --source cron", &["nightly"]);
    assert_finds(&env, "alpha --source tool", &["third_party"]);
    assert_finds(&env, "alpha --session-id tip", &["tip"]);
    assert_finds(&env, "alpha --exclude id=root --exclude id=tip", &["branch", "other", "nightly"]);
}

#[test]
fn finds_are_sorted_by_time_where_that_is_asked_for() {
    let env = Env::with([said("first", "x y z x"), said("second", "x"), said("third", "x x x x")]);
    assert_finds(&env, "x --sort newest", &["third", "second", "first"]);
    assert_finds(&env, "x --sort oldest", &["first", "second", "third"]);
    env.store().sql("DROP TABLE messages_fts");
    assert_finds(&env, "x --sort oldest", &["first", "second", "third"]);
}

fn long() -> Env {
    let mut talk = session("long").with("title", "a long talk");
    for n in 0..40 {
        let text: &'static str =
            format!("line {n:02} {}", if n == 20 { "needle" } else { "" }).leak();
        talk = if n % 2 == 0 { talk.user(text) } else { talk.assistant(text) };
    }
    Env::with([talk, said("child", "more").child_of("long")])
}

fn contents(messages: &Json) -> Vec<String> {
    messages
        .as_array()
        .unwrap()
        .iter()
        .map(|said| text(&said["content"]).trim().to_owned())
        .collect()
}

#[test]
fn a_find_stands_in_its_window_between_bookends() {
    let env = long();
    let found = env.run("search needle --json").ok().json();
    let keys: Vec<&str> =
        found["results"][0].as_object().unwrap().keys().map(String::as_str).collect();
    let wanted = "session_id when source model title matched_role match_message_id snippet \
                  bookend_start messages bookend_end messages_before messages_after";
    assert_eq!(keys, wanted.split_whitespace().collect::<Vec<_>>());
    let result = &found["results"][0];
    assert_eq!(result["when"], "July 10, 2026 at 12:00 AM");
    assert_eq!(result["snippet"], "line 20 >>>needle<<<");
    assert_eq!(contents(&result["bookend_start"]), ["line 00", "line 01", "line 02"]);
    assert_eq!(contents(&result["bookend_end"]), ["line 37", "line 38", "line 39"]);
    let window = contents(&result["messages"]);
    assert_eq!((window.len(), &*window[0], &*window[10]), (11, "line 15", "line 25"));
    assert_eq!(result["messages"][5]["anchor"], true);
    assert_eq!((&found["mode"], &found["count"]), (&"discover".into(), &1.into()));
}

#[test]
fn a_window_is_scrolled_to_both_ends_and_across_the_family() {
    let env = long();
    let scroll =
        |rest: &str| env.run(&format!("search --session-id long --json {rest}")).ok().json();
    let page = scroll("--around-message-id 21 --window 2");
    assert_eq!(
        contents(&page["messages"]),
        ["line 18", "line 19", "line 20 needle", "line 21", "line 22"]
    );
    let page = scroll("--around-message-id 1");
    assert_eq!((&page["messages_before"], &page["messages_after"]), (&0.into(), &5.into()));
    assert_eq!(scroll("--around-message-id 41")["session_id"], "child");
    env.run("search --session-id long --around-message-id 999").fails(1).says("message 999");
    env.run("search --around-message-id 1").fails(2);
    let whole = scroll("");
    assert_eq!((&whole["mode"], &whole["truncated"]), (&"read".into(), &true.into()));
    assert_eq!(whole["messages"].as_array().unwrap().len(), 30);
}

#[test]
fn without_a_query_the_last_active_conversations_are_shown() {
    let env = Env::with([
        said("old", "x"),
        said("by_sub", "x").with("source", "subagent"),
        said("branch", "x").branch_of("old"),
        said("new", "hello").with("started_at", NOW - HOUR),
    ]);
    let ran = env.run("search --json").ok();
    assert_eq!(ids(&ran), ["new", "old"]);
    assert_eq!(ran.json()["mode"], "browse");
    env.run_words(&["search", ""]).fails(2).says("QUERY is empty");
    env.run("search --sort newest").fails(2);
}

#[test]
fn a_title_is_found_first() {
    let env = Env::with([
        said("a", "other words").with("title", "deploy plan"),
        said("b", "deploy plan").with("title", "x"),
        said("c", "nothing").with("title", "deploy plan #2"),
    ]);
    assert_finds(&env, "'deploy plan'", &["c", "b"]);
    let first = &env.run("search --json 'deploy plan'").ok().json()["results"][0];
    assert_eq!(first["matched_role"], "session_title");
}

#[test]
fn what_is_found_reads_like_this() {
    let env = long();
    insta::assert_snapshot!(env.run("search needle").ok().seen(&env));
    insta::assert_snapshot!(
        env.run("search --session-id long --around-message-id 2 --window 1").ok().seen(&env)
    );
    insta::assert_snapshot!(env.run("search nowhere").ok().seen(&env));
}

#[test]
fn escape_sequences_are_shown_not_sent() {
    let env =
        Env::with([said("s", "needle \u{1b}]0;owned\u{7}\u{1b}[2J").with("title", "\u{1b}[31m")]);
    for line in
        ["search needle", "search --session-id s", "list", "show s", "show s --recap", "search"]
    {
        let ran = env.run(line).ok();
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains('\u{7}'), "{ran}");
    }
}

#[test]
fn finds_are_redacted_before_a_snippet_is_cut() {
    let token = ["ghp", "_", "R2vX8kQ1mZ", "7tLw4Yc9Bn", "3Hd6Js0PfG", "5aEuTi"].concat();
    let env = Env::with([session("s").user(format!("the token {token} needle")).assistant("ok")]);
    for line in ["search needle --redact", "search needle --redact --json", "show s --redact"] {
        let ran = env.run(line).ok();
        assert!(!ran.stdout.contains(&token[8..20]), "{ran}");
    }
}

#[test]
fn sessions_are_selected_by_what_was_said_in_them() {
    let env = library();
    let selected = |flags: &str| env.run(&format!("export - {flags}")).ok().ids();
    assert_eq!(selected("--match deployment"), ["docker", "kube"]);
    assert_eq!(selected("--match deployment --match containers"), ["kube"]);
    assert_eq!(selected("--match 'docker OR 数据库'"), ["docker", "chinese"]);
    assert_eq!(selected("--match 错误"), ["chinese"]);
    assert_eq!(selected("--match deployment --exclude id=kube"), ["docker"]);
    assert_eq!(selected("--match needle"), [""; 0]);
    env.run("export - --match AND").fails(2).says("--match");
    env.run_words(&["export", "-", "--match", ""]).fails(2).says("--match");
    env.store().sql("DROP TABLE messages_fts");
    env.run("export - --match deployment").ok().says("every message was searched");
    env.run("list --match deployment").ok().says("every message was searched");
    assert_eq!(selected("--match deployment"), ["docker", "kube"]);
}

#[test]
fn older_and_newer_stores_are_searched() {
    for schema in [&[OLDER][..], &[SCHEMA, NEWER]] {
        let env = Env::empty();
        Store::create(&env.db(), schema).add_all([talk("s0"), talk("s1")]);
        assert_finds_all(&env, "question", &["s0", "s1"]);
        assert_finds_all(&env, "'answer s1'", &["s1"]);
    }
}

#[test]
fn bytes_that_are_no_utf_8_are_searched_around() {
    let env = library();
    env.store().sql("UPDATE messages SET content = CAST(X'646f636b657220ff' AS TEXT) WHERE id = 1");
    assert_finds(&env, "docker", &["docker"]);
    env.store().sql("DROP TABLE messages_fts");
    assert_finds(&env, "docker", &["docker"]);
}

#[test]
fn a_long_query_is_no_damage() {
    let env = library();
    let words = vec!["docker"; 3000].join(" ");
    let ran = env.run_words(&["search", &words, "--json"]).ok().says("QUERY is long");
    assert_eq!(ids(&ran), ["docker"]);
    ran.does_not_say("damaged");
    let words = vec!["docker"; 280].join(" NOT ");
    env.run_words(&["search", &words]).ok().does_not_say("damaged");
}

#[test]
fn a_role_that_nobody_has_is_a_mistake() {
    library().run("search docker --role bogus").fails(2).says("there are user, assistant, tool");
}
