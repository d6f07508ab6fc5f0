//! A server on loopback that answers as it is told to, and fails as it is told to.

pub(crate) mod http;

use std::io::{BufReader, Read as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use http::{Answer, Request};

/// What goes wrong, once, with the first requests that match and are not skipped.
pub(crate) struct Fault<S> {
    /// Part of `METHOD /path`.
    on: &'static str,
    skip: u32,
    times: u32,
    kind: Kind<S>,
}

pub(crate) enum Kind<S> {
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
    First(fn(&mut S)),
}

impl<S> Fault<S> {
    pub(crate) fn on(on: &'static str, kind: Kind<S>) -> Self {
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

impl<S> Clone for Kind<S> {
    fn clone(&self) -> Self {
        match self {
            Self::Status(status, name, value) => Self::Status(*status, name, value),
            Self::StatusAfter(status) => Self::StatusAfter(*status),
            Self::Drop => Self::Drop,
            Self::DropInBody => Self::DropInBody,
            Self::DropAfter => Self::DropAfter,
            Self::Truncate => Self::Truncate,
            Self::Stall(time) => Self::Stall(*time),
            Self::First(happens) => Self::First(*happens),
        }
    }
}

/// What a server does: state, request, and the server's own address.
type Answering<S> = fn(&mut S, &Request, &str) -> Answer;

struct Shared<S> {
    state: Mutex<S>,
    answer: Answering<S>,
    faults: Mutex<Vec<Fault<S>>>,
    log: Mutex<Vec<String>>,
}

/// A server with a state.
pub(crate) struct Server<S> {
    pub(crate) url: String,
    shared: Arc<Shared<S>>,
}

impl<S: Send + 'static> Server<S> {
    pub(crate) fn start(state: S, answer: Answering<S>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            answer,
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

    pub(crate) fn fails(&self, fault: Fault<S>) {
        self.shared.faults.lock().unwrap().push(fault);
    }

    /// Nothing fails any more.
    #[cfg(feature = "object-store")]
    pub(crate) fn heals(&self) {
        self.shared.faults.lock().unwrap().clear();
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, S> {
        self.shared.state.lock().unwrap()
    }

    /// What was asked since the last look, as `METHOD /path`.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.log.lock().unwrap())
    }
}

impl<S> Shared<S> {
    fn fault(&self, line: &str) -> Option<Kind<S>> {
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

fn serve<S>(connection: &TcpStream, shared: &Shared<S>, url: &str) {
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
fn answer<S>(
    request: &Request,
    fault: Option<&Kind<S>>,
    shared: &Shared<S>,
    url: &str,
) -> Option<(Answer, usize)> {
    if let Some(Kind::Status(status, name, value)) = fault {
        return Some((Answer::error(*status, "injected").with(name, value), usize::MAX));
    }
    let mut state = shared.state.lock().unwrap();
    if let Some(Kind::First(happens)) = fault {
        happens(&mut state);
    }
    let answer = (shared.answer)(&mut state, request, url);
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
