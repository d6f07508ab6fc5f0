//! An import that is killed, or runs out of space: whole sessions alone, and the next one does the rest.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::env::Env;
use crate::store::{Store, session};

const SESSIONS: usize = 40;

/// A folder with `all.jsonl`, so large that it takes several transactions, and what is in it.
fn long_import() -> (Env, String) {
    let env = Env::with((0..SESSIONS).map(|n| {
        let id = format!("s{n:03}");
        let next = format!("s{:03}", (n + 1) % SESSIONS);
        let config = format!(r#"{{"_branched_from": "{next}"}}"#);
        session(id.clone())
            .with("title", format!("Talk {n}"))
            .with("parent_session_id", (n + 1 < SESSIONS).then_some(next))
            .with("model_config", config)
            .user(id.repeat(15_000))
            .assistant("ok")
    }));
    env.run("export all.jsonl --no-manifest").ok();
    let wanted = env.text("all.jsonl");
    (env, wanted)
}

fn start(env: &Env) -> Child {
    env.command(&["--db", "new.db", "import", "all.jsonl"]).stderr(Stdio::null()).spawn().unwrap()
}

fn bytes(env: &Env) -> u64 {
    let size = |name: &str| fs::metadata(env.work(name)).map_or(0, |meta| meta.len());
    size("new.db") + size("new.db-wal")
}

/// Waits until the store has so many bytes; false where the import ended before.
fn caught(child: &mut Child, env: &Env, point: u64) -> bool {
    let begun = Instant::now();
    while bytes(env) < point {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "the import neither goes on nor ends");
        thread::yield_now();
    }
    child.try_wait().unwrap().is_none()
}

/// How many sessions there are, each of them whole.
fn whole_sessions(env: &Env) -> usize {
    if !env.work("new.db").exists() {
        return 0;
    }
    let store = Store::open(&env.work("new.db"));
    assert_eq!(store.column("PRAGMA integrity_check"), ["ok"]);
    let ids = store.session_ids();
    let whole =
        store.column("SELECT session_id FROM messages GROUP BY 1 HAVING count(*) = 2 ORDER BY 1");
    assert_eq!(whole, ids);
    assert_eq!(store.count("FROM messages_fts"), store.count("FROM messages"));
    ids.len()
}

fn completes(env: &Env, wanted: &str) {
    env.run("--db new.db import all.jsonl").ok();
    assert!(env.run("--db new.db export -").ok().stdout == wanted, "all of it, as it was");
    let store = Store::open(&env.work("new.db"));
    assert!(store.column("PRAGMA foreign_key_check").is_empty());
}

#[test]
fn a_killed_import_leaves_whole_sessions_and_the_next_one_does_the_rest() {
    let (env, wanted) = long_import();
    start(&env).wait().unwrap();
    let total = bytes(&env);
    let mut partial = 0;
    for n in 0..5 {
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(env.work(&format!("new.db{suffix}")));
        }
        let mut child = start(&env);
        if caught(&mut child, &env, 1 + total * n / 5 + n * 997) {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        partial += usize::from((1..SESSIONS).contains(&whole_sessions(&env)));
        completes(&env, &wanted);
    }
    assert!(partial > 0, "no import was caught between two transactions");
}

/// A limit on the size of files stands for a disk that is full.
#[test]
fn a_full_disk_ends_the_import_with_the_reason_and_whole_sessions() {
    let (env, wanted) = long_import();
    let script = "trap '' XFSZ; ulimit -f 3000; exec \"$0\" --db new.db import all.jsonl";
    env.shell(script).fails(1).says("the store cannot be written").says("caused by: ");
    assert!(whole_sessions(&env) < SESSIONS);
    completes(&env, &wanted);
    let script = "trap '' XFSZ; ulimit -f 40; exec \"$0\" --db small.db import all.jsonl";
    env.shell(script).fails(1);
    assert!(!env.work("small.db").exists(), "no store is better than half of one");
}
