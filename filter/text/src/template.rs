//! Telling a batch from a loop: prompts that share one template and differ in the values filled in look alike to any
//! embedding ("Process order 17", "Process order 18"; "Translate 'tree'", "Translate 'house'"), yet are healthy work.

use super::words::words;

/// Prompts are compared over so many words; beyond them they must agree otherwise.
const WORDS: usize = 256;
/// Of the longer prompt's words, at least so many in a hundred stand in both, in order.
const SHARED_PERCENT: usize = 70;
/// Or so many words are the same before the first difference and after the last: instructions around a text. Who rewords a
/// prompt does not leave so much of it as it was: in 541 public rewordings of cosine over 0.90, one did.
const SHARED_ENDS: usize = 15;

/// Whether `a` and `b` are one template with other values: most words are shared in their order, or many at the ends, and
/// somewhere a word of one stands where another word stands in the other. The same words throughout are a repetition, and words
/// that were only added or only left out are a rewording: neither is a variant.
pub fn is_template_variant(a: &str, b: &str) -> bool {
    let (a, b) = (lower_words(a), lower_words(b));
    let Alignment { shared, ends, substituted } = align(&a, &b);
    let mostly_shared = shared.saturating_mul(100) >= a.len().max(b.len()).saturating_mul(SHARED_PERCENT);
    substituted && (mostly_shared || ends >= SHARED_ENDS || same_but_for_numbers(&a, &b))
}

fn lower_words(text: &str) -> Vec<String> {
    words(text).take(WORDS).map(str::to_lowercase).collect()
}

/// Short prompts share few words, but "book 3" and "book 4" are plain.
fn same_but_for_numbers(a: &[String], b: &[String]) -> bool {
    let is_value = |word: &str| word.bytes().any(|b| b.is_ascii_digit());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || is_value(a) && is_value(b))
}

struct Alignment {
    /// Length of the longest common subsequence.
    shared: usize,
    /// Words before the first difference and after the last.
    ends: usize,
    /// A gap of that subsequence has words on both sides.
    substituted: bool,
}

fn align(a: &[String], b: &[String]) -> Alignment {
    let prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(prefix..).unwrap_or_default(), b.get(prefix..).unwrap_or_default());
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let a = a.get(..a.len().saturating_sub(suffix)).unwrap_or_default();
    let b = b.get(..b.len().saturating_sub(suffix)).unwrap_or_default();

    // Row by row over `a`: for each prefix of `b`, the longest common subsequence, and whether its last gap (open
    // up to here) has seen a word of `a` and one of `b`, and whether any closed gap had both.
    let mut row = vec![Cell::default(); b.len().saturating_add(1)];
    for (cell, j) in row.iter_mut().zip(0_usize..) {
        cell.gap_b = j > 0;
    }
    for word in a {
        let mut diagonal = row.first().copied().unwrap_or_default();
        if let Some(first) = row.first_mut() {
            first.gap_a = true;
        }
        let mut left = row.first().copied().unwrap_or_default();
        for (cell, other) in row.iter_mut().skip(1).zip(b) {
            let above = *cell;
            *cell = if word == other {
                diagonal.matched()
            } else if above.shared >= left.shared {
                Cell { gap_a: true, ..above }
            } else {
                Cell { gap_b: true, ..left }
            };
            diagonal = above;
            left = *cell;
        }
    }
    let last = row.last().copied().unwrap_or_default().closed();
    let ends = prefix.saturating_add(suffix);
    Alignment { shared: ends.saturating_add(last.shared), ends, substituted: last.substituted }
}

#[derive(Clone, Copy, Default)]
struct Cell {
    shared: usize,
    gap_a: bool,
    gap_b: bool,
    substituted: bool,
}

impl Cell {
    fn closed(self) -> Self {
        Self {
            substituted: self.substituted || (self.gap_a && self.gap_b),
            gap_a: false,
            gap_b: false,
            ..self
        }
    }

    fn matched(self) -> Self {
        let closed = self.closed();
        Self { shared: closed.shared.saturating_add(1), ..closed }
    }
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
