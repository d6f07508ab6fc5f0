//! Filters mean what they say.

use crate::env::Env;
use crate::store::{session, talk};

/// Exactly these sessions pass.
#[track_caller]
fn assert_passes(env: &Env, flags: &str, wanted: &[&str]) {
    let ran = env.run(&format!("export - {flags}")).ok();
    assert_eq!(ran.ids(), wanted, "{flags}\n{}", ran.stderr);
}

#[test]
fn folders_are_compared_by_component_and_in_their_case() {
    let env = Env::with([
        session("under").with("cwd", "/home/a_b/x"),
        session("pattern").with("cwd", "/home/aXb/x"),
        session("capital").with("cwd", "/HOME/A_B/y"),
        session("root").with("cwd", "/"),
        session("sibling").with("cwd", "/home/a_bc"),
        session("itself").with("cwd", "/home/a_b"),
        session("percent").with("cwd", "/home/a%"),
        session("none"),
    ]);
    assert_passes(&env, "--cwd /home/a_b", &["under", "itself"]);
    assert_passes(&env, "--cwd /home/a_b/", &["under", "itself"]);
    assert_passes(&env, "--cwd /home/a%", &["percent"]);
    assert_passes(&env, "--cwd /home/a", &[]);
    assert_passes(
        &env,
        "--cwd /",
        &["under", "pattern", "capital", "root", "sibling", "itself", "percent"],
    );
}

#[test]
fn a_tilde_that_no_shell_expanded_is_the_home() {
    let env = Env::empty();
    let home = env.root().join("home").display().to_string();
    let sessions =
        [session("in").with("cwd", format!("{home}/p")), session("out").with("cwd", "/p")];
    crate::store::Store::create(&env.db(), &[crate::store::SCHEMA]).add_all(sessions);
    assert_passes(&env, "--cwd ~/p", &["in"]);
    assert_passes(&env, "--cwd ~", &["in"]);
}

#[test]
fn titles_are_literal_parts_in_any_case_and_script() {
    let env = Env::with([
        session("cyrillic").with("title", "Отчёт за июль"),
        session("percent").with("title", "100% done"),
        session("bottles").with("title", "100 bottles"),
        session("german").with("title", "ÜBER plan"),
        session("decomposed").with("title", "re\u{301}sume\u{301}"),
        session("sharp").with("title", "Große Straße"),
        session("underscore").with("title", "a_b"),
        session("none"),
    ]);
    assert_passes(&env, "--title отчёт", &["cyrillic"]);
    assert_passes(&env, "--title ОТЧЁТ", &["cyrillic"]);
    assert_passes(&env, "--title 100%", &["percent"]);
    assert_passes(&env, "--title über", &["german"]);
    assert_passes(&env, "--title RÉSUMÉ", &["decomposed"]);
    assert_passes(&env, "--title STRASSE", &["sharp"]);
    assert_passes(&env, "--title _", &["underscore"]);
    assert_passes(&env, "--title *", &[]);
}

#[test]
fn models_branches_and_providers_are_found_in_any_case() {
    let env = Env::with([
        session("a")
            .with("model", "Anthropic/Claude")
            .with("git_branch", "Feat/X")
            .with("billing_provider", "OpenRouter"),
        session("b")
            .with("model", "gpt")
            .with("git_branch", "main")
            .with("billing_provider", "openrouter2"),
        session("c"),
    ]);
    assert_passes(&env, "--model CLAUDE", &["a"]);
    assert_passes(&env, "--branch feat/x", &["a"]);
    assert_passes(&env, "--branch A", &["a", "b"]);
    assert_passes(&env, "--provider OPENROUTER", &["a"]);
}

#[test]
fn sources_reasons_users_and_chats_are_exact() {
    let env = Env::with([
        session("a")
            .with("source", "telegram")
            .with("user_id", "7")
            .with("chat_id", "-100123")
            .with("chat_type", "group")
            .with("end_reason", "timeout"),
        session("b")
            .with("source", "Telegram")
            .with("user_id", "77")
            .with("chat_id", "100123")
            .with("chat_type", "Group")
            .with("end_reason", "timeout2"),
    ]);
    for flags in [
        "--source telegram",
        "--user 7",
        "--chat-id -100123",
        "--chat-id=-100123",
        "--chat-type group",
        "--end-reason timeout",
        "--source telegram --user 7 --chat-id -100123",
    ] {
        assert_passes(&env, flags, &["a"]);
    }
    assert_passes(&env, "--source telegram --user 77", &[]);
    assert_passes(&env, "--source tele", &[]);
}

#[test]
fn numbers_are_bounds_that_include_themselves() {
    let counted = |id, messages: i64, tools: i64, input: i64, output: i64| {
        session(id)
            .with("message_count", messages)
            .with("tool_call_count", tools)
            .with("input_tokens", input)
            .with("output_tokens", output)
    };
    let env = Env::with([
        counted("none", 0, 0, 0, 0),
        counted("few", 5, 1, 60, 40).with("estimated_cost_usd", 0.5),
        counted("many", 10, 9, 3_000_000_000, 3_000_000_000)
            .with("estimated_cost_usd", 0.1)
            .with("actual_cost_usd", 2.0),
    ]);
    assert_passes(&env, "--min-messages 5", &["few", "many"]);
    assert_passes(&env, "--max-messages 5", &["none", "few"]);
    assert_passes(&env, "--min-messages 5 --max-messages 5", &["few"]);
    assert_passes(&env, "--max-messages 0", &["none"]);
    assert_passes(&env, "--min-tool-calls 1 --max-tool-calls 8", &["few"]);
    assert_passes(&env, "--min-tokens 100 --max-tokens 100", &["few"]);
    assert_passes(&env, "--min-cost 0.5 --max-cost 1", &["few"]);
    assert_passes(&env, "--min-cost 2", &["many"]);
    assert_passes(&env, "--max-cost 0", &["none"]);
    assert_passes(&env, "--max-cost 0.1", &["none"]);
}

