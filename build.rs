//! Makes one text of JSON of the rule files: it is read at each start of the program, and TOML takes
//! many times longer to read.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=redact-rules");
    let mut files: Vec<PathBuf> = entries(Path::new("redact-rules"));
    // The most specific families stand first, so that they name what several find.
    files.sort();
    let rules: Vec<serde_json::Value> = files.iter().map(|file| read(file)).collect();
    let made = Path::new(&std::env::var("OUT_DIR").expect("cargo sets it")).join("rules.json");
    let text = serde_json::to_string(&rules).expect("what is read from TOML is JSON, too");
    std::fs::write(&made, text).unwrap_or_else(|cause| panic!("{}: {cause}", made.display()));
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().and_then(|entries| entries.map(|e| Ok(e?.path())).collect());
    entries.unwrap_or_else(|cause| panic!("{}: {cause}", folder.display()))
}

fn read(file: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(file);
    let text = text.unwrap_or_else(|cause| panic!("{}: {cause}", file.display()));
    toml::from_str(&text).unwrap_or_else(|cause| panic!("{}: {cause}", file.display()))
}
