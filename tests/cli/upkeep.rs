//! `auto-prune`, `optimize`, `repair` and `doctor`.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};

use crate::env::Env;
use crate::store::{HOUR, NOW, SCHEMA, Session, Store, session, talk};
use crate::tree::names;

fn aged(id: &'static str, days: f64) -> Session {
    let start = NOW - days * 24.0 * HOUR;
    session(id)
        .with("started_at", start)
        .with("ended_at", start)
        .user("hello")
        .and("timestamp", start)
}

fn config(env: &Env, text: &str) {
    fs::write(env.hermes("config.yaml"), text).unwrap();
}

fn mark(env: &Env) -> Vec<String> {
    env.store().column("SELECT value FROM state_meta WHERE key = 'last_auto_prune'")
}

#[test]
fn nothing_is_pruned_unless_the_configuration_says_so() {
    let env = Env::with([aged("old", 91.0)]);
    env.run("auto-prune").ok().says("sessions.auto_prune is not true");
    config(&env, "sessions:\n  retention_days: 1\n");
    env.run("auto-prune").ok().says("sessions.auto_prune is not true");
    config(&env, "sessions:\n  auto_prune: true\n  retention_days: soon\n");
    env.run("auto-prune").fails(1).says("sessions.retention_days");
    assert_eq!(env.store().session_ids(), ["old"]);
    assert!(mark(&env).is_empty());
}

#[test]
fn old_sessions_go_and_the_mark_that_hermes_reads_is_set() {
    let env = Env::with([
        aged("old", 31.0),
        aged("young", 29.0),
        aged("running", 99.0).running(),
        aged("archived", 99.0).with("archived", 1),
    ]);
    config(&env, "sessions:\n  auto_prune: true\n  retention_days: 30\n");
    env.run("auto-prune --dry-run").ok().says("Would delete 1 session");
    assert!(mark(&env).is_empty());
    let ran = env.run("auto-prune --json").ok();
    assert_eq!(ran.json()["deleted"]["sessions"], 1);
    assert_eq!(ran.json()["vacuum"]["vacuumed"], true);
    assert_eq!(env.store().session_ids(), ["archived", "running", "young"]);
    assert_eq!(mark(&env), ["1785499200.0"]);
}

#[test]
fn it_waits_until_the_interval_since_the_mark_is_over() {
    let env = Env::with([aged("old", 91.0)]);
    config(&env, "sessions: {auto_prune: true, min_interval_hours: 2, vacuum_after_prune: false}");
    let set = |value: f64| {
        env.store().sql(&format!(
            "INSERT OR REPLACE INTO state_meta VALUES ('last_auto_prune', '{value}')"
        ));
    };
    set(NOW - 1.9 * HOUR);
    let ran = env.run("auto-prune --json").ok().says("the last one is less than 2 hours ago");
    assert_eq!(ran.json()["skipped"], true);
    assert_eq!(env.store().session_ids(), ["old"]);
    set(NOW - 2.0 * HOUR);
    let ran = env.run("auto-prune --json").ok();
    assert_eq!(ran.json()["deleted"]["sessions"], 1);
    assert!(ran.json().get("vacuum").is_none());
}

/// A store with room to give back, and an index in many pieces.
fn loose() -> Env {
    let env = Env::with((0..200).map(|n| session(format!("s{n:03}")).user("word ".repeat(200))));
    env.store().sql("DELETE FROM messages WHERE id > 20");
    env
}

#[test]
fn optimizing_gives_room_back_and_keeps_every_row() {
    let env = loose();
    let before = fs::metadata(env.db()).unwrap().len();
    let ran = env.run("optimize --json").ok().says("The store takes");
    let after = fs::metadata(env.db()).unwrap().len();
    assert_eq!(ran.json()["bytes_after"], after);
    assert!(after < before / 2, "{before} {after}");
    let store = env.store();
    assert_eq!((store.count("FROM sessions"), store.count("FROM messages")), (200, 20));
    assert_eq!(store.count("FROM messages_fts WHERE messages_fts MATCH 'word'"), 20);
    assert_eq!(store.column("PRAGMA journal_mode"), ["wal"]);
}

