//! A tool call with its result: one card, which says in a line what was done and how it ended.
//!
//! Each of Hermes' tools has its own view of the fields it knows; what is left of a call or a
//! result is shown as JSON, so that nothing a tool said is lost.

use maud::{Markup, PreEscaped, html};
use serde_json::{Map, Value as Json};

use super::link::Target;
use super::text::{brief, shown, visible};
use super::{clock, code, diff, picture, prose};
use crate::content::{Part, ToolCall, parts};
use crate::model::{Message, MessageColumn, Standing};

/// A call, with what came of it.
pub(super) struct Card<'c> {
    pub(super) call: Option<&'c ToolCall>,
    /// The row of an earlier turn that made the call.
    pub(super) made_in: Option<i64>,
    /// When the call began: seconds since the epoch.
    pub(super) asked: Option<f64>,
    pub(super) result: Option<&'c Message<'c>>,
}

/// What a card says of how a call ended.
struct Ending {
    text: String,
    is_failure: bool,
}

impl Card<'_> {
    /// The card: open where the call failed, unless it is to be shut.
    pub(super) fn markup(&self, is_shut: bool) -> Markup {
        let name = self.name();
        let mut asked = self.call.map(|call| Fields::of(&call.arguments)).unwrap_or_default();
        let headline = asked.headline();
        let results: Vec<Part> = self.result.map(parts).unwrap_or_default();
        let mut returned: Vec<Returned> = results.into_iter().map(Returned::of).collect();
        let ending = self.ending(&returned);
        let id = self.result.and_then(|result| result.integer(MessageColumn::Id));
        let class = match ending.is_failure {
            true if is_shut => "\"tool bad\"",
            true => "\"tool bad\" open",
            false => "tool",
        };
        let id = id.map(|id| format!(" id=m{id}")).unwrap_or_default();
        let away = self.result.is_some_and(|result| result.standing() != Standing::Active);
        let away = if away { " data-away" } else { "" };
        html! {
            (PreEscaped(format!("<details class={class}{id}{away}>")))
            summary {
                b { (shown(name)) }
                @if let Some(headline) = &headline { " " code { (shown(&brief(headline, 70))) } }
                @if !ending.text.is_empty() { " " i { (shown(&ending.text)) } }
            }
            @if let Some(row) = self.made_in {
                p.note { "Answers a call of " a href=(format!("#m{row}")) { "an earlier turn" } "." }
            }
            (asked_for(name, &mut asked, headline.as_deref(), &mut returned))
            @for part in &mut returned { (part.view(name)) }
            (PreEscaped("</details>"))
        }
    }

    fn name(&self) -> &str {
        let name = self.result.and_then(|result| result.text(MessageColumn::ToolName));
        name.or(self.call.map(|call| &*call.name)).unwrap_or("tool")
    }

    fn ending(&self, returned: &[Returned]) -> Ending {
        let Some(result) = self.result else {
            return Ending { text: "no result".to_owned(), is_failure: false };
        };
        let told = returned.iter().find_map(Returned::told);
        let is_failure = told.as_ref().is_some_and(|told| told.is_failure);
        let lines: usize = returned.iter().map(Returned::lines).sum();
        let mut words: Vec<String> = told.map(|told| told.text).into_iter().collect();
        if lines > 1 {
            words.push(format!("{lines} lines"));
        }
        let sent = result.number(MessageColumn::Timestamp);
        words.extend(self.asked.zip(sent).and_then(|(from, to)| clock::taken(to - from)));
        Ending { text: words.join(" · "), is_failure }
    }
}

/// The arguments of a call or the fields of a result, from which views take what they show.
#[derive(Default)]
struct Fields {
    map: Map<String, Json>,
    /// What is no JSON object.
    text: Option<String>,
}

impl Fields {
    fn of(text: &str) -> Self {
        match serde_json::from_str(text) {
            Ok(Json::Object(map)) => Self { map, text: None },
            Ok(_) | Err(_) if text.is_empty() => Self::default(),
            Ok(_) | Err(_) => Self { map: Map::new(), text: Some(text.to_owned()) },
        }
    }

