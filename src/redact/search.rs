//! Finds every secret in one text: one pass over it for all keywords, then only those patterns
//! whose keyword stands there, and only around it.
//!
//! Time is linear in the text for each pattern, whatever the text is: windows of a pattern are
//! merged before they are searched, and a window grows only as far as a match reaches.

use std::ops::Range;
use std::sync::OnceLock;

use rapidhash::RapidHashMap;

use super::context::{Kind, Walk};
use super::end::limit;
use super::keywords::Keywords;
use super::known::KnownValues;
use super::name::{Claim, STEMS};
use super::pattern::may_begin;
use super::phrase::phrases;
use super::rule::{Group, Matcher, Pinned, Rule, RuleError};
use super::shape::{Place, Shape};
use super::{tongues, view};

/// A place in a text that must not leave, and the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) rule: RuleIndex,
}

/// A rule's place in [`Search::id`]; contexts come first.
pub(super) type RuleIndex = u16;

/// What a keyword sets going.
#[derive(Debug, Clone, Copy)]
enum Target {
    Rule(u16),
    Name,
    /// A name that is whole as it stands, and what it claims.
    Word(Claim),
    Scheme,
    Url,
    Marker,
    Known(usize),
}

impl Target {
    /// Whether it is about what stands beside a secret.
    fn is_context(self) -> bool {
        matches!(self, Target::Name | Target::Word(_) | Target::Scheme | Target::Url)
    }
}

/// What is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Patterns and known values.
    Shapes,
    /// Also values that a name or a notation gives away.
    Contexts,
}

/// A rule whose pattern is compiled when its keyword is first met.
struct Lazy {
    rule: Rule,
    shape: OnceLock<Shape>,
    matcher: OnceLock<Matcher>,
    pinned: OnceLock<Pinned>,
}

/// Why none of the three can fail.
const CHECKED: &str = "every rule was compiled when it was loaded or tested";

impl Lazy {
    fn new(rule: Rule) -> Self {
        Self { rule, shape: OnceLock::new(), matcher: OnceLock::new(), pinned: OnceLock::new() }
    }

    fn shape(&self) -> &Shape {
        self.shape.get_or_init(|| Shape::of(&self.rule).expect(CHECKED))
    }

    fn here(&self) -> &Pinned {
        self.pinned.get_or_init(|| Pinned::here(&self.rule).expect(CHECKED))
    }

    fn after(&self, tail: &str) -> &Pinned {
        self.pinned.get_or_init(|| Pinned::after(&self.rule, tail).expect(CHECKED))
    }

    fn matcher(&self) -> &Matcher {
        self.matcher.get_or_init(|| Matcher::new(&self.rule).expect(CHECKED))
    }

    /// Where a match round a keyword can stand.
    fn window(&self, keyword: &Range<usize>, text: &str) -> Range<usize> {
        let longest = self.matcher().longest();
        let reach = |most: usize| longest.map_or(most, |longest| most.min(longest + MARGIN));
        let start = limit(text, keyword.start.saturating_sub(reach(BEFORE)));
        start..limit(text, keyword.end + reach(AFTER))
    }
}

/// All rules, ready to search with.
pub(super) struct Search {
    keywords: Keywords,
    /// What each keyword sets going.
    targets: Vec<Vec<Target>>,
    rules: Vec<Lazy>,
    /// Rules without keywords.
    always: Vec<u16>,
    known: KnownValues,
    contexts: bool,
}

/// What is searched before and after a keyword.
const BEFORE: usize = 256;
const AFTER: usize = 1024;

/// What an expression looks at before and after a match.
const MARGIN: usize = 32;

impl Search {
    /// Takes the rules of these groups. `checked` rules are known to compile; others are compiled
    /// now, so that a fault is an error and not a panic later.
    pub(super) fn new(
        checked: Vec<Rule>,
        users: Vec<Rule>,
        groups: &[Group],
        known: KnownValues,
    ) -> Result<Self, RuleError> {
        for rule in &users {
            Matcher::new(rule)?;
        }
        // A user's rule takes the place of a built-in one of the same name.
        let is_replaced = |rule: &Rule| users.iter().any(|user| user.id == rule.id);
        let own: Vec<Rule> = checked.into_iter().filter(|rule| !is_replaced(rule)).collect();
        let chosen = own.into_iter().chain(users).filter(|rule| groups.contains(&rule.group));
        let rules: Vec<Lazy> = chosen.map(Lazy::new).collect();
        let contexts = groups.contains(&Group::Secrets);
        let words = Words::of(&rules, contexts, &known);
        let always =
            (0..rules.len()).filter(|i| rules[*i].rule.keywords.is_empty()).map(index).collect();
        Ok(Self {
            keywords: Keywords::new(&words.spelled()),
            targets: words.targets,
            rules,
            always,
            known,
            contexts,
        })
    }

