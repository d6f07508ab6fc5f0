//! Rewrites JSON text leaf by leaf, copying to the byte what does not change.
//!
//! The walk needs no tree: it keeps one frame for each open object or array, with the key that its
//! current value stands under. What is written anew is known to be valid; what is only looked at
//! need not be, and the walk tells where something stands that is no JSON.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

/// What decides over the parts of a document. Each method gives what is to stand there instead.
pub(super) trait Editor {
    /// A key of an object, unescaped.
    fn key(&mut self, key: &str) -> Option<String>;
    /// A string, unescaped, and the key it stands under; an array's elements stand under its.
    fn string(&mut self, key: Option<&str>, text: &str) -> Option<String>;
    /// A number and its key.
    fn number(&mut self, key: Option<&str>, number: &str) -> Option<String>;
    /// A string under `value`, where its object says that it is sensitive, or gives its name.
    fn named(&mut self, name: Option<&str>, text: &str) -> Option<String>;
}

/// Something stands between the parts of a document that is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoDocument;

/// A document with its edits; `None` where nothing changes.
pub(super) fn rewrite(text: &str, editor: &mut dyn Editor) -> Result<Option<String>, NoDocument> {
    let mut walk = Walk::new(text, editor);
    walk.run().ok_or(NoDocument)?;
    let mut edits = walk.edits;
    if edits.is_empty() {
        return Ok(None);
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(&text[at..range.start]);
        escape_into(&mut out, &new);
        at = range.end;
    }
    out.push_str(&text[at..]);
    Ok(Some(out))
}

/// Shows the editor every part of an object or array, whatever it answers; `false` as soon as
/// something stands between them that is none, so that it may hold more than was shown.
pub(super) fn look(text: &str, editor: &mut dyn Editor) -> bool {
    text.starts_with(['{', '[']) && Walk::new(text, editor).run().is_some()
}

/// Whether the text, framed like a document, is one in which the editor would change nothing. It is asked for no more
/// after its first edit.
pub(super) fn stays(text: &str, editor: &mut dyn Editor) -> bool {
    let mut walk = Walk { is_trial: true, ..Walk::new(text, editor) };
    walk.run().is_some() && walk.edits.is_empty()
}

struct Walk<'t, 'e> {
    text: &'t str,
    editor: &'e mut dyn Editor,
    frames: Vec<Frame<'t>>,
    /// Ranges with their quotes, and the text to stand there.
    edits: Vec<(Range<usize>, String)>,
    /// Whether it ends with the first edit.
    is_trial: bool,
    /// Whether a value has ended, so that none may follow before a comma.
    after_value: bool,
}

/// An open object or array.
#[derive(Default)]
struct Frame<'t> {
    is_object: bool,
    /// Whether the next string is a key.
    at_key: bool,
    key: Option<Cow<'t, str>>,
    /// What `name` or `key` says in this object, or the key that the object stands under.
    name: Option<Cow<'t, str>>,
    is_sensitive: bool,
    /// The string under `value`, if it was left as it is.
    value: Option<Range<usize>>,
    /// What `element` says of the place in a page that `text` is typed into.
    element: Option<Cow<'t, str>>,
    /// The last string of an array, and how many there were.
    before: Option<Cow<'t, str>>,
    strings: usize,
}

impl<'t, 'e> Walk<'t, 'e> {
    fn new(text: &'t str, editor: &'e mut dyn Editor) -> Self {
        let (frames, edits) = (Vec::new(), Vec::new());
        Self { text, editor, frames, edits, is_trial: false, after_value: false }
    }

