//! Reads what a sentence puts between a name and its value: for whom it is, and the word that says what it
//! is.

use super::cursor::Cursor;

/// What says what something is, between blanks.
const IS: [&str; 10] =
    [" is ", " ist ", " est ", " es ", " é ", " è ", " lautet ", " är ", " er ", " jest "];

impl Cursor<'_> {
    /// `for bob:`, `for the router is` and `от роутера:` between a name and its value.
    pub(super) fn skip_clause(&mut self) -> bool {
        const STARTS: &[&str] = &[
            "for ", "to ", "of ", "in ", "on ", "от ", "для ", "к ", "для ", "für ", "zum ",
            "you ", "i ", "we ", "vom ", "pour ", "de ", "du ", "para ", "do ", "da ", "del ",
            "per ", "voor ", "van ",
        ];
        let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + 80)];
        if !STARTS.iter().any(|start| ahead.starts_with(start.as_bytes())) {
            return self.skip_owner();
        }
        let is_prose =
            |b: u8| b.is_ascii_alphanumeric() || !b.is_ascii() || b" '@.-_/".contains(&b);
        let is_url = |two: &[u8]| two == b":/";
        let goes_on =
            |at: &usize| is_prose(ahead[*at]) || ahead.get(*at..*at + 2).is_some_and(is_url);
        let len = (0..ahead.len()).take_while(goes_on).count();
        let ends =
            ahead.get(len) == Some(&b':') && !matches!(ahead.get(len + 1), Some(b'/' | b':'));
        let found = |link: &&str| {
            memchr::memmem::find(&ahead[..len], link.as_bytes()).map(|at| at + link.len())
        };
        let link = IS.iter().chain(&[" — ", " – "]).filter_map(found).min();
        self.at += if ends { len + 1 } else { link.unwrap_or_default() };
        ends || link.is_some()
    }

    /// `serverului este`: one or two words between a name and what says what it is.
    fn skip_owner(&mut self) -> bool {
        /// Said of a secret that is to be changed soon, or of whom it lets in.
        const PASSING: [&[u8]; 14] = [
            b"temporal",
            b"temporaire",
            b"provisoire",
            b"provisoria",
            b"provvisoria",
            b"temporanea",
            b"inicial",
            b"iniziale",
            b"initial",
            b"root",
            b"admin",
            b"wifi",
            b"ssh",
            b"vpn",
        ];
        /// What is told of a secret that is not the secret.
        const OTHERS: [&[u8]; 12] = [
            b"fingerprint",
            b"hash",
            b"digest",
            b"checksum",
            b"size",
            b"length",
            b"id",
            b"name",
            b"type",
            b"format",
            b"file",
            b"path",
        ];
        let mut rest = &self.bytes[self.at..self.bytes.len().min(self.at + 48)];
        for words in 0..3 {
            let mut links = IS.iter().map(|link| &link.as_bytes()[1..]).chain([&b"este "[..]]);
            if let Some(link) = links.find(|link| rest.starts_with(link)) {
                let len = self.bytes.len().min(self.at + 48) - self.at - rest.len();
                self.at += if words > 0 { len + link.len() } else { 0 };
                return words > 0;
            }
            let len = rest.iter().take_while(|b| b.is_ascii_lowercase() || !b.is_ascii()).count();
            if words == 0 && PASSING.contains(&&rest[..len]) {
                // `contraseña temporal: `
                let mut next = Cursor { at: self.at + len, ..*self };
                next.skip_blanks();
                if next.eat(":") {
                    self.at = next.at;
                    return true;
                }
            }
            let is_other = OTHERS.contains(&&rest[..len]);
            if len < 2 || is_other || rest.get(len) != Some(&b' ') {
                return false;
            }
            rest = &rest[len + 1..];
        }
        false
    }
}
