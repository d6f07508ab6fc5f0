//! A folder of pages: one for each session, `index.html` that lists them, and `search.html` with the
//! text of all, packed. A very long session has several pages, cut where somebody begins to speak.

use std::collections::HashMap;
use std::io::{self, Seek as _, Write};

use maud::{Markup, PreEscaped, html};
use tempfile::SpooledTempFile;

use super::index::{self, Entry};
use super::island::Packer;
use super::plain::add_text;
use super::shell::{self, Kind};
use super::text::{shown, visible};
use super::transcript::{Prompt, Transcript};
use super::{Origin, about};
use crate::model::{Message, Role, Session};
use crate::{FileHead, Folder, FormatWriter, Leaf, SessionHead, SessionWriter};

/// A page with more is continued on another.
const LONGEST: u64 = 2000; // messages
const LARGEST: usize = 3 << 20; // bytes
/// What waits for the last pages is kept in memory up to this size, and on the disk beyond.
const IN_MEMORY: usize = 1 << 20; // bytes

const INDEX: &str = "index.html";
const SEARCH: &str = "search.html";

pub(super) struct Site<'w> {
    folder: &'w mut dyn Folder,
    index: Vec<Entry>,
    /// The first page of each session.
    places: HashMap<String, String>,
    /// The text of all pages, packed.
    packed: SpooledTempFile,
    packer: Packer,
    origin: Origin,
}

#[expect(clippy::unnecessary_wraps, reason = "other formats may fail here")]
pub(super) fn start<'w>(
    folder: &'w mut dyn Folder,
    head: &FileHead,
) -> io::Result<Box<dyn FormatWriter + 'w>> {
    let packed = SpooledTempFile::new(IN_MEMORY);
    let origin = Origin::of(head);
    Ok(Box::new(Site {
        folder,
        index: Vec::new(),
        places: HashMap::new(),
        packed,
        packer: Packer::new(),
        origin,
    }))
}

impl FormatWriter for Site<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let Self { folder, index, places, packed, packer, origin } = self;
        let id = head.session.id().to_owned();
        let title = about::title(head.session);
        let name = folder.begin(Leaf::Session(head.session))?;
        let facts = about::about(head, 1, origin, &|parent| places.get(parent).cloned());
        folder.write_all(shell::begin(&title, Kind::Session).as_bytes())?;
        folder.write_all(facts.0.as_bytes())?;
        folder.write_all(about::system_prompt(head.session).0.as_bytes())?;
        index.push(Entry::at(head, &name, &origin.zone));
        places.insert(id, name.clone());
        packer.markup(&begin_packed(&name, &title), packed)?;
        let first =
            Part { number: 1, name: name.clone(), messages: 0, bytes: 0, outline: String::new() };
        let transcript = Transcript::below(1, origin);
        Ok(Box::new(Pages {
            folder: *folder,
            origin,
            packed,
            first: name,
            title,
            page: first,
            packer,
            transcript,
            text: String::new(),
        }))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.folder.begin(Leaf::Named(SEARCH))?;
        self.folder.write_all(shell::begin("Search all sessions", Kind::Search).as_bytes())?;
        let inner = html! {
            h1 { "Search all sessions" }
            noscript { p.note { "Searching needs JavaScript; every page can be read without." } }
            div #results {}
        };
        self.folder.write_all(inner.0.as_bytes())?;
        self.packer.finish(&mut self.packed)?;
        self.packed.rewind()?;
        io::copy(&mut self.packed, &mut self.folder)?;
        self.folder
            .write_all(shell::end(Kind::Search, &to_others(INDEX), &self.origin).as_bytes())?;

        self.folder.begin(Leaf::Named(INDEX))?;
        let title = index::counted(self.index.len() as u64);
        self.folder.write_all(shell::begin(&title, Kind::Index).as_bytes())?;
        let list = html! { h1 { (title) } (index::list(&self.index)) };
        self.folder.write_all(list.0.as_bytes())?;
        self.folder.write_all(shell::end(Kind::Index, &to_others(SEARCH), &self.origin).as_bytes())
    }
}

