//! Content that wants to act, in every field: it is shown, and that is all.

use serde_json::{Value as Json, json};

use crate::browser::{Browser, Look, Page, is_there};
use crate::env::Env;
use crate::samples::{filler, unindexed};
use crate::store::{Session, session};

/// What would run calls `hit()`.
const INPUTS: [&str; 72] = [
    "<script>hit()</script>",
    "<img src=x onerror=hit()>",
    "[click](javascript:hit())",
    "<a href=\"javascript:hit()\">x</a>",
    "</script><script>hit()</script>",
    "</code></pre></div><script>hit()</script>",
    "<style>*{display:none}</style><link rel=stylesheet href=https://example.org/x.css>",
    "<svg onload=hit()>",
    "\"><svg/onload=hit()>",
    "{script_nonce} {{x}} %s ${hit()} #{hit()}",
    "\u{202e}gpj.exe \u{2066}x\u{2069} a\u{200b}b",
    "\u{0}\u{1b}[31m\u{9b}31m\u{7}\u{8}\u{7f}",
    "<!-- --><meta http-equiv=refresh content=\"0;url=https://example.org\"><base href=https://example.org>",
    "![x](https://example.org/x.png)",
    "<iframe srcdoc=\"<script>parent.hit()</script>\"></iframe><object data=x></object>",
    "<plaintext><template><textarea>",
    "&lt;script&gt;hit()&lt;/script&gt; &amp; &#60;b&#62;",
    "</title><script>hit()</script>",
    "' onmouseover='hit()' x='",
    "\" onfocus=\"hit()\" autofocus tabindex=\"1\" x=\"",
    "` onclick=hit() `",
    "#%E0%A4%A",
    "%22%3E%3Cscript%3Ehit()%3C/script%3E",
    "<math><mi//xlink:href=\"data:x,<script>hit()</script>\">",
    "<noscript><p title=\"</noscript><img src=x onerror=hit()>\">",
    "<form action=javascript:hit()><button>x</button></form>",
    "<input autofocus onfocus=hit()>",
    "<details open ontoggle=hit()>",
    "<video><source onerror=hit()></video>",
    "<body onload=hit()>",
    "<marquee onstart=hit()>",
    "<embed src=javascript:hit()>",
    "<isindex type=image src=1 onerror=hit()>",
    "[x](data:text/html;base64,PHNjcmlwdD5oaXQoKTwvc2NyaXB0Pg==)",
    "[x](vbscript:hit())",
    "[x](JaVaScRiPt&colon;hit())",
    "[x](java\tscript:hit())",
    "<javascript:hit()>",
    "[x]: javascript:hit()\n\n[x]",
    "![x](javascript:hit())",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImhpdCgpIi8+)",
    "![\"onload=\"hit()](https://example.org/\"onerror=\"hit())",
    "[x](https://example.org \"\\\" onclick=\\\"hit()\")",
    "<https://example.org/\"onclick=\"hit()>",
    "https://example.org/\"onmouseover=\"hit()",
    "```\"><script>hit()</script>\nx\n```",
    "```html\n<script>hit()</script>\n```",
    "~~~</pre><script>hit()</script>\n~~~",
    "`</code><script>hit()</script>`",
    "<pre>\n```\n</pre><img src=x onerror=hit()>",
    "# <img src=x onerror=hit()>\n\n| <b> | `|` |\n|--|--|\n| <script>hit()</script> | x |",
    "> <script>\n> hit()\n> </script>",
    "- [ ] <img src=x onerror=hit()>\n- [x] y",
    "<div id=start></div><div id=q></div><a name=one></a>",
    "<img name=body><form id=all><input name=document>",
    "__proto__",
    "constructor",
    "data-do=\"open\" class=isle",
    "<p class=\"session on\" data-do=help>",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<script>hit()</script>\n+<img src=x onerror=hit()>",
    "{\"output\": \"<script>hit()</script>\", \"exit_code\": \"<b>\", \"error\": {\"<b>\": \"</pre>\"}}",
    "{\"diff\": \"-<script>hit()</script>\", \"matches\": [{\"path\": \"<b>\"}], \"todos\": [{\"content\": \"<img src=x onerror=hit()>\", \"status\": \"\\\"><b>\"}]}",
    "{\"data\": {\"web\": [{\"url\": \"javascript:hit()\", \"title\": \"<b>\"}]}, \"results\": [{\"url\": \"data:x\", \"summary\": \"<script>hit()</script>\"}]}",
    "\u{1b}]8;;javascript:hit()\u{1b}\\x\u{1b}]8;;\u{1b}\\ \u{1b}[38;2;1;2",
    "\u{feff}<script>hit()</script>\u{2028}\u{2029}",
    "+ADw-script+AD4-hit()+ADw-/script+AD4-",
    "\u{ff1c}script\u{ff1e}hit()\u{ff1c}/script\u{ff1e}",
    "[CONTEXT COMPACTION — REFERENCE ONLY] <script>hit()</script>",
    "]]><script>hit()</script><![CDATA[",
    "<?php hit(); ?><% hit() %>",
    "<x contenteditable onblur=hit() onfocus=hit() autofocus>lose",
    "\u{e0068}\u{e0069} <SCRIPT\u{2028}>hit()</SCRIPT>",
];

