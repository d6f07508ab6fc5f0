//! The page around what it shows: head, policy, controls, style and script.
//!
//! The policy names style and script by their digests and allows nothing else, so the same content
//! gives the same bytes, and what content there is can neither run nor ask for anything.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::text::shown;
use super::{Origin, plain};

/// The style of all pages.
static STYLE: LazyLock<Asset> = LazyLock::new(|| Asset::of(include_str!("../../assets/style.css")));

/// What a page carries to look and act like one, as short as it can be without another program.
struct Asset {
    text: String,
    /// SHA-256, as a policy names it.
    digest: String,
}

impl Asset {
    /// Of a source in which comments have lines of their own, and no text goes over several.
    fn of(source: &str) -> Self {
        let lines = source.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let digest = STANDARD.encode(Sha256::digest(&text));
        Self { text, digest }
    }
}

/// A page's script: what all share, and its own part.
macro_rules! script {
    ($($file:literal),*) => {
        concat!(include_str!("../../assets/common.js"), $(include_str!(concat!("../../assets/", $file))),*)
    };
}

/// What a page is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One session.
    Session,
    /// Many sessions.
    Many,
    /// The first page of a folder, which lists the others.
    Index,
    /// The page of a folder that searches the others.
    Search,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Kind::Session => "one",
            Kind::Many => "many",
            Kind::Index => "index",
            Kind::Search => "search",
        }
    }

    /// What stands at the side.
    fn side(self) -> &'static str {
        match self {
            Kind::Session => "Prompts",
            Kind::Many => "Sessions",
            Kind::Index | Kind::Search => "More",
        }
    }

    fn script(self) -> &'static Asset {
        static SCRIPTS: LazyLock<[Asset; 4]> = LazyLock::new(|| {
            [
                Asset::of(script!("page.js")),
                Asset::of(script!("page.js", "list.js")),
                Asset::of(script!("list.js", "index.js")),
                Asset::of(script!("search.js")),
            ]
        });
        &SCRIPTS[self as usize]
    }

    fn policy(self) -> String {
        format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
             base-uri 'none'; form-action 'none'",
            self.script().digest,
            STYLE.digest
        )
    }
}

/// Everything up to what the page shows.
pub(super) fn begin(title: &str, kind: Kind) -> String {
    begin_with(title, kind, None)
}

/// The name under which a page carries what the list says of its session.
const CARRIED: &str = "hermes-session";

/// The same, for a page that carries what the list says of its session.
pub(super) fn begin_with(title: &str, kind: Kind, carried: Option<&str>) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" class=(kind.class()) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(kind.policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="generator" content=(super::TOOL);
                @if let Some(carried) = carried { meta name=(CARRIED) content=(carried); }
                title { (shown(title)) }
                style { (PreEscaped(&STYLE.text)) }
            }
            body {
                a.skip href="#start" { "Skip to the content" }
                (bar(kind))
                (PreEscaped(MAIN)) (PreEscaped("</main>"))
            }
        }
    };
    cut(markup, "</main></body></html>") + "\n"
}

const MAIN: &str = "<main id=\"start\" tabindex=\"-1\">";

/// What a page that was written like this carries, and the markup that it shows.
pub(super) fn read(page: &str) -> Option<(Option<String>, &str)> {
    let (head, shown) = page.split_once(MAIN)?;
    let (shown, _) = shown.rsplit_once("</main>")?;
    let begin = format!("<meta name=\"{CARRIED}\" content=\"");
    let carried = head.split_once(&begin).and_then(|(_, rest)| rest.split_once('"'));
    Some((carried.map(|(carried, _)| plain::unescaped(carried)), shown))
}

/// What follows what the page shows: the side, and who wrote the page.
pub(super) fn end(kind: Kind, side: &Markup, origin: &Origin) -> String {
    html! {
        (PreEscaped("</main>\n"))
        nav #side popover="auto" aria-label=(kind.side()) {
            button type="button" popovertarget="side" popovertargetaction="hide" { "Close" }
            (side)
            (colours())
        }
        "\n"
        footer { p { (origin.provenance) ". Times are " (shown(origin.zone.name())) "." } }
        script { (PreEscaped(&kind.script().text)) }
        (PreEscaped("</body></html>\n"))
    }
    .0
}

/// The controls. Those that need the script are shown by it.
fn bar(kind: Kind) -> Markup {
    let has_turns = matches!(kind, Kind::Session | Kind::Many);
    html! {
        header #bar {
            button.side type="button" popovertarget="side" { (kind.side()) }
            div #tools hidden {
                input #q type="search" placeholder="Search" aria-label="Search"
                    aria-keyshortcuts="/" autocomplete="off" spellcheck="false";
                output #hits for="q" {}
                @if has_turns { (moves()) }
            }
        }
    }
}

/// The ways through a conversation.
fn moves() -> Markup {
    let button = |action: &str, key: &str, name: &str, sign: &str| {
        html! {
            button type="button" data-do=(action) title=(format!("{name} ({key})"))
                aria-label=(name) aria-keyshortcuts=(key) { (sign) }
        }
    };
    html! {
        (button("found-back", "Shift+Enter", "Previous match", "↑"))
        (button("found-next", "Enter", "Next match", "↓"))
        details #extra {
            summary aria-label="More" { "⋯" }
            div {
                select #who aria-label="Show" {
                    option value="" { "Everything" }
                    option value="u" { "Prompts" }
                    option value="a" { "Answers" }
                    option value="tool" { "Tool calls" }
                    option value="bad" { "Failed tool calls" }
                }
                (button("turn-back", "k", "Previous turn", "‹"))
                (button("turn-next", "j", "Next turn", "›"))
                (button("prompt-back", "[", "Previous prompt", "«"))
                (button("prompt-next", "]", "Next prompt", "»"))
                (button("open", "o", "Open all", "⊞"))
                (button("fold", "e", "Fold all", "⊟"))
                (button("help", "?", "Keys", "?"))
            }
        }
    }
}

/// The choice of colours, which the style alone carries out.
fn colours() -> Markup {
    html! {
        fieldset #theme {
            legend { "Colours" }
            @for (id, name) in [("auto", "Auto"), ("light", "Light"), ("dark", "Dark")] {
                label { input type="radio" name="theme" id=(id) checked[id == "auto"]; (name) }
            }
        }
    }
}

/// Markup without what ends it, to be written later.
fn cut(markup: Markup, end: &str) -> String {
    let mut text = markup.0;
    debug_assert!(text.ends_with(end));
    text.truncate(text.len() - end.len());
    text
}

#[cfg(test)]
pub(super) fn without_assets(page: &str) -> String {
    [Kind::Many, Kind::Session, Kind::Index, Kind::Search]
        .iter()
        .fold(page.replace(&STYLE.text, "…"), |page, kind| {
            page.replace(&kind.script().text, "…").replace(&kind.policy(), "…")
        })
}
