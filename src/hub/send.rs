//! An upload: look, make the dataset if there is none, skip what it has, commit the rest in batches.
//!
//! A commit names the one that it follows, so it either is what was meant or does not happen. After
//! any failure the dataset is looked at again: a commit whose answer was lost is found there.

use std::collections::HashMap;

use super::client::{Commit, View};
use super::content::Content;
use super::patience::Patience;
use super::{Card, Client, Dataset, Error, Local, Visibility, card};
use crate::progress::Progress;

/// What to send, and where to.
pub struct Upload {
    /// Where to.
    pub dataset: Dataset,
    /// Who is to see it.
    pub visibility: Visibility,
    /// Whole files, redacted and checked.
    pub files: Vec<Local>,
    /// The dataset's card, where it has none.
    pub card: Card,
}

/// What an upload did, also one that failed on the way.
#[derive(Debug, Default)]
pub struct Report {
    /// Whether the dataset is new.
    pub created: bool,
    /// Files that were sent.
    pub sent: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that were there already.
    pub unchanged: u64,
    /// Commits that were made.
    pub commits: u64,
    /// The paths in the dataset that are right now.
    pub settled: Vec<String>,
}

/// The Hub advises against more files in one commit.
const MOST_FILES: usize = 50;
/// A commit is one request, and must get through a slow line before the Hub loses patience.
const MOST_BYTES: u64 = 8 << 20;
/// Paths that are asked for at once.
const PATHS: usize = 200;
/// A folder on the Hub holds 10,000 files.
const MOST_IN_A_FOLDER: usize = 9000;

/// Sends files to a dataset. `report` says what was done, whether or not all of it could be.
pub fn send(
    client: &Client,
    upload: &Upload,
    report: &mut Report,
    progress: &dyn Progress,
) -> Result<(), Error> {
    if upload.files.len() > MOST_IN_A_FOLDER {
        return Err(Error::TooMany(upload.files.len()));
    }
    let mut sending = Sending::new(client, upload, report, progress)?;
    let mut view = sending.open()?;
    let known = sending.settle(&view)?;
    sending.report.unchanged = known.len() as u64;
    progress.begin(sending.pending.iter().map(|file| file.content.bytes).sum());
    let mut patience = Patience::default();
    while !sending.pending.is_empty() {
        let batch = sending.batch();
        match sending.commit(batch, &view) {
            Ok(()) => patience = Patience::default(),
            Err(trouble) => {
                patience.wait(trouble, &upload.dataset.to_string(), progress)?;
                view = sending.look()?;
                sending.recover(&view)?;
                continue;
            }
        }
        if !sending.pending.is_empty() {
            view = sending.look()?;
        }
    }
    Ok(())
}

/// A file that may have to be sent.
struct Pending {
    file: Local,
    content: Content,
    /// Whether the dataset has another content of it.
    is_update: bool,
}

struct Sending<'u> {
    client: &'u Client,
    upload: &'u Upload,
    report: &'u mut Report,
    progress: &'u dyn Progress,
    pending: Vec<Pending>,
    /// Whether the dataset has no card.
    needs_card: bool,
}

impl<'u> Sending<'u> {
    fn new(
        client: &'u Client,
        upload: &'u Upload,
        report: &'u mut Report,
        progress: &'u dyn Progress,
    ) -> Result<Self, Error> {
        let pending = upload.files.iter().map(|file| {
            let content = Content::of(&file.path)
                .map_err(|source| Error::Read { path: file.path.clone(), source })?;
            Ok(Pending { file: file.clone(), content, is_update: false })
        });
        let pending = pending.collect::<Result<_, Error>>()?;
        Ok(Self { client, upload, report, progress, pending, needs_card: false })
    }

    /// The dataset, made if there is none.
    fn open(&mut self) -> Result<View, Error> {
        let Upload { dataset, visibility, .. } = self.upload;
        if let Some(view) = self.client.look(dataset, self.progress)? {
            self.require(&view)?;
            return Ok(view);
        }
        self.client.create(dataset, *visibility == Visibility::Private, self.progress)?;
        self.report.created = true;
        self.look()
    }

    /// Looks again; the dataset must be there, and seen by whom it should be.
    fn look(&mut self) -> Result<View, Error> {
        let dataset = &self.upload.dataset;
        let view = self.client.look(dataset, self.progress)?;
        let view = view.ok_or_else(|| Error::Missing(dataset.to_string()))?;
        self.require(&view)?;
        Ok(view)
    }

