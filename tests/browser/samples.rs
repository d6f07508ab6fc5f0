//! Sessions as people have them: prose, code, tools, pictures, several languages.

use serde_json::json;

use crate::browser::Page;
use crate::env::Env;
use crate::store::{SCHEMA, Session, Store, session};

/// A picture of one pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn call(id: &str, name: &str, arguments: &serde_json::Value) -> serde_json::Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
}

/// A session with everything that a page knows how to show.
pub(crate) fn rich(id: &'static str) -> Session {
    let output =
        (0..40).map(|n| format!("\u{1b}[32mok\u{1b}[0m {n}")).collect::<Vec<_>>().join("\n");
    let calls = json!([
        call("c1", "terminal", &json!({"command": "cargo test"})),
        call(
            "c2",
            "patch",
            &json!({"path": "a.rs", "old_string": "let a = 1;", "new_string": "let a = 2;"})
        ),
        call(
            "c3",
            "todo",
            &json!({"todos": [{"id": "1", "content": "Write", "status": "completed"}]})
        ),
        call("c4", "web_search", &json!({"query": "weather"})),
    ]);
    let web = json!({"success": true, "data": {"web": [{"title": "Weather", "url": "https://example.org/w", "description": "Sunny"}]}});
    let picture = json!([
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}},
        {"type": "image_url", "image_url": {"url": "https://example.org/remote.png"}},
    ]);
    session(id)
        .with("title", format!("Title of {id} #tag"))
        .with("model", "example/model-1")
        .with("system_prompt", "You are helpful.")
        .user("Please test it, see https://example.org/ci\nSecond line")
        .assistant("## Plan\n\n1. One\n   - nested\n\n```rust\nfn main() {} // zebra\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[docs](https://example.org) ![x](https://example.org/x.png)")
        .and("reasoning", "I should run the tests.")
        .and("tool_calls", calls.to_string())
        .message("tool")
        .and("tool_call_id", "c1")
        .and("tool_name", "terminal")
        .and("content", json!({"output": output, "exit_code": 1, "error": null}).to_string())
        .message("tool")
        .and("tool_call_id", "c2")
        .and("tool_name", "patch")
        .and("content", json!({"success": true}).to_string())
        .message("tool")
        .and("tool_call_id", "c4")
        .and("tool_name", "web_search")
        .and("content", web.to_string())
        .user(format!("\0json:{picture}"))
        .assistant("数据库迁移方案。 مرحبا بالعالم. A zebra, and a line: ".to_owned() + &"word ".repeat(60))
        .user("[CONTEXT COMPACTION — REFERENCE ONLY] Earlier we spoke of zebras.")
        .assistant("    an indented line of code that is much longer than a page is wide, and which therefore has to scroll or wrap")
}

/// A home with these sessions, in a store without indexes of words: large texts are put in quickly.
pub(crate) fn unindexed(sessions: impl IntoIterator<Item = Session>) -> Env {
    let env = Env::empty();
    let store = Store::create(&env.db(), &[SCHEMA]);
    for trigger in store.column("SELECT name FROM sqlite_schema WHERE type = 'trigger'") {
        store.sql(&format!("DROP TRIGGER {trigger}"));
    }
    store.add_all(sessions);
    env
}

/// The oldest session, with more text than a plain page of many takes.
pub(crate) fn filler() -> Session {
    let text = "Words that fill a page. ".repeat(270_000);
    session("filler").with("started_at", 1.0).with("system_prompt", text).user("Enough?")
}

/// A home with three of them, exported in every way that pages come in.
pub(crate) fn exported() -> Env {
    let env = Env::with([rich("s0"), rich("s1").with("source", "telegram"), rich("s2")]);
    env.run("export one.html --session-id s0 --no-manifest").ok();
    env.run("export many.html --no-manifest").ok();
    env.run("export site/ --format html").ok();
    env
}

/// The pages of [`exported`].
pub(crate) const PAGES: [&str; 5] = [
    "one.html",
    "many.html",
    "site/index.html",
    "site/search.html",
    "site/s1-title-of-s1-tag.html",
];

/// A home with more of them than a plain page takes, exported as the page [`PACKED`].
pub(crate) fn exported_packed() -> Env {
    let env = unindexed([
        filler(),
        rich("s0"),
        rich("s1").with("source", "telegram"),
        rich("s2"),
        rich("s3"),
        rich("s4"),
    ]);
    env.run(&format!("export {PACKED} --no-manifest")).ok();
    env
}

pub(crate) const PACKED: &str = "packed.html";

/// Opens a session of [`PACKED`] that is packed.
pub(crate) fn open_packed(page: &Page<'_>) {
    page.eval("document.querySelector('#side a[href=\"#s-s0\"]').click()");
    page.until("document.querySelector('#s-s0.on > .opened article') !== null");
}
