//! Uploads, to a Hub on loopback.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::env::{Env, Ran};
use crate::hub::{Fault, Hub, Kind, READ, Storage, WRITE};
use crate::store::{Session, session, talk};
use crate::tree::names;

const MINE: &str = "alice/hermes-traces";
const COMMIT: &str = "/commit/main";
const INFO: &str = "GET /api/datasets/alice/hermes-traces";

/// The program with a token for this Hub, which is given two seconds for each answer.
fn command(env: &Env, hub: &Hub, line: &str) -> Command {
    let mut command = env.command(&line.split(' ').collect::<Vec<_>>());
    command.env("HF_ENDPOINT", &hub.url).env("HF_TOKEN", WRITE);
    command.env("HERMES_SESSIONS_HUB_TIMEOUT", "2");
    command
}

fn run(env: &Env, hub: &Hub, line: &str) -> Ran {
    ran(&mut command(env, hub, line), line)
}

fn ran(command: &mut Command, line: &str) -> Ran {
    Ran::new(line.to_owned(), command.output().unwrap())
}

/// Sends every session that has ended.
fn upload(env: &Env, hub: &Hub) -> Ran {
    run(env, hub, ALL)
}

const ALL: &str = "export --upload --older-than 0";

fn many(count: usize) -> Vec<Session> {
    let one = |n: usize| session(format!("s{n:03}")).user("question").assistant("answer");
    (0..count).map(one).collect()
}

fn grow(env: &Env, id: &str) {
    env.store().sql(&format!(
        "INSERT INTO messages (session_id, role, content, timestamp)
         VALUES ('{id}', 'user', 'one more', 1783700000);
         UPDATE sessions SET message_count = message_count + 1 WHERE id = '{id}'"
    ));
}

/// What was asked that changes something.
fn writes(hub: &Hub) -> Vec<String> {
    let reads = |line: &String| line.starts_with("GET") || line.contains("/paths-info/");
    hub.asked().into_iter().filter(|line| !reads(line)).collect()
}

#[test]
fn the_first_upload_makes_a_private_dataset_with_a_card() {
    let (env, hub) = (Env::with([talk("s1"), talk("s2")]), Hub::start());
    upload(&env, &hub).ok().says("Sent 2 sessions").says("/datasets/alice/hermes-traces (private)");
    assert!(hub.state().dataset(MINE).is_private);
    assert_eq!(hub.paths(MINE), ["README.md", "sessions/s1.jsonl", "sessions/s2.jsonl"]);
    assert_eq!(hub.commits(MINE), ["Add 2 sessions"]);
    env.run("export kept --format trace --older-than 0").ok();
    for id in ["s1", "s2"] {
        let kept = fs::read(env.work(&format!("kept/{id}.trace.jsonl"))).unwrap();
        assert_eq!(hub.file(MINE, &format!("sessions/{id}.jsonl")), kept);
    }
    let card = String::from_utf8(hub.file(MINE, "README.md")).unwrap();
    assert!(card.contains("data_files: \"sessions/**/*.jsonl\"") && card.contains("`secrets`"));
}

#[test]
fn nothing_new_is_no_commit_and_three_questions() {
    let (env, hub) = (Env::with([talk("s1"), talk("s2")]), Hub::start());
    upload(&env, &hub).ok();
    hub.asked();
    upload(&env, &hub).ok().says("Nothing is new").says("2 there already");
    let revision = hub.state().dataset(MINE).head().oid.clone();
    assert_eq!(
        hub.asked(),
        [
            "GET /api/whoami-v2".to_owned(),
            INFO.to_owned(),
            format!("POST /api/datasets/{MINE}/paths-info/{revision}"),
        ]
    );
}

#[test]
fn only_what_changed_is_sent_again() {
    let (env, hub) = (Env::with([talk("s1"), talk("s2")]), Hub::start());
    upload(&env, &hub).ok();
    grow(&env, "s2");
    env.store().add(talk("s3"));
    upload(&env, &hub).ok().says("Sent 2 sessions").says("1 there already");
    assert_eq!(hub.commits(MINE), ["Add 2 sessions", "Add 1 session, update 1"]);
    let text = String::from_utf8(hub.file(MINE, "sessions/s2.jsonl")).unwrap();
    assert!(text.contains("one more"));
}

