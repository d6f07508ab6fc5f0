//! A home of its own for every test, and the program run in it.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::store::{Session, Store};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_hermes-sessions");

/// `HOME`, `HERMES_HOME`, a folder for temporary files and one to work in.
pub(crate) struct Env {
    root: TempDir,
}

impl Env {
    /// Without a store.
    pub(crate) fn empty() -> Self {
        let env = Self { root: tempfile::tempdir().unwrap() };
        for folder in [env.hermes(""), env.work(""), env.temporary()] {
            fs::create_dir_all(folder).unwrap();
        }
        env
    }

    /// With a store that holds these sessions, and that nobody has open.
    pub(crate) fn with(sessions: impl IntoIterator<Item = Session>) -> Self {
        let env = Self::empty();
        Store::create(&env.db(), &[crate::store::SCHEMA]).add_all(sessions);
        env
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().to_owned()
    }

    pub(crate) fn hermes(&self, path: &str) -> PathBuf {
        self.root.path().join("home/.hermes").join(path)
    }

    /// A path in the folder that the program runs in.
    pub(crate) fn work(&self, path: &str) -> PathBuf {
        self.root.path().join("work").join(path)
    }

    fn temporary(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.hermes("state.db")
    }

    /// The store, opened as Hermes opens it.
    pub(crate) fn store(&self) -> Store {
        Store::open(&self.db())
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.work(path)).unwrap()
    }

    pub(crate) fn jsonl(&self, path: &str) -> Vec<Json> {
        parsed_lines(&self.text(path))
    }

    /// Puts the environment of the tests, and nothing else, around a program.
    pub(crate) fn around(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path().join("home"))
            .env("HERMES_HOME", self.hermes(""))
            .env("HERMES_SESSIONS_NOW", "2026-07-31T12:00:00Z")
            .env("TMPDIR", self.temporary())
            .env("TZ", "UTC")
            .current_dir(self.work(""))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.around(PROGRAM);
        command.args(arguments);
        command
    }

    /// Runs a command line; single quotes hold a word together.
    pub(crate) fn run(&self, line: &str) -> Ran {
        let words = words(line);
        self.run_words(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub(crate) fn run_words(&self, words: &[&str]) -> Ran {
        Ran::new(format!("{words:?}"), self.command(words).output().unwrap())
    }

    /// Runs a command line with the clock of this zone.
    pub(crate) fn run_in(&self, zone: &str, line: &str) -> Ran {
        let mut command = self.around(PROGRAM);
        command.args(words(line)).env("TZ", zone);
        Ran::new(format!("TZ={zone} {line}"), command.output().unwrap())
    }

    /// Runs a shell script, where `"$0"` is the program.
    pub(crate) fn shell(&self, script: &str) -> Ran {
        let mut command = self.around("sh");
        command.args(["-c", script, PROGRAM]);
        Ran::new(script.to_owned(), command.output().unwrap())
    }
}

fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

pub(crate) fn parsed_lines(text: &str) -> Vec<Json> {
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is cut off: {text:?}");
    let parsed = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(parsed).collect()
}

/// What a run left behind.
pub(crate) struct Ran {
    line: String,
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn new(line: String, output: Output) -> Self {
        Self {
            line,
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts the exit status.
    #[track_caller]
    pub(crate) fn ends(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self}");
        self
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.ends(0)
    }

    /// Asserts that standard error has a text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} is not said\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn does_not_say(self, text: &str) -> Self {
        assert!(!self.stderr.contains(text), "{text:?} is said\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn silent(self) -> Self {
        assert_eq!((self.stdout.as_str(), self.stderr.as_str()), ("", ""), "{self}");
        self
    }

    /// Asserts that the run failed as a script expects it: no data, and one line that says why.
    #[track_caller]
    pub(crate) fn fails(self, status: i32) -> Self {
        let errors = self.stderr.lines().filter(|line| line.starts_with("error: ")).count();
        assert!(self.stdout.is_empty() && errors == 1, "{self}");
        self.ends(status)
    }

    /// Standard output as JSON lines.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Json> {
        parsed_lines(&self.stdout)
    }

    /// Standard output as the one object that `--json` prints.
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "{self}");
        lines.remove(0)
    }

    /// The ids of the sessions on standard output.
    #[track_caller]
    pub(crate) fn ids(&self) -> Vec<String> {
        self.lines().iter().map(|line| text(&line["id"])).collect()
    }

    /// Everything that a person sees, without the names of temporary folders.
    pub(crate) fn seen(&self, env: &Env) -> String {
        let root = env.root().display().to_string();
        self.to_string().replace(&root, "[ROOT]").replace(PROGRAM, "hermes-sessions")
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, status, stdout, stderr } = self;
        let status = status.map_or("killed".to_owned(), |status| status.to_string());
        write!(f, "$ {line}\nstatus: {status}\n--- stdout ---\n{stdout}--- stderr ---\n{stderr}")
    }
}

pub(crate) fn text(json: &Json) -> String {
    json.as_str().unwrap_or_else(|| panic!("{json} is no text")).to_owned()
}
