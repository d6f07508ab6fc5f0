//! `search`: what was said, in the shapes of Hermes' `session_search`.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};

use super::environment::Environment;
use super::exit::UsageError;
use super::from::FromArgs;
use super::redaction::RedactArgs;
use super::select::{SelectArgs, given};
use super::table::{ago, cut, local, shown};
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, losses};
use crate::filter::Archived;
use crate::filter::query::{Query, is_cut};
use crate::store::{Kind, Listing, Search, Searched, Sort, Words};
use crate::view::{self, Discovery, Excerpt, Found, Listed, Losses, Match, Said};

/// Search what was said, scroll around a message, or see what was last active
///
/// With QUERY: the best sessions, one for each conversation with its branches, with the message that
/// was found, five around it, and how the session began and ended. cron's sessions come last;
/// subagents' and tools' are left out unless `--source` names them. With --session-id and
/// --around-message-id: the messages around one. With --session-id alone: that session. Without
/// anything: what was last active.
///
/// QUERY is FTS5's: words side by side must all be there, "exact words", OR, NOT, begin*. Scripts
/// without blanks between words are found by any part of a sentence.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions search auth refactor
  hermes-sessions search '\"connection refused\" OR timeout' --newer-than 30d --limit 10
  hermes-sessions search 'deploy*' --sort newest --role user,assistant,tool
  hermes-sessions search --session-id 20260510_174648_805cc2 --around-message-id 590803 --window 10
  hermes-sessions search 数据库 --json | jq -r '.results[].session_id'")]
pub(super) struct SearchArgs {
    /// What to search for
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// At most so many sessions
    #[arg(long, value_name = "N", default_value_t = 3)]
    limit: usize,
    /// By time rather than by relevance
    #[arg(long, value_enum, value_name = "ORDER")]
    sort: Option<Order>,
    /// Who said it, separated by commas: user, assistant, tool [default: user,assistant]
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    role: Vec<String>,
    /// Show the messages around this one; needs --session-id
    #[arg(long, value_name = "N")]
    around_message_id: Option<i64>,
    /// How many before and after it
    #[arg(long, value_name = "N", default_value_t = 5, requires = "around_message_id")]
    window: usize,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    redact: RedactArgs,
}

/// By which time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// The newest message first
    Newest,
    /// The oldest message first
    Oldest,
}

/// Who can have said something.
const ROLES: [&str; 5] = ["user", "assistant", "tool", "system", "session_meta"];

/// Sources that are no conversations of a person.
const HIDDEN: &[&str] = &["subagent", "tool"];

pub(super) fn run(
    args: &SearchArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = args.from.store(Words::Indexed, global, environment, terminal)?;
    let redactor = args.redact.redactor(&[], environment)?;
    let page = Page { environment, terminal, json: global.json };
    let status = match (args.query.is_empty(), args.around_message_id) {
        (true, Some(message)) => {
            let session = one_session(args)?;
            let window = args.window.max(1);
            let excerpt = view::scroll(&store, session, message, window, &redactor)?;
            page.scroll(&excerpt, session, message, window)?;
            losses::tell(&excerpt.losses, terminal)
        }
        (false, Some(_)) => {
            return Err(UsageError::new("--around-message-id takes no QUERY").into());
        }
        (true, None) if !args.select.ids().is_empty() => {
            let excerpt = view::whole(&store, one_session(args)?, &redactor)?;
            page.whole(&excerpt)?;
            losses::tell(&excerpt.losses, terminal)
        }
        (true, None) => {
            let listing = browsing(args, environment, terminal)?;
            let (sessions, lost) = view::browse(&store, &listing, &redactor)?;
            page.browse(&sessions, &lost)?;
            losses::tell(&lost, terminal)
        }
        (false, None) => {
            let discovery = discovery(args, environment, terminal)?;
            let found = view::discover(&store, &discovery, &redactor)?;
            page.found(&discovery.typed, &found)?;
            tell(&found, terminal)
        }
    };
    Ok(store.ends(status))
}

fn tell(found: &Found, terminal: &Terminal) -> ExitStatus {
    if found.results.is_empty() {
        terminal.note("no session matches");
    }
    let searched = losses::tell_search(found.all_searched(), terminal);
    searched.and(losses::tell(&found.losses, terminal))
}

fn one_session(args: &SearchArgs) -> Result<&str, UsageError> {
    match args.select.ids() {
        [id] => given("--session-id", id),
        [] => Err(UsageError::new("--around-message-id needs --session-id")),
        _ => Err(UsageError::new("one --session-id at a time, without QUERY")),
    }
}

fn hidden(args: &SearchArgs) -> &'static [&'static str] {
    let named = args.select.names_source() || !args.select.ids().is_empty();
    if named { &[] } else { HIDDEN }
}

