//! Sessions named one by one.

use crate::env::Env;
use crate::store::{Store, session, talk};

fn env() -> Env {
    Env::with([
        talk("20260701_090000_abc"),
        talk("20260701_090000_abd"),
        talk("abc"),
        talk("-dash"),
        talk("20260801_070000_fff"),
    ])
}

#[test]
fn an_id_or_its_only_prefix_names_a_session() {
    let env = env();
    for (given, wanted) in [
        ("20260701_090000_abc", "20260701_090000_abc"),
        ("abc", "abc"),
        ("-dash", "-dash"),
        ("202608", "20260801_070000_fff"),
        ("20260701_090000_abd", "20260701_090000_abd"),
    ] {
        assert_eq!(env.run(&format!("export - --session-id {given}")).ok().ids(), [wanted]);
        assert_eq!(env.run(&format!("export - --session-id={given}")).ok().ids(), [wanted]);
    }
}

#[test]
fn a_prefix_of_several_is_refused_and_they_are_listed() {
    env()
        .run("export - --session-id 2026")
        .fails(1)
        .says("20260701_090000_abc, 20260701_090000_abd, 20260801_070000_fff");
    env().run("export - --session-id 20260701").fails(1).does_not_say("20260801");
}

#[test]
fn an_id_that_is_a_prefix_of_others_names_itself() {
    let env = Env::with([talk("long_id"), talk("long_id_2")]);
    assert_eq!(env.run("export - --session-id long_id").ok().ids(), ["long_id"]);
    env.run("export - --session-id long").fails(1).says("long_id, long_id_2");
}

#[test]
fn what_is_too_short_or_unknown_or_a_pattern_names_nothing() {
    let env = env();
    for given in ["202", "ab", "nope", "2026%", "____", "****", "ABC"] {
        env.run(&format!("export - --session-id {given}")).fails(1).says(given).says("hint: ");
    }
}

#[test]
fn several_ids_are_exported_oldest_first_and_once_each() {
    let env = env();
    let ran =
        env.run("export - --session-id 202608 --session-id abc --session-id 20260801_070000_fff");
    assert_eq!(ran.ok().ids(), ["abc", "20260801_070000_fff"]);
    env.run("export - --session-id abc --session-id nope").fails(1).says("nope");
}

#[test]
fn sessions_that_started_together_are_in_the_order_of_their_ids() {
    let env = Env::with(["b", "c", "a"].map(|id| session(id).with("started_at", 5.0)));
    assert_eq!(env.run("export -").ok().ids(), ["a", "b", "c"]);
}

#[test]
fn ids_and_filters_do_not_go_together() {
    let env = env();
    for filter in [
        "--source cli",
        "--include-open",
        "--title x",
        "--exclude id=x",
        "--older-than 1d",
        "--max-messages 5",
    ] {
        env.run(&format!("export - --session-id abc {filter}")).fails(2).says("--session-id");
    }
}

#[test]
fn an_output_that_is_the_id_of_a_session_is_refused_with_the_flag() {
    let env = env();
    for line in ["export abc", "export 20260801_070000_fff", "export abc --dry-run"] {
        env.run(line).fails(2).says("hint: export OUTPUT --session-id ");
    }
    assert_eq!(crate::tree::names(&env.work("")), Vec::<String>::new());
    env.run("export ./abc").ok();
}

#[test]
fn an_output_that_is_an_id_with_a_hyphen_is_refused_too() {
    let env = Env::with([talk("cron-daily"), talk("v1.2")]);
    for id in ["cron-daily", "v1.2"] {
        env.run(&format!("export {id}")).fails(2).says("--session-id");
    }
}

#[test]
fn messages_of_others_are_never_in_a_session() {
    let env = Env::with([talk("one"), talk("one_more")]);
    let ran = env.run("export - --session-id one").ok();
    assert!(ran.stdout.contains("question of one\"") && !ran.stdout.contains("one_more"), "{ran}");
}

#[test]
fn a_prefix_is_looked_up_in_the_store_that_was_named() {
    let env = env();
    Store::create(&env.work("other.db"), &[crate::store::SCHEMA]).add(talk("2026_other"));
    assert_eq!(env.run("export - --db other.db --session-id 2026").ok().ids(), ["2026_other"]);
}
