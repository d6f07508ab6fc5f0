//! `delete` and `prune`: what goes, what goes along, what stays, and what was asked.

use std::fs;
use std::process::Stdio;

use crate::env::Env;
use crate::store::{HOUR, NOW, START, Session, session, talk};

const DAY: f64 = 24.0 * HOUR;

/// A session that started, spoke and ended so many days ago.
fn aged(id: &'static str, days: f64) -> Session {
    let start = NOW - days * DAY;
    session(id)
        .with("started_at", start)
        .with("ended_at", start + 60.0)
        .user("hello")
        .and("timestamp", start)
}

fn ids(env: &Env) -> Vec<String> {
    env.store().session_ids()
}

fn assert_sound(env: &Env) {
    let store = env.store();
    assert_eq!(store.column("PRAGMA integrity_check"), ["ok"]);
    assert_eq!(store.column("SELECT 1 FROM pragma_foreign_key_check"), Vec::<String>::new());
    for table in ["messages_fts", "messages_fts_trigram"] {
        store.sql(&format!("INSERT INTO {table}({table}) VALUES ('integrity-check')"));
        let strays = format!("FROM {table} WHERE rowid NOT IN (SELECT id FROM messages)");
        assert_eq!(store.count(&strays), 0, "{table}");
    }
}

/// A parent with all kinds of children.
fn family() -> Env {
    let both = r#"{"_branched_from": "p", "_delegate_from": "p"}"#;
    Env::with([
        talk("p").with("end_reason", "compression"),
        talk("delegate").delegate_of("p"),
        talk("delegate-of-delegate").delegate_of("delegate"),
        talk("branch").branch_of("p"),
        talk("branch-of-both").child_of("p").with("model_config", both),
        talk("continuation").child_of("p"),
        talk("stranger"),
    ])
}

#[test]
fn delegates_go_along_and_branches_and_continuations_stay() {
    for line in
        ["delete p --yes", "prune --session-id p --yes", "prune --end-reason compression -y"]
    {
        let env = family();
        let ran =
            env.run(&format!("{line} --json")).ok().says("Deleted 3 sessions with 6 messages");
        assert_eq!(ran.json()["deleted"]["sessions"], 3);
        assert_eq!(ids(&env), ["branch", "branch-of-both", "continuation", "stranger"], "{line}");
        let parents = "FROM sessions WHERE parent_session_id IS NOT NULL";
        assert_eq!(env.store().count(parents), 0);
        assert_eq!(env.store().count("FROM messages"), 8);
        assert_sound(&env);
    }
}

#[test]
fn a_circle_of_delegates_goes_once() {
    let env = Env::with([talk("a").delegate_of("b"), talk("b").delegate_of("a"), talk("c")]);
    env.run("delete a --yes").ok().says("Deleted 2 sessions");
    assert_eq!(ids(&env), ["c"]);
}

#[test]
fn a_bare_prune_takes_what_was_last_spoken_in_long_ago() {
    let long_lived = aged("long-lived", 200.0).user("today").and("timestamp", NOW - HOUR);
    let env = Env::with([
        aged("old", 91.0),
        aged("young", 89.0),
        long_lived,
        aged("running", 200.0).running(),
        aged("archived", 200.0).with("archived", 1),
    ]);
    env.run("prune --yes").ok().says("Deleted 1 session with 1 message");
    assert_eq!(ids(&env), ["archived", "long-lived", "running", "young"]);
    env.run("prune --include-archived --yes").ok();
    assert_eq!(ids(&env), ["long-lived", "running", "young"]);
}

#[test]
fn any_filter_lifts_the_ninety_days() {
    let env = Env::with([
        aged("young", 1.0).with("source", "cron"),
        aged("other", 1.0),
        aged("running", 1.0).with("source", "cron").running(),
    ]);
    env.run("prune --source cron --yes").ok().says("1 running session also matches");
    assert_eq!(ids(&env), ["other", "running"]);
    env.run("prune --max-messages 0 --yes").ok().says("no session matches");
    env.run("prune --session-id running --yes").ok().says("no session matches");
    assert_eq!(ids(&env), ["other", "running"]);
}

