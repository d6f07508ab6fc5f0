use serde_json::{Value as Json, json};

use super::{chat, sharegpt};
use crate::Format;
use crate::model::{Message, MessageColumn, SessionColumn, Value};
use crate::testing::{json as cell, message, sample, session, text, write};

fn object(format: &Format, messages: Vec<Message<'static>>) -> Json {
    let session = session("s", vec![(SessionColumn::SystemPrompt, text("Be kind."))]);
    let line = write(format, &[&sample("s", session, messages)]);
    if line.is_empty() { Json::Null } else { serde_json::from_str(&line).unwrap() }
}

/// Who speaks, and what: `user: …`, `assistant: … [calls]`, `tool of id: …`.
fn outline(messages: Vec<Message<'static>>) -> Vec<String> {
    let object = object(&chat::KEEP, messages);
    let line = |message: &Json| {
        let words = message["content"].as_str().unwrap_or("-");
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let calls: Vec<_> = calls.map(|call| call["id"].as_str().unwrap()).collect();
        let of = message["tool_call_id"].as_str().map(|id| format!(" of {id}"));
        let role = format!("{}{}", message["role"].as_str().unwrap(), of.unwrap_or_default());
        if calls.is_empty() {
            format!("{role}: {words}")
        } else {
            format!("{role}: {words} {calls:?}")
        }
    };
    object["messages"].as_array().into_iter().flatten().map(line).collect()
}

fn user(words: &str) -> Message<'static> {
    message("user", words, vec![])
}

fn says(words: &str, ids: &[&str]) -> Message<'static> {
    let call = |id: &&str| json!({"id": id, "function": {"name": "ls", "arguments": "{}"}});
    let asked: Vec<_> = ids.iter().map(call).collect();
    let asked = (!ids.is_empty()).then(|| (MessageColumn::ToolCalls, cell(&json!(asked))));
    message("assistant", words, asked.into_iter().collect())
}

fn gives(id: &str, words: &str) -> Message<'static> {
    message("tool", words, vec![(MessageColumn::ToolCallId, text(id))])
}

#[test]
fn results_stand_behind_their_calls_whoever_spoke_in_between() {
    let messages = vec![
        user("Look."),
        says("I look.", &["a", "b"]),
        gives("b", "two"),
        user("Quick!"),
        gives("a", "one"),
        says("Done.", &[]),
    ];
    let wanted = [
        "system: Be kind.",
        "user: Look.",
        r#"assistant: I look. ["a", "b"]"#,
        "tool of a: one",
        "tool of b: two",
        "user: Quick!",
        "assistant: Done.",
    ];
    assert_eq!(outline(messages), wanted);
}

#[test]
fn calls_without_results_and_results_without_calls_are_left_out() {
    let messages = vec![
        gives("z", "nobody asked"),
        user("One."),
        says("", &["lost"]),
        user("Two."),
        says("", &["a", "lost"]),
        gives("a", "1"),
        gives("a", "1 again"),
        gives("y", "nobody asked"),
        says("Fine.", &["lost"]),
        user("Three."),
        says("Yes.", &[]),
    ];
    let wanted = [
        "system: Be kind.",
        "user: One.\n\nTwo.",
        r#"assistant: - ["a"]"#,
        "tool of a: 1",
        "assistant: Fine.",
        "user: Three.",
        "assistant: Yes.",
    ];
    assert_eq!(outline(messages), wanted);
}

#[test]
fn the_model_has_the_last_word_and_somebody_else_the_first() {
    let away = vec![(MessageColumn::Active, Value::Integer(0))];
    let messages = vec![
        message("system", "Be brief.", vec![]),
        says("Unasked.", &[]),
        user("One."),
        message("user", "Taken back.", away),
        message("system", "Too late.", vec![]),
        says("I look", &[]),
        says("here.", &["a", "b"]),
        gives("a", "1"),
        user("And?"),
    ];
    let wanted = [
        "system: Be kind.\n\nBe brief.",
        "user: One.",
        "assistant: I look\n\nhere. [\"a\", \"b\"]",
    ];
    assert_eq!(outline(messages), wanted);
    assert_eq!(outline(vec![user("Hello?")]), Vec::<String>::new());
    assert_eq!(outline(vec![says("Hello?", &[])]), Vec::<String>::new());
}

