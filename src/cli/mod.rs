//! The command line: one file a command, each a struct of arguments and a thin `run`.
//!
//! Only `terminal` prints, only `exit` turns an error into text and a status, only
//! `environment` reads the environment and the clock.

mod archive;
mod auto_prune;
mod backup;
mod cold;
mod completions;
mod consent;
mod delete;
mod deletion;
mod doctor;
mod environment;
mod exit;
mod export;
mod formats;
mod from;
mod import;
mod keys;
mod list;
mod losses;
mod man;
mod missed;
mod optimize;
mod place;
mod program;
mod prune;
mod redaction;
mod rename;
mod repair;
mod resolve;
mod restore;
mod rules;
mod scan;
mod search;
mod select;
mod show;
mod stats;
mod table;
mod terminal;
mod verify;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use environment::Environment;
pub use exit::ExitStatus;
use terminal::{Color, Terminal};

/// Exports, archives and verifies the conversations that Hermes Agent keeps in state.db.
///
/// Reading never changes the store, and works beside a running Hermes. Data goes to standard
/// output; progress, notes, warnings and errors go to standard error.
#[derive(Debug, Parser)]
#[command(name = "hermes-sessions", version, max_term_width = 100, after_help = EXIT_STATUS)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str = "\
Exit status:
  0    done; also when nothing matched
  1    failed, or something was skipped or damaged, or a verification found a difference
  2    wrong usage
  3    the store is in use by another process
  130  interrupted";

const DB: &str = "The store [default: $HERMES_HOME/state.db; HERMES_HOME defaults to ~/.hermes]";
const PROFILE: &str = "The store of a profile: $HERMES_HOME/profiles/NAME/state.db";

/// What every command takes.
#[derive(Debug, Args)]
struct Global {
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "profile", help = DB)]
    db: Option<PathBuf>,
    #[arg(long, global = true, value_name = "NAME", help = PROFILE)]
    profile: Option<String>,
    /// Say nothing but errors and warnings
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more: every warning, every file
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Print one JSON object when the command is done
    #[arg(long, global = true)]
    json: bool,
    /// When to colour messages
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
}