    /// The field that says best what a call is about.
    fn headline(&self) -> Option<String> {
        const TELLING: [&str; 13] = [
            "command", "pattern", "query", "path", "url", "urls", "goal", "task", "question",
            "action", "name", "code", "prompt",
        ];
        let text = |name: &&str| match self.map.get(*name)? {
            Json::String(text) if !text.trim().is_empty() => Some(text.clone()),
            Json::Array(items) => Some(items.first()?.as_str()?.to_owned()),
            _ => None,
        };
        TELLING.iter().find_map(text)
    }

    fn take_text(&mut self, name: &str) -> Option<String> {
        self.map.get(name)?.as_str()?;
        match self.map.shift_remove(name) {
            Some(Json::String(text)) => Some(text),
            _ => None,
        }
    }

    fn take_list(&mut self, name: &str) -> Option<Vec<Json>> {
        self.map.get(name)?.as_array()?;
        match self.map.shift_remove(name) {
            Some(Json::Array(items)) => Some(items),
            _ => None,
        }
    }

    /// What no view has taken and that says something: texts as they are, each below its name, and
    /// the rest as JSON.
    fn rest(&mut self) -> Markup {
        let tells = |value: &Json| match value {
            Json::Null => false,
            Json::String(text) => !text.is_empty(),
            Json::Array(items) => !items.is_empty(),
            Json::Object(map) => !map.is_empty(),
            Json::Bool(_) | Json::Number(_) => true,
        };
        let (mut texts, mut map) = (Vec::new(), Map::new());
        for (name, value) in std::mem::take(&mut self.map) {
            match value {
                // A name that is long says something itself, and is not for a label.
                Json::String(text) if is_long(&text) && !is_long(&name) => texts.push((name, text)),
                value if tells(&value) => drop(map.insert(name, value)),
                _ => {}
            }
        }
        html! {
            @if let Some(text) = self.text.take() { (code::block("", &text)) }
            @for (name, text) in texts { (code::named(&name, &text)) }
            @if let Some(line) = on_a_line(&map) { p.note { (shown(&line)) } }
            @else if !map.is_empty() { (code::block("json", &format!("{:#}", Json::Object(map)))) }
        }
    }
}

/// A text that does not fit on a line with others.
fn is_long(text: &str) -> bool {
    text.len() > LINE || text.contains('\n')
}

/// What is short enough to be one line.
const LINE: usize = 70; // bytes

