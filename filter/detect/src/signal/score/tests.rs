use sentinel_text::Fingerprint;

use super::*;
use crate::{
    context::{Context, Occurrence},
    kept_history::ThreadRef,
    step::StepLog,
    window::AnswerOutcome,
};

const POLICY: ScorePolicy =
    ScorePolicy { enabled: true, hint: 5.0, kill: 10.0, min_words: 4, window: 20, kill_by_agent: false };

fn prompt(text: &str) -> IncomingPrompt {
    IncomingPrompt { text: Fingerprint::of(text), ..IncomingPrompt::default() }
}

fn answered(text: &str) -> AnswerOutcome<'static> {
    AnswerOutcome::Answered { answer: Fingerprint::of(text), tools: 0, id: None, calls: StepLog::default() }
}

/// The verdicts on each of the prompts, each answered in turn.
fn run_of(exchanges: &[(IncomingPrompt, &str)], names_run: bool) -> Vec<Verdict> {
    let mut window = Window::default();
    let mut verdicts = Vec::new();
    for (prompt, answer) in exchanges {
        let (verdict, _) = judge(&window, prompt, names_run, &POLICY);
        verdicts.push(verdict);
        let entry = PromptEvent {
            prompt: prompt.text,
            context: prompt.context.whole,
            setting: prompt.context.setting,
            history: prompt.context.history,
            ..PromptEvent::default()
        };
        let number = window.push(entry, POLICY.window);
        window.record(number, ThreadRef::default(), answered(answer), 0);
    }
    verdicts
}

/// The verdicts on each of the exchanges (prompt, answer) of a run that names itself.
fn run(exchanges: &[(&str, &str)]) -> Vec<Verdict> {
    run_of(&exchanges.iter().map(|(text, answer)| (prompt(text), *answer)).collect::<Vec<_>>(), true)
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
    for answer in ["yes", "ALL_CLEAR", "Not a prime."] {
        let exchanges: Vec<_> = exchanges.iter().map(|(p, _)| (*p, answer)).collect();
        assert_eq!(run(&exchanges), [Verdict::Allow; 20], "a short answer proves nothing: {answer}");
    }
}

#[test]
fn a_batch_that_begins_with_one_call_each_time_is_work() {
    let mut window = Window::default();
    for n in 0..9 {
        let prompt = prompt(&format!("Handle ticket {n} by the rules of the house"));
        assert_eq!(judge(&window, &prompt, true, &POLICY).0, Verdict::Allow, "{n}");
        let number =
            window.push(PromptEvent { prompt: prompt.text, ..PromptEvent::default() }, POLICY.window);
        let (answer, calls) = (Fingerprint::of(""), StepLog::default());
        let outcome = AnswerOutcome::Answered { answer, tools: 7, id: None, calls };
        window.record(number, ThreadRef::default(), outcome, 0);
    }
}

#[test]
fn what_came_of_an_action_does_not_score() {
    let said =
        |n: u32| IncomingPrompt { is_observation: true, ..prompt(&format!("step {n} of the long way")) };
    let exchanges: Vec<_> = (0..8).map(|n| (said(n), "I look again at the same file.")).collect();
    assert_eq!(run_of(&exchanges, true), [Verdict::Allow; 8]);
}

/// Beyond what an embedding model reads, where the service does not compare.
#[test]
fn a_long_prompt_with_one_other_word_each_time_is_hinted_where_the_answers_are_equal() {
    let prompt = |word: &str| {
        let lines: Vec<String> =
            ('a'..='y').map(|c| format!("the {c}{c} part of the {word}{c} report")).collect();
        format!("{} and {word}", lines.join(" ").replace(word, "yearly"))
    };
    let words = ["orders", "parcels", "letters", "bills", "shelves", "tables", "books"];
    let prompts: Vec<String> = words.iter().map(|word| prompt(word)).collect();
    let same: Vec<(&str, &str)> =
        prompts.iter().map(|text| (text.as_str(), "I may not read that report.")).collect();
    let verdicts = run(&same);
    assert!(verdicts.contains(&Verdict::Hint) && !verdicts.contains(&Verdict::Kill), "{verdicts:?}");
    let answers: Vec<String> = words.iter().map(|word| format!("It is about {word}, as you see.")).collect();
    let other: Vec<(&str, &str)> =
        prompts.iter().map(String::as_str).zip(answers.iter().map(String::as_str)).collect();
    assert_eq!(run(&other), [Verdict::Allow; 7], "a batch");
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
    let prompt = prompt("the very same question again");
    for _ in 0..10 {
        let number =
            window.push(PromptEvent { prompt: prompt.text, ..PromptEvent::default() }, POLICY.window);
        window.record(number, ThreadRef::default(), AnswerOutcome::Failed, 0);
    }
    assert_eq!(judge(&window, &prompt, true, &POLICY), (Verdict::Allow, Evidence::default()));
}

