//! `show`: one session in the terminal.

use std::io::{self, Read as _, Seek as _, Write};

use clap::Args;
use formats::model::Standing;
use serde_json::json;
use tempfile::SpooledTempFile;

use super::environment::Environment;
use super::exit::UsageError;
use super::from::FromArgs;
use super::redaction::RedactArgs;
use super::search::sign;
use super::select::named;
use super::table::{local, shown};
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, losses};
use crate::filter::time::Clock;
use crate::store::{self, Searched, Shown, Words};
use crate::view::{self, Event, Head, Losses, Recap, Said, Turn};

/// Show one session in the terminal
///
/// On a terminal it goes through $PAGER (less). Output of tools is cut to some lines and what the
/// model thought is left out; `--full` shows both.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions show 20250305_0915
  hermes-sessions show 'refactoring auth' --recap
  hermes-sessions show 20250305_0915 --full --messages all | less -R
  hermes-sessions show 20250305_0915 --redact --json | jq '.messages[].role'")]
pub(super) struct ShowArgs {
    /// An id, a unique prefix of at least 4 characters, or a title
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    id: String,
    /// The last 10 exchanges alone, each cut to some lines, with calls of tools as counts
    #[arg(long, conflicts_with_all = ["full", "messages"])]
    recap: bool,
    /// All output of tools, and what the model thought
    #[arg(long)]
    full: bool,
    /// Which messages: active, also compacted ones, or all, also those that were taken back
    #[arg(long, value_name = "WHICH", default_value = "active", value_parser = ["active", "compacted", "all"])]
    messages: String,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    redact: RedactArgs,
}

/// Lines of a tool's output without `--full`.
const TOOL_LINES: usize = 12;
/// Output that is kept in memory until it goes to the pager.
const IN_MEMORY: usize = 1 << 20;

pub(super) fn run(
    args: &ShowArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = args.from.store(Words::Left, global, environment, terminal)?;
    let id = named("ID", &args.id)?;
    let redactor = args.redact.redactor(&[], environment)?;
    let mut page =
        Page { out: SpooledTempFile::new(IN_MEMORY), terminal, clock: &environment.clock };
    if args.recap {
        let recap = view::recap(&store, id, &redactor)?;
        if global.json {
            let mut report = json!({ "recap": recap });
            losses::report(&recap.losses, Searched::default(), &mut report);
            page.json(&report)?;
        } else {
            page.recap(&recap)?;
        }
        page.send(environment, global.json)?;
        return Ok(store.ends(losses::tell(&recap.losses, terminal)));
    }
    let shown = Shown::named(&args.messages)
        .ok_or_else(|| UsageError::new(format!("--messages: there are no `{}`", args.messages)))?;
    let mut first = true;
    let lost = view::transcript(&store, id, shown, &redactor, |event| {
        match (event, global.json) {
            (Event::Session(head), true) => {
                page.begin_json(head)?;
                first = true;
            }
            (Event::Message(said), true) => {
                page.message_json(said, first)?;
                first = false;
            }
            (Event::Session(head), false) => page.begin(head)?,
            (Event::Message(said), false) => page.message(said, args.full)?,
        }
        Ok::<_, Failure>(())
    })
    .map_err(Failure::into_error)?;
    if global.json {
        page.end_json(&lost)?;
    }
    page.send(environment, global.json)?;
    Ok(store.ends(losses::tell(&lost, terminal)))
}

/// Why a session is not shown.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("cannot keep the text until it is shown")]
    Io(#[from] io::Error),
}

impl Failure {
    /// The store's own error, by which the exit status is told.
    fn into_error(self) -> anyhow::Error {
        match self {
            Failure::Store(error) => error.into(),
            other @ Failure::Io(_) => other.into(),
        }
    }
}

/// What is shown, before it is.
struct Page<'p> {
    out: SpooledTempFile,
    terminal: &'p Terminal,
    clock: &'p Clock,
}

