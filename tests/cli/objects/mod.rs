//! Backups in an object store: an S3 on loopback, which fails as it is told to.

mod s3;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::backup_kills::{Dice, kill, kills};
use crate::env::{Env, Ran, parsed_lines, text};
use crate::loopback::{self, Server};
use crate::store::{Session, session, talk};
use s3::{BUCKET, KEY, State};

type Fault = loopback::Fault<State>;
type Kind = loopback::Kind<State>;

const PLACE: &str = "s3://bucket/hermes/laptop";
const SECRET: &str = "made-up-and-not-to-be-told";

/// A home and a bucket.
struct Lab {
    env: Env,
    s3: Server<State>,
}

impl Lab {
    fn with(sessions: impl IntoIterator<Item = Session>) -> Self {
        Self { env: Env::with(sessions), s3: Server::start(State::default(), s3::answer) }
    }

    fn new() -> Self {
        Self::with([
            talk("first").with("title", "Of one thing"),
            session("deep").user("question").assistant("answer").user("taken back").rewound(),
            talk("worker").delegate_of("first"),
            session("runs").user("and runs").running(),
        ])
    }

    fn command(&self, line: &str) -> Command {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = self.env.command(&words);
        command
            .env("AWS_ENDPOINT_URL_S3", &self.s3.url)
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ACCESS_KEY_ID", KEY)
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .env("AWS_REGION", "eu-central-1")
            // Long after the store was written, so that a later write would show.
            .env("HERMES_SESSIONS_NOW", "2126-01-01T00:00:00Z");
        command
    }

    fn run(&self, line: &str) -> Ran {
        let ran = Ran::new(line.to_owned(), self.command(line).output().unwrap());
        assert!(!ran.stderr.contains(SECRET) && !ran.stdout.contains(SECRET), "{ran}");
        ran
    }

    fn backup(&self) -> Ran {
        self.run(&format!("backup {PLACE} --json"))
    }

    /// The names of the objects below the prefix, without the bookkeeping.
    fn names(&self) -> BTreeSet<String> {
        let state = self.s3.state();
        let names = state.objects.keys().map(|key| key.strip_prefix("hermes/laptop/").unwrap());
        names
            .filter(|name| !name.starts_with(".hermes-sessions/checkpoint"))
            .map(str::to_owned)
            .collect()
    }

    fn manifest(&self) -> Vec<Json> {
        let state = self.s3.state();
        let text = state.objects.get("hermes/laptop/manifest.jsonl").cloned().unwrap_or_default();
        parsed_lines(&String::from_utf8(text).unwrap())
    }

    fn line(&self, id: &str) -> Json {
        self.manifest().into_iter().find(|line| line["session_id"] == id).unwrap()
    }

    /// Whether every line's object is there, whole.
    fn is_sound(&self) {
        for line in self.manifest() {
            let state = self.s3.state();
            let body = &state.objects[&format!("hermes/laptop/{}", text(&line["path"]))];
            assert_eq!(text(&line["sha256"]), s3::sha256(body), "{line}");
        }
    }

    /// Whether the bucket gives back what the store has.
    fn comes_back(&self) {
        let all = "export - --messages all --lenient";
        let _ = std::fs::remove_file(self.env.work("new.db"));
        self.run(&format!("restore {PLACE} --into new.db")).ok();
        let there = self.env.run(&format!("--db new.db {all}")).ok().stdout;
        assert_eq!(there, self.env.run(all).ok().stdout);
    }

    /// How many requests of a kind there were since the last look.
    fn asked(&self, kind: &str) -> usize {
        self.s3.asked().iter().filter(|line| line.starts_with(kind)).count()
    }
}

#[test]
fn sessions_are_objects_and_come_back_cell_by_cell() {
    let lab = Lab::new();
    let json = lab.backup().ok().json();
    assert_eq!(json["exported"], 4, "{json}");
    assert_eq!(lab.names().len(), 4 + 1, "four sessions and the manifest: {:?}", lab.names());
    lab.is_sound();
    lab.run(&format!("verify {PLACE} --against-store")).ok().says("4 files intact");
    lab.comes_back();
    let json = lab.run(&format!("restore {PLACE} deep --into one.db --json")).ok().json();
    assert_eq!((&json["imported"], &json["compared"]), (&json!(1), &json!(1)));
}

