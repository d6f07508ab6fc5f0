//! Backups, restores and cold archives that are killed: no half file, nothing lost, and the next run ends it.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::env::{Env, parsed_lines, text};
use crate::store::{Store, session};

const SESSIONS: usize = 200;

fn home() -> Env {
    let env = Env::with((0..SESSIONS).map(|n| {
        let words: Vec<String> =
            (0..600).map(|m| ((n * 7919 + m * 104_729) % 99_991).to_string()).collect();
        session(format!("s{n:03}")).user(words.join(" ")).assistant(format!("answer {n}"))
    }));
    env.store().sql("SELECT 1"); // beside a WAL, files are published as they become whole
    env
}

fn start(env: &Env, arguments: &[&str]) -> Child {
    env.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a run as soon as something has grown so far; false where it ended before.
fn kill(mut child: Child, grown: impl Fn() -> u64, point: u64) -> bool {
    let begun = Instant::now();
    while grown() < point {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "the run neither goes on nor ends");
        thread::yield_now();
    }
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

fn bytes(env: &Env, names: &[&str]) -> u64 {
    names.iter().map(|name| fs::metadata(env.work(name)).map_or(0, |meta| meta.len())).sum()
}

/// The ids of the sessions that a folder has whole files of.
fn kept(env: &Env, folder: &str) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    for file in fs::read_dir(env.work(folder)).into_iter().flatten() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|suffix| suffix == "zst") {
            let text = zstd::decode_all(fs::File::open(&path).unwrap()).unwrap();
            let text = String::from_utf8(text).unwrap();
            kept.extend(parsed_lines(&text).iter().map(|line| crate::env::text(&line["id"])));
        }
    }
    kept
}

#[test]
fn a_killed_backup_has_whole_files_and_the_next_run_completes_it() {
    let env = home();
    let mut killed = 0;
    for point in [1, 20_000, 60_000] {
        let grown = || bytes(&env, &["b/manifest.jsonl"]);
        killed += usize::from(kill(start(&env, &["backup", "b"]), grown, point));
        let listed = fs::read_to_string(env.work("b/manifest.jsonl")).unwrap_or_default();
        let kept = kept(&env, "b");
        assert!(listed.lines().count() <= kept.len(), "a line without its file");
    }
    assert!(killed > 0, "no run was caught");
    env.run("-q backup b").ok().silent();
    env.run("verify b --against-store").ok().says("200 files intact");
    assert_eq!(kept(&env, "b").len(), SESSIONS);
}

#[test]
fn a_killed_restore_has_whole_sessions_and_the_next_one_does_the_rest() {
    let env = home();
    env.run("backup b").ok();
    let mut killed = 0;
    for point in [1, 300_000, 900_000] {
        let grown = || bytes(&env, &["new.db", "new.db-wal"]);
        killed +=
            usize::from(kill(start(&env, &["restore", "b", "--into", "new.db"]), grown, point));
        if env.work("new.db").exists() {
            let store = Store::open(&env.work("new.db"));
            assert_eq!(store.column("PRAGMA integrity_check"), ["ok"]);
            let partial = "SELECT id FROM sessions s WHERE message_count != \
                           (SELECT count(*) FROM messages m WHERE m.session_id = s.id)";
            assert!(store.column(partial).is_empty());
        }
    }
    assert!(killed > 0, "no run was caught");
    env.run("restore b --into new.db").ok();
    let all = "export - --messages all";
    assert_eq!(env.run(&format!("--db new.db {all}")).ok().stdout, env.run(all).ok().stdout);
}

#[test]
fn of_a_killed_cold_archive_every_session_is_in_the_store_or_in_the_folder() {
    let env = home();
    let all: BTreeSet<String> = env.store().session_ids().into_iter().collect();
    let before = env.run("export - --messages all").ok().stdout;
    let archive = ["archive", "--cold", "cold", "--older-than", "0", "--yes"];
    let mut killed = 0;
    for point in [1, 40_000, 90_000] {
        let grown = || bytes(&env, &["cold/manifest.jsonl"]);
        killed += usize::from(kill(start(&env, &archive), grown, point));
        let mut there = kept(&env, "cold");
        there.extend(env.store().session_ids());
        assert_eq!(there, all);
        assert_eq!(env.store().column("PRAGMA integrity_check"), ["ok"]);
    }
    assert!(killed > 0, "no run was caught");
    env.run_words(&archive).ok();
    assert_eq!(env.store().count("FROM sessions"), 0);
    // A kill between a line and its end leaves nothing to mend.
    let lines = parsed_lines(&(env.text("cold/manifest.jsonl").trim_end().to_owned() + "\n"));
    let gone: BTreeSet<String> =
        lines.iter().filter(|l| l["gone_at"].is_number()).map(|l| text(&l["session_id"])).collect();
    assert_eq!(gone, all);
    env.run("verify cold").ok().says("200 files intact");
    env.run("restore cold --into ../home/.hermes/state.db").ok();
    assert_eq!(env.run("export - --messages all").ok().stdout, before);
}

#[test]
fn marks_that_a_killed_cold_archive_did_not_write_are_written_when_nothing_is_left_to_move() {
    let env = Env::with((0..3).map(|n| session(format!("s{n}")).user("hello")));
    let archive = "archive --cold cold --older-than 0 --yes";
    env.run(archive).ok();
    let whole = env.text("cold/manifest.jsonl");
    assert_eq!(parsed_lines(&whole).iter().filter(|line| line["gone_at"].is_number()).count(), 3);
    let marks = whole.match_indices('\n').nth(2).unwrap().0 + 1;
    for length in [marks, marks + 100, whole.len() - 2, whole.len() - 1] {
        fs::write(env.work("cold/manifest.jsonl"), &whole[..length]).unwrap();
        env.run(archive).ok();
        let lines = parsed_lines(&(env.text("cold/manifest.jsonl").trim_end().to_owned() + "\n"));
        let gone = lines.iter().filter(|line| line["gone_at"].is_number());
        assert_eq!(gone.map(|line| text(&line["session_id"])).collect::<BTreeSet<_>>().len(), 3);
    }
}