    /// The id of a rule or context.
    pub(super) fn id(&self, rule: RuleIndex) -> &str {
        let rule = usize::from(rule);
        match Kind::ALL.get(rule) {
            Some(kind) => kind.id(),
            None => &self.rules[rule - Kind::ALL.len()].rule.id,
        }
    }

    /// Whether a secret of the rule is known by itself, not by what stands before it.
    fn is_by_looks(&self, rule: RuleIndex) -> bool {
        let rule = usize::from(rule).checked_sub(Kind::ALL.len());
        rule.is_some_and(|rule| self.rules[rule].shape().place == Place::Here)
    }

    /// Whether a rule or context is about credentials.
    pub(super) fn is_of_secrets(&self, rule: RuleIndex) -> bool {
        let rule = usize::from(rule).checked_sub(Kind::ALL.len());
        rule.is_none_or(|rule| self.rules[rule].rule.group == Group::Secrets)
    }

    /// Whether names and notations are looked at.
    pub(super) fn has_contexts(&self) -> bool {
        self.contexts
    }

    /// Whether what stands before a value may have a rule find something in it.
    pub(super) fn is_asked_for(&self, before: &str) -> bool {
        let is_rule = |target: &Target| match target {
            // What is one word ends at the quote.
            Target::Rule(rule) => !self.rules[usize::from(*rule)].shape().is_one_word(),
            _ => false,
        };
        let mut asked = !self.always.is_empty();
        self.keywords.each(before.as_bytes(), |word| {
            let goes_on = before[..word.start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            // What takes in the quote is a name from its beginning: `d="` is not of `id="`.
            let is_whole = !goes_on || word.end < before.len();
            asked |= is_whole && self.targets[word.keyword].iter().any(is_rule);
        });
        asked
    }

    /// Every place in the text that must not leave, in order, none overlapping another.
    pub(super) fn find(&self, text: &str) -> Vec<Hit> {
        self.found(text, Depth::Contexts)
    }

    /// The same by what secrets look like alone, not by what stands beside them.
    pub(super) fn find_shapes(&self, text: &str) -> Vec<Hit> {
        self.found(text, Depth::Shapes)
    }

    fn found(&self, text: &str, depth: Depth) -> Vec<Hit> {
        let mut pass = self.pass(text, depth);
        if self.contexts {
            let phrases = phrases(text).into_iter();
            pass.hits.extend(phrases.map(|range| Hit { range, rule: Kind::SeedPhrase as u16 }));
        }
        self.search_all(&pass.windows, text, &mut pass.hits);
        for rule in &self.always {
            let whole = Window { rule: *rule, range: 0..text.len() };
            self.search(&whole, text, &mut pass.hits);
        }
        if depth == Depth::Contexts {
            self.search_views(text, pass.has_keyword, &mut pass.hits);
        }
        let markers = pass.markers;
        let is_marked = |hit: &Hit| {
            let next = markers.partition_point(|marker| marker.end <= hit.range.start);
            markers.get(next).is_some_and(|marker| marker.start < hit.range.end)
        };
        pass.hits.retain(|hit| !is_marked(hit));
        merge(pass.hits)
    }

    /// Searches windows in the order of the text. What a rule's match has covered by growing out
    /// of its window is not searched for that rule again.
    fn search_all(&self, windows: &[Window], text: &str, hits: &mut Vec<Hit>) {
        let mut covered: Vec<(u16, usize)> = Vec::new();
        for window in windows {
            let known = covered.iter().position(|(rule, _)| *rule == window.rule);
            let from = known.map_or(0, |at| covered[at].1);
            let range = window.range.start.max(from)..window.range.end;
            if range.is_empty() {
                continue;
            }
            let reached = self.search(&Window { range, ..*window }, text, hits);
            match known {
                Some(at) => covered[at].1 = reached,
                None => covered.push((window.rule, reached)),
            }
        }
    }

    /// The one pass over the text.
    fn pass(&self, text: &str, depth: Depth) -> Pass {
        let mut walk = Walk::new(text);
        let mut pass = Pass::default();
        self.keywords.each(text.as_bytes(), |word| {
            for target in &self.targets[word.keyword] {
                if depth == Depth::Shapes && target.is_context() {
                    continue;
                }
                self.meet(*target, word.start..word.end, text, &mut walk, &mut pass);
            }
        });
        let found = walk.found.into_iter();
        pass.hits.extend(found.map(|(range, kind)| Hit { range, rule: kind as u16 }));
        pass
    }

    /// A keyword stands here.
    fn meet(
        &self,
        target: Target,
        range: Range<usize>,
        text: &str,
        walk: &mut Walk<'_>,
        pass: &mut Pass,
    ) {
        match target {
            Target::Rule(rule) => self.meet_rule(rule, &range, text, pass),
            Target::Name => walk.at_name(&range),
            Target::Word(claim) => walk.at_word(&range, claim),
            Target::Scheme => walk.at_scheme(&range),
            Target::Url => walk.at_url(&range),
            Target::Known(i) if self.known.is(i, text.get(range.clone()).unwrap_or_default()) => {
                pass.hits.push(Hit { range, rule: Kind::KnownValue as u16 });
            }
            Target::Known(_) => {}
            Target::Marker => {
                let marker = marker_at(text, range.start);
                walk.settle(marker.end);
                pass.markers.push(marker);
            }
        }
    }

    /// A rule's keyword stands here.
    fn meet_rule(&self, rule: u16, keyword: &Range<usize>, text: &str, pass: &mut Pass) {
        pass.has_keyword = true;
        let lazy = &self.rules[usize::from(rule)];
        let shape = lazy.shape();
        if shape.is_too_short(text.as_bytes(), keyword) {
            return;
        }
        let secret = match &shape.place {
            Place::Around => return pass.add_window(rule, lazy.window(keyword, text)),
            Place::Here if !may_begin(text, keyword.start) => None,
            Place::Here => search_at(lazy.here(), keyword.start, text),
            Place::After(tail) => search_at(lazy.after(tail), keyword.end, text),
        };
        let rule = rule + index(Kind::ALL.len());
        pass.hits.extend(secret.map(|range| Hit { range, rule }));
    }

    /// Searches one rule in one window, which grows while a match reaches its end; where the last
    /// match ended.
    fn search(&self, window: &Window, text: &str, hits: &mut Vec<Hit>) -> usize {
        let matcher = self.rules[usize::from(window.rule)].matcher();
        let rule = window.rule + index(Kind::ALL.len());
        let Range { start: mut at, mut end } = window.range.clone();
        while let Some(found) = matcher.next_in(&text[..end], at) {
            if found.end == end && end < text.len() {
                at = limit(text, found.secret.start.saturating_sub(BEFORE).max(at));
                end = limit(text, end + (end - at).max(AFTER));
                continue;
            }
            at = found.secret.end;
            hits.push(Hit { range: found.secret, rule });
        }
        at
    }

    /// Secrets that are taken apart in the text are found in a text where they are whole.
    fn search_views(&self, text: &str, has_keywords: bool, hits: &mut Vec<Hit>) {
        let joined = has_keywords.then(|| view::joined(text)).flatten();
        let views = [view::without_nuls(text), view::without_invisibles(text), joined];
        for view in views.into_iter().flatten() {
            let pass = self.pass(&view.text, Depth::Contexts);
            let mut found = Vec::new();
            self.search_all(&pass.windows, &view.text, &mut found);
            let counts = |hit: &Hit| view.has_contexts || self.is_by_looks(hit.rule);
            found.extend(pass.hits.into_iter().filter(counts));
            hits.extend(found.into_iter().map(|hit| Hit { range: view.source(&hit.range), ..hit }));
        }
    }
}

/// The secret of a match that begins here, in a piece that grows while the match reaches its end.
fn search_at(pinned: &Pinned, start: usize, text: &str) -> Option<Range<usize>> {
    let mut len = AFTER;
    loop {
        let end = limit(text, start + len);
        let found = pinned.at_start_of(&text[start..end])?;
        if start + found.end == end && end < text.len() {
            len *= 2;
            continue;
        }
        return Some(start + found.secret.start..start + found.secret.end);
    }
}

fn index(i: usize) -> u16 {
    u16::try_from(i).unwrap_or(u16::MAX)
}

/// How every marker begins.
pub(super) const MARKER: &str = "[REDACTED:";

/// The marker that begins here.
fn marker_at(text: &str, start: usize) -> Range<usize> {
    let body = &text.as_bytes()[start + MARKER.len()..];
    let is_part = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'#');
    let len = body.iter().take(100).take_while(|b| is_part(b)).count();
    let end = start + MARKER.len() + len;
    start..end + usize::from(text.as_bytes().get(end) == Some(&b']'))
}

