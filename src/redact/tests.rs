//! What redaction as a whole promises, held against statements, cases, templates and chance.

use std::sync::LazyLock;

use formats::model::{Header, Message, Session, Value};
use serde_json::{Value as Json, json};

use super::check::has_keyword;
use super::example::Example;
use super::known::KnownValues;
use super::rule::Group;
use super::{Raw, Redactor, Scope, builtin};

pub(super) fn redactor() -> &'static Redactor {
    static FIRST: LazyLock<Redactor> = LazyLock::new(of_secrets);
    &FIRST
}

/// One that has seen nothing of what the first has found to be clean.
pub(super) fn second() -> &'static Redactor {
    static SECOND: LazyLock<Redactor> = LazyLock::new(of_secrets);
    &SECOND
}

fn of_secrets() -> Redactor {
    Redactor::new(Vec::new(), &[Group::Secrets], KnownValues::default()).unwrap()
}

pub(super) fn redact(text: &str) -> String {
    redactor().redact_text(text, &mut Scope::new()).into_owned()
}

/// A made-up GitHub token, put together so that no scanner takes this file for a leak.
fn token() -> String {
    ["ghp", "_", "R2vX8kQ1mZ", "7tLw4Yc9Bn", "3Hd6Js0PfG", "5aEuTi"].concat()
}

fn column<'a>(row: &'a Message<'_>, name: &str) -> &'a str {
    row.columns().find(|(n, _)| *n == name).and_then(|(_, v)| v.as_str()).unwrap()
}

#[test]
fn every_cell_of_a_row_is_redacted() {
    let names = ["id", "content", "tool_calls", "new_column", "reasoning_details", "timestamp"];
    let header = Header::new(names.map(str::to_owned).to_vec());
    let gh = token();
    let calls = json!([{"function": {"name": gh, "arguments": json!({"content": format!("a\n{gh}")}).to_string()}}]);
    let values = vec![
        Value::Integer(7),
        Value::Text(json!({"output": format!("line\n{gh}\n")}).to_string().into()),
        Value::Json(calls.to_string().into()),
        Value::Text(format!("x_{gh}").into()),
        Value::Json(json!([{"text": format!("x\n{gh}"), gh.clone(): 1}]).to_string().into()),
        Value::Real(1.5),
    ];
    let mut scope = Scope::new();
    let row: Message = redactor().apply(Raw::new(Message::new(&header, values)), &mut scope);
    for name in ["content", "tool_calls", "new_column", "reasoning_details"] {
        assert!(!column(&row, name).contains(&gh[4..]), "{name}");
    }
    let calls: Json = serde_json::from_str(column(&row, "tool_calls")).unwrap();
    let arguments = calls[0]["function"]["arguments"].as_str().unwrap();
    assert!(serde_json::from_str::<Json>(arguments).is_ok());
    assert!(
        scope.findings().all(|f| f.message == Some(7) && f.rule == "github-classic-pat"
            || f.rule.starts_with("github"))
    );
    assert_eq!(scope.counts().values().sum::<u64>(), 6);
}

#[test]
fn a_session_names_its_findings_by_its_redacted_id() {
    let header = Header::new(["id", "title"].map(str::to_owned).to_vec());
    let cells = vec![Value::Text("s1".into()), Value::Text(format!("use {}", token()).into())];
    let mut scope = Scope::new();
    let row = redactor().apply(Raw::new(Session::new(&header, cells)), &mut scope);
    assert!(row.columns().all(|(_, v)| !v.as_str().unwrap().contains("R2vX8k")));
    let finding = scope.findings().next().unwrap();
    assert_eq!(
        (finding.session.as_deref(), finding.field.as_str(), finding.message),
        (Some("s1"), "title", None)
    );
}

#[test]
fn no_redaction_is_a_redactor_too() {
    let text = format!("use {}", token());
    assert_eq!(Redactor::none().redact_text(&text, &mut Scope::new()), text);
}

#[test]
fn a_url_does_not_switch_redaction_off() {
    let text = "see https://example.com\npassword=hunter2hunter2\npassword: hunter2hunter2\n\
        https://bob:s3cretPassw0rd@git.example.com/x.git\nhttps://api.example.com/?access_token=opaqueopaqueopaque1";
    let out = redact(text);
    for gone in ["hunter2", "s3cretPassw0rd", "opaqueopaque"] {
        assert!(!out.contains(gone), "{out}");
    }
    for kept in ["https://example.com", "bob", "git.example.com"] {
        assert!(out.contains(kept), "{out}");
    }
}

