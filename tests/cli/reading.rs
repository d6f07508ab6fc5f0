//! Reading leaves the store alone, whatever state it is in.

use std::fs;
use std::time::{Duration, Instant};

use crate::env::{Env, PROGRAM, Ran};
use crate::store::{self, Store, session, talk};
use crate::tree::{Tree, names};

const READ: &str = "export - --messages all";

/// The main file's bytes, and which files stand beside it.
fn state(env: &Env) -> (Vec<u8>, Vec<String>) {
    (fs::read(env.db()).unwrap(), names(&env.hermes("")))
}

fn home_with(store: impl FnOnce(&Env)) -> Env {
    let env = Env::empty();
    store(&env);
    env
}

/// Copies a live store, as a backup tool would: the files that are named, and no lock.
fn copy_of_live(suffixes: &[&str]) -> Env {
    let live = Env::with([talk("s0")]);
    let writer = live.store();
    writer.sql("PRAGMA wal_autocheckpoint = 0");
    writer.add(talk("only_in_wal"));
    home_with(|env| {
        for suffix in suffixes {
            let name = format!("state.db{suffix}");
            fs::copy(live.hermes(&name), env.hermes(&name)).unwrap();
        }
    })
}

#[test]
fn a_store_that_nobody_has_open_stays_as_it_is() {
    let env = Env::with([talk("s0")]);
    let before = Tree::of(&env.root());
    assert_eq!(env.run(READ).ok().ids(), ["s0"]);
    Tree::of(&env.root()).assert_is(&before);
}

#[test]
fn a_store_is_read_beside_a_writer_that_holds_the_lock_and_rows_of_the_wal_are_exported() {
    let env = Env::with([talk("s0")]);
    let writer = env.store();
    writer.sql("PRAGMA wal_autocheckpoint = 0");
    writer.add(talk("only_in_wal"));
    writer.sql("BEGIN IMMEDIATE");
    writer.add(talk("not_committed"));
    let before = state(&env);
    assert_eq!(before.1, ["state.db", "state.db-shm", "state.db-wal"]);

    let begun = Instant::now();
    assert_eq!(env.run(READ).ok().ids(), ["s0", "only_in_wal"]);

    assert!(begun.elapsed() < Duration::from_millis(1900), "it waited for the lock");
    assert_eq!(state(&env), before);
    writer.sql("COMMIT");
    assert_eq!(env.run(READ).ok().ids(), ["s0", "only_in_wal", "not_committed"]);
}

#[test]
fn a_copied_wal_without_its_index_is_read_and_stays_as_it_is() {
    let env = copy_of_live(&["", "-wal"]);
    let before = Tree::of(&env.hermes(""));
    assert_eq!(env.run(READ).ok().ids(), ["s0", "only_in_wal"]);
    Tree::of(&env.hermes("")).assert_is(&before);
}

#[test]
fn a_wal_and_an_index_that_a_killed_process_left_stay() {
    let env = copy_of_live(&["", "-wal", "-shm"]);
    let (main, wal) = (fs::read(env.db()).unwrap(), fs::read(env.hermes("state.db-wal")).unwrap());
    assert_eq!(env.run(READ).ok().ids(), ["s0", "only_in_wal"]);
    assert_eq!(fs::read(env.db()).unwrap(), main);
    assert_eq!(fs::read(env.hermes("state.db-wal")).unwrap(), wal);
    assert_eq!(names(&env.hermes("")), ["state.db", "state.db-shm", "state.db-wal"]);
}

#[test]
fn a_copy_without_its_wal_is_read_as_it_was_at_the_last_checkpoint() {
    let env = copy_of_live(&[""]);
    let before = Tree::of(&env.hermes(""));
    assert_eq!(env.run(READ).ok().ids(), ["s0"]);
    Tree::of(&env.hermes("")).assert_is(&before);
}

