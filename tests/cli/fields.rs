//! The grammar of every flag that takes a value.

use crate::env::Env;
use crate::store::talk;

/// The long flags of a command that need a value, from its help.
fn flags_with_values(env: &Env, command: &str) -> Vec<String> {
    let help = env.run(&format!("{command} --help")).ok().stdout;
    let flag = |line: &str| {
        let at = line.find("--")?;
        let is_flag = line[..at].trim().is_empty() || line.trim_start().starts_with('-');
        let (name, value) = line[at..].split_once(' ')?;
        (is_flag && value.starts_with('<')).then(|| name.to_owned())
    };
    help.lines().filter_map(flag).collect()
}

#[test]
fn an_empty_value_is_refused_by_every_flag_and_the_flag_is_named() {
    let env = Env::with([talk("s0")]);
    let flags = flags_with_values(&env, "export");
    assert!(flags.len() > 25 && flags.contains(&"--chat-id".to_owned()), "{flags:?}");
    for flag in &flags {
        env.run(&format!("export all.jsonl {flag} ''")).fails(2).says(flag);
        env.run(&format!("export all.jsonl {flag}=")).fails(2).says(flag);
        env.run(&format!("export all.jsonl {flag}")).fails(2).says(flag);
    }
    assert_eq!(crate::tree::names(&env.work("")), Vec::<String>::new());
}

#[test]
fn another_flag_in_the_place_of_a_value_is_refused() {
    let env = Env::with([talk("s0")]);
    for flag in
        ["--source", "--title", "--session-id", "--cwd", "--older-than", "--exclude", "--min-cost"]
    {
        env.run(&format!("export - {flag} --include-open")).fails(2).says(flag);
    }
}

#[test]
fn an_empty_output_is_refused() {
    let env = Env::with([talk("s0")]);
    env.run("export ''").fails(2).says("OUTPUT");
    env.run("export '' --dry-run").fails(2).says("OUTPUT");
    env.run("verify ''").fails(2);
}

#[test]
fn numbers_that_are_none_are_refused_with_their_flag() {
    let env = Env::with([talk("s0")]);
    for name in ["messages", "tokens", "tool-calls"] {
        for side in ["min", "max"] {
            for value in ["nan", "inf", "-1", "1.5", "1e3", "x", "0x10", "' '", "1,000"] {
                let flag = format!("--{side}-{name}");
                env.run(&format!("export - {flag} {value}")).fails(2).says(&flag);
            }
        }
    }
    for flag in ["--min-cost", "--max-cost"] {
        for value in ["nan", "NaN", "inf", "-inf", "infinity", "-0.5", "1e999", "x", "$1"] {
            env.run(&format!("export - {flag} {value}")).fails(2).says(flag);
        }
    }
}

#[test]
fn a_least_that_is_more_than_the_most_is_refused() {
    let env = Env::with([talk("s0")]);
    for name in ["messages", "tokens", "tool-calls", "cost"] {
        env.run(&format!("export - --min-{name} 10 --max-{name} 5"))
            .fails(2)
            .says(&format!("--min-{name}"))
            .says(&format!("--max-{name}"));
        env.run(&format!("export - --min-{name} 5 --max-{name} 5")).ok();
    }
}

#[test]
fn excludes_that_are_none_are_refused() {
    let env = Env::with([talk("s0")]);
    for value in ["cron", "source", "source=", "=x", "colour=red", "Source=x", "source=[", "id={a"]
    {
        env.run(&format!("export - --exclude {value}")).fails(2).says("--exclude");
    }
}

#[test]
fn choices_that_are_none_are_refused_and_the_choices_listed() {
    let env = Env::with([talk("s0")]);
    env.run("export - --format jsnol").fails(2).says("--format").says("jsonl");
    env.run("export - --only answers").fails(2).says("--only").says("user-prompts");
    env.run("export - --messages some").fails(2).says("--messages").says("compacted");
    env.run("export - --lineage both").fails(2).says("--lineage").says("logical");
    env.run("export - --color sometimes").fails(2).says("--color").says("never");
}

#[test]
fn a_flag_given_twice_is_refused_unless_it_may_be() {
    let env = Env::with([talk("s0")]);
    for flags in [
        "--source a --source b",
        "--before 2026-01-01 --before 2026-01-02",
        "--messages all --messages all",
    ] {
        env.run(&format!("export - {flags}")).fails(2);
    }
}