#[test]
fn nothing_is_sent_or_read_where_nothing_has_changed() {
    let lab = Lab::new();
    lab.run(&format!("backup {PLACE}"))
        .ok()
        .says("Backed up 4 sessions to s3://bucket/hermes/laptop");
    lab.s3.asked();
    assert_eq!(lab.backup().ok().json()["idle"], true);
    let asked = lab.s3.asked();
    assert!(asked.iter().all(|line| line.starts_with("GET /bucket")), "{asked:?}");
    assert!(asked.len() <= 2 + 1, "a list and the checkpoint: {asked:?}");
    // Written to, and yet the same.
    lab.env.store().sql("UPDATE sessions SET title = 'x' WHERE id = 'deep'; UPDATE sessions SET title = NULL WHERE id = 'deep'");
    let json = lab.backup().ok().json();
    assert_eq!(
        (&json["idle"], &json["exported"], &json["unchanged"]),
        (&json!(false), &json!(0), &json!(4))
    );
    let asked = lab.s3.asked();
    assert!(!asked.iter().any(|line| line.contains(".zst")), "{asked:?}");
}

#[test]
fn a_session_that_has_changed_takes_the_place_of_what_it_was() {
    let lab = Lab::new();
    lab.backup().ok();
    let before = text(&lab.line("deep")["path"]);
    lab.env.store().sql("UPDATE messages SET content = 'QUESTION' WHERE content = 'question'");
    let json = lab.backup().ok().json();
    assert_eq!((&json["exported"], &json["unchanged"]), (&json!(1), &json!(3)), "{json}");
    let after = text(&lab.line("deep")["path"]);
    assert!(after != before && lab.names().contains(&after) && !lab.names().contains(&before));
    assert_eq!(lab.names().len(), 4 + 1);
    assert_eq!(json["files"][0]["path"], format!("{PLACE}/{after}"));
    lab.is_sound();
    lab.comes_back();
}

#[test]
fn a_session_that_left_the_store_stays_and_is_marked() {
    let lab = Lab::new();
    lab.backup().ok();
    let rows =
        "DELETE FROM messages WHERE session_id = 'deep'; DELETE FROM sessions WHERE id = 'deep'";
    lab.env.store().sql(rows);
    assert_eq!(lab.backup().ok().json()["gone"], json!(["deep"]));
    assert!(lab.line("deep")["gone_at"].is_number());
    assert_eq!(lab.manifest().len(), 4);
    lab.run(&format!("restore {PLACE} --into most.db")).ok().says("1 sessions had been deleted");
    lab.run(&format!("restore {PLACE} deep --into one.db")).ok().says("Restored 1 sessions");
    lab.is_sound();
}

#[test]
fn what_was_lost_or_cut_is_told_and_written_again() {
    let lab = Lab::new();
    lab.backup().ok();
    let key = |id: &str| format!("hermes/laptop/{}", text(&lab.line(id)["path"]));
    let (lost, cut, flipped) = (key("deep"), key("runs"), key("first"));
    {
        let mut state = lab.s3.state();
        state.objects.remove(&lost);
        state.objects.get_mut(&cut).unwrap().truncate(20);
        state.objects.get_mut(&flipped).unwrap()[40] ^= 1;
        state.objects.insert("hermes/laptop/other.jsonl".to_owned(), Vec::new());
    }
    let told = lab.run(&format!("verify {PLACE}")).ends(1);
    for line in [
        format!("missing: s3://bucket/{lost}"),
        format!("changed: s3://bucket/{cut}"),
        format!("changed: s3://bucket/{flipped}"),
        "unlisted: s3://bucket/hermes/laptop/other.jsonl".to_owned(),
    ] {
        assert!(told.stdout.contains(&line), "{line}\n{told}");
    }
    let json = lab.run(&format!("restore {PLACE} --into most.db --json")).ends(1).json();
    assert_eq!(json["imported"], 1, "{json}");
    assert!(text(&json["damaged"][0]["path"]).starts_with(PLACE), "{json}");
    // Sizes are seen, and bits when they are looked at.
    assert_eq!(lab.backup().ok().json()["exported"], 2);
    lab.s3.state().objects.remove(&flipped);
    assert_eq!(lab.backup().ok().json()["exported"], 1);
    lab.is_sound();
    lab.comes_back();
}

#[test]
fn a_killed_run_leaves_every_line_with_its_object_and_the_next_one_completes() {
    let lab = Lab::with((0..30).map(|n| session(format!("s{n:02}")).user(format!("question {n}"))));
    for stalled in [0, 3, 20] {
        lab.s3
            .fails(Fault::on(".jsonl", Kind::Stall(Duration::from_secs(2))).skip(stalled).always());
        let mut child =
            lab.command(&format!("backup {PLACE}")).stderr(Stdio::null()).spawn().unwrap();
        lab.s3.asked();
        while lab.asked("PUT") == 0 && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(100));
        child.kill().unwrap();
        child.wait().unwrap();
        lab.s3.heals();
        lab.is_sound();
        lab.env.store().sql("UPDATE messages SET content = content || '!'");
    }
    assert!(lab.names().iter().any(|name| name.contains("/run-")), "{:?}", lab.names());
    lab.run(&format!("-q backup {PLACE}")).ok().silent();
    lab.is_sound();
    assert_eq!(lab.names().len(), 30 + 1, "nothing is left of the killed runs: {:?}", lab.names());
    lab.run(&format!("verify {PLACE} --against-store")).ok().says("30 files intact");
    lab.comes_back();
}

