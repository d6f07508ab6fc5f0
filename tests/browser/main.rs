//! Pages in a real browser: nothing in them acts, everybody can use them, and they ask for nothing.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "what is skipped is said aloud")]

mod access;
mod browser;
mod contrast;
#[path = "../cli/env.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod env;
mod hostile;
mod malformed;
mod moves;
mod reading;
mod samples;
#[path = "../cli/store.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod store;
mod weight;
