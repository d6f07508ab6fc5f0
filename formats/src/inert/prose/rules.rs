//! Rules for lines and characters that act for one reader or another, wherever the parser sees no
//! code.

use std::borrow::Cow;

use super::Edits;
use super::margin::{is_blank, margin};
use super::reading::{Reading, covers};
use crate::inert::name::opens_markup;
use crate::inert::tex;

impl Reading<'_> {
    /// All edits: the parser's and those of the rules for lines and characters.
    pub(super) fn edits(mut self) -> Edits {
        let mut start = 0;
        let mut above = "";
        for line in self.text.split_inclusive('\n') {
            let margin = self.rule_in(start, line.len()).unwrap_or_else(|| margin(line));
            let content = line[margin..].trim_end();
            if !covers(&self.code, start + margin) && !covers(&self.markup, start + margin) {
                let after_blank = is_blank(above, &line[..margin]);
                self.line(start + margin, content, after_blank);
            }
            above = line;
            start += line.len();
        }
        self.characters();
        self.edits
    }

    /// How far into a line a thematic break begins.
    fn rule_in(&self, line: usize, len: usize) -> Option<usize> {
        let next = self.rules.partition_point(|rule| *rule < line);
        let offset = self.rules.get(next)? - line;
        (offset < len).then_some(offset)
    }

    /// What acts at the beginning of a line, for one reader or another.
    fn line(&mut self, at: usize, content: &str, after_blank: bool) {
        let is_all =
            |marks: &[u8]| !content.is_empty() && content.bytes().all(|b| marks.contains(&b));
        if is_all(b"- \t") && self.rules.binary_search(&at).is_ok() {
            return self.rule(at, content, after_blank);
        }
        let underlines = is_all(b"=") || is_all(b"- \t");
        let heads = content.starts_with('#') && !covers(&self.headings, at);
        if underlines || heads || acts_in_front(content) {
            self.escape(at);
        } else if let Some(end) = end_of_fancy_mark(content) {
            self.escape(at + end);
        }
    }

    /// Next to text, dashes begin metadata, make a table or a heading; between empty lines they
    /// are a thematic break for all.
    fn rule(&mut self, at: usize, content: &str, after_blank: bool) {
        let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let in_margin = self.text[line..at].chars().all(|c| " \t>".contains(c));
        if in_margin && !after_blank {
            self.edits.insert(at, Cow::Borrowed("\n"));
        }
        let end = at + content.len();
        let mut below = self.text[end..].splitn(3, '\n').skip(1);
        let is_text = |below| !is_blank(below, &self.text[line..at]);
        if below.next().is_some_and(is_text) {
            self.edits.insert(end, Cow::Borrowed("\n"));
        }
    }

    /// What acts anywhere outside of code.
    fn characters(&mut self) {
        let mut open = Vec::new();
        for (at, c) in self.unescaped() {
            match c {
                '[' => open.push(at),
                ']' => match open.pop() {
                    // To pandoc the bracket that closes may be mathematics.
                    Some(start) if self.text[start..at].contains('$') => self.escape(start),
                    _ => {}
                },
                '\n' if self.ends_paragraph(at) => self.escape_all(&mut open),
                _ if self.acts(at, c) => self.escape(at),
                _ => {}
            }
        }
        self.escape_all(&mut open);
    }

    /// The characters that may act, but for those in code or behind a backslash.
    fn unescaped(&self) -> Vec<(usize, char)> {
        let mut escaped = false;
        let mut chars = Vec::new();
        for (at, byte) in self.text.bytes().enumerate() {
            // Most characters are none of these, and this is asked of each.
            let may_act = matches!(
                byte,
                b'\n' | b'!' | b'#' | b'(' | b'<' | b'[' | b'\\' | b']' | b'`' | b'{'
            );
            if !may_act || covers(&self.code, at) {
                escaped = false;
                continue;
            }
            if !escaped || byte == b'\n' {
                chars.push((at, char::from(byte)));
            }
            escaped = byte == b'\\' && !escaped;
        }
        chars
    }

    /// A bracket that its paragraph leaves open: pandoc looks for the other one beyond the end of
    /// the message, and drops the headings on the way.
    fn escape_all(&mut self, open: &mut Vec<usize>) {
        for at in open.drain(..) {
            self.escape(at);
        }
    }

    /// Whether an empty line or code follows this end of a line.
    fn ends_paragraph(&self, line_end: usize) -> bool {
        let next = line_end + 1;
        let line = self.text[next..].split('\n').next().unwrap_or_default();
        let margin = margin(line);
        line[margin..].trim_end().is_empty() || covers(&self.code, next + margin)
    }

    /// Whether a character acts where it stands.
    fn acts(&self, at: usize, c: char) -> bool {
        let (before, rest) = (&self.text[..at], &self.text[at..]);
        if !matches!(c, '<' | '!') && covers(&self.markup, at) {
            return false;
        }
        match c {
            // In a list pandoc sees a comment even behind a backslash, but not around one.
            '!' => before.ends_with('<'),
            '<' => opens_tag(rest) && self.autolinks.binary_search(&at).is_err(),
            '#' => is_apart(before, rest) && !covers(&self.headings, at),
            '{' => before.ends_with(['`', ']', ')']) || covers(&self.headings, at),
            '(' => before.ends_with(']') && !is_closed(rest),
            // A code span to pandoc may go on into the next block.
            '`' => true,
            '\\' => {
                tex::runs(rest) || tex::begins_environment(rest) || tex::leaves_argument_open(rest)
            }
            _ => false,
        }
    }
}

