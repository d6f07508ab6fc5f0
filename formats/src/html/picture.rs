//! Pictures: those in the message are embedded if their first bytes say that they are pictures, all
//! others are named. Nothing is fetched.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};

use super::link::Target;
use super::text::{shown, visible};
use crate::content::{Attachment, Source};

/// Larger ones are named, so that a page stays a page.
const LARGEST: usize = 4 << 20; // bytes as base64
/// Short lines keep what is random from looking like a secret to those who search the page.
pub(super) const LINE: usize = 32; // characters

/// An attachment: the picture, or its name.
pub(super) fn attachment(attachment: &Attachment) -> Markup {
    let alt = attachment.label.as_deref().unwrap_or("picture in the message");
    match &attachment.source {
        Source::Inline(data) if attachment.kind == "image" => embedded(data, alt)
            .map_or_else(|| named(attachment), |picture| html! { p { (picture) } }),
        Source::Remote(place) => match Target::of(place) {
            Some(target) => {
                html! { p { (capitalized(attachment.kind)) ": " (target.link(place)) } }
            }
            None => named(attachment),
        },
        Source::Inline(_) => named(attachment),
    }
}

/// A picture that Markdown holds as a `data:` URL.
pub(super) fn of_url(url: &str, alt: &str) -> Option<Markup> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let alt = if alt.trim().is_empty() { "picture in the text" } else { alt };
    let placeholder =
        || html! { span.ph { "[" (shown(alt)) ": " (data.len()) " bytes, not shown]" } };
    Some(
        head.ends_with(";base64")
            .then(|| embedded(data, alt))
            .flatten()
            .unwrap_or_else(placeholder),
    )
}

fn named(attachment: &Attachment) -> Markup {
    html! { p.ph { (shown(&attachment.to_string())) } }
}

fn capitalized(kind: &str) -> &str {
    match kind {
        "image" => "Picture",
        "audio" => "Sound",
        _ => "File",
    }
}

fn embedded(data: &str, alt: &str) -> Option<Markup> {
    if data.len() > LARGEST {
        return None;
    }
    let data: String = data.split_ascii_whitespace().collect();
    let bytes = STANDARD.decode(&data).ok()?;
    let kind = kind(&bytes)?;
    let src = format!("data:image/{kind};base64,{}", in_lines(&data));
    Some(html! { img alt=(visible(alt)) src=(src); })
}

/// What its first bytes say it is.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("png"),
        [0xff, 0xd8, 0xff, ..] => Some("jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("webp"),
        _ => None,
    }
}

/// Base64 in short lines; readers of `data:` URLs and `atob` skip the line breaks.
fn in_lines(data: &str) -> String {
    let mut out = String::with_capacity(data.len() + data.len() / LINE + 1);
    let mut rest = data;
    while let Some((line, more)) = rest.split_at_checked(LINE) {
        out.push_str(line);
        out.push('\n');
        rest = more;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::{attachment, of_url};
    use crate::content::{Attachment, Source};

    const PNG: [u8; 12] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0, 0, 0];

    fn image(label: &str, bytes: &[u8]) -> String {
        let source = Source::Inline(STANDARD.encode(bytes));
        attachment(&Attachment { kind: "image", label: Some(label.to_owned()), source }).0
    }

    #[test]
    fn first_bytes_decide_not_the_label() {
        assert!(image("text/html", &PNG).contains("src=\"data:image/png;base64,iVBO"));
        assert!(image("x", b"\xff\xd8\xff\xe0").contains("data:image/jpeg"));
        assert!(image("x", b"GIF89a").contains("data:image/gif"));
        assert!(image("x", b"RIFF\0\0\0\0WEBPVP8 ").contains("data:image/webp"));
        let svg = image("image/png", b"<svg onload=alert(1)>");
        assert_eq!(svg, "<p class=\"ph\">[image: image/png, 21 bytes]</p>");
    }

    #[test]
    fn what_is_too_large_or_elsewhere_is_named() {
        let large = image("image/png", &[&PNG[..], &vec![0; 4 << 20]].concat());
        assert!(large.starts_with("<p class=\"ph\">[image: image/png, "), "{}", &large[..60]);
        let place = |place: &str| {
            let source = Source::Remote(place.to_owned());
            attachment(&Attachment { kind: "image", label: None, source }).0
        };
        assert!(
            place("https://example.org/a.png").contains("<a href=\"https://example.org/a.png\"")
        );
        assert_eq!(place("file:///etc/passwd"), "<p class=\"ph\">[image: file:///etc/passwd]</p>");
        assert!(of_url("data:text/html;base64,PHNjcmlwdD4=", "").unwrap().0.contains("not shown"));
        assert!(of_url("https://example.org/a.png", "").is_none());
    }
}