impl Page<'_> {
    fn restart(&mut self) -> io::Result<()> {
        self.out.set_len(0)?;
        self.out.rewind()
    }

    fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        writeln!(self.out, "{value}")
    }

    fn begin_json(&mut self, head: &Head) -> io::Result<()> {
        self.restart()?;
        write!(self.out, "{{\"session\":{},\"messages\":[", json!(head))
    }

    fn message_json(&mut self, said: &Said, first: bool) -> io::Result<()> {
        let comma = if first { "" } else { "," };
        write!(self.out, "{comma}{}", json!(said))
    }

    fn end_json(&mut self, lost: &Losses) -> io::Result<()> {
        let lines: Vec<&str> = lost.lines().collect();
        if lines.is_empty() {
            return self.out.write_all(b"]}\n");
        }
        writeln!(self.out, "],\"warnings\":{}}}", json!(lines))
    }

    fn begin(&mut self, head: &Head) -> io::Result<()> {
        self.restart()?;
        let title = head.title.as_deref().map_or_else(|| "—".to_owned(), shown);
        writeln!(self.out, "{}", self.terminal.bold(&title))?;
        let at = |time: Option<f64>| time.map(|time| local(time, self.clock, "%Y-%m-%d %H:%M"));
        let started = at(head.started_at).unwrap_or_else(|| "?".to_owned());
        let ended = at(head.ended_at).unwrap_or_else(|| "running".to_owned());
        let mut about = vec![shown(&head.id)];
        about.extend([&head.source, &head.model].into_iter().flatten().map(|text| shown(text)));
        about.push(format!("{started} – {ended}"));
        about.push(format!("{} messages", head.messages));
        let branch = head.git_branch.as_deref().map(|branch| format!(" ({})", shown(branch)));
        about.extend(head.cwd.as_deref().map(|cwd| shown(cwd) + &branch.unwrap_or_default()));
        self.faint(&about.join(" · "))?;
        if let Some(parent) = &head.parent_session_id {
            self.faint(&format!("from {}", shown(parent)))?;
        }
        if let Some(next) = &head.continued_in {
            self.faint(&format!("continued in {}", shown(next)))?;
        }
        Ok(())
    }

    fn faint(&mut self, text: &str) -> io::Result<()> {
        let text = self.terminal.dim(text);
        writeln!(self.out, "{text}")
    }

    fn message(&mut self, said: &Said, full: bool) -> io::Result<()> {
        let time = said.timestamp.map(|time| local(time, self.clock, "%Y-%m-%d %H:%M:%S"));
        let standing = match said.standing {
            Standing::Active => "",
            Standing::Compacted => " · compacted",
            Standing::Rewound => " · taken back",
        };
        let who = self.terminal.bold(&format!("{} {}", sign(&said.role), who(said)));
        let when = self.terminal.dim(&format!("{}{standing}", time.unwrap_or_default()));
        writeln!(self.out, "\n{who}  {when}")?;
        if let Some(reasoning) = said.reasoning.as_deref().filter(|_| full) {
            for line in reasoning.lines() {
                let line = self.terminal.dim(&format!("  │ {}", terminal::one_line(line)));
                writeln!(self.out, "{line}")?;
            }
        }
        let is_long = !full && said.role == "tool";
        self.text(&said.text, if is_long { TOOL_LINES } else { usize::MAX })?;
        for call in &said.calls {
            let (name, arguments) = (shown(&call.name), &call.arguments);
            writeln!(self.out, "  → {}", self.terminal.bold(&name))?;
            self.text(arguments, if full { usize::MAX } else { TOOL_LINES })?;
        }
        Ok(())
    }

    fn text(&mut self, text: &str, most: usize) -> io::Result<()> {
        let mut lines = text.lines();
        for line in lines.by_ref().take(most) {
            writeln!(self.out, "  {}", terminal::one_line(line))?;
        }
        let more = lines.count();
        if more > 0 {
            self.faint(&format!("  … {more} more lines; --full shows them"))?;
        }
        Ok(())
    }

    fn recap(&mut self, recap: &Recap) -> io::Result<()> {
        self.begin(&recap.session)?;
        writeln!(self.out)?;
        match recap.earlier {
            0 => {}
            1 => self.faint("… 1 earlier message …\n")?,
            n => self.faint(&format!("… {n} earlier messages …\n"))?,
        }
        recap.turns.iter().try_for_each(|turn| self.turn(turn))
    }

    fn turn(&mut self, turn: &Turn) -> io::Result<()> {
        let name = if turn.role == "user" { "● You:" } else { "◆ Hermes:" };
        let calls = turn.tool_calls.as_deref();
        let mut lines: Vec<&str> = turn.text.lines().collect();
        lines.extend(calls);
        let indent = " ".repeat(name.chars().count() + 1);
        for (n, line) in lines.into_iter().enumerate() {
            let line = terminal::one_line(line);
            let head = if n == 0 { self.terminal.bold(name) + " " } else { indent.clone() };
            writeln!(self.out, "{head}{line}")?;
        }
        Ok(())
    }

    fn send(mut self, environment: &Environment, json: bool) -> io::Result<()> {
        self.out.rewind()?;
        let mut bytes = [0; 1 << 13];
        let mut copy = |to: &mut dyn Write| loop {
            match self.out.read(&mut bytes)? {
                0 => return to.flush(),
                n => to.write_all(&bytes[..n])?,
            }
        };
        if json {
            copy(&mut terminal::stdout())
        } else {
            terminal::paged(environment.pager.as_deref(), copy)
        }
    }
}

fn who(said: &Said) -> String {
    match (said.role.as_str(), &said.tool_name) {
        ("user", _) => "You".to_owned(),
        ("assistant", _) => "Hermes".to_owned(),
        ("tool", Some(name)) => shown(name),
        (role, _) => shown(role),
    }
}
