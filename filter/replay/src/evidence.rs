//! Which messages a verdict is based on, for a person who reads the run. They are found from the text of the verdict
//! and the steps as the filter reads them. Nothing is decided here.

use std::collections::BTreeSet;

use sentinel_detect::history::{Reach, Reading};
use sentinel_detect::signal::StepsPolicy;
use sentinel_detect::step::{Kind, Step};
use sentinel_llm_api::registry;
use sentinel_text::Fingerprint;

use sentinel_replay_core::dialect::openai_chat;
use sentinel_replay_core::history::{MessageContent, RecordedMessage, steps};
use sentinel_replay_core::replay::SentRequest;

/// Steps in which repeated steps are looked for.
const WINDOW: usize = 20;

/// Messages on which a hint or kill rests.
pub fn messages(run: &[RecordedMessage], sent: &SentRequest) -> BTreeSet<usize> {
    let history = &run[..sent.history];
    if sent.judged.signal() == "score" {
        return prompts(history);
    }
    let body = openai_chat::request(history);
    let policy = StepsPolicy::default();
    let conversation =
        registry::by_label("openai_chat").and_then(|chat| registry::read(chat, body.as_bytes()).ok());
    let reading = conversation
        .as_ref()
        .and_then(|conversation| Reading::of(conversation, Reach::of(&policy, 0)).ok())
        .unwrap_or_default();
    let read = if reading.exchanges.all.is_empty() { &reading.steps().all } else { &reading.exchanges.all };
    let count = sent.judged.number("count").unwrap_or(1);
    let mut marked = BTreeSet::new();
    let turns = turns(history);
    for back in back_from_tail(sent.judged.signal(), count, read) {
        if let Some((start, end)) = turns.len().checked_sub(back + 1).and_then(|at| turns.get(at)) {
            marked.extend(*start..*end);
        }
    }
    marked
}

