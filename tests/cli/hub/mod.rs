//! A Hub on loopback that does what the real one does, and fails as it is told to.
//!
//! `official.py` runs Hugging Face's own client against it, so that it is no invention of ours.

mod api;
mod http;
mod store;
mod xet;

use std::io::{BufReader, Read as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use http::{Answer, Request};
pub(crate) use store::{State, Storage};

/// The tokens that it knows.
pub(crate) const WRITE: &str = "hf_write";
pub(crate) const READ: &str = "hf_read";

/// What goes wrong, once, with the first requests that match and are not skipped.
pub(crate) struct Fault {
    /// Part of `METHOD /path`.
    on: &'static str,
    skip: u32,
    times: u32,
    kind: Kind,
}

#[derive(Clone)]
pub(crate) enum Kind {
    /// Answers with this status and header, and does nothing.
    Status(u16, &'static str, &'static str),
    /// Does it, and answers with this status.
    StatusAfter(u16),
    /// Closes the connection before the body is read.
    Drop,
    /// Closes it in the middle of the body.
    DropInBody,
    /// Does it, and closes the connection.
    DropAfter,
    /// Does it, and sends half of the answer.
    Truncate,
    /// Says nothing for so long.
    Stall(Duration),
    /// Something else happens first.
    First(fn(&mut State)),
}

impl Fault {
    pub(crate) fn on(on: &'static str, kind: Kind) -> Self {
        Self { on, skip: 0, times: 1, kind }
    }

    pub(crate) fn status(on: &'static str, status: u16) -> Self {
        Self::on(on, Kind::Status(status, "X-Fake", "1"))
    }

    pub(crate) fn skip(self, skip: u32) -> Self {
        Self { skip, ..self }
    }

    pub(crate) fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    pub(crate) fn always(self) -> Self {
        self.times(u32::MAX)
    }
}

struct Shared {
    state: Mutex<State>,
    faults: Mutex<Vec<Fault>>,
    log: Mutex<Vec<String>>,
}

pub(crate) struct Hub {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

impl Hub {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new()),
            faults: Mutex::default(),
            log: Mutex::default(),
        });
        let (serving, address) = (shared.clone(), url.clone());
        thread::spawn(move || {
            for connection in listener.incoming() {
                let (shared, url) = (serving.clone(), address.clone());
                thread::spawn(move || serve(&connection.unwrap(), &shared, &url));
            }
        });
        Self { url, shared }
    }

    pub(crate) fn fails(&self, fault: Fault) {
        self.shared.faults.lock().unwrap().push(fault);
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }

    /// What was asked since the last look, as `METHOD /path`.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.log.lock().unwrap())
    }

    /// The paths of a dataset's files, without those that it was made with.
    pub(crate) fn paths(&self, id: &str) -> Vec<String> {
        let mut state = self.state();
        let tree = &state.dataset(id).head().tree;
        tree.keys().filter(|path| *path != ".gitattributes").cloned().collect()
    }

    /// What a file of a dataset holds.
    pub(crate) fn file(&self, id: &str, path: &str) -> Vec<u8> {
        let mut state = self.state();
        let content = state.dataset(id).head().tree[path].clone();
        state.read(&content)
    }

    /// Titles of a dataset's commits since it was made.
    pub(crate) fn commits(&self, id: &str) -> Vec<String> {
        let mut state = self.state();
        let commits = state.dataset(id).commits.iter().skip(1);
        commits.map(|commit| commit.title.clone()).collect()
    }
}

impl Shared {
    fn fault(&self, line: &str) -> Option<Kind> {
        let mut faults = self.faults.lock().unwrap();
        for fault in faults.iter_mut() {
            if !line.contains(fault.on) || fault.times == 0 {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            fault.times -= 1;
            return Some(fault.kind.clone());
        }
        None
    }
}

fn serve(connection: &TcpStream, shared: &Shared, url: &str) {
    connection.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    // A client that breaks the connection off ends the loop.
    while let Ok(Some(mut request)) = Request::head(&mut reader) {
        let line = format!("{} {}", request.method, request.path);
        let fault = shared.fault(&line);
        shared.log.lock().unwrap().push(line);
        match &fault {
            Some(Kind::Drop) => break,
            Some(Kind::DropInBody) => {
                let half = request.length() as u64 / 2;
                std::io::copy(&mut (&mut reader).take(half), &mut std::io::sink()).ok();
                break;
            }
            Some(Kind::Stall(time)) => thread::sleep(*time),
            _ => {}
        }
        if request.read_body(&mut reader).is_err() {
            break;
        }
        let Some((answer, most)) = answer(&request, fault.as_ref(), shared, url) else { break };
        let mut writer = connection.try_clone().unwrap();
        let has_body = request.method != "HEAD";
        if answer.write(&mut writer, has_body, most).is_err() || most < answer.body.len() {
            break;
        }
    }
    connection.shutdown(Shutdown::Both).ok();
}

/// The answer, and how much of it is sent; none where the connection is closed instead.
fn answer(
    request: &Request,
    fault: Option<&Kind>,
    shared: &Shared,
    url: &str,
) -> Option<(Answer, usize)> {
    if let Some(Kind::Status(status, name, value)) = fault {
        return Some((Answer::error(*status, "injected").with(name, value), usize::MAX));
    }
    let mut state = shared.state.lock().unwrap();
    if let Some(Kind::First(happens)) = fault {
        happens(&mut state);
    }
    let answer = api::answer(&mut state, request, url);
    match fault {
        Some(Kind::DropAfter) => None,
        Some(Kind::StatusAfter(status)) => Some((Answer::error(*status, "injected"), usize::MAX)),
        Some(Kind::Truncate) => {
            let half = answer.body.len() / 2;
            Some((answer, half))
        }
        _ => Some((answer, usize::MAX)),
    }
}

/// Needs the official client: `tests/cli/hub/official.sh` installs and runs it.
#[test]
#[ignore = "needs Python with huggingface_hub, named by HUB_PYTHON"]
fn the_official_client_takes_it_for_the_hub() {
    let python = std::env::var("HUB_PYTHON").expect("HUB_PYTHON names a Python");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/hub/official.py");
    for (storage, disable) in [(Storage::Xet, "0"), (Storage::Basic, "1")] {
        let hub = Hub::start();
        hub.state().storage = storage;
        let home = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new(&python);
        command.arg(script).env("HF_ENDPOINT", &hub.url).env("HF_TOKEN", WRITE);
        command.env("HF_HOME", home.path()).env("HF_HUB_DISABLE_XET", disable);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{storage:?}: {output:?}\n{:#?}", hub.asked());
    }
}