#[test]
fn the_latest_session_goes_where_nothing_is_selected() {
    let (env, hub) = (Env::with([talk("s1"), talk("s2")]), Hub::start());
    run(&env, &hub, "export --upload").ok().says("Sent 1 session");
    run(&env, &hub, "export --upload --session-id s1 --repo talks").ok();
    assert_eq!(hub.paths(MINE), ["README.md", "sessions/s2.jsonl"]);
    assert_eq!(hub.paths("alice/talks"), ["README.md", "sessions/s1.jsonl"]);
}

#[test]
fn a_folder_keeps_what_was_sent_and_none_is_left_otherwise() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    upload(&env, &hub).ok();
    assert_eq!(names(&env.root().join("tmp")), Vec::<String>::new());
    assert_eq!(names(&env.work("")), Vec::<String>::new());
    assert_eq!(names(&env.hermes("session-exports")), ["uploads.jsonl"]);
    let home = env.root().join("home");
    assert!(!home.join(".cache").exists());
    run(&env, &hub, "export kept --upload --older-than 0").ok().says("1 there already");
    assert_eq!(names(&env.work("kept")), ["manifest.jsonl", "s1.trace.jsonl"]);
}

#[test]
fn secrets_are_taken_out_before_anything_is_sent() {
    let secret = ["ghp_", "0123456789abcdefghij", "KLMNOPQRSTUVWXYZ"].concat();
    let env = Env::with([session("s1").user(format!("my key is {secret}")).assistant("noted")]);
    let hub = Hub::start();
    upload(&env, &hub).ok();
    let text = String::from_utf8(hub.file(MINE, "sessions/s1.jsonl")).unwrap();
    assert!(!text.contains(&secret) && text.contains("[REDACTED:"), "{text}");
    run(&env, &hub, "export --upload --session-id s1 --no-redact --repo bare").ok();
    let text = String::from_utf8(hub.file("alice/bare", "sessions/s1.jsonl")).unwrap();
    assert!(text.contains(&secret));
}

#[test]
fn what_is_sent_for_strangers_does_not_name_its_session() {
    let (env, hub) = (Env::with([talk("s1").user("I am in /home/ana/work")]), Hub::start());
    run(&env, &hub, "export --upload --share --older-than 0").ok().says("For strangers: 1 session");
    let [card, file] = hub.paths(MINE).try_into().unwrap();
    assert_eq!(card, "README.md");
    assert!(file.starts_with("sessions/shared~"), "{file}");
    let text = String::from_utf8(hub.file(MINE, &file)).unwrap();
    assert!(text.contains("~/work") && !text.contains("ana"), "{text}");
    run(&env, &hub, "export --upload --share --older-than 0").ok();
    assert_eq!(hub.commits(MINE).len(), 1, "the name is the same the next time");
}

#[test]
fn a_public_dataset_gets_nothing_that_was_not_meant_to_be_public() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    hub.state().create(MINE, false);
    upload(&env, &hub).fails(2).says("alice/hermes-traces is public, so nothing was sent to it");
    assert_eq!(writes(&hub), Vec::<String>::new());
    assert!(!hub.state().dataset(MINE).is_private);
}

#[test]
fn a_private_dataset_stays_private() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    hub.state().create(MINE, true);
    run(&env, &hub, &format!("{ALL} --public --yes")).fails(2).says("is private, so nothing");
    assert_eq!(writes(&hub), Vec::<String>::new());
    assert!(hub.state().dataset(MINE).is_private);
}

#[test]
fn to_publish_takes_a_word_and_without_redaction_another() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    run(&env, &hub, &format!("{ALL} --public")).fails(2).says("hint: --yes");
    let bare = format!("{ALL} --public --yes --no-redact");
    run(&env, &hub, &bare).fails(2).says("--i-reviewed-this");
    assert_eq!(hub.asked(), Vec::<String>::new());
    run(&env, &hub, &format!("{ALL} --public --yes")).ok().says("(public)");
    assert!(!hub.state().dataset(MINE).is_private);
    run(&env, &hub, &format!("{bare} --i-reviewed-this --repo bare")).ok();
    assert!(!hub.state().dataset("alice/bare").is_private);
}

