//! The rules that come with the program: every file of `redact-rules/`, embedded.
//!
//! The list is spelled out because a folder that is read at build time goes stale without
//! notice; a test holds it against the folder.

use super::rule::{Rule, RuleError, parse};

macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../redact-rules/", $name)))),*]
    };
}

/// Names and texts of the built-in rule files, the most specific families first.
pub const FILES: &[(&str, &str)] = files![
    "ai.toml",
    "chat.toml",
    "ci.toml",
    "clouds.toml",
    "code.toml",
    "commands.toml",
    "crypto.toml",
    "data.toml",
    "databases.toml",
    "files.toml",
    "forges.toml",
    "hashes.toml",
    "keys.toml",
    "logins.toml",
    "mail.toml",
    "monitoring.toml",
    "packages.toml",
    "payment.toml",
    "pii.toml",
    "saas.toml",
    "services.toml",
    "web.toml",
];

/// All built-in rules.
pub fn rules() -> Result<Vec<Rule>, RuleError> {
    let files: Result<Vec<_>, _> = FILES.iter().map(|(_, text)| parse(text)).collect();
    let own = |rule| Rule { is_built_in: true, ..rule };
    Ok(files?.into_iter().flatten().map(own).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::redact::check::{check, untried};

    #[test]
    fn every_file_of_the_folder_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/redact-rules");
        let entries = std::fs::read_dir(folder).unwrap();
        let names: BTreeSet<_> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        let listed: BTreeSet<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(names, listed);
    }

    #[test]
    fn every_file_is_read() {
        for (name, text) in FILES {
            assert!(parse(text).is_ok(), "{name}: {}", parse(text).unwrap_err());
        }
    }

    #[test]
    fn no_rule_has_a_fault() {
        let rules = rules().unwrap();
        let faults = [check(&rules), untried(&rules)].concat();
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