#[test]
#[ignore = "takes minutes; KILLS and KILL_SEED say how many and which"]
fn killed_backups_leave_every_line_with_its_object() {
    let lab = Lab::with((0..40).map(|n| session(format!("s{n:02}")).user(format!("question {n}"))));
    let mut dice = Dice::new();
    for n in 0..kills() {
        // A server that takes its time gives the kills more points to fall on.
        lab.s3.fails(Fault::on("/", Kind::Stall(Duration::from_millis(dice.roll(20)))).always());
        let mut command = lab.command(&format!("backup {PLACE}"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        kill(child, Duration::from_millis(dice.roll(600)));
        lab.s3.heals();
        lab.is_sound();
        let id = dice.roll(40);
        let edit = format!("UPDATE messages SET content = content || '{n}' WHERE id % 40 >= {id}");
        lab.env.store().sql(&edit);
        if n % 10 == 9 {
            lab.run(&format!("-q backup {PLACE}")).ok().silent();
            lab.run(&format!("verify {PLACE} --against-store")).ok().says("40 files intact");
        }
    }
    for _ in 0..kills() {
        // A few of the runs that did not end are cleaned up after at a time.
        lab.env.store().sql("UPDATE messages SET content = content || '.' WHERE id = 1");
        lab.backup().ok();
        if lab.names().len() == 40 + 1 {
            break;
        }
    }
    assert_eq!(lab.names().len(), 40 + 1, "{:?}", lab.names());
    lab.comes_back();
}

#[test]
fn a_run_that_another_one_overtakes_ends_and_tears_nothing() {
    let lab = Lab::new();
    lab.backup().ok();
    lab.env.store().sql("UPDATE messages SET content = content || '!'");
    // Somebody else commits between our look at the manifest and our commit.
    let fault = Fault::on("PUT /bucket/hermes/laptop/manifest.jsonl", Kind::First(shorten));
    lab.s3.fails(fault);
    lab.run(&format!("backup {PLACE}")).fails(3).says("was changed by another run meanwhile");
    assert_eq!(lab.manifest().len(), 3, "what the other one wrote counts");
    lab.is_sound();
    lab.backup().ok();
    lab.is_sound();
    assert_eq!(lab.manifest().len(), 4);
    lab.comes_back();
}

/// Takes the last line from the manifest.
fn shorten(state: &mut State) {
    let manifest = state.objects.get_mut("hermes/laptop/manifest.jsonl").unwrap();
    let end = manifest[..manifest.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap();
    manifest.truncate(end + 1);
}

#[test]
fn of_two_at_once_one_completes_or_both_do() {
    let lab = Lab::with((0..20).map(|n| session(format!("s{n:02}")).user(format!("question {n}"))));
    let start =
        || lab.command(&format!("-q backup {PLACE}")).stderr(Stdio::piped()).spawn().unwrap();
    for round in 0..3 {
        let (one, other) = (start(), start());
        let codes =
            [one, other].map(|child| child.wait_with_output().unwrap().status.code().unwrap());
        assert!(codes.contains(&0) && codes.iter().all(|code| [0, 3].contains(code)), "{codes:?}");
        lab.is_sound();
        lab.env.store().sql(&format!("UPDATE messages SET content = content || '{round}'"));
    }
    lab.backup().ok();
    lab.is_sound();
    assert_eq!(lab.names().len(), 20 + 1, "{:?}", lab.names());
    lab.comes_back();
}

#[test]
fn an_answer_that_was_lost_is_not_taken_for_another_run() {
    let lab = Lab::new();
    lab.s3.fails(Fault::on("PUT /bucket/hermes/laptop/manifest.jsonl", Kind::StatusAfter(503)));
    lab.backup().ok();
    lab.is_sound();
    lab.comes_back();
}

#[test]
fn what_passes_is_tried_again_and_what_stays_is_an_error_that_does_no_harm() {
    let lab = Lab::new();
    lab.s3.fails(Fault::status("PUT", 500).times(2));
    lab.backup().ok();
    lab.env.store().sql("UPDATE messages SET content = content || '!'");
    for (fault, said) in [
        (Fault::status("PUT", 500).always(), "500"),
        (Fault::on("GET /bucket", Kind::Status(403, "X-Fake", "1")).always(), "refuses us"),
        (Fault::on("zst", Kind::Drop).always(), "cannot be reached as it should"),
    ] {
        lab.s3.fails(fault);
        lab.run(&format!("backup {PLACE}")).fails(1).says(said);
        lab.s3.heals();
        lab.is_sound();
    }
    lab.backup().ok();
    lab.is_sound();
    assert_eq!(lab.names().len(), 4 + 1, "{:?}", lab.names());
    lab.comes_back();
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for_without_end() {
    let lab = Lab::new();
    lab.s3.fails(Fault::on("GET /bucket", Kind::Stall(Duration::from_secs(3))).always());
    let mut command = lab.command(&format!("backup {PLACE}"));
    let output = command.env("AWS_READ_TIMEOUT", "100ms").output().unwrap();
    Ran::new("backup".to_owned(), output).fails(1).says("cannot be reached as it should");
}

#[test]
fn wrong_credentials_a_bucket_that_is_not_there_and_no_server_are_told_apart() {
    let lab = Lab::new();
    let mut command = lab.command(&format!("backup {PLACE}"));
    let output = command.env("AWS_ACCESS_KEY_ID", "AKIDOTHER").output().unwrap();
    Ran::new("other key".to_owned(), output).fails(1).says("refuses us: InvalidAccessKeyId");
    lab.backup().ok();
    lab.s3.state().is_gone = true;
    for line in ["backup", "verify"] {
        lab.run(&format!("{line} {PLACE}"))
            .fails(1)
            .says("there is no bucket for s3://bucket/hermes/laptop");
    }
    lab.run(&format!("restore {PLACE} --into new.db")).fails(1).says("NoSuchBucket");
    assert!(!lab.env.work("new.db").exists());
    let mut command = lab.command(&format!("backup {PLACE}"));
    let output = command.env("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1").output().unwrap();
    Ran::new("no server".to_owned(), output).fails(1).says("Connection refused");
}

#[test]
fn without_credentials_it_is_said_where_they_come_from() {
    let lab = Lab::new();
    let mut command = lab.command(&format!("backup {PLACE}"));
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    let output = command.env("AWS_METADATA_ENDPOINT", &lab.s3.url).output().unwrap();
    let ran =
        Ran::new("no key".to_owned(), output).fails(1).says("there are no credentials for s3:");
    ran.says("AWS_SECRET_ACCESS_KEY");
}

#[test]
fn a_server_without_conditions_is_looked_at_before_it_is_written_to() {
    let lab = Lab::new();
    lab.s3.state().is_simple = true;
    lab.backup().ok();
    lab.env.store().sql("UPDATE messages SET content = content || '!'");
    lab.backup().ok();
    lab.is_sound();
    lab.comes_back();
}

#[test]
fn where_nothing_may_be_removed_all_goes_on() {
    let lab = Lab::new();
    lab.s3.state().keeps_all = true;
    lab.backup().ok();
    lab.env.store().sql("UPDATE messages SET content = content || '!'");
    lab.backup().ok();
    lab.is_sound();
    lab.comes_back();
    lab.s3.state().keeps_all = false;
    lab.env.store().sql("UPDATE messages SET content = content || '!'");
    lab.backup().ok();
    assert_eq!(lab.names().len(), 4 + 1, "{:?}", lab.names());
}

#[test]
fn a_manifest_that_was_lost_takes_nothing_with_it() {
    let lab = Lab::new();
    lab.backup().ok();
    lab.s3.state().objects.remove("hermes/laptop/manifest.jsonl");
    lab.run(&format!("restore {PLACE} --into new.db"))
        .fails(1)
        .says("s3://bucket/hermes/laptop is no backup");
    lab.run(&format!("verify {PLACE}"))
        .fails(1)
        .says("there is no manifest.jsonl in s3://bucket/hermes/laptop");
    assert_eq!(lab.backup().ok().json()["exported"], 4);
    lab.env.store().sql("UPDATE messages SET content = content || '!'");
    lab.backup().ok();
    assert_eq!(lab.names().len(), 4 + 4 + 1, "what no line speaks of is nobody's to remove");
    lab.is_sound();
}

#[test]
fn a_large_session_goes_in_parts() {
    let noise = |seed: u64| {
        let mut state = seed;
        let next = move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'0' + (state >> 58) as u8)
        };
        (0..8 << 20).map(next).collect::<String>()
    };
    // In a column that no index of words is made of.
    let large = talk("large").with("system_prompt", noise(1));
    let lab = Lab::with([large, talk("small")]);
    lab.backup().ok();
    let parts =
        lab.s3.asked().iter().filter(|line| line.starts_with("POST /bucket/hermes")).count();
    assert_eq!(parts, 2, "begun and completed");
    lab.is_sound();
    lab.comes_back();
}

#[test]
fn encrypted_sessions_are_opened_by_their_key_alone() {
    let lab = Lab::new();
    let identity = age::x25519::Identity::generate();
    let key = age::secrecy::ExposeSecret::expose_secret(&identity.to_string()).to_owned();
    std::fs::write(lab.env.work("key.txt"), key).unwrap();
    let backup = format!("backup {PLACE} --encrypt-to {}", identity.to_public());
    lab.run(&backup).ok();
    for (name, body) in &lab.s3.state().objects {
        assert!(!String::from_utf8_lossy(body).contains("question"), "{name}");
        assert!(!body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]), "{name} is packed alone");
    }
    lab.run(&format!("backup {PLACE}"))
        .fails(1)
        .says("the sessions in s3://bucket/hermes/laptop are encrypted");
    lab.run(&format!("verify {PLACE}")).ok().says("4 files intact");
    lab.run(&format!("verify {PLACE} --identity key.txt")).ok().says("4 files intact");
    lab.run(&format!("restore {PLACE} --into new.db"))
        .fails(1)
        .says("s3://bucket/hermes/laptop cannot be opened");
    lab.run(&format!("restore {PLACE} --identity key.txt --into new.db"))
        .ok()
        .says("Compared 4 sessions");
    assert!(lab.run(&format!("{backup} --json")).ok().json()["idle"] == true);
}

