//! A request meets the window of its scope: a retry or a prompt event, stopped or free, and what the score finds.

use sentinel_text::Fingerprint;

use crate::{
    history::Tail,
    signal::score::{self, ScorePolicy},
    verdict::{Finding, Signal, Verdict},
    window::{Entry, Fate, Window},
};

/// What matters of a request here.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// Milliseconds since 1970.
    pub now: u64,
    /// Digest of the body; 0 where it was not needed.
    pub body: u64,
    /// Messages in the body.
    pub messages: u32,
    pub has_history: bool,
    /// The SDK says that this is a retry.
    pub is_retry: bool,
    pub occasion: Occasion,
}

/// Why the agent sends this request.
#[derive(Clone, Copy, Debug)]
pub enum Occasion {
    /// A new user text.
    Prompt(Fingerprint),
    /// A user text beside tool results: no evidence, but a word that can lift a kill.
    Aside(Fingerprint),
    /// The run goes on: tool results, or anything else.
    Continuation,
}

impl Occasion {
    pub fn of(tail: &Tail) -> Self {
        match tail {
            Tail::Prompt(text) => Self::Prompt(Fingerprint::of(text)),
            Tail::Aside(text) => Self::Aside(Fingerprint::of(text)),
            Tail::Other => Self::Continuation,
        }
    }
}

/// When prompts are evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptsPolicy {
    pub score: ScorePolicy,
    /// Words from which a prompt is worth asking the embedding service about; none where it is never asked.
    pub words_to_ask: Option<u16>,
    /// How long a kill lasts (milliseconds).
    pub kill_lasts: u64,
}

/// What the window says to a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    pub finding: Option<Finding>,
    /// Entry to which the response belongs.
    pub entry: Option<u32>,
    /// A new prompt event that the window did not settle: worth asking the embedding service.
    pub is_open: bool,
}

impl Observed {
    pub fn verdict(&self) -> Verdict {
        self.finding.as_ref().map_or(Verdict::Allow, |finding| finding.verdict)
    }
}

/// Judges a request by the window of its scope, and notes it there. A kill is remembered in the window.
pub fn observe(window: &mut Window, incoming: &Incoming, policy: &PromptsPolicy) -> Observed {
    // A history that shrank was compacted or rewritten: what was counted before has lost its ground.
    if incoming.has_history {
        if incoming.messages < window.messages {
            window.entries.clear();
        }
        window.messages = incoming.messages;
    }
    window.touched = incoming.now;
    let observed = match incoming.occasion {
        Occasion::Prompt(prompt) => match known_request(window, incoming) {
            Some(observed) => observed,
            None if lift_or_keep_kill(window, &prompt, incoming.now) => stopped(),
            None if incoming.is_retry => Observed::default(),
            None => event(window, incoming, prompt, policy),
        },
        Occasion::Aside(text) if lift_or_keep_kill(window, &text, incoming.now) => stopped(),
        Occasion::Continuation if incoming.now < window.killed_until => stopped(),
        Occasion::Aside(_) | Occasion::Continuation => {
            Observed { entry: window.entries.last().map(|entry| entry.number), ..Observed::default() }
        }
    };
    if observed.verdict() == Verdict::Kill && window.killed_until <= incoming.now {
        window.killed_until = incoming.now.saturating_add(policy.kill_lasts);
    }
    observed
}

/// A body that was sent before and not answered is a retry: it gets what it got before.
fn known_request(window: &mut Window, incoming: &Incoming) -> Option<Observed> {
    let known = window.entries.iter_mut().rev().find(|entry| entry.body == incoming.body)?;
    if known.verdict == Verdict::Kill || (known.fate == Fate::Answered && !incoming.is_retry) {
        return None;
    }
    if known.fate == Fate::Failed {
        known.fate = Fate::Pending;
    }
    Some(Observed {
        finding: known.signal.map(|signal| Finding::of(signal, known.verdict)),
        entry: Some(known.number),
        is_open: false,
    })
}

/// Whether the scope is stopped and stays so. A user text that is not remembered lifts the kill and starts afresh.
fn lift_or_keep_kill(window: &mut Window, text: &Fingerprint, now: u64) -> bool {
    if window.killed_until == 0 {
        return false;
    }
    let stays = now < window.killed_until && window.knows(text);
    if !stays {
        window.killed_until = 0;
        window.entries.clear();
    }
    stays
}

fn stopped() -> Observed {
    Observed { finding: Some(Finding::of(Signal::Score, Verdict::Kill)), ..Observed::default() }
}

