//! What the commands that only look show: read from one snapshot, redacted, and ready to be laid out
//! by the command line or written as JSON.

mod listing;
mod losses;
mod said;
mod search;
mod session;
mod text;
mod totals;
mod whereabouts;

pub use listing::{Listed, Sessions, sessions};
pub use losses::Losses;
pub use said::Said;
pub use search::{Discovery, Excerpt, Found, Match, browse, discover, scroll, whole};
pub use session::{Event, Head, Recap, Turn, latest, recap, resolve, transcript};
pub use text::{one_line, preview};
pub use totals::{By, Group, Sums, Totals, totals};
pub use whereabouts::{Trace, orphans, trace};