    /// `None` at what is no JSON: every byte that is of no string is of a number, a literal or the
    /// frame round them. What is merely left out, such as a colon, hides nothing.
    fn run(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at += match byte {
                b'"' => {
                    let string = StringToken::at(bytes, at)?;
                    let end = string.end;
                    self.string(at..end, string.has_escapes)?;
                    end - at
                }
                b'-' | b'0'..=b'9' => {
                    let len = number_len(&bytes[at..])?;
                    self.number(at..at + len)?;
                    len
                }
                b'{' | b'[' => self.open(*byte == b'{')?,
                b'}' | b']' => self.close(*byte == b'}')?,
                b',' => self.next(),
                b':' | b' ' | b'\t' | b'\r' | b'\n' | b'\x0c' => 1, // what `is_document` trims, too
                _ => self.literal(&bytes[at..])?,
            };
            if self.is_trial && !self.edits.is_empty() {
                return None;
            }
        }
        self.frames.is_empty().then_some(())
    }

    /// A value begins and is seen whole; none may stand right behind another.
    fn value(&mut self) -> Option<()> {
        (!std::mem::replace(&mut self.after_value, true)).then_some(())
    }

    fn open(&mut self, is_object: bool) -> Option<usize> {
        self.value()?;
        self.after_value = false;
        let above = self.frames.last().and_then(|f| f.key.clone());
        let (key, name) = if is_object { (None, above) } else { (above, None) };
        self.frames.push(Frame { is_object, at_key: is_object, key, name, ..Frame::default() });
        Some(1)
    }

    fn close(&mut self, is_object: bool) -> Option<usize> {
        let frame = self.frames.pop().filter(|frame| frame.is_object == is_object)?;
        self.after_value = true;
        let Some(range) = frame.value else {
            return Some(1);
        };
        let text = unescape(&self.text[range.start + 1..range.end - 1]);
        let mut new = frame.name.as_deref().and_then(|name| self.editor.named(Some(name), &text));
        if new.is_none() && frame.is_sensitive {
            new = self.editor.named(None, &text);
        }
        self.edits.extend(new.map(|new| (range, new)));
        Some(1)
    }

    fn next(&mut self) -> usize {
        self.after_value = false;
        if let Some(frame) = self.frames.last_mut() {
            frame.at_key = frame.is_object;
        }
        1
    }

    fn string(&mut self, range: Range<usize>, has_escapes: bool) -> Option<()> {
        let content = &self.text[range.start + 1..range.end - 1];
        let content = if has_escapes { unescape(content) } else { Cow::Borrowed(content) };
        if !self.frames.last().is_some_and(|frame| frame.at_key) {
            self.value()?;
        }
        match self.frames.last_mut() {
            Some(frame) if frame.at_key => {
                frame.at_key = false;
                let new = self.editor.key(&content);
                frame.key = Some(content);
                self.edits.extend(new.map(|new| (range, new)));
            }
            frame => {
                let key = frame.as_ref().and_then(|f| f.key.as_deref());
                let mut new = self.editor.string(key, &content);
                if new.is_none()
                    && let Some(name) =
                        frame.as_ref().and_then(|f| f.beside(&content, &self.text[range.end..]))
                {
                    new = self.editor.named(Some(name), &content);
                }
                if let Some(new) = new {
                    self.edits.push((range, new));
                } else if let Some(frame) = frame {
                    frame.note(content, range);
                }
            }
        }
        Some(())
    }

    fn number(&mut self, range: Range<usize>) -> Option<()> {
        self.value()?;
        let mut frames = self.frames.iter().rev().map(|frame| frame.key.as_deref());
        let (key, above) = (frames.next().flatten(), frames.next().flatten());
        // The `id` of a `chat` is a `chat_id`.
        let joined = key.filter(|key| *key == "id").and(above).map(|above| format!("{above}_id"));
        if let Some(new) = self.editor.number(joined.as_deref().or(key), &self.text[range.clone()])
        {
            self.edits.push((range, new));
        }
        Some(())
    }

    fn literal(&mut self, rest: &[u8]) -> Option<usize> {
        self.value()?;
        let literal =
            [&b"true"[..], b"false", b"null"].into_iter().find(|l| rest.starts_with(l))?;
        if let Some(frame) = self.frames.last_mut().filter(|_| literal == b"true") {
            frame.is_sensitive |=
                frame.key.as_deref().is_some_and(|k| k.eq_ignore_ascii_case("sensitive"));
        }
        Some(literal.len())
    }
}

