//! The list of sessions at the side of many: by day, newest first, with what to filter by.

use std::collections::BTreeSet;

use jiff::civil::Date;
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};

use super::about;
use super::clock::Zone;
use super::text::{shown, visible};
use crate::SessionHead;
use crate::model::SessionColumn;

/// What the list says of a session.
pub(super) struct Entry {
    /// Its name in the page.
    pub(super) key: String,
    /// Where it is.
    pub(super) href: String,
    title: String,
    source: String,
    model: String,
    day: Option<String>,
    messages: u64,
}

impl Entry {
    pub(super) fn of(head: &SessionHead<'_>, zone: &Zone) -> Self {
        let session = head.session;
        let text = |column| session.text(column).unwrap_or_default().to_owned();
        let key = key(session.id());
        Self {
            href: format!("#{key}"),
            key,
            title: about::title(session),
            source: text(SessionColumn::Source),
            model: text(SessionColumn::Model),
            day: session.number(SessionColumn::StartedAt).and_then(|time| zone.day(time)),
            messages: head.messages,
        }
    }

    /// Of a session that has a page of its own.
    pub(super) fn at(head: &SessionHead<'_>, page: &str, zone: &Zone) -> Self {
        Self { href: page.to_owned(), ..Self::of(head, zone) }
    }

    /// Words of the title that begin with `#`.
    fn tags(&self) -> Vec<&str> {
        let words = self.title.split_whitespace();
        let tag = |word: &&str| {
            word.strip_prefix('#').is_some_and(|tag| tag.starts_with(char::is_alphabetic))
        };
        words.filter(tag).map(|word| word.trim_end_matches([',', '.', ':', ';'])).collect()
    }
}

/// A session's name in the page: its id where that is plain, else a digest of it.
pub(super) fn key(id: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if !id.is_empty() && id.len() <= 80 && id.bytes().all(is_plain) {
        return format!("s-{id}");
    }
    let digest = Sha256::digest(id);
    let digest = digest.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    format!("s~{digest:016x}")
}

/// What many sessions are called.
pub(super) fn counted(sessions: u64) -> String {
    format!("{sessions} Hermes session{}", if sessions == 1 { "" } else { "s" })
}

/// The list, of entries that are oldest first.
pub(super) fn list(entries: &[Entry]) -> Markup {
    let newest = entries.iter().filter_map(|entry| entry.day.as_deref()).max();
    let newest: Option<Date> = newest.and_then(|day| day.parse().ok());
    let group = |entry: &&Entry| Age::of(entry.day.as_deref(), newest);
    let sorted: Vec<&Entry> = {
        let mut sorted: Vec<&Entry> = entries.iter().rev().collect();
        sorted.sort_by_key(group);
        sorted
    };
    html! {
        (filters(entries))
        @for group in sorted.chunk_by(|a, b| group(a) == group(b)) {
            (group_heading(group[0], newest))
            ul.sessions { @for entry in group { (item(entry)) } }
        }
    }
}

fn group_heading(first: &Entry, newest: Option<Date>) -> Markup {
    let age = Age::of(first.day.as_deref(), newest);
    let day = first.day.as_deref().filter(|_| age != Age::Earlier);
    html! { h2 { (age.name()) @if let Some(day) = day { " · " (day) } } }
}

/// How old a session is, seen from the newest: a page does not know when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    Today,
    Yesterday,
    Earlier,
}

impl Age {
    fn of(day: Option<&str>, newest: Option<Date>) -> Self {
        let day: Option<Date> = day.and_then(|day| day.parse().ok());
        match (day, newest) {
            (Some(day), Some(newest)) if day == newest => Self::Today,
            (Some(day), Some(newest)) if day.tomorrow().ok() == Some(newest) => Self::Yesterday,
            _ => Self::Earlier,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Today => "Today",
            Self::Yesterday => "Yesterday",
            Self::Earlier => "Earlier",
        }
    }
}

fn item(entry: &Entry) -> Markup {
    let tags = entry.tags().join(" ");
    html! {
        li data-source=(visible(&entry.source)) data-model=(visible(&entry.model))
            data-tags=[Some(visible(&tags)).filter(|tags| !tags.is_empty())]
        {
            a href=(entry.href) { bdi { (shown(&entry.title)) } }
            small {
                (entry.day.as_deref().unwrap_or("no date")) " · " (shown(&entry.source)) " · "
                (entry.messages) @if entry.messages == 1 { " message" } @else { " messages" }
            }
        }
    }
}

/// What to filter by; the script shows it.
fn filters(entries: &[Entry]) -> Markup {
    let values = |of: fn(&Entry) -> &str| -> BTreeSet<&str> {
        entries.iter().map(of).filter(|value| !value.is_empty()).collect()
    };
    let tags: BTreeSet<&str> = entries.iter().flat_map(Entry::tags).collect();
    let choice = |name: &str, label: &str, values: &BTreeSet<&str>| {
        html! {
            @if values.len() > 1 {
                select data-by=(name) aria-label=(label) {
                    option value="" { (label) }
                    @for value in values { option { (shown(value)) } }
                }
            }
        }
    };
    html! {
        div.filters hidden {
            input type="search" data-by="title" placeholder="Filter by title"
                aria-label="Filter sessions by title" autocomplete="off";
            (choice("source", "Every source", &values(|entry| &entry.source)))
            (choice("model", "Every model", &values(|entry| &entry.model)))
            @for tag in tags {
                button type="button" data-tag=(visible(tag)) aria-pressed="false" { (shown(tag)) }
            }
            output {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn keys_are_plain_and_distinct() {
        assert_eq!(key("20260705_143000_a1"), "s-20260705_143000_a1");
        let odd = ["", "\"><script>", "%E0%A4%A", "a b", "a\u{202e}", "é"];
        let keys: std::collections::HashSet<String> = odd.iter().map(|id| key(id)).collect();
        assert_eq!(keys.len(), odd.len());
        assert!(keys.iter().all(|key| key.len() == 18 && key.starts_with("s~")));
    }
}
