//! Runs of text with a class each: as few elements as the colours allow.

use maud::{Markup, PreEscaped};

use super::text::show;

/// Collects runs; neighbours of one class become one element, and a run without class is bare text.
#[derive(Default)]
pub(super) struct Spans {
    class: String,
    run: String,
    out: String,
}

impl Spans {
    /// Adds text of this class, or of several with blanks between; an empty class is none.
    pub(super) fn push(&mut self, class: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        if class != self.class {
            self.flush();
            class.clone_into(&mut self.class);
        }
        self.run.push_str(text);
    }

    /// The runs as markup.
    pub(super) fn finish(mut self) -> Markup {
        self.flush();
        PreEscaped(self.out)
    }

    fn flush(&mut self) {
        if self.class.is_empty() {
            show(&self.run, &mut self.out);
        } else if !self.run.is_empty() {
            // A page of code has thousands of these.
            let quote = if self.class.contains(' ') { "\"" } else { "" };
            self.out.extend(["<i class=", quote, &self.class, quote, ">"]);
            show(&self.run, &mut self.out);
            self.out.push_str("</i>");
        }
        self.run.clear();
    }
}
