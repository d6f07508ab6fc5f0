//! The flags that choose among the ways to write a format. The table makes them: a row that is a
//! variant of another brings its flag and value along.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use formats::{FORMATS, Format, Variant};

use super::super::exit::UsageError;

/// Flags and values, as they were given.
#[derive(Debug, Default)]
pub(super) struct VariantArgs(Vec<(&'static str, String)>);

impl VariantArgs {
    /// The row that these flags make of a format.
    pub(super) fn chosen(&self, format: &'static Format) -> Result<&'static Format, UsageError> {
        let mut chosen = format;
        for (flag, value) in &self.0 {
            let is_it = |variant: &Variant| {
                Some(variant.of) == chosen.variant.map(|variant| variant.of)
                    && variant.flag == *flag
                    && variant.value == value
            };
            let row = FORMATS.iter().find(|row| row.variant.as_ref().is_some_and(is_it));
            chosen = row.ok_or_else(|| {
                let name = chosen.variant.map_or(chosen.name, |variant| variant.of);
                UsageError::new(format!("--{flag} {value} does not apply to {name}"))
            })?;
        }
        Ok(chosen)
    }
}

fn variants() -> impl Iterator<Item = &'static Variant> {
    FORMATS.iter().filter_map(|format| format.variant.as_ref())
}

fn flags() -> Vec<&'static str> {
    let mut flags: Vec<_> = variants().map(|variant| variant.flag).collect();
    flags.dedup();
    flags
}

/// A flag with all its values. The usual one, which the format is named for, comes first.
fn arg(flag: &'static str) -> Arg {
    let rows = || variants().filter(|variant| variant.flag == flag);
    let mut formats: Vec<_> = rows().map(|variant| variant.of).collect();
    formats.dedup();
    let mut values: Vec<&Variant> = Vec::new();
    for row in rows() {
        if values.iter().all(|known| known.value != row.value) {
            values.push(row);
        }
    }
    let usual = values.first().map_or("", |variant| variant.value);
    let value = |variant: &Variant| PossibleValue::new(variant.value).help(variant.about);
    Arg::new(flag)
        .long(flag)
        .value_name("HOW")
        .value_parser(PossibleValuesParser::new(values.into_iter().map(value)))
        .help(format!("How to write {} [default: {usual}]", formats.join(" and ")))
}

impl FromArgMatches for VariantArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |flag| Some((flag, matches.get_one::<String>(flag)?.clone()));
        Ok(Self(flags().into_iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for VariantArgs {
    fn augment_args(command: Command) -> Command {
        command.args(flags().into_iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