const QUESTION: &str = "Is there a person in this picture?";

#[test]
fn the_same_question_about_other_material_is_work() {
    let about = |n: u64| {
        let context = Context { whole: n, setting: n, ..Context::default() };
        (IncomingPrompt { text: Fingerprint::of(QUESTION), context, ..IncomingPrompt::default() }, "No.")
    };
    assert_eq!(run_of(&(0..20).map(about).collect::<Vec<_>>(), true), [Verdict::Allow; 20]);
}

#[test]
fn constant_words_to_answers_that_differ_in_numbers_are_work() {
    let texts: Vec<String> = (0..20).map(|n| format!("I set the retry limit to {n} and ran it.")).collect();
    let grown = |n: usize| {
        let earlier =
            (0..n).map(|at| Occurrence { history: at as u64, answer: Fingerprint::of(&texts[at]) }).collect();
        let context = Context { history: n as u64, earlier, ..Context::default() };
        let text = Fingerprint::of("One of the tests fails, fix it and try again.");
        (IncomingPrompt { text, context, ..IncomingPrompt::default() }, texts[n].as_str())
    };
    assert_eq!(run_of(&(0..20).map(grown).collect::<Vec<_>>(), true), [Verdict::Allow; 20]);
}

#[test]
fn without_a_named_run_nothing_is_killed() {
    let siblings = vec![(prompt(QUESTION), "I cannot find that order anywhere."); 20];
    let verdicts = run_of(&siblings, false);
    assert!(verdicts.contains(&Verdict::Hint) && !verdicts.contains(&Verdict::Kill), "{verdicts:?}");
}

/// What a history says is judged in the history: a text that stands there already is no new prompt.
#[test]
fn an_operator_may_have_an_agent_killed_by_its_name_alone() {
    let policy = ScorePolicy { kill_by_agent: true, ..POLICY };
    let mut window = Window::default();
    let prompt = prompt("What is the status of my order?");
    let verdicts: Vec<Verdict> = (0..5)
        .map(|_| {
            let (verdict, _) = judge(&window, &prompt, false, &policy);
            let number =
                window.push(PromptEvent { prompt: prompt.text, ..PromptEvent::default() }, policy.window);
            window.record(number, ThreadRef::default(), answered("I cannot find that order anywhere."), 0);
            verdict
        })
        .collect();
    assert_eq!(verdicts.last(), Some(&Verdict::Kill), "{verdicts:?}");
}

#[test]
fn a_text_that_stands_in_the_history_is_no_new_prompt() {
    let answer = "I cannot find that order anywhere.";
    let grown = |n: u64| {
        let earlier = (0..n).map(|history| Occurrence { history, answer: Fingerprint::of(answer) }).collect();
        let context = Context { history: n, earlier, ..Context::default() };
        (IncomingPrompt { text: Fingerprint::of(QUESTION), context, ..IncomingPrompt::default() }, answer)
    };
    assert_eq!(run_of(&(0..12).map(grown).collect::<Vec<_>>(), true), [Verdict::Allow; 12]);
}

#[test]
fn equal_answers_to_related_prompts_count_towards_a_hint() {
    let hinted = |answers: [&str; 3], related| {
        let mut window = Window::default();
        for (n, answer) in answers.into_iter().enumerate() {
            let text = Fingerprint::of(&format!("question {} of them", "x".repeat(n)));
            let number = window.push(PromptEvent { prompt: text, ..PromptEvent::default() }, POLICY.window);
            window.record(number, ThreadRef::default(), answered(answer), 0);
        }
        let number = window.push(PromptEvent::default(), POLICY.window);
        judge_related(&window, number, related, &POLICY).map(|finding| finding.verdict)
    };
    let same = "I cannot find that order anywhere.";
    assert_eq!(hinted([same; 3], 3), Some(Verdict::Hint));
    assert_eq!(hinted([same; 3], 2), None, "too few are related");
    assert_eq!(hinted(["No such order.", same, same], 3), None, "too few answers are equal");
    assert_eq!(hinted(["Not found."; 3], 3), None, "short answers");
}