/// Tools that have a view of their own, and one that has none.
const TOOLS: [&str; 14] = [
    "terminal",
    "execute_code",
    "read_file",
    "write_file",
    "patch",
    "search_files",
    "web_search",
    "web_extract",
    "delegate_task",
    "memory",
    "clarify",
    "todo",
    "process",
    "other",
];

/// Calls with this text as name, id and in arguments of every kind.
fn calls(text: &str) -> Json {
    let call = |id: &str, name: &str, arguments: Json| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let fields = json!({
        "command": text, "code": text, "path": text, "content": text, "pattern": text, "query": text,
        "url": text, "urls": [text], "goal": text, "tasks": [{"goal": text}], "message": text,
        "todos": [{"content": text, "status": text, "id": text}], text: [text, {text: text}],
    });
    let mut calls: Vec<Json> =
        TOOLS.iter().map(|name| call(name, name, fields.to_string().into())).collect();
    calls.extend([
        call(text, text, json!({"command": text, text: text}).to_string().into()),
        call(
            "c2",
            "patch",
            json!({"old_string": text, "new_string": "x", "path": text}).to_string().into(),
        ),
        call("c3", "todo", text.into()),
        call("c4", text, json!({text: text, "path": [text]})),
        call("c5", "terminal", json!([text, {text: text}])),
        json!({"id": "c6", "type": text, "function": null}),
        json!({"id": {text: text}, "name": text, "input": {text: text}}),
    ]);
    calls.into()
}

/// Content in parts with this text wherever one can be.
fn parts(text: &str) -> Json {
    json!([
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": text}},
        {"type": "image_url", "image_url": {"url": format!("data:{text};base64,{text}")}},
        {"type": "image_url", "image_url": {"url": format!("https://example.org/{text}"), "detail": text}},
        {"type": "input_audio", "input_audio": {"data": text, "format": text}},
        {"type": "file", "file": {"filename": text, "file_data": text}},
        {"type": text, "depth": text},
        {"type": "text", "text": null},
        {"type": "text", "text": {text: text}},
        text,
    ])
}

/// What a tool returns, in the fields that views know and in others.
fn returned(text: &str) -> Json {
    json!({
        "diff": text, "error": text, "output": text, "content": text, "exit_code": text, text: text,
        "matches": [{"path": text, "line": text, "content": text}, text],
        "data": {"web": [{"url": text, "title": text, "description": text}]},
        "results": [{"url": text, "title": text, "content": text, "summary": text}],
        "todos": [{"content": text, "status": text}],
    })
}