fn browsing(
    args: &SearchArgs,
    environment: &Environment,
    terminal: &Terminal,
) -> Result<Listing, UsageError> {
    if args.sort.is_some() || !args.role.is_empty() {
        return Err(UsageError::new("--sort and --role need QUERY"));
    }
    Ok(Listing {
        selection: args.select.shown(Vec::new(), environment, terminal)?,
        kind: Kind::Conversation,
        archived: Archived::Not,
        hidden: hidden(args),
        limit: args.limit,
    })
}

fn discovery(
    args: &SearchArgs,
    environment: &Environment,
    terminal: &Terminal,
) -> Result<Discovery, UsageError> {
    let typed = args.query.join(" ");
    if typed.trim().is_empty() {
        return Err(UsageError::new("QUERY is empty")
            .hint("without QUERY, search shows what was last active"));
    }
    let sort = match args.sort {
        None => Sort::Relevance,
        Some(Order::Newest) => Sort::Newest,
        Some(Order::Oldest) => Sort::Oldest,
    };
    let roles: Vec<String> = args.role.iter().map(|role| role.trim().to_owned()).collect();
    if roles.iter().any(String::is_empty) {
        return Err(UsageError::new("--role is empty, which would find nothing"));
    }
    if let Some(role) = roles.iter().find(|role| !ROLES.contains(&role.as_str())) {
        let message = format!("--role: there is no `{role}`; there are {}", ROLES.join(", "));
        return Err(UsageError::new(message));
    }
    if is_cut(&typed) {
        terminal.note("QUERY is long; its first 2048 characters were looked for");
    }
    let search = Query::parse(&typed).map(|query| {
        let usual = Search::new(query);
        let roles = if roles.is_empty() { usual.roles.clone() } else { roles };
        Search { roles, sort, ..usual }
    });
    let selection = args.select.shown(Vec::new(), environment, terminal)?;
    Ok(Discovery { typed, search, selection, hidden: hidden(args), limit: args.limit })
}

/// Where results go, and how.
struct Page<'p> {
    environment: &'p Environment,
    terminal: &'p Terminal,
    json: bool,
}

