//! The flags that select sessions, shared by every command that works on some.

use std::ffi::OsStr;

use clap::Args;
use globset::Glob;

use super::environment::Environment;
use super::exit::UsageError;
use super::terminal::Terminal;
use crate::filter::query::Query;
use crate::filter::time::{self, Point};
use crate::filter::{Archived, Column, Condition, Exclude, Filter, Selection, State, Test};

/// Which sessions: some by id, or all that pass every filter given.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selecting sessions")]
pub(super) struct SelectArgs {
    /// A session, by id or a unique prefix of at least 4 characters; may be given more than once
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    session_id: Vec<String>,
    /// Started before: a duration ago (5h, 30m, 2d, 1w, 6mo, 1y; a bare number is days) or a time
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    older_than: Option<String>,
    /// Started at or after: a duration ago or a time
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    newer_than: Option<String>,
    /// Started before a time: 2026-07-05, "2026-07-05 14:30", ISO 8601; local unless it has a zone
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    before: Option<String>,
    /// Started at or after a time
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    after: Option<String>,
    /// The platform: cli, telegram, cron, …
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    source: Option<String>,
    /// Why the session ended: done, timeout, compression, …
    #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
    end_reason: Option<String>,
    /// The user's id on the platform
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    user: Option<String>,
    /// The chat's id on the platform
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    chat_id: Option<String>,
    /// The chat's type: dm, group, channel, …
    #[arg(long, value_name = "TYPE", allow_hyphen_values = true)]
    chat_type: Option<String>,
    /// The billing provider, in any case
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    provider: Option<String>,
    /// Part of the title, in any case
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    title: Option<String>,
    /// Part of the model's name, in any case
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    model: Option<String>,
    /// Part of the git branch's name, in any case
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    branch: Option<String>,
    /// What the user or the model said, as `search` finds it: words, "exact words", OR, NOT, begin*
    #[arg(long = "match", value_name = "QUERY", allow_hyphen_values = true)]
    said: Vec<String>,
    /// The working folder, or one above it
    #[arg(long, value_name = "FOLDER", allow_hyphen_values = true)]
    cwd: Option<String>,
    /// Leave out what matches a glob; FIELD is id, source, title, model, provider, cwd, branch or
    /// chat-type; may be given more than once
    #[arg(long, value_name = "FIELD=GLOB", allow_hyphen_values = true)]
    exclude: Vec<String>,
    /// At least so many messages
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    min_messages: Option<String>,
    /// At most so many messages
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    max_messages: Option<String>,
    /// At least so many tokens, input and output together
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    min_tokens: Option<String>,
    /// At most so many tokens, input and output together
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    max_tokens: Option<String>,
    /// At least so many US dollars: the actual cost, else the estimate
    #[arg(long, value_name = "USD", allow_hyphen_values = true)]
    min_cost: Option<String>,
    /// At most so many US dollars: the actual cost, else the estimate
    #[arg(long, value_name = "USD", allow_hyphen_values = true)]
    max_cost: Option<String>,
    /// At least so many tool calls
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    min_tool_calls: Option<String>,
    /// At most so many tool calls
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    max_tool_calls: Option<String>,
    /// Let running sessions pass the filters, too; alone, every session
    #[arg(long)]
    include_open: bool,
}

impl SelectArgs {
    /// The sessions named one by one.
    pub(super) fn ids(&self) -> &[String] {
        &self.session_id
    }

    /// Whether a platform is asked for by name.
    pub(super) fn names_source(&self) -> bool {
        self.source.is_some()
    }

    /// Whether running sessions were asked for.
    pub(super) fn includes_open(&self) -> bool {
        self.include_open
    }

    /// What the flags select; `All` where there are none.
    pub(super) fn selection(
        &self,
        environment: &Environment,
        terminal: &Terminal,
    ) -> Result<Selection, UsageError> {
        self.with(Vec::new(), environment, terminal)
    }

    /// The same for a command that only shows sessions: running ones pass as others do. The
    /// command's own tests AND with the filters.
    pub(super) fn shown(
        &self,
        own: Vec<Test>,
        environment: &Environment,
        terminal: &Terminal,
    ) -> Result<Selection, UsageError> {
        Ok(self.with(own, environment, terminal)?.in_any_state())
    }

