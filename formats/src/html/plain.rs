//! The text of a page's own markup, as the page that searches all others keeps it, and as the last
//! look at redacted pages needs it.
//!
//! Each message begins with [`MARK`] and its name in the page on a line; text that is shown has no
//! such character, as controls stand as their pictures.

use memchr::memchr2;

/// Begins a message; the script splits by it.
const MARK: char = '\u{1e}';

/// Elements inside a line: what they divide is one word.
const INLINE: [&str; 10] = ["a", "b", "bdi", "code", "em", "i", "s", "span", "strong", "time"];

/// What a reader reads of markup that a page has, unpacked.
pub fn read(markup: &str) -> String {
    let mut out = String::with_capacity(markup.len());
    add_text(markup, &mut out);
    out
}

/// Adds the text of markup that this format wrote.
pub(super) fn add_text(markup: &str, out: &mut String) {
    let mut rest = markup;
    while let Some(at) = memchr2(b'<', b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with('<') { tag(rest, out) } else { entity(rest, out) };
        rest = &rest[length..];
    }
    out.push_str(rest);
}

/// The text of an attribute that this format wrote.
pub(super) fn unescaped(mut value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    while let Some((before, _)) = value.split_once('&') {
        out.push_str(before);
        value = &value[before.len()..];
        value = &value[entity(value, &mut out)..];
    }
    out + value
}

/// What a tag at the start of the markup is to text; gives its length.
fn tag(markup: &str, out: &mut String) -> usize {
    let length = markup.find('>').map_or(markup.len(), |at| at + 1);
    let tag = markup[..length].trim_start_matches(['<', '/']).trim_end_matches('>');
    let name = tag.split(' ').next().unwrap_or_default();
    if is_message(tag, name) {
        out.push(MARK);
        out.push_str(tag.split(' ').find_map(|word| word.strip_prefix("id=")).unwrap_or_default());
        out.push('\n');
    } else if !INLINE.contains(&name) && !out.ends_with(['\n', MARK]) {
        out.push('\n');
    }
    length
}

fn is_message(tag: &str, name: &str) -> bool {
    let is_card = name == "details" && (tag.contains("class=tool") || tag.contains("\"tool bad\""));
    tag.contains(" id=m") && (name == "article" || is_card)
}

fn entity(markup: &str, out: &mut String) -> usize {
    const KNOWN: [(&str, char); 4] =
        [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"')];
    let known = KNOWN.iter().find(|(entity, _)| markup.starts_with(entity));
    let (entity, c) = known.copied().unwrap_or(("&", '&'));
    out.push(c);
    entity.len()
}

#[cfg(test)]
mod tests {
    use super::add_text;

    #[test]
    fn messages_are_marked_and_words_stay_whole() {
        let markup = "<article class=u id=m7><h2>User <a href=#m7><time datetime=x>14:30</time></a></h2>\
            <p>one <em>wo</em>rd &lt;b&gt; &amp;amp;\n<ul><li>a<li>b\n</ul>\n\
            <details class=\"tool bad\" open id=m8><summary><b>ls</b></summary><pre>x</pre></details></article>\n";
        let mut text = String::new();
        add_text(markup, &mut text);
        assert_eq!(text, "\u{1e}m7\nUser 14:30\none word <b> &amp;\na\nb\n\n\u{1e}m8\nls\nx\n\n");
    }
}
