//! The known words, and their kinds in a sentence. They are looked up by the first eight bytes of a word.

use std::sync::OnceLock;

use crate::{
    fold::fold_into,
    slips::{may_be_slip, meant_by},
    words::WORDS,
};

/// What a word is in a sentence.
pub fn kinds_of(word: &str) -> u64 {
    table().kinds(word.as_bytes(), head(word.as_bytes(), 0, word.len()))
}

/// The words that are known.
pub struct Table {
    /// Words without an ending of their own, by the hash of their head.
    whole: Buckets,
    /// Words that any ending may follow, by their first two letters.
    stems: Buckets,
    /// Words of scripts without spaces, by their first two bytes.
    wide: Buckets,
}

/// Words in groups, so that only one group must be searched.
struct Buckets {
    words: Vec<KnownWord>,
    /// Where each group starts, and where the last one ends.
    starts: Vec<usize>,
}

const BUCKETS: usize = 1 << 10;

impl Buckets {
    fn new(all: &[KnownWord], is_wanted: fn(&KnownWord) -> bool, bucket: fn(u64) -> usize) -> Self {
        let mut words: Vec<_> = all.iter().filter(|known| is_wanted(known)).cloned().collect();
        words.sort_by_key(|known| bucket(known.head));
        let start = |at| words.partition_point(|known| bucket(known.head) < at);
        Self { starts: (0..=BUCKETS).map(start).collect(), words }
    }

    #[inline]
    fn get(&self, bucket: usize) -> &[KnownWord] {
        match self.starts.get(bucket..) {
            Some([start, end, ..]) => self.words.get(*start..*end).unwrap_or_default(),
            _ => &[],
        }
    }
}

#[derive(Clone)]
struct KnownWord {
    head: u64,
    /// The bits of a word's head that are compared. All of them, unless any ending may follow.
    compared: u64,
    word: String,
    /// Where the part of the word begins that is not in its head.
    untold: usize,
    kinds: u64,
}

impl KnownWord {
    fn of(written: &str, kinds: u64) -> Self {
        let mut word = String::new();
        fold_into(written.trim_end_matches('*'), &mut word);
        let told = if written.ends_with('*') { word.len().min(7) } else { 8 };
        let compared = first_bytes(told);
        let head = head(word.as_bytes(), 0, word.len()) & compared;
        Self { head, compared, untold: if word.is_ascii() { told } else { 0 }, word, kinds }
    }

    /// Any ending may follow.
    fn is_stem(&self) -> bool {
        self.compared != u64::MAX
    }

    /// Whether a word with the same head has the same rest.
    #[inline]
    fn goes_on(&self, word: &[u8]) -> bool {
        let untold = self.word.as_bytes().get(self.untold..).unwrap_or_default();
        let rest = || word.get(self.untold..self.word.len());
        untold.is_empty() || rest().is_some_and(|rest| rest.eq_ignore_ascii_case(untold))
    }
}

/// The first eight bytes of a word in lower case, with zeros if it is shorter. Bit 5 is set, which makes capitals small. Bytes
/// beyond ASCII lose that difference too.
#[inline]
pub fn head(text: &[u8], start: usize, length: usize) -> u64 {
    let rest = text.get(start..).unwrap_or_default();
    let bytes = match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => rest.iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte)),
    };
    (bytes | u64::from_le_bytes([b' '; 8])) & first_bytes(length)
}

/// The bits of the first bytes of a head.
#[inline]
fn first_bytes(count: usize) -> u64 {
    if count < 8 { !(u64::MAX << (count << 3)) } else { u64::MAX }
}

/// The bucket of the first two letters of a head.
#[inline]
fn beginning(head: u64) -> usize {
    usize::from((head & 31) as u8) << 5 | usize::from((head >> 8 & 31) as u8)
}

/// The bucket of a whole head, by a multiplicative hash (Knuth).
#[inline]
fn hash(head: u64) -> usize {
    usize::try_from(head.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54).unwrap_or(0)
}

pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = WORDS.iter();
        let words =
            rows.flat_map(|(kinds, row)| row.split_whitespace().map(|word| KnownWord::of(word, *kinds)));
        let words: Vec<_> = words.collect();
        Table {
            whole: Buckets::new(&words, |known| !known.is_stem(), hash),
            stems: Buckets::new(&words, KnownWord::is_stem, beginning),
            wide: Buckets::new(&words, |known| !known.word.is_ascii(), beginning),
        }
    })
}

impl Table {
    /// What a word is; `head` is its head.
    #[inline]
    pub fn kinds(&self, word: &[u8], head: u64) -> u64 {
        let mut kinds = 0;
        for known in self.whole.get(hash(head)) {
            if head == known.head && word.len() == known.word.len() && known.goes_on(word) {
                kinds |= known.kinds;
            }
        }
        for known in self.stems.get(beginning(head)) {
            if head & known.compared == known.head && known.goes_on(word) {
                kinds |= known.kinds;
            }
        }
        if kinds == 0 && may_be_slip(word, word.len()) { self.slipped(word) } else { kinds }
    }

    /// The kinds of a word after one letter is corrected. 0 if that gives no known word.
    #[inline(never)]
    fn slipped(&self, word: &[u8]) -> u64 {
        meant_by(word).map_or(0, |meant| self.kinds(meant.as_bytes(), head(meant.as_bytes(), 0, meant.len())))
    }

    /// The longest known word at the beginning of a text in a script without spaces: its kinds and its length in bytes.
    pub fn beginning(&self, text: &str) -> Option<(u64, usize)> {
        let words = self.wide.get(beginning(head(text.as_bytes(), 0, text.len())));
        let known = || words.iter().filter(|known| text.starts_with(&known.word));
        let length = known().map(|known| known.word.len()).max()?;
        let longest = known().filter(|known| known.word.len() == length);
        Some((longest.fold(0, |kinds, known| kinds | known.kinds), length))
    }
}
