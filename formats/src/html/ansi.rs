//! Terminal output: colours and styles (SGR) become classes, other sequences are left out, and what
//! is no sequence is shown like any other text.

use std::fmt::Write as _;

use maud::Markup;

use super::spans::Spans;

/// The text with its colours as classes: `f0` to `f15`, `g0` to `g15` for the background, `B` bold,
/// `D` dim, `I` italic, `U` underlined, `S` struck.
pub(super) fn coloured(text: &str) -> Markup {
    let mut spans = Spans::default();
    let mut style = Style::default();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        spans.push(&style.class(), &rest[..at]);
        rest = &rest[at..];
        let sequence = Sequence::at_start_of(rest);
        match &sequence {
            Some(Sequence { kind: Kind::Style(codes), .. }) => style.apply(codes),
            Some(_) => {}
            None => spans.push(&style.class(), "\u{1b}"),
        }
        rest = &rest[sequence.map_or(1, |sequence| sequence.length)..];
    }
    spans.push(&style.class(), rest);
    spans.finish()
}

/// An escape sequence.
struct Sequence<'t> {
    length: usize,
    kind: Kind<'t>,
}

enum Kind<'t> {
    /// Selects a style by these codes.
    Style(&'t str),
    /// Moves the cursor, names the window, links.
    Other,
}

impl<'t> Sequence<'t> {
    fn at_start_of(text: &'t str) -> Option<Self> {
        let after = &text[1..];
        match after.chars().next()? {
            '[' => {
                let end = after[1..].find(|c: char| !matches!(c, ' '..='?'))? + 1;
                let last = after[end..].chars().next().filter(|c| matches!(c, '@'..='~'))?;
                let codes = &after[1..end];
                let is_style = last == 'm' && codes.chars().all(|c| c.is_ascii_digit() || c == ';');
                let kind = if is_style { Kind::Style(codes) } else { Kind::Other };
                Some(Self { length: end + 2, kind })
            }
            ']' => {
                let end = after.find(['\u{7}', '\u{1b}', '\n'])?;
                let length = match &after[end..] {
                    rest if rest.starts_with('\u{7}') => end + 2,
                    rest if rest.starts_with("\u{1b}\\") => end + 3,
                    _ => return None,
                };
                Some(Self { length, kind: Kind::Other })
            }
            '(' | ')' => {
                let set = after[1..].chars().next().filter(char::is_ascii_alphanumeric)?;
                Some(Self { length: 2 + set.len_utf8(), kind: Kind::Other })
            }
            '7' | '8' | '=' | '>' | 'M' | 'c' => Some(Self { length: 2, kind: Kind::Other }),
            _ => None,
        }
    }
}

/// What the sequences so far ask for.
#[derive(Default)]
struct Style {
    colour: Option<u8>,
    background: Option<u8>,
    marks: [bool; MARKS.len()],
}

/// Each kind of mark: the code that sets it, its class, the code that ends it.
const MARKS: [(u16, char, u16); 5] =
    [(1, 'B', 22), (2, 'D', 22), (3, 'I', 23), (4, 'U', 24), (9, 'S', 29)];

impl Style {
    fn class(&self) -> String {
        let mut class = String::new();
        for (set, (_, name, _)) in self.marks.iter().zip(MARKS) {
            if *set {
                class.push(name);
                class.push(' ');
            }
        }
        if let Some(colour) = self.colour {
            write!(class, "f{colour} ").unwrap_or_default();
        }
        if let Some(colour) = self.background {
            write!(class, "g{colour}").unwrap_or_default();
        }
        class.truncate(class.trim_end().len());
        class
    }

    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split(';').map(|code| code.parse::<u16>().unwrap_or(0));
        while let Some(code) = codes.next() {
            for (set, (on, _, off)) in self.marks.iter_mut().zip(MARKS) {
                *set = (*set || code == on) && code != off && code != 0;
            }
            match code {
                0 => *self = Self::default(),
                7 => (self.colour, self.background) = (Some(15), Some(8)),
                27 => (self.colour, self.background) = (None, None),
                30..=37 => self.colour = low(code - 30),
                38 => self.colour = extended(&mut codes),
                39 => self.colour = None,
                40..=47 => self.background = low(code - 40),
                48 => self.background = extended(&mut codes),
                49 => self.background = None,
                90..=97 => self.colour = low(code - 90 + 8),
                100..=107 => self.background = low(code - 100 + 8),
                _ => {}
            }
        }
    }
}

fn low(code: u16) -> Option<u8> {
    u8::try_from(code).ok()
}

/// A colour of 256 or of all, as the nearest of sixteen.
fn extended(codes: &mut impl Iterator<Item = u16>) -> Option<u8> {
    let rgb = match codes.next()? {
        2 => [codes.next()?, codes.next()?, codes.next()?],
        5 => match codes.next()? {
            code @ 0..=15 => return low(code),
            code @ 16..=231 => {
                [(code - 16) / 36, (code - 16) / 6 % 6, (code - 16) % 6].map(|c| c * 51)
            }
            code => [code.saturating_sub(232) * 10 + 8; 3],
        },
        _ => return None,
    };
    let brightest = rgb.into_iter().max()?;
    let bit = |channel: u16| u8::from(channel * 2 > brightest);
    let hue = bit(rgb[0]) | bit(rgb[1]) << 1 | bit(rgb[2]) << 2;
    Some(match brightest {
        0..=63 => 0,
        64..=159 if hue == 7 => 8,
        64..=191 => hue,
        _ => hue + 8,
    })
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn styles_become_classes() {
        for (text, markup) in [
            ("\u{1b}[31mred\u{1b}[0m plain", "<i class=f1>red</i> plain"),
            (
                "\u{1b}[1;92mok\u{1b}[22m.\u{1b}[39m!",
                "<i class=\"B f10\">ok</i><i class=f10>.</i>!",
            ),
            ("\u{1b}[38;5;196mx\u{1b}[m", "<i class=f9>x</i>"),
            ("\u{1b}[48;2;0;0;200mx\u{1b}[0;3my", "<i class=g12>x</i><i class=I>y</i>"),
            ("\u{1b}[7mx\u{1b}[27my", "<i class=\"f15 g8\">x</i>y"),
        ] {
            assert_eq!(coloured(text).0, markup, "{text:?}");
        }
    }

    #[test]
    fn other_sequences_vanish_and_broken_ones_are_seen() {
        for (text, markup) in [
            ("a\u{1b}[2Kb\u{1b}[?25lc", "abc"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;https://a\u{1b}\\y", "xy"),
            ("\u{1b}(Bx", "x"),
            ("\u{1b}", "␛"),
            ("\u{1b}[", "␛["),
            ("\u{1b}[31", "␛[31"),
            ("\u{1b}[é", "␛[é"),
            ("\u{1b}]open", "␛]open"),
            ("\u{1b}[38;5m<", "&lt;"),
            ("\u{1b}[99999999999m<", "&lt;"),
        ] {
            assert_eq!(coloured(text).0, markup, "{text:?}");
        }
    }
}
