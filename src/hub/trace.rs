//! Whether a file is one that the Hub's loader reads: one bad file makes a whole dataset unreadable.
//!
//! The loader cuts a file at every character that Python takes for the end of a line, parses each
//! line alone, keeps numbers in 64 bits and texts in UTF-8.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::de::IgnoredAny;

use super::Error;

/// Deeper nesting is more than the loader's parser stands.
const DEEPEST: usize = 1000;

/// Reads a file as the loader does.
pub fn check(path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        if file.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        number += 1;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if let Some(what) = fault(text) {
            return Err(Error::NotATrace { path: path.to_owned(), line: number, what });
        }
    }
    if number == 0 {
        return Err(Error::NotATrace { path: path.to_owned(), line: 1, what: "the file is empty" });
    }
    Ok(())
}

fn fault(line: &[u8]) -> Option<&'static str> {
    let Ok(text) = std::str::from_utf8(line) else { return Some("bytes that are no UTF-8") };
    if text.trim().is_empty() {
        return Some("a line without anything");
    }
    let breaks = |c: char| {
        matches!(c, '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
    };
    if text.contains(breaks) {
        return Some("a character at which the Hub would cut the line");
    }
    if !text.starts_with('{') || serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Some("a line that is no JSON object");
    }
    unreadable(line)
}

/// What is JSON, and still more than the loader takes.
fn unreadable(json: &[u8]) -> Option<&'static str> {
    let (mut at, mut depth) = (0, 0_usize);
    while at < json.len() {
        let length = match json[at] {
            b'"' => match text(&json[at..]) {
                Some(length) => length,
                None => return Some("half a character, which UTF-8 cannot hold"),
            },
            b'-' | b'0'..=b'9' => {
                let length = json[at..].iter().take_while(|byte| is_of_number(**byte)).count();
                if is_long_integer(&json[at..at + length]) {
                    return Some("a number that the Hub cannot hold");
                }
                length
            }
            b'[' | b'{' => {
                depth += 1;
                1
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                1
            }
            _ => 1,
        };
        if depth > DEEPEST {
            return Some("nesting that the Hub cannot follow");
        }
        at += length;
    }
    None
}

/// How long a text is, its quotes included; `None` where half of a surrogate pair is in it.
fn text(json: &[u8]) -> Option<usize> {
    let mut at = 1;
    while at < json.len() && json[at] != b'"' {
        at += match (json[at], unit(&json[at..])) {
            (b'\\', Some(0xd800..=0xdbff)) => {
                unit(json.get(at + 6..)?).filter(|low| (0xdc00..=0xdfff).contains(low))?;
                12
            }
            (b'\\', Some(0xdc00..=0xdfff)) => return None,
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    Some(at + 1)
}

/// The unit that an escape stands for.
fn unit(json: &[u8]) -> Option<u32> {
    let digits = json.strip_prefix(b"\\u")?.get(..4)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

fn is_long_integer(number: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(number) else { return false };
    !text.contains(['.', 'e', 'E']) && text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), Error> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        check(file.path())
    }

    #[test]
    fn what_the_loader_reads_passes() {
        checked("{\"type\":\"user\",\"n\":[1,-1.5,18446744073709551615]}\n{\"t\":\"\\u2028 \\ud83d\\ude00 \\\\ud800\"}").unwrap();
    }

    #[test]
    fn what_would_break_the_dataset_is_named() {
        let bad = [
            ("", 1),
            ("{}\n\n", 2),
            ("{}\n[]\n", 2),
            ("{\"a\":\"x\u{2028}y\"}\n", 1),
            ("{\"a\":\"x\u{85}y\"}\n", 1),
            ("\u{feff}{}\n", 1),
            ("{\"a\":\"\\ud800\"}\n", 1),
            ("{\"a\":\"\\ude00\\ud83d\"}\n", 1),
            ("{}\n{\"a\":18446744073709551616}\n", 2),
            ("{\"a\":", 1),
        ];
        for (text, at) in bad {
            let error = checked(text).unwrap_err();
            assert!(
                matches!(error, Error::NotATrace { line, .. } if line == at),
                "{text:?}: {error}"
            );
        }
    }
}
