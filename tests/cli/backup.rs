//! `backup` and `restore`: a folder that keeps up with the store, and gives everything back.

use std::fs;
use std::io::Write as _;

use serde_json::{Value as Json, json};

use crate::env::{Env, parsed_lines, text};
use crate::store::{session, talk};

fn home() -> Env {
    Env::with([
        talk("first").with("title", "Of one thing"),
        session("deep")
            .user("question")
            .assistant("answer")
            .user("taken back")
            .rewound()
            .user("set aside")
            .compacted(),
        talk("worker").delegate_of("first"),
        session("runs").user("and runs").running(),
    ])
}

/// The manifest line that counts for a session.
fn line(env: &Env, id: &str) -> Json {
    let lines = parsed_lines(&env.text("b/manifest.jsonl"));
    lines.into_iter().rfind(|line| line["session_id"] == id).unwrap()
}

fn unpacked(env: &Env, id: &str) -> Json {
    let file = fs::File::open(env.work(&format!("b/{id}.jsonl.zst"))).unwrap();
    let text = zstd::decode_all(file).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn every_session_is_a_packed_file_with_all_its_messages() {
    let env = home();
    env.run("backup b").ok().says("Backed up 4 sessions");
    assert_eq!(unpacked(&env, "deep")["messages"].as_array().unwrap().len(), 4);
    assert_eq!(line(&env, "runs")["format"], "jsonl");
    env.run("verify b --against-store").ok().says("4 files intact");
}

#[test]
fn a_second_run_writes_only_what_is_new_or_has_changed() {
    let env = home();
    env.run("backup b").ok();
    env.store().sql(
        "UPDATE messages SET content = 'edited in place' WHERE content = 'question';
         UPDATE sessions SET title = 'Renamed' WHERE id = 'first';",
    );
    let json = env.run("backup b --json").ok().json();
    assert_eq!((&json["exported"], &json["unchanged"]), (&json!(2), &json!(2)), "{json}");
    assert_eq!(unpacked(&env, "first")["title"], "Renamed");
    assert_eq!(unpacked(&env, "deep")["messages"][0]["content"], "edited in place");
    let names = fs::read_dir(env.work("b")).unwrap().count();
    assert_eq!(names, 4 + 2, "four sessions, the manifest, and a folder of our own");
}

#[test]
fn a_text_that_was_replaced_by_one_of_the_same_length_is_a_change() {
    let env = home();
    env.run("backup b").ok();
    env.store().sql("UPDATE messages SET content = 'QUESTION' WHERE content = 'question'");
    assert_eq!(env.run("backup b --quick --json").ok().json()["exported"], 0);
    let json = env.run("backup b --json").ok().json();
    assert_eq!((&json["exported"], &json["unchanged"]), (&json!(1), &json!(3)), "{json}");
    assert_eq!(unpacked(&env, "deep")["messages"][0]["content"], "QUESTION");
    env.store().sql("UPDATE messages SET token_count = 7 WHERE content = 'QUESTION'");
    env.run("backup b").ok();
    env.store().sql("UPDATE messages SET token_count = 8 WHERE content = 'QUESTION'");
    assert_eq!(env.run("backup b --json").ok().json()["exported"], 1);
}

#[test]
fn a_session_that_came_back_is_no_longer_marked_as_gone() {
    let env = home();
    env.run("backup b").ok();
    let rows =
        "DELETE FROM messages WHERE session_id = 'deep'; DELETE FROM sessions WHERE id = 'deep'";
    env.store().sql(rows);
    env.run("backup b").ok();
    env.run("restore b deep --into ../home/.hermes/state.db").ok();
    env.run("backup b").ok();
    assert!(line(&env, "deep")["gone_at"].is_null());
    assert_eq!(env.run("backup b --json").ok().json()["unchanged"], 4);
}

#[test]
fn the_drill_a_store_that_was_lost_comes_back_cell_by_cell() {
    let env = home();
    let all = "export - --messages all --lenient";
    let before = env.run(all).ok().stdout;
    env.run("backup b").ok();
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(env.hermes(&format!("state.db{suffix}")));
    }
    env.run("restore b --into ../home/.hermes/state.db").ok().says("Compared 4 sessions");
    assert_eq!(env.run(all).ok().stdout, before);
    env.run("verify b --against-store").ok().says("4 files intact");
}

#[test]
fn a_flag_of_a_message_is_a_change() {
    let env = home();
    env.run("backup b").ok();
    env.store().sql("UPDATE messages SET active = 0 WHERE content = 'answer'");
    let json = env.run("backup b --json").ok().json();
    assert_eq!((&json["exported"], &json["unchanged"]), (&json!(1), &json!(3)), "{json}");
}

