//! `stats`: what the store holds, in sums that add up.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};

use super::consent::counted;
use super::environment::Environment;
use super::from::FromArgs;
use super::select::SelectArgs;
use super::table::{cell, shown, zoned};
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global, losses};
use crate::redact::Redactor;
use crate::store::Words;
use crate::view::{self, By, Group, Sums, Totals};

/// Tell how much there is: sessions, messages, tokens, cost, and what they weigh
///
/// Every session counts, running and archived ones included, and each once, so that the lines of
/// `--by` add up to the totals. Filters narrow all figures but the sizes of files. Costs are the
/// actual ones, else Hermes' estimates.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes-sessions stats
  hermes-sessions stats --by day --newer-than 2w
  hermes-sessions stats --by tool --source cli
  hermes-sessions stats --by model --json | jq -r '.groups[] | [.name, .cost_usd] | @tsv'")]
pub(super) struct StatsArgs {
    /// A line for each of these
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = ByName::Source)]
    by: ByName,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    select: SelectArgs,
}

/// What the lines are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ByName {
    /// The platform
    Source,
    /// The model
    Model,
    /// The day on which sessions began
    Day,
    /// The tool; counts its results
    Tool,
}

/// Columns of a full bar.
const BAR: usize = 20;

pub(super) fn run(
    args: &StatsArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let store = args.from.store(Words::Left, global, environment, terminal)?;
    let selection = args.select.shown(Vec::new(), environment, terminal)?;
    let day = |time: f64| zoned(time, &environment.clock).map(|zoned| zoned.date().to_string());
    let by = match args.by {
        ByName::Source => By::Source,
        ByName::Model => By::Model,
        ByName::Day => By::Day(&day),
        ByName::Tool => By::Tool,
    };
    let totals = view::totals(&store, &selection, &by, &Redactor::none())?;
    if global.json {
        terminal::print(&format!("{}\n", as_json(&totals, args.by)))?;
    } else {
        terminal::print(&as_text(&totals, args.by, terminal))?;
    }
    if totals.unreadable > 0 {
        terminal.warning(&format!("{} damaged sessions are not counted", totals.unreadable));
    }
    let rows = if totals.unreadable > 0 { ExitStatus::Failed } else { ExitStatus::Done };
    let shown = losses::tell(&totals.losses, terminal);
    Ok(store.ends(rows.and(shown).and(losses::tell_search(totals.searched, terminal))))
}

fn name(by: ByName) -> &'static str {
    match by {
        ByName::Source => "source",
        ByName::Model => "model",
        ByName::Day => "day",
        ByName::Tool => "tool",
    }
}

fn as_json(totals: &Totals, by: ByName) -> Json {
    let group = |group: &Group| {
        let Sums {
            sessions,
            messages,
            input_tokens,
            output_tokens,
            cost_usd,
            api_calls,
            tool_calls,
        } = group.sums;
        json!({
            "name": group.name, "sessions": sessions, "messages": messages,
            "input_tokens": input_tokens, "output_tokens": output_tokens, "cost_usd": cost_usd,
            "api_calls": api_calls, "tool_calls": tool_calls,
        })
    };
    let tables: serde_json::Map<String, Json> =
        totals.tables.iter().map(|(name, bytes)| (name.clone(), (*bytes).into())).collect();
    let sums = &totals.sums;
    let mut report = json!({
        "command": "stats",
        "sessions": {
            "total": sums.sessions, "conversations": totals.conversations,
            "branches": totals.branches, "continuations": totals.continuations,
            "delegates": totals.delegates, "archived": totals.archived, "running": totals.running,
        },
        "messages": { "total": sums.messages, "active": totals.active_messages },
        "tokens": { "input": sums.input_tokens, "output": sums.output_tokens },
        "cost_usd": sums.cost_usd, "api_calls": sums.api_calls, "tool_calls": sums.tool_calls,
        "bytes": { "file": totals.file, "wal": totals.wal, "tables": tables },
        "by": name(by),
        "groups": totals.groups.iter().map(group).collect::<Vec<_>>(),
    });
    losses::report(&totals.losses, totals.searched, &mut report);
    report
}