#[test]
fn a_store_that_others_have_open_is_not_written_anew() {
    let env = loose();
    let holder = env.store();
    holder.count("FROM sessions");
    let before = fs::metadata(env.db()).unwrap().len();
    let ran = env.run("optimize --json").ends(3).says("another program has the store open");
    assert_eq!(ran.json()["vacuumed"], false);
    assert_eq!(ran.json()["indexes"], 2);
    assert!(fs::metadata(env.db()).unwrap().len() >= before);
    assert_eq!(holder.count("FROM messages_fts WHERE messages_fts MATCH 'word'"), 20);
}

#[test]
fn a_compact_copy_leaves_the_store_as_it_is() {
    let env = loose();
    let before = fs::read(env.db()).unwrap();
    env.run("optimize --into copy.db").ok().says("Wrote");
    assert_eq!(fs::read(env.db()).unwrap(), before);
    assert_eq!(names(&env.hermes("")), ["state.db"]);
    assert_eq!(Store::open(&env.work("copy.db")).count("FROM sessions"), 200);
    let copy = fs::read(env.work("copy.db")).unwrap();
    env.run("optimize --into copy.db").fails(1).says("there is one already");
    env.run("optimize --into ''").fails(2);
    env.run("optimize --into no/folder/copy.db").fails(1).says("no/folder/copy.db");
    assert_eq!(fs::read(env.work("copy.db")).unwrap(), copy);
}

/// Backups, and what else is beside the store.
fn beside(env: &Env) -> Vec<String> {
    names(&env.hermes("")).into_iter().filter(|name| name != "state.db").collect()
}

#[test]
fn a_whole_store_is_checked_and_left_alone() {
    let env = Env::with([talk("s0"), session("s1").user("\0json:[\"text\"]")]);
    let before = fs::read(env.db()).unwrap();
    env.run("repair --check-only").ok().says("nothing is damaged");
    env.run("repair").ok().says("nothing is damaged");
    assert_eq!(fs::read(env.db()).unwrap(), before);
    assert!(beside(&env).is_empty());
}

#[test]
fn full_text_indexes_are_made_anew_from_the_messages() {
    for damage in [
        "UPDATE messages_fts_data SET block = zeroblob(40) WHERE id > 10",
        "DELETE FROM messages_fts_data",
        "DELETE FROM messages_fts_trigram_data",
        "DELETE FROM messages_fts_docsize",
    ] {
        let env = Env::with((0..30).map(|n| session(format!("s{n}")).user("findable word")));
        env.store().sql(damage);
        env.run("repair --check-only").ends(1).says("the full-text index messages_fts");
        env.run("repair").ok().says("it was mended").says("state.db.before-repair (");
        let store = env.store();
        assert_eq!(store.count("FROM sessions"), 30);
        for table in ["messages_fts", "messages_fts_trigram"] {
            store.sql(&format!("INSERT INTO {table}({table}) VALUES ('integrity-check')"));
            let found = format!("FROM {table} WHERE {table} MATCH 'findable'");
            assert_eq!(store.count(&found), 30, "{damage}");
        }
        assert_eq!(store.column("PRAGMA integrity_check"), ["ok"]);
        drop(store);
        env.run("repair").ok().says("nothing is damaged");
        let backups = beside(&env).iter().filter(|name| !name.ends_with("-wal")).count();
        assert_eq!(backups, 1, "{damage}");
    }
}

#[test]
fn a_full_text_index_whose_pages_are_gone_is_made_anew() {
    for table in ["messages_fts_data", "messages_fts_content", "messages_fts_trigram_idx"] {
        let env = Env::with((0..30).map(|n| session(format!("s{n}")).user("findable word")));
        overwrite(&env, root(&env, table));
        env.run("repair").ok().says("it was mended");
        let store = env.store();
        assert_eq!(store.count("FROM sessions"), 30);
        assert_eq!(store.count("FROM messages_fts WHERE messages_fts MATCH 'findable'"), 30);
        assert_eq!(store.column("PRAGMA integrity_check"), ["ok"], "{table}");
    }
}