/// A session with this text wherever text can be.
fn full_of(text: &'static str, n: usize) -> Session {
    let quoted = |json: Json| json.to_string();
    let session = session(format!("{n} {text}"))
        .with("title", text)
        .with("started_at", if n.is_multiple_of(9) { 1e300 } else { 1_783_261_800.0 })
        .user(text)
        .assistant(text)
        .and("tool_calls", quoted(calls(text)))
        .and("reasoning_content", format!("{text}{text}"))
        .and("reasoning_details", quoted(json!([{"type": text, text: text}])))
        .message("tool")
        .and("tool_call_id", text)
        .and("tool_name", text)
        .and("content", text)
        .message("tool")
        .and("tool_call_id", "c3")
        .and("tool_name", "todo")
        .and("content", text);
    let session = TOOLS.iter().fold(session, |session, name| {
        session
            .message("tool")
            .and("tool_call_id", *name)
            .and("tool_name", *name)
            .and("content", quoted(returned(text)))
    });
    session
        .message(text)
        .and("content", text)
        .message("system")
        .and("content", text)
        .user(format!("\0json:{}", parts(text)))
        .assistant(format!("\0json:{}", json!(text)))
        .and("tool_calls", text)
        .and("timestamp", text)
}

/// A home with a session for each input, and others before them. Every column that a session or a
/// message leaves open holds the input, those of numbers and unknown ones, too.
fn env(before: impl IntoIterator<Item = Session>) -> Env {
    let inputs = INPUTS.iter().enumerate().map(|(n, text)| full_of(text, n));
    let env = unindexed(before.into_iter().chain(inputs));
    let store = env.store();
    for table in ["sessions", "messages"] {
        store.sql(&format!("ALTER TABLE {table} ADD COLUMN unheard_of TEXT"));
    }
    let open = |table: &str, kept: &[&str]| {
        let columns = store.column(&format!("SELECT name FROM pragma_table_info('{table}')"));
        let columns: Vec<String> =
            columns.into_iter().filter(|column| !kept.contains(&&**column)).collect();
        assert!(columns.contains(&"unheard_of".to_owned()) && columns.len() > 12, "{columns:?}");
        columns
    };
    let kept = ["id", "title", "started_at", "archived"];
    for column in open("sessions", &kept) {
        store.sql(&format!("UPDATE sessions SET {column} = title WHERE id <> 'filler'"));
    }
    let kept = ["id", "session_id", "role", "content", "timestamp", "active", "compacted"];
    for column in open("messages", &kept) {
        store.sql(&format!(
            "UPDATE messages SET {column} = (SELECT title FROM sessions s WHERE s.id = session_id) \
             WHERE {column} IS NULL OR typeof({column}) = 'integer'"
        ));
    }
    env
}

