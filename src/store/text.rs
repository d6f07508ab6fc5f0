//! What SQLite cannot compare: case in every script, and paths by their components.

use caseless::Caseless as _;
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use unicode_normalization::UnicodeNormalization as _;

/// Adds `fold(text)`, `is_under(path, folder)` and `is_tagged(title, tag)` to a connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("fold", 1, flags, |call| {
        Ok(as_text(call.get_raw(0)).map(|text| fold(&text)))
    })?;
    connection.create_scalar_function("is_under", 2, flags, |call| {
        let (path, folder) = (as_text(call.get_raw(0)), as_text(call.get_raw(1)));
        Ok(path.zip(folder).is_some_and(|(path, folder)| is_under(&path, &folder)))
    })?;
    connection.create_scalar_function("is_tagged", 2, flags, |call| {
        let (title, tag) = (as_text(call.get_raw(0)), as_text(call.get_raw(1)));
        Ok(title.zip(tag).is_some_and(|(title, tag)| is_tagged(&title, &tag)))
    })
}

/// A cell as text; bytes that are no UTF-8 must not end a query.
pub(super) fn as_text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(x) => Some(x.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

/// Folds case in every script, and composes, so that é typed is é stored.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfd().default_case_fold().nfc().collect()
}

/// Whether a path is a folder or lies below it; `/` and `\` both part components.
pub(crate) fn is_under(path: &str, folder: &str) -> bool {
    const SEPARATORS: [char; 2] = ['/', '\\'];
    let stem = folder.trim_end_matches(SEPARATORS);
    let Some(rest) = path.strip_prefix(stem) else {
        return false;
    };
    if stem.is_empty() {
        return rest.starts_with(SEPARATORS);
    }
    rest.is_empty() || rest.starts_with(SEPARATORS)
}

/// Whether a title has `#tag` in it, in any case and with nothing of a word behind it.
pub(crate) fn is_tagged(title: &str, tag: &str) -> bool {
    let of_tag = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    let tag = fold(tag);
    fold(title).split('#').skip(1).any(|rest| {
        let end = rest.find(|c| !of_tag(c)).unwrap_or(rest.len());
        rest[..end].trim_end_matches(['-', '/']) == tag
    })
}

#[cfg(test)]
mod tests {
    use super::{fold, is_tagged, is_under};

    #[test]
    fn a_tag_is_a_whole_word_behind_a_number_sign() {
        assert!(is_tagged("plan #Work", "work"));
        assert!(is_tagged("#work: plan", "work"));
        assert!(is_tagged("学习#编程 笔记", "编程"));
        assert!(!is_tagged("plan #workshop", "work"));
        assert!(!is_tagged("work", "work"));
    }

    #[test]
    fn case_folds_in_every_script() {
        for (one, other) in
            [("Отчёт", "отчёт"), ("ÜBER", "über"), ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "σίσυφος")]
        {
            assert_eq!(fold(one), fold(other));
        }
        assert_eq!(fold("re\u{301}sume"), fold("RÉSUME"));
        assert_ne!(fold("resume"), fold("résume"));
    }

    #[test]
    fn paths_are_compared_by_component() {
        for (path, folder, wanted) in [
            ("/home/a_b/x", "/home/a_b", true),
            ("/home/a_b", "/home/a_b/", true),
            ("/home/aXb/x", "/home/a_b", false),
            ("/HOME/A_B/y", "/home/a_b", false),
            ("/home/a_bc", "/home/a_b", false),
            ("/", "/", true),
            ("/etc", "/", true),
            ("relative", "/", false),
            (r"C:\work\bot", r"C:\work", true),
            (r"C:\workbench", r"C:\work", false),
        ] {
            assert_eq!(is_under(path, folder), wanted, "{path} under {folder}");
        }
    }
}
