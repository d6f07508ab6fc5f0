//! Takes secrets out of texts: JSON leaf by leaf, other text as it stands.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

use super::clean::Clean;
use super::context::Kind;
use super::disclosure::Disclosure;
use super::header::{cookie_pairs, scheme_len};
use super::json::{self, Editor};
use super::keys::{Key, before_value};
use super::known::KnownValues;
use super::name::Claim;
use super::natural::looks_random;
use super::rule::{Group, Rule, RuleError};
use super::scope::Scope;
use super::search::{Hit, MARKER, RuleIndex, Search};
use super::texts::{Raw, Texts};
use super::value::{Setting, is_secret};
use super::words::WordSet;
use super::{builtin, paths};

/// The only way out of [`Raw`].
pub struct Redactor {
    /// `None` lets everything pass: `--no-redact`.
    search: Option<Search>,
    groups: Vec<Group>,
    disclosure: Disclosure,
    paths: Option<paths::Names>,
    key: RandomState,
    clean: Clean,
}

/// JSON in JSON beyond this is taken as text.
const MAX_DEPTH: usize = 12;

/// No rule finds anything in a shorter text, and most keys and many values of JSON are.
const MIN_TEXT: usize = 6;

/// Taking a secret out can uncover another one beside it; after this many rounds it is settled.
const MAX_ROUNDS: usize = 4;

impl Redactor {
    /// Lets everything pass.
    pub fn none() -> Self {
        Self {
            search: None,
            groups: Vec::new(),
            disclosure: Disclosure::Whole,
            paths: None,
            key: RandomState::new(),
            clean: Clean::new(),
        }
    }

    /// Takes out what the built-in rules and these find, as far as they belong to the groups.
    pub fn new(rules: Vec<Rule>, groups: &[Group], known: KnownValues) -> Result<Self, RuleError> {
        let search = Search::new(builtin::rules()?, rules, groups, known)?;
        Ok(Self {
            search: Some(search),
            paths: groups.contains(&Group::Paths).then(paths::Names::of_this_machine),
            groups: groups.to_vec(),
            disclosure: Disclosure::Whole,
            key: RandomState::new(),
            clean: Clean::new(),
        })
    }

    /// Shows so much of a row, whatever its texts hold.
    #[must_use]
    pub fn disclosing(self, disclosure: Disclosure) -> Self {
        Self { disclosure, ..self }
    }

    /// How much of a row is shown.
    pub fn disclosure(&self) -> Disclosure {
        self.disclosure
    }

    /// What a stranger who gets the file is to be told; `None` for files that stay with their owner.
    pub fn provenance(&self) -> Option<&'static str> {
        const WHO: &str = concat!("Shared with hermes-sessions ", env!("CARGO_PKG_VERSION"));
        match (self.disclosure, &self.search) {
            (Disclosure::Whole, _) => None,
            (Disclosure::Outline, _) => Some(concat!(
                "Sanitized with hermes-sessions ",
                env!("CARGO_PKG_VERSION"),
                "; in the place of each text stand its kind and length"
            )),
            (Disclosure::Share(_), Some(_)) => Some(concat!(
                "Shared with hermes-sessions ",
                env!("CARGO_PKG_VERSION"),
                "; secrets, what names people, and paths were taken out"
            )),
            (Disclosure::Share(_), None) => Some(WHO),
        }
    }

    /// What is taken out; `None` where everything passes.
    pub fn groups(&self) -> Option<&[Group]> {
        self.search.as_ref().map(|_| self.groups.as_slice())
    }

    /// Whether a text that was found clean is not searched again, so that it pays to search ahead.
    pub(crate) fn remembers(&self) -> bool {
        // A name that the session gave away meanwhile may stand in what was clean before.
        self.search.is_some() && self.paths.is_none()
    }

    /// Opens a value of the store, and takes out of every text in it what must not leave.
    pub fn apply<T: Texts>(&self, raw: Raw<T>, scope: &mut Scope) -> T {
        let mut value = raw.open();
        value.disclose(self.disclosure);
        if self.search.is_some() {
            value.edit_texts(&mut Pen { redactor: self, scope, trusts: self.remembers() });
        }
        value
    }

    /// A text that does not come from the store, such as a message for the user, redacted; as it
    /// stands where nothing in it must go.
    pub fn redact_text<'t>(&self, text: &'t str, scope: &mut Scope) -> Cow<'t, str> {
        self.apply(Raw::new(Cow::Borrowed(text)), scope)
    }

    /// The rules that find a credential in rendered text by its shape. A name beside a value tells
    /// nothing there, as a format may have put it there; and an escape before an `@` makes what
    /// looks like an address.
    pub fn shapes_in(&self, text: &str) -> impl Iterator<Item = &str> {
        let search = self.search.as_ref();
        let found = move |search: &Search| search.find_shapes(text);
        let hits = search.map(found).unwrap_or_default();
        hits.into_iter().filter_map(move |hit| {
            let search = search.filter(|search| search.is_of_secrets(hit.rule))?;
            Some(search.id(hit.rule))
        })
    }

    /// What is found in finished output, in any format. Nothing, after redaction.
    pub fn scan_bytes(&self, bytes: &[u8]) -> Vec<super::Finding> {
        let mut scope = Scope::new();
        let mut pen = Pen { redactor: self, scope: &mut scope, trusts: true };
        pen.text(None, &String::from_utf8_lossy(bytes), 0);
        scope.findings().collect()
    }

    /// The same for an object or array of JSON; `None` where the text is none.
    pub fn scan_document(&self, text: &str) -> Option<Vec<super::Finding>> {
        let mut scope = Scope::new();
        let pen = &mut Pen { redactor: self, scope: &mut scope, trusts: true };
        json::look(text, &mut Leaves { pen, depth: 1 }).then(|| scope.findings().collect())
    }
}

