//! What redaction remembers of one session: which value got which marker, and how often.
//!
//! A value is remembered as eight bytes of a keyed hash whose key dies with the process, so
//! that neither the memory nor anything written from it gives the value away.

use std::collections::{BTreeMap, HashMap};

use super::paths::Met;
use super::search::{MARKER, RuleIndex};

/// The state of one session's redaction.
#[derive(Debug, Default)]
pub struct Scope {
    /// Which marker each value has.
    markers: HashMap<u64, Marker>,
    /// How many values each rule has found so far.
    values: HashMap<RuleIndex, u32>,
    findings: BTreeMap<Place, u64>,
    total: u64,
    /// The session, once its row has passed.
    pub(super) session: Option<String>,
    /// The row that is being redacted.
    pub(super) message: Option<i64>,
    /// The column that is being redacted.
    pub(super) field: String,
    /// Names of users and hosts that the session gave away.
    pub(super) met: Met,
}

#[derive(Debug, Clone, Copy)]
struct Marker {
    rule: RuleIndex,
    number: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    rule: String,
    message: Option<i64>,
    field: String,
    fingerprint: u64,
}

/// So many times did a rule take one value out of one field. It never holds the value.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// The session's id, itself redacted.
    pub session: Option<String>,
    /// The message's row id; `None` for a field of the session.
    pub message: Option<i64>,
    /// The column.
    pub field: String,
    /// How often.
    pub count: u64,
    /// The same for the same value as long as the program runs, and meaningless after.
    #[serde(skip)]
    pub fingerprint: u64,
}

impl Scope {
    /// The state before a session's first row.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was taken out so far, by rule and place.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        self.findings.iter().map(|(place, count)| Finding {
            rule: place.rule.clone(),
            session: self.session.clone(),
            message: place.message,
            field: place.field.clone(),
            count: *count,
            fingerprint: place.fingerprint,
        })
    }

    /// How much was taken out so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How much was taken out so far, by rule.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (place, count) in &self.findings {
            *counts.entry(place.rule.clone()).or_default() += count;
        }
        counts
    }

    /// The marker for a value, which is the same each time the value is met.
    pub(super) fn marker(
        &mut self,
        value: u64,
        rule: RuleIndex,
        id: &dyn Fn(RuleIndex) -> String,
    ) -> String {
        let marker = *self.markers.entry(value).or_insert_with(|| {
            let number = self.values.entry(rule).or_default();
            *number += 1;
            Marker { rule, number: *number }
        });
        let name = id(marker.rule);
        let place = Place {
            rule: name.clone(),
            message: self.message,
            field: self.field.clone(),
            fingerprint: value,
        };
        *self.findings.entry(place).or_default() += 1;
        self.total += 1;
        match marker.number {
            1 => format!("{MARKER}{name}]"),
            n => format!("{MARKER}{name}#{n}]"),
        }
    }
}
