//! Text of a session made inert inside a Markdown document.
//!
//! Whatever a message, a title or a tool's name holds, it must not start a heading, markup, a
//! comment, metadata or a code cell of the document that quotes it. [`prose`] keeps Markdown
//! readable as Markdown, [`fence`] shows text as code, [`name`] fits text into a line of ours,
//! [`quarto`] takes the teeth out of what Quarto and knitr run even inside code. [`blocks`] lays
//! the pieces out; the formats write through it.
//!
//! Readers of Markdown differ (GitHub, pandoc, the web's editors). Where one of them might see markup,
//! the text is escaped for all: a backslash too many is invisible once rendered.

pub(crate) mod blocks;
pub(crate) mod fence;
pub(crate) mod name;
mod prose;
mod quarto;
mod tex;
