//! Where a trace stands: what all its lines say of the session, and which line follows which.
//!
//! A line's parent is the line before it, but a tool's result follows the turn that called the
//! tool, and what the user took back is a branch beside what came instead.

use serde_json::Value as Json;
use uuid::Uuid;

use super::line::{Hermes, Line};
use crate::model::{Message, MessageColumn, Session, SessionColumn, Standing, Value};
use crate::time::iso_millis;

/// What a trace's lines have in common, and how far it has come.
pub(super) struct Thread {
    namespace: Uuid,
    session_id: String,
    parent_session_id: Option<String>,
    is_delegate: bool,
    source: String,
    model: String,
    cwd: String,
    branch: String,
    /// The first line.
    start: Uuid,
    /// The last line of the conversation.
    tip: Uuid,
    /// The last line of what was taken back after it.
    taken_back: Option<Uuid>,
    started: String,
    time: String,
    messages: u64,
}

impl Thread {
    pub(super) fn of(session: &Session<'_>) -> Self {
        let text = |column| session.text(column).map(str::to_owned);
        let namespace = namespace(session);
        let start = Uuid::new_v5(&namespace, b"start");
        let started = session.number(SessionColumn::StartedAt).and_then(iso_millis);
        let started = started.unwrap_or_else(|| "1970-01-01T00:00:00.000Z".to_owned());
        let mut thread = Self {
            namespace,
            session_id: session.id().to_owned(),
            parent_session_id: text(SessionColumn::Parent),
            is_delegate: is_delegate(session),
            source: text(SessionColumn::Source).unwrap_or_default(),
            model: String::new(),
            cwd: String::new(),
            branch: String::new(),
            start,
            tip: start,
            taken_back: None,
            time: started.clone(),
            started,
            messages: 0,
        };
        thread.enter(session);
        thread
    }

    /// Goes on in this session, the next segment of a chain.
    pub(super) fn enter(&mut self, part: &Session<'_>) {
        let text = |column| part.text(column).unwrap_or_default().to_owned();
        self.cwd = text(SessionColumn::Cwd);
        self.branch = text(SessionColumn::Branch);
        let model = part.text(SessionColumn::Model);
        model.unwrap_or("unknown").clone_into(&mut self.model);
    }

    pub(super) fn parent_session_id(&self) -> Option<&str> {
        self.parent_session_id.as_deref()
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// The last line of the conversation.
    pub(super) fn tip(&self) -> Uuid {
        self.tip
    }

    /// Whether no message has been said yet.
    pub(super) fn is_at_start(&self) -> bool {
        self.tip == self.start
    }

    /// The line that a message follows where nothing else is known.
    pub(super) fn before(&self, standing: Standing) -> Uuid {
        match standing {
            Standing::Active | Standing::Compacted => self.tip,
            Standing::Rewound => self.taken_back.unwrap_or(self.tip),
        }
    }

    /// An id that is the same in every export of the session.
    pub(super) fn id(&self, name: &str) -> Uuid {
        Uuid::new_v5(&self.namespace, name.as_bytes())
    }

    /// Turns to the next message, and gives its key: its row, or where it stands.
    pub(super) fn turn_to(&mut self, message: &Message<'_>) -> String {
        self.messages += 1;
        let time = message.number(MessageColumn::Timestamp).and_then(iso_millis);
        if let Some(time) = time {
            self.time = time;
        }
        let row = message.integer(MessageColumn::Id);
        row.map_or_else(|| format!("n{}", self.messages), |row| row.to_string())
    }

    /// The first line.
    pub(super) fn head(&self) -> Line<'_> {
        Line { timestamp: &self.started, ..self.line("system", None, self.start) }
    }

    /// A line with this id, after that one.
    pub(super) fn line(&self, r#type: &'static str, parent: Option<Uuid>, uuid: Uuid) -> Line<'_> {
        Line {
            r#type,
            subtype: None,
            parent_uuid: parent,
            logical_parent_uuid: None,
            is_sidechain: self.is_delegate,
            agent_id: self.is_delegate.then_some(&self.session_id),
            user_type: "external",
            entrypoint: &self.source,
            cwd: &self.cwd,
            session_id: &self.session_id,
            version: "hermes-agent",
            git_branch: &self.branch,
            uuid,
            timestamp: &self.time,
            model: None,
            tools: None,
            content: None,
            level: None,
            is_compact_summary: None,
            message: None,
            hermes: Hermes::default(),
        }
    }

    /// The conversation goes on after this line.
    pub(super) fn follow(&mut self, line: Uuid, standing: Standing) {
        match standing {
            Standing::Active | Standing::Compacted => {
                self.tip = line;
                self.taken_back = None;
            }
            Standing::Rewound => self.taken_back = Some(line),
        }
    }
}

/// What sets the ids of a session's lines apart from those of others.
pub(super) fn namespace(session: &Session<'_>) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, session.id().as_bytes())
}

/// Whether a session works for another one: a branch is its own.
fn is_delegate(session: &Session<'_>) -> bool {
    let config = match session.value(SessionColumn::ModelConfig) {
        Value::Text(json) | Value::Json(json) => serde_json::from_str(json).unwrap_or(Json::Null),
        Value::Null | Value::Integer(_) | Value::Real(_) => Json::Null,
    };
    let marked = |mark| config.get(mark).is_some_and(|value: &Json| !value.is_null());
    marked("_delegate_from") && !marked("_branched_from")
}
