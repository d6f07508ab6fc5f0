//! Stores that somebody made to break a page: every session is there, and can be read.

use serde_json::{Value as Json, json};

use crate::browser::{Browser, Look, is_there};
use crate::hostile::{kept_to_itself, looks_harmless, spied};
use crate::samples::{PNG, unindexed};
use crate::store::{Session, session};

/// Addresses that lead nowhere, or to what acts.
const ADDRESSES: [&str; 26] = [
    "javascript:hit()",
    "JAVASCRIPT:hit()",
    "java\nscript:hit()",
    "&#106;avascript:hit()",
    "&#x6A;avascript&colon;hit()",
    "javascript&#58;hit()",
    "\u{1}javascript:hit()",
    " javascript:hit()",
    "data:text/html,<script>hit()</script>",
    "vbscript:hit()",
    "view-source:x",
    "https:javascript:hit()",
    "http:\\\\example.org",
    "https://a@example.org",
    "https://example.org/%0ajavascript:hit()",
    "mailto:a?subject=<script>",
    "blob:https://x",
    "filesystem:x",
    "about:blank",
    "ms-msdt:/id",
    "file:///etc/passwd",
    "../../../etc/passwd",
    "index.html",
    "#start",
    "?x",
    "//example.org/x",
];

/// The address in every form that Markdown has for one.
fn linked(session: Session, address: &str) -> Session {
    let forms = [
        format!("[x]({address})"),
        format!("[x](<{address}> \"t\")"),
        format!("<{address}>"),
        format!("[x]: {address}\n\n[x]"),
        format!("[y][x]\n\n[x]: <{address}> 't'"),
        format!("![x]({address})"),
        format!("[![x]({address})]({address})"),
        format!("<a href=\"{address}\">x</a>"),
        address.to_owned(),
        format!("[^1]\n\n[^1]: {address}"),
        format!("<https://example.org/{address}>"),
    ];
    forms.into_iter().fold(session, Session::assistant)
}

/// Pictures that are none, or from elsewhere.
fn pictures() -> Session {
    let addresses = [
        "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImhpdCgpIi8+".to_owned(),
        "data:image/svg+xml,<svg onload=hit()>".to_owned(),
        "data:image/png;base64,PHN2ZyBvbmxvYWQ9ImhpdCgpIi8+".to_owned(),
        "data:image/png;base64,%69%56".to_owned(),
        "data:image/png;base64,".to_owned(),
        "data:image/png,x".to_owned(),
        format!("data:text/html;base64,{PNG}"),
        format!("DATA:IMAGE/PNG;BASE64,{PNG}"),
        "https://example.org/x.png".to_owned(),
        "//example.org/x.png".to_owned(),
        "\\\\example.org\\x".to_owned(),
        "file:///etc/passwd".to_owned(),
    ];
    let parts = |part: fn(&String) -> Json| {
        format!("\0json:{}", addresses.iter().map(part).collect::<Json>())
    };
    addresses.iter().fold(
        session("pictures")
            .user(parts(|url| json!({"type": "image_url", "image_url": {"url": url}})))
            .user(parts(|url| json!({"type": "image_url", "image_url": url})))
            .user(parts(|url| json!({"type": "image", "source": {"type": "url", "url": url}})))
            .user(parts(|url| json!({"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": url}}))),
        |session, url| session.assistant(format!("![a]({url}) ![a](<{url}>)")),
    )
}

