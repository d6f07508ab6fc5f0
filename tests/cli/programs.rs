//! Formats that programs on the path write, and programs that fail at it.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::env::{Env, PROGRAM, Ran};
use crate::publishing::manifest;
use crate::store::{Session, session, talk};
use crate::tree::{Tree, names};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/programs")
}

/// Runs a command line with these folders before the usual ones on the path.
fn run_on(env: &Env, folders: &str, how: &str, line: &str) -> Ran {
    let usual = std::env::var("PATH").unwrap();
    let mut command = env.around("sh");
    command
        .args(["-c", &format!("exec \"$0\" {line}"), PROGRAM])
        .env("PATH", format!("{folders}:{usual}"))
        .env("HOW", how);
    Ran::new(format!("HOW={how} {line}"), command.output().unwrap())
}

fn run(env: &Env, line: &str) -> Ran {
    run_on(env, programs().to_str().unwrap(), "", line)
}

fn broken(env: &Env, how: &str, line: &str) -> Ran {
    run_on(env, programs().to_str().unwrap(), how, line)
}

fn sessions() -> [Session; 2] {
    let secret = format!("{}_{}", "ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    [talk("s0").with("title", "* One"), talk("s1").user(format!("my token is {secret}"))]
}

#[test]
fn a_program_writes_one_file_of_all_sessions() {
    let env = Env::with(sessions());
    run(&env, "export all.txt --format count").ok();
    assert_eq!(env.text("all.txt"), "5 messages\n");
    let line = manifest(&env.work("")).pop().unwrap();
    assert_eq!((&line["format"], &line["message_count"]), (&json!("count"), &json!(5)));
    run(&env, "verify .").ok();
    assert_eq!(run(&env, "export - --format count").ok().stdout, "5 messages\n");
    run(&env, "export missing.txt --format count --dry-run").ok().says("Would export 2 sessions");
    assert_eq!(names(&env.root().join("tmp")), Vec::<String>::new());
}

#[test]
fn a_program_writes_a_file_for_each_session() {
    let env = Env::with(sessions());
    run(&env, "export out --format org --source cli").ok();
    assert_eq!(names(&env.work("out")), ["manifest.jsonl", "s0-one.org", "s1.org"]);
    let wanted = "#+TITLE: * One\n* user\n: question of s0\n* assistant\n: answer of s0\n";
    assert_eq!(env.text("out/s0-one.org"), wanted);
    let json = run(&env, "export out --format org --source cli --json").ok().json();
    assert_eq!((&json["unchanged"], &json["exported"]), (&2.into(), &0.into()));
}

#[test]
fn a_program_is_given_redacted_rows_alone() {
    let env = Env::with(sessions());
    run(&env, "export events --format events --redact").ok();
    let events = env.text("events");
    assert!(events.contains("[REDACTED:github-pat]") && !events.contains("ghp_"), "{events}");
    run(&env, "export shared --format events --share").ok();
    assert!(env.text("shared").contains(r#""provenance": "Shared with"#));
}

#[test]
fn a_program_says_which_messages_it_wants() {
    let env = Env::with([talk("s0").user("set aside").compacted()]);
    run(&env, "export all --format events").ok();
    assert!(env.text("all").contains("set aside"));
    run(&env, "export active --format events --messages active").ok();
    assert!(!env.text("active").contains("set aside"));
    run(&env, "export joined --format events --lineage logical").ok();
    run(&env, "export joined.txt --format count --lineage logical").fails(2).says("--lineage");
}

#[test]
fn a_program_that_fails_leaves_no_file_and_no_line() {
    for (how, told) in [
        ("crash", "failed (exit status: 3)"),
        ("early", "stopped reading before the end"),
        ("early-crash", "failed (exit status: 5)"),
        ("killed", "failed (signal: 9"),
        ("silent", "wrote nothing"),
        ("hang", "did nothing for 1 seconds"),
        ("deaf", "did nothing for 1 seconds"),
        ("mute", "describe: EOF"),
        ("sick", "failed (exit status: 4)"),
        ("foreign", "it speaks protocol [7], and we speak 1"),
        ("escaping", "is no extension"),
        ("stuck", "did nothing for 1 seconds"),
    ] {
        // More than a pipe holds, so that one that does not read is noticed while it is written to.
        let env = Env::with([session("s0").user("x".repeat(200_000)), talk("s1")]);
        fs::write(env.work("all.txt"), "as it was").unwrap();
        let before = Tree::of(&env.root());
        let ran = broken(&env, how, "export all.txt --format broken --format-timeout 1");
        let ran = ran.fails(1).says("hermes-export-broken").says(told);
        Tree::of(&env.root()).assert_is(&before);
        assert!(!ran.stderr.contains("panicked"), "{ran}");
    }
}

#[test]
fn a_program_that_reads_nothing_of_a_small_file_is_noticed() {
    let env = Env::with([talk("s0")]);
    broken(&env, "early", "export all.txt --format broken").fails(1).says("stopped reading");
    assert_eq!(names(&env.work("")), Vec::<String>::new());
}

#[test]
fn a_program_that_fails_at_one_session_writes_the_others() {
    let env = Env::with([talk("s0"), talk("s1"), talk("s2")]);
    let line = "export out --format broken --source cli";
    let usual = std::env::var("PATH").unwrap();
    let mut command = env.around("sh");
    command
        .args(["-c", &format!("exec \"$0\" {line}"), PROGRAM])
        .env("PATH", format!("{}:{usual}", programs().display()))
        .env("HOW", "crash-on-s1")
        .env("LAYOUT", "file-per-session");
    let ran = Ran::new(line.to_owned(), command.output().unwrap()).ends(1);
    let ran = ran.says("session s1 was not exported: hermes-export-broken failed");
    assert_eq!(names(&env.work("out")), ["manifest.jsonl", "s0.txt", "s2.txt"], "{ran}");
    assert_eq!(manifest(&env.work("out")).len(), 2);
}

#[test]
fn a_program_that_is_not_there_or_may_not_be_run_is_named() {
    let env = Env::with([talk("s0")]);
    let ran = run(&env, "export x --format absent").fails(2).says("there is no format `absent`");
    ran.says("hermes-export-absent on the path").says("jsonl");
    fs::create_dir(env.work("bin")).unwrap();
    fs::write(env.work("bin/hermes-export-dead"), "#!/bin/sh\n").unwrap();
    let bin = env.work("bin").display().to_string();
    run_on(&env, &bin, "", "export x --format dead")
        .fails(1)
        .says("bin/hermes-export-dead is not executable");
    run(&env, "export x --format ../programs/hermes-export-count").fails(2);
    run(&env, "export x.jsonl --format-timeout 5").fails(2).says("--format-timeout");
    assert_eq!(names(&env.work("")), ["bin/", "bin/hermes-export-dead"]);
}

#[test]
fn nothing_in_the_current_folder_is_run() {
    let env = Env::with([talk("s0")]);
    fs::copy(programs().join("hermes-export-count"), env.work("hermes-export-count")).unwrap();
    for path in ["", ".", "./", "../work"] {
        run_on(&env, path, "", "export x --format count").fails(2).says("no format");
        let listed = run_on(&env, path, "", "formats").ok();
        assert!(!listed.stdout.contains("count"), "{path}: {listed}");
    }
}

#[test]
fn programs_are_listed_with_what_they_say_of_themselves() {
    let env = Env::empty();
    let table = broken(&env, "sick", "formats").ok();
    assert!(table.stdout.contains("an Org outline, a file for each session"), "{table}");
    assert!(table.stdout.contains("hermes-export-broken failed (exit status: 4)"), "{table}");
    let json = broken(&env, "sick", "formats --json").ok().json();
    let listed = json["programs"].as_array().unwrap();
    let names: Vec<&str> = listed.iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["broken", "count", "events", "org"]);
    assert!(
        listed[3]["program"].as_str().unwrap().ends_with("fixtures/programs/hermes-export-org")
    );
}
