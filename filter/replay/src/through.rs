//! Replays runs through the real Envoy with the real filter, with its own embedding service if the native replay has one. Both
//! must give the same verdicts.

use std::sync::{Arc, Mutex};

use sentinel_harness::provider::Answer;
use sentinel_harness::{Dialect, Stack};
use serde_json::Value;

use crate::native::{Progress, name};
use sentinel_replay_core::replay::{JudgedRequest, Replayed, Way, replay};

use crate::case::Case;

pub struct Through {
    stack: Stack,
    runtime: tokio::runtime::Runtime,
    dialect: Dialect,
    /// What the provider says next.
    answer: Arc<Mutex<String>>,
}

impl Through {
    pub fn start(config: &Value, dialect: Dialect, with_service: bool) -> Self {
        let builder = Stack::builder().config(config);
        let stack = if with_service { builder.service() } else { builder }.start();
        let answer = Arc::new(Mutex::new(String::new()));
        let said = Arc::clone(&answer);
        stack.provider.script(move |_| {
            let body = said.lock().expect("no one panics with it").clone();
            let pieces = vec![sentinel_harness::provider::Piece::Bytes(body.into())];
            Answer::of(200, "application/json", pieces)
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { stack, runtime, dialect, answer }
    }
}

impl Way for Through {
    fn send(&mut self, run: &str, body: String, answer: String) -> JudgedRequest {
        *self.answer.lock().expect("no one panics with it") = answer;
        let headers = [("x-agent-id", run), ("x-run-id", run)];
        let response = self.runtime.block_on(self.stack.post(self.dialect, &headers, body));
        JudgedRequest::new(response.header("x-sentinel-verdict"), response.header("x-sentinel-reason"))
    }
}

/// A case in which Envoy and the core do not agree.
pub struct Difference {
    pub case: usize,
    pub through_envoy: Replayed,
}

/// Replays the chosen cases, one after the other, and compares.
pub fn compare(
    cases: &[Case],
    native: &[Replayed],
    chosen: &[usize],
    config: &Value,
    dialect: Dialect,
    with_service: bool,
) -> Vec<Difference> {
    let mut way = Through::start(config, dialect, with_service);
    let mut progress = Progress::new(chosen.len());
    let mut differences = Vec::new();
    for &case in chosen {
        let through_envoy = replay(&cases[case].run, &name(case), dialect, &mut way);
        progress.one_more(through_envoy.sent.len());
        if through_envoy != native[case] {
            differences.push(Difference { case, through_envoy });
        }
    }
    progress.end();
    way.stack.assert_sound();
    differences
}

/// At most `count` cases, spread over the whole file. Half of them are flagged, if enough are.
pub fn choose(native: &[Replayed], count: usize) -> Vec<usize> {
    let (flagged, other): (Vec<usize>, Vec<usize>) =
        (0..native.len()).partition(|&at| native[at].flagged().is_some());
    let from_flagged = flagged.len().min(count.div_ceil(2).max(count.saturating_sub(other.len())));
    let mut chosen = spread(&flagged, from_flagged);
    chosen.extend(spread(&other, count.saturating_sub(from_flagged)));
    chosen.sort_unstable();
    chosen
}

fn spread(items: &[usize], count: usize) -> Vec<usize> {
    let count = count.min(items.len());
    (0..count).map(|number| items[number * items.len() / count]).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::native;
    use crate::settings;
    use sentinel_replay_core::history::{MessageContent, RecordedCall, RecordedMessage, RecordedRun};
    use sentinel_replay_core::replay::{RequestVerdict, SentRequest};

    /// One step over and over.
    fn stuck() -> Case {
        let mut messages = vec![RecordedMessage::new(MessageContent::User("Find the key.".to_owned()))];
        for number in 0..6 {
            let call = RecordedCall {
                id: format!("c{number}"),
                name: "look".to_owned(),
                arguments: r#"{"for":"the key"}"#.to_owned(),
            };
            messages.push(RecordedMessage::new(MessageContent::Assistant {
                text: String::new(),
                calls: vec![call],
            }));
            let result = MessageContent::Result {
                call: format!("c{number}"),
                name: "look".to_owned(),
                text: "There is no key here.".to_owned(),
            };
            messages.push(RecordedMessage::new(result));
        }
        let run = RecordedRun {
            id: "a".to_owned(),
            source: "made".to_owned(),
            label: "stuck".to_owned(),
            messages,
        };
        Case { run, injected: None }
    }

    #[test]
    fn a_verdict_that_differs_is_found_and_an_equal_one_is_not() {
        let settings = settings::read(None, false).expect("the defaults");
        let cases = [stuck(), stuck()];
        for dialect in [Dialect::OpenaiChat, Dialect::Gemini] {
            let mut native = native::replay_all(&cases, &settings.config, dialect, None);
            assert_eq!(native[0].first(RequestVerdict::Kill).expect("it is stuck").history, 11);
            native[1].sent[2].judged.reason = "another".to_owned();
            let differences = compare(&cases, &native, &[0, 1], &json!(settings.json), dialect, false);
            assert_eq!(differences.iter().map(|difference| difference.case).collect::<Vec<_>>(), [1]);
        }
    }

    #[test]
    fn flagged_cases_are_chosen_first_and_none_twice() {
        let replayed = |verdict| Replayed {
            sent: vec![SentRequest { history: 1, judged: JudgedRequest { verdict, reason: String::new() } }],
            after_user: None,
        };
        let mut native = vec![replayed(RequestVerdict::Allow); 20];
        for at in [3, 11, 17] {
            native[at] = replayed(RequestVerdict::Hint);
        }
        let chosen = choose(&native, 6);
        assert_eq!(chosen.len(), 6);
        assert_eq!(chosen.iter().filter(|at| [3, 11, 17].contains(at)).count(), 3);
        assert_eq!(choose(&native, 100), (0..20).collect::<Vec<_>>());
        assert_eq!(choose(&[], 5), [0; 0]);
    }
}