impl Page<'_> {
    fn print(&self, json: &Json, text: &str) -> anyhow::Result<()> {
        if self.json {
            terminal::print(&format!("{json}\n"))?;
        } else {
            terminal::print(text)?;
        }
        Ok(())
    }

    fn when(&self, time: Option<f64>) -> String {
        let local = |time| local(time, &self.environment.clock, "%B %d, %Y at %I:%M %p");
        time.map_or_else(|| "unknown".to_owned(), local)
    }

    fn found(&self, typed: &str, found: &Found) -> anyhow::Result<()> {
        let results: Vec<Json> = found.results.iter().map(|result| self.as_json(result)).collect();
        let count = results.len();
        let mut json = json!({
            "success": true, "mode": "discover", "query": typed, "results": results, "count": count,
        });
        if count == 0 {
            json["message"] = "No matching sessions found.".into();
        } else {
            json["sessions_searched"] = count.into();
        }
        let searched = found.all_searched();
        if let Some(note) = searched.unindexed.and_then(crate::store::Unindexed::note) {
            json["warning"] = note.into();
        }
        losses::report(&found.losses, searched, &mut json);
        let text: String = found.results.iter().map(|result| self.as_text(result)).collect();
        self.print(&json, &text)
    }

    fn as_json(&self, result: &Match) -> Json {
        let mut out = serde_json::Map::new();
        if let Ok(Json::Object(fields)) = serde_json::to_value(result) {
            for (name, value) in fields {
                let is_id = name == "session_id";
                out.insert(name, value);
                if is_id {
                    out.insert("when".to_owned(), self.when(result.started_at).into());
                }
            }
        }
        Json::Object(out)
    }

    fn as_text(&self, result: &Match) -> String {
        let mut text = String::new();
        let title = result.title.as_deref().map_or_else(|| "—".to_owned(), shown);
        let when = ago(result.started_at, &self.environment.clock);
        let id = shown(&result.session_id);
        let _ = writeln!(text, "{}", self.terminal.bold(&title));
        let _ = writeln!(
            text,
            "  {}",
            self.terminal.dim(&format!("{} · {when} · {id}", shown(&result.source)))
        );
        let _ = writeln!(text, "  {}", self.snippet(result));
        self.lines(&mut text, "begins", &result.bookend_start);
        let message = result.match_message_id.map_or_else(String::new, |id| format!(" {id}"));
        self.lines(&mut text, &format!("around{message}"), &result.messages);
        self.lines(&mut text, "ends", &result.bookend_end);
        text.push('\n');
        text
    }

    fn snippet(&self, result: &Match) -> String {
        let piece = |piece: &crate::store::Piece| {
            // The blanks beside a find are text.
            let text = terminal::one_line(&piece.text.replace(char::is_whitespace, " "));
            if piece.found { self.terminal.mark(&text) } else { text }
        };
        result.pieces.iter().map(piece).collect()
    }

    fn lines(&self, text: &mut String, what: &str, said: &[Said]) {
        if said.is_empty() {
            return;
        }
        let _ = writeln!(text, "  {}", self.terminal.dim(what));
        for said in said {
            let _ = writeln!(text, "{}", self.line(said));
        }
    }

    fn line(&self, said: &Said) -> String {
        let width = terminal::width().unwrap_or(super::table::WIDTH).saturating_sub(8);
        let calls: Vec<&str> = said.calls.iter().map(|call| call.name.as_str()).collect();
        let mut words = shown(&said.text);
        if !calls.is_empty() {
            let _ = write!(words, " [{}]", shown(&calls.join(", ")));
        }
        let line = format!("{} {}", sign(&said.role), cut(words.trim_start(), width));
        if said.anchor {
            format!("  ▸ {}", self.terminal.bold(&line))
        } else {
            format!("    {line}")
        }
    }

    fn meta(&self, excerpt: &Excerpt) -> Json {
        json!({
            "when": self.when(excerpt.started_at), "source": excerpt.source,
            "model": excerpt.model, "title": excerpt.title,
        })
    }

    fn scroll(
        &self,
        excerpt: &Excerpt,
        asked: &str,
        message: i64,
        window: usize,
    ) -> anyhow::Result<()> {
        let id = &excerpt.session_id;
        let mut json = json!({
            "success": true, "mode": "scroll", "session_id": id, "around_message_id": message,
            "session_meta": self.meta(excerpt), "window": window, "messages": excerpt.messages,
            "messages_before": excerpt.before, "messages_after": excerpt.after,
        });
        if !id.starts_with(asked) {
            let warning = format!("message {message} is in session {id}, of the same family");
            self.terminal.note(&warning);
            json["warning"] = warning.into();
        }
        losses::report(&excerpt.losses, Searched::default(), &mut json);
        let mut text = self.title(excerpt);
        for said in &excerpt.messages {
            let number = said.id.map_or_else(String::new, |id| id.to_string());
            let _ = writeln!(text, "{number:>8} {}", self.line(said).trim_start());
        }
        self.print(&json, &text)
    }

    fn whole(&self, excerpt: &Excerpt) -> anyhow::Result<()> {
        let (total, shown) = (excerpt.total, excerpt.messages.len());
        let mut json = json!({
            "success": true, "mode": "read", "session_id": excerpt.session_id,
            "session_meta": self.meta(excerpt), "message_count": total, "truncated": shown < total,
            "messages": excerpt.messages,
        });
        if shown < total {
            let message = format!(
                "{shown} of {total} messages, from both ends; --around-message-id scrolls between"
            );
            self.terminal.note(&message);
            json["message"] = message.into();
        }
        losses::report(&excerpt.losses, Searched::default(), &mut json);
        let mut text = self.title(excerpt);
        for said in &excerpt.messages {
            let _ = writeln!(text, "{}", self.line(said));
        }
        self.print(&json, &text)
    }

    fn title(&self, excerpt: &Excerpt) -> String {
        let title = excerpt.title.as_deref().map_or_else(|| "—".to_owned(), shown);
        let when = ago(excerpt.started_at, &self.environment.clock);
        let about = format!("{when} · {}", shown(&excerpt.session_id));
        format!("{}\n  {}\n", self.terminal.bold(&title), self.terminal.dim(&about))
    }

    fn browse(&self, sessions: &[Listed], lost: &Losses) -> anyhow::Result<()> {
        let row = |session: &Listed| {
            json!({
                "session_id": session.id, "title": session.title, "source": session.source,
                "started_at": session.started_at, "last_active": session.last_active,
                "message_count": session.message_count, "preview": session.preview,
            })
        };
        let count = sessions.len();
        let mut json = json!({
            "success": true, "mode": "browse", "results": sessions.iter().map(row).collect::<Vec<_>>(),
            "count": count,
            "message": format!("Showing {count} most recent sessions. Give a QUERY to search, or --session-id and --around-message-id to scroll."),
        });
        losses::report(lost, Searched::default(), &mut json);
        let mut text = String::new();
        for session in sessions {
            let title = session.title.as_deref().map_or_else(|| "—".to_owned(), shown);
            let when = ago(session.last_active, &self.environment.clock);
            let source = session.source.as_deref().map_or_else(|| "—".to_owned(), shown);
            let about = format!("{source} · {when} · {}", shown(&session.id));
            let _ =
                writeln!(text, "{}\n  {}", self.terminal.bold(&title), self.terminal.dim(&about));
            let _ = writeln!(text, "  {}", shown(&session.preview));
        }
        self.print(&json, &text)
    }
}

/// A sign for who speaks.
pub(super) fn sign(role: &str) -> &'static str {
    match role {
        "user" => "●",
        "assistant" => "◆",
        "tool" => "⚙",
        _ => "·",
    }
}
