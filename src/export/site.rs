//! A folder of pages about sessions and about all of them: the format says which pages there are, the
//! engine names them and keeps what it knows of each for the manifest.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::PathBuf;

use formats::{Folder, Leaf, StartFolder};

use super::document::Document;
use super::feed::Feed;
use super::gate::Gate;
use super::others::Others;
use super::partial::Partial;
use super::place::Place;
use super::publish::Finished;
use super::report::Told;
use super::staging::{Staged, Staging};
use super::turns::in_turn;
use super::write::{Writing, sound};
use super::{Encoding, Error, Failure, Request};
use crate::manifest::Entry;
use crate::store::SessionKey;

impl Writing<'_> {
    /// Writes all pages of a folder.
    pub(super) fn site(
        &mut self,
        feeds: Vec<Feed<'_>>,
        documents: &[Document],
        staging: &Staging,
        place: &Place,
        start: StartFolder,
    ) -> Result<Vec<Finished>, Error> {
        let wrote = Error::writing(&place.folder);
        let head = self.each.request.file_head(documents.len() as u64);
        let others = Others::of(&place.folder, self.each.request)?;
        let mut pages = Pages::new(staging, self.each.request, others);
        let mut writer = start(&mut pages, &head).map_err(&wrote)?;
        let (mut written, mut told) = (BTreeMap::new(), Told::default());
        let (each, apart) = (self.each, writer.apart());
        in_turn(each, feeds, documents, apart, |turns| {
            for document in documents {
                let begun = turns.begin(each, document, &mut told)?;
                let id = begun.heading.session.id().to_owned();
                if !self.ids.insert(id.clone()) {
                    let reason = "another session has the same id".to_owned();
                    self.summary.failures.push(Failure { session: Some(id), reason });
                    turns.pass(&begun);
                    continue;
                }
                let key = document.0[0];
                let lineage = begun.heading.lineage.clone();
                let counts = begun.heading.message_counts();
                let last = begun.heading.last_message_ids();
                let of = (each, document);
                let redactions = turns.write(of, begun, writer.as_mut(), &wrote, &mut told)?;
                written.insert(id, Written { key, lineage, counts, last, redactions });
            }
            Ok(())
        })?;
        writer.finish().map_err(&wrote)?;
        self.summary.take(told);
        let Whole { pages, leaks, failures, .. } = pages.finish().map_err(&wrote)?;
        leaking(&pages, leaks, &written)?;
        self.summary.failures.extend(failures);
        pages.into_iter().map(|page| self.page(page, &mut written)).collect()
    }

    /// A whole page. The first one of a session stands for it in the manifest, or the one that it is among.
    fn page(
        &self,
        page: Page<Staged>,
        written: &mut BTreeMap<String, Written>,
    ) -> Result<Finished, Error> {
        let staged = sound(page.file)?;
        let mut entry = self.each.entry(&staged, page.name);
        let documents = match page.holds {
            Holds::One(id) => match written.remove(&id) {
                Some(session) => session.alone(id, &mut entry),
                None => Written::none(&mut entry),
            },
            Holds::Many(ids) => {
                let sessions = ids.iter().filter_map(|id| written.get(id));
                sessions.map(|session| session.among(&mut entry)).collect()
            }
            Holds::PartsOf(ids) => {
                let sessions = ids.iter().filter_map(|id| written.get(id));
                entry.session_ids = Some(sessions.flat_map(|s| s.lineage.clone()).collect());
                Vec::new()
            }
            Holds::None => Written::none(&mut entry),
        };
        Ok(Finished { staged, entry, documents })
    }
}

