//! HTML for people: one page that needs nothing but itself, to read, search and hand on.
//!
//! A page is a [`shell`] around sessions, each what is said [`about`] it and its [`transcript`].
//! It is written as messages come; what sums them up, such as the outline, stands at its end and is
//! placed by the style. All text reaches markup through [`text`], so none of it can act.
//!
//! A file is a [`page`] of one session or an archive of [`many`]; a folder is a [`site`].

use std::io::{self, Write};

use clock::Zone;

use crate::{Feature, FileHead, Format, FormatWriter, Layout};

mod about;
mod ansi;
mod clock;
mod code;
mod diff;
mod index;
mod island;
mod link;
mod many;
mod page;
mod picture;
mod plain;
mod prose;
mod shell;
mod site;
mod spans;
mod stream;
mod text;
mod tool;
mod transcript;

/// What pages say wrote them.
pub use island::Unpacking;
pub use plain::read as read_markup;
pub use stream::Rendered;

const TOOL: &str = concat!("hermes-sessions ", env!("CARGO_PKG_VERSION"));

pub(crate) const FORMAT: Format = Format {
    name: "html",
    only: None,
    extension: "html",
    about: "a page to read and search, offline and without anything from elsewhere",
    layout: Layout::OneFile,
    features: &[
        Feature::JoinsLineage,
        Feature::NamesItsRecord,
        Feature::PacksText,
        Feature::RendersApart,
        Feature::ShowsTimes,
    ],
    start: &start,
    variant: None,
    folder: Some(site::start),
};

/// The page that a file is: of one session, or of many.
fn start<'w>(
    out: &'w mut (dyn Write + Send),
    head: &FileHead,
) -> io::Result<Box<dyn FormatWriter + 'w>> {
    if head.sessions == 1 {
        return Ok(Box::new(page::Page { out, origin: Origin::of(head) }));
    }
    Ok(Box::new(many::Archive::begin(out, head)?))
}

/// What a page says of where it comes from.
#[derive(Clone)]
struct Origin {
    /// The groups of rules by which it was redacted, or that it was not.
    redaction: String,
    /// What strangers are to be told.
    provenance: &'static str,
    /// Whether it is for strangers.
    is_shared: bool,
    /// That times are shown in.
    zone: Zone,
}

impl Origin {
    fn of(head: &FileHead) -> Self {
        let groups = head.redacted.map(|groups| groups.into_iter().flatten().collect::<Vec<_>>());
        Self {
            redaction: groups.map_or_else(|| "no".to_owned(), |groups| groups.join(", ")),
            provenance: head
                .provenance
                .unwrap_or(concat!("Written by hermes-sessions ", env!("CARGO_PKG_VERSION"))),
            is_shared: head.provenance.is_some(),
            zone: Zone(head.zone.clone()),
        }
    }
}

/// A page without style and script, which have tests of their own.
#[cfg(test)]
pub(crate) fn without_assets(page: &str) -> String {
    shell::without_assets(page)
}
