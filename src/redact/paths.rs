//! Home directories, user and host names: `/home/ana/x` becomes `~/x`, and `ana` goes wherever
//! it stands as a word.

use regex::{Captures, Regex};

/// Names that this machine gives away.
pub(super) struct Names {
    home: Regex,
    users: Vec<String>,
    hosts: Vec<String>,
}

/// Users that are on every machine, and words that are no one's name.
const NOBODY: &[&str] = &[
    "root",
    "user",
    "users",
    "home",
    "shared",
    "public",
    "ubuntu",
    "runner",
    "admin",
    "app",
    "node",
    "localhost",
    "default",
    "guest",
    "me",
    "you",
    "username",
    "vscode",
    "www",
    "data",
    "test",
    "git",
];

/// What stands for a user and a host.
const USER: &str = "user";
const HOST: &str = "host";

impl Names {
    /// The names of whoever runs the program, and of the machine.
    pub(super) fn of_this_machine() -> Self {
        let variable = |name| std::env::var(name).ok().into_iter();
        let file = std::fs::read_to_string("/etc/hostname").ok().into_iter();
        let users = ["USER", "LOGNAME", "USERNAME"].into_iter().flat_map(variable);
        let hosts = ["HOSTNAME", "COMPUTERNAME"].into_iter().flat_map(variable).chain(file);
        Self::new(users, hosts)
    }

    fn new(users: impl Iterator<Item = String>, hosts: impl Iterator<Item = String>) -> Self {
        let names = |all: &mut dyn Iterator<Item = String>| {
            let mut names: Vec<String> =
                all.map(|n| n.trim().to_owned()).filter(|n| is_name(n)).collect();
            names.sort();
            names.dedup();
            names
        };
        let home = r"(?:(?:/home|/Users|/var/home|/export/home)/|(?:[A-Za-z]:|/mnt/[a-z]|/[a-z])(?:\\{1,8}|/)(?i:Users)(?:\\{1,8}|/))([A-Za-z0-9._@-]+)";
        Self {
            home: Regex::new(home).expect("a constant, compiled in tests"),
            users: names(&mut { users }),
            hosts: names(&mut { hosts }),
        }
    }

    /// A text without homes and names, `None` where it holds none. `met` are users whose home
    /// was seen before.
    pub(super) fn hide(&self, text: &str, met: &mut Vec<String>) -> Option<String> {
        let mut changed = false;
        let homeless = self.home.replace_all(text, |found: &Captures<'_>| {
            let user = &found[1];
            if user.eq_ignore_ascii_case("shared") || user.eq_ignore_ascii_case("public") {
                return found[0].to_owned();
            }
            if is_name(user) && !met.iter().any(|m| m == user) {
                met.push(user.to_owned());
            }
            changed = true;
            "~".to_owned()
        });
        let mut now = homeless.into_owned();
        for user in self.users.iter().chain(met.iter()) {
            changed |= replace_word(&mut now, user, USER);
        }
        for host in &self.hosts {
            changed |= replace_word(&mut now, host, HOST);
        }
        changed.then_some(now)
    }
}

fn is_name(name: &str) -> bool {
    name.len() >= 2
        && !NOBODY.iter().any(|n| n.eq_ignore_ascii_case(name))
        && name.bytes().any(|b| b.is_ascii_alphabetic())
}

fn replace_word(text: &mut String, word: &str, with: &str) -> bool {
    let is_part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut out = String::new();
    let mut at = 0;
    for start in memchr::memmem::find_iter(text.as_bytes(), word) {
        let (before, after) = (start.checked_sub(1), start + word.len());
        let inside = is_part(before.and_then(|b| text.as_bytes().get(b)))
            || is_part(text.as_bytes().get(after));
        if start >= at && !inside {
            out.push_str(&text[at..start]);
            out.push_str(with);
            at = after;
        }
    }
    if at == 0 {
        return false;
    }
    out.push_str(&text[at..]);
    *text = out;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(text: &str) -> Option<String> {
        let names = Names::new(["bo".to_owned()].into_iter(), ["thinkpad".to_owned()].into_iter());
        names.hide(text, &mut Vec::new())
    }

    #[test]
    fn homes_and_names_go_wherever_they_stand() {
        assert_eq!(
            hide("cd /home/ana/x; ls -l ana banana").as_deref(),
            Some("cd ~/x; ls -l user banana")
        );
        assert_eq!(hide("bo@thinkpad:~$ bob").as_deref(), Some("user@host:~$ bob"));
        assert_eq!(hide(r"C:\Users\ana\x").as_deref(), Some(r"~\x"));
        assert_eq!(hide("/Users/Shared/x and /usr/home"), None);
    }

    #[test]
    fn hiding_twice_changes_nothing() {
        let once = hide("/home/ana/x ana@thinkpad /Users/bo").unwrap();
        assert_eq!(hide(&once), None);
    }
}
