//! What can be told of a rule's pattern without compiling it, which takes a thousand times longer.
//!
//! Most keywords that a text holds begin no match, and most patterns are alike: a prefix and so
//! many characters of a class, or the name of a service, a credential's name, and its value. The
//! first need a word that is long enough, which a glance tells; the second are searched right
//! after the name, where a search ends within a few bytes, and share one expression between all
//! services whose values look alike.

use std::ops::Range;

use regex_syntax::hir::{Class, Hir, HirKind, Literal};

use super::rule::{Rule, RuleError, SecretGroup, expanded, parsed};

/// How a rule's matches look.
#[derive(Debug)]
pub(super) struct Shape {
    /// The least length of the word that holds a match, where matches are words.
    word: Option<usize>,
    /// Where a match stands.
    pub(super) place: Place,
}

/// Where a match of a rule stands, seen from a keyword of the rule.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Somewhere round it.
    Around,
    /// It begins with it, and is the secret.
    Here,
    /// The rest of it, which this expression says, follows; no other keyword would do.
    After(String),
}

impl Shape {
    pub(super) fn of(rule: &Rule) -> Result<Self, RuleError> {
        // Without a group the whole match is the secret, the name included.
        if let Some(tail) = tail(rule).filter(|tail| has_group(tail)) {
            return Ok(Self { word: None, place: Place::After(tail.to_owned()) });
        }
        // What a macro stands for has quotes in it. Only what may be a word is worth reading.
        if rule.pattern.contains("{{") || !spells_keywords(rule) {
            return Ok(Self { word: None, place: Place::Around });
        }
        let hir = parsed(rule, &expanded(&rule.pattern))?;
        let least = hir.properties().minimum_len();
        Ok(Self {
            word: least.filter(|_| is_of_words(&hir)),
            place: if begins_with_keywords(&hir, rule) { Place::Here } else { Place::Around },
        })
    }

    /// Whether a match has no blank, quote or bracket in it.
    pub(super) fn is_one_word(&self) -> bool {
        self.word.is_some()
    }

    /// Whether the word round a keyword is too short for a match.
    pub(super) fn is_too_short(&self, text: &[u8], keyword: &Range<usize>) -> bool {
        let Some(least) = self.word else { return false };
        let Some(more) = least.checked_sub(keyword.len()) else { return false };
        let after = text[keyword.end..].iter().take(more).take_while(|b| is_of_word(**b)).count();
        let before = text[..keyword.start].iter().rev().take(more - after);
        after + before.take_while(|b| is_of_word(**b)).count() < more
    }
}

/// Whether every match begins with each keyword, and is all secret.
fn begins_with_keywords(hir: &Hir, rule: &Rule) -> bool {
    let first = match hir.kind() {
        HirKind::Concat(parts) => parts.first().map(Hir::kind),
        kind => Some(kind),
    };
    let Some(HirKind::Literal(Literal(first))) = first else { return false };
    let begins = |word: &String| {
        let start = first.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_whole = matches!(rule.secret, None | Some(SecretGroup::Number(0)));
    is_whole && hir.properties().explicit_captures_len() == 0 && rule.keywords.iter().all(begins)
}

/// Whether each keyword is plainly a part of the pattern, and does not only stand near a match.
fn spells_keywords(rule: &Rule) -> bool {
    let pattern = rule.pattern.replace('\\', "").to_ascii_lowercase();
    rule.keywords.iter().all(|keyword| pattern.contains(&keyword.to_ascii_lowercase()))
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.=+/~:%|!$*@^#&,;?".contains(&byte)
}

/// Whether every match is made of the characters of words.
fn is_of_words(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => literal.0.iter().copied().all(is_of_word),
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().all(|range| (range.start()..=range.end()).all(is_of_word))
        }
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().all(|range| {
            range.end().is_ascii() && (range.start()..=range.end()).all(|c| is_of_word(c as u8))
        }),
        HirKind::Repetition(repetition) => is_of_words(&repetition.sub),
        HirKind::Capture(capture) => is_of_words(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(is_of_words),
    }
}