/// Whether a link's target ends in its line; looked for so far that no text takes long.
fn is_closed(text: &str) -> bool {
    let mut target = text.bytes().take(1024).take_while(|b| *b != b'\n');
    target.any(|b| b == b')')
}

/// Whether a run of `#` stands between blanks.
fn is_apart(before: &str, text: &str) -> bool {
    let run_ends = || text.trim_start_matches('#').starts_with(char::is_whitespace);
    before.ends_with([' ', '\t', '>']) && run_ends()
}

/// Whether a text that begins with `<` may begin a tag.
fn opens_tag(text: &str) -> bool {
    opens_markup(text) && !text.starts_with("<!")
}

/// Definitions of links and notes (they hold for the whole document), pandoc's divisions,
/// definition lists and tables of blocks, and fences that are indented too far to be one.
fn acts_in_front(content: &str) -> bool {
    let defines = content.starts_with('[') && content.contains("]:");
    let explains = [":", "~"].iter().any(|mark| {
        content
            .strip_prefix(mark)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    });
    let marks = ["::", "~~~", "+-", "+="];
    defines || explains || marks.iter().any(|mark| content.starts_with(mark))
}

/// Where the mark of a list ends that pandoc alone knows: `(1)`, `a.`, `iv)`, `#.`, `(@b)`.
fn end_of_fancy_mark(content: &str) -> Option<usize> {
    let word = content.strip_prefix('(').unwrap_or(content);
    let end = if word.starts_with('@') {
        word.find(['.', ')'])?
    } else {
        word.find(|c: char| !c.is_ascii_alphanumeric() && c != '#')?
    };
    let (word, rest) = (&word[..end], word[end..].strip_prefix(['.', ')'])?);
    let is_number = |c: char| c.is_ascii_digit();
    let is_roman = |c: char| "ivxlcdmIVXLCDM".contains(c);
    let is_fancy = word.starts_with('@')
        || word == "#"
        || word.len() == 1 && word.starts_with(|c: char| c.is_ascii_alphabetic())
        || !word.is_empty() && word.chars().all(is_roman)
        || content.starts_with('(') && !word.is_empty() && word.chars().all(is_number);
    let ends = rest.is_empty() || rest.starts_with([' ', '\t']);
    (is_fancy && ends).then(|| content.len() - rest.len() - 1)
}