/// How far before the last step each step of the evidence is: 0 is the last.
fn back_from_tail(signal: &str, count: usize, steps: &[Step<'_>]) -> Vec<usize> {
    let Some(last) = steps.last() else { return (0..count).collect() };
    let same = |a: &Step<'_>, b: &Step<'_>| a.is_like(b);
    let back = || steps.iter().rev().enumerate();
    let of_substance = |(at, step): (usize, &Step<'_>)| {
        (!matches!(step.kind(), Kind::Acknowledgement | Kind::Waiting)).then_some(at)
    };
    match signal {
        "repeated_step" | "repeated_exchange" => {
            back().take(WINDOW).filter(|(_, step)| same(step, last)).map(|(at, _)| at).take(count).collect()
        }
        "cycle" => {
            let is_period = |period: &usize| {
                let length = period * count;
                length <= steps.len()
                    && back()
                        .take(length - period)
                        .all(|(at, step)| same(step, &steps[steps.len() - 1 - at - period]))
            };
            let period = (2..=5).find(is_period).unwrap_or(2);
            (0..period * count).collect()
        }
        // A receipt that is repeated counts. A receipt of something new may stand in between.
        "stagnation" => back().filter(|(at, _)| is_old(steps, *at)).map(|(at, _)| at).take(count).collect(),
        "same_outcome" | "stuck" | "similar_failures" => {
            back().filter_map(of_substance).take(count).collect()
        }
        _ => (0..count).collect(),
    }
}

/// Whether this step before the last one did what an earlier step did, and brought what an earlier step brought.
fn is_old(steps: &[Step<'_>], back: usize) -> bool {
    let Some((step, earlier)) = steps.get(..steps.len() - back).and_then(<[Step]>::split_last) else {
        return false;
    };
    earlier.iter().any(|other| other.approach == step.approach)
        && earlier.iter().any(|other| step.brings_like(other))
}

/// Each turn that did something, with what came of it: where it begins and ends. A ReAct turn has its action in its text.
fn turns(history: &[RecordedMessage]) -> Vec<(usize, usize)> {
    let steps = steps(history);
    if !steps.is_empty() {
        return steps.into_iter().map(|step| (step.start, step.end)).collect();
    }
    let turns = history.iter().enumerate().filter(|(_, message)| message.is_assistant());
    turns.map(|(at, _)| (at, (at + 2).min(history.len()))).collect()
}

/// The last user's text, the ones like it, and what was answered.
fn prompts(history: &[RecordedMessage]) -> BTreeSet<usize> {
    let users = || {
        history.iter().enumerate().filter_map(|(at, message)| match &message.said {
            MessageContent::User(text) => Some((at, Fingerprint::of(text))),
            _ => None,
        })
    };
    let Some((_, last)) = users().next_back() else { return BTreeSet::new() };
    let like = users().filter(|(_, text)| text.is_verbatim(&last) || text.is_similar(&last));
    like.flat_map(|(at, _)| [at, (at + 1).min(history.len() - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sentinel_replay_core::history::RecordedCall;
    use sentinel_replay_core::replay::{JudgedRequest, RequestVerdict};

    /// A step for each letter, its tool and its result named after it.
    fn run(letters: &str) -> Vec<RecordedMessage> {
        let mut messages = vec![RecordedMessage::new(MessageContent::User("go on".to_owned()))];
        for (at, letter) in letters.chars().enumerate() {
            let call =
                RecordedCall { id: at.to_string(), name: letter.to_string(), arguments: "{}".to_owned() };
            messages.push(RecordedMessage::new(MessageContent::Assistant {
                text: String::new(),
                calls: vec![call],
            }));
            let text = format!(
                "{letter} has been found to be of no use in this place at all, says the tool of {letter}"
            );
            messages.push(RecordedMessage::new(MessageContent::Result {
                call: at.to_string(),
                name: String::new(),
                text,
            }));
        }
        messages
    }

    fn marked(letters: &str, reason: &str) -> String {
        let run = run(letters);
        let judged = JudgedRequest { verdict: RequestVerdict::Hint, reason: reason.to_owned() };
        let marked = messages(&run, &SentRequest { history: run.len(), judged });
        let letters = letters.chars().enumerate();
        letters
            .map(
                |(at, letter)| {
                    if marked.contains(&(at * 2 + 1)) && marked.contains(&(at * 2 + 2)) {
                        letter
                    } else {
                        '.'
                    }
                },
            )
            .collect()
    }

    #[test]
    fn the_steps_of_each_signal_are_marked() {
        assert_eq!(marked("axbaca", "repeated_step; count=3; tool=a"), "a..a.a");
        assert_eq!(marked("xabababab", "cycle; count=3; tool=b"), "...ababab");
        assert_eq!(marked("xabcabcabc", "cycle; count=3; tool=c"), ".abcabcabc");
        assert_eq!(marked("abcaab", "stagnation; count=3; tool=b"), "...aab");
        assert_eq!(marked("abcde", "run_limit; count=2"), "...de");
    }

    #[test]
    fn prompts_like_the_last_one_are_marked() {
        let said = [
            "Where is my order of last week?",
            "Gone.",
            "And how are you?",
            "Well.",
            "where is my order of last week",
            "Gone.",
        ];
        let mut run: Vec<RecordedMessage> = Vec::new();
        for (at, text) in said.into_iter().enumerate() {
            let text = text.to_owned();
            let assistant = MessageContent::Assistant { text: text.clone(), calls: Vec::new() };
            run.push(RecordedMessage::new(if at % 2 == 0 { MessageContent::User(text) } else { assistant }));
        }
        let judged = JudgedRequest { verdict: RequestVerdict::Hint, reason: "score; prompts=2".to_owned() };
        let marked = messages(&run, &SentRequest { history: 5, judged });
        assert_eq!(marked.into_iter().collect::<Vec<_>>(), [0, 1, 4]);
    }
}
