//! Finds every occurrence of thousands of keywords, in any case, in one pass.
//!
//! An automaton over that many words outgrows the processor's caches, and is then bound by
//! memory. Here each keyword is known by its rarest four bytes (three, where it has no more);
//! the pass asks for each position of the text one bit of a small table whether a keyword's four
//! bytes may stand there, and only then compares.

use std::sync::LazyLock;

use rapidhash::RapidHashSet;

use super::natural::pair;

/// A keyword's place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub(super) keyword: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Keywords, ready to be looked for.
pub(super) struct Keywords {
    /// All of them in lower case, one after another.
    letters: Vec<u8>,
    filter: Filter,
    four: Table,
    three: Table,
    /// Keywords under three bytes.
    short: Vec<Entry>,
}

/// Bits of a hash that choose a word of the filter, and a slot: the tables of many windows and of
/// few are small enough to stay in the processor's first cache.
const FILTER_BITS: u32 = 14;
const MANY_BITS: u32 = 12;
const FEW_BITS: u32 = 8;

/// Which windows are asked for, and by which keywords.
struct Table {
    bits: u32,
    /// The first entry of each slot; one array, so that a false alarm costs one look.
    slots: Box<[u32]>,
    entries: Vec<Entry>,
}

/// No entry.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    window: u32,
    /// Where the window stands in the keyword.
    offset: u32,
    /// Where the keyword stands among the letters, and how long it is.
    start: u32,
    len: u32,
    keyword: u32,
    /// The next entry of the slot.
    next: u32,
}

impl Keywords {
    /// Keywords in lower case.
    pub(super) fn new(words: &[&str]) -> Self {
        let (mut four, mut three) = (Table::new(MANY_BITS), Table::new(FEW_BITS));
        let (mut letters, mut short) = (Vec::new(), Vec::new());
        let mut filter = Filter::new();
        for (keyword, word) in words.iter().enumerate() {
            let word = word.as_bytes();
            let entry = Entry::of(keyword, letters.len(), word);
            match word.len() {
                0..=2 => short.push(entry),
                3 => three.add(word, 3, entry, &mut filter),
                _ => four.add(word, 4, entry, &mut filter),
            }
            letters.extend(word);
        }
        Self { letters, filter, four, three, short }
    }

    /// Every occurrence, in the order of the text up to a keyword's length.
    pub(super) fn each(&self, text: &[u8], mut visit: impl FnMut(Occurrence)) {
        let mut at = 0;
        while let Some(bytes) = text.get(at..at + 8) {
            // Five windows are in eight bytes; the processor looks all five up at once.
            let eight = u64::from_le_bytes([
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
            ]) | FOLD;
            for i in 0..5 {
                self.look(window(eight, i), text, at + i, &mut visit);
            }
            at += 5;
        }
        self.tail(text, at, &mut visit);
        for entry in &self.short {
            self.each_short(entry, text, &mut visit);
        }
    }

    /// The last bytes of a text; beyond its end stand zeros, which no keyword has.
    fn tail(&self, text: &[u8], from: usize, visit: &mut impl FnMut(Occurrence)) {
        for at in from..text.len() {
            let mut bytes = [0; 4];
            let rest = &text[at..text.len().min(at + 4)];
            bytes[..rest.len()].copy_from_slice(rest);
            self.look(fold(u32::from_le_bytes(bytes)), text, at, visit);
        }
    }

    #[inline]
    fn look(&self, window: u32, text: &[u8], at: usize, visit: &mut impl FnMut(Occurrence)) {
        if self.filter.may_hold(window) {
            self.compare(&self.four, window, text, at, visit);
            self.compare(&self.three, window & THREE, text, at, visit);
        }
    }