#[test]
fn tokens_may_be_many() {
    let env = Env::with([session("many").with("input_tokens", 6_000_000_000_i64), session("few")]);
    assert_passes(&env, "--min-tokens 5000000000", &["many"]);
}

#[test]
fn excluded_sessions_are_left_out_and_counted() {
    let env = Env::with([
        session("keep").with("title", "Plan").with("source", "cli"),
        session("cron_1").with("source", "cron"),
        session("cron_2").with("source", "cron").with("model", "gpt-4"),
        session("draft")
            .with("title", "Draft [1]")
            .with("cwd", "/tmp/x/y")
            .with("git_branch", "wip/1"),
    ]);
    for (flags, wanted, left_out) in [
        ("--exclude source=cron", &["keep", "draft"][..], 2),
        ("--exclude id=cron_*", &["keep", "draft"], 2),
        ("--exclude model=gpt-?", &["keep", "cron_1", "draft"], 1),
        ("--exclude title=Draft*", &["keep", "cron_1", "cron_2"], 1),
        ("--exclude title=draft*", &["keep", "cron_1", "cron_2", "draft"], 0),
        ("--exclude cwd=/tmp/**", &["keep", "cron_1", "cron_2"], 1),
        ("--exclude 'branch={wip,old}/*'", &["keep", "cron_1", "cron_2"], 1),
        ("--exclude source=cron --exclude id=keep", &["draft"], 3),
        ("--exclude source=cron --source cli", &["keep", "draft"], 0),
        (
            "--exclude chat-type=group --exclude provider=x",
            &["keep", "cron_1", "cron_2", "draft"],
            0,
        ),
    ] {
        let ran = env.run(&format!("export - {flags}")).ok();
        assert_eq!(ran.ids(), wanted, "{flags}");
        let note = match left_out {
            0 => String::new(),
            1 => "note: 1 session left out by --exclude".to_owned(),
            n => format!("note: {n} sessions left out by --exclude"),
        };
        assert!(ran.stderr.contains(&note), "{ran}");
        assert_eq!(ran.stderr.contains("left out"), left_out > 0, "{ran}");
    }
    let json = env.run("export --dry-run --json --exclude source=cron").ok().json();
    assert_eq!((&json["matched"], &json["excluded"]), (&2.into(), &2.into()));
}

#[test]
fn filters_leave_running_sessions_out_and_say_so() {
    let env = Env::with([
        talk("open1").with("source", "telegram").running(),
        talk("open2").with("source", "telegram").running(),
        talk("ended1").with("source", "cli"),
        talk("ended2").with("source", "telegram"),
    ]);
    let ran = env.run("export - --source telegram").ok();
    assert_eq!(ran.ids(), ["ended2"]);
    ran.says("note: 2 running sessions also match; --include-open adds them");
    let ran = env.run("export - --source telegram --exclude id=open2").ok();
    ran.says("note: 1 running session also matches").says("note: 1 session left out");
    let ran = env.run("export - --source telegram --include-open").ok();
    assert_eq!(ran.ids(), ["open1", "open2", "ended2"]);
    ran.does_not_say("note: ");
    assert_eq!(env.run("export -").ok().ids(), ["open1", "open2", "ended1", "ended2"]);
    assert_eq!(env.run("export - --session-id open1").ok().ids(), ["open1"]);
    assert_passes(&env, "--source cli", &["ended1"]);
    env.run("export - --source cli").ok().does_not_say("running");
}

#[test]
fn archived_sessions_are_exported() {
    let env = Env::with([talk("archived").with("archived", 1), talk("other")]);
    assert_passes(&env, "--source cli", &["archived", "other"]);
    assert_passes(&env, "", &["archived", "other"]);
}

#[test]
fn filters_of_different_kinds_all_apply() {
    let env = Env::with([
        session("a").with("title", "x").with("cwd", "/w").with("message_count", 3),
        session("b").with("title", "x2").with("cwd", "/w").with("message_count", 1),
        session("c").with("title", "x3").with("cwd", "/v").with("message_count", 3),
    ]);
    assert_passes(&env, "--title x --cwd /w --min-messages 2 --newer-than 10w", &["a"]);
}

#[test]
fn nothing_that_matches_is_no_failure_and_writes_nothing() {
    let env = Env::with([talk("s0")]);
    env.run("export - --source absent").ok().says("no session matches");
    env.run("export all.jsonl --source absent").ok().says("no session matches");
    assert_eq!(crate::tree::names(&env.work("")), Vec::<String>::new());
    env.run("export all.jsonl").ok();
    let before = crate::tree::Tree::of(&env.work(""));
    env.run("export all.jsonl --source absent").ok();
    crate::tree::Tree::of(&env.work("")).assert_is(&before);
}

#[test]
fn quotes_and_wildcards_of_sql_are_only_text() {
    let env = Env::with([session("quote").with("title", "it's \" 1=1 --"), session("other")]);
    let passes = |title: &str| env.run_words(&["export", "-", "--title", title]).ok().ids();
    assert_eq!(passes("it's"), ["quote"]);
    assert_eq!(passes("\" 1=1 --"), ["quote"]);
    assert_eq!(passes("' OR 1=1 --"), Vec::<String>::new());
}
