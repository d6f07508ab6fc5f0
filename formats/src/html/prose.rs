//! Markdown as markup. What is HTML in it is shown as text; links lead to the web or nowhere;
//! pictures from elsewhere are links, so that a page asks nobody for anything.

use std::mem;

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, TextMergeStream};

use super::link::{Target, linked};
use super::text::{shown, visible};
use super::{code, picture};

/// Longer texts are shown as they are: nobody wrote them as Markdown.
const LONGEST: usize = 1 << 20; // bytes
/// Deeper lists and quotes are somebody's joke; browsers stop at 512 elements.
const DEEPEST: usize = 48;

/// A text as it is, line breaks and all.
pub(super) fn verbatim(text: &str) -> Markup {
    html! { div.x { (linked(text)) } }
}

/// A text that is Markdown, below a heading of this level.
pub(super) fn prose(text: &str, level: u8) -> Markup {
    if text.len() > LONGEST {
        return verbatim(text);
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut depth = 0_usize;
    let mut rendered = Rendering { level, ..Rendering::default() };
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
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    pulldown_cmark::html::push_html(&mut out, rendered.events.into_iter());
    PreEscaped(out)
}

/// Events on their way from parser to renderer.
#[derive(Default)]
struct Rendering<'t> {
    events: Vec<Event<'t>>,
    /// The level of the last heading; the next is at most one below it.
    level: u8,
    /// The code block that is open, and its text so far.
    code: Option<(String, String)>,
    /// Links and pictures that are open, each with where it leads and where its text begins.
    open: Vec<(String, usize)>,
    heading: u8,
}

impl<'t> Rendering<'t> {
    fn markup(&mut self, markup: Markup) {
        self.events.push(Event::InlineHtml(markup.0.into()));
    }

    fn tag(&mut self, tag: &'static str) {
        self.events.push(Event::InlineHtml(tag.into()));
    }

    fn take(&mut self, event: Event<'t>) {
        if let Some((_, text)) = &mut self.code {
            match event {
                Event::Text(more) => text.push_str(&more),
                Event::End(_) => self.end_code(),
                _ => {}
            }
            return;
        }
        match event {
            Event::Text(text) => self.text(&text),
            Event::Html(text) | Event::InlineHtml(text) => self.markup(shown(&text)),
            Event::Code(text) => self.markup(html! { code { (shown(&text)) } }),
            Event::TaskListMarker(done) => self.tag(if done { "☑ " } else { "☐ " }),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            other => self.events.push(other),
        }
    }

    fn text(&mut self, text: &str) {
        if self.open.is_empty() {
            self.markup(linked(text));
        } else {
            self.markup(shown(text));
        }
    }

    fn start(&mut self, tag: Tag<'t>) {
        match tag {
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::Heading { level, .. } => {
                self.heading = (level as u8 + 2).min(self.level + 1).min(6);
                self.level = self.heading;
                self.markup(PreEscaped(format!("<h{}>", self.heading)));
            }
            Tag::HtmlBlock => self.tag("<p>"),
            Tag::Table(_) => {
                self.tag("<div class=\"tb\" tabindex=\"0\">");
                self.events.push(Event::Start(Tag::Table(Vec::new())));
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.open.push((dest_url.into_string(), self.events.len()));
            }
            other => self.events.push(Event::Start(other)),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.markup(PreEscaped(format!("</h{}>", self.heading))),
            TagEnd::HtmlBlock => self.tag("</p>"),
            TagEnd::Table => {
                self.events.push(Event::End(TagEnd::Table));
                self.tag("</div>");
            }
            TagEnd::Link => self.end_link(""),
            TagEnd::Image => self.end_link("Picture: "),
            other => self.events.push(Event::End(other)),
        }
    }

    fn end_code(&mut self) {
        let (language, text) = self.code.take().unwrap_or_default();
        self.markup(code::block(&language, text.strip_suffix('\n').unwrap_or(&text)));
    }

    /// Ends a link or a picture. Inside another, only its text and its address are left of it.
    fn end_link(&mut self, before: &'static str) {
        let Some((url, at)) = self.open.pop() else { return };
        if !before.is_empty()
            && let Some(picture) = picture::of_url(&url, &self.said(at))
        {
            self.events.truncate(at);
            return self.markup(picture);
        }
        let target = Target::of(&url).filter(|_| self.open.is_empty());
        let text = self.events.split_off(at);
        if let Some(target) = target {
            let said = said(&text);
            self.markup(target.open(Some(&said)));
            self.tag(before);
            self.events.extend(text);
            if said.trim().is_empty() {
                self.markup(shown(&url));
            }
            self.tag("</a>");
        } else {
            self.tag(before);
            let said = said(&text);
            self.events.extend(text);
            if said != visible(&url) {
                self.markup(html! { span.to { " (" (shown(&url)) ")" } });
            }
        }
    }

    fn said(&self, at: usize) -> String {
        said(&self.events[at..])
    }
}

/// The text of events, without their markup.
fn said(events: &[Event<'_>]) -> String {
    let mut said = String::new();
    for event in events {
        if let Event::InlineHtml(markup) = event {
            let mut rest: &str = markup;
            while let Some((text, tag)) = rest.split_once('<') {
                said.push_str(text);
                rest = tag.split_once('>').map_or("", |(_, after)| after);
            }
            said.push_str(rest);
        }
    }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    entities.iter().fold(mem::take(&mut said), |said, (entity, c)| said.replace(entity, c))
}
