//! Redaction: the stage through which everything passes that leaves the store.
//!
//! What the store yields is sealed ([`Raw`]); [`Redactor::apply`] alone opens it, and takes out of
//! every text in it what must not leave. `--no-redact` is [`Redactor::none`], not a way round it.
//!
//! Of a row that is not for everybody's eyes, whole columns go first (`disclosure`), or all
//! its texts (`outline`). A text goes through three
//! layers:
//!
//! 1. *Structure* (`redactor`, `json`, `view`): JSON is walked leaf by leaf to any depth, with
//!    each leaf's key as context, and only changed leaves are written anew.
//! 2. *Search* (`search`, `keywords`, `shape`): one pass finds every keyword of every rule; a rule's
//!    pattern is run only around its own. Rules are data: `redact-rules/`, [`rule`], [`load`] (also
//!    from `go`). Phrases of words have none (`phrase`).
//! 3. *Context* (`context`, `name`, `tongues`, `read`, `typed`, `framed`, `clause`, `lead`, `table`, `aligned`, `parallel`, `end`, `value`, `standin`, `handmade`,
//!    `natural`, `header`, `url`, `echo`): what a name says of its value, in any notation, and whether the value is one.
//!
//! A text in which nothing was found is not searched again (`clean`), and a name that values stand
//! under is looked at once (`keys`).
//!
//! What is found becomes a marker ([`Scope`]): `[REDACTED:rule]`, and `[REDACTED:rule#2]` for
//! the second value of the same rule in a session. A marker is nobody's secret, so redacting
//! twice changes nothing, and [`Redactor::scan_bytes`] finds nothing in a finished file.

mod aligned;
pub mod builtin;
pub mod check;
pub mod checksum;
mod clause;
mod clean;
mod context;
mod cursor;
mod disclosure;
mod echo;
mod end;
pub mod example;
mod framed;
mod go;
mod handmade;
mod header;
mod json;
mod keys;
mod keywords;
pub mod known;
mod lead;
pub mod load;
mod name;
mod natural;
mod outline;
mod parallel;
mod paths;
mod pattern;
mod phrase;
mod read;
mod redactor;
pub mod rule;
mod scope;
mod search;
mod shape;
mod standin;
mod table;
mod texts;
mod tongues;
mod typed;
mod url;
mod value;
mod view;
mod words;

pub use context::{Context, contexts};
pub use disclosure::{Disclosure, ToolOutput};
pub use name::Claim;
pub use redactor::{Pen, Redactor};
pub use scope::{Finding, Scope};
pub(crate) use texts::Ahead;
pub use texts::{Raw, Texts};

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
