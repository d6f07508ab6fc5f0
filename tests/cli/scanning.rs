//! `scan`: which secrets are in how many sessions.

use serde_json::json;

use crate::env::Env;
use crate::store::{START, session, talk};

/// Made up, and not in one piece.
fn token(n: usize) -> String {
    format!("sk_live_{}{n}a", "Q7x2Lm9Zt4Bv8Kc1Rw6Yp3Hs")
}

fn env() -> Env {
    let first = session("first").user(format!("use {}", token(1))).assistant("I did");
    let second = session("second").user(format!("{} and {}", token(1), token(2)));
    let taken_back = session("third").user(format!("no, {}", token(1))).rewound();
    let many = (0..9).map(|n| session(format!("m{n}")).user(format!("key {}", token(10 + n))));
    Env::with([first, second, taken_back, talk("clean")].into_iter().chain(many))
}

#[test]
fn a_secret_in_several_sessions_is_one_line_and_is_never_shown() {
    let env = env();
    let ran = env.run("scan --json --report found.json").ok();
    let json = ran.json();
    assert_eq!((&json["sessions"], &json["messages"]), (&json!(13), &json!(15)));
    let secrets = json["secrets"].as_array().unwrap();
    assert_eq!(secrets.len(), 11);
    assert_eq!(secrets[0]["rule"], "stripe-secret-key");
    assert_eq!(secrets[0]["sessions"], json!(["first", "second", "third"]));
    assert_eq!(secrets[0]["count"], 3);
    assert!(secrets[0]["first_seen"].as_f64().unwrap() >= START);
    assert!(secrets[0]["last_seen"].as_f64() >= secrets[0]["first_seen"].as_f64());
    let report = env.text("found.json");
    assert!(report.contains("\"second\""), "{report}");
    for text in [&report, &ran.stdout, &ran.stderr, &env.run("scan").ok().stdout] {
        assert!(!text.contains("Q7x2Lm9Zt4"), "{text}");
    }
}

#[test]
fn what_is_found_stands_in_the_same_order_each_time() {
    let env = env();
    let once = env.run("scan --json").ok().stdout;
    for _ in 0..5 {
        assert_eq!(env.run("scan --json").ok().stdout, once);
    }
}

#[test]
fn a_script_can_ask_for_a_status() {
    let env = env();
    let ran = env.run("scan -q --fail-on-findings").ends(1);
    assert!(ran.stdout.contains("stripe-secret-key"), "{ran}");
    env.run("scan -q --fail-on-findings --session-id clean").ok().silent();
    env.run("scan --session-id no-such").fails(1);
}
