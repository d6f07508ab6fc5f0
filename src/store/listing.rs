//! Conversations as lists show them: each once, as its newest segment, by last activity.
//!
//! Sessions are looked at in the order of their last message, so that a list of twenty reads twenty
//! rows and not the store.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use formats::model::{Message, Row};
use rusqlite::OptionalExtension as _;
use rusqlite::types::ValueRef;

use super::lineage::Kinship;
use super::search::Searched;
use super::snapshot::decoded;
use super::text::as_text;
use super::{Error, Fault, SessionKey, Snapshot};
use crate::filter::{Archived, Selection};
use crate::redact::Raw;

/// The last second that has a date; what lies beyond is no time of a message.
const END_OF_TIME: f64 = 253_402_207_199.0;

/// Which sessions a list shows.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Which sessions can be in it at all.
    pub selection: Selection,
    /// How sessions must stand to others.
    pub kind: Kind,
    /// Whether archived ones are in it.
    pub archived: Archived,
    /// Sources that are not in it.
    pub hidden: &'static [&'static str],
    /// At most so many.
    pub limit: usize,
}

/// How the sessions of a list stand to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What somebody began or branched off: a compressed conversation once, as its newest segment.
    Conversation,
    /// Those that branched off another one.
    Branch,
    /// Those that worked for another session.
    Delegate,
    /// Continuations of a compressed session, each on its own.
    Segment,
    /// Every session, each on its own.
    All,
}

/// One line of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Where the conversation began.
    pub root: SessionKey,
    /// Its newest segment.
    pub tip: SessionKey,
    /// How it stands to others; never `All`.
    pub kind: Kind,
    /// When the last message of any segment was sent, else when the session began.
    pub last_active: Option<f64>,
    /// When the conversation began.
    pub started_at: Option<f64>,
}

/// What a list shows.
#[derive(Debug, Default)]
pub struct Page {
    /// Last active first.
    pub entries: Vec<Entry>,
    /// Whether there are more.
    pub more: bool,
    /// Sessions that `--exclude` took out.
    pub excluded: u64,
    /// Sessions whose rows are damaged.
    pub unreadable: u64,
    /// How what was said was looked for.
    pub searched: Searched,
    /// The times of messages are damaged, so the order is that of the starts.
    pub by_start: bool,
}

/// How a session stands to its parent, and what lists ask of it.
#[derive(Debug)]
struct Standing {
    kind: Kind,
    parent: Option<SessionKey>,
    source: String,
    archived: bool,
    started_at: Option<f64>,
}

/// Why lists show a session, or do not.
#[derive(Debug)]
pub struct Whereabouts {
    /// How it stands to others; never `All`.
    pub kind: Kind,
    /// The session that it continues, left or worked for.
    pub parent: Option<SessionKey>,
    /// The platform.
    pub source: String,
    /// Whether it is archived.
    pub archived: bool,
    /// The segment that lists show in its place; itself, where it is the last.
    pub tip: SessionKey,
}

/// Where a walk over the sessions has come to.
struct Walk<'l> {
    listing: &'l Listing,
    /// Roots that the selection lets in; `None` for all.
    wanted: Option<HashSet<SessionKey>>,
    /// Where conversations began, as far as that is known.
    roots: HashMap<SessionKey, SessionKey>,
    seen: HashSet<SessionKey>,
    page: Page,
}

