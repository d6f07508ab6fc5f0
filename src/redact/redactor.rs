//! Takes secrets out of texts: JSON leaf by leaf, other text as it stands.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::clean::Clean;
use super::context::Kind;
use super::disclosure::Disclosure;
use super::header::{cookie_pairs, scheme_len};
use super::json::{self, Editor};
use super::keys::{Key, Keys, Number, before_value};
use super::known::KnownValues;
use super::name::Claim;
use super::natural::looks_random;
use super::rule::{Group, Rule, RuleError};
use super::scope::Scope;
use super::search::{Hit, MARKER, RuleIndex, Search};
use super::texts::{Ahead, Raw, Texts};
use super::value::{Setting, is_secret};
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
    /// What is known of names, for each pen that may be at work at once.
    keys: Mutex<Vec<Keys>>,
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
            keys: Mutex::default(),
        }
    }

    /// Takes out what the built-in rules and these find, as far as they belong to the groups.
    pub fn new(rules: Vec<Rule>, groups: &[Group], known: KnownValues) -> Result<Self, RuleError> {
        let search = Search::new(builtin::rules(), rules, groups, known)?;
        Ok(Self {
            search: Some(search),
            paths: groups.contains(&Group::Paths).then(paths::Names::of_this_machine),
            groups: groups.to_vec(),
            disclosure: Disclosure::Whole,
            key: RandomState::new(),
            clean: Clean::new(),
            keys: Mutex::default(),
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
        let (mut value, ahead) = raw.open();
        value.disclose(self.disclosure);
        let task = match ahead {
            Ahead::Clean => return value,
            Ahead::Dirty => Task::EditDirty,
            Ahead::Unknown => Task::Edit,
        };
        if self.search.is_some() {
            let mut pen = Pen::new(self, scope);
            (pen.task, pen.trusts) = (task, self.remembers());
            value.edit_texts(&mut pen);
        }
        value
    }

    /// What [`Raw::searched`] is to be told of each value, where [`Self::remembers`] holds.
    pub(crate) fn search_ahead<T: Texts>(
        &self,
        values: impl Iterator<Item = Raw<T>>,
        found: &mut Vec<Ahead>,
    ) {
        let mut scope = Scope::new();
        let mut pen = Pen::new(self, &mut scope);
        pen.task = Task::Try;
        found.extend(values.map(|raw| {
            let (mut value, _) = raw.open();
            value.disclose(self.disclosure);
            pen.is_dirty = false;
            value.edit_texts(&mut pen);
            if pen.is_dirty { Ahead::Dirty } else { Ahead::Clean }
        }));
    }

    fn idle_keys(&self) -> MutexGuard<'_, Vec<Keys>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut pen = Pen::new(self, &mut scope);
        pen.text(None, &String::from_utf8_lossy(bytes), 0);
        drop(pen);
        scope.findings().collect()
    }

    /// The same for an object or array of JSON; `None` where the text is none.
    pub fn scan_document(&self, text: &str) -> Option<Vec<super::Finding>> {
        let mut scope = Scope::new();
        let mut pen = Pen::new(self, &mut scope);
        let is_document = json::look(text, &mut Leaves { pen: &mut pen, depth: 1 });
        drop(pen);
        is_document.then(|| scope.findings().collect())
    }
}

/// Small and large letters, digits and a symbol within, in no order that a word has. A long one may do
/// without digits: one in twenty that a generator makes has none.
fn is_bare_password(word: &str) -> bool {
    let has = |class: fn(&char) -> bool| word.chars().any(|c| class(&c));
    let inner = word.get(1..word.len().saturating_sub(1)).unwrap_or_default();
    (10..=64).contains(&word.len())
        && word.is_ascii()
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_uppercase)
        && (has(char::is_ascii_digit) || word.len() >= 14)
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
    keys: Keys,
    task: Task,
    /// Whether a column held something, where that is all that is asked.
    is_dirty: bool,
}

/// What a pen is to do with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Take out what must go.
    Edit,
    /// The same in a row that holds something for sure.
    EditDirty,
    /// Tell only whether there is something; whatever is given for a text then has no content.
    Try,
}

impl<'r> Pen<'r> {
    fn new(redactor: &'r Redactor, scope: &'r mut Scope) -> Self {
        let keys = redactor.idle_keys().pop().unwrap_or_default();
        Self { redactor, scope, trusts: true, keys, task: Task::Edit, is_dirty: false }
    }
}

