//! Sums over sessions. Each session counts once, so that the groups add up to the totals.

use std::collections::HashMap;
use std::path::Path;

use formats::model::{Session, SessionColumn};

use super::losses::Losses;
use super::said::Reader;
use crate::filter::Selection;
use crate::redact::{Redactor, Scope};
use crate::store::{self, Kind, SessionKey, Snapshot};

/// What sessions are grouped by.
pub enum By<'b> {
    /// The platform.
    Source,
    /// The model.
    Model,
    /// The day of the start, as this names it.
    Day(&'b dyn Fn(f64) -> Option<String>),
    /// The tools whose results are in them.
    Tool,
}

/// Sums over some sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// Sessions.
    pub sessions: u64,
    /// Messages, those that were compacted or taken back included.
    pub messages: u64,
    /// Tokens in.
    pub input_tokens: u64,
    /// Tokens out.
    pub output_tokens: u64,
    /// US dollars.
    pub cost_usd: f64,
    /// Calls to models.
    pub api_calls: u64,
    /// Calls of tools.
    pub tool_calls: u64,
}

/// The sums of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The platform, model, day or tool.
    pub name: String,
    /// Its sums.
    pub sums: Sums,
}

/// What the store holds.
#[derive(Debug, Default)]
pub struct Totals {
    /// Over all selected sessions.
    pub sums: Sums,
    /// Sessions that somebody began.
    pub conversations: u64,
    /// Sessions that branched off.
    pub branches: u64,
    /// Sessions that go on with a compressed one.
    pub continuations: u64,
    /// Sessions that worked for another one.
    pub delegates: u64,
    /// Archived sessions.
    pub archived: u64,
    /// Running sessions.
    pub running: u64,
    /// Messages of the conversations as they are now.
    pub active_messages: u64,
    /// Sessions whose rows are damaged.
    pub unreadable: u64,
    /// How what was said was looked for.
    pub searched: store::Searched,
    /// What was lost on the way.
    pub losses: Losses,
    /// The largest group first; days in their order.
    pub groups: Vec<Group>,
    /// Bytes of the store's file.
    pub file: u64,
    /// Bytes of its write-ahead log.
    pub wal: u64,
    /// Bytes of each table with its indexes, the largest first; empty where they cannot be told.
    pub tables: Vec<(String, u64)>,
}

/// Adds everything up.
pub fn totals(
    store: &Path,
    selection: &Selection,
    by: &By<'_>,
    redactor: &Redactor,
) -> Result<Totals, store::Error> {
    let mut totals = store::read(store, |snapshot| {
        let matches = snapshot.matching(selection)?;
        let mut adding =
            Adding { snapshot, by, redactor, totals: Totals::default(), groups: HashMap::new() };
        adding.totals.unreadable = matches.unreadable.len() as u64;
        adding.totals.searched = matches.searched;
        for key in matches.sessions {
            match adding.add(key) {
                Err(store::Error::Damaged(_)) => adding.totals.unreadable += 1,
                other => other?,
            }
        }
        match snapshot.tables() {
            Ok(tables) => adding.totals.tables = tables,
            Err(store::Error::Damaged(_)) => {
                let line = "the sizes of tables cannot be told: a page is damaged";
                adding.totals.losses.unreadable(line.to_owned());
            }
            // A SQLite without `dbstat` has no sizes to tell.
            Err(_) => {}
        }
        Ok::<_, store::Error>(adding.finish())
    })?;
    let disk = store::size(store)?;
    (totals.file, totals.wal) = (disk.file, disk.wal);
    Ok(totals)
}

struct Adding<'a> {
    snapshot: &'a Snapshot<'a>,
    by: &'a By<'a>,
    redactor: &'a Redactor,
    totals: Totals,
    groups: HashMap<String, Sums>,
}

impl Adding<'_> {
    fn add(&mut self, key: SessionKey) -> Result<(), store::Error> {
        let mut reader = Reader::new(self.snapshot, self.redactor);
        let row = reader.row(key)?;
        self.totals.losses.add(reader.losses);
        let (all, active) = self.snapshot.message_counts(key)?;
        let kind = self.snapshot.kind(key)?;
        let sums = Sums { messages: all, ..sums(&row) };
        self.totals.sums.add(&sums);
        self.totals.active_messages += active;
        let flag = |column| row.integer(column).is_some_and(|flag| flag != 0);
        self.totals.archived += u64::from(flag(SessionColumn::Archived));
        self.totals.running +=
            u64::from(matches!(row.value(SessionColumn::EndedAt), formats::model::Value::Null));
        *match kind {
            Kind::Conversation | Kind::All => &mut self.totals.conversations,
            Kind::Branch => &mut self.totals.branches,
            Kind::Segment => &mut self.totals.continuations,
            Kind::Delegate => &mut self.totals.delegates,
        } += 1;
        let name = |text: Option<&str>| text.unwrap_or("—").to_owned();
        match self.by {
            By::Source => self.group(name(row.text(SessionColumn::Source)), &sums),
            By::Model => self.group(name(row.text(SessionColumn::Model)), &sums),
            By::Day(day) => {
                let day = row.number(SessionColumn::StartedAt).and_then(day);
                self.group(name(day.as_deref()), &sums);
            }
            By::Tool => self.tools(key)?,
        }
        Ok(())
    }

    fn group(&mut self, name: String, sums: &Sums) {
        self.groups.entry(name).or_default().add(sums);
    }

    fn tools(&mut self, key: SessionKey) -> Result<(), store::Error> {
        for (name, tool_calls) in self.snapshot.tools(key)? {
            let name = self.redactor.apply(name, &mut Scope::new());
            self.group(name, &Sums { sessions: 1, tool_calls, ..Sums::default() });
        }
        Ok(())
    }

    fn finish(self) -> Totals {
        let groups = self.groups.into_iter().map(|(name, sums)| Group { name, sums });
        let mut groups: Vec<Group> = groups.collect();
        match self.by {
            By::Day(_) => groups.sort_by(|a, b| a.name.cmp(&b.name)),
            By::Source | By::Model | By::Tool => groups.sort_by(|a, b| {
                let weight = |group: &Group| (group.sums.messages, group.sums.tool_calls);
                weight(b).cmp(&weight(a)).then_with(|| a.name.cmp(&b.name))
            }),
        }
        Totals { groups, ..self.totals }
    }
}

impl Sums {
    fn add(&mut self, other: &Self) {
        let sum = |to: &mut u64, from: u64| *to = to.saturating_add(from);
        sum(&mut self.sessions, other.sessions);
        sum(&mut self.messages, other.messages);
        sum(&mut self.input_tokens, other.input_tokens);
        sum(&mut self.output_tokens, other.output_tokens);
        sum(&mut self.api_calls, other.api_calls);
        sum(&mut self.tool_calls, other.tool_calls);
        self.cost_usd += other.cost_usd;
    }
}

fn sums(row: &Session<'_>) -> Sums {
    let count = |column| row.integer(column).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let cost = row.number(SessionColumn::ActualCost).or(row.number(SessionColumn::EstimatedCost));
    Sums {
        sessions: 1,
        messages: 0,
        input_tokens: count(SessionColumn::InputTokens),
        output_tokens: count(SessionColumn::OutputTokens),
        cost_usd: cost.unwrap_or(0.0),
        api_calls: count(SessionColumn::ApiCallCount),
        tool_calls: count(SessionColumn::ToolCallCount),
    }
}
