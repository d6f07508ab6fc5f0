//! Encrypted backups: who can read what, and what cannot be read without a key.

use std::fs;

use age::secrecy::ExposeSecret as _;
use serde_json::{Value as Json, json};

use crate::env::{Env, parsed_lines};
use crate::store::talk;

/// A home with two sessions and, in the folder to work in, a key of ours and a stranger's.
fn home() -> Env {
    let env = Env::with([talk("first").with("title", "Of one thing"), talk("second")]);
    for name in ["ours", "theirs"] {
        let key = age::x25519::Identity::generate();
        fs::write(env.work(name), format!("# {name}\n{}\n", key.to_string().expose_secret()))
            .unwrap();
        fs::write(env.work(&format!("{name}.pub")), format!("{}\n", key.to_public())).unwrap();
    }
    env
}

fn lines(env: &Env, folder: &str) -> Vec<Json> {
    parsed_lines(&env.text(&format!("{folder}/manifest.jsonl")))
}

#[test]
fn what_was_said_stands_in_no_byte_of_an_encrypted_backup() {
    let env = home();
    env.run("backup b --encrypt-to ours.pub --snapshot").ok();
    let mut folders = vec![env.work("b")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = fs::read(&path).unwrap();
            for said in ["question of", "Of one thing", "SQLite format"] {
                let found = bytes.windows(said.len()).any(|window| window == said.as_bytes());
                assert!(!found, "{said:?} stands in {}", path.display());
            }
        }
    }
    assert_eq!(
        files,
        2 + 1 + 2 + 2,
        "sessions, manifest, a copy with its digest, lock and checkpoint"
    );
    assert!(env.work("b/first.jsonl.zst.age").exists());
    env.run("verify b --against-store").ok().says("2 files intact");
}

#[test]
fn unchanged_sessions_are_known_without_a_key() {
    let env = home();
    env.run("backup b --encrypt-to ours.pub").ok();
    env.store().sql(
        "UPDATE messages SET content = 'QUESTION of second' WHERE content = 'question of second'",
    );
    let json = env.run("backup b --encrypt-to ours.pub --json").ok().json();
    assert_eq!((&json["exported"], &json["unchanged"]), (&json!(1), &json!(1)));
}

#[test]
fn other_recipients_are_a_change_and_none_is_refused() {
    let env = home();
    env.run("backup b").ok();
    let json = env.run("backup b --encrypt-to ours.pub --json").ok().json();
    assert_eq!(json["exported"], 2);
    assert!(!env.work("b/first.jsonl.zst").exists(), "nothing stays to read");
    let json = env.run("backup b --encrypt-to ours.pub --encrypt-to theirs.pub --json").ok().json();
    assert_eq!(json["exported"], 2);
    env.run("backup b").fails(1).says("are encrypted").says("--encrypt-to");
    let last = lines(&env, "b").pop().unwrap();
    assert!(last["sealed_to"].is_string(), "{last}");
}

#[test]
fn the_key_brings_everything_back_and_no_other_does() {
    let env = home();
    env.run("backup b --encrypt-to ours.pub").ok();
    for keys in ["", "--identity theirs"] {
        let ran = env.run(&format!("restore b --into new.db {keys}")).fails(1);
        ran.says("cannot be opened").says("--identity FILE");
        assert!(!env.work("new.db").exists());
        let imported = env.run(&format!("--db new.db import b/first.jsonl.zst.age {keys}"));
        imported.ends(1).says("it is encrypted");
        assert!(!env.work("new.db").exists());
    }
    env.run("restore b --into new.db --identity theirs --identity ours").ok().says("Compared 2");
    env.run("--db other.db import b/second.jsonl.zst.age --identity ours").ok();
    assert_eq!(env.run("--db other.db export -").ok().ids(), ["second"]);
    let closed = env.run("verify b --identity theirs").ends(1).stdout;
    assert!(closed.contains("not to any of the identities"), "{closed}");
    env.run("verify b --identity ours").ok();
}

#[test]
fn a_flipped_byte_and_a_cut_file_are_named_with_the_right_key_too() {
    let env = home();
    env.run("backup b --encrypt-to ours.pub").ok();
    for (name, cut) in [("first", false), ("second", true)] {
        let path = env.work(&format!("b/{name}.jsonl.zst.age"));
        let mut bytes = fs::read(&path).unwrap();
        let last = bytes.len() - 20;
        bytes[last] ^= 1;
        bytes.truncate(if cut { last } else { bytes.len() });
        fs::write(&path, bytes).unwrap();
        let imported = env.run_words(&[
            "--db",
            "new.db",
            "import",
            &path.display().to_string(),
            "--identity",
            "ours",
        ]);
        imported.ends(1).says(&format!("{name}.jsonl.zst.age"));
        assert!(!env.work("new.db").exists());
    }
    let restored = env.run("restore b --into new.db --identity ours").ends(1);
    restored
        .says("first.jsonl.zst.age was not restored")
        .says("second.jsonl.zst.age was not restored");
    assert!(!env.work("new.db").exists());
}

#[test]
fn keys_that_are_none_are_wrong_usage() {
    let env = home();
    env.run("backup b --encrypt-to age1nonsense").fails(2).says("--encrypt-to");
    let ours = env.text("ours");
    let secret = ours.lines().last().unwrap();
    let ran = env.run_words(&["backup", "b", "--encrypt-to", secret]).fails(2);
    let ran = ran.says("that is a secret key");
    assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
    env.run("backup b --encrypt-to nowhere").fails(2).says("neither a recipient");
    env.run("backup b --encrypt-to ours")
        .fails(2)
        .says("line 2, is no recipient")
        .does_not_say("SECRET");
    env.run("backup b --encrypt-to ''").fails(2);
    assert!(!env.work("b").exists());
    env.run("backup b --encrypt-to ours.pub").ok();
    env.run("restore b --into new.db --identity ours.pub").fails(2).says("--identity");
    env.run("restore b --into new.db --identity nowhere").fails(2);
}

#[test]
fn an_encrypted_cold_archive_is_read_back_before_anything_is_deleted_and_opened_by_its_key() {
    let env = home();
    env.run("archive --cold cold --session-id first --yes --encrypt-to ours.pub").ok();
    assert_eq!(env.store().session_ids(), ["second"]);
    env.run("list --cold=cold").ends(1).says("it is encrypted");
    env.run("list --cold=cold --identity theirs").ends(1).says("not to any of the identities");
    let found = env.run("search --cold=cold --identity ours 'answer of first' --json").ok().json();
    assert_eq!(found["results"][0]["session_id"], "first");
    env.run("restore cold --into ../home/.hermes/state.db --identity ours").ok();
    assert_eq!(env.store().session_ids(), ["first", "second"]);
}