impl Drop for Pen<'_> {
    fn drop(&mut self) {
        self.redactor.idle_keys().push(mem::take(&mut self.keys));
    }
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
        if self.task == Task::Try {
            self.is_dirty = self.is_dirty || self.edited(name, text).is_some();
            return None;
        }
        name.clone_into(&mut self.scope.field);
        self.edited(name, text)
    }

    fn edited(&mut self, name: &str, text: &str) -> Option<String> {
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
        self.is_dirty = true;
        name.clone_into(&mut self.scope.field);
        self.marker(text, rule as RuleIndex)
    }

    /// What is to stand in the place of a text, unless nothing was found in it before.
    fn text(&mut self, key: Option<&str>, text: &str, depth: usize) -> Option<String> {
        let redactor = self.redactor;
        let seal = redactor.clean.seal(key, text);
        if self.trusts && redactor.clean.holds(seal) {
            return None;
        }
        let new = self.searched(key, text, depth);
        if new.is_none() {
            redactor.clean.add(seal);
        }
        new
    }

    fn searched(&mut self, key: Option<&str>, text: &str, depth: usize) -> Option<String> {
        let body = text.trim_start_matches('\0');
        let body = if body.len() < text.len() { body.trim_start_matches("json:") } else { body };
        if depth < MAX_DEPTH && self.task != Task::EditDirty && self.stays(body, depth) {
            return None;
        }
        if depth < MAX_DEPTH && json::is_document(body) && self.task == Task::Try {
            return Some(String::new());
        }
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

    /// Whether a text is a document without anything that must go: most are, and so need no second
    /// look whether every byte of them is as it should be.
    fn stays(&mut self, text: &str, depth: usize) -> bool {
        if !self.trusts || !json::is_framed(text) {
            return false;
        }
        let task = mem::replace(&mut self.task, Task::Try);
        let scope = mem::take(self.scope);
        let stays = json::stays(text, &mut Leaves { pen: self, depth: depth + 1 });
        *self.scope = scope;
        self.task = task;
        stays
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
        Some(self.keys.get(name, search))
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
        let rounds = match self.task {
            _ if text.len() < MIN_TEXT => 0,
            Task::Try => 1,
            Task::Edit | Task::EditDirty => MAX_ROUNDS,
        };
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
        if self.task == Task::Try {
            return Some(String::new());
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
        if number.len() < 3 {
            return None;
        }
        let key = self.pen.key(key?)?;
        let rule = if is_person(key, number) && self.pen.takes_ids() {
            Kind::PlatformId
        } else if proves(key, number) && self.pen.search()?.has_contexts() {
            Kind::Password
        } else {
            return None;
        };
        Some(self.pen.marker(number, rule as RuleIndex))
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

/// Whether a number is one that somebody types to prove who they are.
fn proves(key: Key, number: &str) -> bool {
    let lengths = match (key.claim, key.number) {
        (Some(Claim::Password), _) => 4..=usize::MAX,
        (_, Number::Pin) => 4..=8,
        (_, Number::CardCode) => 3..=4,
        (_, Number::Person | Number::Plain) => return false,
    };
    lengths.contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a number is somebody's on a platform.
fn is_person(key: Key, number: &str) -> bool {
    let digits = number.trim_start_matches('-');
    key.number == Number::Person
        && (6..=20).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_bare_password;

    /// Letters and digits in an order that only depends on the seed.
    fn drawn(seed: &mut u64, length: usize) -> String {
        const FROM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut next = || {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(FROM[usize::try_from(*seed >> 33).unwrap() % FROM.len()])
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn what_a_generator_makes_is_a_password_and_a_name_is_none() {
        let mut seed = 1;
        let made = (0..5000).map(|_| format!("{}!{}", drawn(&mut seed, 8), drawn(&mut seed, 8)));
        let missed: Vec<String> = made.filter(|word| !is_bare_password(word)).collect();
        assert!(missed.len() <= 5, "{} {missed:?}", missed.len());
        for name in [
            "InternationalizationTest!important",
            "MyComponent=AnotherComponent",
            "HttpRequest+HttpResponse",
            "getUserName?returnsNull",
            "ThreadLocal&ThreadPool",
            "README#InstallationNotes",
        ] {
            assert!(!is_bare_password(name), "{name}");
        }
    }
}