/// Fails with the sessions whose pages, or parts of pages, still hold what looks like a secret.
fn leaking(
    pages: &[Page<Staged>],
    mut leaks: BTreeMap<String, Vec<String>>,
    written: &BTreeMap<String, Written>,
) -> Result<(), Error> {
    for page in pages.iter().filter(|page| !page.file.leaks.is_empty()) {
        if let Holds::One(id) = &page.holds {
            leaks.entry(id.clone()).or_default().extend(page.file.leaks.clone());
        }
    }
    let mut sessions = BTreeMap::new();
    for (id, rules) in leaks {
        if let Some(session) = written.get(&id) {
            let reason = Error::Leaks { rules }.to_string();
            sessions.insert(session.key, Failure { session: Some(id), reason });
        }
    }
    if sessions.is_empty() { Ok(()) } else { Err(Error::Leaking { sessions }) }
}

/// What the manifest is to say of a session: of its segments, how many messages each has and up to which.
struct Written {
    key: SessionKey,
    lineage: Vec<String>,
    counts: Vec<u64>,
    last: Vec<Option<i64>>,
    redactions: BTreeMap<String, u64>,
}

impl Written {
    /// The page holds this session alone.
    fn alone(self, id: String, entry: &mut Entry) -> Vec<Vec<String>> {
        entry.session_id = Some(id);
        entry.lineage_session_ids.clone_from(&self.lineage);
        entry.message_count = self.counts.iter().sum();
        entry.last_message_id = self.last.into_iter().flatten().max();
        entry.redactions = self.redactions;
        vec![self.lineage]
    }

    /// The page holds this session, too.
    fn among(&self, entry: &mut Entry) -> Vec<String> {
        entry.session_ids.get_or_insert_default().extend(self.lineage.clone());
        entry.message_counts.get_or_insert_default().extend(&self.counts);
        entry.last_message_ids.get_or_insert_default().extend(&self.last);
        entry.message_count += self.counts.iter().sum::<u64>();
        for (rule, count) in &self.redactions {
            *entry.redactions.entry(rule.clone()).or_default() += count;
        }
        self.lineage.clone()
    }

    /// The page holds no session.
    fn none(entry: &mut Entry) -> Vec<Vec<String>> {
        entry.session_ids = Some(Vec::new());
        Vec::new()
    }
}

/// Pages of a folder while they are being written.
struct Pages<'a> {
    staging: &'a Staging,
    request: &'a Request,
    open: Option<Page<Partial>>,
    /// What searches the part of a session that stands packed in the page.
    packed: Option<(String, Gate)>,
    whole: Whole,
    others: Others<'a>,
}

/// Pages that are whole.
#[derive(Default)]
struct Whole {
    pages: Vec<Page<Staged>>,
    /// Where each waits for its name.
    places: HashMap<String, PathBuf>,
    /// The rules that found something in parts of sessions which stand packed in pages.
    leaks: BTreeMap<String, Vec<String>>,
    /// What is to be told of pages that were there already.
    failures: Vec<Failure>,
}

/// A page, on its way or whole.
struct Page<F> {
    name: String,
    holds: Holds,
    file: F,
}

/// The sessions of a page.
#[derive(Debug, Clone)]
enum Holds {
    /// It is about all.
    None,
    /// It shows one.
    One(String),
    /// It has these, each whole but for what is beside it.
    Many(Vec<String>),
    /// It is beside one that has these.
    PartsOf(Vec<String>),
}

impl<'a> Pages<'a> {
    fn new(staging: &'a Staging, request: &'a Request, others: Others<'a>) -> Self {
        Self { staging, request, open: None, packed: None, whole: Whole::default(), others }
    }

    fn close(&mut self) -> io::Result<()> {
        self.look_at(None)?;
        if let Some(Page { name, holds, file }) = self.open.take() {
            let file = file.finish()?;
            self.whole.places.insert(name.clone(), file.path.clone());
            self.whole.pages.push(Page { name, holds, file });
        }
        Ok(())
    }

