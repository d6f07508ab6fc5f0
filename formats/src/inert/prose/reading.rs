//! What the parser says about a text, and what has to be added for it.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::Edits;
use super::margin::{is_blank, margin};
use crate::inert::name::opens_markup;

/// Follows the text while it is read; a text that swallows it has left something open.
const PROBE: &str = "\n\n# probe\n";
/// Moves a heading of a message below the three levels of the document.
const DEEPER: &str = "###";

/// What may reach into a code span in pandoc, and what ends it there.
const OPENERS: [(&str, &str); 3] = [("$", "$"), ("](", ")"), ("{", "}")];
/// As much as is looked through for the beginning of a line, so that no text takes long.
const WINDOW: usize = 4096;

/// What the parser says about a text.
#[derive(Default)]
pub(super) struct Reading<'t> {
    pub(super) text: &'t str,
    /// Code of all kinds, in order: nothing in it is edited.
    pub(super) code: Vec<Range<usize>>,
    /// Raw HTML, in order: what else acts in it shows when it is text.
    pub(super) markup: Vec<Range<usize>>,
    /// Headings of all kinds.
    pub(super) headings: Vec<Range<usize>>,
    /// Addresses in angle brackets that are harmless.
    pub(super) autolinks: Vec<usize>,
    /// Thematic breaks.
    pub(super) rules: Vec<usize>,
    pub(super) edits: Edits,
    /// Open lists and quotations.
    depth: usize,
    /// Where the first of each of [`OPENERS`] stands.
    openers: [usize; 3],
    /// Whether there is no markup, and the document goes on behind the text.
    pub(super) settled: bool,
}

