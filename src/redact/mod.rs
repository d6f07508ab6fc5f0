//! Nothing that the store yields reaches a writer, a file name, a manifest line or a message to the
//! user except through [`Redactor::apply`]: a [`Raw`] value has no other way out.

use formats::model::Row;

/// A value as it stands in the store. It can be neither read nor printed.
pub struct Raw<T>(T);

impl<T> Raw<T> {
    /// Only the store makes these.
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }
}

/// What redaction knows of one session while it walks it.
#[derive(Debug, Default)]
pub struct Scope {}

/// Takes secrets out of values, or, as [`Redactor::none`], leaves them in.
#[derive(Debug)]
pub struct Redactor {}

impl Redactor {
    /// Leaves every value as it is.
    pub fn none() -> Self {
        Self {}
    }

    /// What is taken out: the groups of rules, or nothing.
    pub fn groups(&self) -> Option<&[String]> {
        None
    }

    /// Opens a value from the store.
    pub fn apply<T: Texts>(&self, raw: Raw<T>, _scope: &mut Scope) -> T {
        raw.0
    }
}

/// A value with texts that redaction walks.
pub trait Texts {}

impl<C> Texts for Row<'_, C> {}
impl Texts for String {}
impl<T: Texts> Texts for Vec<T> {}
