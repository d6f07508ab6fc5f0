//! Redaction: the stage through which everything passes that leaves the store.

pub mod builtin;
pub mod check;
pub mod checksum;
mod context;
pub mod example;
mod json;
mod keywords;
pub mod known;
pub mod load;
mod name;
mod natural;
mod paths;
mod read;
mod redactor;
pub mod rule;
mod scope;
mod search;
mod texts;
mod value;
mod view;

pub use redactor::{Pen, Redactor};
pub use scope::{Finding, Scope};
pub use texts::{Raw, Texts};

#[cfg(test)]
mod tests;