/// `foreign(root)`: everything below that is not of the kinds that a page is made of, after all was
/// done that might make it act.
const FOREIGN: &str = r#"window.foreign = (root) => {
    root.querySelectorAll("details").forEach((fold) => (fold.open = true));
    root.querySelectorAll("*").forEach((element) => element.dispatchEvent(new MouseEvent("mouseover")));
    const words = (text) => new Set(text.split(" "));
    const tags = words("html head meta title style body a header button div input output details summary select " +
        "option optgroup main nav fieldset legend label footer p script section h1 h2 h3 h4 h5 h6 bdi dl dt dd code pre " +
        "time article span b i ul ol li del ins table thead tbody tr th td blockquote em strong s hr br img noscript small dialog kbd");
    const attributes = words("lang class charset http-equiv content name href id type popovertarget popovertargetaction popover hidden " +
        "placeholder aria-label aria-keyshortcuts aria-live aria-current aria-pressed autocomplete spellcheck for title tabindex value " +
        "label checked open datetime rel start src alt data-do data-h data-l data-by data-tag data-tags data-source data-model data-off " +
        "data-away data-show data-n data-none data-href data-title");
    const ids = words("start bar side tools q hits extra who theme auto light dark results");
    const odd = [];
    const met = new Set();
    for (const element of root.querySelectorAll("*")) {
        const name = element.localName;
        if (!tags.has(name)) odd.push(name);
        for (const { name: key, value } of element.attributes) {
            if (!attributes.has(key)) odd.push(`${name} ${key}`);
            if (key === "href" && !/^(#[\w~-]*$|https?:\/\/|mailto:|[^:/?#]+\.html(#|$))/i.test(value)) odd.push(`${name} ${value}`);
            if (key === "src" && !/^data:image\/(png|jpeg|gif|webp);base64,/.test(value)) odd.push(`${name} ${value}`);
            if (key === "http-equiv" && value !== "Content-Security-Policy") odd.push(`${name} ${value}`);
        }
        if (element.id && (met.has(element.id) || !ids.has(element.id) && !/^(m-?\d+|s[-~][\w-]+)$/.test(element.id))) odd.push(`id ${element.id}`);
        met.add(element.id);
        if (name === "script" && element.type !== "text/plain" && element !== document.scripts[document.scripts.length - 1]) odd.push("script");
        if (name === "style" && element.parentElement !== document.head) odd.push("style");
    }
    return odd;
}"#;

/// A page in which what would run is counted.
pub(crate) fn spied<'b>(browser: &'b Browser, env: &Env, file: &str) -> Page<'b> {
    let page = browser.open_url("about:blank", Look::default());
    let spy = "window.hits = 0; window.hit = () => window.hits++; window.alert = window.hit;";
    page.call("Page.addScriptToEvaluateOnNewDocument", &json!({"source": spy}));
    page.go(&format!("file://{}", env.work(file).display()));
    page
}

pub(crate) fn looks_harmless(page: &Page<'_>, what: &str) {
    page.eval(FOREIGN);
    if page.eval("document.documentElement.className") == "many" {
        page.until("document.querySelector('.session.on') !== null");
        // What is plain is looked at below, too.
        let links =
            "[...document.querySelectorAll('.sessions > li > a:not([href=\"#s-filler\"])')]";
        let most = if page.eval("document.querySelector('.isle')").is_null() { 5 } else { 100 };
        let odd = page.eval(&format!(
            "(async () => {{ for (const link of {links}.slice(0, {most})) {{ const section = document.getElementById(link.hash.slice(1)); link.click(); \
                while (!section.matches('.on:has(article)')) await new Promise((go) => setTimeout(go)); \
                const odd = foreign(section); if (odd.length) return [link.hash, odd]; }} }})()"
        ));
        assert_eq!(odd, Json::Null, "{what}");
        assert!(page.eval(&format!("{links}.length")).as_u64().unwrap() > 3);
    }
    assert_eq!(page.eval("foreign(document)"), json!([]), "{what}");
    assert_eq!(page.eval("window.hits"), 0, "{what}");
}

