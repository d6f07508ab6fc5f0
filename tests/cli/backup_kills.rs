//! Hundreds of kills, at points spread over whole backups and restores, while somebody writes to the store.
//!
//! ```sh
//! KILLS=120 KILL_SEED=1 cargo test --test cli backup_kills -- --ignored --nocapture
//! ```
//!
//! A seed is told where none is given. What holds after each kill: no line without its file, whole; no half
//! file under a name; a sound store; and what is killed last is ended by the next run.

#![expect(clippy::print_stdout, reason = "whoever runs this wants to know the seed and the count")]

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hermes_sessions::manifest::{Manifest, digest};

use crate::env::Env;
use crate::store::{Store, session};

const SESSIONS: u64 = 60;

/// Numbers that depend on a seed alone.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new() -> Self {
        let given = std::env::var("KILL_SEED").ok().and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().hash_one(0));
        println!("KILL_SEED={seed}");
        Self(seed)
    }

    /// Below `end`.
    pub(crate) fn roll(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end.max(1)
    }
}

pub(crate) fn kills() -> usize {
    std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

fn home() -> Env {
    Env::with((0..SESSIONS).map(|n| {
        let words = |m: u64| {
            (0..400).map(move |k| ((n * 7919 + m * 31 + k * 104_729) % 99_991).to_string())
        };
        let text = |m| words(m).collect::<Vec<_>>().join(" ");
        (0..6).fold(session(format!("s{n:03}")), |session, m| {
            session.user(text(m)).assistant(text(m + 9))
        })
    }))
}

fn start(env: &Env, line: &str) -> Child {
    let words: Vec<&str> = line.split(' ').collect();
    env.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// How long a whole run takes.
fn timed(env: &Env, line: &str) -> Duration {
    let begun = Instant::now();
    assert!(start(env, line).wait().unwrap().success(), "{line}");
    begun.elapsed()
}

/// Kills a run after a while; whether it was still at work.
pub(crate) fn kill(mut child: Child, after: Duration) -> bool {
    thread::sleep(after);
    let was_alive = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_alive
}

/// Changes the store until it is told to stop: new messages, edits, sessions that come and go.
fn write_to(env: &Env, stop: &AtomicBool, written: &AtomicU64) {
    let store = env.store();
    let mut n = 0;
    while !stop.load(Ordering::Relaxed) {
        let id = n % SESSIONS;
        let new = session(format!("new{n:05}")).user("hello").assistant(format!("answer {n}"));
        store.add(new);
        store.sql(&format!(
            "UPDATE messages SET content = content || ' {n}' WHERE session_id = 's{id:03}' AND role = 'user';
             DELETE FROM messages WHERE session_id = (SELECT id FROM sessions WHERE id LIKE 'new%' ORDER BY id LIMIT 1);
             DELETE FROM sessions WHERE id = (SELECT id FROM sessions WHERE id LIKE 'new%' ORDER BY id LIMIT 1);"
        ));
        n += 1;
        written.store(n, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(20));
    }
}

/// Every line has its file, whole, and every name is that of a whole file.
fn folder_is_sound(folder: &Path) {
    let manifest = Manifest::read(folder).unwrap();
    let lines = manifest.current();
    for (path, line) in &lines {
        let sha256 = digest(&folder.join(path)).unwrap().sha256;
        if sha256 != line.sha256 {
            // Renamed, and killed before its line: announced, so that the next run writes the line.
            assert!(is_announced(folder, path, &sha256), "{path} is not what its line says");
        }
    }
    for file in fs::read_dir(folder).into_iter().flatten() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|suffix| suffix == "zst") {
            let text = zstd::decode_all(fs::File::open(&path).unwrap());
            let text =
                String::from_utf8(text.unwrap_or_else(|e| panic!("{}: {e}", path.display())));
            assert!(text.unwrap().ends_with("}\n"), "{}", path.display());
        }
    }
}

