//! `import`: what comes back, what is refused, and what becomes of both.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::env::{Env, Ran};
use crate::store::{NEWER, OLDER, SCHEMA, START, Session, Store, session, talk};
use crate::tree::Tree;

/// A line of JSONL: a session with a question.
fn line(id: &str) -> Json {
    json!({
        "id": id, "source": "cli", "started_at": START, "ended_at": START + 60.0, "message_count": 1,
        "messages": [{"id": 1, "session_id": id, "role": "user", "content": id, "timestamp": START}],
    })
}

fn with(mut line: Json, key: &str, value: impl Into<Json>) -> Json {
    line[key] = value.into();
    line
}

/// Lines of a file.
fn joined(lines: &[Json]) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

/// So many sessions, from `s000` on.
fn many(count: usize) -> String {
    joined(&(0..count).map(|n| line(&format!("s{n:03}"))).collect::<Vec<_>>())
}

/// Writes a file in the folder that the program runs in.
fn write(env: &Env, name: &str, lines: &[Json]) {
    fs::write(env.work(name), joined(lines)).unwrap();
}

fn exported(env: &Env, flags: &str) -> String {
    env.run(&format!("export - --messages all {flags}")).stdout
}

/// The first line that differs, so that a failure can be read.
fn first_difference(before: &str, after: &str) -> String {
    let pair = before.lines().zip(after.lines()).find(|(one, other)| one != other);
    pair.map_or("one has more lines".to_owned(), |(one, other)| format!("{one}\n{other}"))
}

/// Exports everything, imports it into a new store, and holds what that exports against it.
fn comes_back(env: &Env, flags: &str) {
    let before = exported(env, "");
    fs::write(env.work("all.jsonl"), &before).unwrap();
    let ran = env.run(&format!("--db again.db import all.jsonl {flags}")).ok();
    let after = exported(env, "--db again.db");
    assert!(after == before, "{ran}\n{}", first_difference(&before, &after));
    let again = env.run(&format!("--db again.db import all.jsonl {flags}")).ok();
    again.says("imported 0 sessions");
    assert_eq!(exported(env, "--db again.db"), before);
    let store = Store::open(&env.work("again.db"));
    assert_eq!(store.column("PRAGMA integrity_check"), ["ok"]);
    assert!(store.column("PRAGMA foreign_key_check").is_empty());
    assert_eq!(store.count("FROM messages"), store.count("FROM messages_fts"));
}

#[test]
fn what_hermes_own_code_wrote_comes_back_to_the_byte() {
    let env = Env::empty();
    fs::copy("fixtures/state.db", env.db()).unwrap();
    comes_back(&env, "");
}

