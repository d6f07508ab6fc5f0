//! Reads what stands between an operator and the value itself: quotes, markup, a node of YAML, a call, an
//! alternative, the end of a line.

use super::cursor::{Cursor, Quote};
use super::read::Operator;

impl Cursor<'_> {
    pub(super) fn open_value(&mut self, operator: Operator) -> Option<(usize, Quote)> {
        self.skip_blanks();
        self.skip_closing_stars();
        self.skip_colour();
        self.skip_blanks();
        self.skip_colour();
        match operator {
            Operator::Colon | Operator::Equals | Operator::Prose => self.skip_to_next_line(),
            Operator::Tag => self.skip_indent(),
            _ => {}
        }
        if matches!(operator, Operator::Colon | Operator::Equals | Operator::Tight) {
            self.skip_markup();
            self.skip_node();
            self.skip_alternative();
        }
        self.skip_call();
        if self.peek() == Some(b'[')
            && matches!(self.bytes.get(self.at + 1), Some(b'"' | b'\'' | b'\\'))
        {
            self.at += 1;
        }
        if self.opens_quotation() {
            self.at += self.quotation_len();
        }
        let prefixed = matches!(self.peek(), Some(b'b' | b'f' | b'r' | b'u' | b'@' | b'$' | b'L'));
        let mut next = *self;
        next.at += usize::from(prefixed);
        let quote = next.eat_quote();
        let quote = match quote {
            Some(quote) => {
                *self = next;
                quote
            }
            None => Quote::Bare,
        };
        let blank = matches!(self.peek(), None | Some(b' ' | b'\n' | b'\r' | b'\t'));
        (!blank || quote != Quote::Bare).then_some((self.at, quote))
    }

    /// Whether a quotation mark of prose stands here: “, „, «, 「 and their like.
    pub(super) fn opens_quotation(&self) -> bool {
        self.quotation_len() > 0
    }

    fn quotation_len(&self) -> usize {
        const MARKS: &[&str] = &["“", "„", "‘", "‚", "«", "‹", "「", "『", "《", "”"];
        MARKS.iter().find(|mark| self.starts(mark)).map_or(0, |mark| mark.len())
    }

    /// `</strong> ` and `<code>` before a value, and the marks of Lua's and TOML's long strings.
    fn skip_markup(&mut self) {
        for _ in 0..2 {
            if self.eat_any(&[
                "</strong>",
                "</b>",
                "</em>",
                "<code>",
                "<b>",
                "<strong>",
                "<em>",
                "<kbd>",
            ]) {
                self.skip_blanks();
            }
        }
        if self.starts("\"\"\"") || self.starts("'''") {
            self.at += 3;
            self.eat_any(&["\n", "\\n"]);
        }
        self.eat("[[");
    }

    /// What stands before a value that is a node of YAML (`&anchor`, `!!str`, `!unsafe`), an object that
    /// holds it (`{"value": `), or a here-document (`<<EOT` and the line's end).
    fn skip_node(&mut self) {
        let is_word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_' || **b == b'-';
        let mut next = *self;
        if next.eat("<<") {
            next.eat_any(&["-", "~"]);
            next.eat_quote();
            next.at += next.bytes[next.at..].iter().take(40).take_while(is_word).count();
            next.eat_quote();
            next.eat_any(&[".strip", ".chomp"]);
            let opens = next.eat_any(&["\r\n", "\n", "\\n"]);
            next.skip_blanks();
            *self = if opens { next } else { *self };
        } else if next.eat_any(&["&", "!!", "!"]) {
            let len = next.bytes[next.at..].iter().take(40).take_while(is_word).count();
            next.at += len;
            let is_node = len > 0 && next.peek() == Some(b' ');
            next.skip_blanks();
            *self = if is_node { next } else { *self };
        } else if next.eat("{") {
            let inner = next;
            if next.eat_quote().is_some() && next.closes_set(inner.at) {
                self.at = inner.at; // of strings, in Go
                return;
            }
            next = inner;
            next.eat_any(&["\r\n", "\n", "\\n"]);
            next.skip_blanks();
            let named = next.eat_quote().is_some() && next.eat("value");
            next.eat_quote();
            next.skip_blanks();
            let opens = named && next.eat(":");
            next.skip_blanks();
            *self = if opens { next } else { *self };
        }
    }

    /// Whether the quoted value that begins here, its mark at `mark`, ends right before a `}`.
    fn closes_set(&self, mark: usize) -> bool {
        let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + 200)];
        let end = memchr::memchr(self.bytes[mark], ahead);
        end.is_some_and(|end| ahead.get(end + 1) == Some(&b'}'))
    }

    /// `process.env.TOKEN || ` and its like before a value that stands in where there is none.
    fn skip_alternative(&mut self) {
        const SIGNS: [&[u8]; 6] = [b"|| ", b"?? ", b" or ", b"?: ", b".default(", b".unwrap_or("];
        let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + 80)];
        let line =
            ahead.split(|b| matches!(b, b'\n' | b';' | b',' | b'{')).next().unwrap_or_default();
        if !line.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'$' | b'_')) {
            return;
        }
        let finds = |sign: &&[u8]| memchr::memmem::find(line, sign).map(|at| at + sign.len());
        // `ENV.fetch("X") { "…" }` of Ruby
        let block =
            Some(line.len() + 1).filter(|_| line.ends_with(b") ") && ahead.len() > line.len());
        let Some(end) = SIGNS.iter().find_map(finds).or(block) else {
            return;
        };
        let mut next = Cursor { at: self.at + end, ..*self };
        next.skip_blanks();
        let before = next.at;
        if next.eat_quote().is_some() {
            self.at = before;
        }
    }

    /// `SecretStr("` before a value, and `[]byte("`.
    fn skip_call(&mut self) {
        self.eat("[]");
        let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + 32)];
        let len =
            ahead.iter().take_while(|b| b.is_ascii_alphanumeric() || b"_.:".contains(b)).count();
        let quote = ahead.get(len + 1..).unwrap_or_default();
        let quote = quote.iter().find(|b| !matches!(b, b'\\' | b'b' | b'r' | b' '));
        if len > 0 && ahead.get(len) == Some(&b'(') && matches!(quote, Some(b'"' | b'\'')) {
            self.at += len + 1;
            self.skip_blanks();
        }
    }

    /// `**Password:** x` in Markdown.
    fn skip_closing_stars(&mut self) {
        if self.starts("** ") {
            self.at += 3;
        }
    }

    /// A YAML block scalar (`|`, `>-`), or a value that stands on the next line by itself.
    fn skip_to_next_line(&mut self) {
        let mut next = *self;
        let block = next.eat_any(&["|-", ">-", "|+", ">+", "|", ">", "(", "\\"]);
        next.skip_blanks();
        if !next.eat_any(&["\r\n", "\n", "\\r\\n", "\\n"]) {
            return;
        }
        let line = next.at;
        if !block {
            let _ = next.eat_any(&["\r\n", "\n", "\\n"]);
        }
        next.skip_blanks();
        if block && next.at > line || !block && next.stands_alone() {
            self.at = next.at;
        }
    }

    /// The line's end and the blanks between a tag and its text.
    pub(super) fn skip_indent(&mut self) {
        if self.eat_any(&["\r\n", "\n", "\\n"]) {
            self.skip_blanks();
        }
    }

    /// From a name that has a line of its own to the value on the next one.
    pub(super) fn skip_to_own_line(&mut self) -> bool {
        let mut next = *self;
        let is_there = next.eat_any(&["\r\n", "\n"]) && next.stands_alone();
        self.at = if is_there { next.at } else { self.at };
        is_there
    }

    /// Whether one word is all there is on this line.
    fn stands_alone(&self) -> bool {
        let rest = &self.bytes[self.at..];
        let word =
            rest.iter().take(200).take_while(|b| b.is_ascii_graphic() && **b != b'\\').count();
        let colon = rest[..word].iter().any(|b| matches!(b, b':' | b'<' | b'='));
        word >= 6 && !colon && matches!(rest.get(word), None | Some(b'\n' | b'\r' | b'\\'))
    }
}
