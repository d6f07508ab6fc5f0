//! Help, refusals and exit statuses.

use std::fs;

use crate::env::Env;
use crate::formats;
use crate::store::talk;
use crate::tree::{Tree, names};

#[cfg_attr(feature = "parquet", ignore = "the snapshots name the formats of a default build")]
#[test]
fn the_help_of_export_and_verify() {
    let env = Env::empty();
    insta::assert_snapshot!("help", env.run("--help").ok().seen(&env));
    insta::assert_snapshot!("help_verify", env.run("verify --help").ok().seen(&env));
    insta::assert_snapshot!("help_export", env.run("export --help").ok().seen(&env));
}

#[test]
fn every_command_that_the_help_lists_has_a_help_of_its_own() {
    let env = Env::empty();
    let help = env.run("--help").ok().stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.contains(&"export") && commands.contains(&"verify"), "{commands:?}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        let ran = env.run(&format!("{command} --help")).ok();
        assert!(ran.stdout.contains("Usage: hermes-sessions"), "{ran}");
        assert_eq!(ran.stderr, "", "{ran}");
    }
}

#[cfg_attr(feature = "parquet", ignore = "the snapshots name the formats of a default build")]
#[test]
fn refusals_read_like_this() {
    let env = Env::with([talk("s0"), talk("long_a"), talk("long_b")]);
    fs::create_dir(env.work("folder")).unwrap();
    for (name, line) in [
        ("no_output", "export"),
        ("an_id_as_output", "export s0"),
        ("empty_source", "export - --source ''"),
        ("flag_as_value", "export - --source --json"),
        ("unknown_id", "export - --session-id nope"),
        ("ambiguous_id", "export - --session-id long"),
        ("id_with_filter", "export - --session-id s0 --source cli"),
        ("bad_time", "export - --older-than abc"),
        ("empty_window", "export - --before 2026-07-01 --after 2026-07-02"),
        ("least_and_most", "export - --min-messages 10 --max-messages 5"),
        ("not_a_number", "export - --min-cost nan"),
        ("unknown_field", "export - --exclude colour=red"),
        ("unknown_format", "export - --format jsnol"),
        ("folder_for_a_file", "export folder --format jsonl"),
        ("unknown_flag", "export - --sauce cli"),
        ("yes_alone", "export - --yes"),
        ("delete_without_id", "export all.jsonl --delete-after-verified --yes"),
        ("delete_without_yes", "export all.jsonl --session-id s0 --delete-after-verified"),
        ("no_store", "export - --profile absent"),
        ("no_command", ""),
        ("unknown_command", "exprot"),
        ("verify_nothing", "verify"),
    ] {
        insta::assert_snapshot!(format!("refusal_{name}"), env.run(line).seen(&env));
    }
    assert_eq!(names(&env.work("")), ["folder/"]);
}

#[test]
fn a_name_that_ends_as_a_folder_is_none_for_a_file() {
    let env = Env::with([talk("s0")]);
    let line = "export new/ --format jsonl";
    env.run(line).fails(2).says("new/ is a folder, and the format writes one file");
    assert!(names(&env.work("")).is_empty());
}

#[test]
fn failures_are_visible_to_scripts() {
    let env = Env::with([]);
    for (line, status) in [
        ("export - --session-id nope", 1),
        ("export", 2),
        ("export --older-than abc", 2),
        ("export - --source ''", 2),
        ("export - --db absent.db", 1),
        ("export absent/folder/x.jsonl --db absent.db", 1),
        ("export x --format absent", 2),
        ("verify absent-folder/x.jsonl", 1),
    ] {
        let ran = env.run(line).ends(status);
        let is_report = line.starts_with("verify");
        assert!(is_report || ran.stdout.is_empty(), "{ran}");
        assert!(is_report || ran.stderr.starts_with("error: "), "{ran}");
    }
    assert_eq!(names(&env.work("")), Vec::<String>::new());
}

#[test]
fn formats_with_a_folder_of_files_refuse_a_bulk_export_without_a_selection() {
    let env = Env::with([talk("s0")]);
    for name in ["md", "qmd"] {
        if formats::named(name).is_some() {
            env.run(&format!("export out --format {name}")).fails(2).says(name).says("hint: ");
            env.run(&format!("export --format {name}")).fails(2);
        }
    }
    assert_eq!(names(&env.work("")), Vec::<String>::new());
    assert_eq!(names(&env.hermes("")), ["state.db"]);
}

#[test]
fn flags_that_do_not_apply_are_refused() {
    let env = Env::with([talk("s0")]);
    let before = Tree::of(&env.root());
    for format in formats::all() {
        let output = format.output();
        let export = format!("export {output} --format {} --session-id s0", format.name);
        if !format.joins_lineage {
            env.run(&format!("{export} --lineage logical")).fails(2).says("--lineage");
        }
        if format.only.is_some() {
            env.run(&format!("{export} --delete-after-verified --yes"))
                .fails(2)
                .says("--delete-after-verified");
        }
        env.run(&format!("{export} --yes")).fails(2).says("--delete-after-verified");
    }
    Tree::of(&env.root()).assert_is(&before);
}