#[derive(Debug)]
struct Window {
    rule: u16,
    range: Range<usize>,
}

/// What one pass over a text has come upon.
#[derive(Default)]
struct Pass {
    windows: Vec<Window>,
    /// For each rule that has a window, its last one.
    last: Vec<(u16, usize)>,
    hits: Vec<Hit>,
    markers: Vec<Range<usize>>,
    /// Whether any rule's keyword stands in the text.
    has_keyword: bool,
}

impl Pass {
    fn add_window(&mut self, rule: u16, window: Range<usize>) {
        let last = self.last.iter_mut().find(|(r, _)| *r == rule);
        if let Some((_, at)) = last {
            let range = &mut self.windows[*at].range;
            if window.start <= range.end {
                range.end = range.end.max(window.end);
                return;
            }
            *at = self.windows.len();
        } else {
            self.last.push((rule, self.windows.len()));
        }
        self.windows.push(Window { rule, range: window });
    }
}

/// Joins what overlaps. The rule of the more specific one names it: patterns before contexts,
/// then the longer one, then the one that is written first.
fn merge(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.retain(|hit| !hit.range.is_empty());
    hits.sort_by_key(|hit| (hit.range.start, usize::MAX - hit.range.end, hit.rule));
    let mut merged: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match merged.last_mut() {
            Some(last) if hit.range.start < last.range.end => {
                let is_context = |rule: u16| usize::from(rule) < Kind::ALL.len();
                if is_context(last.rule) && !is_context(hit.rule) {
                    last.rule = hit.rule;
                }
                last.range.end = last.range.end.max(hit.range.end);
            }
            _ => merged.push(hit),
        }
    }
    merged
}

