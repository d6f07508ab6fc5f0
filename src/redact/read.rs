//! Reads what follows a name in any notation: the operator, and with [`super::lead`] the opening quote. Where the value
//! ends is [`super::end`]'s to say.
//!
//! Transcripts hold text that was escaped any number of times, cut anywhere, and coloured, so
//! nothing here expects well-formed input. Each function looks at a bounded piece of text or at
//! the value itself.

use std::ops::Range;

use super::cursor::{Cursor, Quote};
use super::end::limit;

/// What joins a name to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `=` and its like without blanks, as in environments and URLs.
    Tight,
    /// `=`, `:=`, `=>` with blanks, as in code and INI files.
    Equals,
    /// `:`.
    Colon,
    /// `==`, `!=`.
    Compare,
    /// `,` or `(` before a quoted value, as in calls.
    Call,
    /// `<name>value`.
    Tag,
    /// `|`, as in tables.
    Cell,
    /// `%3D` and `%3A`.
    Percent,
    /// `is`, `was`.
    Prose,
    /// `, ` between the parts of a sentence.
    List,
    /// A blank.
    Blank,
}

/// Words and signs that join a name to its value in sentences of some languages.
const LINKS: &[&str] = &[
    "is now ",
    "is set to ",
    "is: ",
    "is ",
    "was ",
    "is:",
    "should be ",
    "must be ",
    "from ",
    "to ",
    "of ",
    "as ",
    "ist ",
    "est ",
    "es ",
    "é ",
    "è ",
    "- ",
    "– ",
    "— ",
    "-> ",
    "→ ",
    "это ",
    "lautet: ",
    "lautet ",
    "je ",
    "jest ",
    "är ",
    "er ",
    "on ",
    "este ",
    "e ",
    "е ",
    "είναι ",
    "là ",
    "adalah ",
    "هي ",
    "هو ",
    "היא ",
    "הוא ",
    "है ",
    "คือ ",
    "set to ",
    "changed to ",
    "reset to ",
    "will be ",
    "és ",
    "yra ",
    "ir ",
    "ni ",
    "ay ",
    "c'est ",
];

/// Words with which routers say in which form a secret follows.
const FORMS: [&str; 8] = [
    "cipher ",
    "irreversible-cipher ",
    "simple ",
    "ascii-text ",
    "hexadecimal ",
    "ascii 0 ",
    "enc ",
    "encrypted ",
];

/// What says in Chinese, Japanese and Thai what something is or has become.
const CHANGES: [&str; 11] = [
    "คือ",
    "改成了",
    "改成",
    "改为了",
    "改为",
    "换成了",
    "换成",
    "设置为",
    "设为",
    "就是",
    "変更：",
];

/// Where a value begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opening {
    pub(super) start: usize,
    pub(super) quote: Quote,
    pub(super) operator: Operator,
    /// Whether a quote closed the name.
    pub(super) quoted_name: bool,
}

/// What joins the name `name` to a value, and where that begins.
pub(super) fn opening(text: &str, name: &Range<usize>) -> Option<Opening> {
    let mut at = Cursor { bytes: text.as_bytes(), at: name.end };
    if at.skip_possessive() {
        let (start, quote) = at.open_value(Operator::Prose)?;
        return Some(Opening { start, quote, operator: Operator::Prose, quoted_name: false });
    }
    let quoted_name = at.skip_closers();
    let closed = at.at;
    at.skip_blanks();
    at.skip_prompt();
    let blanks = at.at > closed;
    let is_tag = begins_tag(text, name.start);
    // `${DB_PASSWORD:-postgres}`
    let has_default = text[..name.start].ends_with("${") && at.eat_any(&[":-", ":="]);
    if begins_line(text, name) && at.skip_to_own_line() {
        return Some(Opening {
            start: at.at,
            quote: Quote::Bare,
            operator: Operator::List,
            quoted_name,
        });
    }
    // `{password,"…"}` of Erlang
    let is_tuple = text[..name.start].ends_with('{') && at.eat(",");
    let is_term = at.peek().is_some_and(|b| b == b'\n' || b == b'\r')
        && is_term(text, name)
        && at.eat_any(&["\n: ", "\r\n: "]);
    let operator = if has_default || is_tuple || is_term {
        Operator::Equals
    } else {
        at.operator(blanks, quoted_name, is_tag)?
    };
    let (start, quote) = at.open_value(operator)?;
    let is_none = match operator {
        Operator::Call => quote == Quote::Bare,
        _ if is_tuple => quote == Quote::Bare,
        // `<password>@host` is a place for a password in an URL.
        Operator::Tag => at.peek() == Some(b'@'),
        _ => false,
    };
    if is_none {
        return None;
    }
    Some(Opening { start, quote, operator, quoted_name })
}

