//! What holds for every document: its structure is ours, and nothing in it acts.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use serde_json::{Value as Json, json};

use super::{MD, QMD};
use crate::model::{MessageColumn, SessionColumn, Value};
use crate::testing::{Sample, message, sample, samples, session, text, write};

/// Inputs that act on one reader or another where they are not made inert.
const HOSTILE: [&str; 43] = [
    "```{python}\nf()\n```",
    "```{r}\nf()\n```",
    "```{r}\n1\n```\n\n```{bash}\nid\n```",
    "`r f()`",
    "`{python} f()` and `{r} f()`",
    "> ```{r}\n> f()\n> ```",
    "    ```{r}\n    f()\n    ```",
    "````markdown\n```{r}\nf()\n```\n````",
    "{{< include ../../x >}}",
    "```\n{{< include ../../x >}}\n```",
    "{{< env API_KEY >}}",
    "`{{< env API_KEY >}}` {{{< env API_KEY >}}}",
    "---\nfilters: [x.lua]\n---",
    "\n\n---\nengine: knitr\n...\n",
    "~~~\n---\nfilters: [x.lua]\n---\n~~~",
    "---\nheader-includes: <script>f()</script>\n---",
    "---\ntitle: FORGED\n---",
    "<script>f()</script>",
    "<img src=x onerror=f()>",
    "```{=html}\n<script>f()</script>\n```",
    "`<script>`{=html}",
    "\\input{/etc/x}",
    "`\\write18{id}`{=latex}",
    "```{mermaid}\n%%| file: ../../x\n```",
    "```{dot}\n//| file: ../../x\n```",
    "```{ojs}\nf()\n```",
    "{{< video https://example.org >}} {{< embed x.ipynb >}}",
    "![a](https://example.org/a.png) [b](javascript:f)",
    "<!--",
    "-->",
    "```",
    "~~~~",
    "::: {.hidden}",
    "[@key] {#id} []{.class onclick=f()}",
    "### Assistant — 2026-07-05T14:30:00Z",
    "Forged\n===\n\nForged\n---",
    "## Export verification\n\n- SHA256 of exported body: `0000`",
    "a\r---\rfilters: [x.lua]\r---\r{{\r< env X >}}",
    "a\u{85}---\u{2028}# b\u{2029}...\u{b}c\u{c}d",
    "</details></pre></code>",
    "[a]: https://example.org\n[^1]: # note",
    "\u{202e}gpj.exe \u{0}\u{1b}[2J",
    "\"\n---\n# x: y",
];

/// A session with this text in every place that holds text.
fn hostile(text_: &str) -> Sample {
    let t = || text(text_);
    let j = |value: Json| Value::Json(value.to_string().into());
    let mut head = session(
        "s",
        vec![
            (SessionColumn::Title, t()),
            (SessionColumn::Cwd, t()),
            (SessionColumn::Model, t()),
            (SessionColumn::Provider, t()),
            (SessionColumn::Branch, t()),
            (SessionColumn::Parent, t()),
            (SessionColumn::EndReason, t()),
            (SessionColumn::SystemPrompt, t()),
            (SessionColumn::ModelConfig, j(json!({ text_: text_ }))),
        ],
    );
    head.set(SessionColumn::Id, t());
    head.set(SessionColumn::Source, t());
    let arguments = json!({ text_: text_ }).to_string();
    let call = |id: &str, arguments: &str| json!({"id": id, "function": {"name": text_, "arguments": arguments}});
    let calls = json!([call(text_, &arguments), call("c2", text_), call("c3", text_)]);
    let answer =
        |id: &str| vec![(MessageColumn::ToolCallId, text(id)), (MessageColumn::ToolName, t())];
    let thought = vec![
        (MessageColumn::Reasoning, t()),
        (MessageColumn::ReasoningContent, text(&format!("{text_}!"))),
        (MessageColumn::ReasoningDetails, j(json!([{"data": text_}]))),
        (MessageColumn::FinishReason, t()),
        (MessageColumn::PlatformMessageId, t()),
        (MessageColumn::ToolCalls, j(calls)),
    ];
    let output = json!({"output": text_, text_: 0}).to_string();
    let content = json!([
        {"type": "text", "text": text_},
        {"type": "image_url", "image_url": text_},
        {"type": "odd", text_: text_},
    ]);
    let messages = vec![
        message("user", text_, vec![]),
        message("system", text_, vec![]),
        message(text_, text_, vec![]),
        message("assistant", text_, thought),
        message("tool", &output, answer(text_)),
        message("tool", text_, answer("c2")),
        message("user", "", vec![(MessageColumn::Content, j(content))]),
        message("user", "the end", vec![]),
    ];
    sample("hostile", head, messages)
}

/// The document below its front matter.
fn body(document: &str) -> &str {
    let (_, rest) = document.split_once("---\n").expect("front matter");
    rest.split_once("\n---\n\n").expect("its end").1
}

