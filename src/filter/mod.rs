//! Which sessions a command is about, as plain data.
//!
//! Everything that can be wrong with a flag is refused while these values are made, so that
//! compiling them to SQL (in `store::query`, beside the schema) cannot fail. Nothing here reads
//! the store, the clock or the environment.

pub mod query;
pub mod time;

use globset::GlobMatcher;
use query::Query;

/// What a command works on.
#[derive(Debug, Clone)]
pub enum Selection {
    /// Every session, running ones included.
    All,
    /// These sessions, each by its id or a unique prefix of it.
    Sessions(Vec<String>),
    /// The sessions that pass a filter.
    Filtered(Filter),
    /// The one that somebody spoke in last: not archived, and no delegate.
    Latest,
}

impl Selection {
    /// The same, running sessions included.
    #[must_use]
    pub fn in_any_state(mut self) -> Self {
        if let Selection::Filtered(filter) = &mut self {
            filter.state = State::Any;
        }
        self
    }
}

/// Conditions that AND together.
#[derive(Debug, Clone)]
pub struct Filter {
    /// What a session's columns must satisfy.
    pub tests: Vec<Test>,
    /// What the user or the model must have said; all of these.
    pub said: Vec<Query>,
    /// What takes a session out again.
    pub excluded: Vec<Exclude>,
    /// Whether running sessions pass.
    pub state: State,
    /// Whether archived sessions pass.
    pub archived: Archived,
}

impl Filter {
    /// Lets every session pass.
    pub fn everything() -> Self {
        let (tests, said, excluded) = (Vec::new(), Vec::new(), Vec::new());
        Self { tests, said, excluded, state: State::Any, archived: Archived::Any }
    }

    /// Lets every session pass that has ended.
    pub fn ended() -> Self {
        Self { state: State::Ended, ..Self::everything() }
    }
}

/// Whether a session still runs (`ended_at` is NULL).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Ended sessions only.
    Ended,
    /// Ended and running ones.
    Any,
}

/// Whether a session is hidden from lists (`archived` is not 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archived {
    /// Archived ones and others.
    Any,
    /// Archived ones only.
    Only,
    /// All but archived ones.
    Not,
}

/// A condition on one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The column, or a sum of columns.
    pub column: Column,
    /// What its value must satisfy.
    pub condition: Condition,
}

/// What a filter can look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// The session's id.
    Id,
    /// The platform.
    Source,
    /// The title.
    Title,
    /// The model's name.
    Model,
    /// The billing provider.
    Provider,
    /// The working folder.
    Cwd,
    /// The git branch.
    Branch,
    /// The root of the git repository, else the working folder.
    Workspace,
    /// Why the session ended.
    EndReason,
    /// The user on the platform.
    User,
    /// The chat on the platform.
    ChatId,
    /// dm, group, channel, …
    ChatType,
    /// The start, in seconds since the epoch.
    StartedAt,
    /// The last message, else the start, in seconds since the epoch.
    LastActive,
    /// Messages, as Hermes counted them.
    Messages,
    /// Input and output tokens together.
    Tokens,
    /// US dollars: the actual cost, else the estimate, else 0.
    Cost,
    /// Tool calls, as Hermes counted them.
    ToolCalls,
}

/// What a column's value must satisfy. A value that is NULL satisfies no condition on text.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Exactly this text.
    Is(String),
    /// This text in any case, in any script.
    IsFolded(String),
    /// Somewhere in it, in any case: the literal text, without wildcards.
    Contains(String),
    /// It has `#` and this tag in it, in any case.
    Tagged(String),
    /// This folder or one below it, compared by path components, in the same case.
    Under(String),
    /// At least this number.
    AtLeast(f64),
    /// At most this number.
    AtMost(f64),
    /// Less than this number.
    Below(f64),
}

/// A glob that takes a session out of the selection.
#[derive(Debug, Clone)]
pub struct Exclude {
    /// The column it looks at.
    pub column: Column,
    /// `globset` syntax; a column that is NULL is matched as an empty text.
    pub glob: GlobMatcher,
}
