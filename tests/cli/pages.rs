//! Pages as files: what becomes of secrets that only markup puts together, of damaged cells, and in
//! which zone times are shown.

use std::fs;

use crate::env::Env;
use crate::store::{Session, session};
use crate::tree::names;

/// A token that is none in the text, for redaction to find, but is one to whoever reads the page.
fn disguised() -> String {
    let token = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    format!("look at ghp\\_{}**{}**", &token[..20], &token[20..])
}

fn page(env: &Env, name: &str) -> String {
    fs::read_to_string(env.work(name)).unwrap()
}

#[test]
fn a_page_that_still_holds_a_secret_is_left_out_of_a_folder_and_the_rest_is_written() {
    let env = Env::with([session("good").user("hello"), session("bad").user(disguised())]);
    let said = "the finished file still holds what looks like a secret";
    env.run("export site --format html --redact").ends(1).says("session bad").says(said);
    assert_eq!(
        names(&env.work("site")),
        ["good~.html", "index.html", "manifest.jsonl", "search.html"]
    );
    for name in ["index.html", "search.html"] {
        let page = page(&env, &format!("site/{name}"));
        assert!(page.contains("good~.html") && !page.contains("bad~.html"), "{name}");
    }
}

#[test]
fn what_a_large_file_packs_is_searched_like_the_rest() {
    let filler = |id, text: String| {
        let page = "Words that fill a page. ".repeat(8000);
        (0..4).fold(session(id).user(text), |session, _| session.assistant(page.clone()))
    };
    let ids = ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11"];
    let text = |id: &str| if id == "m1" { disguised() } else { "nothing".to_owned() };
    let env = Env::with(ids.map(|id| filler(id, text(id))));
    env.run("export large.html --redact --no-manifest")
        .ends(1)
        .says("the finished file still holds what looks like a secret");
    assert!(!env.work("large.html").exists());
    env.run("export large.html --no-manifest").ok();
    assert!(page(&env, "large.html").contains("class=\"isle\""), "there was something to unpack");
}

#[test]
fn a_damaged_cell_is_shown_as_a_box_where_it_stands() {
    let damaged: Session = session("s0").user("hello").assistant("after");
    let env = Env::with([damaged.and("tool_calls", "[{\"id\": ")]);
    env.store().sql("UPDATE messages SET content = CAST(x'68ff69' AS TEXT) WHERE role = 'user'");
    env.run("export page.html --session-id s0 --no-manifest").ends(1).says("no UTF-8");
    let page = page(&env, "page.html");
    let (_, user) = page.split_once("h\u{fffd}i").unwrap();
    let (user, assistant) = user.split_once("</article>").unwrap();
    let is_box = |markup: &str, column: &str| {
        markup.contains("<p class=\"lost\">") && markup.contains(&format!("<b>{column}</b>"))
    };
    assert!(is_box(user, "content"), "{user}");
    assert!(is_box(assistant, "tool_calls") && assistant.contains("after"), "{assistant}");
}

#[test]
fn times_are_shown_in_the_zone_asked_for() {
    let env = Env::with([session("s0").with("started_at", 1_783_261_800.0).user("hello")]);
    env.run("export page.html --session-id s0 --no-manifest").ok();
    assert!(page(&env, "page.html").contains("2026-07-05 14:30:00 UTC</time>"));
    env.run("export page.html --session-id s0 --no-manifest --tz Asia/Tokyo").ok();
    let there = page(&env, "page.html");
    assert!(there.contains("2026-07-05T14:30:00Z>2026-07-05 23:30:00 +09:00</time>"));
    assert!(there.contains("Times are Asia/Tokyo."));
    env.run("export page.html --session-id s0 --no-manifest --tz Mars/Phobos")
        .fails(2)
        .says("no zone");
    env.run("export page.md --session-id s0 --no-manifest --tz UTC")
        .fails(2)
        .says("does not apply");
}

#[test]
fn strangers_get_what_tools_said_folded() {
    let calls = r#"[{"id": "c1", "function": {"name": "terminal", "arguments": "{}"}}]"#;
    let failed = session("s0").assistant("").and("tool_calls", calls).message("tool");
    let failed =
        failed.and("tool_call_id", "c1").and("content", r#"{"output": "no", "exit_code": 1}"#);
    let env = Env::with([failed]);
    env.run("export page.html --session-id s0 --no-manifest").ok();
    assert!(page(&env, "page.html").contains("<details class=\"tool bad\" open "));
    env.run("export page.html --session-id s0 --no-manifest --share").ok();
    assert!(page(&env, "page.html").contains("<details class=\"tool bad\" id="));
}