impl Snapshot<'_> {
    /// What a list shows.
    pub fn listed(&self, listing: &Listing) -> Result<Page, Error> {
        let mut walk = Walk {
            listing,
            wanted: None,
            roots: HashMap::new(),
            seen: HashSet::new(),
            page: Page::default(),
        };
        if !matches!(listing.selection, Selection::All) {
            let matches = self.matching(&listing.selection)?;
            walk.page.excluded = matches.excluded;
            walk.page.searched = matches.searched;
            walk.page.unreadable = matches.unreadable.len() as u64;
            let mut roots = HashSet::new();
            for key in matches.sessions {
                roots.insert(self.shown_as(key, &mut walk)?);
            }
            walk.wanted = Some(roots);
        }
        for (key, last_active) in self.by_activity(&mut walk.page)? {
            if walk.is_full(last_active) {
                break;
            }
            match self.visit(&mut walk, key, last_active) {
                Err(Error::Damaged(_)) => walk.page.unreadable += 1,
                other => other?,
            }
        }
        Ok(walk.finish())
    }

    fn visit(
        &self,
        walk: &mut Walk<'_>,
        key: SessionKey,
        last_active: Option<f64>,
    ) -> Result<(), Error> {
        let root = self.shown_as(key, walk)?;
        if walk.wanted.as_ref().is_some_and(|wanted| !wanted.contains(&root))
            || !walk.seen.insert(root)
        {
            return Ok(());
        }
        let standing = self.standing(root)?;
        if walk.lets_in(&standing) {
            let alone = matches!(walk.listing.kind, Kind::All | Kind::Segment);
            let tip = if alone { root } else { self.tip(root)? };
            let Standing { kind, started_at, .. } = standing;
            walk.page.entries.push(Entry { root, tip, kind, last_active, started_at });
        }
        Ok(())
    }

    /// The session in whose place a list shows this one.
    fn shown_as(&self, key: SessionKey, walk: &mut Walk<'_>) -> Result<SessionKey, Error> {
        let alone = matches!(walk.listing.kind, Kind::All | Kind::Segment);
        if alone { Ok(key) } else { self.beginning(key, &mut walk.roots) }
    }

    /// All sessions, last active first; without messages the start counts.
    fn by_activity(&self, page: &mut Page) -> Result<Vec<(SessionKey, Option<f64>)>, Error> {
        let mut sessions = match self.last_messages() {
            Err(Error::Damaged(_)) => {
                page.by_start = true;
                self.without_messages()?
            }
            other => other?,
        };
        let mut start =
            self.connection.prepare_cached("SELECT started_at FROM sessions WHERE rowid = ?")?;
        for (key, last) in sessions.iter_mut().filter(|(_, last)| last.is_none()) {
            *last = start.query_row([key.0], |row| Ok(time(row.get_ref(0)?))).ok().flatten();
        }
        // The oldest of all is whose time nobody knows.
        let at = |last: Option<f64>| last.unwrap_or(f64::NEG_INFINITY);
        sessions.sort_by(|a, b| at(b.1).total_cmp(&at(a.1)).then(a.0.cmp(&b.0)));
        Ok(sessions)
    }

    fn last_messages(&self) -> Result<Vec<(SessionKey, Option<f64>)>, Error> {
        // One look into an index for each session, or one pass over all messages.
        let sql = if self.has_message_index()? {
            "SELECT s.rowid, (SELECT m.timestamp FROM messages m WHERE m.session_id = s.id \
             AND m.timestamp <= ?1 ORDER BY m.timestamp DESC LIMIT 1) FROM sessions s"
        } else {
            "SELECT s.rowid, max(m.timestamp) FROM sessions s LEFT JOIN messages m \
             ON m.session_id = s.id AND m.timestamp <= ?1 GROUP BY s.rowid"
        };
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement
            .query_map([END_OF_TIME], |row| Ok((SessionKey(row.get(0)?), time(row.get_ref(1)?))))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn without_messages(&self) -> Result<Vec<(SessionKey, Option<f64>)>, Error> {
        let mut statement = self.connection.prepare("SELECT rowid FROM sessions NOT INDEXED")?;
        let rows = statement.query_map([], |row| Ok((SessionKey(row.get(0)?), None)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn has_message_index(&self) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM pragma_index_list('messages') l, pragma_index_info(l.name) i \
                   WHERE l.partial = 0 AND i.seqno = 0 AND i.name = 'session_id'";
        Ok(self.connection.query_row(sql, [], |_| Ok(())).optional()?.is_some())
    }

    /// The first segment of the conversation that a session belongs to. What is found on the way is
    /// added to `known`, so that a long chain is walked once.
    fn beginning(
        &self,
        key: SessionKey,
        known: &mut HashMap<SessionKey, SessionKey>,
    ) -> Result<SessionKey, Error> {
        let (mut path, mut passed) = (vec![key], HashSet::from([key]));
        let root = loop {
            let here = path[path.len() - 1];
            if let Some(root) = known.get(&here) {
                break *root;
            }
            let standing = self.standing(here)?;
            let Some(parent) = standing.parent.filter(|_| standing.kind == Kind::Segment) else {
                break here;
            };
            if !passed.insert(parent) {
                // A circle has no first session; one is agreed upon.
                let circle = path.iter().skip_while(|key| **key != parent);
                break circle.copied().min().unwrap_or(here);
            }
            path.push(parent);
        };
        known.extend(path.into_iter().map(|key| (key, root)));
        Ok(root)
    }

    /// Why lists show a session, or do not.
    pub fn whereabouts(&self, key: SessionKey) -> Result<Whereabouts, Error> {
        let Standing { kind, parent, source, archived, .. } = self.standing(key)?;
        let tip = if kind == Kind::Delegate { key } else { self.tip(key)? };
        Ok(Whereabouts { kind, parent, source, archived, tip })
    }

    /// How many messages name a session that has no row.
    pub fn orphans_of(&self, id: &str) -> Result<u64, Error> {
        let sql = "SELECT count(*) FROM messages WHERE session_id = ?1 \
                   AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = ?1)";
        Ok(self.connection.query_row(sql, [id], |row| row.get::<_, i64>(0))?.unsigned_abs())
    }

    /// How a session stands to others; never `All`.
    pub fn kind(&self, key: SessionKey) -> Result<Kind, Error> {
        Ok(self.standing(key)?.kind)
    }

    /// The segment in which Hermes goes on with a conversation that has come to `key`: of several
    /// continuations one that was continued itself, else one that runs, else the last active.
    pub fn tip(&self, key: SessionKey) -> Result<SessionKey, Error> {
        let mut seen = HashSet::from([key]);
        let mut here = key;
        while let Some(next) = self.continued_in(here)?
            && seen.insert(next)
        {
            here = next;
        }
        Ok(here)
    }

    fn continued_in(&self, key: SessionKey) -> Result<Option<SessionKey>, Error> {
        if !self.has_session_column("parent_session_id") {
            return Ok(None);
        }
        let sql = format!(
            "SELECT c.rowid, {} FROM sessions p JOIN sessions c ON c.parent_session_id = p.id \
             WHERE p.rowid = ?1 AND p.end_reason = 'compression' \
             AND COALESCE(c.source, '') != 'tool' \
             ORDER BY CASE WHEN c.end_reason = 'compression' THEN 0 \
             WHEN c.ended_at IS NULL THEN 1 ELSE 2 END, \
             COALESCE((SELECT max(m.timestamp) FROM messages m WHERE m.session_id = c.id \
             AND m.timestamp <= ?2), c.started_at) DESC, c.started_at DESC, c.id DESC",
            self.model_config("c")
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query((key.0, END_OF_TIME))?;
        while let Some(row) = rows.next()? {
            if Kinship::of(as_text(row.get_ref(1)?).as_deref()) == Kinship::Plain {
                return Ok(Some(SessionKey(row.get(0)?)));
            }
        }
        Ok(None)
    }

    fn standing(&self, key: SessionKey) -> Result<Standing, Error> {
        let column = |name: &str| {
            let known = self.has_session_column(name);
            if known { format!("s.{name}") } else { "NULL".to_owned() }
        };
        let sql = format!(
            "SELECT {}, s.source, {}, s.started_at, p.rowid, p.end_reason, p.ended_at \
             FROM sessions s LEFT JOIN sessions p ON p.id = {} WHERE s.rowid = ?",
            self.model_config("s"),
            column("archived"),
            column("parent_session_id"),
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let standing = statement.query_row([key.0], |row| {
            let source = as_text(row.get_ref(1)?).unwrap_or_default();
            let started_at = time(row.get_ref(3)?);
            let parent = row.get::<_, Option<i64>>(4)?.map(SessionKey);
            let kinship = Kinship::of(as_text(row.get_ref(0)?).as_deref());
            let reason = as_text(row.get_ref(5)?);
            // Before there was a mark, a branch was known by its parent's end.
            let branched = reason.as_deref() == Some("branched")
                && time(row.get_ref(6)?).zip(started_at).is_some_and(|(end, start)| start >= end);
            let continues = reason.as_deref() == Some("compression") && source != "tool";
            let kind = match kinship {
                Kinship::Branch => Kind::Branch,
                Kinship::Plain if parent.is_none() => Kind::Conversation,
                Kinship::Plain if branched => Kind::Branch,
                Kinship::Plain if continues => Kind::Segment,
                Kinship::Delegate | Kinship::Plain => Kind::Delegate,
            };
            let archived = matches!(row.get_ref(2)?, ValueRef::Integer(n) if n != 0);
            Ok(Standing { kind, parent, source, archived, started_at })
        })?;
        Ok(standing)
    }

    /// The user's first messages, in the order of their times, as far as `each` wants them.
    pub fn openings(
        &self,
        key: SessionKey,
        mut each: impl FnMut(Raw<Message<'_>>, Vec<Fault>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let sql = "SELECT * FROM messages WHERE session_id = (SELECT id FROM sessions WHERE \
                   rowid = ?) AND role = 'user' AND content IS NOT NULL ORDER BY timestamp, rowid";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([key.0])?;
        while let Some(row) = rows.next()? {
            let (cells, faults) = decoded(&self.messages, row)?;
            if each(Raw::new(Row::new(&self.messages.header, cells)), faults).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Walk<'_> {
    /// Whether nothing that follows can be on the page. Those with the same time must be looked
    /// at, as a later start goes first.
    fn is_full(&self, next: Option<f64>) -> bool {
        let entries = &self.page.entries;
        entries.len() > self.listing.limit
            && entries.last().is_some_and(|entry| entry.last_active != next)
    }

    fn lets_in(&self, standing: &Standing) -> bool {
        // Who is asked for by id is shown, whatever it is.
        if matches!(self.listing.selection, Selection::Sessions(_)) {
            return true;
        }
        let kind = match self.listing.kind {
            Kind::All => true,
            // A segment is a beginning only where the parents go in a circle.
            Kind::Conversation => standing.kind != Kind::Delegate,
            kind => standing.kind == kind,
        };
        let archived = match self.listing.archived {
            Archived::Not => !standing.archived,
            Archived::Only => standing.archived,
            Archived::Any => true,
        };
        kind && archived && !self.listing.hidden.contains(&standing.source.as_str())
    }

    fn finish(mut self) -> Page {
        let at = |time: Option<f64>| time.unwrap_or(f64::NEG_INFINITY);
        self.page.entries.sort_by(|a, b| {
            let latest = at(b.last_active).total_cmp(&at(a.last_active));
            latest.then(at(b.started_at).total_cmp(&at(a.started_at))).then(b.root.cmp(&a.root))
        });
        self.page.more = self.page.entries.len() > self.listing.limit;
        self.page.entries.truncate(self.listing.limit);
        self.page
    }
}

fn time(cell: ValueRef<'_>) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^53")]
    let seconds = match cell {
        ValueRef::Real(x) => x,
        ValueRef::Integer(n) => n as f64,
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => return None,
    };
    formats::is_in_calendar(seconds).then_some(seconds)
}
