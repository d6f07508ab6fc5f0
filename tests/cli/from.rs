//! `--from webui`: the sidecars as a source for what reads.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::env::Env;
use crate::formats;
use crate::store::talk;
use crate::tree::{Tree, names};

/// A home with the WebUI's folder.
fn home() -> Env {
    let env = Env::empty();
    fs::create_dir_all(env.hermes("webui/sessions")).unwrap();
    for name in names(Path::new("fixtures/webui")) {
        let from = Path::new("fixtures/webui").join(&name);
        if from.is_file() {
            fs::copy(from, env.hermes("webui").join(name)).unwrap();
        }
    }
    env
}

#[test]
fn the_webui_s_sessions_are_written_in_every_format() {
    let env = home();
    for format in formats::all() {
        let ran = format.export(&env, "--from webui --include-open").ok();
        let written = format.written(&env);
        assert!(written.contains("Where do I put the beans?"), "{}: {ran}", format.name);
    }
    assert!(!env.db().exists(), "nothing makes a store");
    assert_eq!(names(&env.root().join("tmp")), [""; 0], "nothing private stays behind");
}

#[test]
fn filters_and_lists_see_the_webui_s_sessions() {
    let env = home();
    let lines = env.run("export - --from webui --title garden --min-tool-calls 1").ok().lines();
    assert_eq!(lines.len(), 1);
    assert_eq!((&lines[0]["pinned"], &lines[0]["tags"]), (&json!(1), &json!("[\"garden\"]")));
    let list = env.run("list --from webui --json").ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "the archived one is left out");
    let list = env.run("list #编程 --all --from webui --json").ok().json();
    assert_eq!(list["sessions"][0]["id"], "0f0f0f0f0f0f");
    let shown = env.run("show a1b2c3d4e5f6 --from webui").ok();
    assert!(
        shown.stdout.contains("South is sunny.") || shown.stdout.contains("beds.csv"),
        "{shown}"
    );
    let found = env.run("search beans --from webui --json").ok().json();
    assert_eq!(found["results"][0]["session_id"], "a1b2c3d4e5f6");
    let found = env.run("search 如何迁移 --from webui --json").ok().json();
    assert_eq!(found["results"][0]["session_id"], "0f0f0f0f0f0f");
    env.run("stats --from webui").ok();
    env.run("scan --from webui").ok();
    let elsewhere = fs::canonicalize("fixtures/webui").unwrap();
    let line = format!("export - --from webui={}", elsewhere.display());
    assert_eq!(env.run(&line).ok().lines().len(), 3);
}

#[test]
fn a_session_in_both_places_is_shown_once_with_the_note_which_is_longer() {
    let env = home();
    crate::store::Store::create(&env.db(), &[crate::store::SCHEMA]).add_all([
        talk("a1b2c3d4e5f6"),
        talk("0f0f0f0f0f0f"),
        talk("other"),
    ]);
    let ran = env.run("export - --from webui").ok();
    assert_eq!(ran.ids(), ["0f0f0f0f0f0f", "123456abcdef", "a1b2c3d4e5f6"]);
    ran.says("a1b2c3d4e5f6 is in the store, too, and longer here: 6 messages here, 2 there")
        .says("0f0f0f0f0f0f is in the store, too, and as long there")
        .does_not_say("123456abcdef");
}

#[test]
fn titles_stay_what_the_webui_calls_them() {
    let env = home();
    for id in ["one", "two"] {
        let sidecar = json!({"session_id": id, "title": "Same", "created_at": 1.0, "messages": []});
        fs::write(env.hermes(&format!("webui/sessions/{id}.json")), sidecar.to_string()).unwrap();
    }
    let lines = env.run("export - --from webui --title same").ok().lines();
    assert_eq!((&lines[0]["title"], &lines[1]["title"]), (&json!("Same"), &json!("Same")));
}

#[test]
fn a_broken_sidecar_is_named_and_the_others_are_read() {
    let env = home();
    let whole = fs::read_to_string("fixtures/webui/sessions/a1b2c3d4e5f6.json").unwrap();
    fs::write(env.hermes("webui/sessions/cut.json"), &whole[..whole.len() / 2]).unwrap();
    fs::write(env.hermes("webui/sessions/cut.json.tmp.1.2"), "{").unwrap();
    let before = Tree::of(&env.hermes(""));
    let ran = env.run("export - --from webui").ends(1);
    assert_eq!(ran.lines().len(), 3);
    ran.says("cut.json, line 1: no JSON: EOF");
    env.run("list --from webui --all").ends(1).says("cut.json");
    Tree::of(&env.hermes("")).assert_is(&before);
}

#[test]
fn what_makes_no_sense_with_it_is_refused() {
    let env = Env::with([talk("s0000")]);
    env.run("export - --from webui").fails(2).says("there is no folder");
    env.run("export - --from telegram").fails(2).says("there is webui");
    fs::create_dir(env.hermes("webui")).unwrap();
    env.run("export x --format md --session-id s0000 --delete-after-verified --yes --from webui")
        .fails(2);
    env.run(&format!("export {} --from webui --format jsonl", env.db().display())).fails(2);
    assert_eq!(env.run("export - --from webui").ok().lines().len(), 0);
}
