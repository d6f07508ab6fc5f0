//! `man`: the manual page.

use clap::{Args, CommandFactory as _};

use super::{Cli, ExitStatus, terminal};

/// Print the manual page, in roff
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hermes-sessions man | man -l -")]
pub(super) struct ManArgs {}

pub(super) fn run(_: &ManArgs) -> anyhow::Result<ExitStatus> {
    let mut root = Cli::command();
    root.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(root.clone()).render(&mut page)?;
    for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
    }
    terminal::print(&String::from_utf8(page)?)?;
    Ok(ExitStatus::Done)
}