    fn with(
        &self,
        own: Vec<Test>,
        environment: &Environment,
        terminal: &Terminal,
    ) -> Result<Selection, UsageError> {
        let (texts, times) = (self.texts(environment)?, self.times(environment, terminal)?);
        let filter = Filter {
            tests: [texts, self.numbers()?, times, own].concat(),
            said: self.said.iter().map(|text| said(text)).collect::<Result<_, _>>()?,
            excluded: self.exclude.iter().map(|text| exclude(text)).collect::<Result<_, _>>()?,
            state: if self.include_open { State::Any } else { State::Ended },
            archived: Archived::Any,
        };
        let filtered =
            !filter.tests.is_empty() || !filter.said.is_empty() || !filter.excluded.is_empty();
        if self.session_id.is_empty() {
            let selected = filtered || self.include_open;
            return Ok(if selected { Selection::Filtered(filter) } else { Selection::All });
        }
        if filtered || self.include_open {
            return Err(UsageError::new("--session-id cannot be combined with filters"));
        }
        for id in &self.session_id {
            given("--session-id", id)?;
        }
        Ok(Selection::Sessions(self.session_id.clone()))
    }

    fn texts(&self, environment: &Environment) -> Result<Vec<Test>, UsageError> {
        type Make = fn(String) -> Condition;
        let flags: [(&str, &Option<String>, Column, Make); 10] = [
            ("--source", &self.source, Column::Source, Condition::Is),
            ("--end-reason", &self.end_reason, Column::EndReason, Condition::Is),
            ("--user", &self.user, Column::User, Condition::Is),
            ("--chat-id", &self.chat_id, Column::ChatId, Condition::Is),
            ("--chat-type", &self.chat_type, Column::ChatType, Condition::Is),
            ("--provider", &self.provider, Column::Provider, Condition::IsFolded),
            ("--title", &self.title, Column::Title, Condition::Contains),
            ("--model", &self.model, Column::Model, Condition::Contains),
            ("--branch", &self.branch, Column::Branch, Condition::Contains),
            ("--cwd", &self.cwd, Column::Cwd, Condition::Under),
        ];
        let mut tests = Vec::new();
        for (flag, value, column, condition) in flags {
            let Some(value) = value else { continue };
            let mut value = given(flag, value)?.to_owned();
            if column == Column::Cwd {
                value = environment.expand(value.as_ref()).to_string_lossy().into_owned();
            }
            tests.push(Test { column, condition: condition(value) });
        }
        Ok(tests)
    }

    fn numbers(&self) -> Result<Vec<Test>, UsageError> {
        let flags = [
            ("messages", &self.min_messages, &self.max_messages, Column::Messages),
            ("tokens", &self.min_tokens, &self.max_tokens, Column::Tokens),
            ("cost", &self.min_cost, &self.max_cost, Column::Cost),
            ("tool-calls", &self.min_tool_calls, &self.max_tool_calls, Column::ToolCalls),
        ];
        let mut tests = Vec::new();
        for (name, min, max, column) in flags {
            let bound = |side: &str, value: &Option<String>| {
                value.as_ref().map(|v| number(&format!("--{side}-{name}"), v, column)).transpose()
            };
            let (min, max) = (bound("min", min)?, bound("max", max)?);
            if let (Some(least), Some(most)) = (min, max)
                && least > most
            {
                let message = format!("--min-{name} {least} is more than --max-{name} {most}");
                return Err(UsageError::new(message));
            }
            let bounds = [min.map(Condition::AtLeast), max.map(Condition::AtMost)];
            tests.extend(bounds.into_iter().flatten().map(|condition| Test { column, condition }));
        }
        Ok(tests)
    }

