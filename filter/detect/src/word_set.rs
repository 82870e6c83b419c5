//! The words of a short text as a set of bits: enough to say whether two texts share most of theirs. Which words they
//! are cannot be read from it.

use serde::{Deserialize, Serialize};

/// A set of words: 128 bits. Two halves, because memory for a `u128` must lie at a multiple of 16, and takes longer to allocate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct WordSet([u64; 2]);

impl WordSet {
    /// A set this full takes no more words: in a fuller one any two texts would look alike.
    const FULL: u32 = 40;

    /// The words of `text`. The case of ASCII letters does not count, and every byte that is not ASCII belongs to a word.
    pub fn of(text: &str) -> Self {
        let mut set = Self::default();
        for word in text.as_bytes().split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()) {
            // FNV-1a: the words are short.
            let hash = word.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x100_0000_01B3)
            });
            if !word.is_empty() {
                set.add(hash);
            }
            if set.size() >= Self::FULL {
                break;
            }
        }
        set
    }

    /// A value that is no text.
    pub fn of_value(digest: u64) -> Self {
        let mut set = Self::default();
        set.add(digest);
        set
    }

    fn add(&mut self, hash: u64) {
        // Its last byte does not reach the top bits by itself.
        let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57;
        let bit = 1_u64 << (mixed & 63);
        let [low, high] = &mut self.0;
        *(if mixed < 64 { low } else { high }) |= bit;
    }

    /// The bits that are set.
    fn size(self) -> u32 {
        self.0.iter().map(|part| part.count_ones()).sum()
    }

    fn with(self, other: Self, join: fn(u64, u64) -> u64) -> Self {
        let ([low, high], [other_low, other_high]) = (self.0, other.0);
        Self([join(low, other_low), join(high, other_high)])
    }

    /// The words of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        if self.size() >= Self::FULL { self } else { self.with(other, |one, other| one | other) }
    }

    /// More than half of the words of both are shared: "order 17" and "order 18" are not similar.
    pub fn is_similar(self, other: Self) -> bool {
        let shared = self.with(other, |one, other| one & other).size().saturating_mul(4);
        shared > self.size().saturating_add(other.size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shared_or_not() {
        let similar = |one: &str, other: &str| WordSet::of(one).is_similar(WordSet::of(other));
        assert!(similar("The Shallows (book)", "the shallows"));
        assert!(similar("cheap red shoes for men", "red shoes for men, size 12"));
        assert!(similar("größe und Farbe prüfen", "prüfen: größe, Farbe"));
        assert!(!similar("the history of Rome", "rivers in the north of Spain"));
        assert!(!similar("order 17", "order 18"));
        assert!(!similar("", ""));
        assert!(!similar("alpha", "beta"));
    }

    #[test]
    fn long_texts_of_other_words_are_not_similar() {
        let text = |seed: u32| {
            (0..400_u32)
                .map(|n| format!("w{} ", n.wrapping_mul(7_919).wrapping_add(seed)))
                .collect::<String>()
        };
        let alike = (0..100)
            .filter(|n| WordSet::of(&text(*n)).is_similar(WordSet::of(&text(n.wrapping_add(1_000_003)))))
            .count();
        assert!(alike < 5, "{alike} of 100");
    }
}
