//! The sessions that every format is shown to write, and what it takes to build others.

use std::sync::LazyLock;

use crate::model::{Column, Header, Message, MessageColumn, Row, Session, SessionColumn, Value};
use crate::{FileHead, Format, Layout, NothingToShow, Record, SessionHead};

/// Columns of a store, some of which this version does not know by name.
fn header<C: Column>(unknown: &[&str]) -> Header<C> {
    let known = C::ALL.iter().map(|column| column.name());
    Header::new(known.chain(unknown.iter().copied()).map(str::to_owned).collect())
}

static SESSIONS: LazyLock<Header<SessionColumn>> = LazyLock::new(|| header(&["thread_id"]));
static MESSAGES: LazyLock<Header<MessageColumn>> =
    LazyLock::new(|| header(&["codex_message_items"]));

/// 2026-07-05T14:30:00Z.
const START: f64 = 1_783_261_800.0;

pub(crate) fn text(text: &str) -> Value<'static> {
    Value::Text(text.to_owned().into())
}

pub(crate) fn json(json: &serde_json::Value) -> Value<'static> {
    Value::Json(json.to_string().into())
}

fn row<C: Column>(header: &'static Header<C>, cells: Vec<(C, Value<'static>)>) -> Row<'static, C> {
    let mut row = Row::new(header, vec![Value::Null; header.names().len()]);
    for (column, value) in cells {
        row.set(column, value);
    }
    row
}

