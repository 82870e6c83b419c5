//! Marks: equal calls and equal results look equal. A digest becomes a short word that can be said aloud, and gets a colour if it occurs
//! more than once on the page. The word depends on the digest alone, so it is the same on every page and for every colleague. So does the
//! colour, unless another digest of the page has it already.

use std::collections::HashMap;

use maud::{Markup, html};

/// Colours that are told apart at a glance.
pub const HUES: u8 = 12;

const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
const VOWELS: &[u8; 4] = b"aiou";

/// How a digest looks on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub word: String,
    /// `None`: it comes once.
    pub hue: Option<u8>,
    /// How often it comes on the page.
    pub times: u32,
}

/// The marks of a page.
#[derive(Debug, Default)]
pub struct Marks {
    by_digest: HashMap<String, Mark>,
}

impl Marks {
    /// The marks of these digests, in the order in which they are shown.
    pub fn of<'a>(digests: impl Iterator<Item = &'a str>) -> Self {
        let mut order: Vec<&str> = Vec::new();
        let mut times: HashMap<&str, u32> = HashMap::new();
        for digest in digests {
            let times = times.entry(digest).or_insert_with(|| {
                order.push(digest);
                0
            });
            *times = times.saturating_add(1);
        }
        let mut taken = [false; HUES as usize];
        let mut by_digest = HashMap::new();
        for digest in order {
            let times = times.get(digest).copied().unwrap_or_default();
            let hash = hash(digest);
            let hue = (times > 1).then(|| free(hash, &mut taken));
            by_digest.insert(digest.to_owned(), Mark { word: word(hash), hue, times });
        }
        Self { by_digest }
    }

    /// The mark of a digest; one that is not of the page has no colour.
    #[must_use]
    pub fn get(&self, digest: &str) -> Mark {
        let unknown = || Mark { word: word(hash(digest)), hue: None, times: 1 };
        self.by_digest.get(digest).cloned().unwrap_or_else(unknown)
    }
}

impl Mark {
    /// The class that gives its colour.
    #[must_use]
    pub fn class(&self) -> String {
        self.hue.map_or_else(|| "plain".to_owned(), |hue| format!("h{hue}"))
    }

    /// A tile: square for what was called, round for what came of it.
    #[must_use]
    pub fn tile(&self, is_outcome: bool) -> Markup {
        let shape = if is_outcome { "outcome" } else { "approach" };
        html! { span class={ "mark " (shape) " " (self.class()) } { (self.word) } }
    }
}

/// The digest's own hue or, if another digest of the page has it, the next free one.
fn free(hash: u64, taken: &mut [bool; HUES as usize]) -> u8 {
    let own = hash
        .rotate_left(13)
        .checked_rem(u64::from(HUES))
        .and_then(|own| u8::try_from(own).ok())
        .unwrap_or_default();
    let next = |step: u8| own.saturating_add(step).checked_rem(HUES).unwrap_or_default();
    let is_free = |hue: &u8| taken.get(usize::from(*hue)).is_some_and(|taken| !taken);
    let hue = (0..HUES).map(next).find(is_free).unwrap_or(own);
    if let Some(taken) = taken.get_mut(usize::from(hue)) {
        *taken = true;
    }
    hue
}

/// Two syllables.
fn word(hash: u64) -> String {
    let letter = |letters: &[u8], shift: u32| {
        let bits = usize::try_from(hash.wrapping_shr(shift) & 0xff).unwrap_or_default();
        let at = bits.checked_rem(letters.len()).unwrap_or_default();
        letters.get(at).copied().map_or('b', char::from)
    };
    [letter(CONSONANTS, 0), letter(VOWELS, 8), letter(CONSONANTS, 16), letter(VOWELS, 24)]
        .into_iter()
        .collect()
}

/// FNV-1a, and then every bit made to depend on every other: digests that differ in one digit look different.
fn hash(digest: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = digest.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let mixed = (hash ^ hash.wrapping_shr(33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ mixed.wrapping_shr(33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_looks_equal_and_different_looks_different() {
        let digests: Vec<String> = (0..12_u64).map(|number| format!("{number:016x}")).collect();
        let twice = digests.iter().chain(&digests).map(String::as_str);
        let marks = Marks::of(twice);
        let mut hues: Vec<u8> = digests.iter().filter_map(|digest| marks.get(digest).hue).collect();
        assert_eq!(hues.len(), 12);
        hues.sort_unstable();
        hues.dedup();
        assert_eq!(hues.len(), 12, "twelve things that repeat have twelve colours");
        assert_eq!(marks.get(&digests[0]), marks.get(&digests[0]));
        assert_eq!(marks.get(&digests[0]).times, 2);
    }

    #[test]
    fn what_comes_once_has_a_word_and_no_colour() {
        let marks = Marks::of(["a", "b", "a"].into_iter());
        assert_eq!(marks.get("b").hue, None);
        assert_eq!(marks.get("b").word, Marks::default().get("b").word, "the word is the digest's own");
        assert_eq!(marks.get("a").word.len(), 4);
    }

    #[test]
    fn words_of_a_long_run_rarely_meet() {
        let words =
            (0..60_u64).map(|number| word(hash(&format!("{:016x}", number.wrapping_mul(0x9e37_79b9)))));
        let mut words: Vec<String> = words.collect();
        words.sort_unstable();
        words.dedup();
        assert!(words.len() >= 58, "{} different words of 60", words.len());
    }
}
