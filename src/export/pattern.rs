//! Names that the user lays out: `{date}-{title}-{id}`.
//!
//! Whatever the pattern, names are portable, short enough and distinct: a pattern that does not set the id
//! apart at one end gets a hash of it, and so does a name that had to be cut.

use formats::iso_seconds;
use formats::model::{Session, SessionColumn};

use super::name::{hash, is_reserved, legal, slug};

/// How the user wants a session's file to be called, without the suffix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Field),
}

/// What a pattern can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Date,
    Time,
    Title,
    Id,
    Source,
    Model,
}

/// Why a pattern names nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// A field that no session has.
    #[error(
        "there is no {{{0}}}; there are {{date}}, {{time}}, {{title}}, {{id}}, {{source}} and {{model}}"
    )]
    UnknownField(String),
    /// A brace without the other.
    #[error("a brace is not closed, or not opened")]
    Brace,
    /// A character that some system does not take in a name, or that we need ourselves.
    #[error("`{0}` does not stand in a name; letters, digits, `-`, `_` and `.` do")]
    Character(char),
    /// It begins as a hidden file or a flag does.
    #[error("a name does not begin with `{0}`")]
    Beginning(char),
    /// There would be no room for what it names.
    #[error("its own text is longer than {MAX_TEXT} bytes")]
    Long,
}

const MAX_TEXT: usize = 60; // bytes of the pattern's own
const MAX_STEM: usize = 200; // bytes; with any suffix below 255

impl Pattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            pieces.extend(own_text(&rest[..at])?);
            let field = rest[at..].strip_prefix('{').and_then(|field| field.split_once('}'));
            let (name, after) = field.ok_or(PatternError::Brace)?;
            pieces.push(Piece::Field(Field::named(name)?));
            rest = after;
        }
        pieces.extend(own_text(rest)?);
        let own: usize = pieces.iter().map(Piece::own_len).sum();
        match pieces.first() {
            None => Err(PatternError::Empty),
            _ if own > MAX_TEXT => Err(PatternError::Long),
            Some(Piece::Text(text)) if text.starts_with(['.', '-']) => {
                Err(PatternError::Beginning(text.chars().next().unwrap_or('.')))
            }
            Some(_) => Ok(Self { text: text.to_owned(), pieces }),
        }
    }

    /// `{id}`, which a new title does not change.
    pub fn id() -> Self {
        Self { text: "{id}".to_owned(), pieces: vec![Piece::Field(Field::Id)] }
    }

    /// The pattern as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The name of a session's file without its suffix.
    pub(super) fn stem(&self, session: &Session<'_>) -> String {
        let mut stem = String::new();
        for piece in &self.pieces {
            let piece = match piece {
                Piece::Text(text) => text.clone(),
                Piece::Field(field) => field.of(session),
            };
            // A field without a value takes its hyphen along.
            let doubled = piece.starts_with('-') && (stem.is_empty() || stem.ends_with('-'));
            stem.push_str(if doubled { &piece[1..] } else { &piece });
        }
        let stem = stem.trim_matches(['-', '.']);
        let is_device = is_reserved(&stem.split('.').next().unwrap_or_default().to_lowercase());
        if stem.len() <= MAX_STEM && self.sets_id_apart() && !is_device {
            return stem.to_owned();
        }
        let before = if is_device { "_" } else { "" };
        let cut = stem.floor_char_boundary(MAX_STEM);
        format!("{before}{}~{}", &stem[..cut], hash(session.id()))
    }

    /// An id has no hyphen, or a hash at its end, so at one end of a name a hyphen tells where it is.
    fn sets_id_apart(&self) -> bool {
        let is_id = |piece: Option<&Piece>| piece == Some(&Piece::Field(Field::Id));
        let mut pieces = self.pieces.iter();
        let first = is_id(pieces.next())
            && pieces
                .next()
                .is_none_or(|next| matches!(next, Piece::Text(t) if t.starts_with('-')));
        let mut pieces = self.pieces.iter().rev();
        let last = is_id(pieces.next())
            && pieces.next().is_none_or(|next| matches!(next, Piece::Text(t) if t.ends_with('-')));
        first || last
    }
}

impl Piece {
    fn own_len(&self) -> usize {
        match self {
            Piece::Text(text) => text.len(),
            Piece::Field(_) => 0,
        }
    }
}

fn own_text(text: &str) -> Result<Option<Piece>, PatternError> {
    let fits = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    match text.chars().find(|c| !fits(*c)) {
        Some(c) => Err(PatternError::Character(c)),
        None => Ok((!text.is_empty()).then(|| Piece::Text(text.to_owned()))),
    }
}

impl Field {
    fn named(name: &str) -> Result<Self, PatternError> {
        Ok(match name {
            "date" => Field::Date,
            "time" => Field::Time,
            "title" => Field::Title,
            "id" => Field::Id,
            "source" => Field::Source,
            "model" => Field::Model,
            other => return Err(PatternError::UnknownField(other.to_owned())),
        })
    }

