//! Changes to files: lines that went and came, and in lines that changed the words that did.

use maud::{Markup, PreEscaped, html};
use similar::{ChangeTag, TextDiff};

use super::code;
use super::text::{show, shown};

/// More text is not compared: it would take long, and nobody reads it word by word.
const LARGEST: usize = 64 << 10; // bytes
/// Words are compared in lines up to this length.
const LONGEST_LINE: usize = 400; // bytes

/// A change as `diff -u`, or a patch tool, writes it.
pub(super) fn unified(text: &str) -> Markup {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut out = String::with_capacity(text.len() * 2);
    let mut at = 0;
    while at < lines.len() {
        let gone = run(&lines, at, '-');
        let come = run(&lines, at + gone, '+');
        if gone + come == 0 || is_header(&lines, at) {
            out.push_str(&unchanged(lines[at]).0);
            at += 1;
            continue;
        }
        out.push_str(&changed(&lines[at..at + gone], &lines[at + gone..at + gone + come]).0);
        at += gone + come;
    }
    code::framed(text, Some("diff"), &PreEscaped(out))
}

/// The change from one text to another.
pub(super) fn between(old: &str, new: &str) -> Markup {
    if old.len() + new.len() > LARGEST {
        return html! { (code::block("", old)) (code::block("", new)) };
    }
    let diff = TextDiff::from_lines(old, new);
    let text: String = diff
        .unified_diff()
        .context_radius(3)
        .missing_newline_hint(false)
        .iter_hunks()
        .map(|hunk| hunk.to_string())
        .collect();
    unified(text.trim_end_matches('\n'))
}

/// How many lines from here on begin with this sign.
fn run(lines: &[&str], at: usize, sign: char) -> usize {
    lines[at..].iter().take_while(|line| line.starts_with(sign)).count()
}

/// `--- a/file` and the `+++ b/file` below it.
fn is_header(lines: &[&str], at: usize) -> bool {
    let begins = |at: usize, with: &str| lines.get(at).is_some_and(|line| line.starts_with(with));
    begins(at, "--- ") && begins(at + 1, "+++ ")
        || begins(at, "+++ ") && at > 0 && begins(at - 1, "--- ")
}

fn unchanged(line: &str) -> Markup {
    let is_heading = ["@@", "*** ", "diff ", "index ", "--- ", "+++ "];
    if is_heading.iter().any(|start| line.starts_with(start)) {
        PreEscaped(format!("<i class=h>{}</i>", shown(line).0))
    } else {
        shown(line)
    }
}

/// Lines that went and those that came in their place.
fn changed(gone: &[&str], come: &[&str]) -> Markup {
    let is_pair =
        gone.len() == come.len() && gone.iter().chain(come).all(|line| line.len() <= LONGEST_LINE);
    if !is_pair {
        return html! {
            @for line in gone { del { (shown(line)) } }
            @for line in come { ins { (shown(line)) } }
        };
    }
    let pairs: Vec<_> =
        gone.iter().zip(come).map(|(old, new)| words(&old[1..], &new[1..])).collect();
    html! {
        @for (old, _) in &pairs { del { "-" (old) } }
        @for (_, new) in &pairs { ins { "+" (new) } }
    }
}

/// A line before and after, with marks on the words that differ; without, where most of them do.
fn words(old: &str, new: &str) -> (Markup, Markup) {
    let (was, is) = (tokens(old), tokens(new));
    let diff = TextDiff::from_slices(&was, &is);
    if diff.ratio() < 0.4 {
        return (shown(old), shown(new));
    }
    let side = |side: ChangeTag| {
        let (mut out, mut is_marked) = (String::new(), false);
        for change in diff.iter_all_changes() {
            let tag = change.tag();
            if tag != ChangeTag::Equal && tag != side {
                continue;
            }
            // The end of a line is no word.
            let marks = tag == side && change.value() != "\n";
            if marks != is_marked {
                out.push_str(if marks { "<b>" } else { "</b>" });
                is_marked = marks;
            }
            show(change.value(), &mut out);
        }
        if is_marked {
            out.push_str("</b>");
        }
        PreEscaped(out)
    };
    (side(ChangeTag::Delete), side(ChangeTag::Insert))
}

/// Words, and every other character by itself.
fn tokens(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = if is_word(first) { rest.find(|c| !is_word(c)) } else { Some(first.len_utf8()) };
        let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::{between, unified};

    #[test]
    fn words_that_changed_are_marked() {
        let markup = between("let a = 1;\nlet b = 2;\n", "let a = 1;\nlet b = 3;\n").0;
        assert!(
            markup.contains("<del>-let b = <b>2</b>;\n</del><ins>+let b = <b>3</b>;</ins>"),
            "{markup}"
        );
        assert!(markup.contains("</i> let a = 1;\n"), "{markup}");
    }

    #[test]
    fn headers_and_hunks_stand_out_and_markup_does_not_act() {
        let markup = unified("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-<i>\n+<b>\n+c\n").0;
        assert!(markup.contains("<i class=h>--- a/x\n</i><i class=h>+++ b/x\n</i>"), "{markup}");
        assert!(
            markup.contains("<del>-&lt;i&gt;\n</del><ins>+&lt;b&gt;\n</ins><ins>+c\n</ins>"),
            "{markup}"
        );
    }

    #[test]
    fn odd_changes_are_shown_whole() {
        for text in ["", "-", "+", "--- ", "+++ \n--- ", "-a\n+é", "@@"] {
            let markup = unified(text).0;
            let inner = markup.split_once('>').unwrap().1.split("</pre>").next().unwrap();
            let plain: String = inner.split('<').map(|s| s.rsplit('>').next().unwrap()).collect();
            assert_eq!(plain, text);
        }
    }
}
