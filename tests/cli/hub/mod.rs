//! A Hub on loopback that does what the real one does, and fails as it is told to.
//!
//! `official.py` runs Hugging Face's own client against it, so that it is no invention of ours.

mod api;
mod store;
mod xet;

use std::ops::Deref;

use crate::loopback::{self, Server};
pub(crate) use store::{State, Storage};

/// The tokens that it knows.
pub(crate) const WRITE: &str = "hf_write";
pub(crate) const READ: &str = "hf_read";

pub(crate) type Fault = loopback::Fault<State>;
pub(crate) type Kind = loopback::Kind<State>;

pub(crate) struct Hub(Server<State>);

impl Deref for Hub {
    type Target = Server<State>;

    fn deref(&self) -> &Server<State> {
        &self.0
    }
}

impl Hub {
    pub(crate) fn start() -> Self {
        Self(Server::start(State::new(), api::answer))
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
