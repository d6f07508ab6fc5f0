//! A folder of pages: one for each session, `index.html` that lists them, and `search.html` with the
//! text of all, packed. A very long session has several pages, cut where somebody begins to speak.
//!
//! The list and the search are of all pages in the folder, those of earlier runs, too. Both are made
//! of the finished pages, which carry what the list says of them, so that they are the same
//! whichever run wrote which page.

use std::collections::HashMap;
use std::io::{self, Write};

use maud::{Markup, PreEscaped, html};

use super::index::{self, Entry};
use super::island::Packer;
use super::plain::add_text;
use super::shell::{self, Kind};
use super::stream::{self, Place, Stream};
use super::text::{shown, visible};
use super::transcript::{Begun, Prompt, Stretch, Transcript};
use super::{Origin, about};
use crate::{Apart, FileHead, Folder, FormatWriter, Leaf, SessionHead, SessionWriter};

/// A page with more is continued on another.
const LONGEST: u64 = 2000; // messages
const LARGEST: usize = 3 << 20; // bytes
/// A session's title is a heading of this level.
const LEVEL: u8 = 1;

const INDEX: &str = "index.html";
const SEARCH: &str = "search.html";

pub(super) struct Site<'w> {
    folder: &'w mut dyn Folder,
    index: Vec<Entry>,
    /// The first page of each session.
    places: HashMap<String, String>,
    origin: Origin,
}

#[expect(clippy::unnecessary_wraps, reason = "other formats may fail here")]
pub(super) fn start<'w>(
    folder: &'w mut dyn Folder,
    head: &FileHead,
) -> io::Result<Box<dyn FormatWriter + 'w>> {
    let origin = Origin::of(head);
    Ok(Box::new(Site { folder, index: Vec::new(), places: HashMap::new(), origin }))
}

impl FormatWriter for Site<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let Self { folder, index, places, origin } = self;
        let title = about::title(head.session);
        let name = folder.begin(Leaf::Session(head.session))?;
        let entry = Entry::of(head, &name);
        let begin = shell::begin_with(&title, Kind::Session, Some(&entry.carried()));
        let facts = about::about(head, LEVEL, origin, &|parent| places.get(parent).cloned());
        folder.write_all(begin.as_bytes())?;
        folder.write_all(facts.0.as_bytes())?;
        folder.write_all(about::system_prompt(head.session).0.as_bytes())?;
        index.push(entry);
        places.insert(head.session.id().to_owned(), name.clone());
        let page =
            Part { number: 1, name: name.clone(), messages: 0, bytes: 0, outline: String::new() };
        let transcript = Transcript::below(LEVEL, origin);
        let pages = Pages { folder: *folder, origin, first: name, title, page };
        Ok(Box::new(Stream::new(transcript, pages)))
    }

    fn apart(&self) -> Option<Apart> {
        Some(stream::apart(LEVEL, &self.origin))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        for name in self.folder.others()? {
            let entry = self.earlier(&name)?;
            self.index.extend(entry);
        }
        self.index.sort_by(Entry::order);
        self.search()?;
        self.folder.begin(Leaf::Named(INDEX))?;
        let title = index::counted(self.index.len() as u64);
        self.folder.write_all(shell::begin(&title, Kind::Index).as_bytes())?;
        let list = html! { h1 { (title) } (index::list(&self.index, &self.origin.zone)) };
        self.folder.write_all(list.0.as_bytes())?;
        self.folder.write_all(shell::end(Kind::Index, &to_others(SEARCH), &self.origin).as_bytes())
    }
}

