//! How much there is: messages of a session, results of tools, bytes of tables and files.

use std::collections::HashMap;
use std::path::Path;

use super::open::{beside, stamp, unreadable};
use super::text::as_text;
use super::{Error, SessionKey, Shown, Snapshot};
use crate::redact::Raw;

/// Bytes of a store's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The store itself.
    pub file: u64,
    /// What is written but not yet in it.
    pub wal: u64,
}

impl Size {
    /// All of them together.
    pub fn whole(self) -> u64 {
        self.file + self.wal
    }
}

/// How much room a store takes.
pub fn size(path: &Path) -> Result<Size, Error> {
    let path = std::fs::canonicalize(path).map_err(|source| unreadable(path, source))?;
    let bytes = |path: &Path| Ok::<_, Error>(stamp(path)?.map_or(0, |(bytes, _)| bytes));
    Ok(Size { file: bytes(&path)?, wal: bytes(&beside(&path, "-wal"))? })
}

impl Snapshot<'_> {
    /// How many messages a session has: all, and those of the conversation as it is now.
    pub fn message_counts(&self, key: SessionKey) -> Result<(u64, u64), Error> {
        let sql = format!(
            "SELECT count(*), COALESCE(sum({}), 0) FROM messages \
             WHERE session_id = (SELECT id FROM sessions WHERE rowid = ?)",
            self.shown_condition(Shown::Active)
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let count = |n: i64| n.unsigned_abs();
        Ok(statement.query_row([key.0], |row| Ok((count(row.get(0)?), count(row.get(1)?))))?)
    }

    /// Which tools' results a session has, and how many.
    pub fn tools(&self, key: SessionKey) -> Result<Vec<(Raw<String>, u64)>, Error> {
        let sql = "SELECT tool_name, count(*) FROM messages WHERE role = 'tool' \
                   AND session_id = (SELECT id FROM sessions WHERE rowid = ?) GROUP BY 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([key.0], |row| {
            let name = as_text(row.get_ref(0)?).unwrap_or_else(|| "—".to_owned());
            Ok((Raw::new(name), row.get::<_, i64>(1)?.unsigned_abs()))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Bytes of each table with its indexes, the largest first. An index for search is one table.
    pub fn tables(&self) -> Result<Vec<(String, u64)>, Error> {
        let names = "SELECT name FROM sqlite_schema WHERE upper(substr(sql, 1, 14)) = 'CREATE VIRTUAL' \
                     ORDER BY length(name) DESC";
        let mut statement = self.connection.prepare(names)?;
        let searched: Vec<String> =
            statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let pages = "SELECT COALESCE(s.tbl_name, d.name), d.pgsize FROM dbstat d \
                     LEFT JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = TRUE";
        let mut statement = self.connection.prepare(pages)?;
        let mut rows = statement.query([])?;
        let mut tables = HashMap::<String, u64>::new();
        while let Some(row) = rows.next()? {
            let name = as_text(row.get_ref(0)?).unwrap_or_default();
            let part = |index: &&String| {
                name.strip_prefix(index.as_str()).is_some_and(|rest| rest.starts_with('_'))
            };
            let name = searched.iter().find(part).unwrap_or(&name);
            *tables.entry(name.clone()).or_default() += row.get::<_, i64>(1)?.unsigned_abs();
        }
        let mut tables: Vec<_> = tables.into_iter().collect();
        tables.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(tables)
    }
}
