//! The list of sessions at the side of many: by day, newest first, with what to filter by.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use jiff::civil::Date;
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::about;
use super::clock::Zone;
use super::text::{self, shown, visible};
use crate::SessionHead;
use crate::model::SessionColumn;

/// What the list says of a session, as it is shown. A page of a folder carries it along, so that a
/// later run can list the page without the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Where it is.
    #[serde(skip)]
    pub(super) href: String,
    id: String,
    pub(super) title: String,
    source: String,
    model: String,
    /// Seconds since the epoch.
    started: Option<f64>,
    messages: u64,
}

impl Entry {
    /// Of a session that is there.
    pub(super) fn of(head: &SessionHead<'_>, href: &str) -> Self {
        let session = head.session;
        let text = |column| visible(session.text(column).unwrap_or_default()).into_owned();
        Self {
            href: href.to_owned(),
            id: visible(session.id()).into_owned(),
            title: visible(&about::title(session)).into_owned(),
            source: text(SessionColumn::Source),
            model: text(SessionColumn::Model),
            started: session.number(SessionColumn::StartedAt),
            messages: head.messages,
        }
    }

    /// As a page carries it.
    pub(super) fn carried(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As a page carried it; whoever wrote that, it is shown as any text is.
    pub(super) fn read(carried: &str, href: &str) -> Option<Self> {
        let Self { id, title, source, model, started, messages, .. } =
            serde_json::from_str(carried).ok()?;
        let seen = |text: String| visible(&text).into_owned();
        let title = text::brief(&title, 200);
        Some(Self {
            href: href.to_owned(),
            id: seen(id),
            title: seen(title),
            source: seen(source),
            model: seen(model),
            started,
            messages,
        })
    }

    /// Oldest first, and the same whichever run wrote them.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let began = |entry: &Self| entry.started.unwrap_or(f64::NEG_INFINITY);
        let by_time = began(self).total_cmp(&began(other));
        by_time.then_with(|| (&self.id, &self.href).cmp(&(&other.id, &other.href)))
    }

    fn day(&self, zone: &Zone) -> Option<String> {
        zone.day(self.started?)
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
pub(super) fn list(entries: &[Entry], zone: &Zone) -> Markup {
    let dated: Vec<Dated<'_>> =
        entries.iter().rev().map(|entry| Dated { entry, day: entry.day(zone) }).collect();
    let newest = dated.iter().filter_map(|dated| dated.day.as_deref()).max();
    let newest: Option<Date> = newest.and_then(|day| day.parse().ok());
    let age = |dated: &&Dated<'_>| Age::of(dated.day.as_deref(), newest);
    let mut sorted: Vec<&Dated<'_>> = dated.iter().collect();
    sorted.sort_by_key(age);
    html! {
        (filters(entries))
        @for group in sorted.chunk_by(|a, b| age(a) == age(b)) {
            (group_heading(age(&group[0]), group[0].day.as_deref()))
            ul.sessions { @for dated in group { (item(dated)) } }
        }
    }
}

/// An entry with its day, `2026-07-05`.
struct Dated<'e> {
    entry: &'e Entry,
    day: Option<String>,
}

fn group_heading(age: Age, day: Option<&str>) -> Markup {
    let day = day.filter(|_| age != Age::Earlier);
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

fn item(dated: &Dated<'_>) -> Markup {
    let Dated { entry, day } = dated;
    let tags = entry.tags().join(" ");
    html! {
        li data-source=(entry.source) data-model=(entry.model)
            data-tags=[Some(tags).filter(|tags| !tags.is_empty())]
        {
            a href=(entry.href) { bdi { (shown(&entry.title)) } }
            small {
                (day.as_deref().unwrap_or("no date")) " · " (shown(&entry.source)) " · "
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
                    @for value in values { option value=(value) { (shown(value)) } }
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
                button type="button" data-tag=(tag) aria-pressed="false" { (shown(tag)) }
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
