//! What somebody searches for: words, "phrases", prefix*, AND, OR and NOT, in FTS5's syntax and with
//! its precedence. What FTS5 would refuse is read as a person means it: an operator that lacks a
//! side is left out, a quote without its other half is a blank.

use std::fmt::Write as _;

/// More of a query is not looked at.
const MAX_CHARS: usize = 2048;

/// A query with at least one term.
#[derive(Debug, Clone, PartialEq)]
pub struct Query(pub(crate) Expr);

/// A query, parsed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    Term(Term),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// The first, and not the second.
    Not(Box<Expr>, Box<Expr>),
}

/// A word or phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) text: String,
    /// The last word is the beginning of one.
    pub(crate) prefix: bool,
}

impl Query {
    /// Reads a query; `None` where there is nothing to search for.
    pub fn parse(text: &str) -> Option<Self> {
        let text = beginning(text);
        let tokens = tokens(text);
        let mut parser = Parser { tokens: &tokens, at: 0 };
        parser.any().map(Self)
    }

    /// The query as FTS5 takes it, with every term quoted.
    pub(crate) fn to_fts5(&self) -> String {
        let mut out = String::new();
        self.0.write_fts5(Binding::Or, &mut out);
        out
    }
}

/// What is looked at of a query: no half of a word.
fn beginning(text: &str) -> &str {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => {
            let cut = &text[..end];
            cut.rfind(is_between).map_or(cut, |at| &cut[..at])
        }
        None => text,
    }
}

/// Whether a text is longer than what is looked at of a query.
pub fn is_cut(text: &str) -> bool {
    text.chars().nth(MAX_CHARS).is_some()
}

/// How closely FTS5's operators bind, the loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Not,
    Term,
}

impl Expr {
    /// Writes no parentheses that need not be: FTS5 nests a hundred of them at most.
    fn write_fts5(&self, least: Binding, out: &mut String) {
        let (own, next, operator, left, right) = match self {
            Expr::Term(term) => {
                let star = if term.prefix { "*" } else { "" };
                let text = term.text.replace('"', "\"\"");
                let _ = write!(out, "\"{text}\"{star}"); // a String takes everything
                return;
            }
            Expr::Or(a, b) => (Binding::Or, Binding::And, " OR ", a, b),
            Expr::And(a, b) => (Binding::And, Binding::Not, " AND ", a, b),
            Expr::Not(a, b) => (Binding::Not, Binding::Term, " NOT ", a, b),
        };
        if own < least {
            out.push('(');
        }
        left.write_fts5(own, out);
        out.push_str(operator);
        right.write_fts5(next, out);
        if own < least {
            out.push(')');
        }
    }

    /// Whether a text in which these terms are passes.
    pub(crate) fn holds(&self, is_in: &mut impl FnMut(&Term) -> bool) -> bool {
        match self {
            Expr::Term(term) => is_in(term),
            Expr::And(a, b) => a.holds(is_in) && b.holds(is_in),
            Expr::Or(a, b) => a.holds(is_in) || b.holds(is_in),
            Expr::Not(a, b) => a.holds(is_in) && !b.holds(is_in),
        }
    }

    /// All terms.
    pub(crate) fn terms<'e>(&'e self, terms: &mut Vec<&'e Term>) {
        match self {
            Expr::Term(term) => terms.push(term),
            Expr::And(a, b) | Expr::Or(a, b) | Expr::Not(a, b) => {
                a.terms(terms);
                b.terms(terms);
            }
        }
    }

    /// The terms that a text is wanted for.
    pub(crate) fn wanted<'e>(&'e self, terms: &mut Vec<&'e Term>) {
        match self {
            Expr::Term(term) => terms.push(term),
            Expr::Not(a, _) => a.wanted(terms),
            Expr::And(a, b) | Expr::Or(a, b) => {
                a.wanted(terms);
                b.wanted(terms);
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Term(Term),
    And,
    Or,
    Not,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '"'
            && let Some(end) = rest[1..].find('"')
        {
            let prefix = rest[end + 2..].starts_with('*');
            push(&mut tokens, &rest[1..=end], prefix);
            rest = &rest[end + 2..];
            continue;
        }
        if is_between(c) {
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let end = rest.find(is_between).unwrap_or(rest.len());
        let prefix = rest[end..].starts_with('*');
        match &rest[..end] {
            "AND" if !prefix => tokens.push(Token::And),
            "OR" if !prefix => tokens.push(Token::Or),
            "NOT" if !prefix => tokens.push(Token::Not),
            word => push(&mut tokens, word, prefix),
        }
        rest = &rest[end..];
    }
    tokens
}

/// What parts words: blanks, and FTS5's own characters.
fn is_between(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '"' | '+' | '{' | '}' | '(' | ')' | ':' | '^' | '*')
}

