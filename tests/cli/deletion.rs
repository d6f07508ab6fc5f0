//! `--delete-after-verified`: what is not certainly on the disk stays in the store.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::env::{Env, Ran};
use crate::formats::{self, Format};
use crate::store::{Session, Store, session, talk};
use crate::tree::{Tree, names};

/// The formats in which a deleted session may be kept.
fn keeping() -> impl Iterator<Item = &'static Format> {
    formats::all().iter().filter(|format| ["jsonl", "md", "qmd"].contains(&format.name.as_str()))
}

fn delete(format: &Format, env: &Env, flags: &str) -> Ran {
    format.export(env, &format!("{flags} --delete-after-verified --yes"))
}

/// A session after a compaction in place and a rewind.
fn compacted() -> Session {
    let mut session = session("c1");
    for n in 1..=4 {
        session = session
            .user(format!("ORIGINAL QUESTION {n}"))
            .compacted()
            .assistant(format!("ORIGINAL ANSWER {n}"))
            .compacted();
    }
    session.user("UNDONE").rewound().user("SUMMARY").assistant("TAIL")
}

#[test]
fn every_row_is_in_the_file_before_the_session_is_deleted() {
    for format in keeping() {
        let env = Env::with([compacted(), talk("other")]);
        delete(format, &env, "--session-id c1").ok().says("Deleted 1 session and 11 messages");
        assert_eq!(env.store().session_ids(), ["other"]);
        let written = format.written(&env);
        for n in 1..=4 {
            assert!(written.contains(&format!("ORIGINAL ANSWER {n}")), "{}", format.name);
        }
        assert!(
            written.contains("UNDONE") && written.contains("SUMMARY") && written.contains("TAIL")
        );
    }
}

#[test]
fn the_index_forgets_the_session_and_no_other() {
    for format in keeping() {
        let env =
            Env::with([session("s0").user("secretword here"), session("s1").user("keepword here")]);
        env.store().sql(
            "INSERT INTO session_model_usage (session_id, model) VALUES ('s0', 'm'), ('s1', 'm')",
        );
        let found = |store: &Store, table: &str, word: &str| {
            store.count(&format!("FROM {table} WHERE {table} MATCH '{word}'"))
        };
        assert_eq!(found(&env.store(), "messages_fts", "secretword"), 1);
        delete(format, &env, "--session-id s0").ok();
        let store = env.store();
        for table in ["messages_fts", "messages_fts_trigram"] {
            assert_eq!(found(&store, table, "secretword"), 0, "{table}");
            assert_eq!(found(&store, table, "keepword"), 1, "{table}");
            store.sql(&format!("INSERT INTO {table}({table}) VALUES ('integrity-check')"));
        }
        assert_eq!(store.column("SELECT session_id FROM session_model_usage"), ["s1"]);
        assert_eq!(store.column("PRAGMA integrity_check"), ["ok"]);
        assert_eq!(store.column("SELECT 1 FROM pragma_foreign_key_check"), Vec::<String>::new());
    }
}

#[test]
fn other_sessions_stay_to_the_byte() {
    for format in keeping() {
        let env = Env::with([talk("s0"), talk("s1").with("title", "T"), compacted()]);
        let before = env.run("export - --messages all --session-id s1 --session-id c1").ok().stdout;
        delete(format, &env, "--session-id s0").ok();
        assert_eq!(env.run("export - --messages all").ok().stdout, before);
    }
}

#[test]
fn delegates_are_kept_in_files_and_deleted_with_their_parent() {
    for format in keeping() {
        let env = Env::with([
            talk("parent"),
            session("child").delegate_of("parent").user("CHILD TEXT"),
            session("grandchild").delegate_of("child").user("GRANDCHILD TEXT"),
            talk("other"),
        ]);
        delete(format, &env, "--session-id parent").ok();
        assert_eq!(env.store().session_ids(), ["other"]);
        let on_disk = format.written(&env);
        assert!(on_disk.contains("CHILD TEXT") && on_disk.contains("GRANDCHILD TEXT"));
    }
}

#[test]
fn branches_and_continuations_lose_their_parent_and_stay() {
    for format in keeping() {
        let both = r#"{"_branched_from": "parent", "_delegate_from": "parent"}"#;
        let env = Env::with([
            talk("parent").with("end_reason", "compression"),
            talk("branch").branch_of("parent"),
            talk("both").child_of("parent").with("model_config", both),
            talk("continued").child_of("parent"),
        ]);
        delete(format, &env, "--session-id parent").ok().says("Deleted 1 session");
        let store = env.store();
        assert_eq!(store.session_ids(), ["both", "branch", "continued"]);
        assert_eq!(store.count("FROM sessions WHERE parent_session_id IS NULL"), 3);
        assert_eq!(store.count("FROM messages"), 6);
    }
}

