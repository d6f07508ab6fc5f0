//! `--lineage logical`: a compression chain as one conversation, and never anybody else's text.

use serde_json::{Value as Json, json};

use crate::env::{Env, text};
use crate::formats;
use crate::store::{Session, session};

fn compressed(id: &'static str) -> Session {
    session(id)
        .user(format!("text of {id}"))
        .with("end_reason", "compression")
        .with("input_tokens", 10)
}

/// A root, a delegate and a branch of it, its continuation, and one more.
fn chain() -> Env {
    let said = |id: &'static str| session(id).user(format!("text of {id}"));
    Env::with([
        compressed("root"),
        said("delegate").delegate_of("root"),
        said("branch").branch_of("root"),
        compressed("next").child_of("root"),
        said("later_delegate").delegate_of("next"),
        said("last").child_of("next").with("title", "The end").with("input_tokens", 5),
        said("stranger"),
    ])
}

fn contents(line: &Json) -> Vec<String> {
    line["messages"].as_array().unwrap().iter().map(|message| text(&message["content"])).collect()
}

#[test]
fn a_chain_is_one_document_from_whichever_of_its_sessions() {
    let env = chain();
    let ran = env.run("export - --lineage logical --session-id root").ok();
    let line = &ran.lines()[0];
    assert_eq!(ran.lines().len(), 1, "{ran}");
    assert_eq!(line["lineage_session_ids"], json!(["root", "next", "last"]));
    assert_eq!(contents(line), ["text of root", "text of next", "text of last"]);
    for id in ["next", "last"] {
        let other = env.run(&format!("export - --lineage logical --session-id {id}")).ok();
        assert_eq!(other.stdout, ran.stdout, "from {id}");
    }
}

#[test]
fn a_joined_document_has_the_first_ones_identity_the_last_ones_row_and_sums() {
    let env = chain();
    let line = &env.run("export - --lineage logical --session-id last").ok().lines()[0];
    assert_eq!((&line["id"], &line["parent_session_id"]), (&json!("root"), &Json::Null));
    assert_eq!((&line["title"], &line["end_reason"]), (&json!("The end"), &json!("done")));
    assert_eq!((&line["input_tokens"], &line["message_count"]), (&json!(25), &json!(3)));
    let segments = line["segments"].as_array().unwrap();
    let ids: Vec<&Json> = segments.iter().map(|segment| &segment["id"]).collect();
    assert_eq!(ids, ["root", "next", "last"]);
    assert_eq!(segments[0]["input_tokens"], 10);
}

#[test]
fn delegates_and_branches_are_documents_of_their_own() {
    let env = chain();
    let ids = env.run("export - --lineage logical").ok().ids();
    assert_eq!(ids, ["root", "delegate", "branch", "later_delegate", "stranger"]);
    let single = env.run("export - --lineage single").ok();
    assert_eq!(single.ids().len(), 7);
    assert_eq!(single.stdout, env.run("export -").ok().stdout);
    assert!(single.lines().iter().all(|line| line.get("segments").is_none()));
}

#[test]
fn every_format_that_joins_keeps_the_delegates_text_out() {
    let env = chain();
    // Some formats show what was answered alone.
    env.store().sql(
        "INSERT INTO messages (session_id, role, content, timestamp)
         SELECT id, 'assistant', 'Yes.', started_at + 60 FROM sessions",
    );
    for format in formats::all().iter().filter(|format| format.joins_lineage) {
        format.export(&env, "--lineage logical --session-id next").ok();
        let written = format.written(&env);
        for id in ["root", "next", "last"] {
            assert!(written.contains(&format!("text of {id}")), "{}: {id}", format.name);
        }
        for id in ["delegate", "branch", "later_delegate", "stranger"] {
            assert!(!written.contains(&format!("text of {id}")), "{}: {id}", format.name);
        }
    }
}

#[test]
fn a_child_of_a_session_that_was_not_compressed_is_no_continuation() {
    let env =
        Env::with([session("parent").user("p"), session("child").child_of("parent").user("c")]);
    assert_eq!(env.run("export - --lineage logical").ok().ids(), ["parent", "child"]);
}

#[test]
fn a_branch_mark_wins_over_an_inherited_delegate_mark() {
    let both = r#"{"_branched_from": "root", "_delegate_from": "root"}"#;
    let env = Env::with([
        compressed("root"),
        session("both").child_of("root").with("model_config", both).user("x"),
        session("next").child_of("root").user("y"),
    ]);
    let line = &env.run("export - --lineage logical --session-id root").ok().lines()[0];
    assert_eq!(line["lineage_session_ids"], json!(["root", "next"]));
}

#[test]
fn of_two_continuations_the_first_goes_on_and_the_other_stands_alone() {
    let env = Env::with([
        compressed("root"),
        session("first").child_of("root").user("a"),
        session("second").child_of("root").user("b"),
    ]);
    let ran = env.run("export - --lineage logical").ok();
    assert_eq!(ran.ids(), ["root", "second"]);
    assert_eq!(env.run("export - --lineage logical --session-id second").ok().ids(), ["second"]);
}

#[test]
fn parents_that_do_not_exist_or_are_the_session_itself_end_a_chain() {
    let env = Env::with([
        compressed("itself").child_of("itself"),
        compressed("orphan").child_of("nobody"),
    ]);
    assert_eq!(env.run("export - --lineage logical").ok().ids(), ["itself", "orphan"]);
}

#[test]
fn sessions_whose_parents_form_a_circle_are_in_one_document_each() {
    let env = Env::with([compressed("a").child_of("b"), compressed("b").child_of("a")]);
    let lines = env.run("export - --lineage logical").ok().lines();
    let mut texts: Vec<String> = lines.iter().flat_map(contents).collect();
    texts.sort();
    assert_eq!(texts, ["text of a", "text of b"]);
}
