//! One file of many sessions. Up to some megabytes it is all plain; beyond, sessions are packed into
//! islands that the script opens on demand, and only the newest stay plain for readers without it.

use std::collections::HashSet;
use std::io::{self, Write};
use std::mem;

use maud::html;

use super::index::{self, Entry};
use super::island::Packer;
use super::shell::{self, Kind};
use super::stream::{self, Place, Stream};
use super::transcript::{Stretch, Transcript};
use super::{Origin, about};
use crate::{Apart, FileHead, FormatWriter, SessionHead, SessionWriter};

/// More markup than this is packed.
const PLAIN: usize = 6 << 20; // bytes
/// This many of the newest sessions are plain in any case, unless they are very long.
const NEWEST: u64 = 3;
const LONG: u64 = 1000; // messages
/// A session's title is a heading of this level.
const LEVEL: u8 = 2;

pub(super) struct Archive<'w> {
    out: &'w mut (dyn Write + Send),
    /// Sessions to come.
    left: u64,
    index: Vec<Entry>,
    keys: HashSet<String>,
    store: Store,
    origin: Origin,
}

/// Where sessions go.
enum Store {
    /// They wait until it is known how much there is.
    Waiting { sections: Vec<Section>, bytes: usize },
    /// There is too much for a plain page.
    Packed(Packer),
}

/// A session's share of the page.
struct Section {
    key: String,
    /// Title and facts, of a session that is plain.
    about: String,
    /// The same for one that is packed: what stays outside, and the facts for inside.
    brief: String,
    facts: String,
    messages: String,
    /// Whether it stays plain in any case.
    is_newest: bool,
}

impl<'w> Archive<'w> {
    pub(super) fn begin(out: &'w mut (dyn Write + Send), head: &FileHead) -> io::Result<Self> {
        let title = index::counted(head.sessions);
        out.write_all(shell::begin(&title, Kind::Many).as_bytes())?;
        out.write_all(html! { h1.title { (title) } }.0.as_bytes())?;
        let store = Store::Waiting { sections: Vec::new(), bytes: 0 };
        let origin = Origin::of(head);
        let (index, keys) = (Vec::new(), HashSet::new());
        Ok(Self { out, left: head.sessions, index, keys, store, origin })
    }

    /// Takes markup of the session in hand.
    fn take(&mut self, open: &mut Open, markup: &str) -> io::Result<()> {
        match (&mut *open, &mut self.store) {
            (Open::Plain, Store::Packed(packer)) => packer.markup(markup, self.out),
            (Open::Packed, Store::Packed(packer)) => packer.text(markup, self.out),
            (Open::Waiting(section), Store::Waiting { bytes, .. }) => {
                section.messages.push_str(markup);
                *bytes += markup.len();
                if *bytes > PLAIN { self.pack(open) } else { Ok(()) }
            }
            _ => Err(io::Error::other("a section waits for as long as all do")),
        }
    }

    /// Writes what has waited, and goes on packed.
    fn pack(&mut self, open: &mut Open) -> io::Result<()> {
        let mut packer = Packer::new();
        let note = "This page is large, so most messages are packed; they open with JavaScript. \
                    Without it, export a session alone, or a folder of pages.";
        packer.markup(&html! { noscript { p.note { (note) } } }.0, self.out)?;
        if let Store::Waiting { sections, .. } = &mut self.store {
            for section in mem::take(sections) {
                section.begin(&mut packer, self.out)?;
                packer.markup(SECTION_END, self.out)?;
            }
        }
        if let Open::Waiting(section) = mem::replace(open, Open::Plain) {
            *open = section.begin(&mut packer, self.out)?;
        }
        self.store = Store::Packed(packer);
        Ok(())
    }
}

impl FormatWriter for Archive<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let key = index::key(head.session.id());
        let place = |id: &str| Some(index::key(id)).filter(|key| self.keys.contains(key));
        let href = |id: &str| place(id).map(|key| format!("#{key}"));
        let section = Section {
            key: key.clone(),
            about: about::about(head, LEVEL, &self.origin, &href).0,
            brief: about::in_brief(head, LEVEL, &self.origin).0,
            facts: about::listed(head, &self.origin, &href).0,
            messages: about::system_prompt(head.session).0,
            is_newest: self.left <= NEWEST && head.messages <= LONG,
        };
        self.left = self.left.saturating_sub(1);
        self.index.push(Entry::of(head, &format!("#{key}")));
        self.keys.insert(key);
        let transcript = Transcript::below(LEVEL, &self.origin);
        let open = match &mut self.store {
            Store::Waiting { bytes, .. } => {
                *bytes += section.about.len() + section.messages.len();
                Open::Waiting(section)
            }
            Store::Packed(packer) => section.begin(packer, self.out)?,
        };
        Ok(Box::new(Stream::new(transcript, One { archive: self, open })))
    }

    fn apart(&self) -> Option<Apart> {
        Some(stream::apart(LEVEL, &self.origin))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        match self.store {
            Store::Waiting { sections, .. } => {
                for section in sections {
                    self.out.write_all(section.plain().as_bytes())?;
                    self.out.write_all(SECTION_END.as_bytes())?;
                }
            }
            Store::Packed(packer) => packer.finish(self.out)?,
        }
        let side = index::list(&self.index, &self.origin.zone);
        self.out.write_all(shell::end(Kind::Many, &side, &self.origin).as_bytes())
    }
}

const SECTION_END: &str = "</section>\n";

impl Section {
    /// Writes the section as it is to stay: plain, or packed.
    fn begin(self, packer: &mut Packer, out: &mut dyn Write) -> io::Result<Open> {
        if self.is_newest {
            packer.markup(&self.plain(), out)?;
            return Ok(Open::Plain);
        }
        let Self { key, brief, facts, messages, .. } = self;
        packer.markup(&format!("<section class=\"session packed\" id=\"{key}\">{brief}"), out)?;
        packer.text(&facts, out)?;
        packer.text(&messages, out)?;
        Ok(Open::Packed)
    }

    fn plain(&self) -> String {
        let Self { key, about, messages, .. } = self;
        format!("<section class=\"session\" id=\"{key}\">{about}{messages}")
    }
}

/// A session that is being written.
enum Open {
    Waiting(Section),
    Plain,
    Packed,
}

struct One<'s, 'w> {
    archive: &'s mut Archive<'w>,
    open: Open,
}

impl Place for One<'_, '_> {
    fn take(&mut self, stretch: Stretch) -> io::Result<()> {
        self.archive.take(&mut self.open, &stretch.markup)
    }

    fn finish(self) -> io::Result<()> {
        let Self { archive, open } = self;
        match (open, &mut archive.store) {
            (Open::Waiting(section), Store::Waiting { sections, .. }) => sections.push(section),
            (_, Store::Packed(packer)) => packer.markup(SECTION_END, archive.out)?,
            _ => {}
        }
        Ok(())
    }
}
