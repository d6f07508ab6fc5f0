//! Reads the type that a declaration puts between a name and its value.

use super::cursor::Cursor;
use super::read::Operator;

impl Cursor<'_> {
    /// `string = ` after a name, as Go declares it.
    pub(super) fn skip_declared_type(&mut self) -> bool {
        let mut next = *self;
        let is_type = next.eat_any(&["string", "[]byte", "char", "str", "text", "as string"]);
        next.skip_blanks();
        let assigns = is_type && next.eat("=") && next.peek() != Some(b'=');
        self.at = if assigns { next.at } else { self.at };
        assigns || self.skip_sized_type()
    }

    /// `VARCHAR2(30) := `, `NVARCHAR(50) = N`, `PIC X(12) VALUE ` before a quoted value.
    fn skip_sized_type(&mut self) -> bool {
        let is_type = |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b'_' | b' ');
        let mut next = *self;
        next.at += next.bytes[next.at..].iter().take(24).take_while(is_type).count();
        let opens = next.at > self.at && next.eat("(");
        next.at += next.bytes[next.at..].iter().take(8).take_while(|b| b.is_ascii_digit()).count();
        let closes = opens && next.eat(")");
        next.skip_blanks();
        let assigns = closes && next.eat_any(&[":=", "=", "value ", "default "]);
        next.skip_blanks();
        next.eat("n'");
        let is_quoted =
            matches!(next.peek(), Some(b'\'' | b'"')) || next.bytes[..next.at].ends_with(b"'");
        next.at -= usize::from(next.bytes[..next.at].ends_with(b"'"));
        let assigns = assigns && is_quoted;
        self.at = if assigns { next.at } else { self.at };
        assigns
    }

    /// `: str = ` after a name: the type, and the `=` that makes an assignment of it. What has a
    /// number's type is as good as compared with one.
    pub(super) fn skip_type(&mut self) -> Option<Operator> {
        const NUMBERS: &[&[u8]] =
            &[b"u", b"i", b"int", b"usize", b"number", b"float", b"long", b"f"];
        let is_type = |b: &u8| b.is_ascii_alphanumeric() || b"_&'<>.[]|?* ".contains(b);
        let ahead = &self.bytes[self.at..self.bytes.len().min(self.at + 48)];
        let len = ahead.iter().take_while(|b| is_type(b)).count();
        // `constant String := `
        let len = if ahead[len..].starts_with(b":= ") { len + 1 } else { len };
        let after = (ahead.get(len), ahead.get(len + 1));
        let has_letter = ahead[..len].iter().any(u8::is_ascii_alphabetic);
        let spaced = len > 0 && matches!(ahead[len - 1], b' ' | b':');
        if !has_letter || !spaced || after.0 != Some(&b'=') || after.1 == Some(&b'=') {
            return None;
        }
        let name = ahead[..len].strip_suffix(b":").unwrap_or(&ahead[..len]).trim_ascii();
        let digits = name.iter().rev().take_while(|b| b.is_ascii_digit()).count();
        let is_number = NUMBERS.contains(&&name[..name.len() - digits]);
        self.at += len + 1;
        Some(if is_number { Operator::Compare } else { Operator::Equals })
    }
}