/// Small and large letters, digits and a symbol within, in no order that a word has.
fn is_bare_password(word: &str) -> bool {
    let has = |class: fn(&char) -> bool| word.chars().any(|c| class(&c));
    let inner = word.get(1..word.len().saturating_sub(1)).unwrap_or_default();
    (10..=64).contains(&word.len())
        && word.is_ascii()
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_uppercase)
        && has(char::is_ascii_digit)
        && inner.contains(['!', '@', '#', '$', '%', '^', '&', '*', '+', '=', '?', '~'])
        && !word.contains(['/', '(', '[', '{', '<', ':'])
        && looks_random(word)
}

/// A redactor at work in one session.
pub struct Pen<'r> {
    redactor: &'r Redactor,
    scope: &'r mut Scope,
    /// Whether what was clean before is clean now.
    trusts: bool,
}

impl Pen<'_> {
    /// Which row, for the findings.
    pub(super) fn row(&mut self, message: Option<i64>) {
        self.scope.message = message;
    }

    /// Whose session, once its id is redacted.
    pub(super) fn session(&mut self, id: &str) {
        self.scope.session = Some(id.to_owned());
    }

    /// Has a text tell the names that it gives away, before any text is edited.
    pub(super) fn learn(&mut self, text: &str) {
        if let Some(names) = &self.redactor.paths {
            names.learn(text, &mut self.scope.met);
        }
    }

    /// Whether ids of people and chats are to go.
    pub(super) fn takes_ids(&self) -> bool {
        self.redactor.groups.contains(&Group::Pii)
    }

    /// What is to stand in the place of a column's text.
    pub(super) fn column(&mut self, name: &str, text: &str) -> Option<String> {
        name.clone_into(&mut self.scope.field);
        let new = self.text(context_of(name), text, 0);
        if name != "title" {
            return new;
        }
        self.bare(new.as_deref().unwrap_or(text)).or(new)
    }

    /// A title is words, so one that only a password generator would write is a password, although
    /// nothing beside it says so.
    fn bare(&mut self, title: &str) -> Option<String> {
        self.search()?;
        let mut hits = Vec::new();
        for word in title.split_whitespace().filter(|word| is_bare_password(word)) {
            let start = word.as_ptr() as usize - title.as_ptr() as usize;
            let range = start..start + word.len();
            hits.push(Hit { range, rule: Kind::Password as u16 });
        }
        self.replace(title, &hits)
    }

    /// A marker for a whole value.
    pub(super) fn whole(&mut self, name: &str, rule: Kind, text: &str) -> String {
        name.clone_into(&mut self.scope.field);
        self.marker(text, rule as RuleIndex)
    }

    /// What is to stand in the place of a text, unless nothing was found in it before.
    fn text(&mut self, key: Option<&str>, text: &str, depth: usize) -> Option<String> {
        let redactor = self.redactor;
        let seal = redactor.clean.seal(key, text);
        if seal.is_some_and(|seal| self.trusts && redactor.clean.holds(seal)) {
            return None;
        }
        let new = self.searched(key, text, depth);
        if let (None, Some(seal)) = (&new, seal) {
            redactor.clean.add(seal);
        }
        new
    }

    fn searched(&mut self, key: Option<&str>, text: &str, depth: usize) -> Option<String> {
        let body = text.trim_start_matches('\0');
        let body = if body.len() < text.len() { body.trim_start_matches("json:") } else { body };
        if depth < MAX_DEPTH
            && json::is_document(body)
            && let Ok(new) = self.document(body, depth)
        {
            let head = &text[..text.len() - body.len()];
            return new.map(|new| format!("{head}{new}"));
        }
        if depth < MAX_DEPTH
            && let Some(pieces) = json::documents(body)
        {
            return self.pieces(text, &pieces, depth + 1);
        }
        let claimed = key.and_then(|name| {
            let key = self.key(name)?;
            let claimed = self.claimed(key, text);
            claimed.or_else(|| key.is_keyword.then(|| self.beside_key(name, text))?)
        });
        let plain = self.plain(claimed.as_deref().unwrap_or(text));
        plain.or(claimed)
    }

    /// A text that is a document; where it turns out to be none, nothing may be taken for clean.
    fn document(&mut self, text: &str, depth: usize) -> Result<Option<String>, json::NoDocument> {
        json::rewrite(text, &mut Leaves { pen: self, depth: depth + 1 })
    }

    /// A text that holds documents between other text.
    fn pieces(&mut self, text: &str, pieces: &[&str], depth: usize) -> Option<String> {
        let mut changed = false;
        let mut out = text[..text.len() - pieces.iter().map(|p| p.len()).sum::<usize>()].to_owned();
        for piece in pieces {
            let new = self.text(None, piece, depth);
            changed |= new.is_some();
            out.push_str(new.as_deref().unwrap_or(piece));
        }
        changed.then_some(out)
    }

    /// What there is to know of a key; nothing where everything passes.
    fn key(&mut self, name: &str) -> Option<Key> {
        let search = self.redactor.search.as_ref()?;
        Some(self.scope.keys.get(name, search))
    }

    /// A text whose key says that it is a secret, or holds one behind a scheme.
    fn claimed(&mut self, key: Key, text: &str) -> Option<String> {
        if !self.search()?.has_contexts() {
            return None;
        }
        if key.is_cookie && text.contains('=') {
            let cookies = cookie_pairs(text).into_iter();
            let hits = cookies.map(|range| Hit { range, rule: Kind::Cookie as u16 });
            return self.replace(text, &hits.collect::<Vec<_>>());
        }
        let claim = key.claim?;
        let start = scheme_len(text);
        let (claim, kind) = match start {
            0 => (claim, Kind::of(claim)),
            _ => (claim.max(Claim::Secret), Kind::Authorization),
        };
        is_secret(&text[start..], claim, Setting::JSON)
            .then(|| self.replace(text, &[Hit { range: start..text.len(), rule: kind as u16 }]))?
    }

    /// A text in which a rule finds a secret only beside the key.
    fn beside_key(&mut self, key: &str, text: &str) -> Option<String> {
        let is_one_word = (6..=1024).contains(&text.len()) && !text.contains(char::is_whitespace);
        if !is_one_word {
            return None;
        }
        let before = before_value(key);
        let start = before.len();
        let in_text = |hit: Hit| {
            let from = hit.range.start.checked_sub(start)?;
            let to = (hit.range.end - start).min(text.len());
            let by_rule = usize::from(hit.rule) >= Kind::ALL.len();
            (by_rule && from < to).then_some(Hit { range: from..to, rule: hit.rule })
        };
        let hits = self.search()?.find(&format!("{before}{text}\""));
        let hits: Vec<Hit> = hits.into_iter().filter_map(in_text).collect();
        self.replace(text, &hits)
    }

    /// A text that is no JSON.
    fn plain(&mut self, text: &str) -> Option<String> {
        let mut now: Option<String> = None;
        let rounds = if text.len() < MIN_TEXT { 0 } else { MAX_ROUNDS };
        for _ in 0..rounds {
            let hits = self.search()?.find(now.as_deref().unwrap_or(text));
            match self.replace(now.as_deref().unwrap_or(text), &hits) {
                Some(new) => now = Some(new),
                None => break,
            }
        }
        self.homeless(now.as_deref().unwrap_or(text)).or(now)
    }

    /// A text without the names of people, machines and homes.
    fn homeless(&mut self, text: &str) -> Option<String> {
        let names = self.redactor.paths.as_ref()?;
        names.hide(text, &mut self.scope.met)
    }

    fn replace(&mut self, text: &str, hits: &[Hit]) -> Option<String> {
        if hits.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for hit in hits {
            out.push_str(&text[at..hit.range.start]);
            out.push_str(&self.marker(&text[hit.range.clone()], hit.rule));
            at = hit.range.end;
        }
        out.push_str(&text[at..]);
        Some(out)
    }

    fn marker(&mut self, value: &str, rule: RuleIndex) -> String {
        let hash = self.redactor.key.hash_one(value);
        let search = self.redactor.search.as_ref();
        let id = |rule| search.map_or_else(String::new, |s| s.id(rule).to_owned());
        self.scope.marker(hash, rule, &id)
    }

    fn search(&self) -> Option<&Search> {
        self.redactor.search.as_ref()
    }
}

