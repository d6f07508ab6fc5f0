//! `show`, `resolve` and `stats`.

use serde_json::Value as Json;

use crate::env::{Env, text};
use crate::store::{HOUR, NOW, OLDER, Store, session, talk};

fn conversation() -> Env {
    let lines = (1..=30).map(|n| format!("out {n}")).collect::<Vec<_>>().join("\n");
    Env::with([
        session("20260710_000000_aaaaaa")
            .with("title", "fix the build")
            .with("model", "some/model")
            .with("cwd", "/src/api")
            .with("git_branch", "main")
            .user("please fix it")
            .message("assistant")
            .and("reasoning", "let me think")
            .and("tool_calls", r#"[{"id": "c", "function": {"name": "terminal", "arguments": "{\"command\": \"make\"}"}}]"#)
            .message("tool")
            .and("tool_name", "terminal")
            .and("content", lines)
            .assistant("Done.\nAll\nof\nit.")
            .user("never mind")
            .rewound(),
        talk("other"),
    ])
}

#[test]
fn a_session_is_shown_like_this() {
    let env = conversation();
    insta::assert_snapshot!(env.run("show 'fix the build'").ok().seen(&env));
    insta::assert_snapshot!(env.run("show 20260710 --recap").ok().seen(&env));
    let full = env.run("show 20260710 --full --messages all").ok();
    for text in ["let me think", "out 30", "never mind", "taken back"] {
        assert!(full.stdout.contains(text), "{full}");
    }
    env.run("show nothing").fails(1).says("no session has the id");
    env.run_words(&["show", ""]).fails(2);
}

#[test]
fn a_session_is_shown_as_json_too() {
    let env = conversation();
    let shown = env.run("show 20260710 --json").ok().json();
    assert_eq!(shown["session"]["title"], "fix the build");
    let roles: Vec<String> =
        shown["messages"].as_array().unwrap().iter().map(|said| text(&said["role"])).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(
        env.run("show other --json --recap").ok().json()["recap"]["turns"][0]["role"],
        "user"
    );
}

#[test]
fn a_recap_is_the_last_ten_exchanges_cut_short() {
    let mut talk = session("long").message("system").and("content", "be kind");
    for n in 0..15 {
        let question: &'static str = format!("question {n} {}", "x".repeat(400)).leak();
        talk = talk.user(question);
        for tool in ["terminal", "terminal", "web_search"] {
            let call: &'static str = format!(r#"[{{"name": "{tool}", "input": {{}}}}]"#).leak();
            talk = talk.message("assistant").and("tool_calls", call);
            talk = talk.message("tool").and("content", "secret output");
        }
        talk = talk.assistant("a\nb\nc\nd").and("reasoning", "hidden thought");
    }
    let env = Env::with([talk]);
    let recap = &env.run("show long --recap --json").ok().json()["recap"];
    assert_eq!(recap["earlier"], 10);
    let turns = recap["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 20);
    assert_eq!(text(&turns[0]["text"]).chars().count(), 303);
    assert!(text(&turns[0]["text"]).starts_with("question 5 "));
    assert_eq!(turns[1]["text"], "a\nb\nc ...");
    assert_eq!(turns[1]["tool_calls"], "[3 tool calls: terminal, web_search]");
    let seen = env.run("show long --recap").ok().says("").stdout;
    assert!(seen.contains("10 earlier messages"));
    for hidden in ["secret output", "hidden thought", "be kind"] {
        assert!(!seen.contains(hidden), "{seen}");
    }
}

#[test]
fn a_name_means_a_session() {
    let env = Env::with([
        session("20260710_000000_aaaaaa").with("title", "project"),
        session("20260711_000000_bbbbbb")
            .with("title", "project #2")
            .with("end_reason", "compression"),
        session("20260712_000000_cccccc").child_of("20260711_000000_bbbbbb").running(),
        session("20260713_000000_dddddd").with("title", "50% off").with("source", "telegram"),
        session("20260713_000001_eeeeee").with("title", "50 of #off"),
    ]);
    let means = |name: &str| env.run_words(&["resolve", name]).ok().stdout.trim_end().to_owned();
    assert_eq!(means("project"), "20260712_000000_cccccc");
    assert_eq!(means("project #2"), "20260712_000000_cccccc");
    assert_eq!(means("20260710"), "20260710_000000_aaaaaa");
    assert_eq!(means("20260711_000000_bbbbbb"), "20260711_000000_bbbbbb");
    assert_eq!(means("50% off"), "20260713_000000_dddddd");
    env.run("resolve 20260713").fails(1).says("more than one id");
    env.run("resolve 50_").fails(1);
    env.run_words(&["resolve", ""]).fails(2);
    env.run("resolve").ends(2);
    let latest = env.run("resolve --latest --source telegram").ok().stdout;
    assert_eq!(latest, "20260713_000000_dddddd\n");
    env.run("resolve --latest --source nowhere").fails(1).says("no such session");
}

fn busy() -> Env {
    let spent = |id: &'static str, source: &'static str, tokens: i64| {
        talk(id)
            .with("source", source)
            .with("input_tokens", tokens)
            .with("output_tokens", 1)
            .with("estimated_cost_usd", 0.5)
            .with("api_call_count", 2)
    };
    Env::with([
        spent("a", "cli", 10).with("model", "m1").with("end_reason", "compression"),
        spent("b", "cli", 20).child_of("a").running(),
        spent("c", "telegram", 30).with("actual_cost_usd", 2.0).with("archived", 1),
        spent("d", "subagent", 40).delegate_of("a").message("tool").and("tool_name", "grep"),
        spent("e", "matrix", 50)
            .branch_of("c")
            .user("oops")
            .rewound()
            .with("started_at", NOW - HOUR),
    ])
}

#[test]
fn sums_add_up() {
    let env = busy();
    for by in ["source", "model", "day"] {
        let stats = env.run(&format!("stats --json --by {by}")).ok().json();
        let groups = stats["groups"].as_array().unwrap();
        let sum = |key: &str| groups.iter().map(|group| group[key].as_f64().unwrap()).sum::<f64>();
        for (key, total) in [
            ("sessions", &stats["sessions"]["total"]),
            ("messages", &stats["messages"]["total"]),
            ("input_tokens", &stats["tokens"]["input"]),
            ("output_tokens", &stats["tokens"]["output"]),
            ("cost_usd", &stats["cost_usd"]),
            ("api_calls", &stats["api_calls"]),
        ] {
            assert_eq!(Some(sum(key)), total.as_f64(), "{key} by {by}");
        }
    }
}

#[test]
fn kinds_states_sizes_and_tools_are_counted() {
    let env = busy();
    let stats = env.run("stats --json --by tool").ok().json();
    let wanted = serde_json::json!({
        "total": 5, "conversations": 2, "branches": 1, "continuations": 1, "delegates": 1,
        "archived": 1, "running": 1,
    });
    assert_eq!(stats["sessions"], wanted);
    assert_eq!(stats["messages"], serde_json::json!({ "total": 12, "active": 11 }));
    assert_eq!(stats["cost_usd"], 4.0);
    assert_eq!(stats["groups"][0]["name"], "grep");
    let bytes = &stats["bytes"];
    let tables: u64 = bytes["tables"].as_object().unwrap().values().filter_map(Json::as_u64).sum();
    assert!(
        tables > 0 && tables <= bytes["file"].as_u64().unwrap() + bytes["wal"].as_u64().unwrap()
    );
    let narrow = env.run("stats --json --source cli").ok().json();
    assert_eq!(narrow["sessions"]["total"], 2);
}

#[test]
fn stats_read_like_this() {
    let env = busy();
    let seen = env.run("stats").ok().seen(&env);
    // The sizes are SQLite's affair.
    let lines = seen.lines().filter(|line| !line.contains(" MB") && !line.contains(" kB"));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn older_stores_are_shown_and_counted() {
    let env = Env::empty();
    Store::create(&env.db(), &[OLDER]).add_all([talk("s000"), talk("s001").child_of("s000")]);
    assert_eq!(env.run("stats --json").ok().json()["messages"]["active"], 4);
    assert!(env.run("show s001").ok().stdout.contains("question of s001"));
    assert_eq!(env.run("resolve s000").ok().stdout, "s000\n");
}

#[test]
fn behind_two_hyphens_a_name_may_look_like_a_flag() {
    let env = Env::with([session("odd").with("title", "--latest").user("q")]);
    assert_eq!(env.run("resolve -- --latest").ok().stdout, "odd\n");
    assert!(env.run("show -- --latest").ok().stdout.contains("odd"));
    env.run("show ''").fails(2);
}

#[test]
fn a_store_that_another_locked_whole_is_in_use_for_whoever_shows_it() {
    let env = Env::with([talk("s0")]);
    let other = env.store();
    other.sql("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    for line in ["show s0", "show s0 --recap", "list", "search x", "stats", "resolve s0"] {
        env.run(line).fails(3);
    }
}
