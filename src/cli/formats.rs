//! `formats`: the table of formats, and the programs that are formats.

use clap::Args;
use formats::program::{Program, ProgramError};
use formats::{FORMATS, Feature, Format, Layout};
use serde_json::json;

use super::environment::Environment;
use super::{ExitStatus, Global, program, terminal};

/// List the formats that export can write
///
/// Those that are built in, and those that programs on the path write: `hermes-export-NAME` is the format
/// NAME. Each program is asked what it is.
#[derive(Debug, Args)]
pub(super) struct FormatsArgs {}

pub(super) fn run(
    _: &FormatsArgs,
    global: &Global,
    environment: &Environment,
) -> anyhow::Result<ExitStatus> {
    let programs = program::formats(environment);
    if global.json {
        terminal::print(&as_json(&programs))?;
    } else {
        terminal::list(&as_table(&programs))?;
    }
    Ok(ExitStatus::Done)
}

type Programs = [(Program, Result<&'static Format, ProgramError>)];

fn as_table(programs: &Programs) -> String {
    let row = |format: &Format| {
        let layout = layout(format.layout);
        let suffix = format!(".{}", format.extension);
        let mark = if format.can(Feature::RedactsByDefault) { "; redacted by default" } else { "" };
        format!("{:<16}{suffix:<18}{layout:<18}{}{mark}\n", format.name, format.about)
    };
    let program = |(program, format): &(Program, Result<&'static Format, _>)| match format {
        Ok(format) => row(format),
        Err(error) => format!("{:<16}{:<18}{:<18}{error}\n", program.name, "-", "-"),
    };
    let head = format!("{:<16}{:<18}{:<18}{}\n", "NAME", "SUFFIX", "LAYOUT", "WHAT IT HOLDS");
    let built_in = FORMATS.iter().map(row);
    head + &built_in.chain(programs.iter().map(program)).collect::<String>()
}

fn as_json(programs: &Programs) -> String {
    let row = |format: &Format| {
        json!({
            "name": format.name,
            "only": format.only,
            "extension": format.extension,
            "layout": layout(format.layout),
            "joins_lineage": format.can(Feature::JoinsLineage),
            "keeps_deleted": format.can(Feature::KeepsDeleted),
            "named_by_id": format.can(Feature::NamedById),
            "defaults_to_latest": format.can(Feature::DefaultsToLatest),
            "redacts_by_default": format.can(Feature::RedactsByDefault),
            "about": format.about,
        })
    };
    let program = |(program, format): &(Program, Result<&'static Format, ProgramError>)| {
        let mut object = match format {
            Ok(format) => row(format),
            Err(error) => json!({ "name": program.name, "error": error.to_string() }),
        };
        object["program"] = program.path.to_string_lossy().into();
        object
    };
    let formats: Vec<_> = FORMATS.iter().map(row).collect();
    let programs: Vec<_> = programs.iter().map(program).collect();
    format!("{}\n", json!({ "formats": formats, "programs": programs }))
}

fn layout(layout: Layout) -> &'static str {
    match layout {
        Layout::OneFile => "one file",
        Layout::FilePerSession => "file per session",
        Layout::Folder => "folder",
    }
}
