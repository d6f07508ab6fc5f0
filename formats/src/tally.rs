//! What a file would hold, counted instead of written: for people who decide whether to hand it on.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::content::{Part, parts};
use crate::model::{Message, Role, Session};
use crate::{FileHead, Format, FormatWriter, Layout, SessionHead, SessionWriter};

/// A format that no table lists: its one line is a [`Tally`] as JSON.
pub static TALLY: Format = Format {
    name: "tally",
    only: None,
    variant: None,
    extension: "json",
    about: "what a file would hold, counted",
    layout: Layout::OneFile,
    features: &[crate::Feature::JoinsLineage],
    start: &|out, _: &FileHead| Ok(Box::new(Counting { out, tally: Tally::default() })),
    folder: None,
};

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Sessions, or joined chains.
    pub sessions: u64,
    /// Their messages.
    pub messages: u64,
    /// Those among them that tools gave back.
    pub tool_results: u64,
    /// Pictures, in the file or linked.
    pub images: u64,
    /// Sounds and other files.
    pub other_attachments: u64,
}

struct Counting<'w> {
    out: &'w mut (dyn Write + Send),
    tally: Tally,
}

impl FormatWriter for Counting<'_> {
    fn session<'s>(&'s mut self, _: &SessionHead<'_>) -> io::Result<Box<dyn SessionWriter + 's>> {
        self.tally.sessions += 1;
        Ok(Box::new(CountingSession(&mut self.tally)))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        serde_json::to_writer(&mut *self.out, &self.tally)?;
        self.out.write_all(b"\n")
    }
}

struct CountingSession<'s>(&'s mut Tally);

impl SessionWriter for CountingSession<'_> {
    fn segment(&mut self, _: &Session<'_>) -> io::Result<()> {
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        self.0.messages += 1;
        self.0.tool_results += u64::from(message.role() == Role::Tool);
        for part in parts(message) {
            match part {
                Part::Attachment(attachment) if attachment.kind == "image" => self.0.images += 1,
                Part::Attachment(_) => self.0.other_attachments += 1,
                Part::Text(_) | Part::Other(_) => {}
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{TALLY, Tally};
    use crate::model::MessageColumn;
    use crate::testing::{json as cell, message, sample, session, write};

    #[test]
    fn messages_results_and_attachments_are_counted() {
        let image =
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
        let file = json!({"type": "file", "file": {"filename": "a.pdf"}});
        let parts = cell(&json!([{"type": "text", "text": "look"}, image, image, file]));
        let messages = vec![
            message("user", "", vec![(MessageColumn::Content, parts)]),
            message("tool", "done", vec![]),
        ];
        let sample = sample("counted", session("s", vec![]), messages);
        let tally: Tally = serde_json::from_str(&write(&TALLY, &[&sample, &sample])).unwrap();
        let wanted =
            Tally { sessions: 2, messages: 4, tool_results: 2, images: 4, other_attachments: 2 };
        assert_eq!(tally, wanted);
    }
}
