//! Comparing a prompt with the earlier ones of its scope: which of them count as matches. Rules only: no I/O, no clock.

mod template;
mod wording;

use self::template::is_template_variant;
use crate::{
    embed::{Embedded, truncation::UnseenDigest},
    history::Earlier,
};

/// If the model was given only parts of two prompts, and the other parts differ, their similarity is at most this. Unrelated texts have 0.5,
/// and nothing better is known of the other parts.
const MOST_IF_UNSEEN_DIFFERS: f64 = 0.5;

/// From this similarity on two prompts are related: cosine 0.85.
const RELATED: f64 = 0.925;

/// When a call is answered with `loop_detected`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatchRules {
    /// An earlier prompt matches above this similarity.
    pub threshold: f64,
    /// How many earlier prompts have to match. At least 1.
    pub repeats: u32,
}

/// What the comparison came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub loop_detected: bool,
    /// 0 when there was nothing to compare with.
    pub max_similarity: f64,
    /// The head of the most similar earlier prompt.
    pub most_similar: Option<String>,
    pub matches: u32,
    pub template_matches: u32,
    pub compared: u32,
    pub related: u32,
}

/// Compares a prompt with the earlier ones of its scope.
#[must_use]
pub fn compare(new: &Embedded, earlier: &[Earlier], rules: MatchRules) -> Comparison {
    let mut comparison = Comparison::default();
    for old in earlier {
        comparison.compared = comparison.compared.saturating_add(1);
        let similarity = similarity(new.unseen, old);
        if comparison.most_similar.is_none() || similarity > comparison.max_similarity {
            comparison.max_similarity = similarity;
            comparison.most_similar = Some(old.head.clone());
        }
        let (is_match, is_related) = (similarity > rules.threshold, similarity >= RELATED);
        if !(is_match || is_related) || new.unseen != old.unseen {
            continue;
        }
        let is_variant = is_variant(&new.head, old);
        count(&mut comparison.template_matches, is_match && is_variant);
        count(&mut comparison.matches, is_match && !is_variant);
        count(&mut comparison.related, is_related && !is_variant);
    }
    comparison.loop_detected = comparison.matches >= rules.repeats.max(1);
    comparison
}

/// Whether an earlier prompt is the same template with other values, which is no repetition. If its text was not stored
/// (`LOOP_STORE_PROMPT_TEXT=false`), a rewording cannot be told from "Process order 17" and "Process order 18". Then only a prompt with the
/// same vector, and so the same text, counts as a repetition.
fn is_variant(new: &str, old: &Earlier) -> bool {
    if old.head.is_empty() { old.similarity < 1.0 } else { is_template_variant(new, &old.head) }
}

fn count(counter: &mut u32, counts: bool) {
    *counter = counter.saturating_add(u32::from(counts));
}

