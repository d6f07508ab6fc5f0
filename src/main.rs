//! The program: parse, run, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    hermes_sessions::cli::main(std::env::args_os()).into()
}