#[test]
fn an_empty_value_deletes_nothing() {
    let env = Env::with([talk("s0"), talk("s1")]);
    for flag in
        ["--source", "--title", "--cwd", "--model", "--user", "--session-id", "--older-than"]
    {
        env.run(&format!("prune {flag} '' --yes")).fails(2).says(flag);
    }
    env.run("delete '' --yes").fails(2);
    env.run("prune --include-open --yes").fails(2).says("running");
    env.run("prune --older-than abc --yes").fails(2);
    env.run("delete nope --yes").fails(1).says("no session has the id `nope`");
    env.run("delete s0 nope --yes").fails(1);
    assert_eq!(ids(&env), ["s0", "s1"]);
}

#[test]
fn a_dry_run_lists_all_and_deletes_nothing() {
    let env = family();
    let before = fs::read(env.db()).unwrap();
    let ran = env.run("prune --older-than 0 --dry-run").ok();
    assert_eq!(ran.stdout.lines().count(), 7, "{ran}");
    ran.says("Would delete 7 sessions with 14 messages (oldest 2026-07-10 00:00, newest 2026-07-10 06:00)");
    env.run("delete p --dry-run").ok().says("1 session with 2 messages and 2 sessions that worked");
    assert_eq!(fs::read(env.db()).unwrap(), before);
}

#[test]
fn who_cannot_be_asked_must_have_said_yes() {
    let env = family();
    for line in ["delete p", "prune --older-than 0", "archive --older-than 0"] {
        env.run(line).fails(2).says("nobody can be asked whether to").says("--yes goes ahead");
    }
    assert_eq!(ids(&env).len(), 7);
    // Where there is nothing to ask about, nothing is asked.
    env.run("prune --source nowhere").ok().says("no session matches");
}

#[test]
fn more_sessions_than_sqlite_takes_values_go_in_one_transaction() {
    let env = Env::empty();
    crate::store::Store::create(&env.db(), &[crate::store::SCHEMA]).sql(
        "INSERT INTO sessions (id, source, started_at, ended_at) \
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 33000) \
         SELECT 'cron_' || n, 'cron', n, n + 1 FROM n",
    );
    env.store().add(talk("other"));
    env.run("prune --source cron --yes").ok().says("Deleted 33000 sessions");
    assert_eq!(ids(&env), ["other"]);
}

#[test]
fn the_files_of_exactly_the_deleted_sessions_go() {
    let env = Env::with([
        talk("abc"),
        talk("abc_d"),
        talk("*"),
        talk("../esc"),
        talk("d").delegate_of("abc"),
    ]);
    let folder = env.hermes("sessions");
    fs::create_dir(&folder).unwrap();
    fs::create_dir(folder.join("abc.json.d")).unwrap();
    let files = [
        "abc.json",
        "abc.jsonl",
        "session_abc.json",
        "request_dump_abc_1.json",
        "request_dump_abc_20260705_091523_000001.json",
        "d.json",
        "abc_d.json",
        "request_dump_abc_d_1.json",
        "request_dump_other_1.json",
        "other.json",
    ];
    for file in files {
        fs::write(folder.join(file), file).unwrap();
    }
    fs::write(env.hermes("esc.json"), "outside").unwrap();
    let left = || crate::tree::names(&folder);
    env.run("delete --yes -- '*' ../esc").ok();
    assert_eq!(left().len(), files.len() + 1);
    assert!(env.hermes("esc.json").exists());
    env.run("delete abc --yes").ok().says("and 6 files");
    let wanted = [
        "abc.json.d/",
        "abc_d.json",
        "other.json",
        "request_dump_abc_d_1.json",
        "request_dump_other_1.json",
    ];
    assert_eq!(left(), wanted);
}

#[cfg(unix)]
#[test]
fn a_planted_link_is_removed_and_what_it_leads_to_stays() {
    let env = Env::with([talk("abc")]);
    fs::create_dir(env.hermes("sessions")).unwrap();
    fs::write(env.work("precious"), "x").unwrap();
    std::os::unix::fs::symlink(env.work("precious"), env.hermes("sessions/abc.json")).unwrap();
    env.run("delete abc --yes").ok();
    assert!(env.work("precious").exists());
    assert!(env.hermes("sessions/abc.json").symlink_metadata().is_err());
}