#[test]
fn what_is_defined_twice_is_defined_once() {
    let env = Env::with([talk("s0")]);
    env.store().sql(
        "PRAGMA writable_schema = ON; \
         INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'messages'",
    );
    env.run("repair --check-only").ends(1).says("table messages is defined twice");
    env.run("repair").ok().says("all is well now");
    assert_eq!(env.store().session_ids(), ["s0"]);
    assert_eq!(env.store().column("PRAGMA integrity_check"), ["ok"]);
}

/// The page at which an object begins.
fn root(env: &Env, object: &str) -> u64 {
    let sql = format!("SELECT rootpage FROM sqlite_schema WHERE name = '{object}'");
    env.store().column(&sql)[0].parse().unwrap()
}

fn overwrite(env: &Env, page: u64) {
    let mut file = fs::OpenOptions::new().write(true).open(env.db()).unwrap();
    file.seek(SeekFrom::Start((page - 1) * 4096)).unwrap();
    file.write_all(&[0xa5; 4096]).unwrap();
}

#[test]
fn an_index_is_made_anew_from_its_table() {
    let env = Env::with([talk("s0"), talk("s1")]);
    overwrite(&env, root(&env, "idx_sessions_source"));
    env.run("repair").ok().says("the index idx_sessions_source is damaged; it was mended");
    let store = env.store();
    assert_eq!(store.column("PRAGMA integrity_check"), ["ok"]);
    assert_eq!(store.count("FROM sessions INDEXED BY idx_sessions_source WHERE source = 'cli'"), 2);
}

#[test]
fn a_damaged_table_is_named_and_what_is_left_is_copied_to_a_new_store() {
    let env = Env::with((0..60).map(|n| session(format!("s{n:02}")).user("word ".repeat(300))));
    overwrite(&env, leaf_of_messages(&env));
    let before = fs::read(env.db()).unwrap();
    env.run("repair --check-only").ends(1).says("the table messages is damaged");
    env.run("repair").ends(1).says("`repair --into NEW`");
    assert_eq!(fs::read(env.db()).unwrap(), before);
    assert!(beside(&env).is_empty());
    env.run("repair --into new.db").ends(1).says("messages: rows at 1 place could not be read");
    let saved = Store::open(&env.work("new.db"));
    assert_eq!(saved.count("FROM sessions"), 60);
    let messages = saved.count("FROM messages");
    assert!((50..60).contains(&messages), "{messages}");
    assert_eq!(saved.count("FROM messages_fts WHERE messages_fts MATCH 'word'"), messages);
    assert_eq!(saved.column("PRAGMA integrity_check"), ["ok"]);
    assert_eq!(fs::read(env.db()).unwrap(), before);
}

/// A page of messages: the second child of the page at which the table begins.
fn leaf_of_messages(env: &Env) -> u64 {
    let root = usize::try_from(root(env, "messages")).unwrap();
    let file = fs::read(env.db()).unwrap();
    let page = &file[(root - 1) * 4096..root * 4096];
    assert_eq!(page[0], 5, "the table is no tree of several pages");
    let cell = usize::from(u16::from_be_bytes([page[14], page[15]]));
    u64::from(u32::from_be_bytes(page[cell..cell + 4].try_into().unwrap()))
}

#[test]
fn sessions_that_were_lost_are_made_anew_for_their_messages() {
    let env = Env::with([talk("s0"), talk("s1")]);
    env.store().sql("DELETE FROM sessions WHERE id = 's0'");
    env.run("repair --into new.db").ok().says("1 session lost but for messages");
    let saved = Store::open(&env.work("new.db"));
    assert_eq!(
        saved.column("SELECT id || ' ' || source FROM sessions ORDER BY id"),
        ["s0 recovered", "s1 cli"]
    );
    env.run("repair --into new.db").fails(1);
}

#[test]
fn what_is_no_database_is_not_repaired() {
    let env = Env::empty();
    for bytes in [b"junk".to_vec(), vec![0xa5; 100_000], Vec::new()] {
        fs::write(env.db(), &bytes).unwrap();
        for line in ["repair", "repair --check-only", "repair --into new.db", "optimize"] {
            env.run(line).fails(1).says("is not a SQLite database");
        }
        assert!(beside(&env).is_empty());
        assert_eq!(fs::read(env.db()).unwrap(), bytes);
    }
    assert!(names(&env.work("")).is_empty());
}