    fn compare(
        &self,
        table: &Table,
        window: u32,
        text: &[u8],
        at: usize,
        visit: &mut impl FnMut(Occurrence),
    ) {
        let mut next = table.slots[table.slot(window)];
        while next != NONE {
            let entry = table.entries[next as usize];
            next = entry.next;
            if entry.window != window {
                continue;
            }
            let word = self.word(&entry);
            let Some(start) = at.checked_sub(entry.offset as usize) else {
                continue;
            };
            let end = start + word.len();
            if text.get(start..end).is_some_and(|there| there.eq_ignore_ascii_case(word)) {
                visit(Occurrence { keyword: entry.keyword as usize, start, end });
            }
        }
    }

    fn word(&self, entry: &Entry) -> &[u8] {
        &self.letters[entry.start as usize..][..entry.len as usize]
    }

    fn each_short(&self, entry: &Entry, text: &[u8], visit: &mut impl FnMut(Occurrence)) {
        let keyword = entry.keyword as usize;
        let word = self.word(entry);
        let Some(first) = word.first() else { return };
        for start in memchr::memchr2_iter(*first, first.to_ascii_uppercase(), text) {
            let end = start + word.len();
            if text.get(start..end).is_some_and(|there| there.eq_ignore_ascii_case(word)) {
                visit(Occurrence { keyword, start, end });
            }
        }
    }
}

impl Entry {
    fn of(keyword: usize, start: usize, word: &[u8]) -> Self {
        let (start, len, keyword) = (narrow(start), narrow(word.len()), narrow(keyword));
        Self { window: 0, offset: 0, start, len, keyword, next: NONE }
    }
}

/// Keywords take no four gigabytes.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE)
}

impl Table {
    fn new(bits: u32) -> Self {
        Self { bits, slots: vec![NONE; 1 << bits].into(), entries: Vec::new() }
    }

    fn slot(&self, window: u32) -> usize {
        (hash(window) >> (32 - self.bits)) as usize
    }

    fn add(&mut self, word: &[u8], len: usize, entry: Entry, filter: &mut Filter) {
        let rarity = |offset: &usize| {
            let piece = &word[*offset..offset + len];
            let pairs: u32 = piece.windows(2).map(|w| pair(w[0], w[1])).sum();
            let blanks = memchr::memchr_iter(b' ', piece).count();
            (!is_common(piece), usize::MAX - blanks, pairs)
        };
        let offset = (0..=word.len() - len).max_by_key(rarity).unwrap_or_default();
        let mut bytes = [0; 4];
        bytes[..len].copy_from_slice(&word[offset..offset + len]);
        let mask = if len == 3 { 0x00FF_FFFF } else { u32::MAX };
        let window = fold(u32::from_le_bytes(bytes)) & mask;
        filter.add(window, len);
        let slot = self.slot(window);
        let first = &mut self.slots[slot];
        self.entries.push(Entry { window, offset: narrow(offset), next: *first, ..entry });
        *first = narrow(self.entries.len() - 1);
    }
}

/// For each hash of three bytes, which bytes may come after them.
struct Filter(Box<[u32; FILTER_WORDS]>);

/// As many as the hash tells apart, so that no index needs a check.
const FILTER_WORDS: usize = 1 << FILTER_BITS;

impl Filter {
    fn new() -> Self {
        let empty: Box<[u32]> = vec![0; FILTER_WORDS].into();
        Self(empty.try_into().unwrap_or_else(|_| unreachable!("made of so many words")))
    }

    fn add(&mut self, window: u32, len: usize) {
        let after = if len == 3 { u32::MAX } else { 1 << after(window) };
        self.0[place(window)] |= after;
    }

    #[inline]
    fn may_hold(&self, window: u32) -> bool {
        self.0[place(window)] >> after(window) & 1 == 1
    }
}

/// The five bits that tell the fourth byte from others.
fn after(window: u32) -> u32 {
    window >> 24 & 31
}

fn place(window: u32) -> usize {
    (hash(window & THREE) >> (32 - FILTER_BITS)) as usize
}

/// The first three bytes of a window.
const THREE: u32 = 0x00FF_FFFF;

/// The bit by which small letters differ from capitals.
const FOLD: u64 = 0x2020_2020_2020_2020;

#[expect(clippy::cast_possible_truncation, reason = "the window is the lower half")]
fn window(eight: u64, at: usize) -> u32 {
    (eight >> (8 * at)) as u32
}

