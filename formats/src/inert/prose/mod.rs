//! Markdown of a message, kept as Markdown and yet without a say in the document around it.
//!
//! Headings move below those of the document, raw HTML becomes text, pictures become links, and
//! nothing is left open. The text is only ever added to, mostly by a backslash before the
//! character that acts. An edit can uncover what it covered (a heading in an HTML block), so the
//! text is read again until no edit is left; a text that does not settle is no prose.

use std::borrow::Cow;
use std::collections::BTreeMap;

mod margin;
mod reading;
mod rules;

use reading::Reading;

/// A longer text is a dump rather than prose.
const LIMIT: usize = 1 << 18;
/// Readings after which a text is held to be made to confuse.
const READINGS: usize = 6;

/// The text as inert Markdown, or `None` where only a fence holds it.
pub(super) fn prose(text: &str) -> Option<Cow<'_, str>> {
    if text.len() > LIMIT || has_bare_cr(text) {
        return None;
    }
    let mut text = Cow::Borrowed(text);
    for _ in 0..READINGS {
        let reading = Reading::of(&text)?;
        let settled = reading.settled;
        let edits = reading.edits();
        if edits.is_empty() {
            return settled.then_some(text);
        }
        text = Cow::Owned(apply(&text, &edits));
    }
    None
}

/// A carriage return alone ends a line for some readers and is nothing to others.
fn has_bare_cr(text: &str) -> bool {
    text.split('\r').skip(1).any(|rest| !rest.starts_with('\n'))
}

/// What to add, by place.
type Edits = BTreeMap<usize, Cow<'static, str>>;

fn apply(text: &str, edits: &Edits) -> String {
    let mut out = String::with_capacity(text.len() + 2 * edits.len());
    let mut from = 0;
    for (&at, addition) in edits {
        out.push_str(&text[from..at]);
        out.push_str(addition);
        from = at;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests;
