//! Redaction: the stage through which everything passes that leaves the store.

pub mod builtin;
pub mod check;
pub mod checksum;
pub mod example;
pub mod rule;
