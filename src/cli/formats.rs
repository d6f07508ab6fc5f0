//! `formats`: the table of formats.

use clap::Args;
use formats::{FORMATS, Feature, Layout};
use serde_json::json;

use super::{ExitStatus, Global, terminal};

/// List the formats that export can write
#[derive(Debug, Args)]
pub(super) struct FormatsArgs {}

pub(super) fn run(_: &FormatsArgs, global: &Global) -> anyhow::Result<ExitStatus> {
    terminal::print(&if global.json { as_json() } else { as_table() })?;
    Ok(ExitStatus::Done)
}

fn as_table() -> String {
    let row = |format: &formats::Format| {
        let layout = layout(format.layout);
        let suffix = format!(".{}", format.extension);
        let mark = if format.can(Feature::RedactsByDefault) { "; redacted by default" } else { "" };
        format!("{:<14}{suffix:<16}{layout:<18}{}{mark}\n", format.name, format.about)
    };
    let head = format!("{:<14}{:<16}{:<18}{}\n", "NAME", "SUFFIX", "LAYOUT", "WHAT IT HOLDS");
    head + &FORMATS.iter().map(row).collect::<String>()
}

fn as_json() -> String {
    let row = |format: &formats::Format| {
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
    format!("{}\n", json!({ "formats": FORMATS.iter().map(row).collect::<Vec<_>>() }))
}

fn layout(layout: Layout) -> &'static str {
    match layout {
        Layout::OneFile => "one file",
        Layout::FilePerSession => "file per session",
    }
}
