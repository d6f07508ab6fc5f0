//! Reads what frames a value that a program wrote: the head of a form's part, the length of a string in bytes,
//! the number of a list's item.

use super::cursor::Cursor;

impl Cursor<'_> {
    /// The end of what heads a part of a multipart form, and the headers that may follow its name.
    pub(super) fn skip_part_head(&mut self) -> bool {
        const ENDS: [&str; 4] = ["\r\n", "\n", "\\r\\n", "\\n"];
        const MOST_HEADERS: usize = 4;
        let mut headers = 0;
        while headers < MOST_HEADERS && self.eat_any(&ENDS) {
            if self.eat("content-") {
                let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + 120)];
                self.at += ahead.iter().take_while(|b| !matches!(b, b'\r' | b'\n' | b'\\')).count();
                headers += 1;
            } else {
                let is_crlf = self.bytes[..self.at].ends_with(b"\r\n")
                    || self.bytes[..self.at].ends_with(b"\\r\\n");
                return (is_crlf || headers > 0) && self.eat_any(&ENDS);
            }
        }
        false
    }

    /// The length of a string in `MessagePack`, pickle and BSON, as bytes are shown: `\xac`, `X\x0c\x00\x00\x00`.
    pub(super) fn skip_length(&mut self) -> bool {
        const MOST: usize = 8;
        let mut next = *self;
        next.at += usize::from(matches!(next.peek(), Some(b'X' | b'U' | b'T')));
        for _ in 0..MOST {
            let is_byte = next.bytes[next.at..].starts_with(b"\\x")
                && next
                    .bytes
                    .get(next.at + 2..next.at + 4)
                    .is_some_and(|b| b.iter().all(u8::is_ascii_hexdigit));
            if !is_byte {
                break;
            }
            next.at += 4;
            // `\x94\x8c\x0c`, `q\x00X\x0c`: what is remembered, and the next string.
            let is_mark = matches!(next.peek(), Some(b'X' | b'U' | b'T'))
                && next.bytes[next.at + 1..].starts_with(b"\\x");
            next.at += usize::from(is_mark);
        }
        let skipped = next.at >= self.at + 4;
        *self = if skipped { next } else { *self };
        skipped
    }

    /// `2) ` before the next line of a list, as Redis answers with names and values in turn.
    pub(super) fn skip_number(&mut self) -> bool {
        let mut next = *self;
        let begins = next.eat_any(&["\r\n", "\n", "\\n"]);
        next.skip_blanks();
        let digits =
            next.bytes[next.at..].iter().take(4).take_while(|b| b.is_ascii_digit()).count();
        next.at += digits;
        let is_item = begins && digits > 0 && next.eat(") ") && next.peek() == Some(b'"');
        *self = if is_item { next } else { *self };
        is_item
    }
}
