//! A place in a text, and the small steps over quotes, blanks and colours that reading takes.

/// What stands round a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// Nothing.
    Bare,
    /// A quotation mark behind so many backslashes.
    Mark(u8, usize),
    /// `&quot;` and its like.
    Entity,
}

/// Blanks between the parts of an assignment; more are a layout that joins nothing.
const MAX_BLANKS: usize = 40;

/// A place in a text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl Cursor<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    pub(super) fn starts(&self, with: &str) -> bool {
        // Most differ in their first byte, which takes no call to see.
        let (rest, with) = (&self.bytes[self.at..], with.as_bytes());
        let may = rest.first().is_some_and(|first| first.eq_ignore_ascii_case(&with[0]));
        may && rest.get(..with.len()).is_some_and(|there| there.eq_ignore_ascii_case(with))
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_there = self.starts(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }

    pub(super) fn eat_any(&mut self, texts: &[&str]) -> bool {
        // The first byte tells most of them apart, and lists are long.
        let Some(first) = self.peek() else { return false };
        let begins = |text: &str| text.as_bytes()[0].eq_ignore_ascii_case(&first);
        texts.iter().any(|text| begins(text) && self.eat(text))
    }

    pub(super) fn eat_quote(&mut self) -> Option<Quote> {
        let slashes = self.bytes[self.at..].iter().take_while(|b| **b == b'\\').count();
        match self.bytes.get(self.at + slashes) {
            Some(mark @ (b'"' | b'\'' | b'`')) => {
                self.at += slashes + 1;
                Some(Quote::Mark(*mark, slashes))
            }
            Some(b'u') if slashes > 0 => {
                let is_mark = self.bytes.get(self.at + slashes..self.at + slashes + 5);
                let mark = match is_mark? {
                    b"u0022" => b'"',
                    b"u0027" => b'\'',
                    _ => return None,
                };
                self.at += slashes + 5;
                Some(Quote::Mark(mark, usize::MAX))
            }
            _ => self
                .eat_any(&["&quot;", "&#34;", "&#39;", "&#x27;", "&apos;", "%22", "&#x22;"])
                .then_some(Quote::Entity),
        }
    }

    /// Spaces and tabs, real or escaped.
    pub(super) fn skip_blanks(&mut self) {
        for _ in 0..MAX_BLANKS {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(0xC2 | 0xE2 | 0xE3) if self.eat_any(&["\u{a0}", "\u{202f}", "\u{3000}"]) => {}
                Some(b'&') if self.eat("&nbsp;") => {}
                _ if self.starts("\\t") || self.starts("%20") => {
                    self.at += if self.starts("%") { 3 } else { 2 }
                }
                _ => return,
            }
        }
    }

    /// `\u{1b}[32m` or what is left of it.
    pub(super) fn skip_colour(&mut self) {
        let mut next = *self;
        if next.eat_any(&["\u{1b}[", "\\u001b[", "\\x1b[", "\\033[", "\\e["]) {
            let digits =
                next.bytes[next.at..].iter().take_while(|b| b.is_ascii_digit() || **b == b';');
            next.at += digits.take(12).count();
            if next.eat("m") {
                self.at = next.at;
            }
        } else if next.eat("[") {
            // Programs that show a terminal's text drop the escape alone.
            let code = next.bytes[next.at..].iter().take_while(|b| b.is_ascii_digit()).count();
            next.at += code;
            if matches!(code, 1 | 2) && next.eat("m") {
                self.at = next.at;
            }
        }
    }
}
