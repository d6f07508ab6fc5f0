//! The shapes of Hermes' `session_search`: discovery by words, a window to scroll, a whole session,
//! and what was last active.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;

use formats::model::SessionColumn;
use serde::Serialize;

use super::listing::{Listed, listed};
use super::losses::Losses;
use super::said::{Reader, Said};
use crate::filter::Selection;
use crate::redact::Redactor;
use crate::store::{
    self, Hit, Kind, Listing, Piece, Search, Searched, SessionKey, Shown, Snapshot,
};

/// Sources whose finds come after all others': they say the same every day.
const DEMOTED: &str = "cron";
/// Messages before and after a find.
const WINDOW: usize = 5;
/// Messages of the beginning and the end.
const BOOKEND: usize = 3;
/// Messages that a whole session is cut to.
const HEAD: usize = 20;
const TAIL: usize = 10;

/// What is looked for.
#[derive(Debug)]
pub struct Discovery {
    /// As it was typed.
    pub typed: String,
    /// The words; `None` where it has none.
    pub search: Option<Search>,
    /// Among which sessions.
    pub selection: Selection,
    /// Sources that are left out.
    pub hidden: &'static [&'static str],
    /// At most so many sessions.
    pub limit: usize,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// A session each, the best first.
    pub results: Vec<Match>,
    /// How it was looked for.
    pub searched: Searched,
    /// How `--match` was looked for.
    pub selected: Searched,
    /// What was lost on the way.
    pub losses: Losses,
}

impl Found {
    /// How it was looked for, for QUERY and `--match` together.
    pub fn all_searched(&self) -> Searched {
        self.searched.and(self.selected)
    }
}

/// A session in which something was found.
#[derive(Debug, Serialize)]
pub struct Match {
    /// The session.
    pub session_id: String,
    /// When the conversation began: seconds since the epoch.
    #[serde(skip)]
    pub started_at: Option<f64>,
    /// The platform.
    pub source: String,
    /// The model.
    pub model: String,
    /// The title.
    pub title: Option<String>,
    /// Who says what was found; `session_title` for the title.
    pub matched_role: String,
    /// The message.
    pub match_message_id: Option<i64>,
    /// What stands around it, between `>>>` and `<<<`.
    pub snippet: String,
    /// The same in pieces.
    #[serde(skip)]
    pub pieces: Vec<Piece>,
    /// How the session began.
    pub bookend_start: Vec<Said>,
    /// What was said around it.
    pub messages: Vec<Said>,
    /// How the session ended.
    pub bookend_end: Vec<Said>,
    /// Messages that stand before it in the window.
    pub messages_before: usize,
    /// Messages that stand after it in the window.
    pub messages_after: usize,
    /// The session that it all began with, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
}

/// A part of a session, or all of it.
#[derive(Debug)]
pub struct Excerpt {
    /// The session.
    pub session_id: String,
    /// When it began: seconds since the epoch.
    pub started_at: Option<f64>,
    /// The platform.
    pub source: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// Its messages.
    pub messages: Vec<Said>,
    /// Messages in the window before the one that was asked for.
    pub before: usize,
    /// Messages in the window after it.
    pub after: usize,
    /// Messages that the session has.
    pub total: usize,
    /// What was lost on the way.
    pub losses: Losses,
}

/// Finds sessions by what was said in them.
pub fn discover(
    store: &Path,
    wanted: &Discovery,
    redactor: &Redactor,
) -> Result<Found, store::Error> {
    store::read(store, |snapshot| {
        let mut found = Found::default();
        let among = match &wanted.selection {
            Selection::All => None,
            selection => {
                let matches = snapshot.matching(selection)?;
                found.selected = matches.searched;
                Some(matches.sessions.into_iter().collect())
            }
        };
        let mut walk = Walk {
            snapshot,
            wanted,
            among,
            families: HashMap::new(),
            seen: HashSet::new(),
            demoted: Vec::new(),
        };
        if let Some(key) = walk.titled()? {
            let mut reader = Reader::new(snapshot, redactor);
            found.results.push(by_title(&mut reader, wanted, key)?);
            found.losses.add(reader.losses);
        }
        let mut hits = Vec::new();
        if let Some(search) = &wanted.search {
            found.searched = snapshot.search(search, |hit| walk.visit(hit, &mut hits))?;
        }
        walk.demoted(&mut hits);
        for hit in hits {
            let mut reader = Reader::new(snapshot, redactor);
            found.results.extend(by_words(&mut reader, wanted, hit)?);
            found.losses.add(reader.losses);
        }
        Ok(found)
    })
}

/// The finds, one for each family of sessions.
struct Walk<'w> {
    snapshot: &'w Snapshot<'w>,
    wanted: &'w Discovery,
    among: Option<HashSet<SessionKey>>,
    /// The first session above each one that had a hit.
    families: HashMap<SessionKey, SessionKey>,
    seen: HashSet<SessionKey>,
    demoted: Vec<(SessionKey, Hit)>,
}

