//! Telling a batch from a loop: prompts that share one template and differ in the values filled in look alike to any
//! embedding ("Process order 17", "Process order 18"; "Translate 'tree'", "Translate 'house'"), yet are healthy work.

mod alignment;

use self::alignment::{Alignment, Gap, align};
use crate::wording::{Kind, Word, are_opposites, classified};

/// Prompts are compared over so many words; beyond them they must agree otherwise.
const WORDS: usize = 256;
/// Of the longer prompt's words, at least so many in a hundred stand in both, in order.
const SHARED_PERCENT: usize = 70;
/// Or so many words are the same before the first difference and after the last: instructions around a text. Who rewords a
/// prompt does not leave so much of it as it was.
const SHARED_ENDS: usize = 15;
/// Who rewords a whole prompt exchanges a verb here and there for one that no list has. Other words that say the same are
/// found in at least so many other places then; a template has none, it stays as it is around its values.
const REWORDED_PLACES: usize = 2;
/// The same where what was exchanged may be a noun.
const REWORDED_PLACES_FOR_NOUNS: usize = 3;
/// And for each word that was exchanged, so many between the first difference and the last are the same. Of two texts that
/// are filled into one template hardly any are.
const SHARED_FOR_EXCHANGED: usize = 3;

/// Whether `a` and `b` are one template with other values: most words are shared in their order, or many at the ends, and
/// somewhere a name, a number, a noun or a verb of one stands where another stands in the other. The same words throughout are a
/// repetition. Words that were only added or only left out, other function words, other inflections and words that say the same
/// are a rewording. Neither is a variant.
pub fn is_template_variant(a: &str, b: &str) -> bool {
    if a == b {
        return false;
    }
    let (a, b) = (classified(a, WORDS), classified(b, WORDS));
    let alignment = align(&a, &b);
    let shared = alignment.shared.saturating_mul(100);
    let mostly_shared = shared >= a.len().max(b.len()).saturating_mul(SHARED_PERCENT);
    (mostly_shared || alignment.ends >= SHARED_ENDS || same_but_for_numbers(&a, &b))
        && asks_for_something_else(&alignment)
}

/// Short prompts share few words, but "book 3" and "book 4" are plain.
fn same_but_for_numbers(a: &[Word], b: &[Word]) -> bool {
    let is_value = |word: &Word| word.exact.bytes().any(|b| b.is_ascii_digit());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.exact == b.exact || is_value(a) && is_value(b))
}

fn asks_for_something_else(alignment: &Alignment<'_>) -> bool {
    let exchanges: Vec<Exchange<'_>> = alignment.gaps.iter().filter_map(Exchange::in_gap).collect();
    if exchanges.is_empty() {
        is_turned_round(alignment)
    } else {
        !is_reworded_throughout(alignment, &exchanges)
    }
}

/// Content of one text that stands where other content stands in the other.
struct Exchange<'a> {
    words: usize,
    /// Each with the word before it.
    all: Vec<(Option<&'a Word>, &'a Word)>,
}

impl<'a> Exchange<'a> {
    fn in_gap(gap: &Gap<'a>) -> Option<Self> {
        let a = own_content(gap.a.iter(), gap.b.words);
        let b = own_content(gap.b.iter(), gap.a.words);
        let words = a.len().max(b.len());
        let is_exchange = !a.is_empty() && !b.is_empty();
        is_exchange.then(|| Self { words, all: a.into_iter().chain(b).collect() })
    }

    fn has_name(&self) -> bool {
        self.all.iter().any(|(_, word)| word.is_name())
    }

    fn is_of_verbs(&self) -> bool {
        self.all.iter().all(|(before, word)| word.is_verb_after(*before))
    }
}

fn own_content<'a>(
    words: impl Iterator<Item = (Option<&'a Word>, &'a Word)>,
    others: &[Word],
) -> Vec<(Option<&'a Word>, &'a Word)> {
    words
        .filter(|(_, word)| word.kind == Kind::Content && !others.iter().any(|other| word.is_like(other)))
        .collect()
}