/// The leaves of one document.
struct Leaves<'p, 'r> {
    pen: &'p mut Pen<'r>,
    depth: usize,
}

impl Editor for Leaves<'_, '_> {
    fn key(&mut self, key: &str) -> Option<String> {
        if self.pen.key(key)?.is_clean { self.pen.homeless(key) } else { self.pen.plain(key) }
    }

    fn string(&mut self, key: Option<&str>, text: &str) -> Option<String> {
        self.pen.text(key, text, self.depth)
    }

    fn number(&mut self, key: Option<&str>, number: &str) -> Option<String> {
        if self.pen.takes_ids() && is_person_id(key?, number) {
            return Some(self.pen.marker(number, Kind::PlatformId as RuleIndex));
        }
        if number.len() < 3 || !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let claim = self.pen.key(key?)?.claim;
        let is_password = number.len() >= 4 && claim == Some(Claim::Password);
        let takes = (is_password || is_pin(key?, number)) && self.pen.search()?.has_contexts();
        takes.then(|| self.pen.marker(number, Kind::Password as u16))
    }

    fn named(&mut self, name: Option<&str>, text: &str) -> Option<String> {
        if text.contains(MARKER) {
            return None;
        }
        let key = self.pen.key(name.unwrap_or("secret"))?;
        self.pen.claimed(key, text)
    }
}

/// Columns whose name sounds like a secret's, but is none.
fn context_of(column: &str) -> Option<&str> {
    (!matches!(column, "session_key" | "tool_calls" | "token_count")).then_some(column)
}

/// Whether a number under this key is one that somebody types to prove who they are.
fn is_pin(key: &str, number: &str) -> bool {
    static KEYS: WordSet = WordSet::new(
        "pin pin_code pincode user_pin userpin sim_pin card_pin door_code passcode otp otp_code totp_code",
    );
    static CARDS: WordSet = WordSet::new("cvv cvv2 cvc cvc2 card_cvv card_cvc");
    KEYS.holds(key) && (4..=8).contains(&number.len())
        || CARDS.holds(key) && (3..=4).contains(&number.len())
}

/// Whether a number under this key is somebody's on a platform.
fn is_person_id(key: &str, number: &str) -> bool {
    static KEYS: WordSet = WordSet::new(
        "user_id userid from_id chat_id chatid sender_id senderid from_user_id author_id authorid member_id memberid \
         telegram_id discord_id guild_id guildid channel_id channelid thread_id threadid",
    );
    let digits = number.trim_start_matches('-');
    KEYS.holds(key)
        && (6..=20).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
}
