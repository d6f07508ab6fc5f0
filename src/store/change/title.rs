//! Giving a session another title.

use rusqlite::OptionalExtension as _;

use super::{Change, refused};
use crate::store::text::as_text;
use crate::store::{Error, SessionKey};

/// What happened to a title.
#[derive(Debug, PartialEq, Eq)]
pub enum Retitled {
    /// The session has it.
    Set,
    /// The session has it, and the one that it continues, which no list shows, has none any more.
    TakenFrom(String),
}

impl Change<'_> {
    /// Sets a session's title, or clears it. No two sessions have the same one.
    pub fn retitle(&self, key: SessionKey, title: Option<&str>) -> Result<Retitled, Error> {
        let mut retitled = Retitled::Set;
        if let Some(title) = title
            && let Some((holder, id)) = self.holder(title, key)?
        {
            if !self.snapshot()?.continues(key, holder)? {
                return Err(Error::TitleTaken {
                    title: title.to_owned(),
                    by: id,
                    free: self.free_title(title)?,
                });
            }
            self.set_title(holder, None)?;
            retitled = Retitled::TakenFrom(id);
        }
        self.set_title(key, title)?;
        Ok(retitled)
    }

    fn set_title(&self, key: SessionKey, title: Option<&str>) -> Result<(), Error> {
        let sql = "UPDATE sessions SET title = ? WHERE rowid = ?";
        self.execute(sql, (title, key.0)).map(|_| ())
    }

    /// Another session with this title.
    fn holder(&self, title: &str, but: SessionKey) -> Result<Option<(SessionKey, String)>, Error> {
        let sql = "SELECT rowid, id FROM sessions WHERE title = ? AND rowid != ?";
        let held = self.transaction.query_row(sql, (title, but.0), |row| {
            Ok((SessionKey(row.get(0)?), as_text(row.get_ref(1)?).unwrap_or_default()))
        });
        held.optional().map_err(refused)
    }

    /// The first free one of `base #2`, `base #3`, … that is after all others, as Hermes counts them.
    fn free_title(&self, title: &str) -> Result<String, Error> {
        let base = numbered(title).map_or(title, |(base, _)| base);
        let sql = "SELECT title FROM sessions WHERE substr(title, 1, length(?1)) = ?1";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let mut rows = statement.query([base])?;
        let mut last = 1;
        while let Some(row) = rows.next()? {
            let other = as_text(row.get_ref(0)?).unwrap_or_default();
            if let Some((_, number)) = numbered(&other).filter(|(other, _)| *other == base) {
                last = last.max(number);
            }
        }
        Ok(format!("{base} #{}", last.saturating_add(1)))
    }
}

/// `x #3` as `x` and 3.
fn numbered(title: &str) -> Option<(&str, u64)> {
    let (base, number) = title.rsplit_once(" #")?;
    Some((base, number.parse().ok()?))
}