#[test]
fn a_chain_is_deleted_whole_where_it_is_one_document() {
    for format in keeping() {
        let env = Env::with([
            talk("root").with("end_reason", "compression"),
            session("delegate").delegate_of("root").user("DELEGATE TEXT"),
            talk("cont").child_of("root"),
            talk("other"),
        ]);
        delete(format, &env, "--lineage logical --session-id cont").ok();
        assert_eq!(env.store().session_ids(), ["other"]);
        let written = format.written(&env);
        for wanted in ["question of root", "question of cont", "DELEGATE TEXT"] {
            assert!(written.contains(wanted), "{}: {wanted}", format.name);
        }
    }
}

#[test]
fn what_was_deleted_can_be_verified_for_ever() {
    for format in keeping() {
        let env = Env::with([talk("s0"), talk("s1")]);
        delete(format, &env, "--session-id s0").ok();
        let target = if format.has_folder() { format.output() } else { ".".to_owned() };
        env.run(&format!("verify {target}")).ok();
        let json = env.run(&format!("verify {target} --against-store --json")).ends(1).json();
        assert_eq!(json["store"]["gone"], serde_json::json!(["s0"]));
    }
}

#[test]
fn the_report_counts_what_was_deleted() {
    let env = Env::with([compacted()]);
    let line = "export c1.jsonl --session-id c1 --delete-after-verified --yes --json";
    let json = env.run(line).ok().json();
    assert_eq!(json["deleted"], serde_json::json!({"sessions": 1, "messages": 11}));
    let env = Env::with([compacted()]);
    env.run(&format!("{line} -q").replace("--json", "")).ok().silent();
}

#[test]
fn it_is_refused_unless_one_session_is_named_and_all_of_it_is_meant() {
    for format in keeping() {
        let env = Env::with([compacted(), talk("other")]);
        let before = Tree::of(&env.work(""));
        for flags in [
            "--session-id c1 --delete-after-verified",
            "--session-id c1 --session-id other --delete-after-verified --yes",
            "--source cli --delete-after-verified --yes",
            "--older-than 0 --delete-after-verified --yes",
            "--session-id c1 --delete-after-verified --yes --messages active",
            "--session-id c1 --delete-after-verified --yes --messages compacted",
            "--session-id c1 --delete-after-verified --yes --no-manifest",
            "--session-id '' --delete-after-verified --yes",
        ] {
            format.export(&env, flags).fails(2);
        }
        assert_eq!(env.store().session_ids(), ["c1", "other"]);
        Tree::of(&env.work("")).assert_is(&before);
        assert_eq!(names(&env.hermes("")), ["state.db"]);
        format.export(&env, "--session-id absent --delete-after-verified --yes").fails(1);
        assert_eq!(env.store().session_ids(), ["c1", "other"]);
    }
}

#[test]
fn a_stream_is_no_place_to_keep_what_is_deleted() {
    let env = Env::with([talk("s0")]);
    for output in ["-", "/dev/stdout", "/dev/null"] {
        let line = format!("export {output} --session-id s0 --delete-after-verified --yes");
        let ran = env.run(&line);
        assert_ne!(ran.status, Some(0), "{ran}");
        assert_eq!(env.store().session_ids(), ["s0"], "{ran}");
    }
}

#[test]
fn formats_that_lose_something_do_not_delete() {
    for format in
        formats::all().iter().filter(|f| f.only.is_some() || f.name == "html" || f.name == "trace")
    {
        let env = Env::with([talk("s0")]);
        delete(format, &env, "--session-id s0").fails(2).says("nothing was deleted");
        assert_eq!(env.store().session_ids(), ["s0"]);
    }
}

#[test]
fn a_cell_that_lost_something_stops_the_deletion_even_if_lenient() {
    for change in [
        "content = X'00ff01'",
        "content = CAST(X'61ff62' AS TEXT)",
        "timestamp = 9e999",
        "tool_calls = '[{\"function\": {\"name\": \"f\", \"arguments\": \"\\ud800\"}}]'",
    ] {
        for format in keeping() {
            let env = Env::with([talk("s0"), talk("other")]);
            env.store().sql(&format!("UPDATE messages SET {change} WHERE id = 2"));
            let ran = delete(format, &env, "--session-id s0 --lenient").ends(1);
            ran.says("nothing was deleted");
            assert_eq!(env.store().session_ids(), ["other", "s0"]);
            assert_eq!(env.store().count("FROM messages"), 4);
        }
    }
}

#[test]
fn a_damaged_delegate_stops_the_deletion_of_its_parent() {
    for format in keeping() {
        let env = Env::with([talk("s0"), session("d0").delegate_of("s0").user(vec![0xff_u8])]);
        delete(format, &env, "--session-id s0").ends(1).says("nothing was deleted");
        assert_eq!(env.store().session_ids(), ["d0", "s0"]);
    }
}

