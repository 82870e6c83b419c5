use sentinel_text::digest;

use super::*;
use crate::{context::Occurrence, kept_history::ThreadRef, step::Kind, step::StepLog, window::AnswerOutcome};

struct Run {
    window: Window,
    policy: PromptsPolicy,
    now: u64,
    messages: u32,
    names_run: bool,
}

impl Run {
    fn new() -> Self {
        let score = ScorePolicy {
            enabled: true,
            hint: 5.0,
            kill: 10.0,
            min_words: 4,
            window: 20,
            kill_by_agent: false,
        };
        let policy = PromptsPolicy { score, words_to_ask: Some(4), kill_lasts: 600_000 };
        Self { window: Window::default(), policy, now: 1_000, messages: 0, names_run: true }
    }

    fn send(&mut self, prompt: Option<IncomingPrompt>, body: &str, done: &[FinishedCall]) -> Observed {
        let said = if prompt.is_some() { body } else { "" };
        self.now += 1_000;
        let incoming = Incoming {
            now: self.now,
            body: digest(body.as_bytes()),
            messages: self.messages,
            names_run: self.names_run,
            prompt,
            said,
        };
        observe(&mut self.window, &incoming, || done, &self.policy)
    }

    fn go_on(&mut self, done: &[FinishedCall]) -> Observed {
        self.messages += 2;
        self.send(None, "tools", done)
    }

    fn say(&mut self, text: &str) -> Observed {
        self.send(Some(prompt(text, Context::default())), text, &[])
    }

    fn answer(&mut self, observed: &Observed, text: &str) {
        self.answer_with(observed, text, 0);
    }

