//! Snapshots for strangers: what is in them, what is not, and what is told before.

use std::fs;

use serde_json::{Value as Json, json};

use crate::env::Env;
use crate::formats;
use crate::publishing::manifest;
use crate::store::{NEWER, SCHEMA, Session, Store, session, talk};
use crate::tree::names;

/// What no stranger may read, by the column that holds it.
const HIDDEN: &[&str] = &[
    "system_prompt",
    "user_id",
    "session_key",
    "chat_id",
    "thread_id",
    "display_name",
    "origin_json",
    "model_config",
    "cwd",
    "git_repo_root",
    "profile_name",
    "billing_base_url",
    "handoff_error",
];

fn private() -> Session {
    let hidden = |session: Session, column: &&'static str| {
        session.with(column, format!("\"private-{column}\""))
    };
    let picture = r#"[{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]"#;
    HIDDEN
        .iter()
        .fold(session("s0").with("title", "Visible title"), hidden)
        .message("system")
        .and("content", "private-instructions")
        .user(format!("write to jane.doe@{}.org", "corp"))
        .user(format!("\0json:{picture}"))
        .assistant("visible answer")
        .and("reasoning", "visible thought")
        .and("codex_reasoning_items", r#"[{"encrypted_content": "private-cipher"}]"#)
        .and("platform_message_id", "private-message")
        .and("tool_calls", r#"[{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}]"#)
        .message("tool")
        .and("tool_call_id", "c1")
        .and("content", "visible output")
        .assistant("visible end")
}

fn env() -> Env {
    let env = Env::empty();
    Store::create(&env.db(), &[SCHEMA, NEWER]).add(private());
    env.store().sql("UPDATE sessions SET labels = 'private-labels'");
    env
}

#[test]
fn strangers_see_the_conversation_and_nothing_around_it() {
    let env = env();
    for format in formats::all() {
        format.export(&env, "--session-id s0 --share").ok();
        let written = format.written(&env);
        assert!(!written.contains("private"), "{}: {written}", format.name);
        assert!(!written.contains("jane.doe"), "{}", format.name);
        assert!(written.contains("Shared with hermes-sessions"), "{}: {written}", format.name);
        assert!(written.contains("see"), "{}", format.name);
        if format.only.is_none() {
            for visible in ["visible answer", "visible output"] {
                assert!(written.contains(visible), "{}: {visible}", format.name);
            }
            let thinks = !format.name.ends_with("-plain");
            assert_eq!(written.contains("visible thought"), thinks, "{}", format.name);
        }
    }
}

#[test]
fn the_output_of_tools_can_be_left_out() {
    let env = env();
    for format in formats::all() {
        format.export(&env, "--session-id s0 --share=no-tools").ok();
        assert!(!format.written(&env).contains("visible output"), "{}", format.name);
    }
    let line = &env.run("export - --share=no-tools").ok().lines()[0];
    assert_eq!(line["messages"][4]["content"], "[tool output left out: 14 characters]");
}

#[test]
fn a_folder_for_strangers_has_names_that_tell_nothing_and_keep() {
    let env = env();
    env.run("export shared --format md --session-id s0 --share").ok();
    let before = names(&env.work("shared"));
    let file = before.iter().find(|name| *name != "manifest.jsonl").unwrap();
    assert!(file.starts_with("shared~") && file.len() == "shared~123456789abc.md".len());
    assert!(!file.contains("s0") && !file.contains("visible"));

    env.store().sql("UPDATE sessions SET title = 'Another'");
    env.run("export shared --format md --session-id s0 --share").ok();
    assert_eq!(names(&env.work("shared")), before);
    let line = manifest(&env.work("shared")).pop().unwrap();
    assert_eq!(line["disclosure"], "share");
    assert_eq!(line["redacted"], json!(["secrets", "pii", "paths"]));
}

#[test]
fn an_archive_is_not_handed_on_by_accident() {
    let env = env();
    env.run("export archive --format md --session-id s0").ok();
    let before = names(&env.work("archive"));
    let export = "export archive --format md --session-id s0 --share";
    env.run(export).fails(2).says("not for strangers");
    env.run(&format!("{export} --force")).fails(2).says("not for strangers");
    assert_eq!(names(&env.work("archive")), before);
    env.run("export --format md --session-id s0 --share").fails(2).says("--share needs OUTPUT");
    assert!(!env.hermes("session-exports").exists());
}

#[test]
fn a_shared_file_is_no_copy_of_its_session() {
    let env = Env::with([talk("s0")]);
    env.run("export shared --format md --session-id s0 --share").ok();
    let ran = env.run("verify shared --against-store").ends(1);
    assert!(ran.stdout.contains("s0"), "{ran}");
}

#[test]
fn what_is_in_it_is_told_before_it_is_written() {
    let env = env();
    let dry = env.run("export out.jsonl --share --dry-run").ok();
    insta::assert_snapshot!("share_preview", dry.seen(&env));
    assert_eq!(names(&env.work("")), Vec::<String>::new());
    let ran = env.run("export out.jsonl --share").ok();
    let told = dry.stderr.lines().take_while(|line| !line.starts_with("Would"));
    for line in told {
        assert!(ran.stderr.contains(line), "{line}\n{ran}");
    }
    let report = env.run("export out.jsonl --share --dry-run --json").ok().json();
    let holds = json!({"sessions": 1, "messages": 6, "tool_results": 1, "images": 1, "other_attachments": 0});
    assert_eq!(report["preview"]["holds"], holds);
    assert_eq!((&report["messages"], &report["redactions"]["email"]), (&6.into(), &1.into()));
}

#[test]
fn redaction_is_lifted_only_on_demand_and_columns_stay_out() {
    let env = env();
    let line = &env.run("export - --share --no-redact").ok().lines()[0];
    let content = line["messages"][1]["content"].as_str().unwrap();
    assert!(content.contains("jane.doe"), "{line}");
    assert_eq!((&line["cwd"], &line["labels"]), (&Json::Null, &Json::Null));
}

#[test]
fn a_file_whose_name_tells_the_session_is_warned_about() {
    let env = env();
    env.run("export 'Visible title.jsonl' --share").ok().says("tells which session");
    env.run("export snapshot.jsonl --share").ok().does_not_say("tells which session");
    let text = fs::read_to_string(env.work("snapshot.jsonl")).unwrap();
    assert!(!text.contains("private"), "{text}");
}