/// Calls, parts and results that are not what they should be.
fn shapeless() -> Session {
    let calls = [
        "{",
        "[",
        "null",
        "1",
        "\"x\"",
        "[null]",
        "[1]",
        "[\"x\"]",
        "[[]]",
        "[{}]",
        "{\"a\":1}",
        "[{\"function\":null}]",
        "[{\"function\":{\"name\":null,\"arguments\":null}}]",
        "[{\"function\":{\"name\":1,\"arguments\":[1,2]}}]",
        "[{\"id\":1,\"function\":\"x\"}]",
        "[{\"id\":{},\"function\":{\"name\":{\"a\":1},\"arguments\":{\"b\":[{\"c\":\"<b>\"}]}}}]",
        "[{\"function\":{\"name\":\"terminal\",\"arguments\":\"{\\\"command\\\":\"}}]",
        "[{\"function\":{\"name\":\"todo\",\"arguments\":\"{\\\"todos\\\":[1,null,{\\\"content\\\":null}]}\"}}]",
        "[{\"function\":{\"name\":\"delegate_task\",\"arguments\":\"{\\\"tasks\\\":[{\\\"goal\\\":1},{\\\"goal\\\":\\\"x\\\"}]}\"}}]",
        "[{\"function\":{\"name\":\"patch\",\"arguments\":\"{\\\"old_string\\\":1,\\\"new_string\\\":null}\"}}]",
    ];
    let parts = [
        "null",
        "1",
        "\"s\"",
        "[]",
        "{}",
        "[null]",
        "[1]",
        "[[]]",
        "[{\"type\":\"text\"}]",
        "[{\"type\":\"text\",\"text\":{\"a\":1}}]",
        "[{\"type\":null}]",
        "[{\"text\":\"no type\"}]",
        "[{\"type\":\"image_url\",\"image_url\":null}]",
        "[{\"type\":\"image_url\",\"image_url\":{\"url\":[]}}]",
        "{",
        "",
    ];
    let results = [
        "null",
        "[]",
        "{}",
        "1",
        "\"s\"",
        "",
        "{\"output\":null,\"exit_code\":\"x\"}",
        "{\"output\":{\"a\":[1]},\"exit_code\":1e300}",
        "{\"error\":[[]]}",
        "{\"data\":{\"web\":[null,1,{\"url\":null},{\"title\":1}]}}",
        "{\"matches\":[null,{\"path\":1,\"line\":\"x\"}]}",
        "{\"todos\":[null]}",
        "{\"results\":[{\"url\":[],\"content\":{\"a\":1}}]}",
        "{\"diff\":\"@@\\n-a\\n\\\\ No newline\",\"success\":false}",
        "\u{1b}[31",
        "\u{1b}]8;;x",
        "\u{1b}[38;2;300;0;0mx\u{1b}[48;5;999my",
    ];
    let tools = [
        "terminal",
        "read_file",
        "patch",
        "search_files",
        "todo",
        "web_search",
        "web_extract",
        "memory",
    ];
    let session = calls.iter().fold(session("shapeless"), |session, calls| {
        session.assistant("x").and("tool_calls", *calls)
    });
    let session =
        parts.iter().fold(session, |session, part| session.user(format!("\0json:{part}")));
    tools
        .iter()
        .fold(session, |session, tool| {
            results.iter().fold(session, |session, result| {
                session
                    .message("tool")
                    .and("tool_name", *tool)
                    .and("tool_call_id", "c")
                    .and("content", *result)
            })
        })
        .assistant("deep")
        .and("tool_calls", "[".repeat(3000))
        .message("tool")
        .and("content", "{\"a\":".repeat(500))
}

/// What is too long, too deep, too wide.
fn immense() -> Session {
    let table = |columns: usize| {
        format!("{}\n{}\n{}", "|a".repeat(columns), "|-".repeat(columns), "|<b>".repeat(columns))
    };
    let long = session("immense")
        .with("title", "T".repeat(5000))
        .with("model", "m".repeat(3000))
        .with("cwd", format!("/{}", "d".repeat(4000)))
        .user("x".repeat(100_000))
        .message("tool")
        .and("tool_name", "t".repeat(300))
        .and("content", "w".repeat(100_000))
        .user("数".repeat(50_000));
    let texts = [
        format!("`{}`", "y".repeat(100_000)),
        format!("```\n{}\n```", "z".repeat(100_000)),
        format!("# {}", "h".repeat(5000)),
        format!("https://example.org/{}", "u".repeat(10_000)),
        table(10_000),
        format!("{} q", ">".repeat(5000)),
        "- ".repeat(5000),
        format!("{}deep", "> ".repeat(47)),
        "[".repeat(5000) + &"]".repeat(5000),
        "*".repeat(9999),
        "**a ".repeat(5000),
        "<div>".repeat(5000),
        "[a](".repeat(5000),
        "![".repeat(5000),
        "`".repeat(9999) + "a",
        "_a".repeat(9999),
        "[x](a \"".repeat(3000),
        "999999999. big\n1000000000. bigger".to_owned(),
    ];
    texts.into_iter().fold(long, Session::assistant)
}

