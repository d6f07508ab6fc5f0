//! What Hermes takes for a title.

/// Characters that a title may have.
const LONGEST: usize = 100;

/// Why a text is no title.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nothing is left of it.
    #[error("the title is empty")]
    Empty,
    /// It is too long.
    #[error("the title has {0} characters; {LONGEST} is the most")]
    TooLong(usize),
}

/// A title as Hermes keeps it: on one line, and without characters that cannot be seen.
pub fn clean(text: &str) -> Result<String, Refused> {
    let kept: String = text.chars().filter(|c| !is_unseen(*c)).collect();
    let title = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    match title.chars().count() {
        0 => Err(Refused::Empty),
        1..=LONGEST => Ok(title),
        length => Err(Refused::TooLong(length)),
    }
}

/// Control characters, but for white space, and what is of no width or turns the direction of writing.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffc}'
    ) || (c.is_control() && (!c.is_whitespace() || matches!(c, '\u{b}' | '\u{c}')))
}

#[cfg(test)]
mod tests {
    use super::{Refused, clean};

    #[test]
    fn a_title_is_one_line_of_what_can_be_seen() {
        for (text, title) in [
            ("  new   name ", "new name"),
            ("zero\u{200b}width", "zerowidth"),
            ("a\tb\r\nc", "a b c"),
            ("\u{1b}[31mred\u{7f}", "[31mred"),
            ("\u{202e}olleh", "olleh"),
            ("日本語 タイトル 🦀", "日本語 タイトル 🦀"),
        ] {
            assert_eq!(clean(text).as_deref(), Ok(title));
        }
    }

    #[test]
    fn a_title_has_one_to_a_hundred_characters_when_it_is_clean() {
        assert_eq!(clean("\u{200b} \n"), Err(Refused::Empty));
        assert_eq!(clean(&"ä".repeat(100)).map(|title| title.chars().count()), Ok(100));
        assert_eq!(clean(&"ä".repeat(101)), Err(Refused::TooLong(101)));
        assert_eq!(clean(&format!("{}\u{200b}", "x".repeat(100))).map(|t| t.len()), Ok(100));
    }
}