    fn answer_with(&mut self, observed: &Observed, text: &str, tools: u64) {
        if let Some(entry) = observed.entry {
            let answer = Fingerprint::of(text);
            let outcome = AnswerOutcome::Answered { answer, tools, id: None, calls: StepLog::default() };
            self.window.record(entry, ThreadRef::default(), outcome, 0);
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

fn prompt(text: &str, context: Context) -> IncomingPrompt {
    IncomingPrompt { text: Fingerprint::of(text), context, ..IncomingPrompt::default() }
}

const PROMPT: &str = "Where is the report of last week?";
const ANSWER: &str = "I could not find any such report.";

#[test]
fn a_request_that_was_not_answered_comes_again_without_counting() {
    let mut run = Run::new();
    for _ in 0..10 {
        let observed = run.say(PROMPT);
        assert_eq!(observed.verdict(), Verdict::Allow);
        run.window.record(observed.entry.unwrap(), ThreadRef::default(), AnswerOutcome::Failed, 0);
    }
    assert_eq!(run.window.entries.len(), 1);
}

#[test]
fn a_retry_gets_the_hint_that_it_got_before() {
    let mut run = Run::new();
    for _ in 0..3 {
        run.exchange(PROMPT, ANSWER);
    }
    assert_eq!(run.say(PROMPT).verdict(), Verdict::Hint);
    let retry = run.say(PROMPT);
    assert_eq!(
        retry.finding.map(|finding| (finding.signal, finding.verdict)),
        Some((Signal::Score, Verdict::Hint))
    );
    assert_eq!(run.window.entries.len(), 4);
}

#[test]
fn who_asks_on_a_schedule_is_not_stopped() {
    for (rest, wanted) in [(3_600_000, Verdict::Hint), (2_000, Verdict::Kill)] {
        let mut run = Run::new();
        let day = |run: &mut Run| {
            run.now += rest;
            let verdict = run.exchange(PROMPT, ANSWER);
            run.window.answered = run.now;
            verdict
        };
        assert_eq!((0..9).map(|_| day(&mut run)).max(), Some(wanted), "after {rest} ms");
    }
}

#[test]
fn a_kill_stays_for_the_same_prompt_and_for_a_run_that_goes_on() {
    let mut run = Run::killed();
    let again = run.say(PROMPT);
    assert_eq!(
        again.finding.map(|finding| (finding.verdict, finding.signal)),
        Some((Verdict::Kill, Signal::Score))
    );
    assert_eq!(run.go_on(&[]).verdict(), Verdict::Kill);
    let known = Occurrence { history: 1, answer: Fingerprint::default() };
    let context = Context { earlier: vec![known], ..Context::default() };
    let reminder = run.send(Some(prompt("Never forget the rules", context)), "reminder", &[]);
    assert_eq!(reminder.verdict(), Verdict::Kill, "a text that stands in the history is no new word");
}

#[test]
fn without_a_named_run_nothing_is_stopped_for_what_another_did() {
    let mut run = Run { names_run: false, ..Run::new() };
    let verdicts: Vec<_> = (0..20).map(|_| run.exchange(PROMPT, ANSWER)).collect();
    assert!(!verdicts.contains(&Verdict::Kill) && verdicts.contains(&Verdict::Hint), "{verdicts:?}");
    assert_eq!(run.go_on(&[]).verdict(), Verdict::Allow);
}

#[test]
fn a_new_user_message_lifts_a_kill() {
    let mut run = Run::killed();
    assert_eq!(run.say("Stop now and summarise what you know").verdict(), Verdict::Allow);
    assert_eq!(run.go_on(&[]).verdict(), Verdict::Allow);
    assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Allow);
}

#[test]
fn a_kill_expires() {
    let mut run = Run::killed();
    run.now += run.policy.kill_lasts;
    assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Allow);
}

#[test]
fn a_history_that_shrank_keeps_the_window() {
    let mut run = Run::new();
    for turns in [20, 4, 6] {
        run.messages = turns;
        run.exchange(PROMPT, ANSWER);
        // A planner's call in between.
        run.messages = 1;
        run.go_on(&[]);
    }
    assert_eq!(run.exchange(PROMPT, ANSWER), Verdict::Hint);
}

#[test]
fn a_continuation_is_no_event_and_its_response_belongs_to_the_last_prompt() {
    let mut run = Run::new();
    let prompt = run.say(PROMPT);
    for _ in 0..30 {
        let next = run.go_on(&[]);
        assert_eq!(next, Observed { entry: prompt.entry, ..Observed::default() });
    }
    assert_eq!(run.window.entries.len(), 1);
}

const ANSWERS: [&str; 3] = [
    "It is nowhere to be found.",
    "Nobody has seen any of those for years.",
    "Try the archive on the third floor?",
];

#[test]
fn calls_that_wait_or_merely_acknowledge_do_not_score() {
    let call = |kind| FinishedCall { tool: "look".into(), approach: 7, outcome: 9, kind, bytes: 0 };
    for (kind, scores) in
        [(Kind::Waiting, false), (Kind::Empty, false), (Kind::Acknowledgement, false), (Kind::Content, true)]
    {
        let mut run = Run::new();
        for answer in ANSWERS {
            let observed = run.say(PROMPT);
            run.answer_with(&observed, "", 7);
            let next = run.go_on(&[call(kind)]);
            // The same results once more are a retry.
            let _ = run.send(None, "tools", &[call(kind)]);
            run.answer(&next, answer);
        }
        assert_eq!(run.say(PROMPT).verdict() == Verdict::Hint, scores, "{kind:?}");
    }
}

#[test]
fn what_is_worth_asking_the_service_about() {
    let open = |first: (&str, u64, &str), second: (&str, u64, &str), next: (&str, u64)| {
        let mut run = Run::new();
        let mut number = 0;
        let mut send = |run: &mut Run, text: &str, whole: u64| {
            number += 1;
            run.send(Some(prompt(text, Context { whole, ..Context::default() })), &number.to_string(), &[])
        };
        for (text, whole, answer) in [first, second] {
            let observed = send(&mut run, text, whole);
            run.answer(&observed, answer);
        }
        send(&mut run, next.0, next.1).is_open
    };
    let other = "How tall is the tower of the town?";
    assert!(open((other, 1, ANSWER), (other, 1, ANSWER), (PROMPT, 1)), "a new prompt");
    assert!(open((PROMPT, 1, ANSWER), (PROMPT, 1, ANSWER), (PROMPT, 1)), "with the same answers");
    let regenerated = "Here is another draft that says it in quite another way";
    assert!(!open((PROMPT, 1, ANSWER), (PROMPT, 1, regenerated), (PROMPT, 1)), "regeneration");
    assert!(!open((PROMPT, 1, ANSWER), (PROMPT, 2, ANSWER), (PROMPT, 3)), "about something else");
    let mut run = Run::new();
    for (text, is_open) in
        [("continue", false), ("yes please", false), ("continue with the second chapter", true)]
    {
        assert_eq!(run.say(text).is_open, is_open, "{text}");
    }
    let known = Occurrence { history: 1, answer: Fingerprint::default() };
    let context = Context { earlier: vec![known], ..Context::default() };
    assert!(!run.send(Some(prompt("Analyse the result of the tool", context)), "known", &[]).is_open);
}

/// The requests of a run that is written into one growing text: what each adds, and the verdicts.
fn growing(additions: impl Iterator<Item = String>, tools: u64) -> Vec<Verdict> {
    let mut run = Run::new();
    let mut text = "New task:\nRead the twenty pages of the report, and tell me the total.".to_owned();
    let mut verdicts = Vec::new();
    for added in additions {
        let observed = run.say(&text);
        run.answer_with(&observed, "", tools);
        verdicts.push(observed.verdict());
        assert!(verdicts.len() == 1 || !observed.is_open, "the whole text is like the one before: {text}");
        text = format!("{text}\n{added}\n");
    }
    verdicts
}

#[test]
fn one_failure_that_is_added_again_and_again_is_a_loop() {
    let failure = |n: usize| {
        format!(
            "Error:\nError executing tool 'fetch_order': RuntimeError: 503 (request id req-{n:04}-10dd{n:02x})\n\
             Please try again or use another tool"
        )
    };
    let verdicts = growing((0..8).map(failure), 7);
    assert_eq!(verdicts.iter().position(|verdict| *verdict == Verdict::Hint), Some(4), "{verdicts:?}");
    assert!(verdicts.contains(&Verdict::Kill), "{verdicts:?}");
    let other = |n: usize| {
        format!("Error:\n{}: no such file", ["alpha", "beta", "gamma", "delta"][n % 4].repeat(n + 1))
    };
    assert_eq!(growing((0..8).map(other), 7), [Verdict::Allow; 8]);
}

#[test]
fn a_transcript_that_grows_and_what_waits_in_it_are_work() {
    let talk = |n: usize| format!("Agent: part {} is ready\nUser: and then?", "x".repeat(n + 1));
    assert_eq!(growing((0..20).map(talk), 0), [Verdict::Allow; 20]);
    let waits = |_| "Observation:\nstill running".to_owned();
    assert_eq!(growing((0..20).map(waits), 7), [Verdict::Allow; 20]);
}
