//! The local score of a prompt against the window of its scope.
//!
//! A prompt that was sent before to the letter counts by itself. One that differs in numbers, ids, dates or a word is
//! what a healthy batch sends: it counts only where the response was the same to the letter too, and never kills.
//! Texts of a few words ("continue", "yes") count only where the response repeats.

use sentinel_text::Fingerprint;

use crate::{
    verdict::{Evidence, Verdict},
    window::{Entry, Fate, Window},
};

/// When the score speaks.
#[derive(Clone, Debug, PartialEq)]
pub struct ScorePolicy {
    pub enabled: bool,
    pub hint: f64,
    pub kill: f64,
    /// Shorter prompts are evidence only where their responses repeat.
    pub min_words: u16,
}

/// Hints on one prompt after which the next repetition moves up to a kill.
const HINTS_BEFORE_KILL: usize = 2;
/// Equal outcomes without which nothing moves up.
const OUTCOMES_BEFORE_KILL: u32 = 2;

/// What the window says about a new prompt.
pub fn judge(window: &Window, prompt: &Fingerprint, policy: &ScorePolicy) -> (Verdict, Evidence) {
    if !policy.enabled {
        return (Verdict::Allow, Evidence::default());
    }
    // What was not answered is no outcome: a fan-out, or a fault of the provider.
    let answered = window.entries.iter().filter(|entry| entry.fate == Fate::Answered);
    let (verbatim, similar): (Vec<&Entry>, Vec<&Entry>) = answered
        .filter(|entry| entry.prompt.is_verbatim(prompt) || entry.prompt.is_similar(prompt))
        .partition(|entry| entry.prompt.is_verbatim(prompt));

    let strict = tally(&verbatim, prompt.words >= policy.min_words, false);
    let loose = tally(&similar, false, true);
    let evidence = Evidence {
        prompts: strict.prompts.saturating_add(loose.prompts),
        responses: strict.responses.saturating_add(loose.responses),
        tools: strict.tools.saturating_add(loose.tools),
    };

    let hints = verbatim.iter().filter(|entry| entry.verdict == Verdict::Hint).count();
    let outcomes = strict.responses.saturating_add(strict.tools);
    let far_enough = strict.score() >= policy.kill && outcomes > 0;
    let hinted_in_vain =
        strict.score() >= policy.hint && hints >= HINTS_BEFORE_KILL && outcomes >= OUTCOMES_BEFORE_KILL;
    let verdict = if far_enough || hinted_in_vain {
        Verdict::Kill
    } else if evidence.score() >= policy.hint {
        Verdict::Hint
    } else {
        Verdict::Allow
    };
    (verdict, evidence)
}

/// Counts over the entries that match; `alone` where a prompt counts without its response.
fn tally(matching: &[&Entry], alone: bool, exactly: bool) -> Evidence {
    let repeats =
        |a: &Entry, b: &Entry| a.number != b.number && (a.answered_like(b, exactly) || a.called_like(b));
    let count = |wanted: &dyn Fn(&Entry) -> bool| {
        u32::try_from(matching.iter().filter(|entry| wanted(entry)).count()).unwrap_or(u32::MAX)
    };
    let Some(last) = matching.last() else { return Evidence::default() };
    let earlier = |entry: &Entry| entry.number != last.number;
    Evidence {
        prompts: count(&|entry| alone || matching.iter().any(|other| repeats(entry, other))),
        responses: count(&|entry| earlier(entry) && entry.answered_like(last, exactly)),
        tools: count(&|entry| earlier(entry) && entry.called_like(last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Outcome;

    const POLICY: ScorePolicy = ScorePolicy { enabled: true, hint: 5.0, kill: 10.0, min_words: 4 };

    /// The verdicts on each of the exchanges (prompt, answer) in turn.
    fn run(exchanges: &[(&str, &str)]) -> Vec<Verdict> {
        let mut window = Window::default();
        let mut verdicts = Vec::new();
        for (prompt, answer) in exchanges {
            let prompt = Fingerprint::of(prompt);
            let (verdict, _) = judge(&window, &prompt, &POLICY);
            verdicts.push(verdict);
            let number = window.push(Entry::new(prompt, 0, verdict, None));
            window.record(
                number,
                Outcome::Answered {
                    answer: Fingerprint::of(answer),
                    tools: 0,
                    calls: crate::step::StepLog::default(),
                },
                0,
            );
        }
        verdicts
    }

    fn repeated(prompt: &str, answer: &str, times: usize) -> Vec<Verdict> {
        run(&vec![(prompt, answer); times])
    }

    #[test]
    fn a_verbatim_repeater_is_hinted_then_killed() {
        use Verdict::{Allow, Hint, Kill};
        let verdicts = repeated("What is the status of my order?", "I cannot find that order anywhere.", 5);
        assert_eq!(verdicts, [Allow, Allow, Allow, Hint, Kill]);
    }

    #[test]
    fn other_answers_are_progress_and_never_kill() {
        let prompt = "Give me one more idea for the name";
        let answers: Vec<String> =
            ["apple", "pear", "plum", "fig", "lime", "kiwi", "nut", "rye", "oat", "hop", "fern", "moss"]
                .iter()
                .map(|word| format!("{word} {word}s and the old {word} tree of {word} hill"))
                .collect();
        let exchanges: Vec<_> = answers.iter().map(|answer| (prompt, answer.as_str())).collect();
        let verdicts = run(&exchanges);
        assert!(!verdicts.contains(&Verdict::Kill), "{verdicts:?}");
        assert_eq!(verdicts.iter().position(|verdict| *verdict == Verdict::Hint), Some(5));
    }

    #[test]
    fn a_batch_over_one_template_is_work() {
        let exchanges: Vec<(String, String)> = (0..20)
            .map(|n| (format!("Process order {n} of the day"), format!("Order {n} was processed.")))
            .collect();
        let exchanges: Vec<_> = exchanges.iter().map(|(p, a)| (p.as_str(), a.as_str())).collect();
        assert_eq!(run(&exchanges), [Verdict::Allow; 20]);
    }

    #[test]
    fn a_batch_with_equal_answers_is_never_killed() {
        let exchanges: Vec<String> = (0..20).map(|n| format!("Process order {n} of the day")).collect();
        let exchanges: Vec<_> = exchanges.iter().map(|p| (p.as_str(), "The order was processed.")).collect();
        assert!(!run(&exchanges).contains(&Verdict::Kill));
    }

    #[test]
    fn short_texts_count_only_with_their_answers() {
        let answers: Vec<String> =
            (0..20).map(|n| format!("Chapter {n} tells of {} things", "x".repeat(n))).collect();
        let exchanges: Vec<_> = answers.iter().map(|answer| ("continue", answer.as_str())).collect();
        assert_eq!(run(&exchanges), [Verdict::Allow; 20]);
        assert!(repeated("continue", "There is nothing left to do here.", 8).contains(&Verdict::Kill));
    }

    #[test]
    fn what_was_not_answered_does_not_count() {
        let mut window = Window::default();
        let prompt = Fingerprint::of("the very same question again");
        for _ in 0..10 {
            let number = window.push(Entry::new(prompt, 0, Verdict::Allow, None));
            window.record(number, Outcome::Failed, 0);
        }
        assert_eq!(judge(&window, &prompt, &POLICY), (Verdict::Allow, Evidence::default()));
    }
}
