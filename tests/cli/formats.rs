//! The table of formats, as the program itself lists it, so that tests walk formats yet to come.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::env::{Env, Ran};
use crate::store::session;
use crate::tree::Tree;

#[derive(Debug, Clone, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "what a row can do")]
pub(crate) struct Format {
    pub(crate) name: String,
    pub(crate) only: Option<String>,
    pub(crate) extension: String,
    layout: String,
    pub(crate) joins_lineage: bool,
    pub(crate) keeps_deleted: bool,
    pub(crate) named_by_id: bool,
    pub(crate) defaults_to_latest: bool,
    pub(crate) redacts_by_default: bool,
}

#[derive(Deserialize)]
struct Table {
    formats: Vec<Format>,
}

/// All that write text; folders of tables have tests of their own.
pub(crate) fn all() -> &'static [Format] {
    static FORMATS: OnceLock<Vec<Format>> = OnceLock::new();
    FORMATS.get_or_init(|| {
        let json = Env::empty().run("formats --json").ok().json();
        let formats = serde_json::from_value::<Table>(json).unwrap().formats;
        formats.into_iter().filter(|format| format.layout != "folder").collect()
    })
}

/// The format, if this build has it.
pub(crate) fn named(name: &str) -> Option<&'static Format> {
    all().iter().find(|format| format.name == name)
}

impl Format {
    pub(crate) fn has_folder(&self) -> bool {
        self.layout == "file per session"
    }

    /// Where [`Self::export`] writes to.
    pub(crate) fn output(&self) -> String {
        if self.has_folder() {
            format!("out-{}", self.name)
        } else {
            format!("out-{}.{}", self.name, self.extension)
        }
    }

    /// Exports what the flags select.
    pub(crate) fn export(&self, env: &Env, flags: &str) -> Ran {
        env.run(&format!("export {} --format {} {flags}", self.output(), self.name))
    }

    /// The files that [`Self::export`] wrote, without the manifest.
    pub(crate) fn files(&self, env: &Env) -> Vec<PathBuf> {
        let output = env.work(&self.output());
        if !self.has_folder() {
            return if output.exists() { vec![output] } else { Vec::new() };
        }
        let names = crate::tree::names(&output);
        // A staging folder may still be there while another file is on its way.
        let whole = |name: &String| name != "manifest.jsonl" && !name.starts_with('.');
        names.into_iter().filter(whole).map(|name| output.join(name)).collect()
    }

    /// Everything that [`Self::export`] wrote, in one text.
    pub(crate) fn written(&self, env: &Env) -> String {
        let files = self.files(env);
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
    }
}

#[test]
fn the_table_for_people_and_the_table_for_scripts_list_the_same_formats() {
    let env = Env::empty();
    let table = env.run("formats").ok();
    let listed: Vec<&str> =
        table.stdout.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    let json = env.run("formats --json").ok().json();
    let names: Vec<_> = json["formats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(listed, names);
    assert!(names.contains(&"jsonl"), "{table}");
}

#[test]
fn what_is_written_and_told_does_not_depend_on_how_many_threads_do_it() {
    let key = |n: usize| format!("DB_PASSWORD=q{n}Xv8Zr{n}2LmTp");
    let sessions = (0..40).map(|n| {
        let told = session(format!("s{n:02}")).user(format!("{n}. {}", key(n % 7)));
        (0..n % 5).fold(told, |told, m| told.assistant(format!("{m} of {n} {}", key(m))))
    });
    let env = Env::with(sessions.chain([session("bytes").user(vec![0xff, 0xfe])]));
    for format in all() {
        let [one, seven] = ["1", "7"].map(|jobs| {
            let ran =
                format.export(&env, &format!("--include-open --redact --jobs {jobs} --force"));
            let told = (ran.stdout, ran.stderr);
            let written = format.has_folder().then(|| Tree::of(&env.work(&format.output())));
            let text = format.written(&env);
            format.files(&env).iter().for_each(|file| std::fs::remove_file(file).unwrap());
            let _ = std::fs::remove_file(env.work(&format.output()).join("manifest.jsonl"));
            (told, written, text)
        });
        assert!(one.2.contains("[REDACTED:"), "{}", format.name);
        assert_eq!(one, seven, "{}", format.name);
    }
}

/// Pages of many sessions are made of pieces; what is large is more of them than may wait.
#[test]
fn pages_of_many_do_not_depend_on_how_many_threads_make_them() {
    let sessions = (0..9).map(|n| {
        let words = |m: usize| format!("`{n}.{m}` of **much** to say\n\n").repeat(90 * m % 1_200);
        (0..40).fold(session(format!("s{n}")), |told, m| match m % 8 {
            0 => told.user(words(m)).assistant("Yes."),
            // Shown as it stands, which takes less time.
            _ => told.message("system").and("content", words(m)),
        })
    });
    let long =
        session("long").message("system").and("content", "a line of a long text\n".repeat(90_000));
    let env = Env::with(sessions.chain([long]));
    let written = ["1", "3"].map(|jobs| {
        let to = format!("--no-manifest --include-open --jobs {jobs}");
        env.run(&format!("export {jobs}.html {to}")).ok();
        env.run(&format!("export {jobs}/ --format html {to}")).ok();
        (
            std::fs::read_to_string(env.work(&format!("{jobs}.html"))).unwrap(),
            Tree::of(&env.work(jobs)),
        )
    });
    assert!(written[0].0.contains("class=\"isle\""), "it is packed");
    assert!(written[0] == written[1]);
}
