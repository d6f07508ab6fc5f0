//! `--dry-run` writes nothing, in any combination.

use std::fs;

use crate::env::Env;
use crate::formats;
use crate::store::talk;
use crate::tree::Tree;

fn env() -> Env {
    let env = Env::with([
        talk("s0").with("title", "Plan"),
        talk("s1").running(),
        talk("d0").delegate_of("s0"),
    ]);
    fs::write(env.work("mine.txt"), "mine").unwrap();
    env
}

/// The run ends well, says what it would do, and leaves everything as it was.
#[track_caller]
fn changes_nothing(env: &Env, line: &str) {
    let before = Tree::of(&env.root());
    let ran = env.run(line).ok();
    let told = ran.stderr.contains("Would export ") || ran.stdout.contains("\"dry_run\":true");
    assert!(told || ran.stderr.contains("no session matches"), "{ran}");
    Tree::of(&env.root()).assert_is(&before);
}

#[test]
fn nothing_is_written_in_any_combination() {
    let env = env();
    for format in formats::all() {
        let name = format!("--format {}", format.name);
        for output in ["", &format.output(), "-", "new/folder/x"] {
            for selection in ["--session-id s0", "--source cli", "--source none"] {
                if output == "-" && format.has_folder() && selection != "--session-id s0" {
                    continue;
                }
                for rest in ["", "--no-manifest", "--messages all", "--json"] {
                    changes_nothing(
                        &env,
                        &format!("export {output} {name} {selection} {rest} --dry-run"),
                    );
                }
            }
        }
        let rest = if format.has_folder() { "--force" } else { "" };
        changes_nothing(&env, &format!("export --dry-run {name} --session-id s0 {rest}"));
        if format.joins_lineage {
            changes_nothing(
                &env,
                &format!("export --dry-run {name} --session-id s0 --lineage logical"),
            );
        }
    }
}

#[test]
fn nothing_is_deleted_and_the_line_says_that_it_would_be() {
    let env = env();
    for format in formats::all().iter().filter(|format| format.keeps_deleted) {
        for yes in ["", "--yes"] {
            let line = format!(
                "export out-{0} --format {0} --session-id s0 --dry-run --delete-after-verified {yes}",
                format.name
            );
            changes_nothing(&env, &line);
            env.run(&line).ok().says("Would export").says("then delete it from the store");
        }
    }
}

#[test]
fn files_that_exist_stay_as_they_are() {
    let env = env();
    for format in formats::all() {
        format.export(&env, "--session-id s0").ok();
    }
    env.store().sql("UPDATE sessions SET title = 'Other plan' WHERE id = 's0'");
    for format in formats::all() {
        changes_nothing(
            &env,
            &format!(
                "export {} --format {} --session-id s0 --dry-run",
                format.output(),
                format.name
            ),
        );
    }
}

#[test]
fn what_would_be_exported_is_told() {
    let env = env();
    env.run("export all.jsonl --dry-run")
        .ok()
        .says("Would export 3 sessions with 6 messages (as Hermes counts them) to all.jsonl");
    env.run("export --dry-run -v --session-id s0").ok().says("  s0 Plan");
    let ran = env.run("export --dry-run --json --source cli").ok();
    let json = ran.json();
    assert_eq!((&json["dry_run"], &json["matched"]), (&true.into(), &1.into()));
    assert_eq!(
        (&json["files"], &json["sessions"][0]["id"]),
        (&serde_json::json!([]), &"s0".into())
    );
    ran.says("note: 1 running session also matches");
    env.run("export --dry-run --session-id nope").fails(1);
}