impl Site<'_> {
    /// What the list says of a page that an earlier run wrote.
    fn earlier(&mut self, name: &str) -> io::Result<Option<Entry>> {
        // A name that means something in an address may lead anywhere.
        let is_plain = |c: char| c.is_alphanumeric() || "-_.~ ".contains(c);
        if !name.chars().all(is_plain) || name.starts_with('.') {
            return Ok(None);
        }
        let Some(page) = self.folder.read(name)? else { return Ok(None) };
        let carried = shell::read(&page).and_then(|(carried, _)| carried);
        Ok(carried.and_then(|carried| Entry::read(&carried, name)))
    }

    /// Writes the page that searches all.
    fn search(&mut self) -> io::Result<()> {
        self.folder.begin(Leaf::Named(SEARCH))?;
        let inner = html! {
            (PreEscaped(shell::begin("Search all sessions", Kind::Search)))
            h1 { "Search all sessions" }
            noscript { p.note { "Searching needs JavaScript; every page can be read without." } }
            div #results {}
        };
        self.folder.write_all(inner.0.as_bytes())?;
        let mut packer = Packer::new();
        for n in (0..self.index.len()).rev() {
            self.pack(n, &mut packer)?;
        }
        packer.finish(&mut self.folder)?;
        let end = shell::end(Kind::Search, &to_others(INDEX), &self.origin);
        self.folder.write_all(end.as_bytes())
    }

    /// Packs the text of a session's pages.
    fn pack(&mut self, n: usize, packer: &mut Packer) -> io::Result<()> {
        let Entry { href: first, title, .. } = &self.index[n];
        let (mut name, mut title, mut part) = (first.clone(), title.clone(), 1);
        while let Some(page) = self.folder.read(&name)? {
            let Some((_, shown)) = shell::read(&page) else { break };
            packer.markup(&begin_packed(&name, &title), &mut self.folder)?;
            packer.text(&searched(shown), &mut self.folder)?;
            packer.markup("</div>\n", &mut self.folder)?;
            part += 1;
            name = self.folder.name(Leaf::More { first, part });
            title = numbered(&self.index[n].title, part);
            if !page.contains(&coming_next(&name).0) {
                break;
            }
        }
        Ok(())
    }
}

/// The text of what a page shows, but for the facts about its session.
fn searched(shown: &str) -> String {
    let mut text = String::with_capacity(shown.len());
    match shown.split_once("<dl>").and_then(|(head, rest)| Some((head, rest.split_once("</dl>")?)))
    {
        Some((head, (_, rest))) => [head, rest].iter().for_each(|part| add_text(part, &mut text)),
        None => add_text(shown, &mut text),
    }
    text
}

/// What the page of this number is called.
fn numbered(title: &str, number: u32) -> String {
    format!("{title} ({number})")
}

/// A link to the page that goes on.
fn coming_next(name: &str) -> Markup {
    html! { p.note { a href=(name) { "What comes next" } } }
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
    /// The name of its first page.
    first: String,
    title: String,
    page: Part,
}

impl Pages<'_> {
    fn add(&mut self, markup: &str) -> io::Result<()> {
        self.page.bytes += markup.len();
        self.folder.write_all(markup.as_bytes())
    }

    /// A message begins.
    fn begin(&mut self, message: Begun) -> io::Result<()> {
        let is_full = self.page.messages >= LONGEST || self.page.bytes >= LARGEST;
        if is_full && message.is_users {
            self.turn_over()?;
        }
        self.page.messages += 1;
        if let Some(Prompt { id, text }) = message.prompt {
            let entry = html! { li { a href=(format!("#m{id}")) { (shown(&text)) } } };
            self.page.outline.push_str(&entry.0);
        }
        Ok(())
    }

    /// Ends this page and begins the next.
    fn turn_over(&mut self) -> io::Result<()> {
        let number = self.page.number + 1;
        let first = self.first.clone();
        let leaf = Leaf::More { first: &first, part: number };
        let next = self.folder.name(leaf);
        let before = self.page.name.clone();
        self.end_page(Some(&next))?;
        let name = self.folder.begin(leaf)?;
        let title = numbered(&self.title, number);
        self.folder.write_all(shell::begin(&title, Kind::Session).as_bytes())?;
        let inner = html! {
            h1 { bdi { (shown(&title)) } }
            p.note { a href=(before) { "What came before" } }
        };
        self.folder.write_all(inner.0.as_bytes())?;
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
            self.folder.write_all(coming_next(next).0.as_bytes())?;
        }
        self.folder.write_all(shell::end(Kind::Session, &side, self.origin).as_bytes())
    }
}

impl Place for Pages<'_> {
    fn take(&mut self, stretch: Stretch) -> io::Result<()> {
        let mut from = 0;
        for message in stretch.messages {
            self.add(&stretch.markup[from..message.at])?;
            from = message.at;
            self.begin(message)?;
        }
        self.add(&stretch.markup[from..])
    }

    fn finish(mut self) -> io::Result<()> {
        self.end_page(None)
    }
}
