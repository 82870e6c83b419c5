//! Truncating a prompt before it is tokenised, and a digest of what the model does not see.
//! Plain text work: no tokeniser, no model.

use std::fmt;

use crate::hex;

/// Longest head that is given to the tokeniser, in bytes. The 128 tokens that a model is given at most are some 550
/// bytes of ordinary text; tokenising is linear in the text, so truncating first bounds its cost.
pub const HEAD_BYTES: usize = 1024;

/// Splits a prompt into the head that may be tokenised (white space folded, at most [`HEAD_BYTES`], ended on a character
/// boundary) and the rest, untouched.
#[must_use]
pub fn truncate(prompt: &str) -> (String, &str) {
    let mut head = String::with_capacity(HEAD_BYTES.min(prompt.len()));
    // Where the white space before the next character began.
    let mut gap = None;
    for (at, c) in prompt.char_indices() {
        if c.is_whitespace() {
            if !head.is_empty() {
                gap = gap.or(Some(at));
            }
            continue;
        }
        let needed = c.len_utf8().saturating_add(usize::from(gap.is_some()));
        if head.len().saturating_add(needed) > HEAD_BYTES {
            return (head, prompt.get(gap.unwrap_or(at)..).unwrap_or_default());
        }
        if gap.take().is_some() {
            head.push(' ');
        }
        head.push(c);
    }
    (head, "")
}

/// Digest of the text that the model did not see. Two prompts that look alike to the model are alike only if these are
/// equal too.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UnseenDigest([u8; 16]);

impl UnseenDigest {
    /// 32 lower-case hex digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        let mut digits = String::with_capacity(32);
        // A string takes all that is written.
        let _ = hex::write(&self.0, &mut digits);
        digits
    }

    /// The inverse of [`UnseenDigest::to_hex`]; `None` for anything else.
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        hex::read(hex).map(Self)
    }
}

impl fmt::Debug for UnseenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// Collects the text that the model did not see: white space and case folded, digits and everything else kept.
#[derive(Default)]
pub struct UnseenText {
    hasher: blake3::Hasher,
    any: bool,
    gap: bool,
}

impl UnseenText {
    /// Adds text that follows what was added before.
    pub fn add(&mut self, text: &str) {
        let mut folded = String::with_capacity(text.len().min(4096));
        for c in text.chars() {
            if c.is_whitespace() {
                self.gap = self.any;
                continue;
            }
            if std::mem::take(&mut self.gap) {
                folded.push(' ');
            }
            if c.is_ascii() {
                folded.push(c.to_ascii_lowercase());
            } else {
                folded.extend(c.to_lowercase());
            }
            self.any = true;
            if folded.len() > 4000 {
                self.hasher.update(folded.as_bytes());
                folded.clear();
            }
        }
        self.hasher.update(folded.as_bytes());
    }

    /// Marks that the next text does not follow directly on the last.
    pub fn separate(&mut self) {
        self.gap = self.any;
    }

    /// `None` when the model saw everything.
    #[must_use]
    pub fn digest(&self) -> Option<UnseenDigest> {
        let hash = self.hasher.finalize();
        let bytes = hash.as_bytes().first_chunk::<16>()?;
        self.any.then_some(UnseenDigest(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Option<UnseenDigest> {
        let mut unseen = UnseenText::default();
        unseen.add(text);
        unseen.digest()
    }

    #[test]
    fn a_short_prompt_is_all_head() {
        assert_eq!(truncate("  one\n\t two  "), ("one two".to_owned(), ""));
        assert_eq!(truncate(""), (String::new(), ""));
        assert_eq!(truncate(" \n "), (String::new(), ""));
    }

    #[test]
    fn white_space_takes_no_room_in_the_head() {
        let padded = format!("{}say{}hello", " ".repeat(5000), "\n".repeat(5000));
        assert_eq!(truncate(&padded), ("say hello".to_owned(), ""));
    }

    #[test]
    fn truncating_never_splits_a_character_and_loses_none() {
        for c in ['a', 'é', '語', '🦀'] {
            let text: String = std::iter::repeat_n(c, 3000).collect();
            let (head, rest) = truncate(&text);
            assert!(head.len() <= HEAD_BYTES && head.len() > HEAD_BYTES - 4);
            assert_eq!(format!("{head}{rest}"), text);
        }
    }

    #[test]
    fn the_digest_folds_space_and_case_and_keeps_digits() {
        assert_eq!(digest("Order  17\nplease "), digest("order 17 please"));
        assert_ne!(digest("order 17 please"), digest("order 18 please"));
        assert_ne!(digest("orders"), digest("or ders"));
        assert_eq!(digest(" \n"), None);
        assert_eq!(digest(""), None);
    }

    #[test]
    fn the_digest_does_not_depend_on_how_the_text_came() {
        let text = "Ab c\u{130} 12 ".repeat(2000);
        let mut parts = UnseenText::default();
        for c in text.chars() {
            parts.add(&c.to_string());
        }
        assert_eq!(parts.digest(), digest(&text));
    }

    #[test]
    fn hex_goes_round() {
        let some = digest("x").unwrap();
        assert_eq!(UnseenDigest::from_hex(&some.to_hex()), Some(some));
        for bad in ["", "0g", &"0".repeat(31), &"é".repeat(16), &"+1".repeat(16)] {
            assert_eq!(UnseenDigest::from_hex(bad), None, "{bad}");
        }
    }
}