impl<'t> Frame<'t> {
    /// What names a string that stands under no name of its own: the option before it in a list of
    /// arguments, the first of a pair, `passwords` round an object.
    fn beside(&self, content: &str, rest: &str) -> Option<&str> {
        if self.is_object {
            let has_many = |name: &&str| {
                ["passwords", "secrets"].iter().any(|many| many.eq_ignore_ascii_case(name))
            };
            return self.name.as_deref().filter(has_many);
        }
        let before = self.before.as_deref().filter(|before| is_name(before))?;
        let ends = || rest.trim_start().starts_with(']');
        let may_be = content.len() >= 8 && content.bytes().any(|b| b.is_ascii_digit());
        let is_pair = self.strings == 1 && may_be && ends();
        (before.starts_with("--") || is_pair).then_some(before)
    }

    /// Remembers a string that says something about its siblings.
    fn note(&mut self, content: Cow<'t, str>, range: Range<usize>) {
        if !self.is_object {
            self.strings += 1;
            self.before = Some(content);
            return;
        }
        let Some(key) = self.key.as_deref() else {
            return;
        };
        let is = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(key));
        if is(&["value", "default", "ParameterValue", "OutputValue"]) {
            self.value = Some(range);
        } else if is(&["text"]) {
            // What is typed into an element of a page.
            let into = self.element.take();
            self.value = into.is_some().then_some(range).or_else(|| self.value.take());
            self.name = into.or_else(|| self.name.take());
        } else if is(&["element"]) && content.len() <= 64 && !content.contains('[') {
            self.element = Some(without_kind(content));
        } else if is(&["name", "key", "keyName", "field", "parameter", "ParameterKey", "OutputKey"])
            && is_name(&content)
        {
            self.name = Some(content);
        }
    }
}

/// `Password` of `Password field`.
fn without_kind(element: Cow<'_, str>) -> Cow<'_, str> {
    const KINDS: [&str; 5] = [" field", " input", " textbox", " text box", " box"];
    let lower = element.to_ascii_lowercase();
    match KINDS.iter().find_map(|kind| lower.find(kind)) {
        Some(len) => Cow::Owned(element[..len].to_owned()),
        None => element,
    }
}

/// One word; a text in which something was taken out is not a name the second time either.
fn is_name(content: &str) -> bool {
    content.len() <= 64 && !content.contains(|c: char| c.is_whitespace() || c == '[')
}

/// How long a number is; `None` for what only has its bytes, such as a date or an address.
fn number_len(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let mut len = sign + digits(sign);
    if bytes.get(len) == Some(&b'.') {
        len += 1 + digits(len + 1);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'-' | b'+')));
        len += 1 + sign + digits(len + 1 + sign);
    }
    let goes_on = matches!(bytes.get(len), Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'e' | b'E'));
    (!goes_on).then_some(len)
}

/// Bytes of a string that are looked at one by one.
const SHORT: usize = 16;

/// A string with its quotes.
struct StringToken {
    end: usize,
    has_escapes: bool,
}

impl StringToken {
    fn at(bytes: &[u8], start: usize) -> Option<Self> {
        let mut at = start + 1;
        // Most keys and many values are shorter than what the search by blocks takes to begin.
        for byte in bytes.iter().skip(at).take(SHORT) {
            match byte {
                b'"' => return Some(Self { end: at + 1, has_escapes: false }),
                b'\\' => break,
                _ => at += 1,
            }
        }
        let mut has_escapes = false;
        while let Some(len) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
            at += len;
            if bytes[at] == b'"' {
                return Some(Self { end: at + 1, has_escapes });
            }
            has_escapes = true;
            at += 2;
        }
        None
    }
}

/// A string's content without its escapes. A lone surrogate becomes U+FFFD.
pub(super) fn unescape(content: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', content.as_bytes()) else {
        return Cow::Borrowed(content);
    };
    let mut out = String::with_capacity(content.len());
    let (mut start, mut slash) = (0, Some(first));
    while let Some(at) = slash {
        out.push_str(&content[start..at]);
        start = at + escape(&content[at..], &mut out);
        slash = memchr::memchr(b'\\', &content.as_bytes()[start..]).map(|len| start + len);
    }
    out.push_str(&content[start..]);
    Cow::Owned(out)
}