impl<'t> Reading<'t> {
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let mut reading = Self {
            text,
            openers: OPENERS.map(|(opener, _)| {
                memmem::find(text.as_bytes(), opener.as_bytes()).unwrap_or(text.len())
            }),
            settled: true,
            ..Self::default()
        };
        let probed = format!("{text}{PROBE}");
        let mut events = Parser::new_ext(&probed, Options::ENABLE_TABLES).into_offset_iter();
        let mut goes_on = false;
        for (event, range) in events.by_ref() {
            if range.start < text.len() {
                reading.event(&event, range)?;
            } else {
                goes_on |= matches!(event, Event::Start(Tag::Heading { .. }));
            }
        }
        reading.settled &= goes_on;
        for (_, definition) in events.reference_definitions().iter() {
            reading.escape(definition.span.start);
        }
        Some(reading)
    }

    /// The text in a range, which may reach into the probe.
    fn within(&self, range: &Range<usize>) -> &'t str {
        &self.text[range.start..range.end.min(self.text.len())]
    }

    /// Adds a backslash before the character here.
    pub(super) fn escape(&mut self, at: usize) {
        self.edits.entry(at).or_insert(Cow::Borrowed("\\"));
    }

    fn event(&mut self, event: &Event<'_>, range: Range<usize>) -> Option<()> {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => self.depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => self.depth -= 1,
            Event::Start(Tag::Heading { .. }) => self.heading(range),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => self.fence(range)?,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => self.indented(range)?,
            Event::Start(Tag::Image { .. }) => self.escape(range.start),
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                self.link(*link_type, dest_url, range.start);
            }
            Event::Code(_) => self.span(range)?,
            Event::Rule => self.rules.push(range.start),
            Event::Html(_) | Event::InlineHtml(_) => {
                self.settled = false;
                self.markup.push(range);
            }
            _ => {}
        }
        Some(())
    }

    fn heading(&mut self, range: Range<usize>) {
        let heading = self.within(&range).trim_end();
        let level = heading.bytes().take_while(|b| *b == b'#').count();
        let is_atx = (1..=6).contains(&level)
            && heading[level..].chars().next().is_none_or(char::is_whitespace)
            && !heading.contains('\n');
        if !is_atx {
            let underline = heading.rfind('\n').map_or(0, |at| at + 1);
            if let Some(at) = heading[underline..].find(['=', '-']) {
                self.escape(range.start + underline + at);
            }
        } else if level <= DEEPER.len() {
            self.edits.insert(range.start, Cow::Borrowed(DEEPER));
        }
        self.headings.push(range);
    }

    /// A fence, which is closed where it ends with the text.
    fn fence(&mut self, range: Range<usize>) -> Option<()> {
        let block = self.within(&range);
        let mark = block.chars().next()?;
        let length = block.chars().take_while(|c| *c == mark).count();
        if !self.is_fence_to_all(&block[length..], mark, range.start) {
            return None;
        }
        if range.end > self.text.len() {
            let line_end = if self.text.ends_with('\n') { "" } else { "\n" };
            let end = format!("{line_end}{}", String::from(mark).repeat(length));
            self.edits.insert(self.text.len(), Cow::Owned(end));
        } else {
            let (_, last) = block.trim_end().rsplit_once('\n')?;
            let last = last.trim_start_matches([' ', '\t', '>']);
            if last.len() < length || last.chars().any(|c| c != mark) {
                return None;
            }
        }
        self.code.push(range);
        Some(())
    }

    /// To pandoc an info string of several words, or with braces, is markup; right below text
    /// only backticks that are not indented make a fence; and in a list a comment is one even in
    /// a fence. Some read on behind a backslash in the info string.
    fn is_fence_to_all(&self, block: &str, mark: char, start: usize) -> bool {
        let info = block.lines().next().unwrap_or_default().trim();
        let is_word = !info.contains(|c: char| c.is_whitespace() || "{}=<`\\".contains(c));
        let at_margin = start == 0 || self.text[..start].ends_with('\n');
        let is_indented = self.depth == 0 && !at_margin;
        let is_seen = (mark == '`' && !is_indented) || self.is_after_blank(start);
        let hides_comment = self.depth > 0 && block.contains("<!--");
        is_word && is_seen && !hides_comment
    }

    /// Readers do not agree on how far a list's text is indented, nor on what is a list.
    fn indented(&mut self, range: Range<usize>) -> Option<()> {
        let block = self.within(&range);
        let acts = |line: &str| line.trim_start().starts_with(['#', '-', '=', '[', '`', '~', ':']);
        let is_code_to_all = self.depth == 0 && self.is_after_blank(range.start);
        let is_plain = !block.contains(['<', '!', '[', '`', '\\', '$', '{']);
        if tags(block).next().is_some() || block.lines().any(acts) || !(is_code_to_all || is_plain)
        {
            return None;
        }
        self.code.push(range);
        Some(())
    }

    /// In pandoc math, attributes and a link's target may end inside a code span and set free
    /// what follows there; and long marks in front of a line are a fence.
    fn span(&mut self, range: Range<usize>) -> Option<()> {
        let span = self.within(&range);
        let may_be_fence = self.is_in_front(range.start) || span.contains('\n');
        if span.starts_with("```") && may_be_fence {
            return None;
        }
        let tag = tags(span).last().unwrap_or_default();
        let set_free = OPENERS.iter().zip(self.openers).any(|((_, closer), opener)| {
            opener < range.start && span.find(closer).is_some_and(|at| at < tag)
        });
        if set_free {
            return None;
        }
        self.code.push(range);
        Some(())
    }

    fn link(&mut self, kind: LinkType, target: &str, start: usize) {
        let harmless = is_harmless(target);
        if matches!(kind, LinkType::Autolink) && harmless || matches!(kind, LinkType::Email) {
            self.autolinks.push(start);
        } else if !harmless {
            self.escape(start);
        }
    }

    /// Whether there is nothing but a margin before this place in its line.
    fn is_in_front(&self, at: usize) -> bool {
        let before = far(&self.text[..at]);
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let start = at - before.len() + line;
        start + margin(&self.text[start..]) == at
    }

    /// Whether the line above this place is empty.
    fn is_after_blank(&self, at: usize) -> bool {
        let mut lines = self.text[..at].rsplit('\n');
        let margin = lines.next().unwrap_or_default();
        is_blank(lines.next().unwrap_or_default(), margin)
    }
}

/// Whether one of these ranges, which are in order, holds the place.
pub(super) fn covers(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.start <= at)
}

/// The places in a text where a tag or a comment may begin.
fn tags(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('<').map(|(at, _)| at).filter(|at| opens_markup(&text[*at..]))
}

/// Whether a link leads to a page or a mailbox, or stays in the document.
fn is_harmless(target: &str) -> bool {
    let end = target.find([':', '/', '?', '#']).unwrap_or(target.len());
    let (scheme, rest) = target.split_at(end);
    let is_web = ["http", "https", "mailto"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    !rest.starts_with(':') || is_web
}

/// The end of a text.
fn far(text: &str) -> &str {
    let start = text.len().saturating_sub(WINDOW);
    let start = (start..text.len()).find(|at| text.is_char_boundary(*at));
    &text[start.unwrap_or(text.len())..]
}