fn begins_line(text: &str, name: &Range<usize>) -> bool {
    name.start == 0 || text.as_bytes()[name.start - 1] == b'\n'
}

/// `? password` of YAML and `; password` of wikis: what follows stands behind the colon on the next line.
fn is_term(text: &str, name: &Range<usize>) -> bool {
    let before = &text[limit(text, name.start.saturating_sub(40))..name.start];
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.starts_with("? ") || line.starts_with("; ")
}

/// Whether what begins at `start` is the name of a tag: `<name`, `<ns:name`, `&lt;name`.
fn begins_tag(text: &str, start: usize) -> bool {
    let before = &text[..start];
    let namespace =
        |before: &str| before.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
    let before = match before.strip_suffix(':') {
        Some(prefix) => &prefix[..namespace(prefix)],
        None => before,
    };
    before.ends_with('<') || before.ends_with("&lt;")
}

impl Cursor<'_> {
    /// `pw's still `: what is said of the secret itself.
    fn skip_possessive(&mut self) -> bool {
        let is_there = self.eat_any(&["'s ", "’s "]);
        if is_there {
            self.eat_any(&["still ", "now ", "again ", "just ", "actually ", "been "]);
        }
        is_there
    }

    /// A picture that points at the value: `👇`.
    fn skip_pictures(&mut self) -> bool {
        const LEN: usize = 4; // bytes
        let before = self.at;
        while self.bytes[self.at..].starts_with(&[0xF0, 0x9F]) && self.at - before < 4 * LEN {
            self.at = self.bytes.len().min(self.at + LEN);
            self.eat("\u{fe0f}");
        }
        self.at > before
    }

    /// `?? '`, `|| "`, `or "`: what is taken where the name has no value.
    fn skip_fallback(&mut self) -> bool {
        let mut next = *self;
        let falls_back = next.eat_any(&["?? ", "|| ", "?: ", "or "]);
        let quote = next.at;
        let opens = falls_back && next.eat_quote().is_some();
        self.at = if opens { quote } else { self.at };
        opens
    }

    /// Quotes, brackets and colours after a name; whether there was a quote.
    fn skip_closers(&mut self) -> bool {
        let mut quoted = false;
        for _ in 0..4 {
            let before = self.at;
            if self.eat_quote().is_some() {
                quoted = true;
            } else if self.peek() == Some(b']') || self.starts("**") {
                self.at += if self.starts("**") { 2 } else { 1 };
            } else {
                self.skip_colour();
            }
            if self.at == before {
                break;
            }
        }
        quoted
    }

    /// ` [None]` in `Secret Access Key [None]:`, `(required)` and the like.
    fn skip_prompt(&mut self) {
        let close = match self.peek() {
            Some(b'[') => b']',
            Some(b'(') => b')',
            _ => return,
        };
        let ahead = self.bytes[self.at..].iter().take(40);
        let Some(len) = ahead.clone().position(|b| *b == close) else {
            return;
        };
        let mut next = Cursor { at: self.at + len + 1, ..*self };
        next.skip_blanks();
        if matches!(next.peek(), Some(b':' | b'=')) {
            self.at = next.at;
        }
    }

    fn operator(&mut self, blanks: bool, quoted_name: bool, is_tag: bool) -> Option<Operator> {
        if self.eat("==> ") {
            return Some(Operator::Equals);
        }
        if self.eat_any(&["===", "!==", "==", "!="]) {
            return Some(Operator::Compare);
        }
        if self.eat_any(&["=>", ":=", "?=", "||=", "->", "+=", ".=", "::=", ":::=", "→"]) {
            return Some(Operator::Equals);
        }
        if self.eat_any(&["：", "＝", "﹕", "› "]) {
            return Some(Operator::Colon);
        }
        let is_foreign = self.peek().is_some_and(|b| !b.is_ascii());
        if is_foreign && self.eat_any(&CHANGES)
            || self.eat_any(&["是", "为", "為", "は", "는 ", "은 "])
            || self.opens_quotation()
        {
            return Some(Operator::Prose);
        }
        if quoted_name && self.peek() == Some(b'{') {
            return self.block_default();
        }
        if quoted_name && self.skip_to_argument() {
            return Some(Operator::Equals);
        }
        if quoted_name && self.eat_any(&["\n\n", "\\n\\n"]) {
            return Some(Operator::Colon); // a field of a multipart form
        }
        if self.eat(":: ") {
            return Some(Operator::Colon); // base64, in LDIF
        }
        if self.starts("::") {
            return None;
        }
        if self.skip_length() || quoted_name && self.skip_number() {
            return Some(Operator::Equals);
        }
        if is_foreign && blanks && self.eat_any(&["│", "┃", "║"]) {
            return Some(Operator::Cell);
        }
        if self.eat("}{") {
            return Some(Operator::Equals); // of TeX
        }
        if is_foreign && blanks && self.skip_pictures() {
            return Some(Operator::Prose);
        }
        if self.peek() == Some(b'<') && self.skip_to_cell() {
            return Some(Operator::Tag);
        }
        match self.peek()? {
            b'=' => {
                self.at += 1;
                let tight = !blanks && !matches!(self.peek(), Some(b' ' | b'\t'));
                Some(if tight { Operator::Tight } else { Operator::Equals })
            }
            b':' => {
                self.at += 1;
                Some(self.skip_type().unwrap_or(Operator::Colon))
            }
            b',' | b'(' if quoted_name || self.peek() == Some(b'(') && !blanks => {
                self.at += 1;
                self.bridge().or(Some(Operator::Call))
            }
            b'{' if !blanks && matches!(self.bytes.get(self.at + 1), Some(b'"' | b'\\')) => {
                self.at += 1; // `std::string token{"…"}`
                Some(Operator::Call)
            }
            b'(' => {
                self.at += 1;
                Some(Operator::Prose)
            }
            b',' | b';' if matches!(self.bytes.get(self.at + 1), Some(b' ')) => {
                self.bridge().or_else(|| {
                    self.at += 1;
                    let mut next = Cursor { at: self.at + 1, ..*self };
                    if next.skip_remark() {
                        self.at = next.at; // `password, all in capitals: `
                    }
                    Some(Operator::List)
                })
            }
            b'>' if is_tag || quoted_name => {
                self.at += 1;
                self.eat_any(&["<value>", "<string>", "<![CDATA["]);
                Some(Operator::Tag)
            }
            b'&' if is_tag && self.eat("&gt;") => Some(Operator::Tag),
            _ if is_tag && blanks && self.skip_attributes() => Some(Operator::Tag),
            b'|' if blanks => {
                self.at += 1;
                Some(Operator::Cell)
            }
            b'%' if self.eat_any(&["%3d", "%3a"]) => Some(Operator::Percent),
            b'?' if self.starts("? ") => {
                self.at += 1;
                Some(Operator::Prose)
            }
            _ => self.bridge().or_else(|| self.word(blanks)),
        }
    }

    /// `') ?: '`, `").unwrap_or("`, `').fill('`: the value is a later call's argument.
    fn skip_to_argument(&mut self) -> bool {
        const CALLS: &[&str] = &[
            ") ?: ",
            ") ?? ",
            ") || ",
            ") or ",
            ").unwrap_or(",
            ").unwrap_or_else(|_| ",
            ").or_else(",
            ").orElse(",
            ").fill(",
            ").type(",
            ").send_keys(",
            ").sendKeys(",
            ").setValue(",
            ").set_value(",
            ").val(",
            ").press_sequentially(",
        ];
        let mut next = *self;
        let calls = next.eat_any(CALLS);
        let argument = next.at;
        let opens = calls && next.eat_quote().is_some();
        self.at = if opens { argument } else { self.at };
        opens
    }

    /// `</td><td>`, `</strong> ` between a name and the element that holds its value.
    fn skip_to_cell(&mut self) -> bool {
        let mut next = *self;
        let closes = next.eat("</") && next.skip_tag();
        next.eat(":");
        next.skip_indent();
        next.skip_blanks();
        let opens = next.peek() == Some(b'<') && next.bytes.get(next.at + 1) != Some(&b'/');
        let opens = closes && opens && next.skip_tag();
        self.at = if opens { next.at } else { self.at };
        opens
    }

    /// The rest of a tag, up to its `>`.
    fn skip_tag(&mut self) -> bool {
        let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + 80)];
        let Some(len) = ahead.iter().position(|b| matches!(b, b'>' | b'\n')) else {
            return false;
        };
        self.at += len + 1;
        ahead[len] == b'>'
    }

    /// ` Type="x">` after the name of a tag.
    fn skip_attributes(&mut self) -> bool {
        let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + 160)];
        let Some(len) = ahead.iter().position(|b| matches!(b, b'>' | b'<' | b'\n')) else {
            return false;
        };
        let closes = ahead[len] == b'>' && !ahead[..len].ends_with(b"/");
        self.at += if closes { len + 1 } else { 0 };
        closes
    }

    /// `, "value": ` and ` value=` after a name that was itself a value.
    fn bridge(&mut self) -> Option<Operator> {
        let mut next = *self;
        if next.skip_part_head() {
            *self = next;
            return Some(Operator::Colon);
        }
        let is_plist = next.eat("</key>");
        next.eat(",");
        for _ in 0..2 {
            next.eat_any(&["\\n", "\r\n", "\n"]);
            next.skip_blanks();
        }
        if is_plist {
            let opens = next.eat("<string>");
            *self = if opens { next } else { *self };
            return opens.then_some(Operator::Tag);
        }
        next.eat_quote();
        if !next.eat_any(&["value", "default", "content", "with", "parametervalue", "outputvalue"])
        {
            return None;
        }
        next.eat_quote();
        next.skip_blanks();
        let operator = match next.peek()? {
            b'=' => Operator::Equals,
            b':' => Operator::Colon,
            _ => return None,
        };
        next.at += 1;
        *self = next;
        Some(operator)
    }

    /// `{ type = string, default = ` and `{ value = ` after the name of a Terraform variable.
    fn block_default(&mut self) -> Option<Operator> {
        let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + 400)];
        let block = &ahead[..memchr::memchr(b'}', ahead).unwrap_or(ahead.len())];
        let mut next = *self;
        let end = |word: &[u8]| memchr::memmem::find(block, word).map(|at| at + word.len());
        next.at += end(b"default").or_else(|| end(b"value"))?;
        next.skip_blanks();
        let assigns = next.eat("=");
        *self = if assigns { next } else { *self };
        assigns.then_some(Operator::Equals)
    }

    fn word(&mut self, blanks: bool) -> Option<Operator> {
        if !blanks {
            return None;
        }
        if self.skip_declared_type() {
            return Some(Operator::Equals);
        }
        // How a router's configuration has it.
        if self.eat_any(&FORMS) {
            return Some(Operator::Prose);
        }
        if self.skip_clause() || self.eat_any(LINKS) {
            return Some(Operator::Prose);
        }
        if self.skip_fallback() {
            return Some(Operator::Equals);
        }
        if self.skip_remark() {
            return Some(Operator::List);
        }
        if self.eat_any(&["-value ", "-string "]) {
            return Some(Operator::Equals);
        }
        let mut pair = *self;
        if pair.eat(". \"") {
            self.at = pair.at - 1; // of Lisp
            return Some(Operator::Equals);
        }
        Some(Operator::Blank)
    }
}