/// A link to a page about all others.
fn to_others(name: &str) -> Markup {
    let text = if name == INDEX { "All sessions" } else { "Search all sessions" };
    html! { p { a href=(name) { (text) } } }
}

/// Begins a page's part of the page that searches all.
fn begin_packed(name: &str, title: &str) -> String {
    let page = html! { div.page data-href=(name) data-title=(visible(title)) {} };
    page.0.trim_end_matches("</div>").to_owned()
}

/// A page of a session.
struct Part {
    /// From 1.
    number: u32,
    name: String,
    messages: u64,
    bytes: usize,
    outline: String,
}

/// A session that is being written.
struct Pages<'s> {
    folder: &'s mut dyn Folder,
    origin: &'s Origin,
    packed: &'s mut SpooledTempFile,
    /// The name of its first page.
    first: String,
    title: String,
    page: Part,
    packer: &'s mut Packer,
    transcript: Transcript,
    /// That of the markup in hand.
    text: String,
}

impl Pages<'_> {
    fn flush(&mut self) -> io::Result<()> {
        for Prompt { id, text } in self.transcript.take_prompts() {
            let entry = html! { li { a href=(format!("#m{id}")) { (shown(&text)) } } };
            self.page.outline.push_str(&entry.0);
        }
        let markup = self.transcript.take();
        self.page.bytes += markup.len();
        self.text.clear();
        add_text(&markup, &mut self.text);
        self.packer.text(&self.text, &mut *self.packed)?;
        self.folder.write_all(markup.as_bytes())
    }

    /// Ends this page and begins the next.
    fn turn_over(&mut self) -> io::Result<()> {
        self.transcript.end_turn();
        self.flush()?;
        let number = self.page.number + 1;
        let first = self.first.clone();
        let leaf = Leaf::More { first: &first, part: number };
        let next = self.folder.name(leaf);
        let before = self.page.name.clone();
        self.end_page(Some(&next))?;
        let name = self.folder.begin(leaf)?;
        let title = format!("{} ({number})", self.title);
        self.folder.write_all(shell::begin(&title, Kind::Session).as_bytes())?;
        let inner = html! {
            h1 { bdi { (shown(&title)) } }
            p.note { a href=(before) { "What came before" } }
        };
        self.folder.write_all(inner.0.as_bytes())?;
        self.packer.markup(&begin_packed(&name, &title), &mut *self.packed)?;
        self.page = Part { number, name, messages: 0, bytes: 0, outline: String::new() };
        Ok(())
    }

    fn end_page(&mut self, next: Option<&str>) -> io::Result<()> {
        let outline = std::mem::take(&mut self.page.outline);
        let side = html! {
            (to_others(INDEX))
            (to_others(SEARCH))
            h2 { "Prompts" }
            @if outline.is_empty() { p { "None." } } @else { ol { (PreEscaped(outline)) } }
        };
        if let Some(next) = next {
            let link = html! { p.note { a href=(next) { "What comes next" } } };
            self.folder.write_all(link.0.as_bytes())?;
        }
        self.folder.write_all(shell::end(Kind::Session, &side, self.origin).as_bytes())?;
        self.packer.markup("</div>\n", &mut *self.packed)
    }
}

impl SessionWriter for Pages<'_> {
    fn segment(&mut self, part: &Session<'_>) -> io::Result<()> {
        self.transcript.segment(part);
        self.flush()
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        let is_full = self.page.messages >= LONGEST || self.page.bytes >= LARGEST;
        if is_full && message.role() == Role::User {
            self.turn_over()?;
        }
        self.page.messages += 1;
        self.transcript.message(message);
        self.flush()
    }

    fn lost(&mut self, column: &str, what: &str) -> io::Result<()> {
        self.transcript.lost(column, what);
        self.flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.transcript.end_turn();
        self.flush()?;
        self.end_page(None)
    }
}