fn is_reworded_throughout(alignment: &Alignment<'_>, exchanges: &[Exchange<'_>]) -> bool {
    let other_gaps = alignment.gaps.len().saturating_sub(exchanges.len());
    let reworded = alignment.inexact.saturating_add(other_gaps);
    let needed = if exchanges.iter().all(Exchange::is_of_verbs) {
        REWORDED_PLACES
    } else {
        REWORDED_PLACES_FOR_NOUNS
    };
    let exchanged = exchanges.iter().fold(0_usize, |sum, exchange| sum.saturating_add(exchange.words));
    reworded >= needed
        && reworded > exchanges.len()
        && alignment.shared_content >= exchanged.saturating_mul(SHARED_FOR_EXCHANGED)
        && !exchanges.iter().any(Exchange::has_name)
}

/// Nothing but function words differs, but they say the opposite, or ask another question.
fn is_turned_round(alignment: &Alignment<'_>) -> bool {
    let has = |words: &[Word], kind| words.iter().any(|word| word.kind == kind);
    let any_gap = |test: &dyn Fn(&Gap<'_>) -> bool| alignment.gaps.iter().any(test);
    let only_function_words =
        !any_gap(&|gap| has(gap.a.words, Kind::Content) || has(gap.b.words, Kind::Content));
    let a_is_negated = any_gap(&|gap| has(gap.a.words, Kind::Negation));
    let b_is_negated = any_gap(&|gap| has(gap.b.words, Kind::Negation));
    only_function_words && a_is_negated != b_is_negated || any_gap(&exchanges_opposites)
}

fn exchanges_opposites(gap: &Gap<'_>) -> bool {
    gap.a.words.iter().any(|a| gap.b.words.iter().any(|b| are_opposites(a.key(), b.key())))
}

#[cfg(test)]
mod tests {
    use super::is_template_variant;

    #[test]
    fn other_values_in_one_template_are_a_variant() {
        for (a, b) in [
            ("Process order 17", "Process order 18"),
            ("book 3", "book 4"),
            ("Translate to French: the old tree", "Translate to French: the old house"),
            ("Cancel the order for John today", "Cancel the order for Mary today"),
            ("Please cancel reservation HSR97W now", "Please cancel reservation FDZ0T5 now"),
            (
                "Classify ticket 12: login is broken, as bug or feature request",
                "Classify ticket 31: login is slow, as bug or feature request",
            ),
        ] {
            assert!(is_template_variant(a, b) && is_template_variant(b, a), "{a} | {b}");
        }
    }

    #[test]
    fn repetition_and_rewording_are_not() {
        for (a, b) in [
            ("Process order 17", "process order 17!"),
            ("What is the capital of France?", "What is the capital of France, please?"),
            ("How do I reset my password?", "What is the way to reset a password of mine?"),
            ("Find cheap flights to Rome", "Search for inexpensive flights to Rome"),
            ("", ""),
            ("", "hello"),
        ] {
            assert!(!is_template_variant(a, b) && !is_template_variant(b, a), "{a} | {b}");
        }
    }

    #[test]
    fn instructions_around_another_text_are_a_variant() {
        let ask = |text: &str| {
            format!(
                "Give the product, the price and the place of delivery in the text as JSON. The text: {text}"
            )
        };
        let a = ask(
            "Send the kettle to Osaka, it costs more than Olga wanted to pay, and tell her on Friday that the lamp waits",
        );
        let b = ask(
            "Nobody knew why John had left his violin in Hanoi; the team says that a new one is too much for this month",
        );
        assert!(is_template_variant(&a, &b) && is_template_variant(&b, &a));
        assert!(!is_template_variant(&a, &format!("{a} please")));
    }

    #[test]
    fn long_templates_with_a_changed_middle_are_variants() {
        let text = |middle: &str| {
            format!("{} {middle} {}", "instruction words here ".repeat(30), "closing words there ".repeat(30))
        };
        assert!(is_template_variant(&text("alpha report"), &text("beta story")));
    }
}
