//! `verify`: files against their manifest, and the manifest against the store.

use std::fs;

use serde_json::{Value as Json, json};

use crate::env::Env;
use crate::formats;
use crate::store::{session, talk};
use crate::tree::Tree;

/// Three archives in one folder.
fn archived() -> Env {
    let env = Env::with([talk("s0"), talk("s1")]);
    fs::create_dir(env.work("out")).unwrap();
    for (name, id) in [("a.jsonl", "s0"), ("b.jsonl", "s1")] {
        env.run(&format!("export out/{name} --session-id {id}")).ok();
    }
    env.run("export out/all.jsonl").ok();
    env
}

fn verified(env: &Env, line: &str, status: i32) -> Json {
    let ran = env.run(&format!("verify {line} --json")).ends(status);
    let json = ran.json();
    assert_eq!(json["command"], "verify");
    assert_eq!(json["clean"], status == 0, "{ran}");
    json
}

#[test]
fn files_that_are_what_the_manifest_says_are_intact() {
    let env = archived();
    let ran = env.run("verify out").ok();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", "3 files intact\n"));
    env.run("verify out/a.jsonl").ok().says("1 file intact");
    env.run("verify out/a.jsonl out/b.jsonl").ok().says("2 files intact");
    env.run("verify out/manifest.jsonl").ok().says("3 files intact");
    let json = verified(&env, "out", 0);
    assert_eq!(
        json,
        json!({"command": "verify", "clean": true, "intact": 3, "missing": [], "changed": [],
               "stale": [], "unlisted": [], "closed": [], "bad_lines": []})
    );
}

#[test]
fn verifying_changes_nothing() {
    let env = archived();
    fs::remove_file(env.work("out/a.jsonl")).unwrap();
    let before = Tree::of(&env.root());
    env.run("verify out --against-store").ends(1);
    Tree::of(&env.root()).assert_is(&before);
}

#[test]
fn differences_are_told_apart() {
    let env = archived();
    fs::remove_file(env.work("out/a.jsonl")).unwrap();
    let mut bytes = fs::read(env.work("out/b.jsonl")).unwrap();
    bytes[30] ^= 1;
    fs::write(env.work("out/b.jsonl"), bytes).unwrap();
    fs::write(env.work("out/extra.jsonl"), "{}\n").unwrap();
    fs::write(env.work("out/notes.txt"), "not ours").unwrap();
    let old = fs::read(env.work("out/all.jsonl")).unwrap();
    env.store().add(talk("s2"));
    env.run("export out/all.jsonl").ok();
    fs::write(env.work("out/all.jsonl"), old).unwrap();

    let ran = env.run("verify out").ends(1);
    assert_eq!(
        ran.stdout,
        "missing: out/a.jsonl\nchanged: out/b.jsonl\nstale: out/all.jsonl\nunlisted: out/extra.jsonl\n"
    );
    let json = verified(&env, "out", 1);
    assert_eq!(json["missing"], json!(["out/a.jsonl"]));
    assert_eq!(json["changed"], json!(["out/b.jsonl"]));
    assert_eq!(json["stale"], json!(["out/all.jsonl"]));
    assert_eq!(json["unlisted"], json!(["out/extra.jsonl"]));
    assert_eq!(json["intact"], 0);
    for file in ["a", "b", "all", "extra"] {
        env.run(&format!("verify out/{file}.jsonl")).ends(1);
    }
}

#[test]
fn one_flipped_bit_anywhere_is_found() {
    let env = Env::with([talk("s0")]);
    for format in formats::all() {
        format.export(&env, "--session-id s0").ok();
        let file = format.files(&env)[0].clone();
        let whole = fs::read(&file).unwrap();
        let path = file.display();
        for at in [0, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            fs::write(&file, bytes).unwrap();
            env.run(&format!("verify {path}")).ends(1);
        }
        fs::write(&file, &whole[..whole.len() - 1]).unwrap();
        env.run(&format!("verify {path}")).ends(1);
        fs::write(&file, &whole).unwrap();
        env.run(&format!("verify {path}")).ok();
    }
}

#[test]
fn content_that_imitates_a_check_does_not_disturb_it() {
    for content in [
        "line1\r\nline2",
        "see __SHA256_PLACEHOLDER__ here",
        "<!-- sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 -->",
        "## Export verification",
        "---\nsha256: 0\n---",
    ] {
        let env = Env::with([session("s").user(content).assistant("Yes.")]);
        for format in formats::all() {
            format.export(&env, "--session-id s").ok();
            let file = format.files(&env)[0].display().to_string();
            env.run(&format!("verify {file}")).ok();
        }
    }
}

