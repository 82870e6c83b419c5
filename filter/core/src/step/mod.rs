//! Steps: what the agent did and what came of it, read from the history that every request carries. No signal is
//! judged here, and nothing of a dialect is known: its reader calls in the order of the history.

use std::{borrow::Cow, collections::VecDeque};

use serde_json::value::RawValue;

pub(crate) use self::deed::Deed;
pub use self::outcome::Kind;
use crate::{
    json,
    prompt::{Bag, canonical, digest, digest_pair},
};

mod deed;
mod outcome;

/// Steps that are remembered: five rounds of the longest cycle, and room for what lies between.
pub const LENGTH: usize = 48;
/// One assistant turn and its outcome. A parallel fan-out is one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Digest of the multiset of (tool name, canonical arguments).
    pub approach: u64,
    /// The words in all arguments.
    pub words: Bag,
    /// Digest of the multiset of results.
    pub outcome: u64,
    /// Digest of the multiset of tool names.
    pub tools: u64,
    /// Name of the first tool, for people to read: letters, digits and `_.-/:@` only.
    pub tool: String,
    pub kind: Kind,
}

/// Collects the steps of one history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepReader {
    pub(crate) turns: VecDeque<Turn>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    pub calls: Vec<Call>,
}

/// A call, and its result once there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub id: u64,
    pub name: u64,
    pub approach: u64,
    pub words: Bag,
    pub deed: Deed,
    pub result: Option<(u64, Kind)>,
    /// The tool's name, for people to read.
    pub shown: String,
}

/// A call that has its result, as a trace shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub tool: String,
    /// Digest of tool and canonical arguments.
    pub approach: u64,
    /// Digest of the result.
    pub outcome: u64,
    pub is_failure: bool,
}

/// A result whose call is not in the same body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayResult {
    id: u64,
    /// What the result is to a tool that asks, acts, sends.
    results: [(u64, Kind); 3],
}

impl StrayResult {
    pub fn of(id: &str, result: Option<&RawValue>) -> Self {
        let said = outcome::read(result);
        Self {
            id: digest(id.as_bytes()),
            results: [Deed::Ask, Deed::Act, Deed::Send].map(|deed| outcome::judge(&said, deed)),
        }
    }
}

impl StepReader {
    /// A new assistant turn begins.
    pub fn turn(&mut self) {
        // A turn without calls is no step and leaves no trace.
        if self.turns.back().is_none_or(|turn| !turn.calls.is_empty()) {
            if self.turns.len() >= LENGTH {
                self.turns.pop_front();
            }
            self.turns.push_back(Turn::default());
        }
    }

    /// A call of the turn. `arguments` is JSON, or JSON inside a JSON string, or whatever the model wrote.
    pub fn call(&mut self, id: &str, name: &str, arguments: &str) {
        if self.turns.is_empty() {
            self.turn();
        }
        let Some(turn) = self.turns.back_mut() else { return };
        let form = canonical(arguments);
        turn.calls.push(Call {
            id: digest(id.as_bytes()),
            name: digest(name.as_bytes()),
            approach: digest_pair(digest(name.as_bytes()), form.digest),
            words: form.words,
            deed: Deed::of(name),
            result: None,
            shown: shown(name),
        });
    }

    /// The result of the call that has this id: of the last such call that has none yet. Others say nothing.
    pub fn result(&mut self, id: &str, result: Option<&RawValue>, is_error: bool) {
        let id = digest(id.as_bytes());
        if let Some(call) = self.open_call(|call| call.id == id) {
            call.resolve(result, is_error);
        }
    }

    /// A result that was read before its call was known; the call, where it is known now.
    pub fn stray_result(&mut self, result: &StrayResult) -> Option<Done> {
        let call = self.open_call(|call| call.id == result.id)?;
        let [asked, acted, sent] = result.results;
        call.result = Some(match call.deed {
            Deed::Ask => asked,
            Deed::Act => acted,
            Deed::Send => sent,
        });
        call.done()
    }

    /// The result of a call that only its tool's name is known of: of the first such call of the last turn.
    pub fn result_of_tool(&mut self, name: &str, result: Option<&RawValue>) {
        let name = digest(name.as_bytes());
        if let Some(call) = self.open_call(|call| call.name == name) {
            call.resolve(result, false);
        }
    }

    fn open_call(&mut self, is_meant: impl Fn(&Call) -> bool) -> Option<&mut Call> {
        let turns = self.turns.iter_mut().rev();
        let mut open =
            turns.map(|turn| turn.calls.iter_mut().find(|call| call.result.is_none() && is_meant(call)));
        open.find_map(|call| call)
    }

    /// A genuine user message: only what follows it counts. Gives the last turn before it.
    pub(crate) fn user(&mut self) -> Option<Turn> {
        let last = self.turns.pop_back();
        self.turns.clear();
        last
    }

    /// The steps, oldest first. A turn with a call that has no result is none.
    pub fn finish(self) -> Vec<Step> {
        self.turns.into_iter().filter_map(Turn::into_step).collect()
    }
}

