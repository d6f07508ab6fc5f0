//! File names: inside their folder, legal everywhere, distinct, and of a bearable length.

use std::collections::BTreeSet;

use crate::env::{Env, text};
use crate::formats;
use crate::publishing::manifest;
use crate::store::session;
use crate::tree::{Tree, names};

fn awkward() -> Vec<String> {
    let ids = [
        "../esc",
        "a/b",
        "a_b",
        "x:y",
        "*",
        "CON",
        "con",
        "nul",
        "a.b",
        "a b",
        "A_B",
        "-rf",
        "..",
        ".hidden",
        "a\nb",
        "数据",
        "\u{202e}gpj",
        "manifest",
        "lock",
    ];
    let mut ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    ids.push("x".repeat(240));
    ids.push("x".repeat(239) + "y");
    ids
}

fn is_portable(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    name.len() <= 255
        && !name.starts_with(['.', '-', ' '])
        && !name.ends_with(['.', ' '])
        && !name.chars().any(|c| c.is_control() || "<>:\"/\\|?*\u{202e}".contains(c))
        && !["con", "prn", "aux", "nul"].contains(&stem.as_str())
}

#[test]
fn ids_become_distinct_portable_names_inside_the_folder() {
    for format in formats::all().iter().filter(|format| format.has_folder()) {
        let env = Env::with(
            awkward().into_iter().map(|id| session(id.clone()).user(format!("I am <{id}>"))),
        );
        format.export(&env, "--source cli").ok();
        let written = names(&env.work(&format.output()));
        let files: BTreeSet<String> = written
            .iter()
            .filter(|name| *name != "manifest.jsonl")
            .map(|name| name.to_lowercase())
            .collect();
        assert_eq!(files.len(), awkward().len(), "{written:?}");
        assert!(written.iter().all(|name| is_portable(name)), "{written:?}");
        assert_eq!(names(&env.root().join("tmp")), Vec::<String>::new());
        let ids: BTreeSet<String> = manifest(&env.work(&format.output()))
            .iter()
            .map(|line| text(&line["session_id"]))
            .collect();
        assert_eq!(ids, awkward().into_iter().collect());
        env.run(&format!("verify {}", format.output())).ok();
    }
}

#[test]
fn titles_of_any_kind_become_part_of_a_portable_name() {
    let titles = [
        "../../etc/passwd",
        "a/b\\c",
        "CON",
        "...",
        "x".repeat(400).leak(),
        "数".repeat(300).leak(),
        "Fix: the \"thing\"?",
        "\u{0}\n\t",
        "-rf",
        "e\u{301}té",
    ];
    for format in formats::all().iter().filter(|format| format.has_folder()) {
        let env = Env::with(
            titles
                .iter()
                .zip(0..)
                .map(|(title, n)| session(format!("s{n}")).with("title", *title).user("x")),
        );
        format.export(&env, "--source cli").ok();
        let written = names(&env.work(&format.output()));
        assert_eq!(written.len(), titles.len() + 1, "{written:?}");
        assert!(written.iter().all(|name| is_portable(name)), "{written:?}");
    }
}

#[test]
fn awkward_ids_leave_no_trace_outside_the_file_that_was_named() {
    let env = Env::with(awkward().into_iter().map(|id| session(id).user("x")));
    let before = Tree::of(&env.hermes(""));
    env.run("export all.jsonl").ok();
    assert_eq!(names(&env.work("")), ["all.jsonl", "manifest.jsonl"]);
    Tree::of(&env.hermes("")).assert_is(&before);
    let line = &manifest(&env.work(""))[0];
    assert_eq!(line["session_ids"].as_array().unwrap().len(), awkward().len());
    for id in awkward() {
        assert_eq!(env.run_words(&["export", "-", "--session-id", &id]).ok().ids(), [id]);
    }
}

#[test]
fn ids_that_are_no_text_do_not_share_a_file() {
    for format in formats::all().iter().filter(|format| format.has_folder()) {
        let env = Env::with([session("a").user("first"), session("b").user("second")]);
        env.store().sql(
            "UPDATE messages SET session_id = CAST(X'61ff' AS TEXT) WHERE session_id = 'a';
             UPDATE messages SET session_id = CAST(X'61fe' AS TEXT) WHERE session_id = 'b';
             UPDATE sessions SET id = CAST(X'61ff' AS TEXT) WHERE id = 'a';
             UPDATE sessions SET id = CAST(X'61fe' AS TEXT) WHERE id = 'b'",
        );
        format.export(&env, "--source cli").ends(1);
        let written = format.written(&env);
        assert!(written.contains("first") && written.contains("second"), "one overwrote the other");
    }
}

#[test]
fn names_that_the_user_lays_out_are_distinct_portable_and_follow_the_title() {
    for format in formats::all().iter().filter(|format| format.has_folder()) {
        let env = Env::with(awkward().into_iter().map(|id| session(id).user("hello")));
        for pattern in ["{date}-{title}-{id}", "{id}", "{source}.{title}", "a_{id}_{model}", "con"]
        {
            format.export(&env, &format!("--source cli --name {pattern}")).ok();
            let files = format.files(&env);
            let folded: BTreeSet<String> = files
                .iter()
                .map(|file| file.file_name().unwrap().to_str().unwrap().to_lowercase())
                .collect();
            assert_eq!(folded.len(), awkward().len(), "{pattern}: {folded:?}");
            assert!(folded.iter().all(|name| is_portable(name)), "{pattern}: {folded:?}");
        }
    }
    let env = Env::with([session("s0").with("title", "One plan").user("hello")]);
    let export = "export out --format md --source cli --name '{date}-{title}-{id}'";
    env.run(export).ok();
    assert_eq!(names(&env.work("out")), ["2026-07-10-one-plan-s0.md", "manifest.jsonl"]);
    env.store().sql("UPDATE sessions SET title = 'Another'");
    env.run(export).ok();
    assert_eq!(names(&env.work("out")), ["2026-07-10-another-s0.md", "manifest.jsonl"]);
}

#[test]
fn a_name_for_one_session_does_not_replace_another_sessions_file() {
    let env = Env::with([
        session("b").with("title", "a").user("I am b"),
        session("a").with("title", "b").user("I am a"),
    ]);
    env.run("export out --format md --session-id a --name '{title}-{id}'").ok();
    let ran = env.run("export out --format md --session-id b").ends(1);
    assert!(ran.stderr.contains("another session"), "{ran}");
    assert!(env.text("out/b-a.md").contains("I am a"));
}

#[test]
fn patterns_that_name_nothing_are_wrong_usage() {
    let env = Env::with([session("s0").user("hello")]);
    let export = "export out --format md --session-id s0 --name";
    env.run(&format!("{export} '{{day}}'")).fails(2).says("{day}").says("{title}");
    env.run(&format!("{export} ../x")).fails(2).says("--name");
    env.run(&format!("{export} ''")).fails(2).says("--name");
    env.run("export out.jsonl --name {id}").fails(2).says("--name does not apply");
    env.run("export one.md --session-id s0 --name {id}").fails(2).says("--name does not apply");
    assert_eq!(names(&env.work("")), Vec::<String>::new());
}