#[test]
fn an_empty_wal_stays() {
    let env = Env::with([talk("s0")]);
    fs::write(env.hermes("state.db-wal"), "").unwrap();
    let before = Tree::of(&env.hermes(""));
    assert_eq!(env.run(READ).ok().ids(), ["s0"]);
    Tree::of(&env.hermes("")).assert_is(&before);
}

#[test]
fn a_store_with_a_rollback_journal_is_read_and_stays_as_it_is() {
    let env = Env::with([talk("s0")]);
    env.store().sql("PRAGMA journal_mode = DELETE");
    let before = Tree::of(&env.hermes(""));
    assert_eq!(env.run(READ).ok().ids(), ["s0"]);
    Tree::of(&env.hermes("")).assert_is(&before);

    let writer = env.store();
    writer.sql("BEGIN IMMEDIATE");
    assert_eq!(env.run(READ).ok().ids(), ["s0"]);
}

#[test]
fn the_journal_of_a_writer_that_died_is_left_to_its_owner() {
    let live = Env::with([talk("s0")]);
    let writer = live.store();
    writer
        .sql("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN");
    writer.add(session("s1").user("x".repeat(200_000)));
    let env = home_with(|env| {
        for name in ["state.db", "state.db-journal"] {
            fs::copy(live.hermes(name), env.hermes(name)).unwrap();
        }
    });
    let before = Tree::of(&env.hermes(""));
    let ran = env.run(READ);
    Tree::of(&env.hermes("")).assert_is(&before);
    assert_ne!(ran.status, Some(0), "half a transaction was read\n{ran}");
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_store_that_another_process_locked_whole_is_in_use() {
    let env = Env::with([talk("s0")]);
    let writer = env.store();
    writer.sql("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    env.run(READ).fails(3).says("in use").says("hint: try again");
    let ran = env.run("export all.jsonl --json").ends(3);
    assert_eq!(ran.json()["exit_status"], 3, "{ran}");
    assert_eq!(names(&env.work("")), Vec::<String>::new());
}

#[test]
fn a_missing_store_is_not_created() {
    let env = Env::empty();
    for line in [READ, "export all.jsonl", "export --dry-run"] {
        env.run(line).fails(1).says("there is no store").says("state.db");
    }
    for database in ["no/such/folder/state.db", "folder"] {
        fs::create_dir_all(env.work("folder")).unwrap();
        env.run(&format!("export - --db {database}")).fails(1);
    }
    assert_eq!(names(&env.root()), ["home/", "home/.hermes/", "tmp/", "work/", "work/folder/"]);
}

#[test]
fn what_is_no_database_is_refused_and_stays() {
    for bytes in [&b""[..], b"SQLite format", &[0x9f; 8192], b"SQLite format 3\0 and no more"] {
        let env = home_with(|env| fs::write(env.db(), bytes).unwrap());
        let before = Tree::of(&env.root());
        env.run(READ).fails(1);
        env.run("export all.jsonl").fails(1);
        Tree::of(&env.root()).assert_is(&before);
    }
}

#[test]
fn a_database_of_something_else_is_refused_and_stays() {
    let env = home_with(|env| {
        Store::create(&env.db(), &["CREATE TABLE sessions (id TEXT, started_at REAL)"]);
    });
    let before = Tree::of(&env.root());
    env.run(READ).fails(1).says("not a Hermes store").says("`messages`");
    Tree::of(&env.root()).assert_is(&before);
}

#[test]
fn the_store_is_that_of_the_flag_or_the_profile_or_the_home() {
    let env = Env::with([talk("home")]);
    fs::create_dir_all(env.hermes("profiles/work")).unwrap();
    Store::create(&env.hermes("profiles/work/state.db"), &[store::SCHEMA]).add(talk("profile"));
    Store::create(&env.work("other.db"), &[store::SCHEMA]).add(talk("other"));
    Store::create(&env.root().join("home/my store?#%41.db"), &[store::SCHEMA]).add(talk("odd"));
    for (flags, wanted) in [
        ("", "home"),
        ("--profile default", "home"),
        ("--profile work", "profile"),
        ("--db other.db", "other"),
        ("--db './../home/my store?#%41.db'", "odd"),
        ("--db '~/my store?#%41.db'", "odd"),
    ] {
        assert_eq!(env.run(&format!("{flags} export -")).ok().ids(), [wanted], "{flags}");
    }
    env.run("--db '' export -").fails(2).says("--db");
    for name in ["''", "..", "../default", "a/b"] {
        env.run(&format!("--profile {name} export -")).fails(2).says("--profile");
    }
    env.run("--profile absent export -").fails(1).says("profiles/absent/state.db");
}

#[test]
fn an_empty_hermes_home_means_the_default() {
    let env = Env::with([talk("s0")]);
    let mut command = env.command(&["export", "-"]);
    let ran = Ran::new("no home".to_owned(), command.env("HERMES_HOME", "").output().unwrap());
    assert_eq!(ran.ok().ids(), ["s0"]);
}

/// A folder is really read-only for a user who is not root.
#[cfg(unix)]
mod read_only {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::Command;

    use super::{Env, PROGRAM, READ, Ran, Tree, copy_of_live, fs, talk};

    const NOBODY: u32 = 65534;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn for_all(path: &Path, folder: u32, file: u32) {
        set_mode(path, folder);
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { for_all(&path, folder, file) } else { set_mode(&path, file) }
        }
    }

    /// Runs as a user to whom the modes apply; `None` where that cannot be had.
    fn run(env: &Env, arguments: &[&str]) -> Option<Ran> {
        let mut command = env.command(arguments);
        if fs::metadata("/proc/self")
            .is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
        {
            let can = Command::new(PROGRAM).arg("--version").uid(NOBODY).gid(NOBODY).output();
            if !can.is_ok_and(|output| output.status.success()) {
                return None;
            }
            command.uid(NOBODY).gid(NOBODY);
        }
        Some(Ran::new(format!("{arguments:?}, read-only"), command.output().unwrap()))
    }

    fn reads(env: &Env, wanted: &[&str]) {
        for_all(&env.root(), 0o555, 0o444);
        set_mode(&env.root().join("tmp"), 0o777);
        let before = Tree::of(&env.root());
        let ran = run(env, &READ.split(' ').collect::<Vec<_>>());
        let after = Tree::of(&env.root());
        for_all(&env.root(), 0o755, 0o644);
        if let Some(ran) = ran {
            assert_eq!(ran.ok().ids(), wanted);
            after.assert_is(&before);
        }
    }

    #[test]
    fn a_store_in_a_read_only_folder_is_read() {
        reads(&Env::with([talk("s0")]), &["s0"]);
    }

    #[test]
    fn a_store_with_a_wal_in_a_read_only_folder_is_read() {
        reads(&copy_of_live(&["", "-wal"]), &["s0", "only_in_wal"]);
    }

    #[test]
    fn a_store_with_a_wal_and_an_index_in_a_read_only_folder_is_read() {
        reads(&copy_of_live(&["", "-wal", "-shm"]), &["s0", "only_in_wal"]);
    }

    #[test]
    fn an_export_to_a_read_only_folder_fails_and_leaves_what_is_there() {
        let env = Env::with([talk("s0")]);
        env.run("export out/all.jsonl").ends(1);
        fs::create_dir(env.work("out")).unwrap();
        env.run("export out/all.jsonl").ok();
        env.store().add(talk("s1"));
        for_all(&env.root(), 0o755, 0o644);
        for_all(&env.work("out"), 0o555, 0o444);
        let before = Tree::of(&env.work("out"));
        if let Some(ran) = run(&env, &["export", "out/all.jsonl"]) {
            ran.fails(1).says("cannot write out").says("caused by: Permission denied");
            Tree::of(&env.work("out")).assert_is(&before);
        }
        for_all(&env.work("out"), 0o755, 0o644);
    }
}