/// Times, numbers and row ids from beyond the calendar and below zero, and bytes that are no text.
fn odd_cells() -> Vec<Session> {
    let times =
        [1e300, -1e300, -62_135_596_801.0, 253_402_300_800.0, -1.0, 0.0, 9e15, f64::INFINITY];
    let times = times.iter().fold(
        session("times").with("started_at", 9e15).with("ended_at", -1e300),
        |session, time| session.user("when").and("timestamp", *time),
    );
    let numbers = session("numbers")
        .with("input_tokens", -5)
        .with("output_tokens", "many")
        .with("cache_read_tokens", i64::MAX)
        .with("estimated_cost_usd", 1e300)
        .with("actual_cost_usd", -1)
        .with("message_count", -7)
        .with("parent_session_id", "numbers");
    let bytes = session("bytes")
        .with("title", b"\xff\xed\xa0\x80".to_vec())
        .user(b"\xff\xfe\0<script>hit()</script>".to_vec())
        .assistant(b"\xed\xa0\x80\xed\xb0\x80 lone".to_vec())
        .message("tool")
        .and("tool_name", b"\xff".to_vec())
        .and("content", b"\x80".to_vec())
        .assistant(None::<String>)
        .assistant(7);
    let script = session("direction")
        .with("title", "\u{202e}قبل #شارة")
        .user("\u{202e}abc \u{2066}def\u{2069} العربية שלום \u{200f}")
        .assistant("مرحبا **بالعالم** `code` [رابط](https://example.org)\n\n- مرحبا\n- שלום")
        .assistant(format!("{} Z{} 👩‍💻 ﷽", "e\u{301}".repeat(500), "\u{300}".repeat(500)))
        .user("\0\u{1}\u{2}\u{1e}\u{1b}[31m\u{7f}\u{85}");
    let below = session("below")
        .user("one")
        .and("id", -5)
        .user("two")
        .and("id", i64::MIN)
        .user("x")
        .and("id", i64::MAX - 1_000_000);
    let endless = [("loopA", "loopB"), ("loopB", "loopA")]
        .map(|(id, parent)| session(id).child_of(parent).user("x"));
    [times, numbers.user("n"), bytes, script, below].into_iter().chain(endless).collect()
}

/// Ids that are names in a page, in a folder, or nowhere.
const IDS: [&str; 30] = [
    "start",
    "q",
    "side",
    "bar",
    "theme",
    "dark",
    "m1",
    "__proto__",
    "constructor",
    "s-x",
    "on",
    "index",
    "search",
    ".",
    "..",
    "con",
    "a/b",
    "a\\b",
    "%2e%2e",
    "~",
    "-rf",
    "🙂",
    "a b",
    "'",
    "#",
    "?",
    "a?b",
    "\n",
    " ",
    "",
];

fn nasty() -> Vec<Session> {
    let text =
        "# start\n\n## q\n\n<a name=start id=start>x</a> {#m1} [x](#m1) [y](#q) [z](#s-anchors)";
    let anchors = session("anchors").with("title", "start").assistant(text).user("<article id=m2>");
    let links =
        ADDRESSES.iter().fold(session("links"), |session, address| linked(session, address));
    let named = IDS.iter().enumerate().map(|(n, id)| {
        session(*id)
            .with("title", if id.is_empty() { None } else { Some(format!("Id {n} #t{n}")) })
            .user("x")
    });
    [anchors, links, pictures(), shapeless(), immense()]
        .into_iter()
        .chain(odd_cells())
        .chain(named)
        .collect()
}

#[test]
fn whatever_a_store_holds_its_pages_are_whole_and_quiet() {
    if !is_there() {
        return;
    }
    let env = unindexed(nasty());
    let count = env.store().count("FROM sessions");
    let said = format!("Exported {count} sessions");
    env.run("export many.html --no-manifest --lenient").ok().says(&said);
    env.run("export site/ --format html --no-manifest --lenient").ok().says(&said);
    let browser = Browser::start();
    let page = spied(&browser, &env, "many.html");
    looks_harmless(&page, "many.html");
    assert_eq!(page.eval("document.querySelectorAll('.session').length"), count);
    kept_to_itself(&page, 1);
    let names: Vec<String> = std::fs::read_dir(env.work("site"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(i64::try_from(names.len()).unwrap(), count + 2, "{names:?}");
    page.dress(Look { width: 320, ..Look::default() });
    let mut files = 1;
    for name in names.iter().filter(|name| !name.contains("-id-")) {
        page.go(&format!("file://{}", env.work("site").join(name).display()));
        looks_harmless(&page, name);
        let wide = page.eval("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= 320, "{name} is {wide} wide");
        let nameless = "[...document.querySelectorAll('a, h1')].filter((e) => !e.textContent.trim() && !e.querySelector('img')).length";
        assert_eq!(page.eval(nameless), 0, "{name}");
        files += 1;
    }
    assert!(files > 12, "{files}");
    kept_to_itself(&page, files);
}
