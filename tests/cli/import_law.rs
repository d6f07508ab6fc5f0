//! The law of `import`: what comes out of a store, goes into another and comes out again is the same,
//! whatever is in it.

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::env::Env;
use crate::store::{Session, session};

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 12,
        rng_seed: RngSeed::Fixed(11),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Text with everything that a cell can hold.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<String>(),
        2 => "[ -~\n\r\t]{0,40}",
        1 => "[\\x00-\\x1f\\x7f\u{2028}\u{feff}💡]{1,8}",
        1 => Just("\0json:".to_owned()),
        1 => Just("\0json:not json".to_owned()),
        1 => Just("\"[]\"".to_owned()),
        1 => Just("null".to_owned()),
    ]
}

/// JSON as Python writes it, and a bit beyond.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| format!("{x:?}")),
        Just("1.50".to_owned()),
        Just("12345678901234567890123".to_owned()),
        any::<String>().prop_map(|s| serde_json::Value::from(s).to_string()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let key = any::<String>().prop_map(|s| serde_json::Value::from(s).to_string());
        let entry = (key, inner.clone()).prop_map(|(key, value)| format!("{key}: {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(entry, 0..4)
                .prop_map(|items| format!("{{{}}}", items.join(", "))),
        ]
    })
}

#[derive(Debug, Clone)]
struct Said {
    role: String,
    content: Option<String>,
    calls: Option<String>,
    details: Option<String>,
    text: Option<String>,
    time: f64,
    count: Option<i64>,
    active: i64,
    compacted: i64,
}

fn said() -> impl Strategy<Value = Said> {
    let content =
        prop::option::of(prop_oneof![text(), json().prop_map(|json| format!("\0json:{json}")),]);
    let role = prop_oneof![Just("user".to_owned()), Just("assistant".to_owned()), text()];
    let cells = (
        prop::option::of(prop_oneof![json(), text()]),
        prop::option::of(prop_oneof![json(), text()]),
        prop::option::of(text()),
    );
    let time = -1e9..1e11_f64;
    (role, content, cells, time, any::<Option<i64>>(), 0..2_i64, 0..2_i64).prop_map(
        |(role, content, (calls, details, text), time, count, active, compacted)| Said {
            role,
            content,
            calls,
            details,
            text,
            time,
            count,
            active,
            compacted,
        },
    )
}

#[derive(Debug, Clone)]
struct Held {
    texts: [Option<String>; 4],
    config: Option<String>,
    start: f64,
    end: Option<f64>,
    cost: Option<f64>,
    tokens: Option<i64>,
    messages: Vec<Said>,
}

fn held() -> impl Strategy<Value = Held> {
    let option = || prop::option::of(text());
    let cost = prop::option::of(any::<f64>().prop_filter("finite", |x| x.is_finite()));
    (
        [option(), option(), option(), option()],
        prop::option::of(prop_oneof![json(), text()]),
        -1e9..1e11_f64,
        prop::option::of(-1e9..1e11_f64),
        cost,
        any::<Option<i64>>(),
        prop::collection::vec(said(), 0..6),
    )
        .prop_map(|(texts, config, start, end, cost, tokens, messages)| Held {
            texts,
            config,
            start,
            end,
            cost,
            tokens,
            messages,
        })
}

fn as_session(n: usize, held: Held) -> Session {
    let [source, title, chat, cwd] = held.texts;
    // The store keeps titles distinct, and has no session without a source.
    let mut row = session(format!("id/{n} \u{1F642}"))
        .with("source", source.unwrap_or_default())
        .with("title", title.map(|title| format!("{n}{title}")))
        .with("chat_id", chat)
        .with("cwd", cwd)
        .with("model_config", held.config)
        .with("started_at", held.start)
        .with("ended_at", held.end)
        .with("actual_cost_usd", held.cost)
        .with("input_tokens", held.tokens)
        .with("handoff_state", "pending")
        .with("parent_session_id", (n == 2).then_some("absent"));
    for said in held.messages {
        row = row
            .message("user")
            .and("role", said.role)
            .and("content", said.content)
            .and("tool_calls", said.calls)
            .and("codex_message_items", said.details)
            .and("reasoning", said.text)
            .and("timestamp", said.time)
            .and("token_count", said.count)
            .and("active", said.active)
            .and("compacted", said.compacted);
    }
    row
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_export_of_an_import_of_an_export_is_the_export(rows in prop::collection::vec(held(), 1..8)) {
        let env = Env::with(rows.into_iter().enumerate().map(|(n, held)| as_session(n, held)));
        let export = |flags: &str| env.run(&format!("export - --messages all --lenient {flags}")).ok();
        let before = export("").stdout;
        fs::write(env.work("all.jsonl"), &before).unwrap();
        env.run("--db again.db import all.jsonl --verbatim --allow-redacted").ok();
        let after = export("--db again.db").stdout;
        for (one, other) in before.lines().zip(after.lines()) {
            prop_assert_eq!(one, other);
        }
        prop_assert_eq!(before.lines().count(), after.lines().count());
    }
}
