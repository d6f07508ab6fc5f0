//! Documents: what one line of JSONL or one Markdown file is made of, and writing one down.
//!
//! A document is a session, or a compression chain joined into one conversation. Its identity is
//! its first segment's, so that it keeps its name when the chain grows; the rest of its columns are
//! those of the last segment, and counters are summed.

use std::collections::HashSet;
use std::io;

use formats::model::{Session, SessionColumn, Value};
use formats::{FileHead, FormatWriter, Record, Related, SessionHead, SessionWriter};

use super::feed::{Feed, Found};
use super::{Error, Lineage, Warnings};
use crate::manifest::Hasher;
use crate::progress::Progress;
use crate::redact::{Redactor, Scope};
use crate::store::{Extent, Fault, SessionKey, Snapshot};

/// The sessions of one document, oldest first; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document(pub(crate) Vec<SessionKey>);

/// Groups matching sessions into documents, in the order of their first matching session.
pub(super) fn documents(
    snapshot: &Snapshot<'_>,
    sessions: &[SessionKey],
    lineage: Lineage,
) -> Result<Vec<Document>, Error> {
    if lineage == Lineage::Single {
        return Ok(sessions.iter().map(|key| Document(vec![*key])).collect());
    }
    let (mut documents, mut seen) = (Vec::new(), HashSet::new());
    for key in sessions {
        if seen.contains(key) {
            continue;
        }
        let chain = snapshot.chain(*key)?;
        seen.extend(chain.iter().copied());
        documents.push(Document(chain));
    }
    Ok(documents)
}

/// A document that is going to be written.
pub(super) struct Opened<'s> {
    pub(super) heading: Heading<'s>,
    /// The segments' own rows, where several are joined.
    parts: Vec<Session<'s>>,
    /// What the sessions' own rows lost.
    faults: Vec<Fault>,
    scope: Scope,
}

/// What is known of a document before it is written.
#[derive(Clone)]
pub(super) struct Heading<'s> {
    pub(super) session: Session<'s>,
    pub(super) lineage: Vec<String>,
    pub(super) messages: u64,
    last_active: Option<f64>,
    related: Vec<Related>,
    extents: Vec<Extent>,
}

impl Heading<'_> {
    /// What a format is told of it.
    pub(super) fn head(&self) -> SessionHead<'_> {
        SessionHead {
            session: &self.session,
            messages: self.messages,
            last_active: self.last_active,
            lineage: &self.lineage,
            related: &self.related,
        }
    }

    /// How many messages each segment has.
    pub(super) fn message_counts(&self) -> Vec<u64> {
        self.extents.iter().map(Extent::messages).collect()
    }

    /// The row id of each segment's last message.
    pub(super) fn last_message_ids(&self) -> Vec<Option<i64>> {
        self.extents.iter().map(Extent::last_id).collect()
    }
}

impl<'s> Opened<'s> {
    /// Redacts the document's own rows and adds up what they say.
    pub(super) fn of(
        found: Found<'s>,
        redactor: &Redactor,
        warnings: &mut Warnings,
    ) -> Result<Self, Error> {
        let mut scope = Scope::default();
        let mut sum = Sum::default();
        let (mut parts, mut related, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        for segment in found.segments {
            let row = redactor.apply(segment.row, &mut scope);
            warnings.session(row.id(), &segment.faults);
            faults.extend(segment.faults);
            sum.add(&row, segment.extent);
            parts.push(row);
            for (table, rows) in segment.related {
                let rows = redactor.apply(rows, &mut scope);
                related.push(Related { table, rows });
            }
        }
        let last = if parts.len() > 1 { parts.last().cloned() } else { parts.pop() };
        let session = last.map(|last| sum.applied_to(last)).ok_or(Error::Nothing)?;
        let Sum { lineage, messages, last_active, extents, .. } = sum;
        let related = merged(related);
        let heading = Heading { session, lineage, messages, last_active, related, extents };
        Ok(Opened { heading, parts, faults, scope })
    }
}

/// What accompanies every document of an export.
pub(super) struct Context<'a> {
    pub(super) redactor: &'a Redactor,
    pub(super) progress: &'a dyn Progress,
    pub(super) warnings: &'a mut Warnings,
    /// The head of a file of JSONL, where the writer is to name the session's line in it.
    pub(super) record: Option<&'a FileHead>,
}

