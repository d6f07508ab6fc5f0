//! Points in time: bounds, forms, zones and changes to and from summer time.

use crate::env::Env;
use crate::store::{NOW, session};

/// One session for each of these instants, named after its place.
fn at(instants: &[f64]) -> Env {
    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
    Env::with(
        NAMES
            .iter()
            .zip(instants)
            .map(|(id, time)| session(*id).with("started_at", *time).with("ended_at", *time + 1.0)),
    )
}

fn utc(text: &str) -> f64 {
    let time: jiff::Timestamp = text.parse().unwrap();
    time.as_duration().as_secs_f64()
}

#[track_caller]
fn assert_passes(env: &Env, zone: &str, flags: &str, wanted: &str) {
    let ran = env.run_in(zone, &format!("export - {flags}")).ok();
    assert_eq!(ran.ids().concat(), wanted, "TZ={zone} {flags}");
}

#[test]
fn the_later_bound_excludes_itself_and_the_earlier_one_includes_itself() {
    let day = 86_400.0;
    let env = at(&[NOW - 2.0 * day - 1.0, NOW - 2.0 * day, NOW - 2.0 * day + 1.0]);
    for flag in
        ["--older-than 2d", "--older-than 2", "--older-than 48h", "--before 2026-07-29T12:00:00Z"]
    {
        assert_passes(&env, "UTC", flag, "a");
    }
    for flag in [
        "--newer-than 2d",
        "--newer-than 2",
        "--newer-than 2880min",
        "--after 2026-07-29T12:00:00Z",
    ] {
        assert_passes(&env, "UTC", flag, "bc");
    }
    assert_passes(&env, "UTC", "--newer-than 2d --before '2026-07-29 12:00:01'", "b");
    assert_passes(&env, "UTC", "--older-than 0 --newer-than 3d --after '2026-07-29 12:00:01'", "c");
}

#[test]
fn every_unit_is_understood() {
    for (text, seconds) in [
        ("30m", 1800.0),
        ("5h", 5.0 * 3600.0),
        ("2d", 172_800.0),
        ("1w", 604_800.0),
        ("1.5", 129_600.0),
        ("90s", 90.0),
    ] {
        let env = at(&[NOW - seconds - 1.0, NOW - seconds]);
        assert_passes(&env, "UTC", &format!("--newer-than {text}"), "b");
        assert_passes(&env, "UTC", &format!("--older-than {text}"), "a");
    }
    let env = at(&[
        utc("2025-07-31T11:59:59Z"),
        utc("2025-07-31T12:00:00Z"),
        utc("2026-01-31T12:00:00Z"),
    ]);
    assert_passes(&env, "UTC", "--newer-than 1y", "bc");
    assert_passes(&env, "UTC", "--older-than 6mo", "ab");
}

#[test]
fn six_m_are_minutes_and_are_said_to_be() {
    let env = at(&[NOW - 7200.0]);
    let ran = env.run("export - --older-than 6m").ok();
    ran.says("note: --older-than 6m means 6 minutes");
    env.run("export - --older-than 6m -q").ok().does_not_say("note");
    env.run("export - --older-than 6min").ok().does_not_say("note");
}

#[test]
fn a_time_without_a_zone_is_local() {
    let env = at(&[utc("2026-07-05T03:59:59Z"), utc("2026-07-05T04:00:00Z")]);
    for text in ["2026-07-05", "20260705", "'2026-07-05 00:00'", "2026-07-05T00:00:00"] {
        assert_passes(&env, "America/New_York", &format!("--before {text}"), "a");
        assert_passes(&env, "America/New_York", &format!("--after {text}"), "b");
    }
    assert_passes(&env, "UTC", "--before 2026-07-05", "");
    assert_passes(&env, "Asia/Kolkata", "--after '2026-07-05 09:30'", "b");
}

#[test]
fn a_zone_in_the_text_wins_over_the_clocks() {
    let env = at(&[utc("2026-07-05T12:29:59Z"), utc("2026-07-05T12:30:00Z")]);
    for text in ["2026-07-05T14:30:00+02:00", "2026-07-05T12:30:00Z", "'2026-07-05 18:00+05:30'"] {
        for zone in ["UTC", "Asia/Kolkata", "America/New_York"] {
            assert_passes(&env, zone, &format!("--before {text}"), "a");
        }
    }
}

#[test]
fn hours_that_clocks_skip_and_repeat_are_read_as_python_reads_them() {
    let new_york = at(&[utc("2026-03-08T07:29:59Z"), utc("2026-03-08T07:30:00Z")]);
    assert_passes(&new_york, "America/New_York", "--before '2026-03-08 02:30'", "a");
    let repeated = at(&[
        utc("2025-11-02T05:29:59Z"),
        utc("2025-11-02T05:30:00Z"),
        utc("2025-11-02T06:30:00Z"),
    ]);
    assert_passes(&repeated, "America/New_York", "--before '2025-11-02 01:30'", "a");
    let lord_howe = at(&[utc("2026-04-04T14:44:59Z"), utc("2026-04-04T14:45:00Z")]);
    assert_passes(&lord_howe, "Australia/Lord_Howe", "--after '2026-04-05 01:45'", "b");
}

#[test]
fn a_day_that_clocks_shorten_has_its_own_midnights() {
    let env = at(&[
        utc("2026-03-08T04:59:59Z"),
        utc("2026-03-08T05:00:00Z"),
        utc("2026-03-09T03:59:59Z"),
        utc("2026-03-09T04:00:00Z"),
    ]);
    assert_passes(&env, "America/New_York", "--after 2026-03-08 --before 2026-03-09", "bc");
}

#[test]
fn a_month_ago_goes_by_the_local_calendar() {
    let env = at(&[utc("2026-02-28T12:59:59Z"), utc("2026-02-28T13:00:00Z")]);
    assert_passes(&env, "America/New_York", "--newer-than 5mo", "b");
}

#[test]
fn an_empty_window_is_refused_by_both_names() {
    let env = at(&[NOW]);
    for (flags, lower, upper) in [
        ("--older-than 5d --newer-than 2d", "--newer-than", "--older-than"),
        ("--older-than 2d --newer-than 2d", "--newer-than", "--older-than"),
        ("--before 2026-07-05 --after 2026-07-05", "--after", "--before"),
        ("--before 2026-07-05 --after 2026-07-06", "--after", "--before"),
        ("--older-than 30d --after 2026-07-30", "--after", "--older-than"),
        ("--before 2026-06-01 --newer-than 1w", "--newer-than", "--before"),
    ] {
        env.run(&format!("export - {flags}")).fails(2).says(lower).says(upper);
    }
}

#[test]
fn what_is_no_time_is_refused_with_its_flag() {
    let env = at(&[NOW]);
    for flag in ["--older-than", "--newer-than", "--before", "--after"] {
        for text in [
            "abc",
            "5x",
            "-5h",
            "2026-13-01",
            "2026-02-30",
            "99999999",
            "nan",
            "inf",
            "1e5",
            "5000000d",
            "' '",
            "2026-07-05T25:00",
            "5h3m",
        ] {
            env.run(&format!("export - {flag} {text}")).fails(2).says(flag);
        }
    }
}

#[test]
fn the_clock_that_tests_set_is_checked() {
    let env = at(&[NOW]);
    let mut command = env.command(&["export", "-"]);
    let output = command.env("HERMES_SESSIONS_NOW", "soon").output().unwrap();
    crate::env::Ran::new("now".to_owned(), output).fails(2).says("HERMES_SESSIONS_NOW");
}