fn every_kind() -> Vec<Session> {
    let rich = session("rich")
        .with("title", "Zoë \"quoted\" \\ 数据 \u{1F642}")
        .with("model_config", r#"{"temperature": 0.5}"#)
        .with("origin_json", r#"{"chat": {"id": -5}}"#)
        .with("estimated_cost_usd", 0.1)
        .with("input_tokens", i64::MAX)
        .with("ended_at", None::<f64>)
        .with("session_key", "agent:main:telegram:dm:1")
        .with("archived", 1)
        .user("line\r\n\ttab \u{2028} \u{7f} \u{0}after NUL")
        .user("\0json:[{\"type\": \"text\", \"text\": \"hi\"}, {\"big\": 12345678901234567890123}]")
        .user("\0json:true")
        .user("\0json:1.50")
        .message("assistant")
        .and("content", None::<String>)
        .and(
            "tool_calls",
            r#"[{"id": "c1", "function": {"name": "sh", "arguments": "{\"a\": 1}"}}]"#,
        )
        .and("reasoning_details", r#"[{"type": "x"}]"#)
        .and("codex_message_items", r#"[{"y": 2}]"#)
        .message("tool")
        .and("content", r#"{"output": "no decoding"}"#)
        .compacted()
        .assistant("taken back")
        .rewound();
    vec![
        talk("s0"),
        rich,
        session("empty"),
        talk("child").child_of("rich"),
        talk("b").branch_of("s0"),
    ]
}

#[test]
fn cells_of_every_kind_come_back_to_the_byte() {
    comes_back(&Env::with(every_kind()), "");
}

#[test]
fn a_store_of_a_newer_hermes_comes_back_with_the_columns_that_are_new() {
    let env = Env::empty();
    let own = talk("s1").with("pinned", 1).with("labels", "a,b");
    Store::create(&env.db(), &[SCHEMA, NEWER]).add_all([talk("s0"), own]);
    comes_back(&env, "");
}

#[test]
fn a_store_of_an_older_hermes_comes_back_and_gets_the_columns_of_today() {
    let env = Env::empty();
    Store::create(&env.db(), &[OLDER]).add_all([talk("s0"), talk("s1")]);
    let before = env.run("export all.jsonl").ok();
    env.run("--db again.db import all.jsonl").ok();
    let after = env.run("--db again.db export -").ok();
    for (old, new) in env.jsonl("all.jsonl").iter().zip(after.lines()) {
        for (key, value) in old.as_object().unwrap().iter().filter(|(key, _)| *key != "messages") {
            assert_eq!(&new[key], value, "{key}\n{before}");
        }
        assert_eq!(new["archived"], 0);
    }
}

#[test]
fn what_the_store_lacks_is_told() {
    let env = Env::with([talk("s0")]);
    write(
        &env,
        "new.jsonl",
        &[with(line("n"), "mood", "good"), with(line("m"), "mood", Json::Null)],
    );
    env.run("import new.jsonl").ok().says("no `sessions.mood`, which 1 session had");
    assert_eq!(env.store().session_ids(), ["m", "n", "s0"]);
}

#[test]
fn a_new_store_is_what_hermes_would_have_made() {
    let env = Env::empty();
    write(&env, "one.jsonl", &[line("s")]);
    env.run("--db new.db import one.jsonl").ok().says("made the store new.db");
    let (ours, theirs) =
        (Store::open(&env.work("new.db")), Store::open_read_only(Path::new("fixtures/state.db")));
    for sql in [
        "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name",
        "SELECT version FROM schema_version",
        "SELECT t.name || ' ' || c.cid || ' ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' \
         || c.pk || ' ' || coalesce(c.dflt_value, '') FROM sqlite_schema t, pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY 1",
        "SELECT t.name || ' ' || f.\"table\" || ' ' || f.\"from\" || ' ' || f.on_delete \
         FROM sqlite_schema t, pragma_foreign_key_list(t.name) f ORDER BY 1",
        "SELECT i.name || ' ' || i.\"unique\" || ' ' || i.partial || ' ' || x.seqno || ' ' || x.\"desc\" || ' ' \
         || x.name FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_xinfo(i.name) x \
         WHERE t.type = 'table' AND x.key ORDER BY 1",
    ] {
        assert_eq!(ours.column(sql), theirs.column(sql), "{sql}");
    }
    assert_eq!(ours.column("PRAGMA journal_mode"), ["wal"]);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_files_and_standard_input_are_read_as_they_come() {
    let env = Env::empty();
    let text = |id: &str| format!("{}\n", line(id));
    fs::write(env.work("a.jsonl.gz"), gzip(text("a").as_bytes())).unwrap();
    fs::write(env.work("b"), zstd::encode_all(text("b").as_bytes(), 3).unwrap()).unwrap();
    let members = [gzip(text("c").as_bytes()), gzip(text("d").as_bytes())].concat();
    fs::write(env.work("c.gz"), members).unwrap();
    env.run("import a.jsonl.gz b c.gz").ok();
    let mut child = env.command(&["-q", "import", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text("e").as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(env.store().session_ids(), ["a", "b", "c", "d", "e"]);
}

#[test]
fn what_is_unfit_is_named_and_the_rest_goes_in() {
    let env = Env::with([]);
    let bad = [
        "{\"id\": \"cut\", \"messages\": [{\"ro".to_owned(),
        "[1, 2".to_owned(),
        "\"text\"".to_owned(),
        json!({"path": "x", "sha256": "y"}).to_string(),
        with(line("x"), "messages", "none").to_string(),
        with(line("x"), "messages", json!([{"role": "user"}, 5])).to_string(),
        with(line("x"), "messages", json!([{"content": "nobody"}])).to_string(),
        line("../x").to_string(),
        line("-rf").to_string(),
        line("").to_string(),
        with(line("x"), "id", 5).to_string(),
        with(line("x"), "id", Json::Null).to_string(),
        json!({"id": "x", "messages": []}).to_string(),
    ];
    let mut file = format!("\u{feff}{}\r\n\n", line("first")).into_bytes();
    for line in &bad {
        file.extend_from_slice(format!("{line}\n").as_bytes());
    }
    file.extend_from_slice(b"{\"id\": \"\xff\"}\n");
    file.extend_from_slice(line("last").to_string().as_bytes());
    fs::write(env.work("bad.jsonl"), file).unwrap();
    let ran = env.run("import bad.jsonl absent.jsonl").ends(1);
    for number in 3..=bad.len() + 3 {
        assert!(ran.stderr.contains(&format!("bad.jsonl, line {number}")), "{number}\n{ran}");
    }
    assert_eq!(ran.stderr.matches("warning: ").count(), bad.len() + 2, "{ran}");
    ran.says("absent.jsonl: cannot be read: No such file");
    assert_eq!(env.store().session_ids(), ["first", "last"]);
    let report = env.run("import bad.jsonl --json --dry-run").ends(1).json();
    assert_eq!(report["failed"], bad.len() + 1);
    assert_eq!((&report["skipped"], &report["imported"]), (&json!(2), &json!(0)));
    assert_eq!(report["problems"][0]["line"], 3);
}

#[test]
fn a_row_that_the_store_refuses_costs_its_own_session_alone() {
    let env = Env::with([]);
    let twice = json!([{"role": "user", "timestamp": 1.0}, {"role": "tool", "timestamp": "soon"}]);
    let odd = with(line("odd"), "messages", json!([{"id": "x", "role": "user", "timestamp": 1.0}]));
    write(&env, "rows.jsonl", &[line("a"), odd, with(line("b"), "messages", twice), line("c")]);
    env.run("import rows.jsonl").ok();
    assert_eq!(env.store().session_ids(), ["a", "b", "c", "odd"]);
    let refused = with(line("d"), "messages", json!([{"role": "user"}, {"content": "no role"}]));
    write(&env, "refused.jsonl", &[refused, line("e")]);
    env.run("import --verbatim refused.jsonl").ends(1).says("session d: the store refuses it");
    assert_eq!(env.store().session_ids(), ["a", "b", "c", "e", "odd"]);
    assert_eq!(env.store().count("FROM messages WHERE session_id = 'd'"), 0);
}

#[test]
fn nothing_is_taken_from_a_file_whose_checksum_is_wrong() {
    let env = Env::with([]);
    let lines = many(400);
    let mut gz = gzip(lines.as_bytes());
    let end = gz.len() - 8;
    gz[end] ^= 1;
    fs::write(env.work("flipped.gz"), gz).unwrap();
    env.run("import flipped.gz").ends(1).says("flipped.gz: cannot be read: corrupt");
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(lines.as_bytes()).unwrap();
    let mut zst = encoder.finish().unwrap();
    let middle = zst.len() / 2;
    zst[middle] ^= 4;
    fs::write(env.work("flipped.zst"), zst).unwrap();
    env.run("import flipped.zst").ends(1).says("flipped.zst: cannot be read");
    assert!(env.store().session_ids().is_empty());
}

#[test]
fn of_a_file_that_was_cut_off_the_whole_lines_go_in() {
    let env = Env::with([]);
    let lines = many(400);
    let (gz, zst) = (gzip(lines.as_bytes()), zstd::encode_all(lines.as_bytes(), 3).unwrap());
    for (name, bytes) in [("cut.jsonl", lines.as_bytes()), ("cut.gz", &gz), ("cut.zst", &zst)] {
        env.store().sql("DELETE FROM messages; DELETE FROM sessions");
        fs::write(env.work(name), &bytes[..bytes.len() * 2 / 3]).unwrap();
        env.run(&format!("import {name}")).ends(1).says(&format!("{name}, line "));
        let messages = env.store().column("SELECT content FROM messages ORDER BY session_id");
        let ids = env.store().session_ids();
        assert_eq!(messages, ids, "{name}");
        assert!(name == "cut.zst" || ids.len() > 200, "{name}: {}", ids.len());
    }
}

#[test]
fn a_session_that_is_there_is_skipped_replaced_or_the_end() {
    let env = Env::with([talk("s0"), talk("child").child_of("s0")]);
    let longer = json!([{"role": "user", "content": "1", "timestamp": 1.0}, {"role": "user", "content": "2", "timestamp": 2.0}, {"role": "user", "content": "3", "timestamp": 3.0}]);
    write(&env, "new.jsonl", &[line("new"), with(line("s0"), "messages", longer)]);
    let before = exported(&env, "");
    env.run("import new.jsonl --on-conflict fail")
        .fails(1)
        .says("already: s0; nothing was imported");
    assert_eq!(exported(&env, ""), before);
    env.run("import new.jsonl").ok().says("1 were there already").says("more messages in the file");
    assert_eq!(env.store().column("SELECT content FROM messages WHERE session_id = 's0'").len(), 2);
    env.run("import new.jsonl --on-conflict replace").ok().says("2 in the place of the store's");
    let now =
        env.store().column("SELECT content FROM messages WHERE session_id = 's0' ORDER BY id");
    assert_eq!(now, ["1", "2", "3"]);
    let parent = env.store().column("SELECT parent_session_id FROM sessions WHERE id = 'child'");
    assert_eq!(parent, ["s0"]);
    assert_eq!(env.store().count("FROM messages"), env.store().count("FROM messages_fts"));
}

#[test]
fn titles_stay_distinct() {
    let env = Env::with([talk("s0").with("title", "daily"), talk("s1").with("title", "daily #2")]);
    let named = |id, title: &str| with(line(id), "title", title);
    let long = "x".repeat(120);
    write(
        &env,
        "t.jsonl",
        &[
            named("a", "daily"),
            named("b", "daily"),
            named("c", "new"),
            named("d", &long),
            named("e", " two\nlines\u{200b} "),
        ],
    );
    env.run("import t.jsonl")
        .ok()
        .says("2 sessions got a title with a number")
        .says("2 sessions had a title");
    let titles = env.store().column("SELECT title FROM sessions WHERE id < 'm' ORDER BY id");
    assert_eq!(titles, ["daily #3", "daily #4", "new", &long[..100], "two lines"]);
}

#[test]
fn parents_are_kept_where_they_are_and_let_go_of_where_they_are_not() {
    let env = Env::with([talk("there")]);
    let child = |id, parent: &str| with(line(id), "parent_session_id", parent);
    let lines = [
        child("a", "late"),
        child("b", "there"),
        child("c", "nowhere"),
        line("late"),
        child("x", "y"),
        child("y", "x"),
        child("z", "z"),
    ];
    write(&env, "p.jsonl", &lines);
    env.run("import p.jsonl").ok().says("3 sessions lost a parent");
    let parents = "SELECT id || ' ' || coalesce(parent_session_id, '-') FROM sessions ORDER BY id";
    assert_eq!(
        env.store().column(parents),
        ["a late", "b there", "c -", "late -", "there -", "x -", "y x", "z -"]
    );
    let env = Env::with([]);
    write(&env, "p.jsonl", &lines);
    env.run("import --verbatim p.jsonl").ok();
    let wanted = ["a late", "b there", "c nowhere", "late -", "x y", "y x", "z z"];
    assert_eq!(env.store().column(parents), wanted);
}

#[test]
fn compacted_and_rewound_messages_stay_what_they_are() {
    let env = Env::with([]);
    let message = |n: i64, active: bool, compacted: i64| json!({"id": n, "role": "user", "content": n.to_string(), "timestamp": 1.5, "active": active, "compacted": compacted});
    let messages = json!([message(1, false, 1), message(2, false, 0), message(3, true, 0)]);
    write(&env, "m.jsonl", &[with(line("s"), "messages", messages)]);
    env.run("import m.jsonl").ok();
    let shown = |messages| {
        let ran = env.run(&format!("export - --messages {messages}")).ok();
        ran.lines()[0]["messages"].as_array().unwrap().len()
    };
    assert_eq!((shown("active"), shown("compacted"), shown("all")), (1, 2, 3));
}

#[test]
fn a_handoff_under_way_and_a_live_channel_are_left_to_those_who_have_them() {
    let live = talk("live").running().with("session_key", "agent:main:telegram:dm:1");
    let env = Env::with([live]);
    let mut other = with(line("other"), "session_key", "agent:main:telegram:dm:1");
    other["ended_at"] = Json::Null;
    let handoff =
        with(with(line("handoff"), "handoff_state", "pending"), "handoff_platform", "discord");
    let free = with(line("free"), "session_key", "agent:main:telegram:dm:2");
    let done = with(line("done"), "handoff_state", "completed");
    write(&env, "live.jsonl", &[other, handoff, free, done]);
    env.run("import live.jsonl").ok().says("2 sessions gave up");
    let keys = "SELECT id FROM sessions WHERE session_key IS NOT NULL OR handoff_state IS NOT NULL ORDER BY id";
    assert_eq!(env.store().column(keys), ["done", "free", "live"]);
    env.run("import live.jsonl --verbatim --on-conflict replace").ok();
    assert_eq!(env.store().column(keys), ["done", "free", "handoff", "live", "other"]);
}

#[test]
fn what_was_redacted_is_taken_on_demand_alone() {
    let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let env = Env::with([talk("plain"), session("secret").user(format!("the key is {token}"))]);
    env.run("export r.jsonl --redact").ok();
    env.run("--db r.db import r.jsonl").ends(1).says("r.jsonl: it was redacted");
    // Without its manifest, the marker tells.
    fs::create_dir(env.work("moved")).unwrap();
    fs::rename(env.work("r.jsonl"), env.work("moved/r.jsonl")).unwrap();
    env.run("--db m.db import moved/r.jsonl")
        .ends(1)
        .says("moved/r.jsonl, line 2: it was redacted");
    assert_eq!(Store::open(&env.work("m.db")).session_ids(), ["plain"]);
    env.run("--db m.db import moved/r.jsonl --allow-redacted").ok();
    assert_eq!(Store::open(&env.work("m.db")).session_ids(), ["plain", "secret"]);
    // Where the manifest says that nothing was taken out, a session may speak of markers.
    let env = Env::with([session("talk").user("it says [REDACTED:github-pat] here")]);
    env.run("export whole.jsonl").ok();
    env.run("--db w.db import whole.jsonl").ok();
}

#[test]
fn a_file_that_is_not_what_its_manifest_says_is_taken_with_a_warning() {
    let env = Env::with([talk("s0")]);
    env.run("export out.jsonl").ok();
    let changed = env.text("out.jsonl").replace("answer of s0", "another answer");
    assert_ne!(changed, env.text("out.jsonl"));
    fs::write(env.work("out.jsonl"), changed).unwrap();
    let ran = env.run("--db new.db import out.jsonl");
    ran.says("out.jsonl was changed since the manifest beside it listed it");
    assert_eq!(Store::open(&env.work("new.db")).session_ids(), ["s0"]);
}

#[test]
fn a_dry_run_tells_the_same_and_writes_nothing() {
    let env = Env::with([talk("s0")]);
    write(&env, "d.jsonl", &[line("a"), line("s0"), line("a"), line("../b")]);
    let before = Tree::of(&env.root());
    let dry = env.run("import d.jsonl --dry-run --json").ends(1).json();
    env.run("--db absent.db import d.jsonl --dry-run").ends(1).says("would import 2 sessions");
    Tree::of(&env.root()).assert_is(&before);
    let wet = env.run("import d.jsonl --json").ends(1).json();
    for key in ["imported", "skipped", "failed", "messages"] {
        assert_eq!(dry[key], wet[key], "{key}");
    }
}

#[test]
fn rows_belong_to_the_session_that_they_stand_in() {
    let env = Env::with([talk("victim")]);
    let forged = json!([{"id": 1, "session_id": "victim", "role": "user", "content": "forged", "timestamp": 1.0}]);
    let last = json!([{"id": i64::MAX, "role": "user", "content": "last", "timestamp": 1.0}]);
    write(
        &env,
        "f.jsonl",
        &[with(line("f"), "messages", forged), with(line("l"), "messages", last)],
    );
    env.run("import f.jsonl").ok().says("2 sessions got new ids for their messages");
    let store = env.store();
    assert_eq!(store.column("SELECT content FROM messages WHERE session_id = 'f'"), ["forged"]);
    assert_eq!(store.count("FROM messages WHERE session_id = 'victim'"), 2);
    store.add(talk("goes_on"));
}

#[test]
fn a_joined_chain_is_taken_apart_again() {
    let first = talk("first").with("end_reason", "compression");
    let env = Env::with([first, talk("second").child_of("first")]);
    let before = exported(&env, "");
    env.run("export chain.jsonl --lineage logical").ok();
    env.run("--db again.db import chain.jsonl").ok();
    assert_eq!(exported(&env, "--db again.db"), before);
}

#[test]
fn what_was_deleted_after_an_export_comes_back_whole() {
    let env = Env::with([talk("s0"), talk("s1")]);
    let usage =
        "INSERT INTO session_model_usage (session_id, model, input_tokens) VALUES ('s0', 'm', 7)";
    env.store().sql(usage);
    let before = exported(&env, "");
    env.run("export kept --format md --session-id s0 --delete-after-verified --yes").ok();
    assert_eq!(env.store().count("FROM session_model_usage"), 0);
    env.run("import kept").ok();
    assert_eq!(exported(&env, ""), before);
    assert_eq!(env.store().column("SELECT input_tokens FROM session_model_usage"), ["7"]);
}

#[test]
fn snapshots_and_transcripts_become_sessions() {
    let env = Env::with([]);
    let saved = json!({"model": "m", "session_id": "20260101_100000_ab", "session_start": "2026-01-01T10:00:00", "system_prompt": "be kind",
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": "text", "text": "yes"}], "_thinking_prefill": true,
        "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": "{}"}}]}, {"role": "tool", "name": "ls", "tool_call_id": "c", "content": "x"}]});
    fs::write(
        env.work("hermes_conversation_20260101_110000.json"),
        serde_json::to_string_pretty(&saved).unwrap(),
    )
    .unwrap();
    let transcript = "{\"role\": \"session_meta\", \"model\": \"n\", \"platform\": \"telegram\", \"tools\": [], \"timestamp\": \"2026-02-01T00:00:00.5\"}\n\
        {\"role\": \"user\", \"content\": \"hello\", \"timestamp\": \"2026-02-01T00:00:01\"}\nnot a line\n\
        {\"role\": \"assistant\", \"content\": \"there\", \"timestamp\": \"2026-02-01T00:00:02+00:00\"}\n";
    fs::write(env.work("20260201_000000_cd.jsonl"), transcript).unwrap();
    let mut command = env.around(crate::env::PROGRAM);
    command.args(["import", "."]).env("TZ", "Asia/Kolkata");
    let ran = Ran::new("import .".to_owned(), command.output().unwrap()).ends(1);
    ran.says("20260201_000000_cd.jsonl, line 3: no JSON");
    let sessions = env.run("export - --messages all").ok().lines();
    let pick =
        |keys: &[&str], of: &Json| keys.iter().map(|key| of[*key].clone()).collect::<Vec<_>>();
    let keys = [
        "id",
        "source",
        "model",
        "system_prompt",
        "started_at",
        "message_count",
        "tool_call_count",
    ];
    assert_eq!(
        pick(&keys, &sessions[0]),
        [
            json!("20260101_100000_ab"),
            json!("cli"),
            json!("m"),
            json!("be kind"),
            json!(1_767_241_800.0),
            json!(3),
            json!(1)
        ]
    );
    assert_eq!(
        pick(&keys, &sessions[1]),
        [
            json!("20260201_000000_cd"),
            json!("telegram"),
            json!("n"),
            Json::Null,
            json!(1_769_884_200.5),
            json!(2),
            json!(0)
        ]
    );
    let messages = sessions[0]["messages"].as_array().unwrap();
    assert_eq!(messages[1]["content"][0]["text"], "yes");
    assert_eq!(messages[2]["tool_name"], "ls");
    assert!(messages[0]["timestamp"].as_f64() < messages[1]["timestamp"].as_f64());
    assert_eq!(sessions[1]["messages"][1]["timestamp"], 1_769_904_002.0);
}

#[test]
fn sidecars_of_the_webui_become_sessions() {
    let env = Env::empty();
    let sidecars = fs::canonicalize("fixtures/webui/sessions").unwrap();
    env.run(&format!("import {}", sidecars.display()))
        .ok()
        .says("imported 3 sessions with 8 messages");
    let sessions = env.run("export -").ok().lines();
    let garden = sessions.iter().find(|line| line["id"] == "a1b2c3d4e5f6").unwrap();
    for (key, value) in [
        ("title", json!("Plan the #garden move")),
        ("source", json!("webui")),
        ("cwd", json!("/home/ana/garden")),
        ("input_tokens", json!(1200)),
        ("estimated_cost_usd", json!(0.0087)),
        ("tool_call_count", json!(1)),
        ("pinned", json!(1)),
        ("tags", json!("[\"garden\"]")),
    ] {
        assert_eq!(garden[key], value, "{key}");
    }
    assert_eq!(garden["messages"][4]["tool_name"], "terminal");
    assert_eq!(garden["messages"][1]["reasoning"], "South is sunny.");
    let moved = sessions.iter().find(|line| line["id"] == "0f0f0f0f0f0f").unwrap();
    assert_eq!((&moved["archived"], &moved["project"]), (&json!(1), &json!("Databases")));
    let untitled = sessions.iter().find(|line| line["id"] == "123456abcdef").unwrap();
    assert_eq!(untitled["title"], Json::Null);
}

#[test]
fn tool_calls_that_the_webui_lists_beside_the_messages_are_not_lost() {
    let env = Env::empty();
    let sidecar = json!({"session_id": "w", "title": "Untitled", "workspace": "/w", "created_at": START, "updated_at": START,
        "messages": [{"role": "user", "content": "look"}, {"role": "assistant", "content": "done", "timestamp": START}],
        "tool_calls": [{"name": "terminal", "args": {"command": "ls"}, "tid": "t1", "snippet": "beds.csv", "assistant_msg_idx": 1}, {"tid": "t2", "assistant_msg_idx": 9}]});
    write(&env, "w.json", &[sidecar]);
    env.run("import w.json").ok();
    let messages = env.run("export -").ok().lines()[0]["messages"].clone();
    assert_eq!(messages[1]["tool_calls"][0]["function"]["arguments"], "{\"command\":\"ls\"}");
    assert_eq!(
        (&messages[2]["role"], &messages[2]["content"], &messages[2]["tool_call_id"]),
        (&json!("tool"), &json!("beds.csv"), &json!("t1"))
    );
}

#[test]
fn numbers_that_json_does_not_have_and_lone_surrogates_cost_themselves_alone() {
    let env = Env::with([]);
    let text = "{\"id\": \"n\", \"source\": \"cli\", \"started_at\": 1.0, \"ended_at\": Infinity, \"actual_cost_usd\": 1e999, \
        \"messages\": [{\"role\": \"user\", \"content\": \"a\\ud800b\", \"timestamp\": NaN}]}\n";
    fs::write(env.work("n.jsonl"), text).unwrap();
    env.run("import n.jsonl").ok();
    assert_eq!(env.store().column("SELECT content FROM messages"), ["a\u{fffd}b"]);
    assert_eq!(
        env.store().count("FROM sessions WHERE ended_at IS NULL AND actual_cost_usd IS NULL"),
        1
    );
}

#[test]
fn a_store_in_use_or_of_something_else_is_left_alone() {
    let env = Env::with([talk("s0")]);
    write(&env, "one.jsonl", &[line("a")]);
    let store = env.store();
    store.sql("BEGIN IMMEDIATE");
    env.run("import one.jsonl").fails(3);
    store.sql("ROLLBACK");
    fs::write(env.work("text.db"), "no database at all").unwrap();
    env.run("--db text.db import one.jsonl").fails(1).says("not a SQLite database");
    env.run("--db absent/x.db import one.jsonl").fails(1).says("cannot make the store absent/x.db");
    env.run("--db none.db import absent.jsonl").ends(1);
    assert!(!env.work("none.db").exists());
    assert_eq!(env.text("text.db"), "no database at all");
}