impl Call {
    fn resolve(&mut self, result: Option<&RawValue>, is_error: bool) {
        let (outcome, kind) = outcome::judge(&outcome::read(result), self.deed);
        self.result = Some((outcome, if is_error { Kind::Failure } else { kind }));
    }

    fn done(&self) -> Option<Done> {
        let (outcome, kind) = self.result?;
        Some(Done {
            tool: self.shown.clone(),
            approach: self.approach,
            outcome,
            is_failure: kind == Kind::Failure,
        })
    }
}

impl Turn {
    /// The calls that have their results.
    pub fn done(&self) -> Vec<Done> {
        self.calls.iter().filter_map(Call::done).collect()
    }

    fn into_step(self) -> Option<Step> {
        let results: Vec<(u64, Kind)> = self.calls.iter().map(|call| call.result).collect::<Option<_>>()?;
        // Sums, since the order within a turn does not count.
        let sum = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, u64::wrapping_add);
        Some(Step {
            approach: sum(&mut self.calls.iter().map(|call| call.approach)),
            words: self.calls.iter().fold(Bag::default(), |words, call| words.union(call.words)),
            outcome: sum(&mut results.iter().map(|(digest, _)| *digest)),
            tools: sum(&mut self.calls.iter().map(|call| call.name)),
            kind: if results.iter().any(|(_, kind)| *kind == Kind::Failure) {
                Kind::Failure
            } else if results.iter().all(|(_, kind)| *kind == Kind::Receipt) {
                Kind::Receipt
            } else {
                Kind::Substance
            },
            tool: self.calls.into_iter().next()?.shown,
        })
    }
}

/// A tool's name as it may stand in a header and a log.
pub fn shown(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || "_.-/:@".contains(*c)).take(64).collect()
}

/// A call's arguments where they may be text or an object.
pub fn arguments(raw: Option<&RawValue>) -> Cow<'_, str> {
    match raw {
        None => Cow::Borrowed("{}"),
        Some(raw) => json::string(raw).unwrap_or(Cow::Borrowed(raw.get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(serde_json::to_string(text).unwrap()).unwrap()
    }

    fn step(calls: &[(&str, &str, &str)]) -> Step {
        let mut reader = StepReader::default();
        reader.turn();
        for (n, (name, arguments, _)) in calls.iter().enumerate() {
            reader.call(&n.to_string(), name, arguments);
        }
        for (n, (.., result)) in calls.iter().enumerate() {
            reader.result(&n.to_string(), Some(&raw(result)), false);
        }
        reader.finish().pop().unwrap()
    }

    #[test]
    fn order_ids_and_wrapping_do_not_count() {
        let one = step(&[("read", r#"{"a":1,"b":2}"#, "x"), ("list", "{}", "y")]);
        let two = step(&[("list", "", "y"), ("read", r#""{\"b\": 2, \"a\": 1}""#, "x")]);
        assert_eq!((one.approach, one.outcome, one.tools), (two.approach, two.outcome, two.tools));
        assert_eq!(one.tool, "read");
    }

    #[test]
    fn arguments_and_results_count() {
        let one = step(&[("read", r#"{"a":1}"#, "x")]);
        assert_ne!(one.approach, step(&[("read", r#"{"a":2}"#, "x")]).approach);
        assert_ne!(one.outcome, step(&[("read", r#"{"a":1}"#, "y")]).outcome);
        assert_eq!(one.outcome, step(&[("other", r#"{"a":2}"#, "x")]).outcome);
    }

    #[test]
    fn a_call_without_result_is_no_step_and_a_stray_result_says_nothing() {
        let mut reader = StepReader::default();
        reader.result("1", Some(&raw("early")), false);
        reader.turn();
        reader.call("1", "f", "{}");
        reader.call("2", "g", "{}");
        reader.result("1", Some(&raw("x")), false);
        reader.result("1", Some(&raw("again")), false);
        reader.result("unknown", Some(&raw("x")), false);
        assert_eq!(reader.finish(), []);
    }

    #[test]
    fn ids_count_except_in_what_a_send_returns() {
        let receipt = |id: &str| format!(r#"{{"message_id":"{id}","status":"queued for delivery"}}"#);
        assert_eq!(
            step(&[("send_mail", "{}", &receipt("a1"))]).outcome,
            step(&[("send_mail", "{}", &receipt("b2"))]).outcome
        );
        assert_ne!(
            step(&[("list_mail", "{}", &receipt("a1"))]).outcome,
            step(&[("list_mail", "{}", &receipt("b2"))]).outcome
        );
    }

    #[test]
    fn only_the_last_steps_are_kept_and_a_user_message_ends_them() {
        let mut reader = StepReader::default();
        for n in 0..200 {
            reader.turn();
            reader.call(&n.to_string(), "f", &n.to_string());
            reader.result(&n.to_string(), None, false);
        }
        reader.user();
        assert_eq!(reader.finish(), []);
    }

    #[test]
    fn a_shown_name_holds_no_surprises() {
        assert_eq!(step(&[("get\r\nx: y\u{0}", "{}", "")]).tool, "getx:y");
    }
}
