//! Content that wants to act, in every field: it is shown, and that is all.

use serde_json::{Value as Json, json};

use crate::browser::{Browser, Look, is_there};
use crate::env::Env;
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

/// A session with this text wherever text can be.
fn full_of(text: &'static str, n: usize) -> Session {
    let quoted = |json: Json| json.to_string();
    let calls = json!([
        {"id": text, "type": "function", "function": {"name": text, "arguments": json!({"command": text, text: text}).to_string()}},
        {"id": "c2", "type": "function", "function": {"name": "patch", "arguments": json!({"old_string": text, "new_string": "x", "path": text}).to_string()}},
        {"id": "c3", "type": "function", "function": {"name": "todo", "arguments": text}},
        {"id": "c4", "type": "function", "function": null},
    ]);
    let parts = json!([
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": text}},
        {"type": "image_url", "image_url": {"url": format!("data:{text};base64,{text}")}},
        {"type": text, "depth": text},
        {"type": "text", "text": null},
    ]);
    session(format!("{n} {text}"))
        .with("title", text)
        .with("source", text)
        .with("model", text)
        .with("billing_provider", text)
        .with("cwd", text)
        .with("git_branch", text)
        .with("end_reason", text)
        .with("parent_session_id", text)
        .with("system_prompt", text)
        .with("model_config", text)
        .with("started_at", if n.is_multiple_of(9) { 1e300 } else { 1_783_261_800.0 })
        .user(text)
        .and("finish_reason", text)
        .assistant(text)
        .and("reasoning", text)
        .and("reasoning_content", format!("{text}{text}"))
        .and("reasoning_details", quoted(json!([{"type": text, text: text}])))
        .and("tool_calls", quoted(calls))
        .message("tool")
        .and("tool_call_id", text)
        .and("tool_name", text)
        .and("content", text)
        .message("tool")
        .and("tool_call_id", "c2")
        .and("tool_name", "patch")
        .and("content", quoted(json!({"diff": text, "error": text, "output": text})))
        .message("tool")
        .and("tool_call_id", "c3")
        .and("tool_name", "todo")
        .and("content", text)
        .message(text)
        .and("content", text)
        .message("system")
        .and("content", text)
        .user(format!("\0json:{parts}"))
        .assistant(format!("\0json:{}", json!(text)))
        .and("tool_calls", text)
        .and("timestamp", text)
}

/// Everything in the page that is not of the kinds that a page is made of.
const FOREIGN: &str = r#"(() => {
    const tags = new Set(("html head meta title style body a header button div input output details summary select " +
        "option optgroup main nav fieldset legend label footer p script section h1 h2 h3 h4 h5 h6 bdi dl dt dd code pre " +
        "time article span b i ul ol li del ins table thead tbody tr th td blockquote em strong s hr br img noscript small dialog kbd").split(" "));
    const odd = [];
    for (const element of document.querySelectorAll("*")) {
        const name = element.localName;
        if (!tags.has(name)) odd.push(name);
        for (const { name: key, value } of element.attributes) {
            if (/^on|^style$|^srcdoc$|^action$|^formaction$|^xlink/.test(key)) odd.push(`${name} ${key}`);
            if (key === "href" && !/^(#[\w~-]*$|https?:\/\/|mailto:|[^:/?#]+\.html(#|$))/i.test(value)) odd.push(`${name} ${value}`);
            if (key === "src" && !value.startsWith("data:image/")) odd.push(`${name} ${value}`);
        }
        if (name === "script" && element.type !== "text/plain" && element !== document.scripts[document.scripts.length - 1]) odd.push("script");
        if (name === "style" && element.parentElement !== document.head) odd.push("style");
    }
    return odd;
})()"#;

fn looks_harmless(browser: &Browser, env: &Env, page: &str) {
    let file = env.work(page);
    let opened = browser.open_url("about:blank", Look::default());
    let spy = "window.hits = 0; window.hit = () => window.hits++; window.alert = window.hit;";
    opened.call("Page.addScriptToEvaluateOnNewDocument", &json!({"source": spy}));
    opened.go(&format!("file://{}", file.display()));
    opened.eval("document.querySelectorAll('details').forEach((fold) => (fold.open = true))");
    opened.eval("document.querySelectorAll('.session').forEach((one) => one.classList.add('on'))");
    opened.eval("document.querySelectorAll('main *').forEach((element) => { element.dispatchEvent(new MouseEvent('mouseover')); element.focus?.(); })");
    assert_eq!(opened.eval(FOREIGN), json!([]), "{page}");
    assert_eq!(opened.eval("window.hits"), 0, "{page}");
    let asked = opened.requests();
    let others = asked.iter().filter(|url| *url != "about:blank").count();
    assert_eq!(others, 1, "{page} asks for more than itself: {asked:?}");
    assert_eq!(opened.complaints(), [""; 0], "{page}");
}

fn env() -> Env {
    Env::with(INPUTS.iter().enumerate().map(|(n, text)| full_of(text, n)))
}

#[test]
fn nothing_in_any_field_runs_or_becomes_an_element_or_asks_for_anything() {
    if !is_there() {
        return;
    }
    let env = env();
    // Odd cells are warned about; no session is lost.
    env.run("export many.html --no-manifest --lenient").ok().says("Exported 72 sessions");
    env.run("export site/ --format html --no-manifest --lenient").ok().says("Exported 72 sessions");
    env.run("export packed.html --no-manifest --lenient").ok();
    let browser = Browser::start();
    for page in ["many.html", "site/index.html", "site/search.html"] {
        looks_harmless(&browser, &env, page);
    }
    for (n, entry) in std::fs::read_dir(env.work("site")).unwrap().enumerate() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if n.is_multiple_of(8) {
            looks_harmless(&browser, &env, &format!("site/{name}"));
        }
    }
}

#[test]
fn all_of_a_hostile_text_can_be_read() {
    if !is_there() {
        return;
    }
    let env = env();
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
    let env = env();
    env.run("export many.html --no-manifest --lenient").ok();
    let browser = Browser::start();
    for hash in
        ["%E0%A4%A", "<script>", "\"]", "__proto__", "start", "m999999", "q", "s-", "constructor"]
    {
        let url = format!("file://{}#{hash}", env.work("many.html").display());
        let page = browser.open_url(&url, Look::default());
        page.until("document.querySelectorAll('.session.on').length === 1");
        assert_eq!(page.complaints(), [""; 0], "{hash}");
    }
}
