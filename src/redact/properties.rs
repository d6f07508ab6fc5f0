//! What redaction promises for any input, held against chance.

use std::borrow::Cow;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value as Json;

use super::tests::{redact, redactor, second};
use super::{Ahead, Raw, Scope};

fn json_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<i64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        "(password|token: |KEY=|https://a:|Bearer |\\\\n|\")?[a-zA-Z0-9]{0,24}(@|\"|;)?"
            .prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::hash_map(
                "[a-z_]{1,8}|password|api_key|Cookie|name|value",
                inner.clone(),
                0..5
            )
            .prop_map(|map| Json::Object(map.into_iter().collect())),
            inner.prop_map(|value| Json::String(value.to_string())),
        ]
    })
}

/// The same cases on every run; other seeds are for whoever hunts faults.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn json_stays_json(value in json_value()) {
        let out = redact(&value.to_string());
        prop_assert!(serde_json::from_str::<Json>(&out).is_ok(), "{}", out);
    }

    #[test]
    fn redacting_twice_changes_nothing(value in json_value(), text in "([a-z]{1,9}[=: ]{1,2}[a-zA-Z0-9!\"\\\\]{0,20}[ \n]){0,6}") {
        for text in [value.to_string(), text] {
            let once = redact(&text);
            prop_assert_eq!(second().redact_text(&once, &mut Scope::new()), once.as_str());
            prop_assert!(second().scan_bytes(once.as_bytes()).is_empty(), "{}", once);
        }
    }

    #[test]
    fn a_search_ahead_says_what_redaction_does(value in json_value(), text in "([a-z]{1,9}[=: ]{1,2}[a-zA-Z0-9!\"\\\\]{0,20}[ \n]){0,6}") {
        for text in [value.to_string(), text] {
            let raw = || Raw::new(Cow::Borrowed(text.as_str()));
            let mut ahead = Vec::new();
            second().search_ahead(std::iter::once(raw()), &mut ahead);
            let redacted = redact(&text);
            prop_assert_eq!(ahead[0] == Ahead::Clean, redacted == text);
            let told = second().apply(raw().searched(ahead[0]), &mut Scope::new());
            prop_assert_eq!(told, redacted);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        redact(&text);
        redactor().scan_bytes(&bytes);
    }

    #[test]
    fn odd_text_round_secrets_makes_nothing_panic(text in "(password|token|\\\\|\"|'|=|:|://|@|é|\u{1b}\\[|&quot;|%3D|\n|eyJ|ghp_|[a-zA-Z0-9]{1,12}| ){0,40}") {
        let once = redact(&text);
        redact(&once);
    }

    #[test]
    fn words_are_left_alone(text in "([a-z]{1,4} ){0,30}") {
        let out = redactor().redact_text(&text, &mut Scope::new());
        prop_assert!(matches!(out, Cow::Borrowed(_)));
    }
}