/// Whether one of the [`COMMON`] runs begins like this.
fn is_common(piece: &[u8]) -> bool {
    static RUNS: LazyLock<RapidHashSet<&[u8]>> = LazyLock::new(|| {
        let runs = COMMON.as_bytes().chunks(5).map(|run| &run[..4]);
        runs.flat_map(|run| [&run[..3], run]).collect()
    });
    RUNS.contains(piece)
}

/// Makes lower case of letters, and something of the rest: the comparison decides.
fn fold(window: u32) -> u32 {
    window | 0x2020_2020
}

fn hash(window: u32) -> u32 {
    window.wrapping_mul(0x9E37_79B1)
}

/// The most common runs of four characters in source code and its comments.
const COMMON: &str = "\
    ---- self tion name turn etur retu file ctio type erro rror valu alue none line path code \
    ment cont func unct ncti onte lass clas stri read port call umen ring argu rgum gume \
    rais aise ther text atio ents trin ptio writ with comp else from ject time data cept \
    bjec obje ding form exce this args xcep rite inst ader list mpor able modu odul tent \
    enco impo stan orma dule eade nten ncod sion head othe that nsta mple attr true tput \
    eerr ance arse outp utpu appe ions ress byte opti size faul ault meth defa efau exit \
    rmat mber tanc etho pend ntex thod ndef spec inte vers rame pars stat erat sage para \
    init fals alse enam ytes ting ppen ines essa ilen pres char info ersi nter addr comm \
    part mess base ssag deci rsio imal lena dict ound ffer star inal ecim cima aram ctor \
    resu sing item inde mode tart acti emen loca trac odin sult codi esul ames flag term \
    ermi ract iter ield impl atch clos iona eque numb rent have test ator oper mina elif \
    ocal prin rint umbe date rmin lose peci fram deco isin lock main ecti ated tati ence \
    back ning buff uffe uple tupl only sins pass chec heck dres rect requ repr ddre luee \
    ueer here sign eter leme cess oken exte itio serv will used node ings posi open thon \
    ener llow ytho asse onal ibut ecod trib ribu rato pyth sock resp grou gene toke erve \
    dire tive cons ould orte irec epti reat tate supp ecto hand roup xten arts matc when \
    rese bute crea rati load tack stac alle pref ttri word lags glob turt urtl rtle curr \
    ncla whic hich omma ange ters dent irst stre firs cate ally urre fiel tabl alid vali \
    mand tera ount eate urns trea plem andl mman plac rren siti embe lect spac scri hars \
    lace brea pack refi reak thre efix tory sour ourc urce join pace osit rver help icat \
    ecif rted ndle prec coun ende give ocke lues ream race must memb rser pera uppo tern \
    user nded tain fset nnot over leve ntin mail ifie evel anno tend inen ppor ente next \
    hrea atte sent offs ffse stru cond tter host nimp ompr crip ript mpre neno warn cook \
    nver amet link enta conv ampl copy rors repl";

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str], text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let words: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
        let keywords = Keywords::new(&words.iter().map(String::as_str).collect::<Vec<_>>());
        keywords.each(text.as_bytes(), |o| found.push((o.keyword, o.start)));
        found.sort_unstable();
        found
    }

    #[test]
    fn every_occurrence_in_any_case_is_found() {
        let words = ["key", "api_key", "KEY-", "@", "://", "sk", "apikey"];
        assert_eq!(found(&words, "API_KEY-key"), [(0, 4), (0, 8), (1, 0), (2, 4)]);
        assert_eq!(found(&words, "a://b@"), [(3, 5), (4, 1)]);
        assert_eq!(found(&words, "SKsk"), [(5, 0), (5, 2)]);
        assert_eq!(found(&words, "ke"), []);
        assert_eq!(found(&words, ""), []);
    }

    #[test]
    fn what_only_folds_alike_is_not_taken() {
        assert_eq!(found(&["a@bc", "[red"], "a`bc {red"), []);
    }
}
