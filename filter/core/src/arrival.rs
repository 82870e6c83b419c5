//! A request meets the window of its scope: retry or event, stopped or free, and the local verdict.

use crate::{
    config::Policy,
    dialect::Tail,
    prompt::Print,
    signal::{Finding, score},
    verdict::{Evidence, Signal, Verdict},
    window::{Entry, Fate, Window},
};

/// What matters of a request here.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Milliseconds since 1970.
    pub now: u64,
    /// Digest of the body.
    pub body: u64,
    /// Messages in the body.
    pub turns: u32,
    pub has_history: bool,
    /// The SDK says that this is a retry.
    pub is_retry: bool,
    pub occasion: Occasion,
}

/// Why the agent sends this request.
#[derive(Clone, Copy, Debug)]
pub enum Occasion {
    /// A new user text.
    Prompt(Print),
    /// A user text beside tool results: no evidence, but a word that can lift a kill.
    Aside(Print),
    /// The run goes on: tool results, or anything else.
    Continuation,
}

impl Occasion {
    pub fn of(tail: &Tail) -> Self {
        match tail {
            Tail::Prompt(text) => Self::Prompt(Print::of(text)),
            Tail::Aside(text) => Self::Aside(Print::of(text)),
            Tail::Other => Self::Continuation,
        }
    }
}

/// What the window says to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    pub signal: Option<Signal>,
    pub evidence: Evidence,
    /// Entry to which the response belongs.
    pub entry: Option<u32>,
    /// A new prompt event that the window did not settle: worth asking the embedding service.
    pub is_open: bool,
}

/// Judges `arrival` and notes it in `window`. `finding` is what the steps say; the stronger of both counts.
pub fn judge(
    window: &mut Window,
    arrival: &Arrival,
    policy: &Policy,
    finding: Option<&Finding>,
) -> Judgement {
    let judgement = by_window(window, arrival, policy).or_finding(finding);
    if judgement.verdict == Verdict::Kill && window.killed_until <= arrival.now {
        window.killed_until = arrival.now.saturating_add(policy.kill.expires);
    }
    judgement
}

impl Judgement {
    /// The stronger of the two; of equal ones the finding, which tells more.
    #[must_use]
    pub fn or_finding(self, finding: Option<&Finding>) -> Self {
        match finding {
            Some(finding) if finding.verdict >= self.verdict => Self {
                verdict: finding.verdict,
                signal: Some(finding.signal),
                evidence: Evidence::default(),
                is_open: false,
                ..self
            },
            _ => self,
        }
    }
}

fn by_window(window: &mut Window, arrival: &Arrival, policy: &Policy) -> Judgement {
    // A history that shrank was compacted or rewritten: what was counted before has lost its ground.
    if arrival.has_history {
        if arrival.turns < window.turns {
            window.entries.clear();
        }
        window.turns = arrival.turns;
    }
    window.touched = arrival.now;
    match arrival.occasion {
        Occasion::Prompt(prompt) => match known_request(window, arrival) {
            Some(judgement) => judgement,
            None if lift_or_keep_kill(window, &prompt, arrival.now) => stopped(),
            None if arrival.is_retry => Judgement::default(),
            None => event(window, arrival, prompt, policy),
        },
        Occasion::Aside(text) if lift_or_keep_kill(window, &text, arrival.now) => stopped(),
        Occasion::Continuation if arrival.now < window.killed_until => stopped(),
        Occasion::Aside(_) | Occasion::Continuation => {
            Judgement { entry: window.entries.last().map(|entry| entry.number), ..Judgement::default() }
        }
    }
}

/// A body that was sent before and not answered is a retry: it gets what it got before.
fn known_request(window: &mut Window, arrival: &Arrival) -> Option<Judgement> {
    let known = window.entries.iter_mut().rev().find(|entry| entry.body == arrival.body)?;
    if known.verdict == Verdict::Kill || (known.fate == Fate::Answered && !arrival.is_retry) {
        return None;
    }
    if known.fate == Fate::Failed {
        known.fate = Fate::Pending;
    }
    Some(Judgement {
        verdict: known.verdict,
        signal: known.signal,
        entry: Some(known.number),
        ..Judgement::default()
    })
}