/// The vectors say nothing about text that the model was not given ("Summarise this: …", and then pages). Two prompts of
/// which either has such text are as similar as their vectors only if that text is the same.
fn similarity(unseen: Option<UnseenDigest>, old: &Earlier) -> f64 {
    if unseen == old.unseen { old.similarity } else { old.similarity.min(MOST_IF_UNSEEN_DIFFERS) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{embed::truncation::UnseenText, history::Moment};

    const RULES: MatchRules = MatchRules { threshold: 0.95, repeats: 2 };

    fn new(head: &str, unseen: &str) -> Embedded {
        Embedded { vector: Arc::from([1.0]), head: head.to_owned(), unseen: digest(unseen) }
    }

    fn old(similarity: f64, head: &str, unseen: &str) -> Earlier {
        Earlier { moment: Moment(1), similarity, head: head.to_owned(), unseen: digest(unseen) }
    }

    fn digest(text: &str) -> Option<UnseenDigest> {
        let mut unseen = UnseenText::default();
        unseen.add(text);
        unseen.digest()
    }

    const ASK: &str = "why does the build fail on the second machine";

    #[test]
    fn nothing_to_compare_with_is_no_loop() {
        assert_eq!(compare(&new(ASK, ""), &[], RULES), Comparison::default());
    }

    #[test]
    fn as_many_as_repeats_have_to_match() {
        let one = [old(1.0, ASK, ""), old(0.4, "hello", "")];
        let two = [old(1.0, ASK, ""), old(0.96, ASK, "")];
        assert!(!compare(&new(ASK, ""), &one, RULES).loop_detected);
        let comparison = compare(&new(ASK, ""), &two, RULES);
        assert!(comparison.loop_detected);
        assert_eq!((comparison.matches, comparison.compared), (2, 2));
        let literal = MatchRules { repeats: 0, ..RULES };
        assert!(compare(&new(ASK, ""), &one, literal).loop_detected);
    }

    #[test]
    fn the_threshold_itself_is_no_match() {
        let at = [old(0.95, ASK, ""), old(0.95, ASK, "")];
        assert_eq!(compare(&new(ASK, ""), &at, RULES).matches, 0);
        let above = MatchRules { threshold: 0.949, ..RULES };
        assert_eq!(compare(&new(ASK, ""), &at, above).matches, 2);
    }

    #[test]
    fn the_same_template_with_other_values_is_counted_apart() {
        let batch = [
            old(0.99, "process order 17", ""),
            old(0.99, "process order 18", ""),
            old(1.0, "process order 19", ""),
        ];
        let comparison = compare(&new("process order 19", ""), &batch, RULES);
        assert_eq!((comparison.template_matches, comparison.matches), (2, 1));
        assert_eq!(comparison.max_similarity, 1.0);
        assert!(!comparison.loop_detected);
    }

    #[test]
    fn related_prompts_are_counted_whatever_the_threshold() {
        let earlier = [
            old(0.924, "why is the second machine so slow", ""),
            old(0.925, "does the second machine build it at all", ""),
            old(0.96, "why is the build failing on the second machine", ""),
            old(0.99, "why does the test fail on the second machine", ""),
            old(1.0, ASK, ""),
            old(1.0, ASK, "another page"),
        ];
        let comparison = compare(&new(ASK, ""), &earlier, RULES);
        assert_eq!((comparison.related, comparison.matches, comparison.template_matches), (3, 2, 1));
        let strict = compare(&new(ASK, ""), &earlier, MatchRules { threshold: 1.0, ..RULES });
        assert_eq!((strict.related, strict.matches, strict.template_matches), (3, 0, 0));
        let lax = compare(&new(ASK, ""), &earlier, MatchRules { threshold: 0.9, ..RULES });
        assert_eq!((lax.related, lax.matches), (3, 4));
    }

    #[test]
    fn without_the_earlier_text_only_the_same_prompt_matches() {
        let batch = [old(0.999, "", ""), old(0.99, "", ""), old(0.96, "", "")];
        let comparison = compare(&new("process order 19", ""), &batch, RULES);
        assert_eq!((comparison.matches, comparison.template_matches, comparison.related), (0, 3, 0));
        let again = [old(1.0, "", ""), old(1.0, "", "")];
        let comparison = compare(&new(ASK, ""), &again, RULES);
        assert_eq!((comparison.matches, comparison.related), (2, 2));
        assert!(comparison.loop_detected);
        let page = [old(1.0, "", "page one"), old(1.0, "", "page two")];
        assert_eq!(compare(&new(ASK, "page two"), &page, RULES).matches, 1);
    }

    #[test]
    fn numbers_ids_and_dates_make_no_relation() {
        for (a, b) in [
            ("process order 17", "process order 18"),
            ("cancel reservation HSR97W now", "cancel reservation FDZ0T5 now"),
            ("write the report for 2024-05-11", "write the report for 2024-05-12"),
        ] {
            assert_eq!(compare(&new(a, ""), &[old(0.99, b, "")], RULES).related, 0, "{a}");
        }
    }

    #[test]
    fn long_prompts_match_only_if_the_unseen_rest_agrees() {
        let earlier = [
            old(1.0, ASK, "page one"),
            old(1.0, ASK, "Page  ONE"),
            old(1.0, ASK, "page 1"),
            old(1.0, ASK, ""),
        ];
        let comparison = compare(&new(ASK, "page one"), &earlier, RULES);
        assert_eq!((comparison.matches, comparison.template_matches), (2, 0));
        assert_eq!((comparison.compared, comparison.max_similarity), (4, 1.0));
        let other = compare(&new(ASK, "page two"), &earlier, RULES);
        assert_eq!((other.matches, other.max_similarity), (0, MOST_IF_UNSEEN_DIFFERS));
        let all = compare(&new(ASK, "page two"), &earlier, MatchRules { threshold: 0.0, ..RULES });
        assert_eq!(all.matches, 0, "whatever the threshold");
        let short = compare(&new(ASK, ""), &earlier, RULES);
        assert_eq!(short.matches, 1);
        assert_eq!(short.max_similarity, 1.0);
    }

    #[test]
    fn the_most_similar_prompt_is_named_even_below_the_threshold() {
        let earlier = [old(0.2, "a", ""), old(0.7, "b", ""), old(0.6, "c", "")];
        let comparison = compare(&new(ASK, ""), &earlier, RULES);
        assert_eq!(comparison.most_similar.as_deref(), Some("b"));
        assert_eq!(comparison.max_similarity, 0.7);
        let opposite = compare(&new(ASK, ""), &[old(0.0, "x", "")], RULES);
        assert_eq!(opposite.most_similar.as_deref(), Some("x"));
    }
}
