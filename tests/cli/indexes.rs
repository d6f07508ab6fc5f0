//! Full-text indexes stay right whichever version of SQLite wrote them: older ones end a text for
//! trigrams at a NUL, newer ones go on behind it.

use std::fs;

use rusqlite::types::ValueRef;

use crate::env::Env;
use crate::store::{Store, session};

const TABLE: &str = "messages_fts_trigram";

/// A session whose messages hold NULs, as structured content does.
fn with_nuls(id: &'static str) -> crate::store::Session {
    session(id)
        .user("\0json:[{\"type\": \"text\", \"text\": \"数据库 migration\"}]")
        .assistant("before\0after it")
        .user("plain words")
}

/// Leaves the index as an older SQLite would have: with the terms of what stands before a NUL.
fn index_as_older(store: &Store) {
    store.sql(&format!(
        "CREATE TEMP TABLE kept AS SELECT id, c0 FROM {TABLE}_content;
         DELETE FROM {TABLE};
         INSERT INTO {TABLE} (rowid, content) SELECT id, substr(c0, 1, length(c0)) FROM kept;
         UPDATE {TABLE}_content SET c0 = (SELECT c0 FROM kept WHERE kept.id = {TABLE}_content.id);
         DROP TABLE kept"
    ));
}

/// The terms that the index has, and those that it should have by its own sums.
fn terms(store: &Store) -> (i64, i64) {
    let connection = &store.connection;
    store.sql(&format!(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab('main', '{TABLE}', 'row')"
    ));
    let sql = "SELECT COALESCE(sum(cnt), 0) FROM temp.terms";
    let has = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    let block = format!("SELECT block FROM {TABLE}_data WHERE id = 1");
    let kept = connection.query_row(&block, [], |row| {
        let ValueRef::Blob(bytes) = row.get_ref(0)? else { return Ok(0) };
        let numbers = bytes.iter().fold(vec![0], |mut numbers, byte| {
            *numbers.last_mut().unwrap() = numbers.last().unwrap() << 7 | i64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                numbers.push(0);
            }
            numbers
        });
        Ok(numbers.get(1).copied().unwrap_or(0))
    });
    (has, kept.unwrap())
}

#[test]
fn what_an_older_sqlite_indexed_is_forgotten_term_by_term() {
    let env = Env::with([with_nuls("gone"), with_nuls("stays"), session("other").user("other")]);
    index_as_older(&env.store());
    env.run("delete gone --yes").ok();
    let (has, kept) = terms(&env.store());
    assert!(has > 0 && has == kept, "{has} terms, and {kept} by the sums");
    env.run("repair --check-only").ok();
    env.run("prune --older-than 0 --yes").ok();
    assert_eq!(terms(&env.store()), (0, 0));
    env.run("repair --check-only").ok();
}

#[test]
fn what_this_sqlite_indexed_is_forgotten_term_by_term() {
    let env = Env::with([with_nuls("gone"), with_nuls("stays")]);
    env.run("delete gone --yes").ok();
    env.store().sql(&format!("INSERT INTO {TABLE} ({TABLE}) VALUES ('integrity-check')"));
    env.run("prune --older-than 0 --yes").ok();
    assert_eq!(terms(&env.store()), (0, 0));
}

#[test]
fn what_comes_in_is_indexed_as_every_sqlite_would() {
    let env = Env::with([with_nuls("s0")]);
    let content = env.store().column("SELECT hex(content) FROM messages ORDER BY id");
    env.run("export all.jsonl").ok();
    env.run("import all.jsonl --on-conflict replace").ok();
    let store = env.store();
    assert_eq!(store.column("SELECT hex(content) FROM messages ORDER BY id"), content);
    let nul = "instr(CAST(c0 AS BLOB), X'00') > 0";
    assert_eq!(store.count(&format!("FROM {TABLE}_content WHERE {nul}")), 0);
    assert_eq!(store.count(&format!("FROM {TABLE} WHERE {TABLE} MATCH '数据库'")), 1);
    let (has, kept) = terms(&store);
    assert_eq!(has, kept);
}

#[test]
fn an_index_whose_sums_are_wrong_is_made_anew_without_nuls() {
    for damage in [
        format!(
            "DELETE FROM {TABLE}_content WHERE id = 2; DELETE FROM {TABLE}_docsize WHERE id = 2"
        ),
        format!(
            "UPDATE {TABLE}_content SET c0 = 'x' WHERE id = 2; DELETE FROM {TABLE} WHERE rowid = 2"
        ),
        format!("UPDATE {TABLE}_data SET block = X'0301' WHERE id = 1"),
    ] {
        let env = Env::with([with_nuls("s0")]);
        env.store().sql(&damage);
        env.run("repair --check-only").ends(1).says("the full-text index messages_fts_trigram");
        env.run("repair").ok().says("it was mended");
        let store = env.store();
        let (has, kept) = terms(&store);
        assert_eq!(has, kept, "{damage}");
        assert_eq!(store.count(&format!("FROM {TABLE} WHERE {TABLE} MATCH '数据库'")), 1);
    }
}

#[test]
fn a_store_that_hermes_wrote_can_be_emptied() {
    let env = Env::empty();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/state.db"), env.db()).unwrap();
    env.run("prune --older-than 0 --include-archived --yes").ok();
    env.run("repair --check-only").ok();
    let running = env.store().session_ids();
    assert_eq!(running.len(), 1, "{running:?}");
    env.run_words(&["delete", &running[0], "--yes"]).ok();
    assert_eq!(terms(&env.store()), (0, 0));
}