impl Walk<'_> {
    fn lets_in(&self, key: SessionKey) -> Result<bool, store::Error> {
        let among = self.among.as_ref().is_none_or(|among| among.contains(&key));
        let hidden = self.wanted.hidden;
        Ok(among && (hidden.is_empty() || !hidden.contains(&self.snapshot.source(key)?.as_str())))
    }

    /// The session that has the query as its title.
    fn titled(&mut self) -> Result<Option<SessionKey>, store::Error> {
        let title = self.wanted.typed.trim().trim_matches(['`', '\'', '"']);
        let Some(key) = self.snapshot.titled(title)?.filter(|_| !title.is_empty()) else {
            return Ok(None);
        };
        let lets_in = self.lets_in(key)?;
        if lets_in {
            self.seen.insert(self.snapshot.ancestor(key)?);
        }
        Ok(lets_in.then_some(key))
    }

    fn visit(&mut self, hit: Hit, hits: &mut Vec<Hit>) -> Result<ControlFlow<()>, store::Error> {
        if self.seen.len() >= self.wanted.limit {
            return Ok(ControlFlow::Break(()));
        }
        if !self.lets_in(hit.session)? {
            return Ok(ControlFlow::Continue(()));
        }
        let family = match self.families.get(&hit.session) {
            Some(family) => *family,
            None => self.snapshot.ancestor(hit.session)?,
        };
        self.families.insert(hit.session, family);
        if self.snapshot.source(hit.session)? == DEMOTED {
            if self.demoted.iter().all(|(other, _)| *other != family) {
                self.demoted.push((family, hit));
            }
        } else if self.seen.insert(family) {
            hits.push(hit);
        }
        let is_enough = self.seen.len() >= self.wanted.limit;
        Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// What else there is room for.
    fn demoted(self, hits: &mut Vec<Hit>) {
        let room = self.wanted.limit.saturating_sub(self.seen.len());
        let new = self.demoted.into_iter().filter(|(family, _)| !self.seen.contains(family));
        hits.extend(new.take(room).map(|(_, hit)| hit));
    }
}

fn by_words(
    reader: &mut Reader<'_>,
    wanted: &Discovery,
    hit: Hit,
) -> Result<Option<Match>, store::Error> {
    let Some((rows, at)) = reader.snapshot.rows_around(hit.session, hit.message)? else {
        return Ok(None);
    };
    let mut found = head(reader, hit.session)?;
    around(reader, &mut found, &rows, at)?;
    let anchor = found.messages.iter().find(|said| said.anchor);
    if let (Some(anchor), Some(search)) = (anchor, &wanted.search) {
        found.matched_role.clone_from(&anchor.role);
        let calls = anchor.tool_calls.to_string();
        let tool = anchor.tool_name.clone().unwrap_or_default();
        let texts = [&anchor.text, &tool, &calls];
        let text = texts.into_iter().find(|text| search.query.is_in(text)).unwrap_or(&anchor.text);
        found.pieces = search.query.snippet(text);
    }
    found.snippet = found.pieces.iter().map(marked).collect();
    Ok(Some(found))
}

fn marked(piece: &Piece) -> String {
    if piece.found { format!(">>>{}<<<", piece.text) } else { piece.text.clone() }
}

fn by_title(
    reader: &mut Reader<'_>,
    wanted: &Discovery,
    key: SessionKey,
) -> Result<Match, store::Error> {
    let mut found = head(reader, key)?;
    let rows: Vec<i64> = reader.snapshot.extent(key, Shown::Active)?.rows().collect();
    if !rows.is_empty() {
        around(reader, &mut found, &rows, 0)?;
    }
    "session_title".clone_into(&mut found.matched_role);
    let title = found.title.as_deref().unwrap_or(&wanted.typed);
    found.snippet = format!("Session title matched: {title}");
    found.pieces = vec![Piece { text: found.snippet.clone(), found: false }];
    Ok(found)
}

/// What is known of a session before its messages are read. Title, time and platform are those of
/// the session that it all began with.
fn head(reader: &mut Reader<'_>, key: SessionKey) -> Result<Match, store::Error> {
    let row = reader.begin(key)?;
    let root = reader.snapshot.ancestor(key)?;
    let first = if root == key { row.clone() } else { reader.row(root)? };
    let text = |column| first.text(column).or(row.text(column)).map(str::to_owned);
    let unknown = || "unknown".to_owned();
    Ok(Match {
        session_id: row.id().to_owned(),
        started_at: first.number(SessionColumn::StartedAt),
        source: text(SessionColumn::Source).unwrap_or_else(unknown),
        model: text(SessionColumn::Model).unwrap_or_else(unknown),
        title: text(SessionColumn::Title),
        matched_role: String::new(),
        match_message_id: None,
        snippet: String::new(),
        pieces: Vec::new(),
        bookend_start: Vec::new(),
        messages: Vec::new(),
        bookend_end: Vec::new(),
        messages_before: 0,
        messages_after: 0,
        parent_session_id: (root != key).then(|| first.id().to_owned()),
    })
}