#[test]
fn ids_names_and_arguments_are_made_such_as_trainers_take() {
    let calls = json!([
        {"id": "a", "function": {"name": "mcp.read file", "arguments": " {\"n\": NaN}"}},
        {"id": "a", "function": {"name": "é".repeat(80), "arguments": "rm -rf"}},
        {"function": {"name": "ls"}},
        "odd",
    ]);
    let asks = message("assistant", "", vec![(MessageColumn::ToolCalls, cell(&calls))]);
    let object = object(&chat::KEEP, vec![user("Go."), asks]);
    let calls = object["messages"][2]["tool_calls"].as_array().unwrap();
    let of = |pointer: &str| -> Vec<&str> {
        calls.iter().map(|call| call.pointer(pointer).unwrap().as_str().unwrap()).collect()
    };
    assert_eq!(of("/id"), ["a", "call_2_2", "call_2_3", "call_2_4"]);
    assert_eq!(of("/function/name"), ["mcp_read_file", &"_".repeat(64), "ls", "unknown"]);
    let arguments = ["{\"n\": null}", "{\"_raw\":\"rm -rf\"}", "{}", "{\"_raw\":\"\\\"odd\\\"\"}"];
    assert_eq!(of("/function/arguments"), arguments);
    let tools: Vec<_> =
        object["tools"].as_array().unwrap().iter().map(|t| &t["function"]).collect();
    assert_eq!(
        tools[0],
        &json!({"name": "mcp_read_file", "description": "", "parameters": {"type": "object", "properties": {}}})
    );
    assert_eq!(tools.len(), 4);
}

#[test]
fn reasoning_is_kept_or_dropped() {
    let thinks = || message("assistant", "Four.", vec![(MessageColumn::Reasoning, text("2 + 2"))]);
    let answer = |format| object(format, vec![user("2 + 2?"), thinks()])["messages"][2].clone();
    let plain = json!({"role": "assistant", "content": "Four."});
    assert_eq!(answer(&chat::DROP), plain);
    let thought = json!({"role": "assistant", "content": "Four.", "reasoning_content": "2 + 2"});
    assert_eq!(answer(&chat::KEEP), thought);
}

#[test]
fn a_line_stays_one_whatever_is_said() {
    let odd = format!("a\0b\u{85}\u{2028}\"\\\n{}", "x".repeat(3 << 20));
    let messages = vec![user(&odd), says(&odd, &["a"]), gives("a", &odd), says("", &["b"])];
    let session = session("s", vec![]);
    let line = write(&chat::KEEP, &[&sample("s", session, messages)]);
    assert_eq!(line.lines().count(), 1);
    assert!(!line.contains(['\u{85}', '\u{2028}']));
    let object: Json = serde_json::from_str(&line).unwrap();
    for n in 0..3 {
        assert_eq!(object["messages"][n]["content"], odd);
    }
}

#[test]
fn sharegpt_takes_turns_and_loses_no_word() {
    let thought = (MessageColumn::Reasoning, text("Two calls."));
    let mut asks = says("I look.", &["a", "b"]);
    asks.set(thought.0, thought.1);
    let messages =
        vec![user("Look."), asks, gives("b", "two"), gives("a", "one"), says("Done.", &["c"])];
    let values = |format| {
        let object = object(format, messages.clone());
        let turns = object["conversations"].as_array().unwrap().iter();
        let text = |turn: &Json, key: &str| turn[key].as_str().unwrap().to_owned();
        turns.map(|turn| (text(turn, "from"), text(turn, "value"))).collect::<Vec<_>>()
    };
    let call = "<tool_call>\n{\"name\": \"ls\", \"arguments\": {}}\n</tool_call>";
    let asked = format!("I look.\n{call}\n{call}");
    let wanted = [
        ("system", "Be kind.".to_owned()),
        ("human", "Look.".to_owned()),
        ("gpt", format!("<think>\nTwo calls.\n</think>\n{asked}")),
        ("tool", "one\n</tool_response>\n<tool_response>\ntwo".to_owned()),
        ("gpt", format!("Done.\n{call}")),
    ]
    .map(|(from, value)| (from.to_owned(), value));
    assert_eq!(values(&sharegpt::KEEP), wanted);
    assert_eq!(values(&sharegpt::DROP)[2].1, asked);
    let tools = object(&sharegpt::KEEP, messages.clone())["tools"].clone();
    let tools: Json = serde_json::from_str(tools.as_str().unwrap()).unwrap();
    assert_eq!(tools[0]["name"], "ls");
    assert_eq!(object(&sharegpt::KEEP, vec![user("Hi."), says("Hi.", &[])])["tools"], "[]");
}
