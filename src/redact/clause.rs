//! Reads what a sentence puts between a name and its value: for whom it is, and the word that says what it
//! is.

use super::cursor::Cursor;

/// What says what something is, between blanks.
const IS: [&str; 21] = [
    " is ",
    " ist ",
    " est ",
    " es ",
    " é ",
    " è ",
    " lautet ",
    " är ",
    " er ",
    " jest ",
    " to ",
    " je ",
    " este ",
    " on ",
    " είναι ",
    " là ",
    " adalah ",
    " هي ",
    " هو ",
    " היא ",
    " это ",
];

/// Whether a word says what something is; lengths alone tell most others from it.
fn is_link(word: &[u8]) -> bool {
    IS.iter().any(|link| link.len() == word.len() + 2 && link.as_bytes()[1..].starts_with(word))
}

/// So many words stand between a name and what says what it is.
const MOST: usize = 6;

/// Bytes that they take.
const MOST_BYTES: usize = 112;

/// What is told of a secret that is not the secret.
const OTHERS: [&[u8]; 18] = [
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
    b"commit",
    b"error",
    b"sha",
    b"url",
    b"policy",
    b"version",
];

impl Cursor<'_> {
    /// `for bob:`, `for the router is` and `от роутера:` between a name and its value.
    pub(super) fn skip_clause(&mut self) -> bool {
        const STARTS: &[&str] = &[
            "for ", "to ", "of ", "in ", "on ", "от ", "для ", "к ", "для ", "für ", "zum ",
            "you ", "i ", "we ", "vom ", "pour ", "de ", "du ", "para ", "do ", "da ", "del ",
            "per ", "voor ", "van ", "до ", "від ",
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

    /// `такой: `, `has a capital: `: a few words and a colon between a name and its value.
    pub(super) fn skip_remark(&mut self) -> bool {
        let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + MOST_BYTES)];
        let is_letter = |b: &&u8| b.is_ascii_lowercase() || !b.is_ascii() || **b == b' ';
        let len = ahead.iter().take_while(is_letter).count();
        let mut words = ahead[..len].split(|b| *b == b' ');
        let is_remark = ahead[len..].starts_with(b": ")
            && words.clone().count() <= MOST
            && !words.any(|word| OTHERS.contains(&word));
        self.at += if is_remark { len + 2 } else { 0 };
        is_remark
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
        let end = self.bytes.len().min(self.at + MOST_BYTES);
        let mut rest = &self.bytes[self.at..end];
        for words in 0..MOST {
            let len = rest.iter().take_while(|b| b.is_ascii_lowercase() || !b.is_ascii()).count();
            let word = &rest[..len];
            if rest.get(len) == Some(&b' ') && is_link(word) {
                self.at = if words > 0 { end - rest.len() + len + 1 } else { self.at };
                return words > 0;
            }
            if words == 0 && PASSING.contains(&word) {
                // `contraseña temporal: `
                let mut next = Cursor { at: self.at + len, ..*self };
                next.skip_blanks();
                if next.eat(":") {
                    self.at = next.at;
                    return true;
                }
            }
            // `servernya `: the server's, in Indonesian
            if words == 0 && len > 4 && word.ends_with(b"nya") && rest.get(len) == Some(&b' ') {
                self.at += len + 1;
                return true;
            }
            if len == 0 || OTHERS.contains(&word) || rest.get(len) != Some(&b' ') {
                return false;
            }
            rest = &rest[len + 1..];
        }
        false
    }
}