/// Reads the window around a message, and the session's beginning and end outside of it.
fn around(
    reader: &mut Reader<'_>,
    found: &mut Match,
    rows: &[i64],
    at: usize,
) -> Result<(), store::Error> {
    let (from, to) = (at.saturating_sub(WINDOW), rows.len().min(at + WINDOW + 1));
    for row in &rows[from..to] {
        let Some(mut said) = reader.said(*row)? else { continue };
        said.anchor = *row == rows[at];
        if said.anchor || said.is_talk() {
            found.messages.push(said);
        }
    }
    let is_prose = |said: &Said| said.is_talk() && !said.text.is_empty();
    found.bookend_start = reader.first(rows[..from].iter().copied(), BOOKEND, is_prose)?;
    found.bookend_end = reader.first(rows[to..].iter().rev().copied(), BOOKEND, is_prose)?;
    found.bookend_end.reverse();
    (found.messages_before, found.messages_after) = (at - from, to - at - 1);
    found.match_message_id = Some(rows[at]);
    Ok(())
}

/// The messages around one, in this session or another one of its family.
pub fn scroll(
    store: &Path,
    session: &str,
    message: i64,
    window: usize,
    redactor: &Redactor,
) -> Result<Excerpt, store::Error> {
    store::read(store, |snapshot| {
        let asked = snapshot.resolve(session)?;
        let elsewhere = || store::Error::NoSuchMessage { message, session: session.to_owned() };
        let key = snapshot.session_of(message)?.ok_or_else(elsewhere)?;
        if key != asked && snapshot.ancestor(key)? != snapshot.ancestor(asked)? {
            return Err(elsewhere());
        }
        let (rows, at) = snapshot.rows_around(key, message)?.ok_or_else(elsewhere)?;
        let (from, to) = (at.saturating_sub(window), rows.len().min(at.saturating_add(window + 1)));
        let mut reader = Reader::new(snapshot, redactor);
        let mut excerpt = excerpt(&mut reader, key, rows.len())?;
        for row in &rows[from..to] {
            let Some(mut said) = reader.said(*row)? else { continue };
            said.anchor = *row == message;
            excerpt.messages.push(said);
        }
        (excerpt.before, excerpt.after) = (at - from, to - at - 1);
        excerpt.losses = reader.losses;
        Ok(excerpt)
    })
}

/// A whole session; of a long one the beginning and the end.
pub fn whole(store: &Path, session: &str, redactor: &Redactor) -> Result<Excerpt, store::Error> {
    store::read(store, |snapshot| {
        let key = snapshot.resolve(session)?;
        let rows: Vec<i64> = snapshot.extent(key, Shown::Active)?.rows().collect();
        let mut reader = Reader::new(snapshot, redactor);
        let mut excerpt = excerpt(&mut reader, key, rows.len())?;
        let is_cut = rows.len() > HEAD + TAIL;
        for (n, row) in rows.iter().enumerate() {
            if !is_cut || n < HEAD || n >= rows.len() - TAIL {
                excerpt.messages.extend(reader.said(*row)?);
            }
        }
        excerpt.losses = reader.losses;
        Ok(excerpt)
    })
}

fn excerpt(
    reader: &mut Reader<'_>,
    key: SessionKey,
    total: usize,
) -> Result<Excerpt, store::Error> {
    let row = reader.begin(key)?;
    let text = |column| row.text(column).map(str::to_owned);
    Ok(Excerpt {
        session_id: row.id().to_owned(),
        started_at: row.number(SessionColumn::StartedAt),
        source: text(SessionColumn::Source),
        model: text(SessionColumn::Model),
        title: text(SessionColumn::Title),
        messages: Vec::new(),
        before: 0,
        after: 0,
        total,
        losses: Losses::default(),
    })
}

/// What was last active, without branches.
pub fn browse(
    store: &Path,
    listing: &Listing,
    redactor: &Redactor,
) -> Result<(Vec<Listed>, Losses), store::Error> {
    store::read(store, |snapshot| {
        // Room for the branches that are left out.
        let all = Listing { limit: listing.limit.saturating_mul(2) + 50, ..listing.clone() };
        let entries = snapshot.listed(&all)?.entries.into_iter();
        let begun = entries.filter(|entry| entry.kind == Kind::Conversation).take(listing.limit);
        let (mut sessions, mut losses) = (Vec::new(), Losses::default());
        for entry in begun {
            let mut reader = Reader::new(snapshot, redactor);
            sessions.push(listed(&mut reader, entry)?);
            losses.add(reader.losses);
        }
        Ok((sessions, losses))
    })
}