/// Whether the scope is stopped and stays so. A user text that is not remembered lifts the kill and starts afresh.
fn lift_or_keep_kill(window: &mut Window, text: &Print, now: u64) -> bool {
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

fn stopped() -> Judgement {
    Judgement { verdict: Verdict::Kill, signal: Some(Signal::Score), ..Judgement::default() }
}

fn event(window: &mut Window, arrival: &Arrival, prompt: Print, policy: &Policy) -> Judgement {
    let (verdict, evidence) = score::judge(window, &prompt, &policy.score);
    let signal = (verdict != Verdict::Allow).then_some(Signal::Score);
    let number = window.push(Entry {
        number: 0,
        body: arrival.body,
        prompt,
        fate: Fate::Pending,
        verdict,
        signal,
        answer: Print::default(),
        tools: 0,
    });
    let is_long_enough = prompt.words >= policy.semantic.min_words.max(1);
    Judgement {
        verdict,
        signal,
        evidence,
        entry: Some(number),
        is_open: verdict == Verdict::Allow && policy.semantic.enabled && is_long_enough,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Config, prompt::digest, window::Outcome};

    struct Run {
        window: Window,
        policy: Policy,
        now: u64,
        turns: u32,
    }

    impl Run {
        fn new() -> Self {
            let config = Config::from_json(b"{}").unwrap();
            Self {
                window: Window::default(),
                policy: config.policy(None).as_ref().clone(),
                now: 1_000,
                turns: 0,
            }
        }

        fn send(&mut self, occasion: Occasion, body: &str, is_retry: bool) -> Judgement {
            self.now += 1_000;
            let arrival = Arrival {
                now: self.now,
                body: digest(body.as_bytes()),
                turns: self.turns,
                has_history: self.turns > 0,
                is_retry,
                occasion,
            };
            judge(&mut self.window, &arrival, &self.policy, None)
        }

        fn say(&mut self, text: &str) -> Judgement {
            self.send(Occasion::Prompt(Print::of(text)), text, false)
        }

        fn answer(&mut self, judgement: Judgement, text: &str) {
            if let Some(entry) = judgement.entry {
                self.window.record(
                    entry,
                    Outcome::Answered {
                        answer: Print::of(text),
                        tools: 0,
                        calls: crate::step::StepReader::default(),
                    },
                    0,
                );
            }
        }

        fn exchange(&mut self, text: &str, answer: &str) -> Verdict {
            let judgement = self.say(text);
            self.answer(judgement, answer);
            judgement.verdict
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
            let judgement = run.say(PROMPT);
            assert_eq!(judgement.verdict, Verdict::Allow);
            run.window.record(judgement.entry.unwrap(), Outcome::Failed, 0);
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
        assert_eq!(hinted.verdict, Verdict::Hint);
        run.answer(hinted, ANSWER);
        let retry = run.send(Occasion::Prompt(Print::of(PROMPT)), PROMPT, true);
        assert_eq!((retry.verdict, retry.signal, retry.is_open), (Verdict::Hint, Some(Signal::Score), false));
        assert_eq!(run.window.entries.len(), 4);
        let unknown = run.send(Occasion::Prompt(Print::of("never seen before text")), "other", true);
        assert_eq!(unknown, Judgement::default());
    }

    #[test]
    fn a_kill_stays_for_the_same_prompt_and_for_a_run_that_goes_on() {
        let mut run = Run::killed();
        assert_eq!(run.say(PROMPT).verdict, Verdict::Kill);
        assert_eq!(run.send(Occasion::Continuation, "tools", false).verdict, Verdict::Kill);
        assert_eq!(run.send(Occasion::Aside(Print::of(PROMPT)), "aside", false).verdict, Verdict::Kill);
    }

    #[test]
    fn a_new_user_message_lifts_a_kill() {
        for occasion in [Occasion::Prompt, Occasion::Aside] {
            let mut run = Run::killed();
            let lifted = run.send(occasion(Print::of("Stop now and summarise what you know")), "new", false);
            assert_eq!(lifted.verdict, Verdict::Allow);
            assert_eq!(run.send(Occasion::Continuation, "tools", false).verdict, Verdict::Allow);
            assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Allow);
        }
    }

    #[test]
    fn a_kill_expires() {
        let mut run = Run::killed();
        run.now += run.policy.kill.expires;
        assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Allow);
    }

    #[test]
    fn a_history_that_shrank_starts_afresh() {
        let mut run = Run::new();
        for turns in [2, 4, 6] {
            run.turns = turns;
            run.exchange(PROMPT, ANSWER);
        }
        run.turns = 3;
        assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Allow);
        assert_eq!(run.window.entries.len(), 1);
    }

    #[test]
    fn a_continuation_is_no_event_and_its_response_belongs_to_the_last_prompt() {
        let mut run = Run::new();
        let prompt = run.say(PROMPT);
        for _ in 0..30 {
            let next = run.send(Occasion::Continuation, "tools", false);
            assert_eq!(next, Judgement { entry: prompt.entry, ..Judgement::default() });
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
