//! Exports, archives and verifies the conversations that Hermes Agent keeps in `state.db`.

pub mod redact;
