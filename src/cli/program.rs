//! Formats that programs on the path write.

use std::time::Duration;

use formats::Format;
use formats::program::{self, Conditions, Program, ProgramError};

use super::environment::Environment;
use crate::export::spool_folder;

/// How long a program may do nothing where nobody says.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// The format that a program on the path writes; `None` where there is no such program.
pub(super) fn format(
    name: &str,
    patience: Duration,
    environment: &Environment,
) -> Result<Option<&'static Format>, ProgramError> {
    let program = program::find(name, &environment.path)?;
    program.map(|program| program.format(conditions(patience))).transpose()
}

/// Every program on the path, with the format it writes.
pub(super) fn formats(
    environment: &Environment,
) -> Vec<(Program, Result<&'static Format, ProgramError>)> {
    let asked = |program: Program| (program.clone(), program.format(conditions(PATIENCE)));
    program::list(&environment.path).into_iter().map(asked).collect()
}

fn conditions(patience: Duration) -> Conditions {
    Conditions { patience, scratch: spool_folder() }
}
