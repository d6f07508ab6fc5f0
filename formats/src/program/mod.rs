//! Formats that somebody else's program writes: `--format NAME` is `hermes-export-NAME` on the path.
//!
//! `describe` prints what the program writes, as a JSON object; `write` gets one file's sessions as JSON
//! Lines on its standard input and has the file as its standard output (see `events`). Both are in
//! `program.schema.json`. A program that fails is its own failure, told with its name and status, and its
//! file is none.

mod events;
mod find;
mod process;

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use serde::Deserialize;

use crate::{Feature, FileHead, Format, FormatWriter, Layout, Start};
use events::Writing;
pub use find::{find, list};
use process::Process;

/// The version of the protocol that we speak.
const PROTOCOL: u32 = 1;
/// A description is an object of a few lines.
const MAX_DESCRIPTION: u64 = 1 << 16; // bytes
const MAX_ABOUT: usize = 200; // characters

/// A program that is a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// What `--format` calls it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// How a program is run.
#[derive(Debug, Clone)]
pub struct Conditions {
    /// How long it may neither take what it is given nor end.
    pub patience: Duration,
    /// A folder for what is not whole yet, in files without names.
    pub scratch: PathBuf,
}

/// What went wrong with a program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be started.
    #[error("{} cannot be started", path.display())]
    Start {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is on the path, and nobody may run it.
    #[error("{} is not executable", .0.display())]
    NotExecutable(PathBuf),
    /// It failed.
    #[error("hermes-export-{name} failed ({status})")]
    Failed {
        /// The program's name as a format.
        name: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// It did nothing for too long, and was ended.
    #[error("hermes-export-{name} did nothing for {} seconds and was ended", patience.as_secs_f64())]
    Hung {
        /// The program's name as a format.
        name: String,
        /// For how long.
        patience: Duration,
    },
    /// It ended well without having read all it was given.
    #[error("hermes-export-{name} stopped reading before the end, although it ended well")]
    Unread {
        /// The program's name as a format.
        name: String,
    },
    /// It ended well and wrote nothing.
    #[error("hermes-export-{name} wrote nothing, although it ended well")]
    Silent {
        /// The program's name as a format.
        name: String,
    },
    /// It does not say what it is.
    #[error("hermes-export-{name} describe: {what}")]
    Description {
        /// The program's name as a format.
        name: String,
        /// What is wrong with it.
        what: String,
    },
}

impl ProgramError {
    /// The program's part in an error of a writer.
    pub fn within(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

/// What a program says of itself.
#[derive(Debug, Deserialize)]
struct Description {
    protocol: Vec<u32>,
    extension: String,
    layout: WrittenLayout,
    #[serde(default)]
    messages: Messages,
    #[serde(default)]
    joins_lineage: bool,
    about: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenLayout {
    OneFile,
    FilePerSession,
}

/// Which messages it gets where `--messages` does not say.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Messages {
    #[default]
    Active,
    Compacted,
    All,
}

impl Program {
    /// Asks the program what it is, and makes a row of the table of it. Such a row lives as long as this
    /// process, like those that are built in.
    pub fn format(self, conditions: Conditions) -> Result<&'static Format, ProgramError> {
        let description = self.describe(&conditions)?;
        description.check().map_err(|what| self.says(what))?;
        let format = Format {
            name: self.name.clone().leak(),
            only: None,
            variant: None,
            about: one_line(&description.about).leak(),
            layout: match description.layout {
                WrittenLayout::OneFile => Layout::OneFile,
                WrittenLayout::FilePerSession => Layout::FilePerSession,
            },
            features: description.features().leak(),
            extension: description.extension.leak(),
            start: lasting(move |out, head| {
                let writing = Writing::start(&self, &conditions, out, head);
                Ok(Box::new(writing.map_err(io::Error::other)?))
            }),
            folder: None,
        };
        Ok(Box::leak(Box::new(format)))
    }

    fn describe(&self, conditions: &Conditions) -> Result<Description, ProgramError> {
        let mut output = self.scratch(conditions)?;
        Process::start(self, "describe", &output, conditions)?.end()?;
        let mut text = String::new();
        let read =
            output.rewind().and_then(|()| output.take(MAX_DESCRIPTION).read_to_string(&mut text));
        read.map_err(|error| self.says(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| self.says(error.to_string()))
    }

    /// A file without a name for what the program prints.
    fn scratch(&self, conditions: &Conditions) -> Result<File, ProgramError> {
        tempfile::tempfile_in(&conditions.scratch)
            .map_err(|source| ProgramError::Start { path: self.path.clone(), source })
    }

    fn says(&self, what: String) -> ProgramError {
        ProgramError::Description { name: self.name.clone(), what }
    }
}

impl Description {
    fn check(&self) -> Result<(), String> {
        let Self { protocol, extension, .. } = self;
        if !protocol.contains(&PROTOCOL) {
            return Err(format!("it speaks protocol {protocol:?}, and we speak {PROTOCOL}"));
        }
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let fits = (1..=16).contains(&extension.len())
            && extension.starts_with(is_letter)
            && extension.ends_with(is_letter)
            && extension.chars().all(|c| is_letter(c) || c == '.');
        if fits {
            return Ok(());
        }
        Err(format!("{extension:?} is no extension: letters a to z, digits, dots within"))
    }

    fn features(&self) -> Vec<Feature> {
        let joins = self.joins_lineage.then_some(Feature::JoinsLineage);
        let shows = match self.messages {
            Messages::Active => None,
            Messages::Compacted => Some(Feature::ShowsCompacted),
            Messages::All => Some(Feature::ShowsAll),
        };
        [Some(Feature::IsProgram), joins, shows].into_iter().flatten().collect()
    }
}

fn lasting(
    start: impl for<'w> Fn(
        &'w mut (dyn Write + Send),
        &FileHead,
    ) -> io::Result<Box<dyn FormatWriter + 'w>>
    + Send
    + Sync
    + 'static,
) -> Start {
    Box::leak(Box::new(start))
}

fn one_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(shown).take(MAX_ABOUT).collect()
}

#[cfg(test)]
mod tests;
