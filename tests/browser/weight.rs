//! What a page weighs, and that it weighs the same twice: elements a message, bytes against text.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::browser::{Browser, Look, is_there};
use crate::env::Env;
use crate::samples::{exported, filler, unindexed};
use crate::store::{Session, session};

/// Sessions about this very program, with its own prose and code as what is said and read.
fn days_of_work() -> Vec<Session> {
    const IDS: [&str; 10] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let prose = text("README.md") + &text("ARCHITECTURE.md");
    let mut said = prose
        .split("\n\n")
        .filter(|part| part.len() > 80 && !part.contains("```") && !part.contains("|--"))
        .cycle();
    let mut said = || said.next().unwrap().to_owned();
    let files =
        ["src/export/run.rs", "src/store/query.rs", "formats/src/content.rs", "src/cli/select.rs"];
    let code = files.map(|path| (path, text(path)));
    let part = |n: usize| {
        let (path, code) = &code[n % code.len()];
        let lines: Vec<&str> = code.lines().skip(n * 37 % 150).take(40).collect();
        (*path, lines.join("\n"))
    };
    let mut hour = |session: Session, n: usize| {
        let (path, code) = part(n);
        let first = |lines: usize| code.lines().take(lines).collect::<Vec<_>>().join("\n");
        // Files are read, tests are run, files are changed.
        let (tool, arguments, result) = match n % 3 {
            0 => ("read_file", json!({"path": path}), json!({"content": code, "total_lines": 400})),
            1 => {
                let lines: Vec<String> =
                    code.lines().map(|line| format!("test {} ... ok", line.trim())).collect();
                (
                    "terminal",
                    json!({"command": "cargo test"}),
                    json!({"output": lines.join("\n"), "exit_code": 0}),
                )
            }
            _ => {
                let change = json!({"path": path, "old_string": first(6), "new_string": first(6).replace("self", "this") + "\n"});
                ("patch", change, json!({"success": true}))
            }
        };
        let call =
            json!([{"id": "c", "function": {"name": tool, "arguments": arguments.to_string()}}]);
        let session = session
            .user(said().replace('`', ""))
            .assistant(said())
            .and("reasoning", said())
            .and("tool_calls", call.to_string())
            .message("tool")
            .and("tool_call_id", "c")
            .and("tool_name", tool)
            .and("content", result.to_string());
        if n.is_multiple_of(3) {
            session.assistant(format!("{}\n\n```rust\n{}\n```\n\n- {}", said(), first(12), said()))
        } else {
            session.assistant(said())
        }
    };
    let day = |(n, id): (usize, &'static str)| {
        let session = session(id).with("title", format!("Work of {id}"));
        (0..25).fold(session, |session, of| hour(session, n * 25 + of))
    };
    IDS.into_iter().enumerate().map(day).collect()
}

/// The bytes of what was said, thought and asked for in sessions up to this one.
fn said(env: &Env, last: &str) -> usize {
    let bytes = env.store().column(&format!(
        "SELECT n FROM (SELECT sum(length(CAST(content AS BLOB)) + coalesce(length(reasoning), 0) \
         + coalesce(length(tool_calls), 0)) AS n FROM messages WHERE session_id BETWEEN 'd0' AND '{last}')",
    ));
    bytes[0].parse().unwrap()
}

#[test]
fn markup_is_at_most_a_quarter_of_what_was_said() {
    let env = unindexed(days_of_work());
    env.run("export many.html --no-manifest").ok();
    let page = env.text("many.html");
    // Style and script are the same for a session and for a thousand.
    let between = |begin: &str, end: &str| {
        let parts = page.split(begin).skip(1);
        parts.map(|part| part.split(end).next().unwrap().len()).sum::<usize>()
    };
    let assets = between("<style>", "</style>") + between("<script>", "</script>");
    let (bytes, said) = (page.len() - assets, said(&env, "d9"));
    assert!(bytes * 4 <= said * 5, "{bytes} bytes for {said} bytes of text");
}

#[test]
fn a_message_takes_few_elements() {
    if !is_there() {
        return;
    }
    let env = unindexed(days_of_work());
    env.run("export many.html --no-manifest").ok();
    let browser = Browser::start();
    let page = browser.open(&env.work("many.html"), Look::default());
    page.until("document.querySelector('.session.on') !== null");
    let count = page.eval("document.querySelectorAll('*').length").as_u64().unwrap();
    let messages = u64::try_from(env.store().count("FROM messages")).unwrap();
    assert_eq!(messages, 1000);
    assert!(count <= messages * 12, "{count} elements for {messages} messages");
}

#[test]
fn what_is_packed_is_smaller_than_what_was_said() {
    let env = unindexed([filler()].into_iter().chain(days_of_work()));
    env.run("export packed.html --no-manifest").ok();
    let page = env.text("packed.html");
    let packed: Vec<&str> = page
        .split("<section ")
        .filter(|section| section.starts_with("class=\"session packed\" id=\"s-d"))
        .collect();
    assert_eq!(packed.len(), 7, "the newest are plain");
    let bytes: usize = packed.iter().map(|section| section.len()).sum();
    let said = said(&env, "d6");
    assert!(bytes * 10 <= said * 6, "{bytes} bytes for {said} bytes of text");
}

#[test]
fn the_same_sessions_give_the_same_bytes() {
    let (env, packed) = (exported(), unindexed([filler()].into_iter().chain(days_of_work())));
    env.run("export again-one.html --session-id s0 --no-manifest").ok();
    env.run("export again-many.html --no-manifest").ok();
    env.run("export again-site/ --format html").ok();
    packed.run("export packed.html --no-manifest").ok();
    packed.run("export again-packed.html --no-manifest --jobs 1").ok();
    let is_same = |env: &Env, name: &str| {
        assert_eq!(
            fs::read(env.work(name)).unwrap(),
            fs::read(env.work(&format!("again-{name}"))).unwrap(),
            "{name}"
        );
    };
    is_same(&env, "one.html");
    is_same(&env, "many.html");
    is_same(&packed, "packed.html");
    let pages: Vec<String> = fs::read_dir(env.work("site"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "manifest.jsonl")
        .collect();
    assert_eq!(pages.len(), 5);
    for name in pages {
        is_same(&env, &format!("site/{name}"));
    }
}

#[test]
fn nothing_keeps_a_page_from_being_painted() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    for name in crate::samples::PAGES {
        let page = browser.open(&env.work(name), Look::default());
        // What is not in the file cannot be waited for: no style, script, font, picture or hint of one.
        let waits = "[...document.querySelectorAll('link, script[src], base, iframe, object, embed, img:not([src^=\"data:\"])')].length \
            + (document.querySelector('style').textContent.match(/@import|@font-face|url\\(/g) ?? []).length \
            + performance.getEntriesByType('resource').length";
        assert_eq!(page.eval(waits), 0, "{name}");
        let policy = page.eval("document.querySelector('[http-equiv]').content");
        assert!(
            policy.as_str().unwrap().starts_with("default-src 'none'; script-src 'sha256-"),
            "{policy}"
        );
        assert!(!policy.as_str().unwrap().contains("http"), "{policy}");
    }
}
