//! A folder of pages about sessions and about all of them: the format says which pages there are, the
//! engine names them and keeps what it knows of each for the manifest.

use std::collections::BTreeMap;
use std::io::{self, Write};

use formats::{Folder, Leaf, StartFolder};

use super::document::Document;
use super::feed::Feed;
use super::gate::Gate;
use super::partial::Partial;
use super::place::Place;
use super::publish::Finished;
use super::staging::{Staged, Staging};
use super::write::{Writing, sound};
use super::{Encoding, Error, Failure, Request};
use crate::store::SessionKey;

impl Writing<'_> {
    /// Writes all pages of a folder.
    pub(super) fn site(
        &mut self,
        feed: &mut Feed<'_>,
        documents: &[Document],
        staging: &mut Staging,
        place: &Place,
        start: StartFolder,
    ) -> Result<Vec<Finished>, Error> {
        let wrote = Error::writing(&place.folder);
        let head = self.request.file_head(documents.len() as u64);
        let mut pages = Pages { staging, request: self.request, open: None, whole: Vec::new() };
        let mut writer = start(&mut pages, &head).map_err(&wrote)?;
        let mut written = BTreeMap::new();
        for document in documents {
            let opened = self.open(document, feed)?;
            let id = opened.head.id().to_owned();
            if !self.ids.insert(id.clone()) {
                let reason = "another session has the same id".to_owned();
                self.summary.failures.push(Failure { session: Some(id), reason });
                continue;
            }
            let lineage = opened.lineage.clone();
            let messages = opened.messages;
            let last = opened.last_message_ids().into_iter().flatten().max();
            let redactions = self.document(document, opened, feed, writer.as_mut(), &wrote)?;
            let key = document.0[0];
            written.insert(id, Written { key, lineage, messages, last, redactions });
        }
        writer.finish().map_err(&wrote)?;
        let pages = pages.finish().map_err(&wrote)?;
        leaking(&pages, &written)?;
        pages.into_iter().map(|page| self.page(page, &mut written)).collect()
    }

    /// A whole page. The first one of a session stands for it in the manifest.
    fn page(
        &self,
        page: Page<Staged>,
        written: &mut BTreeMap<String, Written>,
    ) -> Result<Finished, Error> {
        let staged = sound(page.file)?;
        let mut entry = self.entry(&staged, page.name);
        let written = page.session.and_then(|id| written.remove_entry(&id));
        let Some((id, Written { lineage, messages, last, redactions, .. })) = written else {
            entry.session_ids = Some(Vec::new());
            return Ok(Finished { staged, entry, documents: Vec::new() });
        };
        entry.session_id = Some(id);
        entry.lineage_session_ids.clone_from(&lineage);
        entry.message_count = messages;
        entry.last_message_id = last;
        entry.redactions = redactions;
        Ok(Finished { staged, entry, documents: vec![lineage] })
    }
}

/// Fails with the sessions whose pages still hold what looks like a secret.
fn leaking(pages: &[Page<Staged>], written: &BTreeMap<String, Written>) -> Result<(), Error> {
    let mut sessions = BTreeMap::new();
    for page in pages.iter().filter(|page| !page.file.leaks.is_empty()) {
        if let Some(id) = &page.session
            && let Some(session) = written.get(id)
        {
            let reason = Error::Leaks { rules: page.file.leaks.clone() }.to_string();
            sessions.insert(session.key, Failure { session: Some(id.clone()), reason });
        }
    }
    if sessions.is_empty() { Ok(()) } else { Err(Error::Leaking { sessions }) }
}

/// What the manifest is to say of a session.
struct Written {
    key: SessionKey,
    lineage: Vec<String>,
    messages: u64,
    last: Option<i64>,
    redactions: BTreeMap<String, u64>,
}

/// Pages of a folder while they are being written.
struct Pages<'a> {
    staging: &'a mut Staging,
    request: &'a Request,
    open: Option<Page<Partial>>,
    whole: Vec<Page<Staged>>,
}

/// A page, on its way or whole.
struct Page<F> {
    name: String,
    /// The session that it shows.
    session: Option<String>,
    file: F,
}

impl Pages<'_> {
    fn close(&mut self) -> io::Result<()> {
        if let Some(Page { name, session, file }) = self.open.take() {
            self.whole.push(Page { name, session, file: file.finish()? });
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<Vec<Page<Staged>>> {
        self.close()?;
        Ok(self.whole)
    }
}

impl Folder for Pages<'_> {
    fn begin(&mut self, leaf: Leaf<'_>) -> io::Result<String> {
        self.close()?;
        let name = self.name(leaf);
        let session = match leaf {
            Leaf::Session(session) => Some(session.id().to_owned()),
            Leaf::More { .. } => self.whole.last().and_then(|page| page.session.clone()),
            Leaf::Named(_) => None,
        };
        // A reader opens pages with a browser, so they are never packed.
        let gate = Gate::new(&self.request.redactor, self.request.format);
        let file = self.staging.file(&Encoding::Plain, gate)?;
        self.open = Some(Page { name: name.clone(), session, file });
        Ok(name)
    }

    fn name(&self, leaf: Leaf<'_>) -> String {
        match leaf {
            Leaf::Named(name) => name.to_owned(),
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
