//! Standard output, devices and pipes.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use crate::env::{Env, Ran, parsed_lines};
use crate::store::{Session, session, talk};
use crate::tree::{Tree, names};

/// More than a pipe holds.
fn long() -> Session {
    session("long").user("x".repeat(300_000))
}

#[test]
fn standard_output_gets_the_bytes_that_a_file_gets() {
    let env = Env::with([talk("s0"), long(), talk("s1")]);
    env.run("export all.jsonl").ok();
    for output in ["-", "/dev/stdout", "/proc/self/fd/1"] {
        let ran = env.run(&format!("export {output}")).ok();
        assert!(ran.stdout == env.text("all.jsonl"), "{output} differs");
    }
    assert_eq!(names(&env.work("")), ["all.jsonl", "manifest.jsonl"]);
    assert_eq!(names(&env.root().join("tmp")), Vec::<String>::new());
}

#[test]
fn a_redirection_that_appends_keeps_what_was_there() {
    let env = Env::with([talk("s0")]);
    env.shell("echo '{}' > all && \"$0\" export - >> all").ok();
    assert_eq!(env.jsonl("all").len(), 2);
}

#[test]
fn a_redirection_that_appends_keeps_what_was_there_with_a_device_name_too() {
    let env = Env::with([talk("s0")]);
    env.shell("echo '{}' > all && \"$0\" export /dev/stdout >> all").ok();
    assert_eq!(env.jsonl("all").len(), 2);
}

#[test]
fn nothing_is_a_place_to_write_to() {
    let env = Env::with([talk("s0")]);
    let before = Tree::of(&env.root());
    env.run("export /dev/null -q").ok().silent();
    Tree::of(&env.root()).assert_is(&before);
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let env = Env::with([talk("s0"), long(), long().with("id", "long2")]);
    let mut child = env
        .command(&["export", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ran = Ran::new("export - | head -1".to_owned(), child.wait_with_output().unwrap());
    assert_eq!(ran.ok().stderr, "");
    assert_eq!(parsed_lines(&line)[0]["id"], "s0");
    env.shell("\"$0\" export - | head -c 10; \"$0\" formats | true").ok();
}

#[test]
fn a_named_pipe_gets_the_bytes() {
    let env = Env::with([talk("s0"), long()]);
    env.run("export all.jsonl").ok();
    let ran = env.shell("mkfifo pipe && { cat pipe > read & } && \"$0\" export pipe -q && wait");
    ran.ok().silent();
    assert!(env.text("read") == env.text("all.jsonl"));
    assert!(!names(&env.work("")).iter().any(|name| name.contains("partial")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_is_full_is_a_failure() {
    let env = Env::with([talk("s0")]);
    for output in ["- > /dev/full", "/dev/full"] {
        let ran = env.shell(&format!("\"$0\" export {output}")).fails(1);
        ran.says("cannot write").says("No space left");
    }
}

#[test]
fn one_session_of_a_folder_format_goes_to_standard_output_too() {
    let env = Env::with([talk("s0"), talk("s1")]);
    for format in crate::formats::all().iter().filter(|format| format.has_folder()) {
        let ran = env.run(&format!("export - --format {} --session-id s0", format.name)).ok();
        assert!(ran.stdout.contains("question of s0"), "{ran}");
        format.export(&env, "--session-id s0").ok();
        assert_eq!(ran.stdout, format.written(&env));
        let several = format!("export - --format {} --source cli", format.name);
        env.run(&several).fails(2);
    }
    assert!(!names(&env.work("")).contains(&"-".to_owned()));
}

#[test]
fn standard_error_may_be_closed() {
    let env = Env::with([talk("s0")]);
    let mut child = env
        .command(&["export", "-", "--source", "cli"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(parsed_lines(&out).len(), 1);
}
