//! Files appear whole, for their owner alone, inside their folder, with a manifest line each.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::env::{Env, Ran, parsed_lines, text};
use crate::formats;
use crate::store::{NOW, talk};
use crate::tree::{Tree, names, sha256};

/// The lines of a folder's manifest.
pub(crate) fn manifest(folder: &Path) -> Vec<Json> {
    parsed_lines(&fs::read_to_string(folder.join("manifest.jsonl")).unwrap())
}

/// Where a format's manifest stands.
fn folder_of(env: &Env, format: &formats::Format) -> std::path::PathBuf {
    if format.has_folder() { env.work(&format.output()) } else { env.work("") }
}

#[test]
fn a_file_and_its_manifest_are_all_that_is_left() {
    for format in formats::all() {
        let env = Env::with([talk("s0")]);
        format.export(&env, "--session-id s0").ok();
        let folder = folder_of(&env, format);
        let wanted =
            if format.has_folder() { format!("s0.{}", format.extension) } else { format.output() };
        let mut wanted = [wanted, "manifest.jsonl".to_owned()];
        wanted.sort();
        assert_eq!(names(&folder), wanted);
        assert_eq!(names(&env.root().join("tmp")), Vec::<String>::new());
    }
}

#[cfg(unix)]
#[test]
fn files_and_new_folders_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for format in formats::all() {
        let env = Env::with([talk("s0")]);
        let line = format!(
            "umask 000; \"$0\" export {} --format {} --session-id s0",
            format.output(),
            format.name
        );
        env.shell(&line).ok();
        for file in format.files(&env) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
        let folder = folder_of(&env, format);
        assert_eq!(mode(&folder.join("manifest.jsonl")), 0o600);
        if format.has_folder() {
            assert_eq!(mode(&folder), 0o700);
        }
    }
}

#[test]
fn a_manifest_line_describes_its_file() {
    for format in formats::all() {
        let env = Env::with([talk("s0"), talk("s1")]);
        format.export(&env, "--session-id s0 --session-id s1").ok();
        let folder = folder_of(&env, format);
        let lines = manifest(&folder);
        assert_eq!(lines.len(), if format.has_folder() { 2 } else { 1 });
        for line in &lines {
            let path = folder.join(text(&line["path"]));
            assert!(Path::new(&text(&line["path"])).is_relative());
            assert_eq!(line["sha256"], sha256(&path));
            assert_eq!(line["bytes"], fs::metadata(&path).unwrap().len());
            assert_eq!(line["format"], format.name);
            let redacted =
                if format.redacts_by_default { json!(["secrets"]) } else { json!(false) };
            assert_eq!((&line["exported_at"], &line["redacted"]), (&json!(NOW), &redacted));
            assert_eq!(line["redactions"], json!({}));
            assert!(text(&line["tool"]).starts_with("hermes-sessions "));
            assert_eq!(line["message_count"], if format.has_folder() { 2 } else { 4 });
            assert!(line.get("lineage_session_ids").is_some());
            if format.has_folder() {
                assert_eq!(json!([line["session_id"]]), line["lineage_session_ids"]);
            } else {
                assert_eq!(
                    (&line["session_id"], &line["session_ids"]),
                    (&Json::Null, &json!(["s0", "s1"]))
                );
            }
        }
    }
}

#[test]
fn one_file_is_replaced_whole_and_the_last_line_for_it_is_true() {
    let env = Env::with([talk("s0"), talk("s1")]);
    env.run("export all.jsonl").ok();
    env.run("export all.jsonl --session-id s1").ok();
    assert_eq!(env.jsonl("all.jsonl").len(), 1);
    let lines = manifest(&env.work(""));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["sha256"], sha256(&env.work("all.jsonl")));
}

#[test]
fn a_run_that_changes_nothing_adds_no_line_and_leaves_the_file() {
    for format in formats::all() {
        let env = Env::with([talk("s0")]);
        format.export(&env, "--session-id s0").ok();
        let before = Tree::of(&env.work(""));
        let times = |env: &Env| -> Vec<_> {
            format
                .files(env)
                .iter()
                .map(|file| fs::metadata(file).unwrap().modified().unwrap())
                .collect()
        };
        let modified = times(&env);
        format.export(&env, "--session-id s0").ok().says("1 unchanged");
        Tree::of(&env.work("")).assert_is(&before);
        assert_eq!(times(&env), modified);
    }
}

#[test]
fn no_manifest_records_nothing() {
    for format in formats::all() {
        let env = Env::with([talk("s0")]);
        format.export(&env, "--session-id s0 --no-manifest").ok();
        assert_eq!(format.files(&env).len(), 1);
        assert!(!folder_of(&env, format).join("manifest.jsonl").exists());
    }
}

#[test]
fn a_failed_export_leaves_the_old_file() {
    let env = Env::with([talk("s0")]);
    env.run("export all.jsonl").ok();
    let before = Tree::of(&env.work(""));
    env.run("export all.jsonl --session-id nope").fails(1);
    fs::write(env.db(), "no database").unwrap();
    env.run("export all.jsonl").fails(1);
    Tree::of(&env.work("")).assert_is(&before);
}

