//! What words are in a sentence: bits, because a word can be several things. Looked up by digest. The words themselves are
//! in `words`.

use std::sync::OnceLock;

use super::{
    fold::{Folded, fold},
    words::WORDS,
};

/// The kinds of tokens. The first ones are about signs and lines.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident = $bit:literal,)*) => {
        $($(#[doc = $doc])* pub const $name: u64 = 1 << $bit;)*
    };
}

kinds! {
    WORD = 0,
    /// A word that nothing is known of.
    UNKNOWN = 1,
    SIGN = 2,
    /// A sentence ends.
    STOP = 3,
    NEWLINE = 4,
    /// Verbs of those who say again what is there.
    REPEAT = 5,
    /// Verbs with which somebody tells an agent what to do.
    ACT = 6,
    /// Within a fenced block.
    CODE = 7,
    /// Verbs of those who do not do what they are asked.
    REFUSE = 8,
    /// Verbs that set aside what was said.
    IGNORE = 9,
    NEGATION = 10,
    HALT = 11,
    FOLLOW = 12,
    ALL = 13,
    EVERYTHING = 14,
    PRIOR = 15,
    YOUR = 16,
    /// Small words that may stand before a noun.
    FILLER = 17,
    INSTRUCTION = 18,
    /// What was said, in words that mean much else too.
    SAID = 19,
    TO = 20,
    YOU = 21,
    /// Somebody who is spoken about.
    THIRD = 22,
    MODAL = 23,
    /// Somebody is to do something.
    OBLIGE = 24,
    ARE = 25,
    NOW = 26,
    ROLEPLAY = 27,
    /// Without limits.
    UNBOUND = 28,
    /// What somebody got: told, given.
    GIVEN = 29,
    WITHIN = 30,
    /// Words of people who write about attacks.
    MENTION = 31,
    NEW = 32,
    OVERRIDE = 33,
    TASK = 34,
    REVEAL = 35,
    AI = 36,
    USER = 37,
    TELL = 38,
    SYSTEM = 39,
    /// Names of tokens that only a chat template writes.
    CHAT = 40,
    /// Names of tags around instructions and untrusted text.
    FRAME = 41,
    /// Names of tags that are around much else too.
    WEAK_FRAME = 42,
    END = 43,
    BEFORE = 44,
    AND = 45,
    MEMBER = 46,
    NO = 47,
    LIMIT = 48,
    MODE = 49,
    ARTICLE = 50,
    WHAT = 51,
    PROMPT = 52,
    ANSWER = 53,
    NOTE = 54,
    VOID = 55,
    /// Names of roles in a chat.
    ROLE = 56,
    IDENTITY = 57,
    /// Switched on; together with VOID, switched off.
    ACTIVE = 58,
    /// Said of tokens and tags when people write about them.
    TERM = 59,
    /// What is right and wrong.
    ETHICS = 60,
    INSTEAD = 61,
    ONWARD = 62,
    READING = 63,
}

/// FNV-1a: one character after the other, as they come.
pub const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

pub fn step(digest: u64, c: char) -> u64 {
    (digest ^ u64::from(u32::from(c))).wrapping_mul(0x0100_0000_01b3)
}

/// Room of the table: a power of two, several times the number of words.
const ROOM: usize = 4_096;
const MASK: usize = ROOM - 1;
/// First letter, last letter and length: five bits each.
const SHAPES: usize = 1 << 15;

/// All words by their digests.
pub struct Vocabulary {
    words: Vec<(u64, u64)>,
    /// The first and last letters and the lengths that words have: a bit each.
    shapes: Vec<u64>,
}

pub fn get() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| {
        let mut all = Vocabulary { words: vec![(0, 0); ROOM], shapes: vec![0; SHAPES / 64] };
        for &(kinds, words) in WORDS {
            for word in words.split_whitespace() {
                all.add(word, kinds);
            }
        }
        all
    })
}

/// The bit of a word's shape: which of the numbers, and which of its bits.
#[inline]
fn shape(first: char, last: char, length: usize) -> (usize, u64) {
    let row = (u32::from(first) & 31) << 10 | (u32::from(last) & 31) << 5;
    let bit = row as usize | length & 31;
    (bit / 64, 1_u64.wrapping_shl((bit & 63) as u32))
}

impl Vocabulary {
    /// The place of a digest, or the free one where it belongs.
    fn place(&self, digest: u64) -> Option<usize> {
        // The upper bits of a product depend on all bits of the digest.
        let mixed = digest.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut at = usize::try_from(mixed).unwrap_or(0) & MASK;
        for _ in 0..ROOM {
            match self.words.get(at) {
                Some((known, _)) if *known == digest || *known == 0 => return Some(at),
                _ => at = at.wrapping_add(1) & MASK,
            }
        }
        None
    }

    fn add(&mut self, word: &str, kinds: u64) {
        let folded = folded(word);
        let digest = digest(&folded);
        if let Some(slot) = self.place(digest).and_then(|at| self.words.get_mut(at)) {
            *slot = (digest, slot.1 | kinds);
        }
        if let Some((first, last)) = folded.chars().next().zip(folded.chars().next_back()) {
            let (at, bit) = shape(first, last, folded.chars().count());
            if let Some(shapes) = self.shapes.get_mut(at) {
                *shapes |= bit;
            }
        }
    }

    /// What the word of this digest is; 0 where nothing is known of it.
    #[inline(never)]
    pub fn kinds(&self, digest: u64) -> u64 {
        self.place(digest).and_then(|at| self.words.get(at)).map_or(0, |(_, kinds)| *kinds)
    }

    /// Whether there can be a word with these first and last letters, in any case of ASCII, and of so many letters.
    #[inline]
    pub fn may_have(&self, first: char, last: char, length: usize) -> bool {
        let (at, bit) = shape(first, last, length);
        self.shapes.get(at).is_some_and(|shapes| shapes & bit != 0)
    }
}

/// A word as texts are read.
fn folded(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.chars() {
        match fold(c) {
            Folded::One(c) => folded.push(c),
            Folded::Two(first, second) => folded.extend([first, second]),
            Folded::Nothing => {}
        }
    }
    folded
}

fn digest(folded: &str) -> u64 {
    folded.chars().fold(EMPTY, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(word: &str) -> u64 {
        get().kinds(digest(&folded(word)))
    }

    #[test]
    fn words_are_known_however_they_are_written() {
        assert_ne!(kinds("ignore") & IGNORE, 0);
        assert_eq!(kinds("Anweisungen"), kinds("anweisungen"));
        assert_ne!(kinds("инструкции") & INSTRUCTION, 0);
        assert_ne!(kinds("提示") & INSTRUCTION, 0);
        assert_eq!(kinds("zebra"), 0);
        let used = get().words.iter().filter(|(digest, _)| *digest != 0).count();
        assert!(used > 700 && used < ROOM / 2, "{used}");
    }
}