/// Writes what the escape at the beginning of `rest` stands for; its length.
fn escape(rest: &str, out: &mut String) -> usize {
    let plain = match rest.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_escape(rest, out),
        Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
        _ => {
            out.push('\\');
            return 1;
        }
    };
    out.push(plain);
    2
}

fn unicode_escape(rest: &str, out: &mut String) -> usize {
    let Some(first) = code_unit(rest) else {
        out.push('\\');
        return 1;
    };
    let second = rest.get(6..).and_then(code_unit).filter(|s| (0xDC00..0xE000).contains(s));
    match (char::from_u32(first), second) {
        (Some(c), _) => {
            out.push(c);
            6
        }
        (None, Some(low)) if first < 0xDC00 => {
            let joined = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            out.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            12
        }
        (None, _) => {
            out.push(char::REPLACEMENT_CHARACTER);
            6
        }
    }
}

fn code_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

/// Writes a string with its quotes.
fn escape_into(out: &mut String, text: &str) {
    use std::fmt::Write as _;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Whether a text is a JSON document that holds text: an object, an array, a string.
pub(super) fn is_document(text: &str) -> bool {
    is_framed(text) && serde_json::from_str::<serde::de::IgnoredAny>(text.trim_ascii()).is_ok()
}

/// Whether a text begins and ends like such a document.
pub(super) fn is_framed(text: &str) -> bool {
    let text = text.trim_ascii();
    text.starts_with('{') && text.ends_with('}')
        || text.starts_with('[') && text.ends_with(']')
        || text.len() > 2 && text.starts_with('"') && text.ends_with('"')
}

/// After so many texts that begin like a document and are none, no more are tried.
const MAX_TRIES: usize = 3;

/// A text cut into documents that begin a line and the text around them; `None` where it holds
/// no document.
pub(super) fn documents(text: &str) -> Option<Vec<&str>> {
    static BRACE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\n{"));
    static BRACKET: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\n["));
    let begins = |finder: &Finder<'_>| finder.find(text.as_bytes()).is_some();
    if !text.starts_with(['{', '[']) && !begins(&BRACE) && !begins(&BRACKET) {
        return None;
    }
    let mut pieces = Vec::new();
    let (mut start, mut at, mut tries) = (0, 0, 0);
    while at < text.len() && tries < MAX_TRIES {
        let end =
            memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |len| at + len + 1);
        let rest = &text[at..];
        if rest.starts_with(['{', '[']) {
            let line = &text[at..end];
            let document = [line, rest].into_iter().find(|text| is_document(text));
            if let Some(document) = document {
                pieces.extend([&text[start..at], document]);
                start = at + document.len();
                at = start;
                continue;
            }
            tries += usize::from(is_begun(line));
        }
        at = end;
    }
    pieces.push(&text[start..]);
    (pieces.len() > 1).then_some(pieces)
}

/// Whether a document may begin with this line: `{` alone, or a key.
fn is_begun(line: &str) -> bool {
    line[1..].trim_start().starts_with(['"', '{', '[', '}', ']']) || line.len() < 3
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns every string that holds a `!` to upper case, and names what it was under.
    struct Shout;

    impl Editor for Shout {
        fn key(&mut self, key: &str) -> Option<String> {
            key.contains('!').then(|| key.to_uppercase())
        }
        fn string(&mut self, key: Option<&str>, text: &str) -> Option<String> {
            text.contains('!').then(|| format!("{}:{}", key.unwrap_or("-"), text.to_uppercase()))
        }
        fn number(&mut self, key: Option<&str>, _: &str) -> Option<String> {
            (key == Some("pin") || key == Some("chat_id")).then(|| "n".to_owned())
        }
        fn named(&mut self, name: Option<&str>, text: &str) -> Option<String> {
            (name.is_none() || name == Some("PW")).then(|| format!("<{text}>"))
        }
    }

    #[test]
    fn only_edited_leaves_are_written_anew() {
        let text = r#" {"a" : "x\u00e9", "b!": ["q\n!", 1.50e3], "pin": 12} "#;
        let out = rewrite(text, &mut Shout).unwrap().unwrap();
        assert_eq!(out, r#" {"a" : "x\u00e9", "B!": ["b!:Q\n!", 1.50e3], "pin": "n"} "#);
        assert_eq!(rewrite(r#"{"a":[1,"b"]}"#, &mut Shout), Ok(None));
        assert_eq!(rewrite("{\"a\": x}", &mut Shout), Err(NoDocument));
    }

    #[test]
    fn whatever_stands_between_the_parts_of_a_document_is_told() {
        for sound in ["{}", "[1, -2.5e3, true, false, null, \"a\"]", "{\"a\" : [{}]}\n"] {
            assert!(look(sound, &mut Shout), "{sound}");
        }
        for other in [
            "",
            "\"a\"",
            "{",
            "[}",
            "{]",
            "[\"",
            "[\"a",
            "[tru]",
            "[x]",
            "[1password]",
            "[]]",
            "{é}",
        ] {
            assert!(!look(other, &mut Shout), "{other}");
        }
    }

    #[test]
    fn an_id_belongs_to_what_it_stands_in() {
        let out = rewrite(r#"{"id":1,"chat":{"id":2,"x":{"id":3}}}"#, &mut Shout).unwrap().unwrap();
        assert_eq!(out, r#"{"id":1,"chat":{"id":"n","x":{"id":3}}}"#);
    }

    #[test]
    fn siblings_say_what_a_value_is() {
        let text = r#"[{"name":"PW","value":"v"},{"value":"w","sensitive":true},{"name":"x","value":"y"}]"#;
        let out = rewrite(text, &mut Shout).unwrap().unwrap();
        assert_eq!(
            out,
            r#"[{"name":"PW","value":"<v>"},{"value":"<w>","sensitive":true},{"name":"x","value":"y"}]"#
        );
    }

    #[test]
    fn what_stands_before_a_value_names_it() {
        for (text, expected) in [
            (r#"["run","--PW","v"]"#, r#"["run","--PW","v"]"#),
            (r#"["PW","v1234567"]"#, r#"["PW","<v1234567>"]"#),
            (r#"["PW","v1"]"#, r#"["PW","v1"]"#),
            (r#"["PW","v1234567","w"]"#, r#"["PW","v1234567","w"]"#),
            (
                r#"{"ParameterKey":"PW","ParameterValue":"v"}"#,
                r#"{"ParameterKey":"PW","ParameterValue":"<v>"}"#,
            ),
            (
                r#"{"PW":{"value":"v","sensitive":true}}"#,
                r#"{"PW":{"value":"<v>","sensitive":true}}"#,
            ),
        ] {
            let out = rewrite(text, &mut Shout).unwrap().unwrap_or_else(|| text.to_owned());
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn documents_are_found_between_lines_of_text() {
        let text = "log\n{\"a\":1}\n[x]\n{\n\"b\": 2\n}\n";
        assert_eq!(
            documents(text).unwrap(),
            ["log\n", "{\"a\":1}\n", "[x]\n", "{\n\"b\": 2\n}\n", ""]
        );
        assert!(documents("[x]\n{\n").is_none());
    }

    #[test]
    fn escapes_are_read_as_json_means_them() {
        assert_eq!(unescape(r#"a\n\"\\\/\u0041\ud83d\ude00\ud800x"#), "a\n\"\\/A😀\u{fffd}x");
    }

    #[test]
    fn what_is_no_number_ends_a_walk() {
        for number in ["0", "-1", "12.5", "1e9", "-2.5E-3", "10, 2"] {
            assert!(stays(&format!("[{number}]"), &mut Shout), "{number}");
        }
        for other in ["2026-11-30", "10.0.0.1", "1 2", "+1", "1e5e", "0x1", "\"a\" \"b\"", "a"] {
            assert!(!stays(&format!("[{other}]"), &mut Shout), "{other}");
        }
        assert!(!stays("{\"a\": \"b\"} {}", &mut Shout));
        assert!(!stays("[\"a!\"]", &mut Shout));
        assert!(stays("{\"a\": [{}, [], null, \"\\\"\"]}", &mut Shout));
    }
}
