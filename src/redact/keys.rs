//! What there is to know of the names that values stand under. The same few names stand in every
//! row, so each is looked at once a session.

use std::collections::HashMap;

use super::header::is_cookie_name;
use super::name::{Claim, claim};
use super::search::Search;

/// More names are nobody's columns; they are looked at each time.
const MOST: usize = 1 << 12;

/// Names that were looked at.
#[derive(Debug, Default)]
pub(super) struct Keys(HashMap<String, Key>);

/// What a name says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// What it claims of its value.
    pub(super) claim: Option<Claim>,
    /// Whether it is a cookie header's.
    pub(super) is_cookie: bool,
    /// Whether a rule may find something in the value only because of it.
    pub(super) is_keyword: bool,
    /// Whether nothing in the name itself must go.
    pub(super) is_clean: bool,
}

impl Keys {
    pub(super) fn get(&mut self, name: &str, search: &Search) -> Key {
        if let Some(known) = self.0.get(name) {
            return *known;
        }
        let key = Key {
            claim: claim(name),
            is_cookie: is_cookie_name(name),
            is_keyword: search.is_asked_for(&before_value(name)),
            is_clean: search.find(name).is_empty(),
        };
        if self.0.len() < MOST {
            self.0.insert(name.to_owned(), key);
        }
        key
    }
}

/// A name as code has it before a value.
pub(super) fn before_value(name: &str) -> String {
    format!("{name}=\"")
}
