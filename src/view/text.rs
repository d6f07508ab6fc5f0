//! Messages as lines for people.

use formats::model::Message;
use formats::{Part, parts};

/// The text of a message with all its white space as single blanks.
pub fn one_line(message: &Message<'_>) -> String {
    let text = plain(message);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text cut to so many characters, with dots where something is left out.
pub fn preview(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The text of a message; attachments are named.
pub(super) fn plain(message: &Message<'_>) -> String {
    let text = |part: Part| match part {
        Part::Text(text) => text,
        Part::Attachment(attachment) => attachment.to_string(),
        Part::Other(json) => json.to_string(),
    };
    parts(message).into_iter().map(text).collect::<Vec<_>>().join("\n")
}