    fn times(
        &self,
        environment: &Environment,
        terminal: &Terminal,
    ) -> Result<Vec<Test>, UsageError> {
        let point = |flag: &'static str, value: &Option<String>| -> Result<_, UsageError> {
            let Some(value) = value else { return Ok(None) };
            let Point { seconds, minutes } =
                time::parse(given(flag, value)?, &environment.clock)
                    .map_err(|error| UsageError::new(format!("{flag}: {error}")))?;
            if let Some(minutes) = minutes {
                terminal.note(&format!("{flag} {value} means {minutes} minutes; months are `mo`"));
            }
            Ok(Some((seconds, flag)))
        };
        let upper = [point("--older-than", &self.older_than)?, point("--before", &self.before)?];
        let lower = [point("--newer-than", &self.newer_than)?, point("--after", &self.after)?];
        let tightest = |a: &(f64, &str), b: &(f64, &str)| a.0.total_cmp(&b.0);
        let upper = upper.into_iter().flatten().min_by(tightest);
        let lower = lower.into_iter().flatten().max_by(tightest);
        if let (Some((from, after)), Some((to, before))) = (lower, upper)
            && from >= to
        {
            let message = format!("nothing lies between {after} and {before}: the window is empty");
            return Err(UsageError::new(message));
        }
        let column = Column::StartedAt;
        let lower = lower.map(|(from, _)| Test { column, condition: Condition::AtLeast(from) });
        let upper = upper.map(|(to, _)| Test { column, condition: Condition::Below(to) });
        Ok([lower, upper].into_iter().flatten().collect())
    }
}

/// A flag's value; an empty one, or another flag in its place, is a mistake of a script.
pub(super) fn given<'v>(flag: &str, value: &'v str) -> Result<&'v str, UsageError> {
    if value.is_empty() {
        return Err(UsageError::new(format!("{flag} is empty, which would select everything")));
    }
    if value.starts_with("--") && is_own_flag(value) {
        return Err(UsageError::new(format!("{flag} needs a value, but `{value}` follows")));
    }
    Ok(value)
}

/// An id or a title that stands by itself: it may look like a flag, but must not be empty.
pub(super) fn named<'v>(what: &str, value: &'v str) -> Result<&'v str, UsageError> {
    if value.is_empty() {
        return Err(UsageError::new(format!("{what} is empty, which would select everything")));
    }
    Ok(value)
}

fn is_own_flag(value: &str) -> bool {
    use clap::CommandFactory as _;
    let name = value.trim_start_matches('-').split('=').next().unwrap_or_default();
    let mut root = super::Cli::command();
    root.build();
    let flags = root.get_subcommands().flat_map(clap::Command::get_arguments);
    flags.filter_map(clap::Arg::get_long).any(|long| OsStr::new(long) == OsStr::new(name))
}

fn number(flag: &str, value: &str, column: Column) -> Result<f64, UsageError> {
    let refused = |what: &str| UsageError::new(format!("{flag}: `{value}` is no {what}"));
    let value = given(flag, value)?;
    if column == Column::Cost {
        let usd: f64 = value.parse().map_err(|_| refused("amount of US dollars"))?;
        let sensible = usd.is_finite() && usd >= 0.0;
        return if sensible { Ok(usd) } else { Err(refused("amount of US dollars")) };
    }
    let count: u64 = value.parse().map_err(|_| refused("whole number"))?;
    #[expect(clippy::cast_precision_loss, reason = "no store counts to 2^53")]
    Ok(count as f64)
}

fn said(text: &str) -> Result<Query, UsageError> {
    let nothing = || UsageError::new(format!("--match: there is no word in `{text}`"));
    Query::parse(given("--match", text)?).ok_or_else(nothing)
}

fn exclude(text: &str) -> Result<Exclude, UsageError> {
    const FIELDS: [(&str, Column); 8] = [
        ("id", Column::Id),
        ("source", Column::Source),
        ("title", Column::Title),
        ("model", Column::Model),
        ("provider", Column::Provider),
        ("cwd", Column::Cwd),
        ("branch", Column::Branch),
        ("chat-type", Column::ChatType),
    ];
    let (field, glob) = given("--exclude", text)?
        .split_once('=')
        .ok_or_else(|| UsageError::new(format!("--exclude: `{text}` is not FIELD=GLOB")))?;
    let (_, column) = FIELDS.into_iter().find(|(name, _)| *name == field).ok_or_else(|| {
        let names = FIELDS.map(|(name, _)| name).join(", ");
        UsageError::new(format!("--exclude: there is no field `{field}`; there are {names}"))
    })?;
    let empty = || UsageError::new(format!("--exclude: the glob of `{field}` is empty"));
    let glob = if glob.is_empty() { Err(empty()) } else { Ok(glob) }?;
    let glob = Glob::new(glob)
        .map_err(|error| UsageError::new(format!("--exclude {text}: {}", error.kind())))?;
    Ok(Exclude { column, glob: glob.compile_matcher() })
}
