//! Exports, archives and verifies the conversations that Hermes Agent keeps in `state.db`.
//!
//! ```text
//! state.db ──► select ──► read ──► redact ──► write ──► publish ──► manifest.jsonl
//! ```
//!
//! Imports run downward only: [`cli`] → [`backup`] → ([`scan`], [`verify`]) → ([`export`], [`import`]) → ([`store`],
//! [`redact`], [`manifest`], [`formats`]) → ([`filter`], [`progress`], [`formats::model`]). What holds everywhere stands in
//! `ARCHITECTURE.md`.

pub mod backup;
pub mod bucket;
pub mod care;
pub mod cli;
pub mod export;
pub mod filter;
#[cfg(feature = "hub")]
pub mod hub;
pub mod import;
pub mod manifest;
pub mod progress;
pub mod redact;
pub mod scan;
pub mod seal;
pub mod store;
mod unpack;
pub mod verify;
pub mod view;