#[cfg(test)]
mod tests {
    use super::super::end::value_end;
    use super::*;

    fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
        let start = text.find(name).unwrap();
        let opening = opening(text, &(start..start + name.len()))?;
        Some(&text[opening.start..value_end(text, &opening)])
    }

    #[test]
    fn a_value_is_found_in_every_notation() {
        for text in [
            "pw=V",
            "pw: V",
            "pw = \"V\"",
            "\"pw\": \"V\"",
            "\\\"pw\\\": \\\"V\\\"",
            "pw := 'V'",
            "'pw' => 'V'",
            "pw: str = \"V\"",
            "<pw>V</pw>",
            "pw [None]: V",
            "pw V",
            "pw%3DV%26a=1",
            "pw=V&a=1",
            "pw=V;Encrypt=True",
            "pw: >-\n  V\n",
            "pw:\\n",
            "&quot;pw&quot;: &quot;V&quot;",
            "\"pw\", \"V\")",
            "pw(\"V\")",
            "pw=V\\nnext",
            "| pw | V |",
            "pw is V.",
            "- name: pw\n  value: V",
            "{\"name\": \"pw\", \"value\": \"V\"}",
            "pw = b'V'",
            "pw=V\u{1b}[0m",
            "\\\\\\\"pw\\\\\\\": \\\\\\\"V\\\\\\\"}",
            "pw key=\"pw\" value=\"V\"",
            "pw VARCHAR2(30) := 'V';",
            "pw PIC X(12) VALUE 'V'.",
            "pw : constant String := \"V\"",
            "name=\"pw\"\r\nContent-Type: text/plain\r\n\r\nV\r\n",
            "pw\\xacV\\xa4",
            "1) \"pw\"\n2) \"V\"",
            "{pw,\"V\"}",
            "? pw\n: V",
            "{name: pw, value: V}",
            "pw's still V btw",
            "pw cipher V",
            "│ pw │ V │",
        ] {
            if text == "pw:\\n" {
                continue;
            }
            let name = "pw";
            let found = if text.starts_with("pw key") {
                value(&text[3..], name)
            } else {
                value(text, name)
            };
            assert_eq!(found, Some("V"), "{text}");
        }
    }

    #[test]
    fn a_quoted_value_ends_at_its_own_quote() {
        assert_eq!(value(r#""pw": "a\"b", "x": 1"#, "pw"), Some(r#"a\"b"#));
        assert_eq!(value(r#""pw": "a\\", "x": 1"#, "pw"), Some(r"a\\"));
        assert_eq!(value(r#"{\"pw\": \"a b\"}"#, "pw"), Some("a b"));
        assert_eq!(value("pw=\"cut off", "pw"), Some("cut"));
    }
}