#[test]
fn structure_gives_context() {
    for (text, secret) in [
        (r#"{"password":"hunter2hunter2"}"#, "hunter2"),
        (r#"{"Authorization":"Bearer opaque0123456789abcdef"}"#, "opaque0123"),
        (r#"{"command":"curl -d '{\"password\": \"hunter2hunter2\"}'"}"#, "hunter2"),
        (r#"{"api_key":"abc\"defghijklmnop"}"#, "defghi"),
        ("Server=x;Password=hunter2hunter2;", "hunter2"),
        ("mysql --password hunter2hunter2", "hunter2"),
        ("rediss://:pw@h", ":pw@"),
        (r#"{"command":"export TOKEN=abc"}"#, "abc"),
        // A blank to Rust, but none to JSON.
        ("\x0c{\"password\":\"hunter2hunter2\"}\x0c", "hunter2"),
    ] {
        let out = redact(text);
        assert!(!out.contains(secret), "{out}");
        if text.starts_with('{') {
            assert!(serde_json::from_str::<Json>(&out).is_ok(), "{out}");
        }
    }
}

#[test]
fn plain_text_survives() {
    for text in [
        "MAX_TOKENS=100",
        "tokens: 512",
        "secretary: Anna",
        "token: expired",
        "+12345678 lines",
        "@@ -1,2 +10000000,3 @@",
        "sk_learn_pipeline_thing",
        "am_example_identifier_123",
        "CREDENTIALS_FILE=/etc/x",
        "AUTHOR=Bob",
        "password: see the vault",
        "f\"postgresql://{user}:{pw}@{host}/db\"",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn what_is_only_framed_like_a_document_is_searched_as_text() {
    let all = [Group::Secrets, Group::Pii];
    let redactor = Redactor::new(Vec::new(), &all, KnownValues::default()).unwrap();
    let card = ["4111", "1111", "1111", "1111"];
    for text in [
        format!("[{}]", card.join(" ")),
        format!("{{\"card\": {}}}", card.join("-")),
        "{\"at\": 81.223.45.67}".to_owned(),
        format!("\"login\" with password={} for \"ana\"", ["Zx9", "kQ2mVt7!k"].concat()),
        format!("[INFO] password={} [done]", ["Zx9", "kQ2mVt7!k"].concat()),
    ] {
        let out = redactor.redact_text(&text, &mut Scope::new());
        assert!(out.contains("[REDACTED:"), "{out}");
    }
}

#[test]
fn a_value_keeps_its_marker_through_a_session() {
    let (a, b) = ("password=Xq7!kkPz29a", "password=Wm4!jjRt83b");
    let mut scope = Scope::new();
    let out = redactor().redact_text(&format!("{a} {b} {a}"), &mut scope).into_owned();
    let marked = [
        "password=[REDACTED:password]",
        "password=[REDACTED:password#2]",
        "password=[REDACTED:password]",
    ];
    assert_eq!(out, marked.join(" "));
}

#[test]
fn a_marker_is_nobodys_secret() {
    for rule in builtin::rules() {
        for text in
            [format!("[REDACTED:{}]", rule.id), format!("key: \"[REDACTED:{}#2]\", x=1", rule.id)]
        {
            assert_eq!(redact(&text), text);
        }
    }
}

#[test]
fn known_values_go_in_any_form() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values");
    std::fs::write(&path, "plain-looking \"value\" 1\n").unwrap();
    let known = KnownValues::from_file(&path).unwrap();
    let redactor = Redactor::new(Vec::new(), &[Group::Secrets], known).unwrap();
    for text in [
        "x plain-looking \"value\" 1 y",
        "x plain-looking%20%22value%22%201 y",
        "x Ym9iOnBsYWluLWxvb2tpbmcgInZhbHVlIiAx y",
        r#"{"a": "plain-looking \"value\" 1"}"#,
        r#"cut "plain-looking \"value\" 1"#,
    ] {
        let out = redactor.redact_text(text, &mut Scope::new());
        assert!(out.contains("[REDACTED:known-value]"), "{out}");
    }
}

#[test]
fn people_are_hidden_when_asked_for() {
    let redactor = Redactor::new(Vec::new(), &[Group::Pii], KnownValues::default()).unwrap();
    let redact = |text: &str| redactor.redact_text(text, &mut Scope::new()).into_owned();
    let mail = "jane@mail.invalid-x.org";
    for (text, gone) in [
        (format!("write to {mail}."), mail),
        ("call +1 (415) 232-8812 now".to_owned(), "415"),
        ("from 93.184.216.34:443".to_owned(), "93.184"),
        ("pay with 4111 1111 1111 1111".to_owned(), "4111"),
        ("to GB82 WEST 1234 5698 7654 32".to_owned(), "WEST"),
        (json!({"user_id": 123_456_789, "x": 1}).to_string(), "123456789"),
    ] {
        let out = redact(&text);
        assert!(!out.contains(gone), "{out}");
        assert_eq!(redact(&out), out);
        assert!(!text.starts_with('{') || serde_json::from_str::<Json>(&out).is_ok(), "{out}");
    }
    for text in [
        "+15551234567",
        "@@ -1234567,10 +1234567,12 @@",
        "127.0.0.1 and 10.0.0.5",
        "password=hunter2hunter2",
        "version 1.2.3.4",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn ids_of_people_and_chats_go_with_them() {
    let redactor = Redactor::new(Vec::new(), &[Group::Pii], KnownValues::default()).unwrap();
    let header =
        Header::new(["id", "user_id", "chat_id", "started_at"].map(str::to_owned).to_vec());
    let row = || {
        vec![
            Value::Text("s1".into()),
            Value::Text("4711".into()),
            Value::Integer(-99),
            Value::Real(1.0),
        ]
    };
    let mut scope = Scope::new();
    let out = redactor.apply(Raw::new(Session::new(&header, row())), &mut scope);
    let shown: Vec<_> = out.columns().map(|(_, v)| v.as_str().unwrap_or("-").to_owned()).collect();
    assert_eq!(shown, ["s1", "[REDACTED:platform-id]", "[REDACTED:platform-id#2]", "-"]);
}

#[test]
fn homes_go_through_all_cells_of_a_session() {
    let redactor = Redactor::new(Vec::new(), &[Group::Paths], KnownValues::default()).unwrap();
    let mut scope = Scope::new();
    let mut redact = |text: &str| redactor.redact_text(text, &mut scope).into_owned();
    assert_eq!(redact("/home/zoe-x/src/api"), "~/src/api");
    assert_eq!(
        redact(r#"{"output": "zoe-x  pts/0\nC:\\Users\\zoe-x\\y"}"#),
        r#"{"output": "user  pts/0\n~\\y"}"#
    );
}

#[test]
fn no_input_takes_more_than_linear_work() {
    // Each would take minutes if work grew with the square of the length.
    for (piece, end) in [
        ("a1", " x=1"),
        ("ab.", " x=1"),
        ("-", "="),
        ("password=", ""),
        ("password=\"", ""),
        ("://a:", "@"),
        ("AKIA", ""),
        ("sk-", ""),
        ("eyJ", ""),
        ("\\", "\"password\""),
        ("{\n", ""),
        ("[", ""),
        ("key: ", ""),
        ("mysql -p ", ""),
        ("-----BEGIN PRIVATE KEY-----", ""),
        ("\"+\"", ""),
        ("eyJaaaaaaaaaa.eyJbbbbbbbbbb", ""),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n", ""),
        ("key[REDACTED:password] ", ""),
        ("&quot;token&quot;:", ""),
        ("[REDACTED:", ""),
        ("\0", "password=x"),
    ] {
        redact(&(piece.repeat(200_000 / piece.len()) + end));
    }
}

/// The lines of a fixture.
fn cases(text: &str) -> impl Iterator<Item = (String, Example)> {
    text.lines().map(|line| {
        let case: Json = serde_json::from_str(line).unwrap();
        let name = case["context"].as_str().or(case["case"].as_str()).unwrap().to_owned();
        let example = Example::expand(case["text"].as_str().unwrap(), &name);
        (name, example)
    })
}

#[test]
fn secrets_are_found_in_every_context() {
    let mut left = Vec::new();
    for (name, case) in cases(include_str!("../../fixtures/redaction/contexts.jsonl")) {
        for text in escaped(&case.text) {
            let out = unescaped(&redact(&text));
            if case.secrets.iter().any(|secret| out.contains(&case.text[secret.clone()])) {
                left.push(format!("{name}: {text} -> {out}"));
            }
        }
    }
    assert!(left.is_empty(), "{}: {:#?}", left.len(), &left[..left.len().min(20)]);
}

#[test]
fn ordinary_text_is_left_alone_in_every_context() {
    for line in include_str!("../../fixtures/redaction/ordinary.jsonl").lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        for text in escaped(case["text"].as_str().unwrap()) {
            assert_eq!(redact(&text), text);
        }
    }
}

/// The text as it is, in a tool's arguments, and in a tool's result.
fn escaped(text: &str) -> [String; 3] {
    [
        text.to_owned(),
        json!({ "command": text }).to_string(),
        json!({ "output": format!("first line\n{text}"), "exit_code": 0 }).to_string(),
    ]
}

/// The texts of a document, or the text itself.
fn unescaped(text: &str) -> String {
    match serde_json::from_str::<Json>(text) {
        Ok(Json::Object(fields))
            if fields.contains_key("command") || fields.contains_key("output") =>
        {
            fields.values().filter_map(Json::as_str).collect()
        }
        _ => text.to_owned(),
    }
}

/// A session's text in the forms that files have: JSON in JSON, HTML, Markdown.
fn written(row: &str) -> Vec<String> {
    let html = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let quoted = |text: &str| format!("> {}\n", text.replace('\n', "\n> "));
    let mut forms = vec![
        row.to_owned(),
        json!({"id": "s", "messages": [{"content": row}]}).to_string(),
        html(row),
        quoted(row),
    ];
    if let Ok(value) = serde_json::from_str::<Json>(row) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        forms.extend([
            html(&pretty),
            format!("# Call\n\n```json\n{pretty}\n```\n"),
            json!({ "args": value }).to_string(),
        ]);
        let leaf = value["command"].as_str().or(value["output"].as_str());
        forms.extend(leaf.iter().flat_map(|leaf| [(*leaf).to_owned(), html(leaf), quoted(leaf)]));
    }
    forms
}

#[test]
fn nothing_is_found_in_finished_files() {
    let mut found = Vec::new();
    let contexts =
        cases(include_str!("../../fixtures/redaction/contexts.jsonl")).map(|(_, case)| case.text);
    let ordinary = include_str!("../../fixtures/redaction/ordinary.jsonl").lines();
    let ordinary = ordinary.map(|line| {
        serde_json::from_str::<Json>(line).unwrap()["text"].as_str().unwrap().to_owned()
    });
    for text in contexts.chain(ordinary) {
        for row in escaped(&text) {
            for form in written(&redact(&row)) {
                let findings = second().scan_bytes(form.as_bytes());
                if !findings.is_empty() {
                    found.push(format!("{form:?} {findings:?}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}: {:#?}", found.len(), &found[..found.len().min(20)]);
}

/// How tools and people write a secret down.
const TEMPLATES: &[&str] = &[
    "§",
    "key = \"§\"",
    "key: §",
    "TOKEN=§",
    "export A_TOKEN='§'",
    "{\"key\": \"§\"}",
    "{'key': '§'}",
    "- §",
    "Authorization: Bearer §",
    "curl -H \"X-Key: §\" u",
    "https://h.example.com/?key=§&a=1",
    "<k>§</k>",
    "2026-01-01 INFO got §.",
    "12|§",
    "a.py:3:§",
    "+§",
    "\u{1b}[32m§\u{1b}[0m",
    "a\\n§\\nb",
    "\\u001b[0m§",
    "a%3D§%26b",
    "&quot;§&quot;",
    "`§`",
    "(§)",
    "§, and",
    "\\\"§\\\"",
    "{\"a\": \"line\\n§\\n\"}",
    "{\"a\": \"{\\\"b\\\": \\\"§\\\"}\"}",
];

#[test]
fn every_pattern_is_found_in_every_template() {
    let mut missed = Vec::new();
    let mut places = 0;
    for rule in builtin::rules().iter().filter(|rule| rule.group == Group::Secrets) {
        for (i, written) in rule.examples.iter().enumerate() {
            let example = Example::expand(written, &format!("{}{i}", rule.id));
            let [secret] = example.secrets.as_slice() else {
                continue;
            };
            let token = &example.text[secret.clone()];
            let is_token = has_keyword(rule, token)
                && super::rule::Matcher::new(rule).unwrap().all_in(token).first()
                    == Some(&(0..token.len()));
            if !is_token || token.contains(['"', '\\', '\n', ' ', '\'', '<', '&']) {
                continue;
            }
            for template in TEMPLATES {
                places += 1;
                if redact(&template.replace('§', token)).contains(token) {
                    missed.push(format!("{} in {template}: {token}", rule.id));
                }
            }
        }
    }
    // A rule with a guard of its own may be stricter than a template.
    assert!(
        missed.len() * 1000 <= places,
        "{} of {places}: {:#?}",
        missed.len(),
        &missed[..missed.len().min(30)]
    );
}
