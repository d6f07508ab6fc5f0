//! Single messages, and where they stand in their session.

use formats::model::{Message, Row};

use super::snapshot::decoded;
use super::{Error, Extent, Fault, SessionKey, Shown, Snapshot};
use crate::redact::Raw;

impl Snapshot<'_> {
    /// Opens one message, with what its cells lost; `None` where there is none in this row.
    pub fn message<T>(
        &self,
        row: i64,
        open: impl FnOnce(Raw<Message<'_>>, Vec<Fault>) -> T,
    ) -> Result<Option<T>, Error> {
        let sql = "SELECT * FROM messages WHERE rowid = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([row])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (cells, faults) = decoded(&self.messages, row)?;
        Ok(Some(open(Raw::new(Row::new(&self.messages.header, cells)), faults)))
    }

    /// The rows of a session's messages, in order, and where this one stands among them: without
    /// those that were taken back, unless it is one of them. `None` where it is in another session.
    pub fn rows_around(
        &self,
        key: SessionKey,
        message: i64,
    ) -> Result<Option<(Vec<i64>, usize)>, Error> {
        for shown in [Shown::Compacted, Shown::All] {
            let rows: Vec<i64> = self.extent(key, shown)?.rows().collect();
            if let Ok(at) = rows.binary_search(&message) {
                return Ok(Some((rows, at)));
            }
        }
        Ok(None)
    }
}

impl Extent {
    /// The rows of its messages, in order.
    pub fn rows(&self) -> impl Iterator<Item = i64> {
        self.runs.iter().flat_map(|(first, last)| *first..=*last)
    }
}