/// A few short values, as one line.
fn on_a_line(map: &Map<String, Json>) -> Option<String> {
    const MOST: usize = 4;
    let value = |value: &Json| match value {
        Json::String(text) => Some(text.clone()).filter(|text| !text.contains('\n')),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(is_so) => Some(is_so.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    };
    let pair = |(name, json): (&String, &Json)| Some(format!("{name}: {}", value(json)?));
    let pairs: Option<Vec<String>> = map.iter().map(pair).collect();
    let line = pairs.filter(|pairs| (1..=MOST).contains(&pairs.len()))?.join(" · ");
    (line.len() <= LINE).then_some(line)
}

/// A part of a result.
enum Returned {
    Fields(Fields),
    Other(Part),
}

impl Returned {
    fn of(part: Part) -> Self {
        match part {
            Part::Text(text) => match serde_json::from_str(&text) {
                Ok(Json::Object(map)) => Self::Fields(Fields { map, text: None }),
                Ok(json @ Json::Array(_)) => Self::Other(Part::Other(json)),
                Ok(_) | Err(_) => Self::Other(Part::Text(text)),
            },
            Part::Other(Json::Object(map)) => Self::Fields(Fields { map, text: None }),
            other => Self::Other(other),
        }
    }

    /// How a tool says that it ended.
    fn told(&self) -> Option<Ending> {
        let map = match self {
            Self::Fields(fields) => &fields.map,
            Self::Other(Part::Text(text)) => {
                let is_failure = text.starts_with("Error") || text.starts_with("Traceback");
                return is_failure.then(|| Ending { text: "failed".to_owned(), is_failure });
            }
            Self::Other(_) => return None,
        };
        if let Some(status) = map.get("exit_code").and_then(Json::as_i64) {
            return Some(Ending { text: format!("exit {status}"), is_failure: status != 0 });
        }
        let says = |name: &str, value: &str| map.get(name).and_then(Json::as_str) == Some(value);
        let error = map.get("error").is_some_and(|error| match error {
            Json::Null | Json::Bool(false) => false,
            Json::String(text) => !text.is_empty(),
            _ => true,
        });
        let failed =
            error || map.get("success") == Some(&Json::Bool(false)) || says("status", "error");
        failed.then(|| Ending { text: "failed".to_owned(), is_failure: true })
    }

    fn lines(&self) -> usize {
        const OUTPUT: [&str; 5] = ["output", "content", "stdout", "result", "matches_text"];
        match self {
            Self::Fields(fields) => {
                let output = OUTPUT.iter().find_map(|name| fields.map.get(*name)?.as_str());
                output.map_or(0, |text| text.lines().count())
            }
            Self::Other(Part::Text(text)) => text.lines().count(),
            Self::Other(_) => 0,
        }
    }

    fn view(&mut self, tool: &str) -> Markup {
        match self {
            Self::Fields(fields) => html! { (known_fields(tool, fields)) (fields.rest()) },
            Self::Other(Part::Text(text)) if text.trim().is_empty() => Markup::default(),
            Self::Other(Part::Text(text)) => code::terminal(text),
            Self::Other(Part::Other(Json::Array(none))) if none.is_empty() => Markup::default(),
            Self::Other(Part::Attachment(attachment)) => picture::attachment(attachment),
            Self::Other(Part::Other(json)) => code::block("json", &format!("{json:#}")),
        }
    }
}

/// What was asked for; a change to a file is shown as the tool tells it, if it does.
fn asked_for(
    tool: &str,
    asked: &mut Fields,
    headline: Option<&str>,
    returned: &mut [Returned],
) -> Markup {
    let view = match tool {
        "terminal" | "execute_code" | "process" => command(tool, asked),
        "write_file" => {
            let path = asked.map.get("path").and_then(Json::as_str).unwrap_or_default().to_owned();
            asked.take_text("content").map(|content| code::file(&path, &content))
        }
        "patch" => change(asked, returned),
        "todo" => asked.take_list("todos").map(|todos| list_of_tasks(&todos)),
        "delegate_task" => delegated(asked),
        "memory" | "clarify" | "send_message" => {
            let text = asked.take_text("content").or_else(|| asked.take_text("message"));
            text.map(|text| prose::verbatim(&text))
        }
        _ => None,
    };
    // A short headline says it all, and need not be said twice.
    let is_said = |value: &Json| {
        value.as_str() == headline && headline.is_some_and(|headline| !is_long(headline))
    };
    asked.map.retain(|_, value| !is_said(value));
    html! { (view.unwrap_or_default()) (asked.rest()) }
}

fn command(tool: &str, asked: &mut Fields) -> Option<Markup> {
    let language = if tool == "execute_code" { "python" } else { "bash" };
    let text = asked.take_text("command").or_else(|| asked.take_text("code"))?;
    Some(code::block(language, &text))
}

fn change(asked: &mut Fields, returned: &mut [Returned]) -> Option<Markup> {
    let told = returned.iter_mut().find_map(|part| match part {
        Returned::Fields(fields) => fields.take_text("diff"),
        Returned::Other(_) => None,
    });
    let patch = asked.take_text("patch");
    let old = asked.take_text("old_string");
    let new = asked.take_text("new_string");
    if let Some(told) = told.or(patch) {
        return Some(diff::unified(told.trim_end_matches('\n')));
    }
    (old.is_some() || new.is_some())
        .then(|| diff::between(&old.unwrap_or_default(), &new.unwrap_or_default()))
}

fn delegated(asked: &mut Fields) -> Option<Markup> {
    let goal = asked.take_text("goal");
    let context = asked.take_text("context");
    let tasks = asked.take_list("tasks").unwrap_or_default();
    let goals: Vec<&str> =
        tasks.iter().filter_map(|task| task.get("goal").and_then(Json::as_str)).collect();
    if goals.len() < tasks.len() {
        asked.map.insert("tasks".to_owned(), Json::Array(tasks));
        return None;
    }
    Some(html! {
        @if let Some(goal) = goal { (prose::verbatim(&goal)) }
        @if !goals.is_empty() { ol { @for goal in goals { li { (shown(goal)) } } } }
        @if let Some(context) = context { (prose::verbatim(&context)) }
    })
}

/// The fields of a result that its tool is known for.
fn known_fields(tool: &str, fields: &mut Fields) -> Markup {
    // The card's own line says so already, or says that it failed.
    if fields.map.get("exit_code").is_some_and(Json::is_i64) {
        fields.map.shift_remove("exit_code");
    }
    fields.map.retain(|name, value| !(name == "success" && *value == Json::Bool(true)));
    let view = match tool {
        "search_files" => matches(fields),
        "web_search" | "web_extract" => pages(fields),
        "todo" => fields.take_list("todos").map(|todos| list_of_tasks(&todos)),
        "delegate_task" => reports(fields),
        _ => None,
    };
    let error = fields.take_text("error").filter(|error| !error.is_empty());
    let output: Vec<String> = ["output", "stdout", "stderr", "content", "result", "matches_text"]
        .into_iter()
        .filter_map(|name| fields.take_text(name))
        .filter(|text| !text.trim().is_empty())
        .collect();
    html! {
        (view.unwrap_or_default())
        @for text in output { (code::terminal(&text)) }
        @if let Some(error) = error { p.err { (shown(&error)) } }
    }
}

fn matches(fields: &mut Fields) -> Option<Markup> {
    let found = fields.take_list("matches").or_else(|| fields.take_list("files"))?;
    let line = |found: &Json| match found {
        Json::String(path) => Some(path.clone()),
        found => {
            let path = found.get("path")?.as_str()?;
            let number = found.get("line")?;
            let content = found.get("content")?.as_str()?;
            Some(format!("{path}:{number}: {content}"))
        }
    };
    let lines: Vec<String> =
        found.iter().map(|item| line(item).unwrap_or_else(|| item.to_string())).collect();
    Some(code::block("", &lines.join("\n")))
}

/// Pages of the web, from either of the shapes in which the tools return them.
fn pages(fields: &mut Fields) -> Option<Markup> {
    let pages = fields.take_list("results").or_else(|| {
        let web = fields.map.get_mut("data")?.as_object_mut()?;
        web.get("web")?.as_array()?;
        match web.shift_remove("web") {
            Some(Json::Array(pages)) => Some(pages),
            _ => None,
        }
    })?;
    let text = |page: &Json, name: &str| page.get(name).and_then(Json::as_str).map(str::to_owned);
    Some(html! {
        ol.web {
            @for page in &pages {
                @let url = text(page, "url").unwrap_or_default();
                @let title = text(page, "title").filter(|title| !title.is_empty());
                li {
                    @match Target::of(&url) {
                        Some(target) => (target.link(title.as_deref().unwrap_or(&url))),
                        None => { (shown(title.as_deref().unwrap_or_default())) " " (shown(&url)) }
                    }
                    @if let Some(about) = text(page, "description") { " " (shown(&about)) }
                    @if let Some(error) = text(page, "error") { p.err { (shown(&error)) } }
                    @if let Some(content) = text(page, "content") { (code::block("", &content)) }
                }
            }
        }
    })
}

fn list_of_tasks(tasks: &[Json]) -> Markup {
    let field = |task: &Json, name: &str| {
        task.get(name).and_then(Json::as_str).map(str::to_owned).unwrap_or_default()
    };
    html! {
        ul.todo {
            @for task in tasks {
                @let status = field(task, "status");
                @let mark = match &*status {
                    "completed" => "☑",
                    "in_progress" => "▶",
                    "cancelled" => "☒",
                    _ => "☐",
                };
                li title=(visible(&status)) { (mark) " " (shown(&field(task, "content"))) }
            }
        }
    }
}

fn reports(fields: &mut Fields) -> Option<Markup> {
    let results = fields.take_list("results")?;
    let read = |result: Json| match result {
        Json::Object(map) => Fields { map, text: None },
        other => Fields { map: Map::new(), text: Some(other.to_string()) },
    };
    Some(html! {
        @for mut report in results.into_iter().map(read) {
            @if let Some(summary) = report.take_text("summary") {
                div.t { (prose::prose(&summary, 2)) }
            }
            (report.rest())
        }
    })
}
