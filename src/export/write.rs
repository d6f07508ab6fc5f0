//! Writing documents down as they come from the store.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use formats::{Feature, FormatWriter, NothingToShow};

use super::document::{Context, Document, Opened};
use super::feed::Feed;
use super::gate::Gate;
use super::place::Place;
use super::publish::Finished;
use super::renew::Mark;
use super::report::Told;
use super::run::unreadable;
use super::staging::{Staged, Staging};
use super::turns::in_turn;
use super::{Error, Listing, Reach, Renewal, Request, Summary, Target};
use crate::manifest::Entry;
use crate::progress::Progress;
use crate::store::{self, SessionKey};

/// Documents being written down.
pub(super) struct Writing<'r> {
    pub(super) each: &'r Each<'r>,
    pub(super) summary: Summary,
    /// Of the documents so far; ids that are no UTF-8 can become the same.
    pub(super) ids: HashSet<String>,
}

/// What writes one of them down.
pub(super) struct Each<'r> {
    pub(super) request: &'r Request,
    pub(super) progress: &'r dyn Progress,
    /// What the sessions are like, where that is to be recorded.
    pub(super) marks: HashMap<SessionKey, Mark>,
}

impl<'r> Writing<'r> {
    pub(super) fn new(each: &'r Each<'r>, summary: Summary) -> Self {
        Self { each, summary, ids: HashSet::new() }
    }

    /// Writes all documents into one file; none where the format shows nothing of any of them.
    pub(super) fn one_file(
        &mut self,
        feeds: Vec<Feed<'_>>,
        documents: &[Document],
        staging: &Staging,
        place: &Place,
    ) -> Result<Vec<Finished>, Error> {
        let Self { each, summary, .. } = self;
        let (wrote, mut told) = (Error::writing(&place.folder), Told::default());
        let mut file = staging
            .file(&each.request.encoding, Gate::new(&each.request.redactor, each.request.format))
            .map_err(&wrote)?;
        let (mut lineages, mut counts, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let mut redactions = BTreeMap::<String, u64>::new();
        let head = each.request.file_head(documents.len() as u64);
        let mut writer = (each.request.format.start)(&mut file, &head).map_err(&wrote)?;
        let apart = writer.apart();
        in_turn(each, feeds, documents, apart, |turns| {
            for document in documents {
                let begun = turns.begin(each, document, &mut told)?;
                let lineage = begun.heading.lineage.clone();
                let messages = begun.heading.message_counts();
                let until = begun.heading.last_message_ids();
                let of = (*each, document);
                let taken_out = match turns.write(of, begun, writer.as_mut(), &wrote, &mut told) {
                    Err(Error::NothingToShow { session }) => {
                        summary.nothing_to_show.push(session);
                        continue;
                    }
                    other => other?,
                };
                lineages.push(lineage);
                counts.extend(messages);
                last.extend(until);
                for (rule, count) in taken_out {
                    *redactions.entry(rule).or_default() += count;
                }
            }
            Ok(())
        })?;
        writer.finish().map_err(&wrote)?;
        summary.take(told);
        if lineages.is_empty() {
            return Ok(Vec::new());
        }
        let staged = sound(file.finish().map_err(&wrote)?)?;
        let mut entry = each.entry(&staged, each.file_name());
        entry.message_count = counts.iter().sum();
        entry.session_ids = Some(lineages.concat());
        entry.message_counts = Some(counts);
        entry.redactions = redactions;
        entry.last_message_ids = Some(last);
        Ok(vec![Finished { staged, entry, documents: lineages }])
    }
}

impl Each<'_> {
    pub(super) fn open<'s>(
        &self,
        document: &Document,
        feed: &mut Feed<'s>,
        told: &mut Told,
    ) -> Result<Opened<'s>, Error> {
        let found = feed.document().ok_or(Error::Store(store::Error::CutOff))?;
        let found = found.map_err(|source| unreadable(document.0[0], None, source))?;
        Opened::of(*found, &self.request.redactor, &mut told.warnings)
    }

    pub(super) fn document(
        &self,
        document: &Document,
        opened: Opened<'_>,
        (feed, writer): (&mut Feed<'_>, &mut dyn FormatWriter),
        wrote: &dyn Fn(io::Error) -> Error,
        told: &mut Told,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let id = opened.heading.session.id().to_owned();
        let names_record = self.request.format.can(Feature::NamesItsRecord);
        let record = names_record.then(|| self.request.file_head(1));
        let mut context = Context {
            record: record.as_ref(),
            redactor: &self.request.redactor,
            progress: self.progress,
            warnings: &mut told.warnings,
        };
        let written = opened.write(feed, &mut context, writer, wrote);
        self.progress.step();
        let scope = written.map_err(|error| match error {
            Error::Store(source) => unreadable(document.0[0], Some(id), source),
            Error::Write { source, .. } if NothingToShow::is_cause(&source) => {
                Error::NothingToShow { session: id }
            }
            other => other,
        })?;
        if self.request.listing == Listing::Wanted {
            told.findings.extend(scope.findings());
        }
        Ok(scope.counts())
    }

    /// The name that the user gave the one file.
    pub(super) fn file_name(&self) -> String {
        match &self.request.target {
            Target::File(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            Target::Folder(_) | Target::Stream | Target::Nowhere => "-".to_owned(),
        }
    }

    pub(super) fn entry(&self, staged: &Staged, path: String) -> Entry {
        let Request { format, shown, redactor, names, target, exported_at, encoding, .. } =
            self.request;
        let Request { reach, renewal, .. } = *self.request;
        let is_folder = matches!(target, Target::Folder(_));
        Entry {
            session_id: None,
            session_ids: None,
            message_counts: None,
            lineage_session_ids: Vec::new(),
            path,
            format: format.name.to_owned(),
            messages: Some(shown.name().to_owned()),
            message_count: 0,
            last_message_id: None,
            last_message_ids: None,
            bytes: staged.digest.bytes,
            sha256: staged.digest.sha256.clone(),
            exported_at: *exported_at,
            only_copy: reach == Reach::Everything && !matches!(renewal, Renewal::Changed(_)),
            disclosure: redactor.disclosure().name().map(str::to_owned),
            mark: None,
            texts: None,
            sealed_to: encoding.sealed_to().map(str::to_owned),
            gone_at: None,
            children: Vec::new(),
            naming: names.recorded().filter(|_| is_folder),
            redacted: self.request.redacted(),
            redactions: BTreeMap::new(),
            tool: concat!("hermes-sessions ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// A redacted file in which nothing is found any more.
pub(super) fn sound(staged: Staged) -> Result<Staged, Error> {
    if staged.leaks.is_empty() {
        return Ok(staged);
    }
    Err(Error::Leaks { rules: staged.leaks })
}
