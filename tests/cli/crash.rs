//! Killed, interrupted, or out of space: what has a name is whole, and what the manifest says is true.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::env::{Env, text};
use crate::formats::{self, Format};
use crate::publishing::manifest;
use crate::store::{session, talk};
use crate::tree::{Tree, names, sha256};

const KILLS: u64 = 15;

/// Sessions that make a run long enough to be caught in the middle: few and heavy for one file,
/// many and light for a file each.
fn long_run(format: &Format) -> Env {
    let (sessions, weight) = if format.has_folder() { (100, 100) } else { (150, 4000) };
    Env::with((0..sessions).map(|n| {
        let id = format!("s{n:03}");
        session(id.clone())
            .with("title", format!("Talk {n}"))
            .user(id.repeat(weight))
            .assistant("ok")
    }))
}

/// A format that writes one file and, if there is any, one that writes a folder: what happens to
/// files is the same for all of a kind.
fn one_of_each_kind() -> impl Iterator<Item = &'static Format> {
    let kind = |folder| formats::all().iter().find(move |format| format.has_folder() == folder);
    [kind(false), kind(true)].into_iter().flatten()
}

/// The bytes of all files below a folder, finished and not.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => bytes_in(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0, // it has just got another name
        })
        .sum()
}

/// Waits until a run has written so much; false where it ended before.
fn caught(child: &mut Child, folder: &Path, point: u64) -> bool {
    let begun = Instant::now();
    while bytes_in(folder) < point {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "the run neither goes on nor ends");
        thread::yield_now();
    }
    child.try_wait().unwrap().is_none()
}

struct Run<'f> {
    format: &'f Format,
    env: Env,
}

impl Run<'_> {
    fn start(&self) -> Child {
        let output = if self.format.has_folder() {
            "out".to_owned()
        } else {
            format!("out/all.{}", self.format.extension)
        };
        let words = ["export", &output, "--format", &self.format.name, "--older-than", "0"];
        self.env.command(&words).stderr(Stdio::null()).spawn().unwrap()
    }

    fn folder(&self) -> std::path::PathBuf {
        self.env.work("out")
    }

    fn finish(&self) -> BTreeMap<String, String> {
        assert!(self.start().wait().unwrap().success());
        let listed = names(&self.folder());
        listed
            .into_iter()
            .filter(|name| name != "manifest.jsonl")
            .map(|name| (name.clone(), sha256(&self.folder().join(&name))))
            .collect()
    }

    /// Every name is a whole file, and every line is true or its file absent.
    fn assert_whole(&self, wanted: &BTreeMap<String, String>) {
        for name in names(&self.folder()) {
            if !name.starts_with(".hermes-sessions-") && name != "manifest.jsonl" {
                assert_eq!(wanted.get(&name), Some(&sha256(&self.folder().join(&name))), "{name}");
            }
        }
        if self.folder().join("manifest.jsonl").exists() {
            for line in manifest(&self.folder()) {
                let path = self.folder().join(text(&line["path"]));
                assert!(!path.exists() || line["sha256"] == sha256(&path), "{line}");
            }
        }
    }
}

#[test]
fn a_run_that_is_killed_leaves_whole_files_and_true_lines() {
    for format in one_of_each_kind() {
        let run = Run { format, env: long_run(format) };
        // Beside a running Hermes files are published while others are still being written.
        let hermes = run.env.store();
        assert_eq!(hermes.count("FROM compression_locks"), 0);
        fs::create_dir(run.folder()).unwrap();
        let wanted = run.finish();
        let total = bytes_in(&run.folder());
        let mut kills = 0;
        for n in 0..KILLS {
            fs::remove_dir_all(run.folder()).unwrap();
            fs::create_dir(run.folder()).unwrap();
            // Points that no period of the program can hide behind.
            let point = 1 + total * (n * 7 % KILLS) / KILLS + n * 997;
            let mut child = run.start();
            if caught(&mut child, &run.folder(), point) {
                child.kill().unwrap();
                kills += 1;
            }
            child.wait().unwrap();
            run.assert_whole(&wanted);
            if n % 7 == 6 {
                assert_eq!(run.finish(), wanted, "{}: the next run tidies up", format.name);
                run.env.run("verify out").ok();
            }
        }
        assert!(kills > KILLS / 3, "{}: only {kills} runs were caught", format.name);
    }
}

#[test]
fn a_run_that_is_killed_while_it_replaces_leaves_the_old_file_or_the_new_one() {
    let format = formats::named("jsonl").unwrap();
    let run = Run { format, env: long_run(format) };
    fs::create_dir(run.folder()).unwrap();
    let old = run.finish();
    run.env.store().add(session("new").user("new"));
    let total = bytes_in(&run.folder());
    for n in 0..6 {
        let mut child = run.start();
        if caught(&mut child, &run.folder(), total + 1 + total * n / 6) {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        let now = sha256(&run.folder().join("all.jsonl"));
        let lines = fs::read_to_string(run.folder().join("all.jsonl")).unwrap();
        assert!(now == old["all.jsonl"] || crate::env::parsed_lines(&lines).len() == 151);
    }
    run.finish();
    assert_eq!(names(&run.folder()), ["all.jsonl", "manifest.jsonl"]);
    run.env.run("verify out").ok();
}

#[test]
fn a_run_that_is_told_to_end_tidies_up() {
    let format = formats::named("jsonl").unwrap();
    let run = Run { format, env: long_run(format) };
    fs::create_dir(run.folder()).unwrap();
    run.finish();
    run.env.store().add(session("new").user("new"));
    let before = Tree::of(&run.folder());
    let mut child = run.start();
    let begun = bytes_in(&run.folder()) + 300_000;
    assert!(caught(&mut child, &run.folder(), begun), "the run was too quick to be told");
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    Tree::of(&run.folder()).assert_is(&before);
}

/// A limit on the size of files stands for a disk that is full.
#[test]
fn a_full_disk_ends_the_run_with_the_reason_and_the_old_files() {
    for format in formats::all() {
        let big = session("big").user("many words ".repeat(9000)).assistant("Yes.");
        let env = Env::with([talk("s0"), big]);
        format.export(&env, "--session-id s0").ok();
        let before = Tree::of(&env.work(""));
        let script = format!(
            "trap '' XFSZ; ulimit -f 40; exec \"$0\" export {} --format {} --older-than 0",
            format.output(),
            format.name
        );
        env.shell(&script).fails(1).says("cannot write").says("caused by: File too large");
        Tree::of(&env.work("")).assert_is(&before);
    }
}