    /// Goes on searching what is packed in this session's part.
    fn look_at(&mut self, session: Option<&str>) -> io::Result<()> {
        if let Some((id, gate)) = self.packed.take() {
            let rules = gate.finish()?;
            if !rules.is_empty() {
                self.whole.leaks.entry(id).or_default().extend(rules);
            }
        }
        let gate = session.and_then(|id| {
            Some((id.to_owned(), Gate::new(&self.request.redactor, self.request.format)?))
        });
        self.packed = gate;
        Ok(())
    }

    fn finish(mut self) -> io::Result<Whole> {
        self.close()?;
        self.whole.failures = self.others.failures;
        Ok(self.whole)
    }
}

impl Folder for Pages<'_> {
    fn begin(&mut self, leaf: Leaf<'_>) -> io::Result<String> {
        let name = self.name(leaf);
        if let (Leaf::Among { session, .. }, Some(Page { name: open, holds: Holds::Many(ids), .. })) =
            (leaf, &mut self.open)
            && *open == name
        {
            ids.push(session.id().to_owned());
            self.look_at(Some(session.id()))?;
            return Ok(name);
        }
        self.close()?;
        let before = self.whole.pages.last().map(|page| &page.holds);
        let holds = match (leaf, before) {
            (Leaf::Session(session), _) => Holds::One(session.id().to_owned()),
            (Leaf::Among { session, .. }, _) => Holds::Many(vec![session.id().to_owned()]),
            (Leaf::Beside(_), Some(Holds::Many(ids))) => Holds::PartsOf(ids.clone()),
            (Leaf::More { .. }, Some(before)) => before.clone(),
            (Leaf::Beside(_) | Leaf::More { .. } | Leaf::Named(_), _) => Holds::None,
        };
        // What is packed is searched before it is.
        let gate = match leaf {
            Leaf::Among { session, .. } => {
                self.look_at(Some(session.id()))?;
                None
            }
            Leaf::Beside(_) => None,
            Leaf::Session(_) | Leaf::More { .. } | Leaf::Named(_) => {
                Gate::new(&self.request.redactor, self.request.format)
            }
        };
        // A reader opens pages with a browser, so they are never packed.
        let file = self.staging.file(&Encoding::Plain, gate)?;
        self.open = Some(Page { name: name.clone(), holds, file });
        Ok(name)
    }

    fn look(&mut self, text: &dyn Fn() -> Vec<u8>) -> io::Result<()> {
        match &mut self.packed {
            Some((_, gate)) => gate.push(&text()),
            None => Ok(()),
        }
    }

    fn others(&mut self) -> io::Result<Vec<String>> {
        self.close()?;
        let written = self.whole.pages.iter().filter_map(|page| match &page.holds {
            Holds::One(id) => Some(id.as_str()),
            Holds::None | Holds::Many(_) | Holds::PartsOf(_) => None,
        });
        Ok(self.others.names(&written.collect()))
    }

    fn read(&mut self, name: &str) -> io::Result<Option<String>> {
        match self.whole.places.get(name) {
            Some(path) => std::fs::read_to_string(path).map(Some),
            None => self.others.read(name),
        }
    }

    fn name(&self, leaf: Leaf<'_>) -> String {
        match leaf {
            Leaf::Named(name) | Leaf::Among { name, .. } | Leaf::Beside(name) => name.to_owned(),
            Leaf::Session(session) => {
                let name = self.request.names.file(session, self.request.format);
                // The pages about all sessions have names of one word, which no session may take.
                match name.split_once('.') {
                    Some((stem, rest)) if stem.bytes().all(|b| b.is_ascii_lowercase()) => {
                        format!("{stem}~.{rest}")
                    }
                    Some(_) | None => name,
                }
            }
            Leaf::More { first, part } => match first.rsplit_once('.') {
                Some((stem, extension)) => format!("{stem}.{part}.{extension}"),
                None => format!("{first}.{part}"),
            },
        }
    }
}

impl Write for Pages<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.open {
            Some(page) => page.file.write(bytes),
            None => Err(io::Error::other("no page was begun")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
