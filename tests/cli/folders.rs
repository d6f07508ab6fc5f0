//! Formats with a file for each session: what happens to files that are there already.
//!
//! These walk the formats that have a folder; a build without one has nothing to show here.

use std::fs;

use crate::env::{Env, text};
use crate::formats::{self, Format};
use crate::publishing::manifest;
use crate::store::talk;
use crate::tree::{Tree, names, sha256};

fn folder_formats() -> impl Iterator<Item = &'static Format> {
    formats::all().iter().filter(|format| format.has_folder())
}

fn say(env: &Env, id: &str, words: &str) {
    env.store().sql(&format!(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('{id}', 'user', '{words}', 1783700000);
         UPDATE sessions SET message_count = message_count + 1 WHERE id = '{id}'"
    ));
}

#[test]
fn the_default_folder_is_in_the_home_of_hermes() {
    for format in folder_formats() {
        let env = Env::with([talk("s0")]);
        let selection = if format.defaults_to_latest { "--source cli" } else { "--session-id s0" };
        env.run(&format!("export --format {} {selection}", format.name)).ok();
        assert_eq!(
            names(&env.hermes("session-exports")),
            ["manifest.jsonl".to_owned(), format!("s0.{}", format.extension)]
        );
        assert_eq!(names(&env.work("")), Vec::<String>::new());
    }
}

#[test]
fn a_grown_and_renamed_session_has_exactly_one_current_file() {
    for format in folder_formats() {
        let env = Env::with([talk("s").with("title", "Before"), talk("other")]);
        let export = |env: &Env| format.export(env, "--source cli").ok();
        export(&env);
        say(&env, "s", "TWO");
        env.store().sql("UPDATE sessions SET title = 'After' WHERE id = 's'");
        export(&env);
        say(&env, "s", "THREE");
        export(&env);
        let extension = &format.extension;
        let wanted = [
            "manifest.jsonl".to_owned(),
            format!("other.{extension}"),
            format!("s{}.{extension}", if format.named_by_id { "" } else { "-after" }),
        ];
        assert_eq!(names(&env.work(&format.output())), wanted);
        let written = format.written(&env);
        assert!(
            ["question of s", "TWO", "THREE"].iter().all(|part| written.contains(part)),
            "{written}"
        );
        env.run(&format!("verify {}", format.output())).ok().says("2 files intact");
    }
}

#[test]
fn a_file_that_the_manifest_does_not_know_is_left_without_force() {
    for format in folder_formats() {
        let env = Env::with([talk("s0"), talk("s1")]);
        fs::create_dir(env.work(&format.output())).unwrap();
        let name = format!("{}/s0.{}", format.output(), format.extension);
        fs::write(env.work(&name), "mine").unwrap();
        let ran = format.export(&env, "--source cli").ends(1);
        ran.says("session s0 was not exported").says("the manifest does not know it");
        assert_eq!(env.text(&name), "mine");
        assert_eq!(format.files(&env).len(), 2, "the other session is there");
        format.export(&env, "--source cli --force").ok();
        assert!(env.text(&name).contains("question of s0"));
    }
}

#[test]
fn a_file_that_somebody_changed_is_left_without_force() {
    for format in folder_formats() {
        let env = Env::with([talk("s0")]);
        format.export(&env, "--source cli").ok();
        let file = &format.files(&env)[0];
        fs::write(file, "my notes").unwrap();
        format.export(&env, "--source cli").ends(1).says("was changed since it was exported");
        assert_eq!(fs::read_to_string(file).unwrap(), "my notes");
        format.export(&env, "--source cli --force").ok();
        assert!(format.written(&env).contains("question of s0"));
    }
}

#[test]
fn the_old_file_of_a_renamed_session_is_left_where_somebody_changed_it() {
    for format in folder_formats().filter(|format| !format.named_by_id) {
        let env = Env::with([talk("s0").with("title", "Before")]);
        format.export(&env, "--source cli").ok();
        let old = format.files(&env)[0].clone();
        fs::write(&old, "my notes").unwrap();
        env.store().sql("UPDATE sessions SET title = 'After'");
        format.export(&env, "--source cli").ends(1).says("s0-before");
        assert_eq!(fs::read_to_string(&old).unwrap(), "my notes");
        assert_eq!(format.files(&env).len(), 2);
    }
}