fn is_line_end(c: char) -> bool {
    crate::inert::name::ends_line(c)
}

/// The front matter has one `key: value` a line, and pandoc would not act on any value.
fn assert_front_is_inert(document: &str, input: &str) {
    let front = document.strip_suffix(body(document)).expect("front matter");
    let front = front.strip_prefix("---\n").and_then(|f| f.strip_suffix("---\n\n"));
    for line in front.expect("fences").split('\n').filter(|line| !line.is_empty()) {
        assert!(!line.contains(is_line_end), "{input:?}: {line:?}");
        let (key, value) = line.split_once(": ").expect("a key");
        assert!(key.chars().all(|c| c.is_ascii_lowercase() || "_-".contains(c)), "{line:?}");
        for mark in ["`", "{{<", "<!--", "<s", "<i", "</", "](", "\\\\input"] {
            assert!(!value.contains(mark), "{input:?}: {line:?} holds {mark:?}");
        }
    }
}

/// The headings of the first three levels, and that there is no markup or picture.
fn structure(document: &str, input: &str) -> Vec<HeadingLevel> {
    let mut levels = Vec::new();
    for event in Parser::new_ext(body(document), Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { level, .. }) if level <= HeadingLevel::H3 => {
                levels.push(level);
            }
            Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. }) => {
                panic!("{input:?}: {event:?}\n{document}")
            }
            _ => {}
        }
    }
    levels
}

#[test]
fn the_structure_is_the_same_whatever_the_texts_are() {
    let ordinary = hostile("ordinary");
    for format in [MD, QMD] {
        let wanted = structure(&write(&format, &[&ordinary]), "ordinary");
        for input in HOSTILE {
            let document = write(&format, &[&hostile(input)]);
            assert_front_is_inert(&document, input);
            assert_eq!(structure(&document, input), wanted, "{input:?}\n{document}");
        }
    }
}

#[test]
fn quarto_finds_nothing_to_run_in_any_place() {
    for input in HOSTILE {
        let document = write(&QMD, &[&hostile(input)]);
        for line in body(&document).split(is_line_end) {
            let line = line.trim_matches(|c: char| c.is_whitespace() || c == '>');
            assert!(!matches!(line, "---" | "..."), "{input:?}\n{document}");
        }
        // Pandoc drops carriage returns, and what stood apart then stands together.
        let joined = document.replace('\r', "");
        for mark in ["`{", "~{", "` {", "{{<", "<!--", "-->", "`r ", "`r\n"] {
            assert!(!joined.contains(mark), "{input:?}: {mark:?}\n{document}");
        }
        let body = body(&document);
        let code = Parser::new(body).into_offset_iter().filter_map(|(event, range)| match event {
            Event::Start(Tag::CodeBlock(_)) => Some(range),
            _ => None,
        });
        let mut open = body.to_owned();
        for range in code.collect::<Vec<_>>().into_iter().rev() {
            open.replace_range(range, "");
        }
        for mark in ["<", "[", "{", "\\", "$", "***"] {
            assert!(!open.replace('`', "").contains(mark), "{input:?}: {mark:?}\n{open}");
        }
    }
}

#[test]
fn changed_places_are_counted() {
    for input in HOSTILE {
        let document = write(&QMD, &[&hostile(input)]);
        let breaks = document.matches('\u{200b}').count();
        assert!(document.contains(&format!("\nchanged_places: {breaks}\n")), "{input:?}");
    }
}

#[test]
fn messages_stand_in_the_file_as_they_are() {
    for content in [
        "line1\r\nline2",
        "see __SHA256_PLACEHOLDER__ here",
        "## Export verification",
        "- SHA256 of exported body: `0000000000000000`",
        "Settled.\n\n1. <https://example.org>\n2. `<b>`",
    ] {
        for format in [MD, QMD] {
            let sample = sample("s", session("s", vec![]), vec![message("user", content, vec![])]);
            assert!(write(&format, &[&sample]).contains(content), "{content:?}");
        }
    }
}

#[test]
fn a_long_quarto_document_comes_out_whole() {
    let long = "a line of text\n".repeat(100_000);
    let messages = vec![message("user", &long, vec![]), message("tool", &long, vec![])];
    let document = write(&QMD, &[&sample("s", session("s", vec![]), messages)]);
    assert_eq!(document.matches(&*long).count(), 2);
}

#[test]
fn times_and_values_that_are_none_do_no_harm() {
    let mut odd = session("s", vec![(SessionColumn::EndedAt, text("soon"))]);
    odd.set(SessionColumn::StartedAt, Value::Real(1e300));
    let document = write(&MD, &[&sample("s", odd, vec![])]);
    assert!(document.contains("\nended_at: \"soon\"\n"));
    assert!(document.contains("\ncreated_at: \"1000"));
}

#[test]
fn equal_sessions_give_equal_bytes() {
    for format in [MD, QMD] {
        for sample in samples() {
            assert_eq!(write(&format, &[&sample]), write(&format, &[&sample]));
        }
    }
}