/// A session with these columns.
pub(crate) fn session(id: &str, cells: Vec<(SessionColumn, Value<'static>)>) -> Session<'static> {
    let mut session = row(&SESSIONS, cells);
    session.set(SessionColumn::Id, text(id));
    session.set(SessionColumn::Source, text("cli"));
    session.set(SessionColumn::StartedAt, Value::Real(START));
    session
}

/// A message with these columns.
pub(crate) fn message(
    role: &str,
    content: &str,
    mut cells: Vec<(MessageColumn, Value<'static>)>,
) -> Message<'static> {
    cells.insert(0, (MessageColumn::Role, text(role)));
    if !content.is_empty() {
        cells.insert(1, (MessageColumn::Content, text(content)));
    }
    row(&MESSAGES, cells)
}

/// A session, or a chain of them, as the engine hands it to a writer.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) head: Session<'static>,
    pub(crate) segments: Vec<(Session<'static>, Vec<Message<'static>>)>,
}

/// A sample of one session; its messages get ids and times a minute apart.
pub(crate) fn sample(
    name: &'static str,
    session: Session<'static>,
    messages: Vec<Message<'static>>,
) -> Sample {
    chain(name, session.clone(), vec![(session, messages)])
}

/// A sample of several sessions that go on from one another.
pub(crate) fn chain(
    name: &'static str,
    head: Session<'static>,
    mut segments: Vec<(Session<'static>, Vec<Message<'static>>)>,
) -> Sample {
    let mut time = START;
    for (n, message) in (1..).zip(segments.iter_mut().flat_map(|(_, messages)| messages)) {
        message.set(MessageColumn::Id, Value::Integer(n));
        message.set(MessageColumn::Timestamp, Value::Real(time));
        time += 60.0;
    }
    Sample { name, head, segments }
}

/// What a format makes of these samples, one file.
pub(crate) fn write(format: &Format, samples: &[&Sample]) -> String {
    let mut out = Vec::new();
    let head = FileHead {
        sessions: samples.len() as u64,
        redacted: None,
        provenance: None,
        zone: jiff::tz::TimeZone::UTC,
    };
    let mut file = (format.start)(&mut out, &head).expect("memory");
    for sample in samples {
        let lineage: Vec<String> =
            sample.segments.iter().map(|(session, _)| session.id().to_owned()).collect();
        let messages: Vec<_> = sample.segments.iter().flat_map(|(_, messages)| messages).collect();
        let mut session = file
            .session(&SessionHead {
                session: &sample.head,
                messages: messages.len() as u64,
                last_active: messages.last().and_then(|m| m.number(MessageColumn::Timestamp)),
                lineage: &lineage,
                related: &[],
            })
            .expect("memory");
        for (part, messages) in &sample.segments {
            if lineage.len() > 1 {
                session.segment(part).expect("memory");
            }
            for message in messages {
                session.message(message).expect("memory");
            }
        }
        let record = Record { jsonl_sha256: "e3b0", redactions: None };
        session.made_from(&record).expect("memory");
        match session.finish() {
            Err(error) if NothingToShow::is_cause(&error) => match format.layout {
                Layout::FilePerSession => return "no file\n".to_owned(),
                Layout::OneFile | Layout::Folder => {}
            },
            finished => finished.expect("memory"),
        }
    }
    file.finish().expect("memory");
    String::from_utf8(out).expect("UTF-8")
}

/// What a format makes of all samples: the file, or the files with a line that names each.
pub(crate) fn write_all(format: &Format) -> String {
    let samples = samples();
    let file = |sample: &Sample| format!("════ {} ════\n{}", sample.name, write(format, &[sample]));
    match format.layout {
        Layout::OneFile | Layout::Folder => write(format, &samples.iter().collect::<Vec<_>>()),
        Layout::FilePerSession => samples.iter().map(file).collect::<Vec<_>>().concat(),
    }
}

pub(crate) fn samples() -> Vec<Sample> {
    vec![plain(), tools(), reasoning(), pictures(), empty(), set_aside(), joined(), hostile()]
}

fn plain() -> Sample {
    let session = session(
        "20260705_143000_plain",
        vec![
            (SessionColumn::Title, text("Fix #12 in snake_case & more")),
            (SessionColumn::Model, text("example/model-1")),
            (SessionColumn::Cwd, text("C:\\work\\bot")),
            (SessionColumn::SystemPrompt, text("You are helpful.\n\n# Rules\nNone.")),
            (SessionColumn::EndedAt, Value::Real(START + 0.25)),
            (SessionColumn::EndReason, text("done")),
            (SessionColumn::InputTokens, Value::Integer(1200)),
            (SessionColumn::OutputTokens, Value::Integer(34)),
            (SessionColumn::EstimatedCost, Value::Real(0.0125)),
            (SessionColumn::ModelConfig, json(&serde_json::json!({"temperature": 0.5}))),
        ],
    );
    let answer = "## Plan\n\n1. Run `ls <dir>`:\n   ```sh\n   ls\n   ```\n\n---\n\nDone.";
    let finish = (MessageColumn::FinishReason, text("stop"));
    sample(
        "plain",
        session,
        vec![
            message("user", "line1\r\nline2", vec![]),
            message("assistant", answer, vec![finish]),
            message("session_meta", "", vec![]),
        ],
    )
}

fn call(id: &str, name: &str, arguments: &str) -> serde_json::Value {
    serde_json::json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn tools() -> Sample {
    let calls = serde_json::json!([
        call("c1", "terminal", "{\"command\": \"ls\", \"timeout\": 5}"),
        call("c2", "read_file", "not JSON"),
        call("c3", "web", "{}"),
    ]);
    let answer = |id: &str, name: &str| {
        vec![(MessageColumn::ToolCallId, text(id)), (MessageColumn::ToolName, text(name))]
    };
    let result = "{\"output\": \"a\\n```\\n# b\", \"exit_code\": 0, \"error\": null}";
    sample(
        "tools",
        session("20260705_143000_tools", vec![]),
        vec![
            message("user", "List the files.", vec![]),
            message("assistant", "", vec![(MessageColumn::ToolCalls, json(&calls))]),
            message("tool", "[1, 2]", answer("c2", "read_file")),
            message("tool", result, answer("c1", "terminal")),
            message("tool", "nobody asked", answer("c9", "other")),
            message("assistant", "There they are.", vec![]),
        ],
    )
}

fn reasoning() -> Sample {
    let details = serde_json::json!([{"type": "reasoning.text", "text": "First, a\nlist."}]);
    let sealed = serde_json::json!([{"type": "reasoning", "encrypted_content": "AAAA"}]);
    let cells = vec![
        (MessageColumn::Reasoning, text("First, a\nlist.")),
        (MessageColumn::ReasoningContent, text("First, a\nlist.\n")),
        (MessageColumn::ReasoningDetails, json(&details)),
        (MessageColumn::CodexReasoningItems, json(&sealed)),
    ];
    sample(
        "reasoning",
        session("20260705_143000_reasoning", vec![]),
        vec![message("user", "Why?", vec![]), message("assistant", "Because.", cells)],
    )
}

fn pictures() -> Sample {
    let content = serde_json::json!([
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_image", "image_url": "https://example.org/`a`.png"},
        {"type": "hologram", "depth": 3},
    ]);
    sample(
        "pictures",
        session("20260705_143000_pictures", vec![]),
        vec![message("user", "", vec![(MessageColumn::Content, json(&content))])],
    )
}

fn empty() -> Sample {
    sample("empty", session("20260705_143000_empty", vec![]), vec![])
}

fn set_aside() -> Sample {
    let away = || (MessageColumn::Active, Value::Integer(0));
    let compacted = (MessageColumn::Compacted, Value::Integer(1));
    sample(
        "set aside",
        session("20260705_143000_aside", vec![]),
        vec![
            message("user", "The first question.", vec![away(), compacted]),
            message("user", "[CONTEXT SUMMARY]: a question was asked.", vec![]),
            message("user", "Never mind.", vec![away()]),
        ],
    )
}

fn joined() -> Sample {
    let first = session(
        "20260705_143000_first",
        vec![
            (SessionColumn::EndedAt, Value::Real(START + 60.0)),
            (SessionColumn::EndReason, text("compression")),
        ],
    );
    let second = session(
        "20260705_144000_second",
        vec![(SessionColumn::Parent, text("20260705_143000_first"))],
    );
    let mut head = second.clone();
    head.set(SessionColumn::Id, text("20260705_143000_first"));
    head.set(SessionColumn::Parent, Value::Null);
    let segments = vec![
        (first, vec![message("user", "root msg", vec![])]),
        (second, vec![message("user", "cont msg", vec![])]),
    ];
    chain("joined", head, segments)
}

fn hostile() -> Sample {
    let title = "a\n---\u{2028}`r f()` <script> {{< env X >}} \\input{/etc/x}";
    let session = session("20260705_143000_hostile", vec![(SessionColumn::Title, text(title))]);
    let markup = "# Forged\n\n### User — 2026\n\n<script>x</script> <!-- open\n\n---\na: b\n---\n\n```sh\nopen";
    let cells = "```{r}\nf()\n```\n`r f()` {{< env X >}}\n---\nfilters: [x.lua]\n---\n<!-- -->";
    sample(
        "hostile",
        session,
        vec![
            message("user", markup, vec![]),
            message("</h3><b>", cells, vec![]),
            message("user", "bare\r# return", vec![]),
        ],
    )
}
