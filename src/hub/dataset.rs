//! The name of a dataset, as the Hub takes it.

use std::fmt;

use super::Error;

/// `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// A user or an organization.
    pub owner: String,
    /// Its own name.
    pub name: String,
}

impl Dataset {
    /// What sessions go to unless another name is given.
    pub const DEFAULT: &str = "hermes-traces";

    /// The longest name that the Hub takes.
    const LONGEST: usize = 96;

    /// The dataset that `OWNER/NAME` or `NAME` stands for; a name alone is one of `me`.
    pub fn of(given: &str, me: &str) -> Result<Self, Error> {
        Self::check(given)?;
        let (owner, name) = given.split_once('/').unwrap_or((me, given));
        Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
    }

    /// Refuses what can be no `OWNER/NAME` or `NAME`.
    pub fn check(given: &str) -> Result<(), Error> {
        let parts: Vec<&str> = given.split('/').collect();
        if parts.len() <= 2 && parts.iter().all(|part| is_name(part)) {
            Ok(())
        } else {
            Err(Error::Name(given.to_owned()))
        }
    }
}

impl fmt::Display for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

fn is_name(text: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let bare = text.trim_matches(['-', '.']).len();
    !text.is_empty()
        && text.len() <= Dataset::LONGEST
        && bare == text.len()
        && text.chars().all(usual)
        && !text.contains("--")
        && !text.contains("..")
        && text.strip_suffix(".git").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_is_one_of_the_users_own() {
        assert_eq!(Dataset::of("talks", "alice").unwrap().to_string(), "alice/talks");
        assert_eq!(Dataset::of("lab/talks", "alice").unwrap().to_string(), "lab/talks");
    }

    #[test]
    fn what_the_hub_takes_for_no_name_is_refused_before_it_is_asked() {
        for name in ["", "a/b/c", "/a", "a/", "a b", "-a", "a.", "a--b", "..", "a/../b", "x.git"] {
            assert!(Dataset::of(name, "alice").is_err(), "{name}");
        }
        assert!(Dataset::check(&"n".repeat(97)).is_err());
    }
}
