//! The only place that prints or draws.

use std::cell::{Cell, OnceCell};
use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Global;
use crate::progress::Progress;
use crate::redact::{Redactor, Scope};

/// When to colour messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How much to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Volume {
    Quiet,
    Normal,
    Verbose,
}

/// Standard output and standard error, as the user wants them.
pub(super) struct Terminal {
    volume: Volume,
    colored: bool,
    /// The same for what goes to standard output.
    styled: bool,
    /// What messages go through once a command redacts.
    redactor: OnceCell<Arc<Redactor>>,
    /// Whether standard output is for sessions.
    has_data: Cell<bool>,
}

impl Terminal {
    pub(super) fn new(global: &Global) -> Self {
        let volume = match (global.quiet, global.verbose) {
            (true, _) => Volume::Quiet,
            (false, false) => Volume::Normal,
            (false, true) => Volume::Verbose,
        };
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colors = |on_terminal: bool| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => on_terminal && !no_color,
        };
        Self {
            volume,
            colored: colors(io::stderr().is_terminal()),
            styled: colors(io::stdout().is_terminal()),
            redactor: OnceCell::new(),
            has_data: Cell::new(false),
        }
    }

    /// A text for standard output, bold where there are styles. It must be printable already.
    pub(super) fn bold(&self, text: &str) -> String {
        self.styled_as("1", text)
    }

    /// The same, faint.
    pub(super) fn dim(&self, text: &str) -> String {
        self.styled_as("2", text)
    }

    /// The same, as a find.
    pub(super) fn mark(&self, text: &str) -> String {
        if self.styled { self.styled_as("1;33", text) } else { format!(">>>{text}<<<") }
    }

    fn styled_as(&self, style: &str, text: &str) -> String {
        if self.styled { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// From now on nothing is said that this redactor would take out.
    pub(super) fn guard(&self, redactor: &Arc<Redactor>) {
        // One command makes one redactor.
        let _ = self.redactor.set(redactor.clone());
    }

    /// From now on standard output is for sessions, and reports go elsewhere.
    pub(super) fn expect_data(&self) {
        self.has_data.set(true);
    }

    /// Whether standard output is for sessions.
    pub(super) fn has_data(&self) -> bool {
        self.has_data.get()
    }

    /// A message, redacted.
    pub(super) fn redacted(&self, text: &str) -> String {
        match self.redactor.get() {
            Some(redactor) => redactor.redact_text(text, &mut Scope::new()).into_owned(),
            None => text.to_owned(),
        }
    }

    /// Something worth knowing; left out with `-q`.
    pub(super) fn note(&self, text: &str) {
        if self.volume > Volume::Quiet {
            self.line("note: ", "36", text);
        }
    }

    /// What was done; left out with `-q`.
    pub(super) fn done(&self, text: &str) {
        if self.volume > Volume::Quiet {
            self.line("", "0", text);
        }
    }

    /// Details for `-v`.
    pub(super) fn detail(&self, text: &str) {
        if self.volume >= Volume::Verbose {
            self.line("", "0", text);
        }
    }

    /// Something that was lost on the way.
    pub(super) fn warning(&self, text: &str) {
        self.line("warning: ", "33", text);
    }

    /// How many warnings of a kind are printed one by one.
    pub(super) fn patience(&self) -> usize {
        if self.volume >= Volume::Verbose { usize::MAX } else { 20 }
    }

    /// What went wrong, why, and what can be done.
    pub(super) fn error(&self, message: &str, causes: &[String], hint: Option<&str>) {
        self.line("error: ", "31", message);
        for cause in causes {
            self.line("caused by: ", "31", cause);
        }
        if let Some(hint) = hint {
            self.line("hint: ", "36", hint);
        }
    }

    fn line(&self, label: &str, color: &str, text: &str) {
        let text = one_line(&self.redacted(text));
        let line = if self.colored && !label.is_empty() {
            format!("\x1b[1;{color}m{label}\x1b[0m{text}\n")
        } else {
            format!("{label}{text}\n")
        };
        // Nobody is left to be told that standard error is closed.
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }

    /// Whether somebody is there to answer.
    #[expect(clippy::unused_self, reason = "one of the things that a terminal can do")]
    pub(super) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks, and takes nothing but `y` and `yes` for a yes.
    pub(super) fn agrees(&self, question: &str) -> io::Result<bool> {
        let answer = self.ask(&format!("{question} [y/N] "))?.unwrap_or_default();
        Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks, and waits for a line; `None` where the input ends.
    pub(super) fn ask(&self, question: &str) -> io::Result<Option<String>> {
        print_aside(&printable(&self.redacted(question)))?;
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer)?;
        Ok((read > 0).then(|| answer.trim().to_owned()))
    }

    /// A bar on a terminal, and an ear for Ctrl-C.
    pub(super) fn progress(&self) -> Bar {
        self.bar("{bar:30} {pos}/{len} sessions, {elapsed}")
    }

    /// The same for work whose steps are bytes.
    #[cfg(feature = "hub")]
    pub(super) fn bytes(&self) -> Bar {
        self.bar("{bar:30} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left")
    }

    fn bar(&self, template: &str) -> Bar {
        let hidden = self.volume == Volume::Quiet || !io::stderr().is_terminal();
        let target =
            if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Bar(bar)
    }
}

/// Whether standard output is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// The columns of the terminal that standard output is.
pub(super) fn width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Whether somebody is there to answer.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Data, to standard output.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The one object that `--json` prints.
pub(super) fn print_report(global: &Global, report: &serde_json::Value) -> io::Result<()> {
    if global.json { print(&format!("{report}\n")) } else { Ok(()) }
}

/// Lines for people, to standard output.
pub(super) fn list(text: &str) -> io::Result<()> {
    print(&printable(text))
}

/// A report, to standard error, because standard output has the data.
pub(super) fn print_aside(text: &str) -> io::Result<()> {
    io::stderr().lock().write_all(text.as_bytes())
}

/// Standard output as a stream of bytes.
pub(super) fn stdout() -> impl Write + use<> {
    io::stdout().lock()
}

/// Text to standard output, on a terminal through a pager. An empty name means none.
pub(super) fn paged(
    pager: Option<&str>,
    mut write: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let pager = pager.unwrap_or(if cfg!(windows) { "more" } else { "less" }).trim();
    if !is_terminal() || pager.is_empty() || pager == "cat" {
        return write(&mut stdout());
    }
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = std::process::Command::new(shell);
    command.args([flag, pager]).stdin(std::process::Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return write(&mut stdout()) };
    let written = child.stdin.take().map_or(Ok(()), |mut input| write(&mut input));
    let ended = child.wait();
    match written {
        // Whoever pages has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.and(ended.map(|_| ())),
    }
}

/// Control characters of titles and paths must not move the cursor or rename the window.
fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c.to_string(),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => c.escape_unicode().to_string(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// The same for an id or a path, which must not begin a line of its own either.
pub(super) fn one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n")
}

/// Prints help or an error of the command line.
pub(super) fn print_clap(error: &clap::Error) {
    // Nobody is left to be told that the output is closed.
    let _ = error.print();
}

/// A bar on a terminal; it also hears Ctrl-C.
pub(super) struct Bar(ProgressBar);

impl Progress for Bar {
    fn begin(&self, steps: u64) {
        self.0.reset();
        self.0.set_length(steps);
    }

    fn step(&self) {
        self.0.inc(1);
    }

    fn reach(&self, steps: u64) {
        self.0.set_position(steps);
    }

    fn is_cancelled(&self) -> bool {
        interrupted().load(Ordering::Relaxed)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Set by Ctrl-C or a termination signal.
fn interrupted() -> &'static AtomicBool {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    static HANDLER: OnceLock<()> = OnceLock::new();
    HANDLER.get_or_init(|| {
        // Without a handler a signal ends the program at once, which is safe, too.
        let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    });
    &INTERRUPTED
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_characters_are_shown_not_sent() {
        assert_eq!(printable("a\x1b]0;x\x07b\u{202e}c"), "a\\u{1b}]0;x\\u{7}b\\u{202e}c");
        assert_eq!(printable("Отчёт\n"), "Отчёт\n");
    }
}