/// Whether a staging folder has a line for the file as it is now.
fn is_announced(folder: &Path, path: &str, sha256: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let left = Manifest::read(&entry.unwrap().path()).unwrap_or_default();
        left.entries.iter().any(|line| line.path == path && line.sha256 == sha256)
    })
}

fn store_is_sound(path: &Path) {
    let store = Store::open(path);
    assert_eq!(store.column("PRAGMA integrity_check"), ["ok"]);
    let partial = "SELECT id FROM sessions s WHERE message_count != \
                   (SELECT count(*) FROM messages m WHERE m.session_id = s.id)";
    assert!(store.column(partial).is_empty());
}

#[test]
#[ignore = "takes minutes; KILLS and KILL_SEED say how many and which"]
fn killed_backups_beside_a_writer_lose_nothing() {
    let (env, mut dice) = (home(), Dice::new());
    let longest = timed(&env, "backup b");
    fs::remove_dir_all(env.work("b")).unwrap();
    let (stop, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut caught = 0;
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_to(&env, &stop, &written));
        for n in 0..kills() {
            // As often from nothing as on from where the last one was.
            if dice.roll(2) == 0 {
                fs::remove_dir_all(env.work("b")).unwrap_or_default();
            }
            let micros = u64::try_from(longest.as_micros()).unwrap();
            let after = Duration::from_micros(dice.roll(micros * 11 / 10));
            caught += usize::from(kill(start(&env, "backup b"), after));
            if env.work("b").exists() {
                folder_is_sound(&env.work("b"));
            }
            if n % 10 == 9 {
                env.run("-q backup b").ok();
                env.run("verify b").ok();
            }
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    });
    println!(
        "{caught} of {} backups were at work when they were killed; {} writes",
        kills(),
        written.into_inner()
    );
    assert!(caught * 2 > kills(), "most runs had ended before they were killed");
    store_is_sound(&env.db());
    env.run("-q backup b").ok().silent();
    folder_is_sound(&env.work("b"));
    env.run("verify b --against-store --json").ends(1); // what the writer took away is in the folder still
    env.run("restore b --into new.db").ok();
    let all = "export - --messages all";
    assert_eq!(env.run(&format!("--db new.db {all}")).ok().stdout, env.run(all).ok().stdout);
}

#[test]
#[ignore = "takes minutes; KILLS and KILL_SEED say how many and which"]
fn killed_restores_leave_whole_sessions() {
    let (env, mut dice) = (home(), Dice::new());
    env.run("backup b").ok();
    let longest = timed(&env, "restore b --into new.db");
    let mut caught = 0;
    let all: BTreeSet<String> = env.store().session_ids().into_iter().collect();
    for n in 0..kills() {
        if dice.roll(2) == 0 {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                let _ = fs::remove_file(env.work(&format!("new.db{suffix}")));
            }
        }
        let micros = u64::try_from(longest.as_micros()).unwrap();
        let after = Duration::from_micros(dice.roll(micros * 11 / 10));
        // Sessions that are there are written again half of the time.
        let replace = if dice.roll(2) == 0 { " --replace" } else { "" };
        caught +=
            usize::from(kill(start(&env, &format!("restore b --into new.db{replace}")), after));
        if env.work("new.db").exists() {
            store_is_sound(&env.work("new.db"));
        }
        folder_is_sound(&env.work("b"));
        if n % 10 == 9 {
            env.run("restore b --into new.db").ok();
            let there = Store::open(&env.work("new.db")).session_ids();
            assert_eq!(there.into_iter().collect::<BTreeSet<_>>(), all);
        }
    }
    println!("{caught} of {} restores were at work when they were killed", kills());
    assert!(caught * 2 > kills(), "most runs had ended before they were killed");
    env.run("restore b --into new.db").ok();
    let all = "export - --messages all";
    assert_eq!(env.run(&format!("--db new.db {all}")).ok().stdout, env.run(all).ok().stdout);
    env.run("verify b --against-store").ok();
}