fn event(window: &mut Window, incoming: &Incoming, prompt: Fingerprint, policy: &PromptsPolicy) -> Observed {
    let (verdict, evidence) = score::judge(window, &prompt, &policy.score);
    let signal = (verdict != Verdict::Allow).then_some(Signal::Score);
    let number = window.push(Entry::new(prompt, incoming.body, verdict, signal));
    Observed {
        finding: signal.map(|signal| Finding { evidence, ..Finding::of(signal, verdict) }),
        entry: Some(number),
        is_open: signal.is_none() && policy.words_to_ask.is_some_and(|least| prompt.words >= least.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sentinel_text::digest;

    use crate::window::Outcome;

    struct Run {
        window: Window,
        policy: PromptsPolicy,
        now: u64,
        messages: u32,
    }

    impl Run {
        fn new() -> Self {
            let score = ScorePolicy { enabled: true, hint: 5.0, kill: 10.0, min_words: 4 };
            let policy = PromptsPolicy { score, words_to_ask: Some(4), kill_lasts: 600_000 };
            Self { window: Window::default(), policy, now: 1_000, messages: 0 }
        }

        fn send(&mut self, occasion: Occasion, body: &str, is_retry: bool) -> Observed {
            self.now += 1_000;
            let incoming = Incoming {
                now: self.now,
                body: digest(body.as_bytes()),
                messages: self.messages,
                has_history: self.messages > 0,
                is_retry,
                occasion,
            };
            observe(&mut self.window, &incoming, &self.policy)
        }

        fn say(&mut self, text: &str) -> Observed {
            self.send(Occasion::Prompt(Fingerprint::of(text)), text, false)
        }

        fn answer(&mut self, observed: &Observed, text: &str) {
            if let Some(entry) = observed.entry {
                self.window.record(
                    entry,
                    Outcome::Answered {
                        answer: Fingerprint::of(text),
                        tools: 0,
                        calls: crate::step::StepLog::default(),
                    },
                    0,
                );
            }
        }

        fn exchange(&mut self, text: &str, answer: &str) -> Verdict {
            let observed = self.say(text);
            self.answer(&observed, answer);
            observed.verdict()
        }

        fn killed() -> Self {
            let mut run = Self::new();
            for _ in 0..4 {
                run.exchange(PROMPT, ANSWER);
            }
            assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Kill);
            run
        }
    }

    const PROMPT: &str = "Where is the report of last week?";
    const ANSWER: &str = "I could not find any such report.";

    #[test]
    fn a_request_that_was_not_answered_comes_again_without_counting() {
        let mut run = Run::new();
        for _ in 0..10 {
            let observed = run.say(PROMPT);
            assert_eq!(observed.verdict(), Verdict::Allow);
            run.window.record(observed.entry.unwrap(), Outcome::Failed, 0);
        }
        assert_eq!(run.window.entries.len(), 1);
    }

    #[test]
    fn the_retry_header_makes_a_retry_of_an_answered_request_too() {
        let mut run = Run::new();
        for _ in 0..3 {
            run.exchange(PROMPT, ANSWER);
        }
        let hinted = run.say(PROMPT);
        assert_eq!(hinted.verdict(), Verdict::Hint);
        run.answer(&hinted, ANSWER);
        let retry = run.send(Occasion::Prompt(Fingerprint::of(PROMPT)), PROMPT, true);
        assert_eq!(
            (retry.verdict(), retry.finding.as_ref().map(|finding| finding.signal), retry.is_open),
            (Verdict::Hint, Some(Signal::Score), false)
        );
        assert_eq!(run.window.entries.len(), 4);
        let unknown = run.send(Occasion::Prompt(Fingerprint::of("never seen before text")), "other", true);
        assert_eq!(unknown, Observed::default());
    }

    #[test]
    fn a_kill_stays_for_the_same_prompt_and_for_a_run_that_goes_on() {
        let mut run = Run::killed();
        assert_eq!(run.say(PROMPT).verdict(), Verdict::Kill);
        assert_eq!(run.send(Occasion::Continuation, "tools", false).verdict(), Verdict::Kill);
        assert_eq!(
            run.send(Occasion::Aside(Fingerprint::of(PROMPT)), "aside", false).verdict(),
            Verdict::Kill
        );
    }

    #[test]
    fn a_new_user_message_lifts_a_kill() {
        for occasion in [Occasion::Prompt, Occasion::Aside] {
            let mut run = Run::killed();
            let lifted =
                run.send(occasion(Fingerprint::of("Stop now and summarise what you know")), "new", false);
            assert_eq!(lifted.verdict(), Verdict::Allow);
            assert_eq!(run.send(Occasion::Continuation, "tools", false).verdict(), Verdict::Allow);
            assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Allow);
        }
    }

    #[test]
    fn a_kill_expires() {
        let mut run = Run::killed();
        run.now += run.policy.kill_lasts;
        assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Allow);
    }

    #[test]
    fn a_history_that_shrank_starts_afresh() {
        let mut run = Run::new();
        for turns in [2, 4, 6] {
            run.messages = turns;
            run.exchange(PROMPT, ANSWER);
        }
        run.messages = 3;
        assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Allow);
        assert_eq!(run.window.entries.len(), 1);
    }

    #[test]
    fn a_continuation_is_no_event_and_its_response_belongs_to_the_last_prompt() {
        let mut run = Run::new();
        let prompt = run.say(PROMPT);
        for _ in 0..30 {
            let next = run.send(Occasion::Continuation, "tools", false);
            assert_eq!(next, Observed { entry: prompt.entry, ..Observed::default() });
        }
        assert_eq!(run.window.entries.len(), 1);
    }

    #[test]
    fn short_prompts_are_not_worth_asking() {
        let mut run = Run::new();
        assert!(!run.say("continue").is_open);
        assert!(!run.say("yes please").is_open);
        assert!(run.say("continue with the second chapter").is_open);
    }
}