#[test]
fn what_is_pruned_can_be_kept_in_a_file_first() {
    let env = family();
    // A time that no short decimal says.
    env.store().sql("UPDATE messages SET timestamp = 1783641600.1234567 + id");
    env.run("prune --end-reason compression --export-to kept --yes")
        .ok()
        .says("Deleted 3 sessions");
    assert_eq!(ids(&env), ["branch", "branch-of-both", "continuation", "stranger"]);
    let kept = env.jsonl("kept/pruned-20260731T120000Z.jsonl");
    let kept: Vec<&str> = kept.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(kept, ["p", "delegate", "delegate-of-delegate"]);
    env.run("verify kept").ok();
    // The next one of the same second does not take its place.
    env.run("prune --session-id stranger --export-to kept --yes").ok();
    assert_eq!(env.jsonl("kept/pruned-20260731T120000Z-2.jsonl")[0]["id"], "stranger");
    assert_eq!(env.jsonl("kept/pruned-20260731T120000Z.jsonl").len(), 3);
    assert_sound(&env);
}

#[test]
fn what_cannot_be_kept_is_not_pruned() {
    let env = Env::with([talk("s0"), session("s1").user(vec![0_u8, 255, 1])]);
    env.run("prune --older-than 0 --export-to kept --yes").ends(1).says("nothing was deleted");
    fs::write(env.work("file"), "x").unwrap();
    env.run("prune --older-than 0 --export-to file/kept --yes").fails(1).says("file/kept");
    env.run("prune --older-than 0 --export-to '' --yes").fails(2);
    assert_eq!(ids(&env), ["s0", "s1"]);
}

#[test]
fn older_and_newer_stores_are_pruned_as_well() {
    for schema in [&[crate::store::OLDER][..], &[crate::store::SCHEMA, crate::store::NEWER][..]] {
        let env = Env::empty();
        crate::store::Store::create(&env.db(), schema).sql(&format!(
            "INSERT INTO sessions (id, source, started_at, ended_at) \
             VALUES ('s0', 'cli', {START}, {START}), ('s1', 'cli', {NOW}, {NOW}); \
             INSERT INTO messages (session_id, role, content, timestamp) \
             VALUES ('s0', 'user', 'x', {START}), ('s1', 'user', 'y', {NOW})"
        ));
        env.run("prune --older-than 1d --yes").ok().says("Deleted 1 session with 1 message");
        assert_eq!(ids(&env), ["s1"]);
        assert_eq!(env.store().column("PRAGMA integrity_check"), ["ok"]);
    }
}

#[test]
fn a_store_that_stays_locked_is_in_use() {
    let env = Env::with([talk("s0")]);
    let holder = env.store();
    holder.sql("BEGIN IMMEDIATE");
    let lines = [
        "delete s0 --yes",
        "rename s0 x",
        "archive --older-than 0 -y",
        "repair",
        "repair --check-only",
    ];
    let running: Vec<_> = lines
        .iter()
        .map(|line| {
            let mut command = env.command(&line.split(' ').collect::<Vec<_>>());
            (line, command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
        })
        .collect();
    for (line, child) in running {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{line}: {said}");
        assert!(said.contains("the store is in use by another process"), "{line}: {said}");
    }
    holder.sql("COMMIT");
    assert_eq!(ids(&env), ["s0"]);
    assert!(!crate::tree::names(&env.hermes("")).iter().any(|name| name.contains("repair")));
}

#[test]
fn a_prune_that_is_killed_took_all_or_nothing() {
    let (mut nothing, mut all) = (0, 0);
    for kill in 0..12_u64 {
        let env = Env::with((0..150).map(|n| {
            let id = format!("s{n:03}");
            session(id.clone()).user(id.repeat(2000)).assistant("ok")
        }));
        let wal = env.hermes("state.db-wal");
        let mut child = env
            .command(&["prune", "--older-than", "0", "--yes"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let size = || fs::metadata(&wal).map_or(0, |meta| meta.len());
        while size() < kill * 200_000 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let store = env.store();
        let counts = (store.count("FROM sessions"), store.count("FROM messages"));
        assert!(counts == (150, 300) || counts == (0, 0), "{counts:?}");
        if counts.0 == 0 {
            all += 1;
        } else {
            nothing += 1;
        }
        assert_sound(&env);
    }
    assert!(nothing > 0, "no run was killed before its end: {all}");
}
