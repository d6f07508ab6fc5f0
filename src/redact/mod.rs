//! Redaction: the stage through which everything passes that leaves the store.

pub mod builtin;
pub mod check;
pub mod checksum;
mod context;
pub mod example;
mod json;
pub mod known;
mod name;
mod natural;
mod read;
pub mod rule;
mod search;
mod value;
mod view;