#[test]
fn a_run_that_writes_nothing_makes_no_folder() {
    for format in folder_formats() {
        let env = Env::with([talk("s0")]);
        format.export(&env, "--source none").ok().says("nothing was written");
        format.export(&env, "--session-id absent").fails(1);
        format.export(&env, "--session-id s0 --db absent.db").fails(1);
        assert_eq!(names(&env.work("")), Vec::<String>::new());
    }
}

#[test]
fn files_of_the_user_stay() {
    for format in folder_formats() {
        let env = Env::with([talk("s0")]);
        let output = format.output();
        fs::create_dir_all(env.work(&format!("{output}/notes"))).unwrap();
        for name in ["README.md", "notes/s0.md", ".hidden", "x.txt"] {
            fs::write(env.work(&format!("{output}/{name}")), "mine").unwrap();
        }
        format.export(&env, "--source cli --force").ok();
        for name in ["README.md", "notes/s0.md", ".hidden", "x.txt"] {
            assert_eq!(env.text(&format!("{output}/{name}")), "mine");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_planted_link_in_the_folder_leads_nowhere() {
    for format in folder_formats() {
        let env = Env::with([talk("s0")]);
        fs::write(env.root().join("victim"), "precious").unwrap();
        fs::create_dir(env.work(&format.output())).unwrap();
        let name = format!("{}/s0.{}", format.output(), format.extension);
        std::os::unix::fs::symlink(env.root().join("victim"), env.work(&name)).unwrap();
        format.export(&env, "--source cli").ends(1);
        format.export(&env, "--source cli --force").ok();
        assert_eq!(fs::read_to_string(env.root().join("victim")).unwrap(), "precious");
        assert!(env.text(&name).contains("question of s0"));
    }
}

#[test]
fn a_manifest_that_points_outside_deletes_nothing_outside() {
    for format in folder_formats() {
        let env = Env::with([talk("s0").with("title", "Before")]);
        format.export(&env, "--source cli").ok();
        let folder = env.work(&format.output());
        fs::rename(&format.files(&env)[0], env.work("outside")).unwrap();
        let mut line = manifest(&folder).remove(0);
        line["path"] = "../outside".into();
        fs::write(folder.join("manifest.jsonl"), format!("{line}\n")).unwrap();
        env.store().sql("UPDATE sessions SET title = 'After'");
        format.export(&env, "--source cli").ok();
        assert!(env.work("outside").exists());
    }
}

#[test]
fn two_copies_of_one_session_under_names_of_the_users_choice_both_stay() {
    for format in folder_formats() {
        let env = Env::with([talk("s0").user("undone").rewound()]);
        let extension = &format.extension;
        env.run(&format!("export active.{extension} --session-id s0")).ok();
        env.run(&format!("export all.{extension} --session-id s0 --messages all")).ok();
        let wanted = [
            format!("active.{extension}"),
            format!("all.{extension}"),
            "manifest.jsonl".to_owned(),
        ];
        assert_eq!(names(&env.work("")), wanted);
        env.run("verify .").ok();
    }
}

#[test]
fn two_runs_give_the_same_tree() {
    for format in folder_formats() {
        let env = Env::with([talk("s0").with("title", "A b"), talk("s1"), talk("s2")]);
        format.export(&env, "--source cli").ok();
        let first = Tree::of(&env.work(&format.output()));
        fs::remove_dir_all(env.work(&format.output())).unwrap();
        format.export(&env, "--source cli").ok();
        Tree::of(&env.work(&format.output())).assert_is(&first);
        let seen = first.to_string().replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
        insta::assert_snapshot!(format!("tree_{}", format.name), seen);
    }
}

#[test]
fn every_current_line_is_true_after_many_runs() {
    for format in folder_formats() {
        let env = Env::with([talk("s0"), talk("s1")]);
        for n in 0..4 {
            format.export(&env, "--source cli").ok();
            say(&env, "s0", &format!("word {n}"));
        }
        format.export(&env, "--source cli").ok();
        let folder = env.work(&format.output());
        let mut current = std::collections::BTreeMap::new();
        for line in manifest(&folder) {
            current.insert(text(&line["path"]), text(&line["sha256"]));
        }
        assert_eq!(current.len(), 2);
        for (path, sha) in current {
            assert_eq!(sha256(&folder.join(&path)), sha, "{path}");
        }
    }
}