#[derive(Debug, Subcommand)]
enum Command {
    Export(export::ExportArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Import(import::ImportArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Search(search::SearchArgs),
    Resolve(resolve::ResolveArgs),
    Stats(stats::StatsArgs),
    Verify(verify::VerifyArgs),
    Scan(scan::ScanArgs),
    Rules(rules::RulesArgs),
    Formats(formats::FormatsArgs),
    Delete(delete::DeleteArgs),
    Prune(prune::PruneArgs),
    AutoPrune(auto_prune::AutoPruneArgs),
    Archive(archive::ArchiveArgs),
    Unarchive(archive::UnarchiveArgs),
    Rename(rename::RenameArgs),
    Optimize(optimize::OptimizeArgs),
    Repair(repair::RepairArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    /// Under `--json` a failure is one object, too, on the stream that would have had the report.
    fn report_failure(&self, mut object: serde_json::Value, terminal: &Terminal) {
        // Nobody is left to be told that the output is closed.
        let _ = match self {
            Command::Export(args) => args.report_failure(&mut object, terminal),
            Command::Backup(_) => print_failure(object, "backup"),
            Command::Restore(_) => print_failure(object, "restore"),
            Command::Import(_) => print_failure(object, "import"),
            Command::List(_) => print_failure(object, "list"),
            Command::Show(_) => print_failure(object, "show"),
            Command::Search(_) => print_failure(object, "search"),
            Command::Resolve(_) => print_failure(object, "resolve"),
            Command::Stats(_) => print_failure(object, "stats"),
            Command::Verify(_) => print_failure(object, "verify"),
            Command::Scan(_) => print_failure(object, "scan"),
            Command::Rules(_) => print_failure(object, "rules"),
            Command::Delete(_) => print_failure(object, "delete"),
            Command::Prune(_) => print_failure(object, "prune"),
            Command::AutoPrune(_) => print_failure(object, "auto-prune"),
            Command::Archive(_) => print_failure(object, "archive"),
            Command::Unarchive(_) => print_failure(object, "unarchive"),
            Command::Rename(_) => print_failure(object, "rename"),
            Command::Optimize(_) => print_failure(object, "optimize"),
            Command::Repair(_) => print_failure(object, "repair"),
            Command::Doctor(_) => print_failure(object, "doctor"),
            Command::Formats(_) => print_failure(object, "formats"),
            Command::Completions(_) => print_failure(object, "completions"),
            Command::Man(_) => print_failure(object, "man"),
        };
    }
}

fn print_failure(mut object: serde_json::Value, command: &str) -> std::io::Result<()> {
    object["command"] = command.into();
    terminal::print(&format!("{object}\n"))
}

/// Adds the keys of one object to another.
fn extend(object: &mut serde_json::Value, other: serde_json::Value) {
    if let (Some(object), serde_json::Value::Object(other)) = (object.as_object_mut(), other) {
        object.extend(other);
    }
}

/// Runs the program with these arguments, the first being its own name.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let arguments = without_sessions(arguments.into_iter().collect());
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return misused(&error, &arguments),
    };
    let terminal = Terminal::new(&cli.global);
    match run(&cli, &terminal) {
        Ok(status) => status,
        Err(error) => {
            let status = exit::report(&error, &terminal);
            if cli.global.json && status != ExitStatus::Done {
                cli.command.report_failure(exit::as_json(&error, status, &terminal), &terminal);
            }
            status
        }
    }
}

/// Tells what is wrong with the arguments; scripts that asked for JSON get that, too.
fn misused(error: &clap::Error, arguments: &[OsString]) -> ExitStatus {
    let status = exit::from_clap(error);
    let words: Vec<&str> = arguments
        .iter()
        .skip(1)
        .map_while(|word| if word == "--" { None } else { Some(word.to_str().unwrap_or_default()) })
        .collect();
    if status == ExitStatus::Usage && words.contains(&"--json") {
        let root = <Cli as clap::CommandFactory>::command();
        let command = words.iter().find(|word| root.find_subcommand(word).is_some());
        let mut object = exit::clap_as_json(error);
        object["command"] = command.copied().into();
        let line = format!("{object}\n");
        // Standard output is for sessions where the output is `-`. Nobody is left to be told that
        // it is closed.
        let is_data = command == Some(&"export") && words.contains(&"-");
        let _ = if is_data { terminal::print_aside(&line) } else { terminal::print(&line) };
    }
    status
}

fn run(cli: &Cli, terminal: &Terminal) -> anyhow::Result<ExitStatus> {
    let environment = Environment::read()?;
    match &cli.command {
        Command::Export(args) => export::run(args, &cli.global, &environment, terminal),
        Command::Backup(args) => backup::run(args, &cli.global, &environment, terminal),
        Command::Restore(args) => restore::run(args, &cli.global, &environment, terminal),
        Command::Import(args) => import::run(args, &cli.global, &environment, terminal),
        Command::List(args) => list::run(args, &cli.global, &environment, terminal),
        Command::Show(args) => show::run(args, &cli.global, &environment, terminal),
        Command::Search(args) => search::run(args, &cli.global, &environment, terminal),
        Command::Resolve(args) => resolve::run(args, &cli.global, &environment, terminal),
        Command::Stats(args) => stats::run(args, &cli.global, &environment, terminal),
        Command::Verify(args) => verify::run(args, &cli.global, &environment, terminal),
        Command::Scan(args) => scan::run(args, &cli.global, &environment, terminal),
        Command::Rules(args) => rules::run(args, &cli.global, &environment, terminal),
        Command::Formats(args) => formats::run(args, &cli.global, &environment),
        Command::Delete(args) => delete::run(args, &cli.global, &environment, terminal),
        Command::Prune(args) => prune::run(args, &cli.global, &environment, terminal),
        Command::AutoPrune(args) => auto_prune::run(args, &cli.global, &environment, terminal),
        Command::Archive(args) => archive::run(args, &cli.global, &environment, terminal),
        Command::Unarchive(args) => archive::run_back(args, &cli.global, &environment, terminal),
        Command::Rename(args) => rename::run(args, &cli.global, &environment, terminal),
        Command::Optimize(args) => optimize::run(args, &cli.global, &environment, terminal),
        Command::Repair(args) => repair::run(args, &cli.global, &environment, terminal),
        Command::Doctor(args) => doctor::run(args, &cli.global, &environment, terminal),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}

/// Drops a leading word `sessions`, so that a link named `hermes` serves `hermes sessions export …`.
fn without_sessions(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(argument) = arguments.get(at).and_then(|a| a.to_str()) {
        match argument {
            "--db" | "--profile" | "--color" => at += 2,
            flag if flag.starts_with('-') => at += 1,
            "sessions" => {
                arguments.remove(at);
                break;
            }
            _ => break,
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{Cli, without_sessions};

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_leading_word_sessions_is_ignored() {
        let dropped = |line: &str| {
            let words = line.split(' ').map(Into::into).collect();
            without_sessions(words).join(" ".as_ref()).into_string().unwrap()
        };
        assert_eq!(dropped("hermes sessions export x"), "hermes export x");
        assert_eq!(dropped("hermes --db sessions sessions export"), "hermes --db sessions export");
        assert_eq!(dropped("hermes export sessions"), "hermes export sessions");
    }
}