#[test]
fn a_dry_run_opens_no_connection_and_needs_no_token() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    let mut dry = command(&env, &hub, &format!("{ALL} --dry-run"));
    dry.env_remove("HF_TOKEN");
    ran(&mut dry, "dry").ok().says("Would export 1 session").says("hermes-traces (private)");
    assert_eq!(hub.asked(), Vec::<String>::new());
    assert_eq!(names(&env.hermes("")), ["state.db"]);
}

#[test]
fn a_card_that_is_there_stays() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    hub.state().create(MINE, true).write("README.md", "mine");
    upload(&env, &hub).ok();
    assert_eq!(hub.file(MINE, "README.md"), b"mine");
    assert_eq!(hub.paths(MINE), ["README.md", "sessions/s1.jsonl"]);
}

#[test]
fn tokens_that_do_not_do_are_told_apart() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    let with = |token: &str, more: &str| {
        ran(command(&env, &hub, &format!("{ALL}{more}")).env("HF_TOKEN", token), token)
    };
    with("hf_wrong", "").fails(1).says("did not accept the token from HF_TOKEN");
    with(READ, "").fails(1).says("the token from HF_TOKEN may not write to alice/hermes-traces");
    with(WRITE, " --repo bob/talks").fails(1).says("may not write to bob/talks");
    with(WRITE, " --repo a/b/c").fails(2).says("`a/b/c` is no name of a dataset");
    with("two words", "")
        .fails(1)
        .says("what HF_TOKEN holds is no token")
        .does_not_say("two words");
    let mut none = command(&env, &hub, ALL);
    ran(none.env_remove("HF_TOKEN"), "none").fails(1).says("there is no token");
    fs::write(env.hermes(".env"), format!("HF_TOKEN={WRITE}\n")).unwrap();
    let mut dotenv = command(&env, &hub, &format!("{ALL} -v"));
    ran(dotenv.env_remove("HF_TOKEN"), "dotenv").ok().says("HF_TOKEN in").does_not_say(WRITE);
    fs::write(env.work("token"), format!("{WRITE}\r\n")).unwrap();
    with("hf_wrong", " --token-file token").ok().says("1 there already");
}

#[test]
fn a_dataset_that_is_made_or_goes_in_between_is_noticed() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    let made = Kind::First(|state| _ = state.create(MINE, true));
    hub.fails(Fault::on("POST /api/repos/create", made));
    upload(&env, &hub).ok();
    assert_eq!(hub.commits(MINE), ["Add 1 session"]);

    let public = Kind::First(|state| _ = state.create("alice/other", false));
    hub.fails(Fault::on("POST /api/repos/create", public));
    run(&env, &hub, &format!("{ALL} --repo other")).fails(2).says("alice/other is public");
    assert_eq!(hub.commits("alice/other"), Vec::<String>::new());

    grow(&env, "s1");
    hub.fails(Fault::on(COMMIT, Kind::First(|state| _ = state.datasets.remove(MINE))));
    upload(&env, &hub).fails(1).says("alice/hermes-traces does not exist");
}

#[test]
fn a_dataset_that_becomes_public_between_two_commits_gets_no_second_one() {
    let (env, hub) = (Env::with(many(51)), Hub::start());
    let publish = Kind::First(|state| state.dataset(MINE).is_private = false);
    hub.fails(Fault::on(INFO, publish).skip(2));
    let ran = run(&env, &hub, &format!("{ALL} --json")).ends(1).says("nothing more was sent");
    assert_eq!(hub.commits(MINE), ["Add 50 sessions"]);
    let report = &ran.json()["upload"];
    assert_eq!((&report["sent"], &report["commits"]), (&50.into(), &1.into()), "{report}");
    assert!(report["error"].as_str().unwrap().contains("is public"), "{report}");
}

#[test]
fn an_upload_that_was_cut_off_goes_on_with_the_rest() {
    let (env, hub) = (Env::with(many(120)), Hub::start());
    hub.fails(Fault::status(COMMIT, 403).skip(1));
    upload(&env, &hub).ends(1).says("Sent 50 sessions").says("may not write");
    upload(&env, &hub).ok().says("Sent 70 sessions").says("50 there already");
    assert_eq!(hub.commits(MINE), ["Add 50 sessions", "Add 50 sessions", "Add 20 sessions"]);
    assert_eq!(hub.paths(MINE).len(), 121);
}

