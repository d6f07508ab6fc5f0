//! `completions SHELL`: what a shell needs to complete the command line.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, ExitStatus, terminal};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  hermes-sessions completions bash > ~/.local/share/bash-completion/completions/hermes-sessions"
)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hermes-sessions", &mut script);
    terminal::print(&String::from_utf8(script)?)?;
    Ok(ExitStatus::Done)
}
