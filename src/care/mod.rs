//! Caring for the store: what is to be deleted, hidden or renamed, and what lies beside it on the disk.

pub mod places;
mod plan;
pub mod retention;
pub mod title;
pub mod transcripts;

pub use plan::{Plan, Running, plan, plan_conversations, still_there};