fn as_text(totals: &Totals, by: ByName, to: &Terminal) -> String {
    let mut text = String::new();
    let sums = &totals.sums;
    let mut line = |label: &str, value: String, about: String| {
        let _ = writeln!(text, "{}{value:>14}  {}", to.bold(&cell(label, 12)), to.dim(&about));
    };
    let branches = if totals.branches == 1 { "branch" } else { "branches" };
    let kinds = format!(
        "{}, {} {branches}, {}, {} of subagents",
        counted(totals.conversations, "conversation"),
        totals.branches,
        counted(totals.continuations, "continuation"),
        totals.delegates
    );
    line("Sessions", digits(sums.sessions), kinds);
    line("", String::new(), format!("{} running, {} archived", totals.running, totals.archived));
    line("Messages", digits(sums.messages), format!("{} active", digits(totals.active_messages)));
    let tokens = sums.input_tokens.saturating_add(sums.output_tokens);
    let both = format!("{} in, {} out", digits(sums.input_tokens), digits(sums.output_tokens));
    line("Tokens", digits(tokens), both);
    line("Cost", format!("${:.2}", sums.cost_usd), "actual, else estimated".to_owned());
    line(
        "Tool calls",
        digits(sums.tool_calls),
        format!("{} calls of models", digits(sums.api_calls)),
    );
    line("Size", size(totals.file + totals.wal), format!("{} of it in the WAL", size(totals.wal)));
    for (table, bytes) in totals.tables.iter().filter(|(_, bytes)| bytes * 100 >= totals.file) {
        line("", size(*bytes), shown(table));
    }
    text.push('\n');
    text.push_str(&groups(totals, by, to));
    text
}

fn groups(totals: &Totals, by: ByName, to: &Terminal) -> String {
    let is_tool = by == ByName::Tool;
    let weight = |group: &Group| if is_tool { group.sums.tool_calls } else { group.sums.messages };
    let most = totals.groups.iter().map(weight).max().unwrap_or(0);
    let head = if is_tool {
        format!("{:>9} {:>10}", "SESSIONS", "CALLS")
    } else {
        format!(
            "{:>9} {:>10} {:>14} {:>10} {:>8} {:>8}",
            "SESSIONS", "MESSAGES", "TOKENS", "COST", "MODEL", "TOOLS"
        )
    };
    let mut text = to.bold(&format!("{}{head}", cell(&name(by).to_uppercase(), 28))) + "\n";
    for group in &totals.groups {
        let sums = &group.sums;
        let _ = write!(text, "{}{:>9}", cell(&group.name, 28), digits(sums.sessions));
        let _ = if is_tool {
            write!(text, " {:>10}", digits(sums.tool_calls))
        } else {
            let tokens = digits(sums.input_tokens.saturating_add(sums.output_tokens));
            let cost = format!("${:.2}", sums.cost_usd);
            let (calls, tools) = (digits(sums.api_calls), digits(sums.tool_calls));
            let messages = digits(sums.messages);
            write!(text, " {messages:>10} {tokens:>14} {cost:>10} {calls:>8} {tools:>8}")
        };
        if terminal::is_terminal() {
            let _ = write!(text, "  {}", bar(weight(group), most));
        }
        text.push('\n');
    }
    text
}

/// A bar of eighths of a column.
fn bar(value: u64, most: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let steps = u128::from(value) * (BAR as u128 * 8) / u128::from(most.max(1));
    let steps = usize::try_from(steps).unwrap_or(BAR * 8).min(BAR * 8);
    let least = usize::from(value > 0);
    let steps = steps.max(least);
    format!("{}{}", "█".repeat(steps / 8), EIGHTHS[steps % 8])
}

/// `1,234,567`.
fn digits(n: u64) -> String {
    let plain = n.to_string();
    let mut out = String::new();
    for (at, digit) in plain.chars().enumerate() {
        if at > 0 && (plain.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a figure with one digit after the point")]
    let mb = bytes as f64 / 1e6;
    match bytes {
        0 => "0".to_owned(),
        1..100_000 => format!("{:.1} kB", mb * 1e3),
        _ => format!("{mb:.1} MB"),
    }
}

#[cfg(test)]
mod tests {
    use super::{bar, digits};

    #[test]
    fn bars_and_digits() {
        assert_eq!(bar(0, 10), "");
        assert_eq!(bar(10, 10), "█".repeat(20));
        assert_eq!(bar(5, 10), "█".repeat(10));
        assert_eq!(bar(1, 1_000_000), "▏");
        assert_eq!(bar(0, 0), "");
        assert_eq!(digits(1_234_567), "1,234,567");
        assert_eq!(digits(999), "999");
    }
}
