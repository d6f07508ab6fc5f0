//! Code, coloured by class names when the page is written, so that it needs no script.
//!
//! Large blocks stay plain: colours cost markup, and help a reader least there.

use hl_lite::{Kind, Lang, highlight};
use maud::{Markup, PreEscaped, html};

use super::spans::Spans;
use super::text::{shown, visible};
use super::{ansi, diff};

const LARGEST: usize = 64 << 10; // bytes
/// A block with more lines shows its first ones until it is opened.
const FOLDED: usize = 30;
/// Wider lines make a block scroll; then it has to be reachable by keyboard.
const WIDE: usize = 76; // characters

/// A block of code; the info string of its fence begins with its language.
pub(super) fn block(info: &str, text: &str) -> Markup {
    let language = info.split([' ', ',', '{']).next().unwrap_or_default();
    if ["diff", "patch"].iter().any(|name| language.eq_ignore_ascii_case(name)) {
        return diff::unified(text);
    }
    framed(text, Some(language), &coloured(language_named(language), text))
}

/// A text below its name.
pub(super) fn named(name: &str, text: &str) -> Markup {
    framed(text, Some(name), &shown(text))
}

/// What a file of this name holds.
pub(super) fn file(name: &str, text: &str) -> Markup {
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let language = Lang::from_path(name).or_else(|| language_named(suffix));
    framed(text, None, &coloured(language, text))
}

/// What a terminal showed.
pub(super) fn terminal(text: &str) -> Markup {
    framed(text, None, &ansi::coloured(text))
}

/// Lines in a frame that folds when there are many.
pub(super) fn framed(text: &str, label: Option<&str>, inner: &Markup) -> Markup {
    let lines = text.lines().count();
    let is_wide = text.lines().any(|line| line.len() > WIDE && line.chars().count() > WIDE);
    let label = label.filter(|label| !label.is_empty()).map(visible);
    html! {
        (PreEscaped(begin(label.as_deref(), is_wide)))
        // A parser takes a line break at the start for its own.
        @if inner.0.starts_with('\n') { "\n" }
        (inner)
        (PreEscaped("</pre>"))
        @if lines > FOLDED {
            details.more { summary { "All " (lines) " lines" } }
        }
    }
}

/// The tag that begins a block.
fn begin(label: Option<&str>, is_wide: bool) -> String {
    let focus = if is_wide { " tabindex=0" } else { "" };
    let Some(label) = label else { return format!("<pre{focus}>") };
    if label.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return format!("<pre data-l={label}{focus}>");
    }
    let tag = html! { pre data-l=(label) tabindex=[is_wide.then_some("0")] {} };
    tag.0.trim_end_matches("</pre>").to_owned()
}

/// A language by its name in a fence or the suffix of its files. Languages that look like
/// JavaScript to a lexer are coloured as such: comments, strings and numbers are right, and that
/// is what colours are for.
fn language_named(name: &str) -> Option<Lang> {
    const ALIKE: [(&str, Lang); 24] = [
        ("c", Lang::JavaScript),
        ("h", Lang::JavaScript),
        ("cc", Lang::JavaScript),
        ("cpp", Lang::JavaScript),
        ("c++", Lang::JavaScript),
        ("hpp", Lang::JavaScript),
        ("cs", Lang::JavaScript),
        ("csharp", Lang::JavaScript),
        ("dart", Lang::JavaScript),
        ("go", Lang::JavaScript),
        ("golang", Lang::JavaScript),
        ("java", Lang::JavaScript),
        ("kotlin", Lang::JavaScript),
        ("kt", Lang::JavaScript),
        ("scala", Lang::JavaScript),
        ("swift", Lang::JavaScript),
        ("python3", Lang::Python),
        ("pyi", Lang::Python),
        ("ini", Lang::Toml),
        ("ndjson", Lang::Json),
        ("jsonl", Lang::Json),
        ("scss", Lang::Css),
        ("vue", Lang::Html),
        ("ksh", Lang::Bash),
    ];
    let alike = || ALIKE.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    Lang::from_slug(name).or_else(|| Some(alike()?.1))
}

fn coloured(language: Option<Lang>, text: &str) -> Markup {
    let Some(language) = language.filter(|_| text.len() <= LARGEST) else {
        return shown(text);
    };
    let mut spans = Spans::default();
    for span in highlight(language, text) {
        // Most of a JSON document is strings; its names are what is looked for.
        let is_plain = language == Lang::Json && span.kind == Kind::String;
        spans.push(if is_plain { "" } else { class(span.kind) }, span.text);
    }
    spans.finish()
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Plain | Kind::Operator | Kind::Punctuation => "",
        Kind::Keyword => "k",
        Kind::String => "s",
        Kind::Comment => "c",
        Kind::Number | Kind::Constant => "n",
        Kind::Function => "f",
        Kind::Type | Kind::Tag => "y",
        Kind::Attribute | Kind::Property | Kind::Variable => "v",
    }
}

#[cfg(test)]
mod tests {
    use super::{block, file};

    #[test]
    fn code_is_coloured_by_classes() {
        assert_eq!(
            block("rs", "let x = \"<b>\"; // no").0,
            "<pre data-l=rs><i class=k>let</i> x = <i class=s>\"&lt;b&gt;\"</i>; \
             <i class=c>// no</i></pre>"
        );
        assert!(file("a/b.py", "def f(): pass").0.contains("<i class=k>def</i>"));
        assert_eq!(block("", "let").0, "<pre>let</pre>");
        assert_eq!(block("\"><b>", "x").0, "<pre data-l=\"&quot;&gt;&lt;b&gt;\">x</pre>");
    }

    #[test]
    fn long_blocks_fold_and_wide_ones_take_the_focus() {
        assert!(block("", &"x\n".repeat(31)).0.contains("<summary>All 31 lines</summary>"));
        assert!(!block("", &"x\n".repeat(30)).0.contains("details"));
        assert!(block("", &"x".repeat(77)).0.starts_with("<pre tabindex=0>"));
    }
}