#[test]
fn a_commit_happens_once_however_its_answer_is_lost() {
    let lost = [
        Kind::StatusAfter(500),
        Kind::StatusAfter(504),
        Kind::DropAfter,
        Kind::Truncate,
        Kind::Drop,
        Kind::DropInBody,
    ];
    for (n, kind) in lost.into_iter().enumerate() {
        let (env, hub) = (Env::with([talk("s1"), talk("s2")]), Hub::start());
        hub.fails(Fault::on(COMMIT, kind));
        upload(&env, &hub).ok().says("Sent 2 sessions").says("(private)\n");
        assert_eq!(hub.commits(MINE), ["Add 2 sessions"], "case {n}");
    }
}

#[test]
fn a_server_that_fails_twice_is_asked_a_third_time() {
    let fails_on = |on| {
        let (env, hub) = (Env::with([talk("s1")]), Hub::start());
        hub.fails(Fault::status(on, 500).times(2));
        upload(&env, &hub).ok();
        assert_eq!(hub.commits(MINE), ["Add 1 session"], "{on}");
    };
    std::thread::scope(|scope| {
        for on in ["whoami", INFO, "repos/create", "paths-info", "preupload", COMMIT] {
            scope.spawn(move || fails_on(on));
        }
    });
}

#[test]
fn somebody_elses_commit_in_between_is_kept() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    let write = Kind::First(|state| state.dataset(MINE).write("notes.md", "theirs"));
    hub.fails(Fault::on(COMMIT, write.clone()));
    upload(&env, &hub).ok();
    assert_eq!(hub.commits(MINE), ["by somebody else", "Add 1 session"]);
    assert_eq!(hub.file(MINE, "notes.md"), b"theirs");
    grow(&env, "s1");
    hub.fails(Fault::on(COMMIT, write).always());
    upload(&env, &hub).ends(1).says("alice/hermes-traces keeps being changed by somebody else");
}

#[test]
fn a_limit_is_waited_for_as_long_as_the_hub_asks_or_told() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    hub.fails(Fault::on(COMMIT, Kind::Status(429, "Retry-After", "1")));
    upload(&env, &hub).ok();
    assert_eq!(hub.commits(MINE), ["Add 1 session"]);
    grow(&env, "s1");
    hub.fails(Fault::on(COMMIT, Kind::Status(429, "Retry-After", "4000")));
    upload(&env, &hub).ends(1).says("try again in 4000 s");
    assert_eq!(hub.commits(MINE), ["Add 1 session"]);
}

#[test]
fn a_silent_server_is_not_waited_for_for_ever() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    let stall = |seconds| Kind::Stall(Duration::from_secs(seconds));
    hub.fails(Fault::on(COMMIT, stall(6)).times(2));
    let run = |hub: &Hub| {
        let mut command = command(&env, hub, ALL);
        ran(command.env("HERMES_SESSIONS_HUB_TIMEOUT", "1"), "stalled")
    };
    run(&hub).ends(1).says("did not answer within 1 s").says("only the rest is sent");
    assert_eq!(hub.commits(MINE), Vec::<String>::new());
    hub.fails(Fault::on("paths-info", stall(6)));
    run(&hub).ok();
}

#[test]
fn no_connection_is_told_as_such() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    let mut command = command(&env, &hub, ALL);
    ran(command.env("HF_ENDPOINT", "http://127.0.0.1:9"), "closed")
        .fails(1)
        .says("no connection to 127.0.0.1:9");
    ran(command.env("HF_ENDPOINT", "nowhere"), "nowhere").fails(2).says("is no address of a Hub");
}

#[test]
fn large_files_go_to_the_storage_for_them_and_nobody_is_told() {
    let lines: Vec<String> = (0..12_000).map(|n| format!("line {n} of a long talk")).collect();
    let text = lines.join("\n");
    let env = Env::with([session("s1").user(text).assistant("read"), talk("s2")]);
    let hub = Hub::start();
    hub.state().threshold = 200_000;
    upload(&env, &hub).ok().says("Sent 2 sessions");
    env.run("export kept --format trace --older-than 0").ok();
    let kept = fs::read(env.work("kept/s1.trace.jsonl")).unwrap();
    assert!(kept.len() > 200_000);
    assert!(hub.file(MINE, "sessions/s1.jsonl") == kept, "the file was changed on its way");
    assert_eq!(hub.state().telemetry, 0);
    assert!(hub.asked().iter().any(|line| line.contains("/shards")));
    assert!(!env.root().join("home/.cache").exists());
    upload(&env, &hub).ok().says("2 there already");
}

