//! `--format parquet`: which files there are, when they are replaced, and what is refused. What is in them is shown
//! where they are written.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::env::Env;
use crate::publishing::manifest;
use crate::store::{Session, session, talk};
use crate::tree::sha256;

const JUNE: f64 = 1_780_315_200.0;
const JULY: f64 = 1_782_907_200.0;

fn at(id: &'static str, start: f64) -> Session {
    talk(id).with("started_at", start).with("ended_at", start + 60.0)
}

fn two_months() -> Env {
    Env::with([at("june", JUNE), at("july", JULY)])
}

/// Every file below a folder, with its digest.
fn files(folder: &Path, below: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if folder.join(&path).is_dir() {
            found.extend(files(folder, &path));
        } else if path != "manifest.jsonl" {
            found.push((path.clone(), sha256(&folder.join(&path))));
        }
    }
    found.sort();
    found
}

#[test]
fn a_folder_has_two_tables_by_month_and_a_run_again_replaces_what_changed() {
    let env = two_months();
    let ran = env.run("export lake --format parquet").ok();
    assert!(ran.stderr.contains("Exported 2 sessions with 4 messages"), "{ran}");
    let before = files(&env.work("lake"), "");
    let wanted = [
        "messages/month=2026-06/part-0.parquet",
        "messages/month=2026-07/part-0.parquet",
        "sessions/month=2026-06/part-0.parquet",
        "sessions/month=2026-07/part-0.parquet",
    ];
    assert_eq!(before.iter().map(|(path, _)| path).collect::<Vec<_>>(), wanted);
    let line = &manifest(&env.work("lake"))[0];
    assert_eq!((&line["path"], &line["session_ids"]), (&json!(wanted[0]), &json!(["june"])));
    assert_eq!((&line["message_counts"], &line["format"]), (&json!([2]), &json!("parquet")));
    env.run("verify lake --against-store").ok().says("4 files intact");

    env.store().sql("UPDATE messages SET content = 'changed' WHERE session_id = 'july'");
    env.run("export lake --format parquet").ok();
    let after = files(&env.work("lake"), "");
    let changed: Vec<_> = before.iter().zip(&after).filter(|(b, a)| b != a).collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert_eq!(changed[0].0.0, wanted[1]);
    assert_eq!(manifest(&env.work("lake")).len(), 5);
}

#[test]
fn a_month_is_not_replaced_by_a_part_of_it() {
    let env = Env::with([at("first", JULY), at("second", JULY + 60.0)]);
    env.run("export lake --format parquet").ok();
    let before = files(&env.work("lake"), "");
    let narrow = "export lake --format parquet --session-id second";
    env.run(narrow).ends(1).says("it holds sessions that the new file does not");
    assert_eq!(files(&env.work("lake"), ""), before);
    env.run(&format!("{narrow} --force")).ok();
    assert_ne!(files(&env.work("lake"), ""), before);
}

#[test]
fn what_is_packed_is_searched_for_what_redaction_left_and_nothing_of_it_is_written() {
    let token = ["gh", "p_", "x7Kd93mQzLw02VbNcR5tYuPa8sEfGhJ1iOk4"].concat();
    let env = Env::with([session("s0").user(format!("use {token}")).with("title", "Some title")]);
    env.run("export lake --format parquet --redact").ok().says("Took out 1 secret");
    let lines = manifest(&env.work("lake"));
    assert_eq!(lines[0]["redactions"], json!({"github-pat": 1}));
    env.run("export out --format parquet --sanitize").ok();
    env.run("export shared --format parquet --share").ok();
}

#[cfg(unix)]
#[test]
fn a_planted_link_leads_nowhere() {
    let env = two_months();
    fs::create_dir_all(env.work("lake")).unwrap();
    fs::create_dir_all(env.work("elsewhere")).unwrap();
    std::os::unix::fs::symlink(env.work("elsewhere"), env.work("lake/messages")).unwrap();
    env.run("export lake --format parquet").ends(1).says("lake/messages is no folder");
    assert_eq!(fs::read_dir(env.work("elsewhere")).unwrap().count(), 0);
}

#[test]
fn what_makes_no_sense_for_a_folder_of_tables_is_refused() {
    let env = two_months();
    let export = |flags: &str| env.run(&format!("export {flags} --format parquet"));
    export("-").fails(2).says("writes a folder");
    export("").fails(2).says("parquet needs OUTPUT");
    export("lake --name {id}").fails(2).says("--name does not apply to parquet");
    export("lake --lineage logical").fails(2).says("--lineage logical does not apply");
    export("lake --session-id june --delete-after-verified --yes").fails(2);
    fs::write(env.work("file"), "mine").unwrap();
    export("file").fails(2).says("is a file");
    export("lake --dry-run").ok().says("Would export 2 sessions");
    assert!(!env.work("lake").exists());
    env.run("export lake.parquet").ok();
    assert!(env.work("lake.parquet/sessions").is_dir());
}

#[test]
fn a_file_that_nobody_listed_is_told() {
    let env = two_months();
    env.run("export lake --format parquet").ok();
    fs::write(env.work("lake/messages/month=2026-06/part-1.parquet"), "PAR1").unwrap();
    let ran = env.run("verify lake").ends(1);
    assert_eq!(ran.stdout, "unlisted: lake/messages/month=2026-06/part-1.parquet\n");
}
