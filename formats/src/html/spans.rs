//! Runs of text with a class each: as few elements as the colours allow.

use maud::{Markup, PreEscaped, html};

use super::text::shown;

/// Collects runs; neighbours of one class become one element, and a run without class is bare text.
#[derive(Default)]
pub(super) struct Spans {
    class: String,
    run: String,
    out: String,
}

impl Spans {
    /// Adds text of this class; an empty class is none.
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
        let run = shown(&self.run);
        self.run.clear();
        let run = match &*self.class {
            "" => run,
            class => html! { span class=(class) { (run) } },
        };
        self.out.push_str(&run.0);
    }
}
