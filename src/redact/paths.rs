//! Home directories, user and host names: `/home/ana/x` becomes `~/x`, and `ana` goes wherever
//! it stands as a word.

use regex::{Captures, Regex};

/// Names that a session has given away so far.
#[derive(Debug, Default)]
pub(super) struct Met {
    users: Vec<String>,
    hosts: Vec<String>,
}

/// Names that this machine gives away.
pub(super) struct Names {
    home: Regex,
    /// Home directories of which only the user's name goes.
    encoded: Regex,
    prompt: Regex,
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
        let compiled = |pattern| Regex::new(pattern).expect("a constant, compiled in tests");
        let home = r"(?:(?:/home|/Users|/var/home|/export/home)/|(?:[A-Za-z]:|/mnt/[a-z]|/[a-z])(?:\\{1,8}|/)(?i:Users)(?:\\{1,8}|/))([A-Za-z0-9._@-]+)";
        let encoded = r#"((?:%2F|%5C)(?i:home|Users)(?:%2F|%5C)|(?:^|[\s/"'`=(])-(?:home|Users)-|\\{2,8}[A-Za-z0-9._-]{1,63}\\{1,8}(?i:Users)\\{1,8})([A-Za-z0-9._@]+)"#;
        let prompt = r"(?m)(?:^|[\s\[(])([a-z_][a-z0-9_-]{1,31})@([A-Za-z][A-Za-z0-9-]{1,62})(?::[~/][^\s$#]{0,200}|[ :]~)\]?[$#%](?:\s|$)";
        Self {
            home: compiled(home),
            encoded: compiled(encoded),
            prompt: compiled(prompt),
            users: names(&mut { users }),
            hosts: names(&mut { hosts }),
        }
    }

    /// Remembers the names that a text gives away: of home directories, and of a shell's prompt.
    pub(super) fn learn(&self, text: &str, met: &mut Met) {
        for found in self.home.captures_iter(text) {
            if !is_of_url(text, found.get(0).map_or(0, |m| m.start())) {
                met.add_user(&found[1]);
            }
        }
        for found in self.encoded.captures_iter(text) {
            met.add_user(&found[2]);
        }
        for found in self.prompt.captures_iter(text) {
            met.add_user(&found[1]);
            met.add_host(&found[2]);
        }
    }

    /// A text without homes and names, `None` where it holds none. `met` are names that were
    /// seen before.
    pub(super) fn hide(&self, text: &str, met: &mut Met) -> Option<String> {
        self.learn(text, met);
        let mut changed = false;
        let homeless = self.home.replace_all(text, |found: &Captures<'_>| {
            let user = &found[1];
            let start = found.get(0).map_or(0, |m| m.start());
            let is_shared =
                user.eq_ignore_ascii_case("shared") || user.eq_ignore_ascii_case("public");
            if is_shared || is_of_url(text, start) {
                return found[0].to_owned();
            }
            changed = true;
            let is_inner =
                text[..start].ends_with(|c: char| c.is_alphanumeric() || "._-".contains(c));
            if is_inner { found[0].replace(user, USER) } else { "~".to_owned() }
        });
        let mut now = self
            .encoded
            .replace_all(&homeless, |found: &Captures<'_>| {
                changed |= &found[2] != USER;
                format!("{}{USER}", &found[1])
            })
            .into_owned();
        for user in self.users.iter().chain(&met.users) {
            changed |= replace_word(&mut now, user, USER);
        }
        for host in self.hosts.iter().chain(&met.hosts) {
            changed |= replace_word(&mut now, host, HOST);
        }
        changed.then_some(now)
    }
}

impl Met {
    fn add_user(&mut self, name: &str) {
        add(&mut self.users, name);
    }

    fn add_host(&mut self, name: &str) {
        add(&mut self.hosts, name);
    }
}

fn add(names: &mut Vec<String>, name: &str) {
    if is_name(name) && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// Whether what begins here is the path of an URL with a host: `https://x.org/home/…` is nobody's.
fn is_of_url(text: &str, start: usize) -> bool {
    let word = text[..start].rsplit(|c: char| c.is_whitespace() || "\"'`<>()".contains(c)).next();
    word.is_some_and(|word| {
        word.split_once("://")
            .is_some_and(|(scheme, host)| !host.is_empty() && !scheme.ends_with("file"))
    })
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
        names.hide(text, &mut Met::default())
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
    fn an_url_is_nobodys_home() {
        assert_eq!(hide("https://x.org/home/ana/x"), None);
        assert_eq!(hide("file:///home/ana/x").as_deref(), Some("file://~/x"));
        assert_eq!(hide("/mnt/home/ana/x").as_deref(), Some("/mnt/home/user/x"));
    }

    #[test]
    fn encoded_homes_give_a_name_away_too() {
        assert_eq!(hide("a=%2Fhome%2Fana%2Fx").as_deref(), Some("a=%2Fhome%2Fuser%2Fx"));
        assert_eq!(
            hide("~/.claude/projects/-home-ana-src").as_deref(),
            Some("~/.claude/projects/-home-user-src")
        );
        assert_eq!(hide(r"\\srv\Users\ana\x").as_deref(), Some(r"\\srv\Users\user\x"));
    }

    #[test]
    fn a_prompt_tells_user_and_host() {
        assert_eq!(
            hide("eva@laptop:~$ ls\nlaptop is up, eva").as_deref(),
            Some("user@host:~$ ls\nhost is up, user")
        );
    }

    #[test]
    fn hiding_twice_changes_nothing() {
        let once = hide("/home/ana/x ana@thinkpad /Users/bo").unwrap();
        assert_eq!(hide(&once), None);
    }
}
