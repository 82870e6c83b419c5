//! Telling a batch from a loop: prompts that share one template and differ in the values filled in look alike to any
//! embedding ("Process order 17", "Process order 18"; "Translate 'tree'", "Translate 'house'"), yet are healthy work.

mod alignment;

use self::alignment::{Alignment, Gap, align};
use super::wording::{Word, WordKind, are_opposites, classified};

/// At most this many words of a prompt are compared. A longer prompt has text that the model did not see, and the caller compares its digest.
const WORDS: usize = 256;
/// In two prompts of one template, at least this percentage of the longer one's words stands in both, in order.
const SHARED_PERCENT: usize = 70;
/// A lower percentage is enough if the exchanged words are plainly values: in short templates ("Translate tree"), or names.
const SHARED_PERCENT_OF_FRAME: usize = 50;
/// In a prompt of at most this many words, one exchanged noun is a value.
const SHORT: usize = 8;
/// Two prompts are also one template if at least this many words are the same before the first difference and after the last, such as
/// instructions around a text. A rewording changes more of a prompt.
const SHARED_ENDS: usize = 15;
/// A rewording may exchange a verb for one that is in no list of synonyms. It is told from a template by at least this many other changed
/// places: a template changes only its values.
const REWORDED_PLACES: usize = 2;
/// The same if what was exchanged may be a noun.
const REWORDED_PLACES_FOR_NOUNS: usize = 3;
/// For each exchanged word, a rewording also has at least this many equal content words between the first difference and the last. Two
/// different texts that are filled into one template share hardly any.
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
    if is_frame_filled_anew(&a, &b) {
        return true;
    }
    let alignment = align(&a, &b);
    let exchanges: Vec<Exchange<'_>> = alignment.gaps.iter().filter_map(Exchange::in_gap).collect();
    let alike = alignment.shared.saturating_add(alignment.inexact);
    let longer = a.len().max(b.len());
    let reaches = |words: usize, percent| words.saturating_mul(100) >= longer.saturating_mul(percent);
    if exchanges.is_empty() {
        return reaches(alike, SHARED_PERCENT_OF_FRAME) && is_turned_round(&alignment);
    }
    let is_one_template = reaches(alignment.shared, SHARED_PERCENT)
        || reaches(alike, SHARED_PERCENT_OF_FRAME) && are_values(&alignment, &exchanges, longer)
        || alignment.ends >= SHARED_ENDS;
    is_one_template && !is_reworded_throughout(&alignment, &exchanges)
}

/// Whether what was exchanged is plainly a value: one noun in a short prompt, or only names, or only content words and nothing else.
fn are_values(alignment: &Alignment<'_>, exchanges: &[Exchange<'_>], longer: usize) -> bool {
    let is_noun = |exchange: &Exchange<'_>| exchange.words == 1 && !exchange.is_of_verbs();
    let is_nothing_beside = alignment.inexact == 0 && alignment.gaps.len() == exchanges.len();
    longer <= SHORT && exchanges.len() == 1 && exchanges.iter().all(is_noun)
        || is_nothing_beside && exchanges.iter().all(Exchange::is_of_names)
        || is_nothing_beside && alignment.gaps.iter().all(has_only_content)
}

/// Whether both texts have the same words in the same places, except that some content words are replaced by others. "From Rome to Paris"
/// and "from Paris to Rome" are such texts too.
fn is_frame_filled_anew(a: &[Word], b: &[Word]) -> bool {
    let mut same = 0_usize;
    let fits = |(a, b): (&Word, &Word)| {
        if a.is_same(b) {
            same = same.saturating_add(1);
        }
        a.is_same(b) || a.kind == WordKind::Content && b.kind == WordKind::Content && !a.is_like(b)
    };
    a.len() == b.len()
        && a.iter().zip(b).all(fits)
        && same < a.len()
        && same.saturating_mul(100) >= a.len().saturating_mul(SHARED_PERCENT_OF_FRAME)
}

fn has_only_content(gap: &Gap<'_>) -> bool {
    let all_content =
        |words: &[Word]| !words.is_empty() && words.iter().all(|word| word.kind == WordKind::Content);
    all_content(gap.a.words) && all_content(gap.b.words)
}

/// Content of one text that stands where other content stands in the other.
struct Exchange<'a> {
    words: usize,
    /// Whether there is a name among those of the one text, and of the other.
    names: (bool, bool),
    /// Each with the word before it.
    all: Vec<(Option<&'a Word>, &'a Word)>,
}

impl<'a> Exchange<'a> {
    fn in_gap(gap: &Gap<'a>) -> Option<Self> {
        let a = own_content(gap.a.iter(), gap.b.words);
        let b = own_content(gap.b.iter(), gap.a.words);
        let words = a.len().max(b.len());
        let has_name = |words: &[(Option<&Word>, &Word)]| words.iter().any(|(_, word)| word.is_name());
        let names = (has_name(&a), has_name(&b));
        let is_exchange = !a.is_empty() && !b.is_empty();
        is_exchange.then(|| Self { words, names, all: a.into_iter().chain(b).collect() })
    }

    fn has_name(&self) -> bool {
        self.names.0 || self.names.1
    }

    fn is_of_names(&self) -> bool {
        self.names.0 && self.names.1
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
        .filter(|(_, word)| word.kind == WordKind::Content && !others.iter().any(|other| word.is_like(other)))
        .collect()
}

fn is_reworded_throughout(alignment: &Alignment<'_>, exchanges: &[Exchange<'_>]) -> bool {
    let other_gaps = alignment.gaps.len().saturating_sub(exchanges.len());
    let reworded = alignment.inexact.saturating_add(other_gaps);
    let needed =
        if exchanges.iter().all(Exchange::is_of_verbs) { REWORDED_PLACES } else { REWORDED_PLACES_FOR_NOUNS };
    let exchanged = exchanges.iter().fold(0_usize, |sum, exchange| sum.saturating_add(exchange.words));
    reworded >= needed
        && reworded > exchanges.len()
        && alignment.shared_content >= exchanged.saturating_mul(SHARED_FOR_EXCHANGED)
        && !exchanges.iter().any(Exchange::has_name)
}

/// Whether only function words differ, but so that the text says the opposite or asks another question.
fn is_turned_round(alignment: &Alignment<'_>) -> bool {
    let has = |words: &[Word], kind| words.iter().any(|word| word.kind == kind);
    let any_gap = |test: &dyn Fn(&Gap<'_>) -> bool| alignment.gaps.iter().any(test);
    let only_function_words =
        !any_gap(&|gap| has(gap.a.words, WordKind::Content) || has(gap.b.words, WordKind::Content));
    let a_is_negated = any_gap(&|gap| has(gap.a.words, WordKind::Negation));
    let b_is_negated = any_gap(&|gap| has(gap.b.words, WordKind::Negation));
    only_function_words && a_is_negated != b_is_negated || any_gap(&exchanges_opposites)
}

fn exchanges_opposites(gap: &Gap<'_>) -> bool {
    gap.a.words.iter().any(|a| gap.b.words.iter().any(|b| are_opposites(a.key(), b.key())))
}

#[cfg(test)]
mod tests;
