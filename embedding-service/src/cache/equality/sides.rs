//! The two sides of a symmetric question: "the difference between A and B" is "the difference between B and A".

use super::{
    places::{is_counted, is_side},
    text::is_capital,
};

/// The words before, between and behind the two sides. Nothing may follow, because it could be about one of them ("the former").
const FRAMES: [(&str, &str, &str); 9] = [
    ("what is the difference between", "and", ""),
    ("what do", "and", "have in common"),
    ("how do", "and", "differ"),
    ("how are", "and", "related"),
    ("how are", "and", "different"),
    ("can I take", "and", "together"),
    ("which is better", "or", ""),
    ("which is cheaper", "or", ""),
    ("which is healthier", "or", ""),
];

/// Sorts the sides. Returns whether there are two that may be exchanged.
pub(super) fn sort(words: &mut [String]) -> bool {
    for (before, joined_by, behind) in FRAMES {
        let [before, behind] = [before, behind].map(|words| words.split_ascii_whitespace());
        let (first, last) = (before.clone().count(), behind.clone().count());
        let Some(end) = words.len().checked_sub(last).filter(|end| *end > first) else { continue };
        let is_frame = before.chain(behind).eq(words.iter().take(first).chain(words.iter().skip(end)));
        let Some(sides) = words.get_mut(first..end).filter(|_| is_frame) else { continue };
        let Some(and) = sides.iter().position(|word| word == joined_by) else { continue };
        let (one, other) = sides.split_at(and);
        let other = other.get(1..).unwrap_or_default();
        if !are_alike(one, other) {
            continue;
        }
        if one > other {
            let after_and = one.len().saturating_add(1);
            sides.rotate_left(after_and);
            let and = sides.len().saturating_sub(after_and);
            sides.get_mut(and..).unwrap_or_default().rotate_right(1);
        }
        return true;
    }
    false
}

/// Whether the sides may be exchanged: each is one word, or both have two ("civil law and tax law"); both or neither have an article, and
/// both or neither are names. Two numbers or days may not, because their difference has a sign. In "a gas and an electric stove" the second
/// side has two words.
fn are_alike(one: &[String], other: &[String]) -> bool {
    fn words(side: &[String]) -> Option<(&[String], bool)> {
        match side {
            [article, _] if article == "a" || article == "an" => Some((side.get(1..)?, true)),
            [_] | [_, _] => Some((side, false)),
            _ => None,
        }
    }
    words(one).zip(words(other)).is_some_and(|((one, has_article), (other, has_other))| {
        let are_sides = one.iter().chain(other).all(|word| is_side(word));
        let are_counted = one.iter().chain(other).all(|word| is_counted(word));
        let is_name = |side: &[String]| side.first().is_some_and(|word| is_capital(word));
        are_sides
            && !are_counted
            && one.len() == other.len()
            && has_article == has_other
            && is_name(one) == is_name(other)
    })
}