#[test]
fn a_store_that_is_locked_is_waited_for_and_then_left() {
    let env = Env::with([talk("s0")]);
    let writer = env.store();
    writer.sql("BEGIN IMMEDIATE");
    let ran = delete(formats::named("jsonl").unwrap(), &env, "--session-id s0").ends(3);
    ran.says("in use");
    writer.sql("COMMIT");
    assert_eq!(env.store().session_ids(), ["s0"]);
}

/// Whether a folder has files that are not whole yet.
fn is_writing(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).unwrap().filter_map(Result::ok);
    entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().ends_with(".partial"))
}

/// Starts a deletion that waits for a lock, with its files already on the disk.
fn waiting_deletion(env: &Env, format: &Format) -> Child {
    let output = format.output();
    let words = [
        "export",
        &output,
        "--format",
        &format.name,
        "--session-id",
        "s0",
        "--delete-after-verified",
        "--yes",
    ];
    let child = env.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let manifest = if format.has_folder() {
        env.work(&output).join("manifest.jsonl")
    } else {
        env.work("manifest.jsonl")
    };
    let lines = if format.has_folder() { 2 } else { 1 };
    let recorded = || fs::read_to_string(&manifest).map_or(0, |text| text.lines().count());
    let begun = Instant::now();
    while recorded() < lines || is_writing(manifest.parent().unwrap()) {
        assert!(begun.elapsed() < Duration::from_secs(30), "no manifest line came");
        thread::yield_now();
    }
    child
}

fn ended(child: Child) -> Ran {
    Ran::new("a deletion that waited".to_owned(), child.wait_with_output().unwrap())
}

#[test]
fn any_one_file_that_was_tampered_with_keeps_the_session() {
    for format in keeping() {
        for n in 0..if format.has_folder() { 2 } else { 1 } {
            let env = Env::with([talk("s0"), talk("other")]);
            let writer = env.store();
            writer.sql("BEGIN IMMEDIATE");
            let child = waiting_deletion(&env, format);
            let file = &format.files(&env)[n];
            let whole = fs::read_to_string(file).unwrap();
            // A blank more: JSON that says the same is not the same file, either.
            fs::write(file, whole.replacen(": ", ":  ", 1)).unwrap();
            writer.sql("COMMIT");
            ended(child).ends(1).says("nothing was deleted");
            assert_eq!(env.store().session_ids(), ["other", "s0"], "{}", file.display());
        }
    }
}

#[test]
fn a_file_that_vanished_keeps_the_session() {
    for format in keeping() {
        let env = Env::with([talk("s0")]);
        let writer = env.store();
        writer.sql("BEGIN IMMEDIATE");
        let child = waiting_deletion(&env, format);
        for file in format.files(&env) {
            fs::remove_file(file).unwrap();
        }
        writer.sql("COMMIT");
        ended(child).ends(1);
        assert_eq!(env.store().session_ids(), ["s0"]);
    }
}

#[test]
fn a_session_that_changed_after_it_was_exported_stays() {
    let message = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s0', 'user', 'LATE', 1)";
    let delegate = "INSERT INTO sessions (id, source, parent_session_id, model_config, started_at) \
                    VALUES ('late', 'subagent', 's0', '{\"_delegate_from\": \"s0\"}', 1)";
    for change in [
        message,
        delegate,
        "UPDATE messages SET content = 'edited' WHERE id = 1",
        "UPDATE messages SET active = 0 WHERE id = 1",
        "UPDATE sessions SET title = 'renamed' WHERE id = 's0'",
        "DELETE FROM messages WHERE id = 2",
    ] {
        for format in keeping() {
            let env = Env::with([talk("s0")]);
            let writer = env.store();
            writer.sql("BEGIN IMMEDIATE");
            let child = waiting_deletion(&env, format);
            writer.sql(change);
            writer.sql("COMMIT");
            ended(child).ends(1).says("nothing was deleted");
            assert!(env.store().session_ids().contains(&"s0".to_owned()), "{change}");
        }
    }
}

#[test]
fn an_archive_of_sessions_that_are_gone_is_not_overwritten() {
    let env = Env::with([talk("s0"), talk("s1")]);
    let line =
        |id: &str| format!("export kept.jsonl --session-id {id} --delete-after-verified --yes");
    env.run(&line("s0")).ok();
    let ran = env.run(&line("s1"));
    let kept = env.text("kept.jsonl");
    let stored = env.store().session_ids();
    assert!(kept.contains("question of s0"), "the only copy of s0 is gone\n{ran}");
    assert!(kept.contains("question of s1") || stored.contains(&"s1".to_owned()), "{ran}");
}

#[test]
fn a_file_of_the_user_beside_the_kept_one_is_not_overwritten() {
    for format in keeping().filter(|format| format.has_folder()) {
        let env = Env::with([talk("s0")]);
        let mine = format!("{}/s0.jsonl", format.output());
        fs::create_dir(env.work(&format.output())).unwrap();
        fs::write(env.work(&mine), "mine").unwrap();
        let ran = delete(format, &env, "--session-id s0");
        assert_eq!(env.text(&mine), "mine", "{ran}");
    }
}
