//! What a page says of a session before its messages: title, facts, system prompt.

use maud::{Markup, html};

use super::clock::{Precision, Zone};
use super::text::shown;
use super::transcript::heading;
use super::{Origin, code, text};
use crate::SessionHead;
use crate::facts::{cost, tokens};
use crate::model::{Session, SessionColumn};

/// The title of a session, or what stands for it.
pub(super) fn title(session: &Session<'_>) -> String {
    let title = session.text(SessionColumn::Title).map(|title| text::brief(title, 200));
    let title = title.filter(|title| !title.is_empty());
    let id = Some(session.id()).filter(|id| !id.trim().is_empty()).map(str::to_owned);
    title.or(id).unwrap_or_else(|| "Session without a name".to_owned())
}

/// Title and facts, below a heading of this level.
pub(super) fn about(
    head: &SessionHead<'_>,
    level: u8,
    origin: &Origin,
    place: &dyn Fn(&str) -> Option<String>,
) -> Markup {
    html! { header.about { (titled(head, level)) (listed(head, origin, place)) } }
}

/// The same in few elements, for a session that a reader has not opened yet.
pub(super) fn in_brief(head: &SessionHead<'_>, level: u8, origin: &Origin) -> Markup {
    html! {
        header.about {
            (titled(head, level))
            p.brief {
                @for (n, (name, value)) in facts(head, origin, &|_| None).into_iter().enumerate() {
                    @if n > 0 { " · " }
                    (name) " " (value)
                }
            }
        }
    }
}

fn titled(head: &SessionHead<'_>, level: u8) -> Markup {
    heading(level, &html! { bdi { (shown(&title(head.session))) } })
}

/// The facts as a list.
pub(super) fn listed(
    head: &SessionHead<'_>,
    origin: &Origin,
    place: &dyn Fn(&str) -> Option<String>,
) -> Markup {
    html! {
        dl {
            @for (name, value) in facts(head, origin, place) {
                div { dt { (name) } dd { (value) } }
            }
        }
        @if head.messages == 0 { p.note { "No messages in this session." } }
    }
}

/// The system prompt, folded.
pub(super) fn system_prompt(session: &Session<'_>) -> Markup {
    html! {
        @if let Some(prompt) = session.text(SessionColumn::SystemPrompt) {
            details.think {
                summary { "System prompt" }
                (code::block("", prompt))
            }
        }
    }
}

fn facts(
    head: &SessionHead<'_>,
    origin: &Origin,
    place: &dyn Fn(&str) -> Option<String>,
) -> Vec<(&'static str, Markup)> {
    let session = head.session;
    let column = |column| session.text(column).map(shown);
    let time = |column| origin.zone.instant(session.value(column), Precision::Zoned);
    let id = Some(html! { code { (shown(session.id())) } });
    let calls = session.integer(SessionColumn::ToolCallCount).filter(|calls| *calls != 0);
    let messages = html! {
        (head.messages) @if let Some(calls) = calls { ", " (calls) " tool calls" }
    };
    let joined = (head.lineage.len() > 1).then(|| shown(&head.lineage.join(", ")));
    let facts = [
        ("Session", id),
        ("Joined from", joined),
        ("Source", column(SessionColumn::Source)),
        ("Model", column(SessionColumn::Model)),
        ("Provider", column(SessionColumn::Provider)),
        ("Folder", column(SessionColumn::Cwd)),
        ("Branch", column(SessionColumn::Branch)),
        (relation(session), session.text(SessionColumn::Parent).map(|id| parent(id, place))),
        ("Started", time(SessionColumn::StartedAt)),
        ("Ended", ended(session, &origin.zone)),
        ("Messages", Some(messages)),
        ("Tokens", tokens(session).map(|text| shown(&text))),
        ("Cost", cost(session).map(|text| shown(&text))),
        ("Redacted", Some(shown(&origin.redaction))),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// How a session stands to the one that it names as its parent.
fn relation(session: &Session<'_>) -> &'static str {
    let config = session.text(SessionColumn::ModelConfig).unwrap_or_default();
    if config.contains("\"_delegate_from\"") {
        "Works for"
    } else if config.contains("\"_branched_from\"") {
        "Branched from"
    } else {
        "Continues"
    }
}

fn parent(id: &str, place: &dyn Fn(&str) -> Option<String>) -> Markup {
    html! {
        @match place(id) {
            Some(href) => a href=(href) { (shown(id)) },
            None => (shown(id)),
        }
    }
}

fn ended(session: &Session<'_>, zone: &Zone) -> Option<Markup> {
    let ended = zone.instant(session.value(SessionColumn::EndedAt), Precision::Zoned);
    let reason = session.text(SessionColumn::EndReason).map(shown);
    match (ended, reason) {
        (None, reason) => reason,
        (Some(ended), None) => Some(ended),
        (Some(ended), Some(reason)) => Some(html! { (ended) " (" (reason) ")" }),
    }
}
