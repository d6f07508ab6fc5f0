//! What a session and a message are: rows of the store, columns verbatim and in the store's order.
//!
//! A row keeps every column, known or not, so that JSONL loses nothing when Hermes adds one and
//! redaction can walk all of them without a list to forget one in. Columns that a writer needs by
//! name stand in [`SessionColumn`] and [`MessageColumn`], the only place that spells them.
//! Values may borrow from the store's own buffers; nothing here does I/O.

use std::borrow::Cow;
use std::marker::PhantomData;

/// One cell of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// A 64-bit integer.
    Integer(i64),
    /// A finite double.
    Real(f64),
    /// Text as it stands in the store.
    Text(Cow<'a, str>),
    /// A decoded JSON document: valid per RFC 8259, on one line, without lone surrogates.
    Json(Cow<'a, str>),
}

impl Value<'_> {
    /// The same value, owning its text.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Integer(n) => Value::Integer(n),
            Value::Real(x) => Value::Real(x),
            Value::Text(t) => Value::Text(Cow::Owned(t.into_owned())),
            Value::Json(t) => Value::Json(Cow::Owned(t.into_owned())),
        }
    }

    /// The characters of a text or JSON value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(t) | Value::Json(t) => Some(t),
            Value::Null | Value::Integer(_) | Value::Real(_) => None,
        }
    }

    /// A number, whichever way SQLite stored it.
    #[expect(clippy::cast_precision_loss, reason = "times, counts and costs are far below 2^53")]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Integer(n) => Some(*n as f64),
            Value::Real(x) => Some(*x),
            Value::Null | Value::Text(_) | Value::Json(_) => None,
        }
    }
}

/// The columns of one table that this version knows by name.
pub trait Column: Copy + 'static {
    /// All of them, in the order of their positions.
    const ALL: &'static [Self];
    /// The column's name in the store.
    fn name(self) -> &'static str;
    /// Its place in [`Column::ALL`].
    fn position(self) -> usize;
}

macro_rules! columns {
    ($(#[$doc:meta])* $table:ident { $($(#[$about:meta])* $column:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $table { $($(#[$about])* $column,)* }

        impl Column for $table {
            const ALL: &'static [Self] = &[$($table::$column,)*];
            fn name(self) -> &'static str {
                match self { $($table::$column => $name,)* }
            }
            fn position(self) -> usize {
                self as usize
            }
        }
    };
}

columns! {
    /// Columns of `sessions` that something here reads by name.
    SessionColumn {
        /// The session's id.
        Id = "id",
        /// The platform: cli, telegram, cron, …
        Source = "source",
        /// The user on that platform.
        User = "user_id",
        /// The chat on that platform; Telegram's may be negative.
        ChatId = "chat_id",
        /// dm, group, channel, …
        ChatType = "chat_type",
        /// The model's name.
        Model = "model",
        /// JSON; carries `_branched_from` and `_delegate_from`.
        ModelConfig = "model_config",
        /// The system prompt.
        SystemPrompt = "system_prompt",
        /// The session this one continues, branches off or works for.
        Parent = "parent_session_id",
        /// Seconds since the epoch.
        StartedAt = "started_at",
        /// Seconds since the epoch; NULL while the session runs.
        EndedAt = "ended_at",
        /// Why it ended; `compression` marks a chain.
        EndReason = "end_reason",
        /// Active messages, as Hermes counted them.
        MessageCount = "message_count",
        /// Tool calls, as Hermes counted them.
        ToolCallCount = "tool_call_count",
        /// Tokens in.
        InputTokens = "input_tokens",
        /// Tokens out.
        OutputTokens = "output_tokens",
        /// Tokens read from the provider's cache.
        CacheReadTokens = "cache_read_tokens",
        /// Tokens written to the provider's cache.
        CacheWriteTokens = "cache_write_tokens",
        /// Tokens spent on reasoning.
        ReasoningTokens = "reasoning_tokens",
        /// The working folder.
        Cwd = "cwd",
        /// The git branch.
        Branch = "git_branch",
        /// The root of the git repository that the working folder is in.
        RepoRoot = "git_repo_root",
        /// Who billed the tokens.
        Provider = "billing_provider",
        /// US dollars, estimated.
        EstimatedCost = "estimated_cost_usd",
        /// US dollars, as billed.
        ActualCost = "actual_cost_usd",
        /// The session's title.
        Title = "title",
        /// Calls to the model's API.
        ApiCallCount = "api_call_count",
        /// 1 for archived.
        Archived = "archived",
    }
}