fn push(tokens: &mut Vec<Token>, text: &str, prefix: bool) {
    let text: String = text.chars().map(|c| if c == '\0' { ' ' } else { c }).collect();
    let text = text.trim();
    if !text.is_empty() {
        tokens.push(Token::Term(Term { text: text.to_owned(), prefix }));
    }
}

/// Recursive descent over OR, AND, NOT and words side by side, in rising order of binding.
struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl Parser<'_> {
    fn any(&mut self) -> Option<Expr> {
        let first = self.all();
        self.joined(first, &Token::Or, Self::all, Expr::Or)
    }

    fn all(&mut self) -> Option<Expr> {
        let first = self.but();
        self.joined(first, &Token::And, Self::but, Expr::And)
    }

    fn but(&mut self) -> Option<Expr> {
        let first = self.words();
        self.joined(first, &Token::Not, Self::words, Expr::Not)
    }

    fn words(&mut self) -> Option<Expr> {
        let mut all: Option<Expr> = None;
        while let Some(Token::Term(term)) = self.tokens.get(self.at) {
            self.at += 1;
            let term = Expr::Term(term.clone());
            all = Some(match all {
                Some(before) => Expr::And(before.into(), term.into()),
                None => term,
            });
        }
        all
    }

    /// Operands with an operator between; one that lacks a side counts for nothing.
    fn joined(
        &mut self,
        first: Option<Expr>,
        operator: &Token,
        next: fn(&mut Self) -> Option<Expr>,
        join: fn(Box<Expr>, Box<Expr>) -> Expr,
    ) -> Option<Expr> {
        let mut left = first;
        while self.tokens.get(self.at) == Some(operator) {
            self.at += 1;
            let right = next(self);
            left = match (left, right) {
                (Some(left), Some(right)) => Some(join(left.into(), right.into())),
                (left, right) => left.or(right),
            };
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[track_caller]
    fn assert_reads(text: &str, wanted: &str) {
        assert_eq!(
            Query::parse(text).map(|query| query.to_fts5()).as_deref(),
            Some(wanted),
            "{text}"
        );
    }

    #[test]
    fn operators_bind_as_they_do_in_fts5() {
        assert_reads("docker deployment", r#""docker" AND "deployment""#);
        assert_reads("a OR b AND c NOT d", r#""a" OR "b" AND "c" NOT "d""#);
        assert_reads("a b NOT c d", r#"("a" AND "b") NOT ("c" AND "d")"#);
        assert_reads(r#""exact phrase" deploy*"#, r#""exact phrase" AND "deploy"*"#);
        assert_reads("and or not", r#""and" AND "or" AND "not""#);
    }

    #[test]
    fn what_fts5_would_refuse_is_read_as_it_is_meant() {
        assert_reads("TODO: fix", r#""TODO" AND "fix""#);
        assert_reads(r#"un"balanced"#, r#""un" AND "balanced""#);
        assert_reads("AND x OR", r#""x""#);
        assert_reads("a AND OR b", r#""a" OR "b""#);
        assert_reads("file-like os.path /etc/x", r#""file-like" AND "os.path" AND "/etc/x""#);
        assert_reads("NOT x", r#""x""#);
        assert_reads("{a} (b)^ +c ***", r#""a" AND "b" AND "c""#);
        for nothing in ["", "  ", "AND", "\"\"", "*", "( )", "\0"] {
            assert_eq!(Query::parse(nothing), None, "{nothing:?}");
        }
    }
}
