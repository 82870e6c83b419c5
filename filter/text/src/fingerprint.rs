//! The fingerprint of a text: small enough to remember for every prompt, good enough to tell repetition from work.

use serde::{Deserialize, Serialize};
use simhash::{hamming_distance, simhash_stream};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128_with_seed};

use super::{normalise::normalise, words::count, words::words};

/// At most this many words are normalised and shingled, so that a long prompt costs no more than a page. Of what follows only the
/// digest counts, so it must be equal to the byte.
const WORDS: usize = 256;
/// Words in a shingle.
const SHINGLE: usize = 3;
/// Two SimHashes nearer than this are similar (bits of 64).
const DISTANCE: u32 = 3;
/// The same for texts of `LONG` words or more. One different word changes three shingles of about a hundred, which flips four
/// bits on average. Texts with nothing in common differ in half of the bits.
const DISTANCE_OF_LONG: u32 = 10;
const LONG: u16 = 96;

/// Fingerprint of one text. Holds no word of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Fingerprint {
    /// SimHash over the word shingles of the normal form.
    pub simhash: u64,
    /// Digest of the words as written, digits included, case and punctuation aside.
    pub exact: u64,
    /// Digest of what lies beyond the words that were read; 0 when nothing does.
    pub rest: u64,
    /// Number of words that were read; two characters of an unspaced script count as one.
    pub words: u16,
}

impl Fingerprint {
    pub fn of(text: &str) -> Self {
        let (head, rest) = split(text);
        let mut exact = Xxh3::new();
        let mut lower = String::new();
        for word in words(head) {
            lower.clear();
            if word.is_ascii() {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            } else {
                lower.extend(word.chars().flat_map(char::to_lowercase));
            }
            exact.update(lower.as_bytes());
            exact.update(b" ");
        }
        let rest = if rest.is_empty() { 0 } else { digest(rest.as_bytes()) };
        exact.update(&rest.to_le_bytes());
        Self {
            simhash: shingled(&normalise(head)),
            exact: exact.digest(),
            rest,
            words: u16::try_from(count(head)).unwrap_or(u16::MAX),
        }
    }

    /// The same words, digits included.
    pub fn is_verbatim(&self, other: &Self) -> bool {
        self.exact == other.exact
    }

    /// Nearly the same words. Numbers, ids and dates may differ.
    pub fn is_similar(&self, other: &Self) -> bool {
        self.is_within(DISTANCE, other)
    }

    /// Nearly the same words, and in long texts one or two others.
    pub fn is_near(&self, other: &Self) -> bool {
        let is_long = self.words.min(other.words) >= LONG;
        self.is_within(if is_long { DISTANCE_OF_LONG } else { DISTANCE }, other)
    }

    fn is_within(&self, distance: u32, other: &Self) -> bool {
        self.rest == other.rest && hamming_distance(self.simhash, other.simhash) < distance
    }
}

/// The part of `text` that is read word by word, and what lies beyond.
fn split(text: &str) -> (&str, &str) {
    // On the average of a page, no word is longer than this. It also bounds a text in which no word ends.
    const BYTES: usize = WORDS * 12;
    let by_bytes = text.floor_char_boundary(BYTES);
    let mut end = by_bytes;
    if let Some(after) = words(text.get(..by_bytes).unwrap_or(text)).nth(WORDS) {
        end = (after.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    }
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// SimHash over the shingles of `normal`; a text shorter than one shingle is one shingle.
fn shingled(normal: &str) -> u64 {
    let words: Vec<&str> = words(normal).collect();
    if words.len() <= SHINGLE {
        return simhash_stream(words.first().and(Some(normal)).into_iter());
    }
    let base = normal.as_ptr() as usize;
    simhash_stream(words.windows(SHINGLE).filter_map(|shingle| {
        let (first, last) = (shingle.first()?, shingle.last()?);
        let start = (first.as_ptr() as usize).saturating_sub(base);
        let end = (last.as_ptr() as usize).saturating_add(last.len()).saturating_sub(base);
        normal.get(start..end)
    }))
}

/// Digest of bytes, stable across builds: it is stored in shared data and survives a reload of the filter.
pub fn digest(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// Digest of bytes with a secret seed. Without the seed, nobody can write two texts that have the same digest.
pub fn seeded_digest(bytes: &[u8], seed: u64) -> u128 {
    xxh3_128_with_seed(bytes, seed)
}

/// Digest of two digests, in this order.
pub fn digest_pair(first: u64, second: u64) -> u64 {
    xxh3_64(&((u128::from(first) << 64) | u128::from(second)).to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(text: &str) -> Fingerprint {
        Fingerprint::of(text)
    }

    #[test]
    fn case_space_and_punctuation_are_no_difference() {
        assert!(fingerprint("Hello,  World again!").is_verbatim(&fingerprint("hello world again")));
    }

    #[test]
    fn numbers_make_prompts_similar_but_not_verbatim() {
        let (a, b) = (fingerprint("Process order 17 of today"), fingerprint("Process order 18 of today"));
        assert!(a.is_similar(&b) && !a.is_verbatim(&b));
    }

    #[test]
    fn other_words_are_not_similar() {
        assert!(
            !fingerprint("What is the capital of France?")
                .is_similar(&fingerprint("How tall is the Eiffel tower?"))
        );
    }

    #[test]
    fn a_word_in_a_long_text_leaves_it_near() {
        let page = |of: fn(usize) -> String| (0..137).map(of).collect::<Vec<_>>().join(" ");
        let one =
            page(|n| format!("word{}", char::from(b'a' + (n % 26) as u8).to_string().repeat(n / 26 + 1)));
        let with = |word: &str| one.replacen(" wordmm ", &format!(" {word} "), 1);
        for word in ["orders", "parcels", "letters", "bills", "shelves"] {
            assert!(fingerprint(&with(word)).is_near(&fingerprint(&one)), "{word}");
        }
        let other =
            page(|n| format!("term{}", char::from(b'z' - (n % 26) as u8).to_string().repeat(n / 26 + 1)));
        assert!(!fingerprint(&one).is_near(&fingerprint(&other)));
        let short = |word: &str| format!("How many {word} came in during March?");
        assert!(!fingerprint(&short("orders")).is_near(&fingerprint(&short("letters"))));
    }

    #[test]
    fn beyond_the_page_the_text_must_agree() {
        let head = "word ".repeat(400);
        let (a, b) = (fingerprint(&format!("{head} alpha")), fingerprint(&format!("{head} beta")));
        assert_eq!(a.simhash, b.simhash);
        assert!(!a.is_similar(&b) && !a.is_verbatim(&b));
        assert!(a.is_verbatim(&fingerprint(&format!("{head} alpha"))));
    }

    #[test]
    fn words_are_counted_in_every_script() {
        assert_eq!(fingerprint("yes, continue please").words, 3);
        assert_eq!(fingerprint("请继续工作").words, 3);
        assert_eq!(fingerprint("").words, 0);
    }

    #[test]
    fn a_text_without_word_ends_is_bounded() {
        assert_eq!(fingerprint(&"x".repeat(1_000_000)).words, 1);
    }
}