    fn require(&self, view: &View) -> Result<(), Error> {
        let dataset = self.upload.dataset.to_string();
        let more = if self.report.sent > 0 { "more " } else { "" };
        let settings = format!("{}/settings", self.client.address(&self.upload.dataset));
        match (self.upload.visibility, view.is_private) {
            (Visibility::Private, true) | (Visibility::Public, false) => Ok(()),
            (Visibility::Private, false) => Err(Error::IsPublic { dataset, more, settings }),
            (Visibility::Public, true) => Err(Error::IsPrivate { dataset, more, settings }),
        }
    }

    /// Takes out what the dataset has in the very same bytes, and gives it.
    fn settle(&mut self, view: &View) -> Result<Vec<Pending>, Error> {
        let Some(head) = &view.head else {
            self.needs_card = true;
            return Ok(Vec::new());
        };
        let mut there = HashMap::new();
        let names = self.pending.iter().map(|pending| pending.file.name.clone());
        let paths: Vec<String> = std::iter::once(card::NAME.to_owned()).chain(names).collect();
        for paths in paths.chunks(PATHS) {
            let dataset = &self.upload.dataset;
            there.extend(self.client.contents(dataset, head, paths.to_vec(), self.progress)?);
        }
        self.needs_card = !there.contains_key(card::NAME);
        for pending in &mut self.pending {
            pending.is_update = there.contains_key(&pending.file.name);
        }
        let is_there = |pending: &mut Pending| {
            there.get(&pending.file.name).is_some_and(|oid| pending.content.is(oid))
        };
        let known: Vec<Pending> = self.pending.extract_if(.., is_there).collect();
        self.report.settled.extend(known.iter().map(|pending| pending.file.name.clone()));
        Ok(known)
    }

    /// After a failure: what is there now was sent all the same.
    fn recover(&mut self, view: &View) -> Result<(), Error> {
        let sent = self.settle(view)?;
        if !sent.is_empty() {
            self.report.commits += 1;
            self.count(&sent);
        }
        Ok(())
    }

    fn count(&mut self, sent: &[Pending]) {
        self.report.sent += sent.len() as u64;
        self.report.bytes += sent.iter().map(|pending| pending.content.bytes).sum::<u64>();
        self.progress.reach(self.report.bytes);
    }

    /// How many of the pending files go into the next commit: at least one.
    fn batch(&self) -> usize {
        let mut bytes = 0;
        let fits = |pending: &&Pending| {
            bytes += pending.content.bytes;
            bytes <= MOST_BYTES
        };
        self.pending.iter().take(MOST_FILES).take_while(fits).count().max(1)
    }

    fn commit(&mut self, batch: usize, view: &View) -> Result<(), super::patience::Trouble> {
        let files = &self.pending[..batch];
        let updates = files.iter().filter(|pending| pending.is_update).count();
        let card = self.needs_card.then(|| (card::NAME, self.card()));
        let commit = Commit {
            files: files.iter().map(|pending| pending.file.clone()).collect(),
            card,
            message: message(files.len() - updates, updates),
            parent: view.head.clone(),
        };
        let (dataset, so_far) = (&self.upload.dataset, self.report.bytes);
        self.client.commit(dataset, commit, so_far, self.progress)?;
        let sent: Vec<Pending> = self.pending.drain(..batch).collect();
        self.report.settled.extend(sent.iter().map(|pending| pending.file.name.clone()));
        self.report.commits += 1;
        self.needs_card = false;
        self.count(&sent);
        Ok(())
    }

    fn card(&self) -> String {
        self.upload.card.text(self.upload.visibility)
    }
}

fn message(new: usize, updates: usize) -> String {
    let sessions = |count: usize| format!("{count} session{}", if count == 1 { "" } else { "s" });
    match (new, updates) {
        (_, 0) => format!("Add {}", sessions(new)),
        (0, _) => format!("Update {}", sessions(updates)),
        (_, _) => format!("Add {}, update {updates}", sessions(new)),
    }
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn a_commit_says_what_it_does() {
        assert_eq!(message(1, 0), "Add 1 session");
        assert_eq!(message(0, 3), "Update 3 sessions");
        assert_eq!(message(2, 1), "Add 2 sessions, update 1");
    }
}
