//! Whether words that two texts share stand in the same relations: "from A to B" and "to B from A" do, "from B to A" does not.

use super::{
    lists::can_replace,
    reading::{Class, Item},
};

/// Items of two texts that stand for the same.
pub(super) type Pair<'a> = (usize, usize, &'a Item, &'a Item);

/// In the same order nothing but the prepositions can differ. A phrase that was moved keeps its preposition, and the phrases of
/// one preposition keep their order.
pub(super) fn agrees(pairs: &[Pair<'_>]) -> bool {
    if pairs.is_sorted_by_key(|(_, b, ..)| *b) {
        return pairs.iter().all(|(_, _, a, b)| {
            // "in 5 minutes" is not "for 5 minutes".
            let is_counted = matches!(a.class, Class::Number | Class::Date | Class::Time);
            let one_is_bare = a.relation.is_empty() || b.relation.is_empty();
            // "In Windows" is "on Windows", but in the box is not on the box.
            let is_place = [a, b].iter().any(|item| item.relation == "on") && !a.is_name;
            can_replace(&a.relation, &b.relation)
                && (!(is_counted || is_place) || one_is_bare || a.relation == b.relation)
        });
    }
    pairs.iter().all(|(_, _, a, b)| a.phrase == b.phrase)
        && pairs.iter().enumerate().all(|(at, (_, place, a, _))| {
            let mut later = pairs.iter().skip(at).filter(|(_, _, other, _)| other.phrase == a.phrase);
            later.all(|(_, other, ..)| other >= place) || is_of_equals(pairs, a)
        })
}

/// "between A and B" is "between B and A", where each is one word.
fn is_of_equals(pairs: &[Pair<'_>], item: &Item) -> bool {
    item.phrase == "between" && pairs.iter().filter(|(_, _, a, _)| a.phrase == "between").count() == 2
}
