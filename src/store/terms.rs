//! Texts that versions of SQLite cut into different terms.
//!
//! The trigram tokenizer of older versions ends at a NUL, that of newer ones goes on behind it, and
//! Hermes begins structured content with one. FTS5 forgets a row by cutting its text again, so another
//! version would take out terms that were never put in, or leave some behind; then its sums are wrong,
//! and sooner or later the index counts as damaged. Neither happens where what the index keeps of a
//! text is what its terms are of, and new texts are indexed without NULs.

use rusqlite::{Connection, params};

use super::snapshot::quoted;

/// Characters of a trigram.
const GRAM: i64 = 3;

/// Before messages are forgotten: makes what trigram indexes keep of them what their terms are of.
/// `messages` selects their row ids and has one parameter, or none.
pub(super) fn settle(
    connection: &Connection,
    messages: &str,
    parameters: impl rusqlite::Params + Copy,
) -> rusqlite::Result<()> {
    for index in &trigram_indexes(connection)? {
        let (content, sizes) = (part(index, "content"), part(index, "docsize"));
        // `length` and `substr` end at a NUL, as the older tokenizer does.
        let with_nul = format!(
            "SELECT c.id, length(c.c0), d.sz FROM {content} c JOIN {sizes} d ON d.id = c.id \
             WHERE c.id IN ({messages}) AND instr(CAST(c.c0 AS BLOB), X'00') > 0"
        );
        let mut cut = connection.prepare_cached(&format!(
            "UPDATE {content} SET c0 = substr(c0, 1, length(c0)) WHERE id = ?"
        ))?;
        let mut statement = connection.prepare(&with_nul)?;
        let rows = statement.query_map(parameters, |row| {
            let (id, length): (i64, i64) = (row.get(0)?, row.get(1)?);
            let terms = numbers(row.get_ref(2)?.as_blob().unwrap_or_default()).sum::<u64>();
            let of_beginning = length.saturating_sub(GRAM - 1).max(0).unsigned_abs();
            Ok((id, terms == of_beginning))
        })?;
        for row in rows.collect::<rusqlite::Result<Vec<_>>>()? {
            if let (id, true) = row {
                cut.execute([id])?;
            }
        }
    }
    Ok(())
}

/// After this process has indexed messages: indexes those with NULs anew, each NUL as a blank.
/// `messages` selects their row ids and has one parameter, or none.
pub(super) fn replace_nuls(
    connection: &Connection,
    messages: &str,
    parameters: impl rusqlite::Params + Copy,
) -> rusqlite::Result<()> {
    for index in &trigram_indexes(connection)? {
        let content = part(index, "content");
        let with_nul = format!(
            "SELECT id FROM {content} \
             WHERE id IN ({messages}) AND instr(CAST(c0 AS BLOB), X'00') > 0"
        );
        let column = "SELECT name FROM pragma_table_info(?) WHERE cid = 0";
        let column: String = connection.query_row(column, [index], |row| row.get(0))?;
        let (name, column) = (quoted(index), quoted(&column));
        let mut forget =
            connection.prepare_cached(&format!("DELETE FROM {name} WHERE rowid = ?"))?;
        let mut add = connection.prepare_cached(&format!(
            "INSERT INTO {name} (rowid, {column}) VALUES (?, CAST(? AS TEXT))"
        ))?;
        let mut statement = connection.prepare(&with_nul)?;
        let ids = statement.query_map(parameters, |row| row.get(0))?;
        let ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
        let mut text = connection
            .prepare_cached(&format!("SELECT CAST(c0 AS BLOB) FROM {content} WHERE id = ?"))?;
        for id in ids {
            let mut text: Vec<u8> = text.query_row([id], |row| row.get(0))?;
            text.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');
            forget.execute([id])?;
            add.execute(params![id, text])?;
        }
    }
    Ok(())
}

/// Trigram indexes that keep one text a message, and how many terms it has.
fn trigram_indexes(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema i WHERE type = 'table' \
               AND lower(sql) GLOB 'create virtual table*using fts5*trigram*' \
               AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = i.name || '_content') \
               AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = i.name || '_docsize') \
               ORDER BY name";
    let mut statement = connection.prepare_cached(sql)?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}

fn part(index: &str, of: &str) -> String {
    quoted(&format!("{index}_{of}"))
}

/// SQLite's numbers of varying length, one after the other: seven bits a byte, eight in the ninth.
pub(super) fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let mut number = 0_u64;
        for at in 0..9 {
            let byte = *rest.get(at)?;
            if at == 8 {
                number = number << 8 | u64::from(byte);
            } else {
                number = number << 7 | u64::from(byte & 0x7f);
            }
            if at == 8 || byte & 0x80 == 0 {
                rest = &rest[at + 1..];
                return Some(number);
            }
        }
        None
    })
}
