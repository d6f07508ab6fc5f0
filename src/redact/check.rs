//! Whether rules are fit for use: what `rules check` and the test over the built-in rules ask.

use std::collections::HashSet;

use super::example::Example;
use super::rule::{Matcher, Rule};

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The rule's id.
    pub rule: String,
    /// What is wrong, for people.
    pub what: String,
}

/// Finds what is wrong with rules that are to be used together.
pub fn check(rules: &[Rule]) -> Vec<Fault> {
    let mut ids = HashSet::new();
    let mut faults = Vec::new();
    for rule in rules {
        let mut say = |what: String| {
            faults.push(Fault { rule: rule.id.clone(), what });
        };
        if !ids.insert(&rule.id) {
            say("another rule has the same id".to_owned());
        }
        form(rule, &mut say);
        match Matcher::new(rule) {
            Ok(matcher) => behaviour(rule, &matcher, &mut say),
            Err(error) => say(error.to_string()),
        }
    }
    faults
}

/// What nobody can tell of rules because they do not say it: those of other programs' files carry
/// no examples.
pub fn untried(rules: &[Rule]) -> Vec<Fault> {
    let without = rules.iter().filter(|rule| rule.examples.is_empty());
    without.map(|rule| Fault { rule: rule.id.clone(), what: "no example".to_owned() }).collect()
}

fn form(rule: &Rule, say: &mut impl FnMut(String)) {
    if !is_kebab(&rule.id) {
        say("an id is lower-case words joined by '-'".to_owned());
    }
    if rule.description.is_empty() {
        say("no description".to_owned());
    }
    for keyword in &rule.keywords {
        let is_letter = keyword.len() < 2 && keyword.bytes().all(|b| b.is_ascii_alphanumeric());
        if is_letter || !keyword.is_ascii() {
            say(format!("keyword {keyword:?} is a letter, or not ASCII"));
        }
    }
}

fn is_kebab(id: &str) -> bool {
    let is_word =
        |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    id.split('-').all(is_word)
}

fn behaviour(rule: &Rule, matcher: &Matcher, say: &mut impl FnMut(String)) {
    let expand = |(i, written): (usize, &String)| {
        (written.clone(), Example::expand(written, &format!("{}{i}", rule.id)))
    };
    for (written, example) in rule.examples.iter().enumerate().map(expand) {
        if !has_keyword(rule, &example.text) {
            say(format!("no keyword stands in {written:?}"));
        }
        let found = matcher.all_in(&example.text);
        let is_found =
            |s: &std::ops::Range<usize>| found.iter().any(|f| f.start <= s.start && s.end <= f.end);
        if example.secrets.is_empty() || !example.secrets.iter().all(is_found) {
            say(format!("does not find the secret in {written:?}"));
        }
    }
    for (written, example) in rule.negative_examples.iter().enumerate().map(expand) {
        if has_keyword(rule, &example.text) && !matcher.all_in(&example.text).is_empty() {
            say(format!("finds a secret in {written:?}"));
        }
    }
}

/// Whether the prefilter would let the rule see the text.
pub(super) fn has_keyword(rule: &Rule, text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let stands = |k: &String| lower.contains(&k.to_ascii_lowercase());
    rule.keywords.is_empty() || rule.keywords.iter().any(stands)
}