    fn of(self, session: &Session<'_>) -> String {
        let column = |column| session.text(column).map(slug).unwrap_or_default();
        let started = session.number(SessionColumn::StartedAt).and_then(iso_seconds);
        let started = started.as_deref().and_then(|time| time.split_once('T'));
        match self {
            Field::Date => started.map(|(date, _)| date.to_owned()).unwrap_or_default(),
            Field::Time => started
                .and_then(|(_, time)| time.get(..8))
                .map(|time| time.replace(':', ""))
                .unwrap_or_default(),
            Field::Title => column(SessionColumn::Title),
            Field::Id => legal(session.id()),
            Field::Source => column(SessionColumn::Source),
            Field::Model => column(SessionColumn::Model),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use formats::model::{Header, Row, Session, SessionColumn, Value};
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::{Pattern, PatternError};

    fn header() -> Header<SessionColumn> {
        Header::new(["id", "source", "model", "title", "started_at"].map(str::to_owned).to_vec())
    }

    fn session<'h>(header: &'h Header<SessionColumn>, id: &str, title: &str) -> Session<'h> {
        let text = |text: &str| Value::Text(text.to_owned().into());
        let cells = vec![
            text(id),
            text("cli"),
            text("anthropic/claude-3.5"),
            text(title),
            Value::Real(1_783_261_800.0),
        ];
        Row::new(header, cells)
    }

    fn stem(pattern: &str, id: &str, title: &str) -> String {
        Pattern::parse(pattern).unwrap().stem(&session(&header(), id, title))
    }

    #[test]
    fn fields_stand_where_the_pattern_has_them() {
        for (pattern, wanted) in [
            ("{date}-{title}-{id}", "2026-07-05-fix-flaky-tests-s0"),
            ("{id}-{model}.{source}", "s0-anthropic-claude-3-5.cli"),
            ("talk_{date}T{time}-{id}", "talk_2026-07-05T143000-s0"),
            ("{id}", "s0"),
        ] {
            assert_eq!(stem(pattern, "s0", "Fix: flaky tests!"), wanted);
        }
        assert_eq!(stem("{date}-{title}-{id}", "s0", "!!!"), "2026-07-05-s0");
        assert_eq!(stem("{title}-{id}", "s0", ""), "s0");
    }

    #[test]
    fn a_pattern_that_does_not_set_the_id_apart_gets_a_hash_of_it() {
        for pattern in ["{title}", "{title}{id}", "{date}_{id}", "{source}-{id}-{title}", "con"] {
            let names = ["a", "b"].map(|id| stem(pattern, id, "x"));
            assert_ne!(names[0], names[1], "{pattern}");
            assert!(names[0].contains('~'), "{pattern}: {}", names[0]);
        }
    }

    #[test]
    fn patterns_that_name_nothing_are_refused() {
        for (pattern, wanted) in [
            ("", PatternError::Empty),
            ("{day}", PatternError::UnknownField("day".to_owned())),
            ("{title", PatternError::Brace),
            ("title}", PatternError::Brace),
            ("../{id}", PatternError::Character('/')),
            ("{title}~{id}", PatternError::Character('~')),
            (".{id}", PatternError::Beginning('.')),
            ("-{id}", PatternError::Beginning('-')),
            (&"x".repeat(61), PatternError::Long),
        ] {
            assert_eq!(Pattern::parse(pattern), Err(wanted), "{pattern}");
        }
    }

    fn patterns() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("{id}"),
            Just("{title}"),
            Just("{date}"),
            Just("-"),
            Just("."),
            Just("_"),
            Just("a"),
        ];
        proptest::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(11), ..ProptestConfig::default() })]

        #[test]
        fn distinct_ids_never_share_a_name(
            pattern in patterns(),
            sessions in proptest::collection::vec(("[a-bA_/-]{0,3}", "[a-b -]{0,4}"), 2..6),
        ) {
            let Ok(pattern) = Pattern::parse(&pattern) else { return Ok(()) };
            let header = header();
            let mut names = HashMap::new();
            for (id, title) in &sessions {
                let name = pattern.stem(&session(&header, id, title)).to_lowercase();
                let other = names.insert(name.clone(), id);
                prop_assert!(other.is_none_or(|other| other == id), "{name}: {other:?} and {id}");
            }
        }

        #[test]
        fn any_id_and_title_give_a_portable_name(pattern in patterns(), id in ".*", title in ".*") {
            let Ok(pattern) = Pattern::parse(&pattern) else { return Ok(()) };
            let name = pattern.stem(&session(&header(), &id, &title));
            prop_assert!(name.len() <= 230, "room for a suffix: {}", name.len());
            prop_assert!(!name.is_empty() && !name.starts_with(['.', '-']));
            prop_assert!(name.chars().all(|c| c.is_alphanumeric() || "_-~.".contains(c)));
        }
    }
}
