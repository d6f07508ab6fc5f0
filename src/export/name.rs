//! File names from session ids and titles: legal on Windows and exFAT, at most 255 bytes, inside
//! their folder, and distinct for distinct sessions, also where case does not count.

use formats::model::{Session, SessionColumn};
use formats::{Feature, Format};
use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;

use super::pattern::Pattern;
use crate::manifest::hex;

const MAX_ID: usize = 80; // bytes
const MAX_SLUG: usize = 100; // bytes; with id, hash and any extension far below 255

/// How the files of a folder get their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names {
    /// From id and title.
    Usual,
    /// From nothing that a stranger could read.
    Neutral,
    /// As the user lays them out.
    Laid(Pattern),
}

impl Names {
    /// The name of a session's file in this format.
    pub(super) fn file(&self, session: &Session<'_>, format: &Format) -> String {
        let stem = match self {
            Names::Usual => {
                let title = session.text(SessionColumn::Title);
                stem(session.id(), title.filter(|_| !format.can(Feature::NamedById)))
            }
            Names::Neutral => format!("shared~{}", hash(session.id())),
            Names::Laid(pattern) => pattern.stem(session),
        };
        format!("{stem}.{}", format.extension)
    }

    /// What a manifest says of them; `None` for the usual way.
    pub(super) fn recorded(&self) -> Option<String> {
        match self {
            Names::Usual => None,
            Names::Neutral => Some("neutral".to_owned()),
            Names::Laid(pattern) => Some(pattern.text().to_owned()),
        }
    }
}

/// Whether a name is one that a session's file has had, under this or another title.
pub(super) fn is_of(name: &str, id: &str) -> bool {
    name.strip_prefix(&stem(id, None)).is_some_and(|rest| rest.starts_with(['-', '.']))
}

/// The name of a session's file without its extension.
///
/// An id that can stand in a name as it is does so. Any other is made legal, and a hash keeps it
/// apart from ids that become the same; `~` stands in no other name.
pub(super) fn stem(id: &str, title: Option<&str>) -> String {
    let mut stem = legal(id);
    let slug = title.map(slug).unwrap_or_default();
    if !slug.is_empty() {
        stem.push('-');
        stem.push_str(&slug);
    }
    stem
}

/// An id as it stands in a name.
pub(super) fn legal(id: &str) -> String {
    if stands_as_it_is(id) { id.to_owned() } else { made_legal(id) }
}

/// Lower-case only, as names that differ in case alone are one on Windows and macOS; without `-`,
/// so that an id and a title cannot read like another id.
fn stands_as_it_is(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !is_reserved(id)
}

fn made_legal(id: &str) -> String {
    let legal = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }
    };
    let legal_id: String = id.chars().map(legal).take(MAX_ID).collect();
    // A leading hyphen would read as a flag wherever the name is typed.
    let readable = legal_id.strip_prefix('-').map_or(legal_id.clone(), |rest| format!("_{rest}"));
    format!("{readable}~{}", hash(id))
}

/// What keeps the names of two sessions apart.
pub(super) fn hash(id: &str) -> String {
    hex(&Sha256::digest(id.as_bytes()))[..12].to_owned()
}

/// Device names of Windows, which no extension makes usable, and the manifest's.
pub(super) fn is_reserved(name: &str) -> bool {
    let device = name.trim_end_matches(|c: char| c.is_ascii_digit());
    matches!(name, "con" | "prn" | "aux" | "nul" | "manifest")
        || matches!(device, "com" | "lpt") && name.len() == 4
}

/// A title as words of letters and digits in any script, joined by hyphens.
pub(super) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for word in title.nfc().collect::<String>().split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        let separator = usize::from(!slug.is_empty());
        let room = MAX_SLUG.saturating_sub(slug.len() + separator);
        let word = &word[..word.floor_char_boundary(room)];
        if word.is_empty() {
            continue;
        }
        if separator == 1 {
            slug.push('-');
        }
        slug.push_str(word);
    }
    slug
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::stem;

    #[test]
    fn names_are_readable_where_they_can_be() {
        for (id, title, wanted) in [
            (
                "20250305_091523_a1b2c3",
                Some("Fix: flaky tests!"),
                "20250305_091523_a1b2c3-fix-flaky-tests",
            ),
            ("20250305_091523_a1b2c3", None, "20250305_091523_a1b2c3"),
            ("abc", Some("数据库迁移方案"), "abc-数据库迁移方案"),
            ("abc", Some("!!!"), "abc"),
        ] {
            assert_eq!(stem(id, title), wanted);
        }
    }

    #[test]
    fn awkward_ids_become_distinct_legal_names() {
        let long = "x".repeat(240);
        let ids = [
            "../esc",
            "a/b",
            "a_b",
            "a:b",
            "x:y",
            "*",
            "CON",
            "con",
            "COM1",
            "abc",
            "ABC",
            "a.b",
            "",
            ".",
            "..",
            "a-b",
            &long,
            "x\0y",
            "\u{202e}gpj",
        ];
        let names: HashSet<String> = ids.iter().map(|id| stem(id, None).to_lowercase()).collect();
        assert_eq!(names.len(), ids.len());
        for name in names {
            assert!(
                name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-~".contains(&b)),
                "{name}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn any_id_and_title_give_a_portable_name(id in ".*", title in proptest::option::of(".*")) {
            let name = stem(&id, title.as_deref());
            prop_assert!(name.len() <= 230, "room for an extension: {}", name.len());
            prop_assert!(!name.is_empty() && !name.starts_with(['.', '-']));
            prop_assert!(name.chars().all(|c| c.is_alphanumeric() || "_-~".contains(c)));
        }

        #[test]
        fn distinct_ids_never_share_a_name(
            one in "[a-cA-C_/-]{1,4}", other in "[a-cA-C_/-]{1,4}",
            title in proptest::option::of("[a-c -]{0,4}"), title2 in proptest::option::of("[a-c -]{0,4}"),
        ) {
            prop_assume!(one != other);
            let names = [stem(&one, title.as_deref()), stem(&other, title2.as_deref())];
            prop_assert_ne!(names[0].to_lowercase(), names[1].to_lowercase());
        }
    }
}