#[test]
fn a_hub_without_storage_for_large_files_is_told_as_such() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    hub.state().threshold = 100;
    hub.state().storage = Storage::Basic;
    hub.state().create(MINE, true).write("README.md", "mine");
    upload(&env, &hub).ends(1).says("has no storage for a file as large as sessions/s1.jsonl");
    assert_eq!(hub.commits(MINE), ["by somebody else"]);
}

#[test]
fn since_the_last_upload_only_changes_are_looked_at() {
    let (env, hub) = (Env::with([talk("s1"), talk("s2").running()]), Hub::start());
    let daily = |env: &Env| run(env, &hub, "-q export --upload --since-last-upload").silent().ok();
    daily(&env);
    assert_eq!(hub.paths(MINE), ["README.md", "sessions/s1.jsonl"]);
    hub.asked();
    daily(&env);
    assert_eq!(hub.asked(), ["GET /api/whoami-v2"]);

    env.store().sql("UPDATE sessions SET ended_at = 1783700000 WHERE id = 's2'");
    hub.fails(Fault::status(COMMIT, 403));
    run(&env, &hub, "-q export --upload --since-last-upload").ends(1);
    daily(&env);
    assert_eq!(hub.paths(MINE), ["README.md", "sessions/s1.jsonl", "sessions/s2.jsonl"]);

    fs::remove_file(env.hermes("session-exports/uploads.jsonl")).unwrap();
    daily(&env);
    assert_eq!(hub.commits(MINE), ["Add 1 session", "Add 1 session"]);
}

#[test]
fn a_report_for_scripts_says_what_was_sent() {
    let (env, hub) = (Env::with([talk("s1"), talk("s2")]), Hub::start());
    let report = run(&env, &hub, &format!("{ALL} --json")).ok().json();
    assert_eq!((&report["matched"], &report["exported"]), (&2.into(), &2.into()));
    let upload = &report["upload"];
    assert_eq!(upload["dataset"], MINE);
    assert_eq!(upload["address"], format!("{}/datasets/{MINE}", hub.url));
    assert_eq!(upload["created"], true);
    assert_eq!(upload["files"], serde_json::json!(["sessions/s1.jsonl", "sessions/s2.jsonl"]));
    assert!(upload["error"].is_null());
    let failed = ran(command(&env, &hub, &format!("{ALL} --json")).env("HF_TOKEN", "x"), "x");
    assert!(failed.ends(1).json()["error"].as_str().unwrap().contains("did not accept"));
}

#[test]
fn flags_that_do_not_apply_are_refused() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    for (line, says) in [
        ("export --format md --upload --session-id s1", "--upload does not apply to md"),
        ("export - --upload --session-id s1", "OUTPUT is a file"),
        ("export one.trace.jsonl --upload --session-id s1", "OUTPUT is a file"),
        ("export --format trace --public --session-id s1", "--upload"),
        ("export --upload --session-id s1 --i-reviewed-this", "--public"),
        ("export --upload --session-id s1 --yes", "--public"),
    ] {
        run(&env, &hub, line).ends(2).says(says);
    }
    assert_eq!(hub.asked(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn an_interrupted_upload_ends_at_once_and_leaves_nothing() {
    let (env, hub) = (Env::with([talk("s1")]), Hub::start());
    hub.fails(Fault::on(COMMIT, Kind::Stall(Duration::from_secs(30))));
    let mut command = command(&env, &hub, ALL);
    command.env("HERMES_SESSIONS_HUB_TIMEOUT", "60").stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    while !hub.asked().iter().any(|line| line.contains(COMMIT)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ran = Ran::new("interrupted".to_owned(), child.wait_with_output().unwrap());
    ran.ends(130).says("interrupted");
    assert_eq!(names(&env.root().join("tmp")), Vec::<String>::new());
}
