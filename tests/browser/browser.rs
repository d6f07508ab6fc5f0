//! Chromium, driven over a pipe: its debugging protocol without a port or another program.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A browser without a window, and its profile.
pub(crate) struct Browser {
    child: Child,
    commands: RefCell<ChildStdin>,
    answers: RefCell<BufReader<ChildStdout>>,
    events: RefCell<VecDeque<Json>>,
    last_id: Cell<u64>,
    _profile: TempDir,
}

/// `$CHROMIUM`, or the program of that name.
fn program() -> String {
    std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned())
}

/// Whether there is a browser to test with. In CI there has to be.
pub(crate) fn is_there() -> bool {
    let found = Command::new(program()).arg("--version").output().is_ok_and(|o| o.status.success());
    assert!(found || std::env::var_os("CI").is_none(), "CI has no chromium");
    if !found {
        eprintln!("SKIPPED: there is no chromium, so nothing was looked at in a browser");
    }
    found
}

impl Browser {
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let data = format!("--user-data-dir={}", profile.path().display());
        // The pipe is descriptors 3 and 4, which the shell makes of its input and output.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null",
                "sh",
                &program(),
            ])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--hide-scrollbars",
            ])
            .args([
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--disable-background-networking",
            ])
            .args(["--remote-debugging-pipe", &data, "about:blank"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = RefCell::new(child.stdin.take().unwrap());
        let answers = RefCell::new(BufReader::new(child.stdout.take().unwrap()));
        let events = RefCell::default();
        Self { child, commands, answers, events, last_id: Cell::new(0), _profile: profile }
    }

    fn call(&self, session: Option<&str>, method: &str, params: &Json) -> Json {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut commands = self.commands.borrow_mut();
        commands.write_all(format!("{message}\0").as_bytes()).unwrap();
        commands.flush().unwrap();
        loop {
            let answer = self.next();
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
                return answer["result"].clone();
            }
            self.events.borrow_mut().push_back(answer);
        }
    }

    fn next(&self) -> Json {
        let mut bytes = Vec::new();
        self.answers.borrow_mut().read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser is gone");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Opens a file in a page of its own.
    pub(crate) fn open(&self, file: &Path, look: Look) -> Page<'_> {
        self.open_url(&format!("file://{}", file.display()), look)
    }

    pub(crate) fn open_url(&self, url: &str, look: Look) -> Page<'_> {
        let target = self.call(None, "Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = self.call(None, "Target.attachToTarget", &attach);
        let session = session["sessionId"].as_str().unwrap().to_owned();
        let page = Page { browser: self, session, target: target["targetId"].clone() };
        for domain in ["Page", "Runtime", "Network", "Log"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        page.dress(look);
        page.go(url);
        page
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a page is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) colours: &'static str,
    pub(crate) script: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self { width: 1280, colours: "light", script: true }
    }
}

pub(crate) struct Page<'b> {
    browser: &'b Browser,
    session: String,
    target: Json,
}

impl Page<'_> {
    pub(crate) fn call(&self, method: &str, params: &Json) -> Json {
        self.browser.call(Some(&self.session), method, params)
    }

    /// Looks at the page otherwise.
    pub(crate) fn dress(&self, look: Look) {
        let size = json!({"width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": look.width < 500});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let colours = json!([{"name": "prefers-color-scheme", "value": look.colours}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": colours}));
        self.call("Emulation.setScriptExecutionDisabled", &json!({"value": !look.script}));
    }

    /// Goes to an address and waits until it is loaded.
    pub(crate) fn go(&self, url: &str) {
        let before = self.loads();
        let gone = self.call("Page.navigate", &json!({"url": url}));
        while !gone["loaderId"].is_null() && self.loads() == before {
            let event = self.browser.next();
            self.browser.events.borrow_mut().push_back(event);
        }
    }

    /// How often something was loaded into the page.
    fn loads(&self) -> usize {
        let is_load = |event: &&Json| {
            event["sessionId"] == *self.session && event["method"] == "Page.loadEventFired"
        };
        self.browser.events.borrow().iter().filter(is_load).count()
    }

    /// What an expression gives, promises awaited.
    #[track_caller]
    pub(crate) fn eval(&self, script: &str) -> Json {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let result = self.call("Runtime.evaluate", &params);
        assert!(result.get("exceptionDetails").is_none(), "{script}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression holds.
    #[track_caller]
    pub(crate) fn until(&self, script: &str) {
        let poll = format!(
            "new Promise((done) => {{ let n = 0; const look = () => ({script}) ? done(true) \
             : n++ > 500 ? done(false) : setTimeout(look, 10); look(); }})"
        );
        assert_eq!(self.eval(&poll), true, "never: {script}");
    }

    pub(crate) fn press(&self, key: &str) {
        let text = if key.chars().count() == 1 {
            key
        } else if key == "Enter" {
            "\r"
        } else {
            ""
        };
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            " " => 32,
            _ => 0,
        };
        let down =
            json!({"type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", &down);
        let up = json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", &up);
    }

    /// Opens or shuts everything that folds.
    pub(crate) fn fold(&self, open: bool) {
        self.eval(&format!(
            "document.querySelectorAll('details').forEach((fold) => (fold.open = {open}))"
        ));
    }

    pub(crate) fn type_in(&self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Addresses that the page asked for, itself among them.
    pub(crate) fn requests(&self) -> Vec<String> {
        let of = |event: &Json| Some(event["params"]["request"]["url"].as_str()?.to_owned());
        self.told("Network.requestWillBeSent", of)
            .into_iter()
            .filter(|url| !url.starts_with("data:"))
            .collect()
    }

    /// What went wrong in the page: errors of scripts, and what the policy kept from happening.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let thrown =
            self.told("Runtime.exceptionThrown", |event| Some(event["params"].to_string()));
        let logged =
            self.told("Log.entryAdded", |event| Some(event["params"]["entry"].to_string()));
        [thrown, logged].concat()
    }

    fn told(&self, method: &str, of: impl Fn(&Json) -> Option<String>) -> Vec<String> {
        self.eval("1"); // so that all that happened has been told
        let events = self.browser.events.borrow();
        let mine =
            events.iter().filter(|e| e["sessionId"] == *self.session && e["method"] == method);
        mine.filter_map(of).collect()
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.browser.call(None, "Target.closeTarget", &json!({"targetId": self.target}));
        }
    }
}