/// Keywords, and what each sets going.
#[derive(Default)]
struct Words {
    /// Keywords in lower case, and where the targets of each stand.
    places: RapidHashMap<String, usize>,
    targets: Vec<Vec<Target>>,
}

impl Words {
    fn of(rules: &[Lazy], contexts: bool, known: &KnownValues) -> Self {
        let mut words = Self::default();
        for (i, lazy) in rules.iter().enumerate() {
            for keyword in &lazy.rule.keywords {
                words.add(keyword, Target::Rule(index(i)));
            }
        }
        if contexts {
            words.add_contexts();
        }
        for (i, value) in known.iter().enumerate() {
            words.add(value, Target::Known(i));
        }
        words.add(MARKER, Target::Marker);
        words
    }

    fn add(&mut self, word: &str, target: Target) {
        let next = self.targets.len();
        let place = *self.places.entry(word.to_ascii_lowercase()).or_insert(next);
        if place == next {
            self.targets.push(Vec::new());
        }
        self.targets[place].push(target);
    }

    /// The keywords in the order of their targets.
    fn spelled(&self) -> Vec<&str> {
        let mut spelled = vec![""; self.places.len()];
        for (word, place) in &self.places {
            spelled[*place] = word;
        }
        spelled
    }

    fn add_contexts(&mut self) {
        for stem in STEMS {
            self.add(stem, Target::Name);
        }
        for (word, claim) in tongues::WORDS {
            for spelling in tongues::spellings(word) {
                self.add(&spelling, Target::Word(*claim));
            }
        }
        for scheme in ["bearer ", "basic "] {
            self.add(scheme, Target::Scheme);
        }
        self.add("://", Target::Url);
    }
}
