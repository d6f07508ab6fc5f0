//! How long ended sessions are kept: what `prune` takes without a filter, and what Hermes'
//! `config.yaml` says about pruning without being asked.
//!
//! ```yaml
//! sessions:
//!   auto_prune: true          # default: false
//!   retention_days: 90
//!   vacuum_after_prune: true
//!   min_interval_hours: 24
//! ```

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use yaml_rust2::{Yaml, YamlLoader};

use crate::filter::{Archived, Column, Condition, Filter, State, Test};

/// Days that an ended session is kept, unless told otherwise.
pub const DAYS: f64 = 90.0;
/// The mark in the store that tells every program when sessions were last pruned unasked.
pub const MARK: &str = "last_auto_prune";

const DAY: f64 = 86_400.0;
const HOUR: f64 = 3_600.0;

/// Ended sessions whose last message, or start, is longer ago.
pub fn older_than(days: f64, now: f64) -> Filter {
    let condition = Condition::Below(now - days * DAY);
    Filter {
        tests: vec![Test { column: Column::LastActive, condition }],
        state: State::Ended,
        archived: Archived::Not,
        ..Filter::everything()
    }
}

/// What the section `sessions` says.
#[derive(Debug, Clone, PartialEq)]
pub struct Retention {
    /// Whether to prune unasked at all.
    pub auto_prune: bool,
    /// How many days ended sessions are kept.
    pub days: f64,
    /// Whether the file is to shrink afterwards.
    pub vacuum: bool,
    /// How many hours lie between two prunings at least.
    pub interval_hours: f64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { auto_prune: false, days: DAYS, vacuum: true, interval_hours: 24.0 }
    }
}

/// Why a configuration cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no YAML.
    #[error("{} cannot be read as YAML; nothing was pruned", path.display())]
    Yaml {
        /// The file.
        path: PathBuf,
        /// Why.
        source: yaml_rust2::ScanError,
    },
    /// A key has a value of another kind.
    #[error("{}: sessions.{key} is no {wanted}; nothing was pruned", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Which.
        key: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
}

impl Retention {
    /// What a configuration file says; the defaults where there is none.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(Error::Io { path: path.to_owned(), source }),
        };
        let documents = YamlLoader::load_from_str(&text)
            .map_err(|source| Error::Yaml { path: path.to_owned(), source })?;
        let Some(section) = documents.first().map(|document| &document["sessions"]) else {
            return Ok(Self::default());
        };
        let refused = |key, wanted| move || Error::Value { path: path.to_owned(), key, wanted };
        let truth = |key, default| match &section[key] {
            Yaml::BadValue | Yaml::Null => Ok(default),
            value => truth(value).ok_or_else(refused(key, "true or false")),
        };
        let amount = |key, default| match &section[key] {
            Yaml::BadValue | Yaml::Null => Ok(default),
            value => amount(value).ok_or_else(refused(key, "number of at least 0")),
        };
        let default = Self::default();
        Ok(Self {
            auto_prune: truth("auto_prune", default.auto_prune)?,
            days: amount("retention_days", default.days)?,
            vacuum: truth("vacuum_after_prune", default.vacuum)?,
            interval_hours: amount("min_interval_hours", default.interval_hours)?,
        })
    }

    /// The mark, if it lies in the future: whoever follows it waits for that time to come.
    pub fn ahead(mark: Option<&str>, now: f64) -> Option<f64> {
        mark.and_then(|mark| mark.trim().parse::<f64>().ok()).filter(|last| *last > now)
    }

    /// Whether it is time, given the mark in the store. A mark that is no time counts as none.
    pub fn is_due(&self, mark: Option<&str>, now: f64) -> bool {
        let last = mark.and_then(|mark| mark.trim().parse::<f64>().ok());
        !last.is_some_and(|last| now - last < self.interval_hours * HOUR)
    }
}

/// Hermes reads YAML 1.1, where `yes` and `on` are true.
fn truth(value: &Yaml) -> Option<bool> {
    match value {
        Yaml::Boolean(value) => Some(*value),
        Yaml::Integer(0) => Some(false),
        Yaml::Integer(1) => Some(true),
        Yaml::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn amount(value: &Yaml) -> Option<f64> {
    let number: f64 = match value {
        Yaml::Integer(n) => n.to_string().parse().ok()?,
        Yaml::Real(text) | Yaml::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (number.is_finite() && number >= 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Retention;

    fn read(text: &str) -> Result<Retention, String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("config.yaml");
        fs::write(&path, text).expect("a file");
        Retention::read(&path)
            .map_err(|error| error.to_string().replace(&path.display().to_string(), "config.yaml"))
    }

    #[test]
    fn what_is_not_said_is_as_hermes_has_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let none = Retention::read(&folder.path().join("config.yaml")).expect("no file is fine");
        assert_eq!(none, Retention::default());
        for text in ["", "model: x\n", "sessions:\n", "sessions:\n  write_json_snapshots: true\n"] {
            assert_eq!(read(text), Ok(Retention::default()), "{text}");
        }
    }

    #[test]
    fn yaml_of_both_versions_is_understood() {
        let text = "sessions: {auto_prune: on, retention_days: 30, vacuum_after_prune: no, \
                    min_interval_hours: 1.5}";
        let wanted = Retention { auto_prune: true, days: 30.0, vacuum: false, interval_hours: 1.5 };
        assert_eq!(read(text), Ok(wanted));
    }

    #[test]
    fn a_value_that_is_none_stops_the_pruning() {
        for (text, said) in [
            ("retention_days: soon", "sessions.retention_days is no number of at least 0"),
            ("retention_days: -1", "sessions.retention_days is no number of at least 0"),
            ("auto_prune: perhaps", "sessions.auto_prune is no true or false"),
        ] {
            let error = read(&format!("sessions:\n  {text}\n")).expect_err(text);
            assert_eq!(error, format!("config.yaml: {said}; nothing was pruned"));
        }
        assert_eq!(
            read("sessions: [").expect_err("no YAML"),
            "config.yaml cannot be read as YAML; nothing was pruned"
        );
    }

    #[test]
    fn it_is_time_when_the_interval_is_over_or_the_mark_is_none() {
        let daily = Retention::default();
        let now = 1_000_000.0;
        assert!(daily.is_due(None, now));
        assert!(daily.is_due(Some("yesterday"), now));
        assert!(daily.is_due(Some("913600.0"), now));
        assert!(!daily.is_due(Some("913601"), now));
    }
}