#[test]
fn a_leading_word_sessions_is_ignored() {
    let env = Env::with([talk("s0")]);
    assert_eq!(env.run("sessions export -").ok().ids(), ["s0"]);
    assert_eq!(env.run("-q sessions export -").ok().ids(), ["s0"]);
}

#[test]
fn the_format_is_that_of_the_flag_or_the_suffix_or_jsonl() {
    let env = Env::with([talk("s0")]);
    for format in formats::all().iter().filter(|f| f.only.is_none() && !f.has_folder()) {
        let by_suffix = format!("suffix.{}", format.extension);
        env.run(&format!("export {by_suffix}")).ok();
        // Where the format can fill a folder, a name without suffix is one.
        let flagged = if format.name == "html" { "flagged.html" } else { "flagged" };
        env.run(&format!("export {flagged} --format {}", format.name)).ok();
        assert_eq!(env.text(&by_suffix), env.text(flagged), "{}", format.name);
        fs::remove_file(env.work(flagged)).unwrap();
    }
    env.run("export no_suffix").ok();
    assert_eq!(env.jsonl("no_suffix").len(), 1);
}

#[test]
fn a_suffix_of_a_folder_format_does_not_make_a_folder_of_that_name() {
    let env = Env::with([talk("s0"), talk("s1")]);
    for format in formats::all().iter().filter(|format| format.has_folder()) {
        let output = format!("x.{}", format.extension);
        env.run(&format!("export {output} --source cli")).fails(2);
        env.run(&format!("export {output} --session-id s0")).ok();
        assert!(env.work(&output).is_file());
    }
}

#[test]
fn the_shape_of_the_output_does_not_depend_on_how_many_match() {
    let env = Env::with([talk("s0").with("source", "one"), talk("s1"), talk("s2")]);
    for format in formats::all() {
        for (flags, matching) in [("--source none", 0), ("--source one", 1), ("--source cli", 2)] {
            let output = env.work(&format.output());
            if format.has_folder() {
                fs::create_dir_all(&output).unwrap();
            }
            format.export(&env, flags).ok();
            let files = format.files(&env).len();
            let wanted = if format.has_folder() { matching } else { usize::from(matching > 0) };
            assert_eq!(files, wanted, "{} {flags}", format.name);
            if format.has_folder() {
                fs::remove_dir_all(&output)
            } else {
                fs::remove_file(&output)
            }
            .or_else(|error| if matching == 0 { Ok(()) } else { Err(error) })
            .unwrap();
        }
    }
}

#[test]
fn completions_and_the_manual_page_are_written_for_every_flag() {
    let env = Env::empty();
    for shell in ["bash", "zsh", "fish"] {
        let ran = env.run(&format!("completions {shell}")).ok();
        assert!(ran.stdout.contains("delete-after-verified"), "{ran}");
    }
    assert!(env.run("man").ok().stdout.contains(".TH hermes"), "no manual page");
    env.run("completions tcl").fails(2);
    let version = env.run("--version").ok().stdout;
    assert_eq!(version, format!("hermes-sessions {}\n", env!("CARGO_PKG_VERSION")));
}

#[cfg(not(feature = "hub"))]
#[test]
fn an_upload_that_is_not_built_in_is_said_to_be_missing() {
    let env = Env::with([talk("s1")]);
    env.run("export --upload").fails(2).says("this program was built without --upload");
}

#[test]
fn whoever_asks_for_json_gets_one_object_for_arguments_that_make_no_sense_too() {
    let env = Env::with([talk("s0")]);
    let help = env.run("--help").ok().stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = commands
        .map_while(|line| line.split_whitespace().next())
        .filter(|c| *c != "help")
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let json = env.run_words(&[command, "--json", "--color=nope"]).ends(2).json();
        assert_eq!(json["command"], command, "{json}");
        assert_eq!(json["exit_status"], 2, "{json}");
        assert!(json["error"].as_str().unwrap().contains("nope"), "{json}");
    }
    let json = env.run("--json").ends(2).json();
    assert!(json["command"].is_null(), "{json}");
    let json = env.run("--json nonsense").ends(2).json();
    assert!(json["error"].as_str().unwrap().contains("nonsense"), "{json}");
    let json = env.run("stats --json --sorce cli").ends(2).json();
    assert!(json["hint"].as_str().unwrap().contains("--source"), "{json}");
}

#[test]
fn standard_output_is_for_sessions_where_they_go_there() {
    let env = Env::with([talk("s0")]);
    for line in [
        "export - --json --no-such-flag",
        "export - --json --session-id absent",
        "export --format trace --json --session-id absent",
    ] {
        let ran = env.run(line);
        assert!(ran.stdout.is_empty(), "{ran}");
        let objects = ran.stderr.lines().filter(|line| line.starts_with('{'));
        assert_eq!(objects.count(), 1, "{ran}");
    }
    let json = env.run("export out --format trace --json --session-id absent").ends(1).json();
    assert_eq!(json["command"], "export", "{json}");
}