#[test]
fn the_doctor_tells_where_sessions_are_and_which_no_list_shows() {
    let env = Env::with([
        talk("root").with("end_reason", "compression"),
        talk("tip").child_of("root"),
        talk("delegate").delegate_of("tip"),
        talk("hidden").with("archived", 1),
        talk("tool").with("source", "tool"),
        talk("running").running(),
    ]);
    fs::create_dir_all(env.hermes("profiles/work")).unwrap();
    Store::create(&env.hermes("profiles/work/state.db"), &[SCHEMA]).add(talk("elsewhere"));
    fs::create_dir_all(env.hermes("webui/sessions")).unwrap();
    fs::write(env.hermes("webui/sessions/a1.json"), "{}").unwrap();
    fs::write(env.hermes("webui/sessions/_index.json"), "{}").unwrap();
    fs::create_dir_all(env.hermes("sessions")).unwrap();
    for name in ["root.jsonl", "lost.jsonl", "sessions.json"] {
        fs::write(env.hermes("sessions").join(name), "{}").unwrap();
    }
    let before = fs::read(env.db()).unwrap();
    insta::assert_snapshot!("doctor", env.run("doctor").ok().seen(&env));
    let json = env.run("doctor --json").ok().json();
    assert_eq!(json["transcripts_only_here"][0], "lost.jsonl");
    assert_eq!(json["other_stores"][0]["sessions"], 1);
    assert_eq!(fs::read(env.db()).unwrap(), before);
    assert!(!env.hermes("state.db-wal").exists());
}

#[test]
fn the_doctor_finds_other_stores_where_there_is_none() {
    let env = Env::with([talk("s0")]);
    env.run("--profile work doctor").ends(1).says("is missing");
    let ran = env.run("--profile work doctor").ends(1);
    assert!(ran.stdout.contains("state.db: 1 session"), "{ran}");
    env.store().sql("DELETE FROM messages_fts_data");
    let ran = env.run("doctor").ends(1).says("is damaged");
    assert!(ran.stdout.contains("the full-text index messages_fts is damaged"), "{ran}");
}

#[test]
fn what_a_store_lacks_is_damage_and_is_made_anew() {
    for (loss, what) in [
        ("DROP TABLE messages_fts", "the full-text index messages_fts lacks its table"),
        ("DROP TABLE messages_fts; DROP TABLE messages_fts_trigram", "messages_fts_trigram lacks"),
        ("DROP TRIGGER messages_fts_delete", "lacks the trigger messages_fts_delete"),
        ("DROP TRIGGER messages_fts_trigram_update", "lacks the trigger messages_fts_trigram_up"),
        (
            "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'messages_fts_data'",
            "the full-text index messages_fts lacks tables",
        ),
        (
            "PRAGMA writable_schema = ON; \
             DELETE FROM sqlite_schema WHERE name GLOB 'messages_fts_trigram_*' AND type = 'table'",
            "the full-text index messages_fts_trigram lacks tables",
        ),
    ] {
        let env = Env::with((0..5).map(|n| session(format!("s{n}")).user("\0findable word")));
        env.store().sql(loss);
        env.run("repair --check-only").ends(1).says(what);
        let json = env.run("doctor --json").ends(1).json();
        assert!(!json["holds"]["damage"].as_array().unwrap().is_empty(), "{loss}\n{json}");
        env.run("repair").ok().says("it was mended");
        env.run("repair --check-only").ok();
        let store = env.store();
        for table in ["messages_fts", "messages_fts_trigram"] {
            let found = format!("FROM {table} WHERE {table} MATCH 'findable'");
            assert_eq!(store.count(&found), 5, "{loss}");
        }
        drop(store);
        env.run("delete s0 --yes").ok();
        env.run("repair --check-only").ok();
    }
}

#[test]
fn a_store_without_any_full_text_index_is_whole() {
    let env = Env::with([talk("s0")]);
    env.store().sql(
        "DROP TABLE messages_fts; DROP TABLE messages_fts_trigram; \
         DROP TRIGGER messages_fts_insert; DROP TRIGGER messages_fts_delete; \
         DROP TRIGGER messages_fts_update; DROP TRIGGER messages_fts_trigram_insert; \
         DROP TRIGGER messages_fts_trigram_delete; DROP TRIGGER messages_fts_trigram_update",
    );
    env.run("repair --check-only").ok();
}