#[test]
fn a_file_that_was_lost_is_written_again() {
    let env = home();
    env.run("backup b").ok();
    fs::remove_file(env.work("b/deep.jsonl.zst")).unwrap();
    fs::write(env.work("b/runs.jsonl.zst"), "cut").unwrap();
    env.run("backup b")
        .ends(1)
        .says("runs.jsonl.zst")
        .says("where it is removed it is written again");
    env.run("verify b").ends(1);
    fs::remove_file(env.work("b/runs.jsonl.zst")).unwrap();
    env.run("backup b").ok();
    env.run("verify b").ok();
}

#[test]
fn where_nothing_was_touched_nothing_is_read() {
    let env = home();
    let later = |line: &str| {
        let mut command = env.command(&line.split(' ').collect::<Vec<_>>());
        command.env("HERMES_SESSIONS_NOW", "2126-01-01T00:00:00Z");
        let output = command.output().unwrap();
        serde_json::from_slice::<Json>(&output.stdout).unwrap()
    };
    assert_eq!(later("backup b --json")["exported"], 4);
    assert_eq!(later("backup b --json")["idle"], true);
    assert_eq!(later("backup b --json --source cli")["idle"], false, "another selection");
    fs::remove_file(env.work("b/deep.jsonl.zst")).unwrap();
    assert_eq!(later("backup b --json")["exported"], 1);
    env.store().sql("UPDATE sessions SET title = 'x' WHERE id = 'deep'");
    assert_eq!(later("backup b --json")["exported"], 1);
}

#[test]
fn a_session_that_left_the_store_stays_and_is_marked() {
    let env = home();
    env.run("backup b").ok();
    env.store().sql(
        "DELETE FROM messages WHERE session_id = 'deep'; DELETE FROM sessions WHERE id = 'deep'",
    );
    assert_eq!(env.run("backup b --json").ok().json()["gone"], json!(["deep"]));
    assert!(line(&env, "deep")["gone_at"].is_number());
    assert_eq!(env.run("backup b --json").ok().json()["gone"], json!([]), "it is marked once");
    env.run("verify b").ok().says("4 files intact");
    let restored = env.run("restore b --into new.db --json").ok().json();
    assert_eq!((&restored["imported"], &restored["left_deleted"]), (&json!(3), &json!(1)));
    let named = env.run("restore b deep --into named.db --json").ok().json();
    assert_eq!(named["imported"], 1);
    assert_eq!(env.run("restore b --into all.db --deleted --json").ok().json()["imported"], 4);
}

#[test]
fn what_is_restored_is_what_was_there() {
    let env = home();
    env.run("backup b").ok();
    env.run("restore b --into new.db").ok().says("Compared 4 sessions");
    let all = "export - --messages all --lenient";
    let before = env.run(all).ok().lines();
    let after = env.run(&format!("--db new.db {all}")).ok().lines();
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        for (column, value) in before.as_object().unwrap().iter().filter(|(c, _)| *c != "messages")
        {
            assert_eq!(&after[column], value, "{column}");
        }
        let messages = |session: &Json| session["messages"].as_array().unwrap().clone();
        for (before, after) in messages(before).iter().zip(messages(after)) {
            for (column, value) in before.as_object().unwrap() {
                assert_eq!(&after[column], value, "{column}");
            }
        }
    }
}

#[test]
fn a_restore_leaves_sessions_alone_that_are_there_and_replaces_them_if_told() {
    let env = home();
    env.run("backup b").ok();
    env.store().sql("UPDATE sessions SET title = 'Since' WHERE id = 'first'");
    let db = text(&json!(env.db()));
    let kept = env.run_words(&["restore", "b", "--into", &db, "--json"]).ok().json();
    assert_eq!((&kept["imported"], &kept["skipped"]), (&json!(0), &json!(4)));
    let replaced = env.run_words(&["restore", "b", "first", "--into", &db, "--replace", "--json"]);
    assert_eq!(replaced.ok().json()["replaced"], 1);
    assert_eq!(env.run("export - --session-id first").ok().lines()[0]["title"], "Of one thing");
}