columns! {
    /// Columns of `messages` that something here reads by name.
    MessageColumn {
        /// The row's id, rising with insertion.
        Id = "id",
        /// The session it belongs to.
        Session = "session_id",
        /// system, user, assistant, tool, …
        Role = "role",
        /// Text, or structured content behind the NUL prefix.
        Content = "content",
        /// On a tool message: the call that it answers.
        ToolCallId = "tool_call_id",
        /// On an assistant message: JSON array of calls.
        ToolCalls = "tool_calls",
        /// On a tool message: the tool's name.
        ToolName = "tool_name",
        /// Seconds since the epoch.
        Timestamp = "timestamp",
        /// Why the model stopped.
        FinishReason = "finish_reason",
        /// Reasoning text.
        Reasoning = "reasoning",
        /// Reasoning text, as some providers send it.
        ReasoningContent = "reasoning_content",
        /// JSON; structured reasoning.
        ReasoningDetails = "reasoning_details",
        /// JSON; reasoning items of the Responses API.
        CodexReasoningItems = "codex_reasoning_items",
        /// The platform's own id of the message.
        PlatformMessageId = "platform_message_id",
        /// 1 while the message is part of the conversation.
        Active = "active",
        /// 1 where an in-place compaction set the message aside.
        Compacted = "compacted",
        /// Tokens that the model wrote.
        TokenCount = "token_count",
        /// 1 where the message was overheard in a group, rather than addressed to the agent.
        Observed = "observed",
        /// On a tool message: what the tool's effect on the world was.
        Effect = "effect_disposition",
    }
}

/// The columns that a table has in one store, in its order.
#[derive(Debug, Clone)]
pub struct Header<C> {
    names: Vec<String>,
    known: Vec<Option<usize>>,
    table: PhantomData<C>,
}

impl<C: Column> Header<C> {
    /// Looks up the known columns among the names that a store has.
    pub fn new(names: Vec<String>) -> Self {
        let place = |c: &C| names.iter().position(|name| name == c.name());
        let known = C::ALL.iter().map(place).collect();
        Self { names, known, table: PhantomData }
    }

    /// The columns' names, in the store's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where a known column stands; `None` in a store that is older than it.
    pub fn position(&self, column: C) -> Option<usize> {
        self.known[column.position()]
    }
}

/// One row, with all its columns.
#[derive(Debug, Clone)]
pub struct Row<'a, C> {
    header: &'a Header<C>,
    cells: Vec<Value<'a>>,
}

/// A row of `sessions`.
pub type Session<'a> = Row<'a, SessionColumn>;
/// A row of `messages`.
pub type Message<'a> = Row<'a, MessageColumn>;

impl<'a, C: Column> Row<'a, C> {
    /// A row of these cells, one for each name of the header.
    ///
    /// # Panics
    /// If the numbers differ.
    pub fn new(header: &'a Header<C>, cells: Vec<Value<'a>>) -> Self {
        assert_eq!(header.names.len(), cells.len(), "a cell for each column");
        Self { header, cells }
    }

    /// Every column with its value, in the store's order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.header.names.iter().map(String::as_str).zip(&self.cells)
    }

    /// Every column with its value, to be changed in place; what redaction walks.
    pub fn columns_mut(&mut self) -> impl Iterator<Item = (&str, &mut Value<'a>)> {
        self.header.names.iter().map(String::as_str).zip(&mut self.cells)
    }

    /// A known column's value; NULL where the store lacks the column.
    pub fn value(&self, column: C) -> &Value<'a> {
        self.header.position(column).map_or(&Value::Null, |at| &self.cells[at])
    }

    /// Replaces a known column's value; nothing happens where the store lacks the column.
    pub fn set(&mut self, column: C, value: Value<'a>) {
        if let Some(at) = self.header.position(column) {
            self.cells[at] = value;
        }
    }

    /// A known column's text, `None` where it is NULL, a number or empty.
    pub fn text(&self, column: C) -> Option<&str> {
        self.value(column).as_str().filter(|text| !text.is_empty())
    }

    /// A known column's number.
    pub fn number(&self, column: C) -> Option<f64> {
        self.value(column).as_f64()
    }

    /// A known column's whole number.
    pub fn integer(&self, column: C) -> Option<i64> {
        match self.value(column) {
            Value::Integer(n) => Some(*n),
            Value::Null | Value::Real(_) | Value::Text(_) | Value::Json(_) => None,
        }
    }
}

impl Session<'_> {
    /// The session's id; empty in a store that has lost it.
    pub fn id(&self) -> &str {
        self.text(SessionColumn::Id).unwrap_or_default()
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role<'a> {
    /// The system prompt.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
    /// Anything else that Hermes keeps, such as `session_meta`.
    Other(&'a str),
}

/// How a message stands to the conversation as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Part of it.
    Active,
    /// Set aside by an in-place compaction.
    Compacted,
    /// Taken back by the user.
    Rewound,
}

impl Message<'_> {
    /// Who speaks.
    pub fn role(&self) -> Role<'_> {
        match self.text(MessageColumn::Role).unwrap_or_default() {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            other => Role::Other(other),
        }
    }

    /// Active, compacted or rewound; a store without these columns has active messages only.
    pub fn standing(&self) -> Standing {
        let flag = |column, absent| self.integer(column).unwrap_or(absent) != 0;
        if flag(MessageColumn::Active, 1) {
            Standing::Active
        } else if flag(MessageColumn::Compacted, 0) {
            Standing::Compacted
        } else {
            Standing::Rewound
        }
    }
}