#[test]
fn copies_of_the_database_are_kept_and_thinned_out() {
    let lab = Lab::new();
    let copy = |now: &str, keep: &str| {
        let mut command = lab.command(&format!("backup {PLACE} --snapshot{keep} --json"));
        let output = command.env("HERMES_SESSIONS_NOW", now).output().unwrap();
        Ran::new(now.to_owned(), output).ok().json()
    };
    let first = copy("2126-01-01T10:00:00Z", "");
    assert_eq!(first["snapshot"], format!("{PLACE}/snapshots/state-21260101T100000Z.db"));
    copy("2126-01-01T20:00:00Z", "");
    let third = copy("2126-01-02T10:00:00Z", " --keep-daily 2");
    assert_eq!(third["removed_snapshots"], json!([first["snapshot"]]));
    let copies = ["21260101T10", "21260101T20", "21260102T10"].map(|time| {
        lab.names()
            .iter()
            .filter(|name| name.starts_with("snapshots/") && name.contains(time))
            .count()
    });
    assert_eq!(copies, [0, 2, 2], "each with its sum: {:?}", lab.names());
    let body = lab.s3.state().objects["hermes/laptop/snapshots/state-21260102T100000Z.db"].clone();
    std::fs::write(lab.env.work("copy.db"), body).unwrap();
    assert_eq!(lab.env.run("--db copy.db export -").ok().lines().len(), 4);
    lab.run(&format!("verify {PLACE}")).ok().says("4 files intact");
    lab.comes_back();
}