#[test]
fn a_table_that_is_gone_is_missed_and_what_is_left_is_copied() {
    let env = Env::with([talk("s0"), talk("s1")]);
    env.store().sql("DROP TABLE sessions");
    env.run("repair --check-only").ends(1).says("the table sessions is missing");
    env.run("repair").ends(1).says("`repair --into NEW`");
    env.run("repair --into new.db").ends(1).says("2 sessions lost but for messages");
    let saved = Store::open(&env.work("new.db"));
    assert_eq!(saved.session_ids(), ["s0", "s1"]);
}

#[cfg(unix)]
#[test]
fn a_read_only_store_is_no_damaged_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = Env::with([talk("s0")]);
    let mode = |mode| fs::set_permissions(env.db(), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o444);
    if fs::OpenOptions::new().write(true).open(env.db()).is_ok() {
        return; // whoever may write everything has no read-only files
    }
    env.run("repair --check-only").ok().says("read-only").says("nothing is damaged");
    mode(0o644);
}

#[test]
fn the_doctor_tells_of_one_session_why_lists_do_not_show_it() {
    let env = Env::with([
        session("root").with("end_reason", "compression").with("title", "long talk").user("q"),
        session("later").child_of("root").user("q"),
        session("helper").delegate_of("root").user("q"),
        session("hidden").with("archived", 1).user("q"),
        session("tools").with("source", "tool").user("q"),
        session("open").running().user("q"),
        talk("plain"),
    ]);
    let tells = |id: &str, text: &str| {
        let ran = env.run_words(&["doctor", id]).ok();
        assert!(ran.stdout.contains(text), "{text:?} is not told\n{ran}");
    };
    tells("root", "lists show later in its place");
    tells("helper", "it worked for root");
    tells("hidden", "`unarchive --session-id hidden`");
    tells("tools", "`list --source tool`");
    tells("open", "--include-open");
    tells("plain", "`list --limit N` shows it");
    tells("long talk", "later");
    fs::create_dir_all(env.hermes("sessions")).unwrap();
    fs::write(env.hermes("sessions/old.jsonl"), "").unwrap();
    fs::create_dir_all(env.hermes("webui/sessions")).unwrap();
    fs::write(env.hermes("webui/sessions/web1.json"), "{}").unwrap();
    for (id, file) in [("old", "sessions/old.jsonl"), ("web1", "webui/sessions/web1.json")] {
        let ran = env.run_words(&["doctor", id]).ends(1).says("has no session");
        assert!(ran.stdout.contains(file), "{ran}");
    }
    fs::create_dir_all(env.hermes("profiles/work")).unwrap();
    fs::copy(env.db(), env.hermes("profiles/work/state.db")).unwrap();
    env.run("delete plain --yes").ok();
    let json = env.run("doctor plain --json").ends(1).json();
    assert_eq!(json["other_stores"][0]["found"]["session"]["id"], "plain", "{json}");
    env.run("doctor nowhere").ends(1).says("it was deleted or pruned");
    env.store().sql("DELETE FROM sessions WHERE id = 'open'");
    let ran = env.run("doctor open").ends(1);
    assert!(ran.stdout.contains("1 message of it without its row"), "{ran}");
}

#[test]
fn a_file_of_which_nothing_can_be_read_is_no_case_for_a_repair() {
    let env = Env::with([talk("s0")]);
    let mut bytes = fs::read(env.db()).unwrap();
    bytes[16..100].fill(0xa5);
    fs::write(env.db(), bytes).unwrap();
    for line in ["repair --check-only", "repair", "repair --into new.db"] {
        env.run(line).ends(1).says("nothing of ").says("`restore`").does_not_say("`repair` mends");
    }
    assert!(beside(&env).is_empty());
}

#[test]
fn a_mark_from_the_future_is_said_to_be_one() {
    let env = Env::with([aged("old", 200.0)]);
    config(&env, "sessions: {auto_prune: true}");
    env.store().sql("INSERT INTO state_meta VALUES ('last_auto_prune', '1900000000.0')");
    env.run("auto-prune").ok().says("on 2030-03-17").says("yet to come");
}
