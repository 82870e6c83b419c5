//! Lists of words that are looked for in texts, in any case. Most words of a text are in no list: their first letter and
//! their length show it. The lists are those of `words`.

/// Words in ASCII.
pub(super) struct Known {
    words: &'static [&'static str],
    marks: WordShapes,
}

impl Known {
    pub const fn of(words: &'static [&'static str]) -> Self {
        let mut marks = WordShapes::NONE;
        let mut rest = words;
        while let [word, after @ ..] = rest {
            marks = marks.with(word);
            rest = after;
        }
        Self { words, marks }
    }

    /// Whether the word is one of them.
    pub fn has(&self, word: &str) -> bool {
        self.marks.may_have(word) && is_one_of(word, self.words)
    }
}

/// Whether the word is one of a few, which are not worth marks. Inlined, it would make the module larger at each of its many places.
#[inline(never)]
pub(super) fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// The first letters and the lengths of words, one bit for each pair. The second bit of the length selects the half.
#[derive(Clone, Copy)]
pub(super) struct WordShapes(u64, u64);

impl WordShapes {
    pub const NONE: Self = Self(0, 0);

    #[must_use]
    pub const fn with(self, word: &str) -> Self {
        let Self(short, long) = Self::of(word);
        Self(self.0 | short, self.1 | long)
    }

    /// Whether one of the words can be this one, whatever the case of its ASCII letters.
    #[inline]
    pub const fn may_have(self, word: &str) -> bool {
        let Self(short, long) = Self::of(word);
        (self.0 & short) | (self.1 & long) != 0
    }

    /// An empty word has none.
    #[inline]
    const fn of(word: &str) -> Self {
        let [first, ..] = word.as_bytes() else { return Self::NONE };
        // The last five bits of a letter are the same in both cases.
        let bit = 1_u64.wrapping_shl((*first as u32 & 31) | ((word.len() as u32 & 1) << 5));
        if word.len() & 2 == 0 { Self(bit, 0) } else { Self(0, bit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_in_any_case() {
        let known = Known::of(&["error", "can't", "in_progress", "no", "y"]);
        for word in ["error", "Error", "ERROR", "Can't", "IN_PROGRESS", "No", "Y"] {
            assert!(known.has(word), "{word}");
        }
        for word in ["", "errors", "eRRer", "on", "yes", "é", "\u{5}rror"] {
            assert!(!known.has(word), "{word}");
        }
    }
}