#[test]
fn a_copy_of_the_bucket_is_a_backup_in_a_folder() {
    let lab = Lab::new();
    lab.backup().ok();
    std::fs::create_dir(lab.env.work("copy")).unwrap();
    for (key, body) in &lab.s3.state().objects {
        let name = key.strip_prefix("hermes/laptop/").unwrap();
        if !name.contains('/') {
            std::fs::write(lab.env.work("copy").join(name), body).unwrap();
        }
    }
    lab.env.run("verify copy --against-store").ok().says("4 files intact");
    lab.env.run("restore copy --into new.db").ok().says("Compared 4 sessions");
}

#[test]
fn places_that_make_no_sense_are_refused() {
    let lab = Lab::new();
    lab.run("backup s3://KEY:SECRET@bucket/x").fails(2).does_not_say("SECRET@");
    lab.run("backup s3://bucket/a/../b").fails(2);
    lab.run("export s3://bucket/x").fails(2).says("export takes folders and files");
    lab.run("archive --cold s3://bucket/x --older-than 1d --yes")
        .fails(2)
        .says("--cold takes folders");
    lab.run("list --cold=s3://bucket/x").fails(2).says("--cold takes folders");
    lab.run(&format!("verify {PLACE} b")).fails(2).says("an object store is verified alone");
    assert!(lab.s3.asked().is_empty());
    assert_eq!(BUCKET, "bucket");
}