#[test]
fn a_folder_may_be_moved() {
    let env = archived();
    fs::create_dir_all(env.root().join("elsewhere/deep")).unwrap();
    fs::rename(env.work("out"), env.root().join("elsewhere/deep/archive")).unwrap();
    env.run("verify ../elsewhere/deep/archive").ok().says("3 files intact");
    env.run("verify ../elsewhere/deep/archive --against-store").ok();
}

#[test]
fn lines_that_cannot_be_read_or_lead_away_are_told() {
    let env = archived();
    let manifest = env.text("out/manifest.jsonl");
    fs::write(env.work("out/manifest.jsonl"), format!("{manifest}{{\"session_id\": nul\n"))
        .unwrap();
    let json = verified(&env, "out", 1);
    assert_eq!(json["bad_lines"], json!([{"manifest": "out/manifest.jsonl", "line": 4}]));
    assert_eq!(env.run("verify out").ends(1).stdout, "no entry: out/manifest.jsonl, line 4\n");
}

#[test]
fn a_line_that_leads_out_of_the_folder_is_a_difference() {
    let env = archived();
    let manifest = env.text("out/manifest.jsonl");
    let planted = manifest.replace("\"a.jsonl\"", "\"../a.jsonl\"");
    fs::rename(env.work("out/a.jsonl"), env.work("a.jsonl")).unwrap();
    fs::write(env.work("out/manifest.jsonl"), planted).unwrap();
    env.run("verify out").ends(1);
}

#[test]
fn what_does_not_exist_is_no_unlisted_file() {
    let env = archived();
    for line in ["verify absent", "verify out/absent.jsonl", "verify absent/x.jsonl"] {
        let ran = env.run(line).ends(1);
        assert!(!ran.stdout.contains("unlisted"), "{ran}");
    }
    env.run("verify absent").fails(1).says("cannot read absent");
}

#[test]
fn sessions_that_are_not_archived_or_grew_or_are_gone_are_told() {
    let env = archived();
    env.run("verify out --against-store").ok();
    env.store().add(talk("new"));
    env.store().sql(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'user', 'more', 1);
         DELETE FROM messages WHERE session_id = 's0'; DELETE FROM sessions WHERE id = 's0'",
    );
    let ran = env.run("verify out --against-store").ends(1);
    assert_eq!(
        ran.stdout,
        "not archived: new\ngrown: s1 (2 messages archived, 3 stored)\ngone from the store: s0\n"
    );
    let json = verified(&env, "out --against-store", 1);
    assert_eq!(
        json["store"],
        json!({"missing": ["new"], "grown": [{"session_id": "s1", "archived": 2, "stored": 3}], "gone": ["s0"]})
    );
    verified(&env, "out", 0);
}

#[test]
fn an_archive_of_the_active_messages_is_compared_with_the_active_ones() {
    let env = Env::with([talk("s0").user("undone").rewound()]);
    env.run("export all.jsonl").ok();
    env.run("verify all.jsonl --against-store").ok();
    env.run("export all.jsonl --messages all").ok();
    env.run("verify all.jsonl --against-store").ok();
    env.store().sql("UPDATE messages SET active = 0");
    env.run("verify all.jsonl --against-store").ok();
    env.run("export active.jsonl").ok();
    env.store().sql("UPDATE messages SET active = 1 WHERE id = 1");
    env.run("verify active.jsonl --against-store").ends(1).stdout.find("grown: s0").unwrap();
}

#[test]
fn a_turn_that_was_taken_back_and_said_anew_is_a_difference() {
    let env = Env::with([talk("s0")]);
    env.run("export all.jsonl").ok();
    env.store().sql(
        "UPDATE messages SET active = 0 WHERE id = 2;
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s0', 'assistant', 'anew', 5)",
    );
    env.run("verify all.jsonl --against-store").ends(1);
}

#[test]
fn a_chain_that_went_on_is_told() {
    for format in formats::all().iter().filter(|format| format.joins_lineage) {
        let root = talk("root").with("end_reason", "compression");
        let next = talk("next").child_of("root").with("end_reason", "compression");
        let env = Env::with([root, next]);
        format.export(&env, "--lineage logical --session-id root").ok();
        let line = format!("{} --against-store", format.output());
        verified(&env, &line, 0);
        env.store().add(talk("last").child_of("next"));
        let json = verified(&env, &line, 1);
        // A manifest line for many sessions counts each alone.
        let grown = json!([{"session_id": "root", "archived": 4, "stored": 6}]);
        let grown = if format.has_folder() { grown } else { json!([]) };
        assert_eq!(json["store"], json!({"missing": ["last"], "grown": grown, "gone": []}));
    }
}

#[test]
fn planted_links_are_changed_files() {
    let env = archived();
    fs::rename(env.work("out/a.jsonl"), env.work("a.jsonl")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(env.work("a.jsonl"), env.work("out/a.jsonl")).unwrap();
    env.run("verify out").ends(1);
}
