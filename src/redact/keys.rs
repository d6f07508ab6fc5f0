//! What there is to know of the names that values stand under. The same few names stand in every
//! row, so each is looked at once, not with every value.

use super::header::is_cookie_name;
use super::name::{Claim, claim};
use super::search::Search;
use super::words::WordSet;

/// Names that were looked at: a table that forgets the older of two that share a place.
#[derive(Debug, Default)]
pub(super) struct Keys {
    places: Vec<Place>,
    /// The place of the name that was asked for last.
    last: usize,
}

/// A name, and where the one stands that came after it the last time.
#[derive(Debug, Clone, Default)]
struct Place {
    name: String,
    key: Option<Key>,
    next: usize,
}

/// Many times the columns of a row.
const PLACES: usize = 1 << 9;

/// So many bytes tell names apart.
const LONGEST: usize = 32;

/// What a name says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// What it claims of its value.
    pub(super) claim: Option<Claim>,
    /// Whether it is a cookie header's.
    pub(super) is_cookie: bool,
    /// Whether a rule may find something in the value only because of it.
    pub(super) is_keyword: bool,
    /// Whether nothing in the name itself must go.
    pub(super) is_clean: bool,
    /// What a number under it may be.
    pub(super) number: Number,
}

/// What a number is whose name says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// Nothing that must go.
    Plain,
    /// What somebody types to prove who they are.
    Pin,
    /// The digits on the back of a card.
    CardCode,
    /// Somebody's id on a platform.
    Person,
}

impl Number {
    fn under(name: &str) -> Self {
        static PINS: WordSet = WordSet::new(
            "pin pin_code pincode user_pin userpin sim_pin card_pin door_code passcode otp otp_code totp_code",
        );
        static CARDS: WordSet = WordSet::new("cvv cvv2 cvc cvc2 card_cvv card_cvc");
        static PERSONS: WordSet = WordSet::new(
            "user_id userid from_id chat_id chatid sender_id senderid from_user_id author_id authorid member_id memberid \
             telegram_id discord_id guild_id guildid channel_id channelid thread_id threadid",
        );
        match name {
            name if PINS.holds(name) => Number::Pin,
            name if CARDS.holds(name) => Number::CardCode,
            name if PERSONS.holds(name) => Number::Person,
            _ => Number::Plain,
        }
    }
}

impl Keys {
    pub(super) fn get(&mut self, name: &str, search: &Search) -> Key {
        if self.places.is_empty() {
            self.places.resize(PLACES, Place::default());
        }
        // Rows are alike, so what came next the last time comes next.
        for place in [self.last, self.places[self.last].next] {
            if let Some(key) = self.places[place].of(name) {
                self.last = place;
                return key;
            }
        }
        let place = place(name);
        self.places[self.last].next = place;
        self.last = place;
        let place = &mut self.places[place];
        if let Some(key) = place.of(name) {
            return key;
        }
        let key = Key {
            claim: claim(name),
            is_cookie: is_cookie_name(name),
            is_keyword: search.is_asked_for(&before_value(name)),
            is_clean: search.find(name).is_empty(),
            number: Number::under(name),
        };
        (place.name, place.key) = (name.to_owned(), Some(key));
        key
    }
}

impl Place {
    fn of(&self, name: &str) -> Option<Key> {
        self.key.filter(|_| self.name == name)
    }
}

/// FNV-1a, folded: quicker than a keyed hash, and whoever makes names collide gains nothing but a
/// second look at them.
fn place(name: &str) -> usize {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = name.bytes().take(LONGEST).fold(0x811C_9DC5, step);
    (hash ^ hash >> 15) as usize % PLACES
}

/// A name as code has it before a value.
pub(super) fn before_value(name: &str) -> String {
    format!("{name}=\"")
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::super::known::KnownValues;
    use super::super::rule::Group;
    use super::*;

    #[test]
    fn what_is_said_of_a_name_is_the_same_the_second_time() {
        let rules = builtin::rules();
        let search =
            Search::new(rules, Vec::new(), &[Group::Secrets], KnownValues::default()).unwrap();
        let mut keys = Keys::default();
        let names = ["", "password", "Cookie", "path", "github_token", "pässwort", "path"];
        let look = |keys: &mut Keys| names.map(|name| format!("{:?}", keys.get(name, &search)));
        let first = look(&mut keys);
        assert_eq!(first, look(&mut keys));
        assert_eq!(keys.get("password", &search).claim, Some(Claim::Password));
        assert!(keys.get("Cookie", &search).is_cookie);
        assert!(keys.get("github_token", &search).is_keyword);
        assert!(!keys.get("path", &search).is_keyword);
    }
}