#[test]
fn a_flipped_byte_is_named_and_nothing_of_it_goes_in() {
    let env = home();
    env.run("backup b").ok();
    let path = env.work("b/deep.jsonl.zst");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    fs::remove_file(env.work("b/runs.jsonl.zst")).unwrap();
    let ran = env.run("restore b --into new.db").ends(1);
    ran.says("deep.jsonl.zst was not restored: it was changed")
        .says("runs.jsonl.zst")
        .says("Restored 2");
    env.run("restore b nobody --into other.db").fails(1).says("no session `nobody`");
    assert!(!env.work("other.db").exists());
    env.run("restore . --into other.db").fails(1).says("no backup");
    env.run("restore absent --into other.db").fails(1).says("cannot read absent");
}

#[test]
fn a_dry_restore_checks_the_files_and_writes_nothing() {
    let env = home();
    env.run("backup b").ok();
    env.run("restore b --into new.db --dry-run").ok().says("Would restore 4");
    assert!(!env.work("new.db").exists());
}

#[test]
fn one_run_at_a_time() {
    let env = home();
    env.run("backup b").ok();
    let lock = fs::File::options().write(true).open(env.work("b/.hermes-sessions/lock")).unwrap();
    lock.lock().unwrap();
    (&lock).write_all(b"4711\n").unwrap();
    env.run("backup b").fails(3).says("running already, as process 4711");
    drop(lock);
    env.run("backup b").ok();
}

#[test]
fn a_copy_of_the_store_is_one_sound_file_and_old_ones_go() {
    let env = home();
    let at = |now: &str| {
        let mut command =
            env.command(&["backup", "b", "--snapshot", "--keep-daily", "1", "--json"]);
        let output = command.env("HERMES_SESSIONS_NOW", now).output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice::<Json>(&output.stdout).unwrap()
    };
    let one = at("2026-07-30T01:00:00Z");
    let other = at("2026-07-31T01:00:00Z");
    assert_eq!(other["removed_snapshots"], json!([one["snapshot"]]));
    let copy = text(&other["snapshot"]);
    assert!(copy.ends_with("b/snapshots/state-20260731T010000Z.db"), "{copy}");
    let copied = env.run_words(&["--db", &env.work(&copy).display().to_string(), "export", "-"]);
    assert_eq!(copied.ok().stdout, env.run("export -").ok().stdout);
    let mut left: Vec<_> = fs::read_dir(env.work("b/snapshots"))
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["state-20260731T010000Z.db", "state-20260731T010000Z.db.sha256"]);
}

#[cfg(unix)]
#[test]
fn what_a_killed_run_left_half_done_goes() {
    let env = home();
    let own = env.work("b/.hermes-sessions");
    fs::create_dir_all(own.join(".tmpAbCdEf")).unwrap();
    fs::write(own.join(".tmpAbCdEf/state.db"), "half a store").unwrap();
    fs::write(own.join(".tmpGhIjKl"), "half a checkpoint").unwrap();
    fs::create_dir(env.work("elsewhere")).unwrap();
    fs::write(env.work("elsewhere/file"), "somebody's").unwrap();
    std::os::unix::fs::symlink(env.work("elsewhere"), own.join(".tmpMnOpQr")).unwrap();
    env.run("backup b").ok();
    let mut left: Vec<_> =
        fs::read_dir(own).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["checkpoint.json", "lock"]);
    assert_eq!(env.text("elsewhere/file"), "somebody's");
}

#[test]
fn a_missing_store_makes_no_folder() {
    let env = Env::empty();
    env.run("backup b").fails(1).says("there is no store");
    assert!(!env.work("b").exists());
}

#[cfg(not(feature = "object-store"))]
#[test]
fn a_build_without_object_stores_says_so() {
    let env = home();
    for line in ["backup s3://b/p", "restore gs://b/p --into new.db", "verify az://c/p"] {
        env.run(line).fails(2).says("built without object stores").says("--features object-store");
    }
    assert_eq!(fs::read_dir(env.work("")).unwrap().count(), 0);
}

#[test]
fn a_session_is_the_same_when_one_leaves_whose_messages_lay_between_its_own() {
    let env = Env::with([talk("stays"), talk("leaves")]);
    let add = |id: &str| {
        format!(
            "INSERT INTO messages (session_id, role, content, timestamp) \
             VALUES ('{id}', 'user', 'more', 1783641600);"
        )
    };
    env.store().sql(&[add("stays"), add("leaves"), add("stays")].concat());
    env.run("backup b").ok();
    env.store().sql(
        "DELETE FROM messages WHERE session_id = 'leaves'; DELETE FROM sessions WHERE id = 'leaves'",
    );
    let json = env.run("backup b --json").ok().json();
    assert_eq!((&json["exported"], &json["unchanged"]), (&json!(0), &json!(1)), "{json}");
}