/// The rest of a pattern that begins with its keywords: `(?i:name|other)rest`.
fn tail(rule: &Rule) -> Option<&str> {
    let (names, rest) = rule.pattern.strip_prefix("(?i:")?.split_once(')')?;
    let mut names: Vec<String> = names.split('|').map(literal).collect::<Option<_>>()?;
    let mut keywords: Vec<String> = rule.keywords.iter().map(|k| k.to_ascii_lowercase()).collect();
    names.sort();
    keywords.sort();
    // An operator after the names would be about all of them.
    let follows = !rest.starts_with(['?', '*', '+', '{', '|']) || rest.starts_with("{{");
    let is_part = rule.secret != Some(SecretGroup::Number(0));
    (is_part && follows && names == keywords && !has_branches(rest)).then_some(rest)
}

/// What a branch of the names spells, if it is no more than text.
fn literal(name: &str) -> Option<String> {
    let plain = name.replace("\\.", "");
    let is_text = |b: u8| b.is_ascii_alphanumeric() || b"_- ".contains(&b);
    let spelled = !plain.is_empty() && plain.bytes().all(is_text);
    spelled.then(|| name.replace("\\.", ".").to_ascii_lowercase())
}

/// Whether a `|` stands outside all groups and classes.
fn has_branches(pattern: &str) -> bool {
    operators(pattern).any(|(at, depth)| depth == 0 && pattern[at..].starts_with('|'))
}

/// Whether a part of a match is captured by number.
fn has_group(pattern: &str) -> bool {
    operators(pattern)
        .any(|(at, _)| pattern[at..].strip_prefix('(').is_some_and(|rest| !rest.starts_with('?')))
}

/// Where the characters stand that mean more than themselves, and in how many groups.
fn operators(pattern: &str) -> impl Iterator<Item = (usize, u32)> {
    let (mut depth, mut in_class, mut escaped) = (0_u32, false, false);
    pattern.bytes().enumerate().filter_map(move |(at, byte)| {
        let is_operator = !escaped && !in_class && b"(|)".contains(&byte);
        let outside = depth;
        match byte {
            _ if escaped => {}
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class => depth += 1,
            b')' if !in_class => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
        is_operator.then_some((at, outside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(pattern: &str, keyword: &str) -> Shape {
        let (pattern, keywords) = (pattern.to_owned(), vec![keyword.to_owned()]);
        Shape::of(&Rule { pattern, keywords, ..Rule::default() }).unwrap()
    }

    #[test]
    fn a_short_word_holds_no_long_token() {
        let token = shape("sk-[A-Za-z0-9]{20,40}", "sk-");
        assert!(token.is_too_short(b"a task-list of things to do", &(4..7)));
        assert!(!token.is_too_short(b"xx sk-abcdefghijklmnopqrst", &(3..6)));
        assert_eq!(shape("acme [a-z]{20}", "acme").word, None);
        assert_eq!(shape("[0-9]{20}", "near").word, None);
    }

    #[test]
    fn what_follows_a_name_is_the_tail() {
        assert_eq!(
            shape("(?i:acme){{credential}}([a-z]{9})", "acme").place,
            Place::After("{{credential}}([a-z]{9})".to_owned())
        );
        assert_eq!(shape("(?i:acme){{credential}}([a-z]{9})", "acme_").place, Place::Around);
        for other in ["(?i:acme)?(x)", "(?i:acme)(x)|y", "(?i:acme)-[0-9]{20}"] {
            assert_eq!(shape(other, "acme").place, Place::Around, "{other}");
        }
    }

    #[test]
    fn a_match_that_begins_with_its_keyword_stands_there() {
        assert_eq!(shape("ghx_[0-9]{20}", "ghx_").place, Place::Here);
        assert_eq!(shape("ghx_[0-9]{20}", "GHX_").place, Place::Here);
        for (other, keyword) in [("ghx_([0-9]{20})", "ghx_"), ("(?:a|b)_x", "_x"), ("a_x", "_x")] {
            assert_eq!(shape(other, keyword).place, Place::Around, "{other}");
        }
    }
}
