//! Links that a page may hold: to the web and to mail, and never to anything that acts.

use maud::{Markup, PreEscaped, html};
use memchr::memmem;

use super::text::{show, shown, visible};

/// Where a link leads.
pub(super) struct Target<'t> {
    url: &'t str,
    /// Whom the reader would be talking to; empty for mail.
    host: &'t str,
}

impl<'t> Target<'t> {
    /// The target of a link that may be one.
    pub(super) fn of(url: &'t str) -> Option<Self> {
        let is_clear = |c: char| c > ' ' && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`');
        if !url.chars().all(is_clear) || visible(url) != url {
            return None;
        }
        let (scheme, rest) = url.split_once(':')?;
        if scheme.eq_ignore_ascii_case("mailto") {
            return Some(Self { url, host: "" });
        }
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return None;
        }
        let authority = rest.strip_prefix("//")?.split(['/', '?', '#']).next()?;
        let host = authority.rsplit('@').next()?;
        (!host.is_empty()).then_some(Self { url, host })
    }

    /// The tag that begins the link; `said` is what its text will be, if that is known. A host that
    /// the text does not name stands behind it.
    pub(super) fn open(&self, said: Option<&str>) -> Markup {
        let host = Some(self.host).filter(|host| said.is_none_or(|said| !said.contains(*host)));
        let host = host.filter(|host| !host.is_empty());
        let tag = html! {
            a href=(self.url) rel="noopener noreferrer nofollow" data-h=[host] {}
        };
        PreEscaped(tag.0.trim_end_matches("</a>").to_owned())
    }

    /// A whole link.
    pub(super) fn link(&self, text: &str) -> Markup {
        html! { (self.open(Some(text))) (shown(text)) (PreEscaped("</a>")) }
    }
}

/// Adds text in which addresses of web pages are links.
pub(super) fn link_up(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some((before, url, after)) = next_url(rest) {
        show(before, out);
        match Target::of(url) {
            Some(target) => out.push_str(&target.link(url).0),
            None => show(url, out),
        }
        rest = after;
    }
    show(rest, out);
}

/// What stands before, in, and after the next address.
fn next_url(text: &str) -> Option<(&str, &str, &str)> {
    let at = memmem::find_iter(text.as_bytes(), b"http").find(|at| {
        let rest = &text[*at..];
        let begins_word = !text[..*at].ends_with(char::is_alphanumeric);
        begins_word && (rest.starts_with("http://") || rest.starts_with("https://"))
    })?;
    let is_end = |c: char| c.is_whitespace() || c.is_control() || "\"'<>`\\^{}|".contains(c);
    let rest = &text[at..];
    let url = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    let mut url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '~', ']', '…']);
    while url.ends_with(')') && url.matches(')').count() > url.matches('(').count() {
        url = &url[..url.len() - 1];
    }
    Some((&text[..at], url, &text[at + url.len()..]))
}

#[cfg(test)]
mod tests {
    use super::{Target, link_up};

    #[test]
    fn only_the_web_and_mail_are_targets() {
        for url in ["https://example.org/a?b=c#d", "HTTP://example.org", "mailto:a@example.org"] {
            assert!(Target::of(url).is_some(), "{url}");
        }
        for url in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " https://example.org",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "//example.org",
            "/a",
            "#a",
            "https:",
            "https://",
            "https:///etc",
            "https://example.org/\u{202e}gpj",
            "https://example.org/\"onclick=\"x",
            "",
        ] {
            assert!(Target::of(url).is_none(), "{url}");
        }
    }

    #[test]
    fn a_link_tells_whom_it_leads_to() {
        let link = |url: &str, said| Target::of(url).unwrap().open(said).0;
        let rel = "rel=\"noopener noreferrer nofollow\"";
        assert_eq!(
            link("https://bank.example@evil.example/x", Some("bank.example")),
            format!(
                "<a href=\"https://bank.example@evil.example/x\" {rel} data-h=\"evil.example\">"
            )
        );
        assert_eq!(
            link("https://example.org/x", Some("see example.org")),
            format!("<a href=\"https://example.org/x\" {rel}>")
        );
    }

    #[test]
    fn addresses_in_text_become_links() {
        let mut text = String::new();
        link_up("see (https://example.org/a_(b)), or xhttp://no, <http://>.", &mut text);
        assert!(text.starts_with("see (<a href=\"https://example.org/a_(b)\""), "{text}");
        assert!(text.ends_with("</a>), or xhttp://no, &lt;http://&gt;."), "{text}");
    }
}
