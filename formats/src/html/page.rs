//! A page of one session: what is said about it, its messages, and at the side its prompts.

use std::io::{self, Read as _, Seek as _, Write};

use maud::{PreEscaped, html};
use tempfile::SpooledTempFile;

use super::shell::{self, Kind};
use super::stream::{Place, Stream};
use super::text::shown;
use super::transcript::{Prompt, Stretch, Transcript};
use super::{Origin, about};
use crate::{FormatWriter, SessionHead, SessionWriter};

/// An outline up to this size waits in memory, a longer one on the disk.
const IN_MEMORY: usize = 1 << 20; // bytes

pub(super) struct Page<'w> {
    pub(super) out: &'w mut (dyn Write + Send),
    pub(super) origin: Origin,
}

impl FormatWriter for Page<'_> {
    fn session<'s>(
        &'s mut self,
        head: &SessionHead<'_>,
    ) -> io::Result<Box<dyn SessionWriter + 's>> {
        let begin = shell::begin(&about::title(head.session), Kind::Session);
        self.out.write_all(begin.as_bytes())?;
        self.out.write_all(about::about(head, 1, &self.origin, &|_| None).0.as_bytes())?;
        self.out.write_all(about::system_prompt(head.session).0.as_bytes())?;
        let outline = SpooledTempFile::new(IN_MEMORY);
        let transcript = Transcript::below(1, &self.origin);
        let page = OnePage { out: self.out, origin: &self.origin, outline };
        Ok(Box::new(Stream::new(transcript, page)))
    }
}

struct OnePage<'s> {
    out: &'s mut (dyn Write + Send),
    origin: &'s Origin,
    outline: SpooledTempFile,
}

impl Place for OnePage<'_> {
    fn take(&mut self, stretch: Stretch) -> io::Result<()> {
        for Prompt { id, text } in stretch.messages.into_iter().filter_map(|begun| begun.prompt) {
            let entry = html! { li { a href=(format!("#m{id}")) { (shown(&text)) } } };
            self.outline.write_all(entry.0.as_bytes())?;
        }
        self.out.write_all(stretch.markup.as_bytes())
    }

    fn finish(mut self) -> io::Result<()> {
        let mut outline = String::new();
        self.outline.rewind()?;
        self.outline.read_to_string(&mut outline)?;
        let side = html! {
            h2 { "Prompts" }
            @if outline.is_empty() { p { "None." } } @else { ol { (PreEscaped(outline)) } }
        };
        self.out.write_all(shell::end(Kind::Session, &side, self.origin).as_bytes())
    }
}