/// Whether a page has asked for nothing but itself, and nothing in it was stopped from acting.
#[track_caller]
pub(crate) fn kept_to_itself(page: &Page<'_>, files: usize) {
    let asked = page.requests();
    let asked: Vec<&String> = asked.iter().filter(|url| *url != "about:blank").collect();
    assert_eq!(asked.len(), files, "{asked:?}");
    assert!(asked.iter().all(|url| url.starts_with("file:")), "{asked:?}");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn nothing_in_any_field_of_a_file_acts() {
    if !is_there() {
        return;
    }
    let env = env([]);
    // Odd cells are warned about; no session is lost.
    env.run("export many.html --no-manifest --lenient").ok().says("Exported 72 sessions");
    let browser = Browser::start();
    let page = spied(&browser, &env, "many.html");
    assert_eq!(page.eval("document.querySelectorAll('.isle').length"), 0);
    looks_harmless(&page, "plain");
    kept_to_itself(&page, 1);
}

#[test]
fn nothing_in_any_field_of_a_packed_file_acts() {
    if !is_there() {
        return;
    }
    let env = env([filler()]);
    env.run("export packed.html --no-manifest --lenient").ok().says("Exported 73 sessions");
    let browser = Browser::start();
    let page = spied(&browser, &env, "packed.html");
    assert_eq!(page.eval("document.querySelectorAll('.isle').length"), 70);
    looks_harmless(&page, "packed");
    kept_to_itself(&page, 1);
}

#[test]
fn nothing_in_any_field_of_a_folder_acts() {
    if !is_there() {
        return;
    }
    let env = env([]);
    env.run("export site/ --format html --no-manifest --lenient").ok().says("Exported 72 sessions");
    let browser = Browser::start();
    let page = spied(&browser, &env, "site/index.html");
    looks_harmless(&page, "index.html");
    let mut files = 1;
    for entry in std::fs::read_dir(env.work("site")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_plain = |c: char| c.is_alphanumeric() || "-_.~".contains(c);
        assert!(name.chars().all(is_plain), "{name}");
        page.go(&format!("file://{}", env.work("site").join(&name).display()));
        looks_harmless(&page, &name);
        files += 1;
    }
    assert_eq!(files, 75);
    kept_to_itself(&page, files);
}

#[test]
fn all_of_a_hostile_text_can_be_read() {
    if !is_there() {
        return;
    }
    let env = env([]);
    env.run("export many.html --no-manifest --lenient").ok();
    let browser = Browser::start();
    let page = browser.open(&env.work("many.html"), Look { script: false, ..Look::default() });
    let texts: Vec<&str> = INPUTS.to_vec();
    // What is in a system message stands as it is, but for what cannot be seen.
    let missing = page.eval(&format!(
        "(() => {{ const plain = (text) => text.replace(/⟨U\\+[0-9A-F]+⟩|[\\u2400-\\u2421]|[\\u0000-\\u001f\\u007f-\\u009f\\u200b\\u2028-\\u202e\\u2066-\\u2069\\ufeff]|[\\u{{e0000}}-\\u{{e007f}}]/gu, '').replace(/\\s+/g, ' ').trim(); \
         const shown = [...document.querySelectorAll('article.s .x')].map((x) => plain(x.textContent)); \
         return {}.filter((text) => !shown.includes(plain(text))); }})()",
        json!(texts)
    ));
    assert_eq!(missing, json!([]));
}

#[test]
fn what_stands_behind_the_hash_is_never_run_and_never_breaks_the_page() {
    if !is_there() {
        return;
    }
    let few = || ["a", "b", "c", "d"].map(|id| session(id).user("x"));
    let packed = unindexed([filler()].into_iter().chain(few()));
    packed.run("export packed.html --no-manifest").ok();
    let env = unindexed(few());
    env.run("export one.html --session-id b --no-manifest").ok();
    env.run("export site/ --format html").ok();
    let browser = Browser::start();
    let ids = [
        "start",
        "m999999",
        "m-1",
        "q",
        "s-",
        "__proto__",
        "constructor",
        "%",
        "%00",
        "m1%",
        ".on",
    ];
    let hashes = json!(INPUTS.iter().copied().chain(ids).collect::<Vec<_>>());
    for (env, name) in [(&packed, "packed.html"), (&env, "one.html"), (&env, "site/search.html")] {
        let page = spied(&browser, env, name);
        // As it is, or as it would be written.
        page.eval(&format!(
            "(async () => {{ for (const [n, hash] of {hashes}.entries()) {{ \
                location.hash = n % 2 ? hash : encodeURIComponent(hash); await new Promise((go) => setTimeout(go)); }} }})()"
        ));
        for hash in ["#%E0%A4%A", "#<script>hit()</script>", "#q=%E0%A4%A", "#m2"] {
            page.go(&format!("file://{}?{}{hash}", env.work(name).display(), hash.len()));
        }
        looks_harmless(&page, name);
        if name == "packed.html" {
            page.until("document.querySelectorAll('.session.on').length === 1");
        }
        kept_to_itself(&page, 5);
    }
}
