//! A program at work, watched from another thread: one that does nothing for too long is ended, and what
//! it leaves unread is counted, so that neither we wait for it nor it cuts a file short unseen.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Conditions, Program, ProgramError};

/// The longest nap of the thread that watches.
const NAP: Duration = Duration::from_millis(20);

/// A program at work.
pub(super) struct Process {
    name: String,
    patience: Duration,
    input: Option<PipeWriter>,
    signs: Arc<Signs>,
    watch: Option<JoinHandle<io::Result<End>>>,
}

/// What the two threads tell each other.
#[derive(Default)]
struct Signs {
    /// Goes up before and after each wait for the program: it is waited for while this is odd.
    waits: AtomicU64,
    /// Nobody wants the program's work any more.
    abandoned: AtomicBool,
    /// The program has ended.
    ended: AtomicBool,
}

/// How a program ended.
struct End {
    status: ExitStatus,
    hung: bool,
    unread: u64,
}

impl Process {
    /// Starts the program; what it prints goes into this file, what it says to people to our standard error.
    pub(super) fn start(
        program: &Program,
        command: &str,
        output: &File,
        conditions: &Conditions,
    ) -> Result<Self, ProgramError> {
        let failed = |source| ProgramError::Start { path: program.path.clone(), source };
        let (reader, input) = io::pipe().map_err(failed)?;
        let unread = reader.try_clone().map_err(failed)?;
        let mut line = Command::new(&program.path);
        line.arg(command).stdin(reader).stdout(Stdio::from(output.try_clone().map_err(failed)?));
        own_group(&mut line);
        let child = line.spawn().map_err(failed)?;
        drop(line); // it holds an end of the pipe
        let signs = Arc::new(Signs::default());
        let patience = conditions.patience;
        let watched = signs.clone();
        let watch = thread::spawn(move || watch(child, unread, patience, &watched));
        let name = program.name.clone();
        Ok(Self { name, patience, input: Some(input), signs, watch: Some(watch) })
    }

    /// The program has all it gets; anything but a good end is an error.
    pub(super) fn end(mut self) -> Result<(), ProgramError> {
        self.signs.waits.fetch_add(1, Ordering::Relaxed);
        self.input = None;
        let name = self.name.clone();
        let lost = |source| ProgramError::Start { path: name.clone().into(), source };
        let end = match self.watch.take().map(JoinHandle::join) {
            Some(Ok(end)) => end.map_err(lost)?,
            Some(Err(_)) | None => return Err(lost(io::Error::other("its watch ended early"))),
        };
        let End { status, hung, unread } = end;
        match (hung, status.success()) {
            (true, _) => Err(ProgramError::Hung { name, patience: self.patience }),
            (false, false) => Err(ProgramError::Failed { name, status }),
            (false, true) if unread > 0 => Err(ProgramError::Unread { name }),
            (false, true) => Ok(()),
        }
    }
}

/// What the program is given. After its end nothing is taken any more.
impl Write for Process {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(input) = self.input.as_mut().filter(|_| !self.signs.ended.load(Ordering::Acquire))
        else {
            return Err(io::Error::other("the program has ended"));
        };
        self.signs.waits.fetch_add(1, Ordering::Relaxed);
        let written = input.write(bytes);
        self.signs.waits.fetch_add(1, Ordering::Relaxed);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signs.abandoned.store(true, Ordering::Relaxed);
        self.input = None;
        if let Some(watch) = self.watch.take() {
            // How an abandoned program ends is of no interest.
            let _ = watch.join();
        }
    }
}

/// Waits for the program's end, or brings it about; then empties the pipe, so that whoever still writes is
/// not held up.
fn watch(
    mut child: Child,
    mut unread: PipeReader,
    patience: Duration,
    signs: &Signs,
) -> io::Result<End> {
    let (mut seen, mut since) = (0, Instant::now());
    let (mut nap, mut hung) = (Duration::from_millis(1), false);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let waits = signs.waits.load(Ordering::Relaxed);
        if waits != seen || waits.is_multiple_of(2) {
            (seen, since) = (waits, Instant::now());
        }
        hung |= since.elapsed() >= patience;
        if hung || signs.abandoned.load(Ordering::Relaxed) {
            kill(&mut child)?;
        }
        thread::sleep(nap);
        nap = (nap * 2).min(NAP);
    };
    signs.ended.store(true, Ordering::Release);
    let unread = io::copy(&mut unread, &mut io::sink())?;
    Ok(End { status, hung, unread })
}

/// Puts the program and what it starts into a group, so that they can be ended together.
fn own_group(line: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(line, 0);
}

fn kill(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may be gone already; then there is nothing to end.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        return Ok(());
    }
    child.kill()
}
