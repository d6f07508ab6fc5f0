//! Markdown as markup. What is HTML in it is shown as text; links lead to the web or nowhere;
//! pictures from elsewhere are links, so that a page asks nobody for anything.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, TextMergeStream};

use super::link::{Target, link_up};
use super::text::{show, visible};
use super::{code, picture};

/// Longer texts are shown as they are: nobody wrote them as Markdown.
const LONGEST: usize = 1 << 20; // bytes
/// Deeper lists and quotes are somebody's joke; browsers stop at 512 elements.
const DEEPEST: usize = 48;

/// A text as it is, line breaks and all.
pub(super) fn verbatim(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 32);
    out.push_str("<div class=x>");
    link_up(text, &mut out);
    out.push_str("</div>");
    PreEscaped(out)
}

/// A text that is Markdown, below a heading of this level. End tags that HTML can do without are
/// left out, so what follows has to be a block.
pub(super) fn prose(text: &str, level: u8) -> Markup {
    if text.len() > LONGEST {
        return verbatim(text);
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let out = String::with_capacity(text.len() + text.len() / 8 + 32);
    let mut rendered = Rendering { out, base: level, level, ..Rendering::default() };
    let mut depth = 0_usize;
    for event in TextMergeStream::new(Parser::new_ext(text, options)) {
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return verbatim(text);
        }
        rendered.take(event);
    }
    PreEscaped(rendered.out)
}

/// Markup that grows by Markdown's events.
#[derive(Default)]
struct Rendering {
    out: String,
    /// The level of the heading above.
    base: u8,
    /// The level of the last heading; the next is at most one below it.
    level: u8,
    heading: u8,
    is_in_head: bool,
    /// The code block that is open, and its text so far.
    code: Option<(String, String)>,
    /// Links and pictures that are open, each with where it leads and where its text begins.
    open: Vec<(String, usize)>,
}

impl Rendering {
    fn tag(&mut self, tag: &str) {
        self.out.push_str(tag);
    }

    /// A tag that begins a block, on a line of its own.
    fn block(&mut self, tag: &str) {
        if !self.out.is_empty() && !self.out.ends_with(['\n', '>']) {
            self.out.push('\n');
        }
        self.tag(tag);
    }

    fn take(&mut self, event: Event<'_>) {
        if let Some((_, text)) = &mut self.code {
            match event {
                Event::Text(more) => text.push_str(&more),
                Event::End(_) => self.end_code(),
                _ => {}
            }
            return;
        }
        match event {
            Event::Text(text) if self.open.is_empty() => link_up(&text, &mut self.out),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                show(&text, &mut self.out);
            }
            Event::Code(text) => {
                self.tag("<code>");
                show(&text, &mut self.out);
                self.tag("</code>");
            }
            Event::TaskListMarker(done) => self.tag(if done { "☑ " } else { "☐ " }),
            Event::SoftBreak => self.tag("\n"),
            Event::HardBreak => self.tag("<br>"),
            Event::Rule => self.block("<hr>\n"),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            // Of extensions that are not in use.
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::Heading { level, .. } => {
                self.heading = (level as u8 + self.base).min(self.level + 1).min(6);
                self.level = self.heading;
                self.block(&format!("<h{}>", self.heading));
            }
            Tag::Paragraph | Tag::HtmlBlock => self.block("<p>"),
            Tag::BlockQuote(_) => self.block("<blockquote>"),
            Tag::List(None) => self.block("<ul>"),
            Tag::List(Some(1)) => self.block("<ol>"),
            Tag::List(Some(first)) => self.block(&format!("<ol start={first}>")),
            Tag::Item => self.block("<li>"),
            Tag::Emphasis => self.tag("<em>"),
            Tag::Strong => self.tag("<strong>"),
            Tag::Strikethrough => self.tag("<s>"),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.open.push((dest_url.into_string(), self.out.len()));
            }
            table => self.start_of_table(&table),
        }
    }

    fn start_of_table(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Table(_) => self.block("<section class=tb tabindex=0><table>"),
            Tag::TableHead => self.tag("<thead><tr>"),
            Tag::TableRow => self.block("<tr>"),
            Tag::TableCell => self.block(if self.is_in_head { "<th>" } else { "<td>" }),
            _ => {}
        }
        self.is_in_head |= matches!(tag, Tag::TableHead);
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                writeln!(self.out, "</h{}>", self.heading).unwrap_or_default();
            }
            TagEnd::BlockQuote(_) => self.block("</blockquote>\n"),
            TagEnd::List(is_ordered) => self.block(if is_ordered { "</ol>\n" } else { "</ul>\n" }),
            TagEnd::Emphasis => self.tag("</em>"),
            TagEnd::Strong => self.tag("</strong>"),
            TagEnd::Strikethrough => self.tag("</s>"),
            TagEnd::Table => self.block("</table></section>\n"),
            TagEnd::TableHead => {
                self.is_in_head = false;
                self.block("<tbody>");
            }
            TagEnd::Link => self.end_link(""),
            TagEnd::Image => self.end_link("Picture: "),
            // Ended by what follows.
            _ => {}
        }
    }

    fn end_code(&mut self) {
        let (language, text) = self.code.take().unwrap_or_default();
        self.block(&code::block(&language, text.strip_suffix('\n').unwrap_or(&text)).0);
    }

    /// Ends a link or a picture. Inside another, only its text and its address are left of it.
    fn end_link(&mut self, before: &'static str) {
        let Some((url, at)) = self.open.pop() else { return };
        let text = self.out.split_off(at);
        let said = said(&text);
        let picture = || picture::of_url(&url, &said);
        if let Some(picture) = (!before.is_empty()).then(picture).flatten() {
            return self.tag(&picture.0);
        }
        let target = Target::of(&url).filter(|_| self.open.is_empty());
        if let Some(target) = &target {
            self.tag(&target.open(Some(&said)).0);
        }
        self.tag(before);
        self.tag(&text);
        if target.is_some() {
            if said.trim().is_empty() {
                show(&url, &mut self.out);
            }
            self.tag("</a>");
        } else if said != visible(&url) {
            self.tag("<span class=to> (");
            show(&url, &mut self.out);
            self.tag(")</span>");
        }
    }
}

/// The text of markup.
fn said(markup: &str) -> String {
    let mut said = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some((text, tag)) = rest.split_once('<') {
        said.push_str(text);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    said.push_str(rest);
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    entities.iter().fold(said, |said, (entity, c)| said.replace(entity, c))
}
