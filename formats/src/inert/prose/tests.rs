//! What becomes of single texts, and what holds for every text.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use super::prose;

#[track_caller]
fn assert_becomes(text: &str, wanted: &str) {
    assert_eq!(prose(text).as_deref(), Some(wanted), "{text}");
}

#[test]
fn an_ordinary_answer_is_left_as_it_is() {
    let answer = "Run `cargo test <name>`:\n\n1. **first**\n   ```sh\n   # a comment\n   ls <dir>\n   ```\n\
                  2. see <https://example.org> and [the docs](https://example.org/#a)\n\n\
                  | a | b |\n|---|---|\n| 1 | x < y |\n\n> quoted #5 & $x_{1}$\n\n    indented\n\n\
                  ***\n\n#### deep\n\n```yaml\n---\na: <b>\n---\n```\n";
    assert_becomes(answer, answer);
}

#[test]
fn texts_with_special_meaning_to_nobody_stay_unchanged() {
    for text in
        ["line1\r\nline2", "see __SHA256_PLACEHOLDER__ here", "- SHA256 of exported body: `0000`"]
    {
        assert_becomes(text, text);
    }
}

#[test]
fn headings_move_below_those_of_the_document() {
    assert_becomes("# a", "#### a");
    assert_becomes("## Export verification", "##### Export verification");
    assert_becomes("  ### a #\r\n#### b", "  ###### a #\r\n#### b");
    assert_becomes("> - # a", "> - #### a");
    assert_becomes("a\n===", "a\n\\===");
    assert_becomes("> a\n> b\n> -", "> a\n> b\n> \\-");
    assert_becomes("#tag and a. # b", "\\#tag and a. \\# b");
}

#[test]
fn rules_begin_no_metadata() {
    assert_becomes("a\n\n---\n\nb\n\n- - -", "a\n\n---\n\nb\n\n- - -");
    assert_becomes("---\ntitle: x\n---", "---\n\ntitle: x\n\\---");
    assert_becomes("- a\n-----\nb", "- a\n\n-----\n\nb");
    assert_becomes("* ---\n  b: c\n  ---", "* ---\n\n  b: c\n  \\---");
}

#[test]
fn markup_becomes_text() {
    assert_becomes("a <b>c</b> d < e <3", "a \\<b>c\\</b> d < e <3");
    assert_becomes("<div>\n# a\n</div>", "\\<div>\n#### a\n\\</div>");
    assert_becomes("x <!-- y", "x <\\!-- y");
    assert_becomes("<!-- # y\n\n# z -->", "<\\!-- \\# y\n\n#### z -->");
    assert_becomes("\\<b> \\\\<b>", "\\<b> \\\\\\<b>");
    assert_becomes("`a`{=html} [b]{.c}", "`a`\\{=html} [b]\\{.c}");
    assert_becomes("![a](https://x.org/b.png)", "\\![a](https://x.org/b.png)");
    assert_becomes("[a](javascript:b)", "\\[a](javascript:b)");
    assert_becomes("[a]: https://x.org", "\\[a]: https://x.org");
    assert_becomes("::: {.hidden}\n+---+", "\\::: {.hidden}\n\\+---+");
    assert_becomes("\\input{/etc/x} \\frac{1}{2}", "\\\\input{/etc/x} \\frac{1}{2}");
    assert_becomes("a. b\n(1) c\n2) d", "a\\. b\n(1\\) c\n2) d");
    assert_becomes("[a](\nbb) [$](c)", "[a]\\(\nbb) \\[$](c)");
    assert_becomes("\\begin{comment}", "\\\\begin{comment}");
}

#[test]
fn what_is_open_is_closed() {
    assert_becomes("```sh\nls", "```sh\nls\n```");
    assert_becomes("~~~~\n# a\n", "~~~~\n# a\n~~~~");
    assert_becomes("a [b `c\n\n[d](e)", "a \\[b \\`c\n\n[d](e)");
    assert_becomes("<pre>\n\n# a", "\\<pre>\n\n#### a");
}

#[test]
fn what_readers_do_not_agree_on_is_no_prose() {
    for text in [
        "a\r# b",
        "- a\n  ```\n  <b>",
        "```{=html}\n<b>\n```",
        "``` a b\n<b>\n```",
        "1. a\n\n        # b",
        "$x `y$ <b>`",
        "a ```b\n```{c}",
        "```a``` b",
        "- a\n\n  ```\n  <!--\n  ```",
        "a\n~~~\n<b>\n~~~",
    ] {
        assert_eq!(prose(text), None, "{text}");
    }
}

const PIECES: [&str; 40] = [
    "# a",
    "\n",
    "\n\n",
    "a",
    "```",
    "```\n",
    "~~~",
    "<b>",
    "<!--",
    "-->",
    "---",
    "===",
    "> ",
    "- ",
    "    ",
    "\\",
    "`",
    "[a]: b",
    "![a](b)",
    "<https://a.b>",
    "\r\n",
    "|",
    "$",
    "a. ",
    ": ",
    "+---+\n|",
    "\\input{a}",
    "\\begin{a}",
    "{=html}",
    "1. ",
    "  ",
    "a\n",
    "::: a",
    "](",
    ")",
    "[",
    "{",
    "}",
    "--\n",
    "é",
];

/// Texts of a few pieces each, the same in every run.
fn texts() -> impl Iterator<Item = String> {
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).expect("31 bits")
    };
    (0..30_000).map(move |n| (0..2 + n % 8).map(|_| PIECES[next() % PIECES.len()]).collect())
}

#[test]
fn no_text_has_a_say_in_the_document() {
    for text in texts() {
        let Some(inert) = prose(&text) else { continue };
        let document = format!("{inert}\n\n# own\n");
        let mut own = 0;
        for event in Parser::new_ext(&document, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { level, .. }) if level <= HeadingLevel::H3 => own += 1,
                Event::Html(_) | Event::InlineHtml(_) => panic!("{text:?}: {inert:?} has markup"),
                Event::Start(Tag::Image { .. }) => panic!("{text:?}: {inert:?} has a picture"),
                _ => {}
            }
        }
        assert_eq!(own, 1, "{text:?}: {inert:?}");
        assert_eq!(prose(&inert).as_deref(), Some(&*inert), "{text:?} settles");
    }
}
