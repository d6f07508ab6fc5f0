//! Reads what a prompt answers: a debugger, an interpreter or a shell is asked for something by its name, and
//! shows it on the next line.
//!
//! Only the line of the name and the one below it are looked at.

use std::ops::Range;

use super::cursor::{Cursor, Quote};
use super::end::limit;

/// A line that is asked on, and one that answers, are no longer on each side of the name.
const MAX_LINE: usize = 200;

/// Words with which shells are asked to show something.
const SHOWS: [&str; 13] = [
    "get", "show", "reveal", "read", "cat", "ask", "print", "fetch", "view", "decrypt", "lookup",
    "export", "extract",
];

/// What is shown below a name.
pub(super) struct Answer {
    pub(super) value: Range<usize>,
    pub(super) is_quoted: bool,
    /// Whether a shell shows it, which shows much else, too.
    pub(super) is_of_shell: bool,
}

/// Who is asked.
#[derive(PartialEq, Eq)]
enum Prompt {
    /// An interpreter or a debugger.
    Interpreter,
    /// What also begins a quotation.
    Bracket,
    Shell,
}

/// What stands on the line below `name`, where that was asked for on a prompt.
pub(super) fn answer_below(text: &str, name: &Range<usize>) -> Option<Answer> {
    let rest = &text[name.end..limit(text, name.end + MAX_LINE)];
    let (rest, below) = rest.split_once('\n')?;
    let from = limit(text, name.start.saturating_sub(MAX_LINE));
    let line = text[from..name.start].rsplit('\n').next()?;
    let written = &text[name.clone()];
    let asks_itself = written.contains("-ask-") || written.starts_with("initial-");
    let prompt = Prompt::of(line).or(asks_itself.then_some(Prompt::Shell))?;
    let asks = match prompt {
        Prompt::Shell => {
            let words = || line.split(|c: char| !c.is_ascii_alphabetic());
            asks_itself || words().any(|word| SHOWS.contains(&word))
        }
        _ => !rest.contains(|c: char| c.is_alphanumeric() || "=:,".contains(c)),
    };
    let below = below.split(['\n', '\r']).next().filter(|_| asks)?;
    let end = below.as_ptr() as usize - text.as_ptr() as usize + below.len();
    let mut at = Cursor { bytes: &text.as_bytes()[..end], at: end - below.len() };
    at.skip_result();
    let quote = at.eat_quote();
    let value = &text[at.at..end];
    let is_quoted = matches!(quote, Some(Quote::Mark(..)));
    let len = match quote {
        Some(Quote::Mark(mark, _)) => value.find(char::from(mark))?,
        _ if prompt == Prompt::Bracket => return None,
        _ => value.trim_end().len(),
    };
    let is_alone = !value[..len].contains(char::is_whitespace)
        && !value[len..].contains(char::is_alphanumeric);
    let value = at.at..at.at + len;
    is_alone.then_some(Answer { value, is_quoted, is_of_shell: prompt == Prompt::Shell })
}

impl Prompt {
    /// `>>> `, `In [3]: `, `(gdb) `, `irb(main):001:0> `, `ana@web1:~$ `.
    fn of(line: &str) -> Option<Self> {
        let is_sign = |c: char| c.is_alphanumeric() || "()[]:.@/~_-\\".contains(c);
        let line = line.trim_start();
        let (first, _) = line.split_once(' ')?;
        let name = first.trim_end_matches(['>', '$', '%', '#', '❯', '➜']);
        if first.len() > 40 || !name.chars().all(is_sign) {
            return None;
        }
        let is_inside = first.len() > 2 && first.starts_with('(') && first.ends_with(')');
        if is_inside || first == ">>>" || line.starts_with("In [") {
            return Some(Self::Interpreter);
        }
        match &first[name.len()..] {
            ">" if name.is_empty() => Some(Self::Bracket),
            ">" => Some(Self::Interpreter),
            "$" | "%" | "❯" | "➜" => Some(Self::Shell),
            "#" if name.contains('@') => Some(Self::Shell),
            _ => None,
        }
    }
}

impl Cursor<'_> {
    /// What says that a line is an answer: `$1 = 0x5555 `, `=> `, `Out[3]: `, `val res0: String = `, `(NSString *) `.
    fn skip_result(&mut self) {
        for _ in 0..4 {
            let before = self.at;
            self.skip_blanks();
            self.eat_any(&["==> ", "=> ", "<- ", "< ", "@", "[1] "]);
            let rest = &self.bytes[self.at..];
            let word = rest.iter().take(60).take_while(|b| !matches!(b, b' ' | b'"')).count();
            let is_address = rest.starts_with(b"0x") && rest.get(word) == Some(&b' ');
            let is_type = rest.starts_with(b"(") && memchr::memchr(b')', rest).is_some();
            let ends = |end: &[u8]| memchr::memmem::find(rest, end).map(|at| at + end.len());
            let is_place = rest.starts_with(b"$") && rest.get(word..word + 3) == Some(b" = ");
            self.at += match rest {
                _ if is_address => word + 1,
                _ if is_place => word + 3,
                _ if is_type => ends(b")").unwrap_or_default(),
                [b'O', b'u', b't', b'[', ..] => ends(b"]: ").unwrap_or_default(),
                [b'v', b'a', b'l' | b'r', b' ', ..] => ends(b" = ").unwrap_or_default(),
                _ => 0,
            };
            if self.at == before {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer<'a>(text: &'a str, name: &str) -> Option<&'a str> {
        let start = text.find(name).unwrap();
        answer_below(text, &(start..start + name.len())).map(|answer| &text[answer.value])
    }

    #[test]
    fn a_prompt_answers_on_the_next_line() {
        for text in [
            "(gdb) print cfg->pw\n$2 = 0x55d1 \"V\"",
            "(lldb) p pw\n(NSString *) $0 = 0x0000 @\"V\"\n(lldb) ",
            "(Pdb) p pw\n'V'",
            ">>> app.config['pw']\n'V'",
            ">>> print(pw)\nV\n>>> ",
            "In [3]: pw\nOut[3]: 'V'",
            "irb(main):002:0> ENV[\"pw\"]\n=> \"V\"",
            "> localStorage.getItem('pw')\n< 'V'",
            "scala> pw\nval res0: String = V",
            "$ op item get db --fields pw --reveal\nV\n",
            "root@web1:~# kubectl get secret -o '{{.data.pw | base64decode}}'\nV",
        ] {
            assert_eq!(answer(text, "pw"), Some("V"), "{text}");
        }
    }

    #[test]
    fn other_lines_answer_nothing() {
        for text in [
            "> what is the pw\n> I do not know",
            "> the pw\nis said",
            ">>> pw = input()\nV",
            "$ vi pw\nV",
            "# The pw\nV",
            "the pw\nV",
            ">>> pw\n",
            ">>> pw",
            "$ get pw\ntwo words",
        ] {
            assert!(answer(text, "pw").is_none_or(str::is_empty), "{text}");
        }
    }
}
