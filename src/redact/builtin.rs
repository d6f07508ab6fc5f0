//! The rules that come with the program: every file of `redact-rules/`, embedded as JSON, which the
//! build makes of them.

use super::rule::{Rule, RuleFile};

/// All of them.
///
/// # Panics
///
/// If the build made something else of the files; a test would have said so.
pub fn rules() -> Vec<Rule> {
    const MADE: &str = include_str!(concat!(env!("OUT_DIR"), "/rules.json"));
    let files: Vec<RuleFile> = serde_json::from_str(MADE).expect("a test reads it");
    let own = |rule| Rule { is_built_in: true, ..rule };
    files.into_iter().flat_map(RuleFile::rules).map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::check::{check, untried};
    use crate::redact::rule::parse;

    #[test]
    fn the_build_has_changed_nothing_in_any_file() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/redact-rules");
        let entries = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
        let written = texts.flat_map(|text| parse(&text).unwrap());
        let written: Vec<Rule> = written.map(|r| Rule { is_built_in: true, ..r }).collect();
        assert_eq!(format!("{:?}", rules()), format!("{written:?}"));
    }

    #[test]
    fn no_rule_has_a_fault() {
        // As if they were a user's, so that nothing in them is taken for granted.
        let strict = |rule| Rule { is_built_in: false, ..rule };
        let rules: Vec<Rule> = rules().into_iter().map(strict).collect();
        let faults = [check(&rules), untried(&rules)].concat();
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