impl Opened<'_> {
    /// Writes the document down, and gives what redaction took out of it.
    pub(super) fn write(
        mut self,
        feed: &mut Feed<'_>,
        context: &mut Context<'_>,
        out: &mut dyn FormatWriter,
        wrote: &dyn Fn(io::Error) -> Error,
    ) -> Result<Scope, Error> {
        let head = self.heading.head();
        let mut writer = out.session(&head).map_err(wrote)?;
        for Fault { column, what } in &self.faults {
            writer.lost(column, what).map_err(wrote)?;
        }
        if let Some(file) = context.record {
            let mut digest = Hasher::default();
            let mut jsonl = (formats::RECORD.start)(&mut digest, file).map_err(wrote)?;
            let mut line = jsonl.session(&head).map_err(wrote)?;
            self.messages(feed, context, &mut [writer.as_mut(), line.as_mut()], wrote)?;
            line.finish().and_then(|()| jsonl.finish()).map_err(wrote)?;
            let counts = context.redactor.groups().map(|_| self.scope.counts());
            let jsonl_sha256 = &digest.finish().sha256;
            let record = Record { jsonl_sha256, redactions: counts.as_ref() };
            writer.made_from(&record).map_err(wrote)?;
        } else {
            self.messages(feed, context, &mut [writer.as_mut()], wrote)?;
        }
        writer.finish().map_err(wrote)?;
        Ok(self.scope)
    }

    /// Writes the messages down, in each of these ways.
    fn messages(
        &mut self,
        feed: &mut Feed<'_>,
        context: &mut Context<'_>,
        writers: &mut [&mut dyn SessionWriter],
        wrote: &dyn Fn(io::Error) -> Error,
    ) -> Result<(), Error> {
        let Context { redactor, progress, warnings, .. } = context;
        let mut each = |write: &dyn Fn(&mut dyn SessionWriter) -> io::Result<()>| {
            writers.iter_mut().try_for_each(|writer| write(*writer)).map_err(wrote)
        };
        for (n, id) in self.heading.lineage.iter().enumerate() {
            if let Some(part) = self.parts.get(n) {
                each(&|writer| writer.segment(part))?;
            }
            while let Some((raw, faults)) = feed.message()? {
                if progress.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let message = redactor.apply(raw, &mut self.scope);
                warnings.message(id, &message, &faults);
                each(&|writer| writer.message(&message))?;
                for Fault { column, what } in faults {
                    each(&|writer| writer.lost(&column, what))?;
                }
            }
        }
        Ok(())
    }
}

/// One array a table, where several segments have rows in it.
fn merged(mut parts: Vec<Related>) -> Vec<Related> {
    parts.sort_by(|a, b| a.table.cmp(&b.table));
    let mut merged: Vec<Related> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some(last) if last.table == part.table => {
                let more = part.rows.trim_start_matches('[');
                last.rows.truncate(last.rows.len() - 1);
                last.rows.push(',');
                last.rows.push_str(more);
            }
            Some(_) | None => merged.push(part),
        }
    }
    merged
}

/// What the segments of a document have together.
#[derive(Default)]
struct Sum {
    first: Option<[Value<'static>; 3]>,
    counters: Vec<Value<'static>>,
    lineage: Vec<String>,
    messages: u64,
    last_active: Option<f64>,
    extents: Vec<Extent>,
}

/// Taken from the first segment.
const IDENTITY: [SessionColumn; 3] =
    [SessionColumn::Id, SessionColumn::Parent, SessionColumn::StartedAt];

/// Summed over all segments.
const COUNTERS: [SessionColumn; 9] = [
    SessionColumn::ToolCallCount,
    SessionColumn::InputTokens,
    SessionColumn::OutputTokens,
    SessionColumn::CacheReadTokens,
    SessionColumn::CacheWriteTokens,
    SessionColumn::ReasoningTokens,
    SessionColumn::ApiCallCount,
    SessionColumn::EstimatedCost,
    SessionColumn::ActualCost,
];

impl Sum {
    fn add(&mut self, row: &Session<'_>, extent: Extent) {
        self.first.get_or_insert_with(|| IDENTITY.map(|c| row.value(c).clone().into_owned()));
        self.counters.resize(COUNTERS.len(), Value::Null);
        for (sum, column) in self.counters.iter_mut().zip(COUNTERS) {
            *sum = added(sum, row.value(column));
        }
        self.lineage.push(row.id().to_owned());
        self.messages += extent.messages();
        self.last_active = match (self.last_active, extent.last_active) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
        self.extents.push(extent);
    }

    /// A lone session's row stays as it is.
    fn applied_to<'a>(&mut self, mut last: Session<'a>) -> Session<'a> {
        if self.lineage.len() < 2 {
            return last;
        }
        for (column, value) in IDENTITY.into_iter().zip(self.first.take().into_iter().flatten()) {
            last.set(column, value);
        }
        for (column, sum) in COUNTERS.into_iter().zip(self.counters.drain(..)) {
            last.set(column, sum);
        }
        let messages = i64::try_from(self.messages).unwrap_or(i64::MAX);
        last.set(SessionColumn::MessageCount, Value::Integer(messages));
        last
    }
}

fn added(one: &Value<'_>, other: &Value<'_>) -> Value<'static> {
    match (one, other) {
        (Value::Integer(a), Value::Integer(b)) => Value::Integer(a.saturating_add(*b)),
        (one, other) => match (one.as_f64(), other.as_f64()) {
            (Some(a), Some(b)) => Value::Real(a + b),
            (Some(_), None) => one.clone().into_owned(),
            (None, _) => other.clone().into_owned(),
        },
    }
}
