//! Typing slips in the words for instructions and for setting them aside: one letter too many, too few or wrong, or two letters swapped.

use crate::words::SLIPS;

/// Letters of the shortest and the longest word that may be a slip.
const LEAST_SLIPPED: usize = 5;
const MOST_SLIPPED: usize = 13;

/// The known word that was meant, if this word is a slip of it.
pub fn meant_by(word: &[u8]) -> Option<&'static str> {
    SLIPS.iter().find(|meant| is_slip(word, meant.as_bytes())).copied()
}

/// Whether the first word of the text may be a slip, by its length and its first letter.
#[inline]
pub fn may_be_slip(text: &[u8], length: usize) -> bool {
    (LEAST_SLIPPED..=MOST_SLIPPED).contains(&length)
        && matches!(text, [b'i' | b'I' | b'd' | b'D' | b'p' | b'P' | b'g' | b'G', ..])
}

/// Whether a word is another one with one letter too many, too few or wrong, or with two letters swapped. The first and the last
/// letter must be right, because with another ending it is another word.
fn is_slip<'w>(word: &'w [u8], meant: &'w [u8]) -> bool {
    let same = |(a, b): &(&u8, &u8)| a.eq_ignore_ascii_case(b);
    let ([first, .., last], [first_meant, .., last_meant]) = (word, meant) else { return false };
    let are_ends = same(&(last, last_meant)) && same(&(first, first_meant));
    if !are_ends || word.len().abs_diff(meant.len()) > 1 {
        return false;
    }
    let head = word.iter().zip(meant).take_while(same).count();
    let most = word.len().min(meant.len()).saturating_sub(head);
    let tail = word.iter().rev().zip(meant.iter().rev()).take(most).take_while(same).count();
    let middle = |word: &'w [u8]| word.get(head..word.len().saturating_sub(tail)).unwrap_or_default();
    match (middle(word), middle(meant)) {
        ([], [_]) | ([_], []) | ([_], [_]) => true,
        ([a, b], [c, d]) => same(&(a, d)) && same(&(b, c)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        word_table::kinds_of,
        words::{IGNORE, INSTRUCTION, PRIOR},
    };

    #[test]
    fn a_slip_of_one_letter_is_read_as_the_word_that_was_meant() {
        for (word, kinds) in [
            ("iunstructions", INSTRUCTION),
            ("instuctions", INSTRUCTION),
            ("Instrcutions", INSTRUCTION),
            ("prevoius", PRIOR),
            ("igonre", IGNORE),
            ("DISREGRAD", IGNORE),
        ] {
            assert!(kinds_of(word) & kinds != 0, "{word}");
        }
        for word in ["ignored", "ignores", "obstructions", "instructor", "guideline", "ignite", "ignoble"] {
            assert!(kinds_of(word) & (IGNORE | PRIOR) == 0, "{word}");
        }
    }
}
