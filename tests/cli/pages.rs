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

/// Two sources, five sessions; one has two pages.
fn two_lots() -> Env {
    let at = |id: &'static str, n: f64| session(id).with("started_at", 1_783_261_800.0 + n * 60.0);
    let long = (0..2010).fold(at("c1", 2.0), |session, n| session.user(format!("number {n}")));
    Env::with([
        at("a0", 0.0).with("title", "</a><b>\u{202e} #tag").user("first lot, \"quoted\" & <so on>"),
        at("b1", 1.0).with("source", "telegram").user("second lot"),
        long,
        at("d1", 3.0).with("source", "telegram").user("second lot, again"),
        at("e0", 3.0).user("first lot, too"),
    ])
}

fn listed(env: &Env) -> Vec<String> {
    let index = page(env, "site/index.html");
    let items = index.split("<li ").skip(1);
    items
        .map(|item| item.split("href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_list_and_the_search_of_a_folder_are_of_all_pages_in_it() {
    let env = two_lots();
    env.run("export site --format html --source cli").ok().says("Exported 3 sessions");
    assert_eq!(listed(&env).len(), 3);
    let first = fs::read(env.work("site/c1.html")).unwrap();
    // What is listed from now on cannot come from the store.
    env.store().sql("DELETE FROM sessions WHERE source = 'cli'");
    env.run("export site --format html --source telegram").ok().says("Exported 2 sessions");
    assert_eq!(listed(&env), ["e0.html", "d1.html", "c1.html", "b1.html", "a0-a-b-tag.html"]);
    assert_eq!(fs::read(env.work("site/c1.html")).unwrap(), first);
    let index = page(&env, "site/index.html");
    assert!(index.contains("<bdi>&lt;/a&gt;&lt;b&gt;⟨U+202E⟩ #tag</bdi>"), "{index}");
    assert!(index.contains("data-tags=\"#tag\"") && index.contains("5 Hermes sessions"));
    let search = page(&env, "site/search.html");
    assert_eq!(search.matches("<div class=\"page\"").count(), 6);
    assert!(search.contains("data-href=\"c1.2.html\""));

    // The same set in one run is the same bytes, and a run that writes nothing new changes nothing.
    let at_once = two_lots();
    at_once.run("export site --format html").ok();
    for name in names(&at_once.work("site")).iter().filter(|name| name.ends_with("html")) {
        let [apart, at_once] = [&env, &at_once].map(|env| page(env, &format!("site/{name}")));
        assert!(apart == at_once, "{name}");
    }
    let before = names(&env.work("site")).len();
    env.run("export site --format html --source telegram").ok().says("2 unchanged");
    assert_eq!(names(&env.work("site")).len(), before);
    assert_eq!(page(&env, "site/search.html"), search);
}

#[test]
fn pages_in_another_form_or_changed_or_gone_are_not_listed() {
    let env = two_lots();
    env.run("export site --format html --source cli").ok();
    env.run("export site --format html --source telegram --redact").ok();
    assert_eq!(listed(&env), ["d1.html", "b1.html"], "redacted pages stay among themselves");
    env.run("export site --format html --source telegram --force").ok();
    assert_eq!(listed(&env).len(), 5);
    fs::remove_file(env.work("site/a0-a-b-tag.html")).unwrap();
    let forged = page(&env, "site/e0.html").replace("first lot", "forged");
    fs::write(env.work("site/e0.html"), forged).unwrap();
    let said = "e0.html, of an earlier export, is not listed: it was changed since it was exported";
    env.run("export site --format html --source telegram").ends(1).says("session e0").says(said);
    assert_eq!(listed(&env), ["d1.html", "c1.html", "b1.html"]);
}

#[cfg(unix)]
#[test]
fn what_a_planted_manifest_and_page_say_is_shown_and_does_not_act() {
    let env = two_lots();
    env.run("export site --format html --source cli").ok();
    let sha = |text: &str| {
        crate::tree::sha256(&{
            let path = env.work("x");
            fs::write(&path, text).unwrap();
            path
        })
    };
    let carried = r"{&quot;id&quot;:&quot;x&quot;,&quot;title&quot;:&quot;\u003c/script&gt;\u003cscript&gt;\u202ehit()&quot;,&quot;source&quot;:&quot;\u0022&gt;\u003cb&gt;&quot;,&quot;model&quot;:&quot;&quot;,&quot;started&quot;:1,&quot;messages&quot;:1}";
    let planted = format!(
        "<meta name=\"hermes-session\" content=\"{carried}\"><main id=\"start\" tabindex=\"-1\"><script>hit()</script>planted</main>"
    );
    let mut lines = env.text("site/manifest.jsonl");
    for name in ["x.html", "javascript:hit().html", "%2e%2e.html", "link.html"] {
        fs::write(env.work("site").join(name), &planted).unwrap();
        let line = serde_json::json!({"session_id": name, "path": name, "format": "html", "message_count": 1,
            "bytes": planted.len(), "sha256": sha(&planted), "exported_at": 1.0});
        lines.extend([line.to_string(), "\n".to_owned()]);
    }
    fs::remove_file(env.work("site/link.html")).unwrap();
    std::os::unix::fs::symlink(env.work("x"), env.work("site/link.html")).unwrap();
    fs::write(env.work("site/manifest.jsonl"), lines).unwrap();
    env.run("export site --format html --source telegram").ends(1).says("link.html");
    let mut names = listed(&env);
    names.sort();
    assert_eq!(names, ["a0-a-b-tag.html", "b1.html", "c1.html", "d1.html", "e0.html", "x.html"]);
    let index = page(&env, "site/index.html");
    assert!(index.contains("<bdi>&lt;/script&gt;&lt;script&gt;⟨U+202E⟩hit()</bdi>"), "{index}");
    assert!(
        !index.contains("<b>") && index.contains("data-source=\"&quot;&gt;&lt;b&gt;\""),
        "{index}"
    );
}

#[test]
fn an_earlier_page_in_which_a_secret_is_found_today_is_not_listed() {
    let [a, b] = [session("a0").user("hello"), session("b1").with("source", "telegram").user("hi")];
    let env = Env::with([a, b]);
    env.run("export site --format html --source cli --redact").ok();
    // As if the rules had not known it then.
    let token = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    fs::write(env.work("site/a0.html"), page(&env, "site/a0.html").replace("hello", &token))
        .unwrap();
    let mut line = env.jsonl("site/manifest.jsonl").remove(0);
    line["sha256"] = crate::tree::sha256(&env.work("site/a0.html")).into();
    line["bytes"] = fs::metadata(env.work("site/a0.html")).unwrap().len().into();
    fs::write(env.work("site/manifest.jsonl"), env.text("site/manifest.jsonl") + &line.to_string())
        .unwrap();
    let run = env.run("export site --format html --source telegram --redact");
    run.ends(1).says("session a0").says("is not listed: it holds what looks like a secret (");
    assert_eq!(listed(&env), ["b1.html"]);
    assert!(!page(&env, "site/index.html").contains(&token));
}

#[test]
fn a_page_names_the_jsonl_that_it_shows_and_what_was_taken_out() {
    let token = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let first = session("s0").with("title", "One").user(format!("use {token}, then {token}"));
    let second = session("s1").child_of("s0").user("on it went").assistant("good");
    let env = Env::with([first.with("end_reason", "compression"), second]);
    for flags in ["--redact", "--share", "--messages all", "--lineage logical"] {
        env.run(&format!("export p.html --session-id s0 --no-manifest --force {flags}")).ok();
        env.run(&format!("export p.jsonl --session-id s0 --no-manifest --force {flags}")).ok();
        let digest = crate::tree::sha256(&env.work("p.jsonl"));
        let said = format!("SHA-256 of its JSONL: <code>{digest}</code>");
        assert!(page(&env, "p.html").contains(&said), "{flags}: {said}");
        let is_told = page(&env, "p.html").contains("Taken out: 2 × github-pat");
        assert_eq!(is_told, flags == "--redact" || flags == "--share", "{flags}");
    }
    env.run("export many.html --no-manifest --redact").ok();
    let many = page(&env, "many.html");
    assert_eq!(many.matches("SHA-256 of its JSONL").count(), 2);
    assert!(many.contains("Nothing had to be taken out."), "in one of them");
}