#[cfg(unix)]
#[test]
fn planted_links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let env = Env::with([talk("s0")]);
    fs::write(env.root().join("victim"), "precious").unwrap();
    let victim = || fs::read_to_string(env.root().join("victim")).unwrap();

    symlink(env.root().join("victim"), env.work("all.jsonl")).unwrap();
    env.run("export all.jsonl").ok();
    assert_eq!(victim(), "precious");
    assert!(!fs::symlink_metadata(env.work("all.jsonl")).unwrap().is_symlink());
    assert_eq!(env.jsonl("all.jsonl").len(), 1);

    fs::remove_file(env.work("manifest.jsonl")).unwrap();
    symlink(env.root().join("victim"), env.work("manifest.jsonl")).unwrap();
    let before = Tree::of(&env.root());
    for line in ["export all.jsonl", "export other.jsonl", "verify .", "verify all.jsonl"] {
        env.run(line).ends(1).says("is not a regular file");
    }
    Tree::of(&env.root()).assert_is(&before);
}

#[cfg(unix)]
#[test]
fn a_link_to_nowhere_makes_no_file_elsewhere() {
    let env = Env::with([talk("s0")]);
    std::os::unix::fs::symlink(env.root().join("absent"), env.work("all.jsonl")).unwrap();
    env.run("export all.jsonl").ok();
    assert!(!env.root().join("absent").exists());
    assert_eq!(env.jsonl("all.jsonl").len(), 1);
}

#[test]
fn the_manifest_is_no_place_for_sessions() {
    let env = Env::with([talk("s0")]);
    env.run("export all.jsonl").ok();
    let before = Tree::of(&env.work(""));
    env.run("export manifest.jsonl").fails(2).says("manifest.jsonl");
    Tree::of(&env.work("")).assert_is(&before);
}

#[test]
fn the_store_is_no_place_for_sessions() {
    let env = Env::with([talk("s0")]);
    let before = Tree::of(&env.root());
    let db = env.db().display().to_string();
    let ran = env.run(&format!("export {db} --format jsonl"));
    Tree::of(&env.root()).assert_is(&before);
    ran.fails(2);
}

#[test]
fn a_folder_is_no_file_and_a_file_is_no_folder() {
    let env = Env::with([talk("s0")]);
    fs::create_dir(env.work("folder")).unwrap();
    fs::write(env.work("file"), "mine").unwrap();
    // A page can be a file, and pages can fill a folder.
    for format in formats::all().iter().filter(|format| format.name != "html") {
        let output = if format.has_folder() { "file" } else { "folder" };
        env.run(&format!("export {output} --format {} --session-id s0", format.name))
            .fails(2)
            .says(output);
    }
    assert_eq!(names(&env.work("")), ["file", "folder/"]);
    assert_eq!(env.text("file"), "mine");
}

#[test]
fn a_tilde_in_the_output_is_the_home() {
    let env = Env::with([talk("s0")]);
    env.run("export ~/all.jsonl").ok();
    assert!(env.root().join("home/all.jsonl").is_file());
}

#[test]
fn two_exports_at_once_into_one_folder_do_not_harm_each_other() {
    let env = Env::with((0..40).map(|n| talk("s").with("id", format!("s{n}"))));
    let lines: [&[&str]; 6] = [
        &["export", "a.jsonl"],
        &["export", "b.jsonl", "--messages", "all"],
        &["export", "same.jsonl"],
        &["export", "same.jsonl"],
        &["export", "p.jsonl", "--only", "user-prompts"],
        &["export", "c.jsonl", "--source", "cli"],
    ];
    for _ in 0..3 {
        let children: Vec<_> = lines
            .iter()
            .map(|line| env.command(line).stderr(std::process::Stdio::piped()).spawn().unwrap())
            .collect();
        for child in children {
            Ran::new("at once".to_owned(), child.wait_with_output().unwrap()).ok();
        }
        let wanted = ["a.jsonl", "b.jsonl", "c.jsonl", "manifest.jsonl", "p.jsonl", "same.jsonl"];
        assert_eq!(names(&env.work("")), wanted);
        env.run("verify .").ok().says("5 files intact");
        env.store().add(talk("s").with("id", format!("n{}", env.store().count("FROM sessions"))));
    }
    let paths: BTreeSet<String> =
        manifest(&env.work("")).iter().map(|line| text(&line["path"])).collect();
    assert_eq!(paths.len(), 5);
}

#[test]
fn a_manifest_line_that_was_cut_off_gives_way_to_the_next() {
    let env = Env::with([talk("s0")]);
    fs::write(env.work("manifest.jsonl"), "{\"session_id\": nul").unwrap();
    env.run("export all.jsonl").ok();
    assert_eq!(manifest(&env.work("")).len(), 1);
}
