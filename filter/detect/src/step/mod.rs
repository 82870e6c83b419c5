//! Steps: what the agent did and what came of it, read from the history that every request carries. No signal is
//! judged here, and nothing of a dialect is known: its reader calls in the order of the history.

use std::collections::VecDeque;

use sentinel_llm_api::conversation::{Call as WrittenCall, CallRef, ToolResult};
use sentinel_text::{WordSet, digest, digest_pair};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub(crate) use self::deed::Deed;
pub use self::outcome::Kind;
use crate::arguments::{Arguments, canonical};

mod deed;
mod outcome;

/// Steps that are remembered: five rounds of the longest cycle, and room for what lies between.
pub const LENGTH: usize = 48;
/// Calls of one turn that are read. Providers allow no more; a turn with more is no step.
const CALLS: usize = 128;
/// Results whose calls are looked for in one turn: one for each call, and as many strays.
const LOOKUPS: usize = 256;
/// Turns back in which the call of a result is looked for: results follow their calls.
const REACH: usize = 4;
/// Arguments longer than this are compared as they stand, without their canonical form (bytes).
const MAX_CANONICAL: usize = 4_096;
/// So are all arguments after this many bytes of them in one history.
const MAX_ARGUMENTS: usize = 131_072;
/// Names of tools that are looked through for one that was seen before.
const NAMES: usize = 32;

/// One assistant turn and its outcome. A parallel fan-out is one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Digest of the multiset of (tool name, canonical arguments).
    pub approach: u64,
    /// The words in all arguments.
    pub words: WordSet,
    /// Digest of the multiset of results.
    pub outcome: u64,
    /// Digest of the multiset of tool names.
    pub tools: u64,
    /// Name of the first tool, for people to read: letters, digits and `_.-/:@` only.
    pub tool: String,
    pub kind: Kind,
}

/// The turns of one history with their calls and results, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct StepLog {
    pub(crate) turns: VecDeque<Turn>,
    pub(crate) tools: Vec<Tool>,
    /// Bytes of arguments that were read so far.
    #[serde(skip)]
    arguments_read: usize,
}

/// A tool that was called. Runs call few tools over and over: each name is read once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Tool {
    pub digest: u64,
    pub deed: Deed,
    /// The name, for people to read.
    pub shown: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Turn {
    pub calls: Vec<Call>,
    /// There were more calls than are read.
    pub is_too_wide: bool,
    /// Results whose calls were looked for here.
    lookups: usize,
}

/// A call, and its result once there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Call {
    pub id: u64,
    /// Place among the tools of the log.
    pub tool: usize,
    pub approach: u64,
    pub words: WordSet,
    /// Digest and kind.
    pub result: Option<(u64, Kind)>,
}

/// A call that has its result, as a trace shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedCall {
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

impl StepLog {
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
        let name_digest = digest(name.as_bytes());
        let tool = self.tool(name, name_digest);
        let Some(turn) = self.turns.back_mut() else { return };
        if turn.calls.len() >= CALLS {
            turn.is_too_wide = true;
            return;
        }
        let arguments = if arguments.len() > MAX_CANONICAL || self.arguments_read > MAX_ARGUMENTS {
            Arguments::as_written(arguments)
        } else {
            self.arguments_read = self.arguments_read.saturating_add(arguments.len());
            canonical(arguments)
        };
        turn.calls.push(Call {
            id: digest(id.as_bytes()),
            tool,
            approach: digest_pair(name_digest, arguments.digest),
            words: arguments.words,
            result: None,
        });
    }

    pub(crate) fn written_call(&mut self, call: &WrittenCall<'_>) {
        self.call(&call.id, &call.name, &call.arguments);
    }

    /// The place of the tool with this name.
    pub(crate) fn tool(&mut self, name: &str, name_digest: u64) -> usize {
        let known = self.tools.iter().rev().take(NAMES).position(|tool| tool.digest == name_digest);
        if let Some(back) = known {
            return self.tools.len().saturating_sub(back).saturating_sub(1);
        }
        self.tools.push(Tool { digest: name_digest, deed: Deed::of(name), shown: shown(name) });
        self.tools.len().saturating_sub(1)
    }

    /// The result of a call: of the last such call that has none yet; where only the tool's name is known, of the first
    /// such call of a turn. Other results say nothing.
    pub(crate) fn result(&mut self, result: &ToolResult<'_>) {
        let found = match &result.of {
            CallRef::Id(id) => self.open_call(digest(id.as_bytes()), |call, _, id| call.id == id),
            CallRef::Tool(name) => self.open_call(digest(name.as_bytes()), |call, tools, name| {
                tools.get(call.tool).is_some_and(|tool| tool.digest == name)
            }),
        };
        if let Some((call, tool)) = found {
            let (outcome, kind) = outcome::judge(&outcome::read(result.content), tool.deed);
            call.result = Some((outcome, if result.is_error { Kind::Failure } else { kind }));
        }
    }

    /// The result, as a text, of the call that has this id.
    pub(crate) fn text_result(&mut self, id: &str, said: &str) {
        if let Some((call, tool)) = self.open_call(digest(id.as_bytes()), |call, _, id| call.id == id) {
            call.result = Some(outcome::judge(said, tool.deed));
        }
    }

    /// A result that was read before its call was known; the call, where it is known now.
    pub fn stray_result(&mut self, result: &StrayResult) -> Option<FinishedCall> {
        let (call, tool) = self.open_call(result.id, |call, _, id| call.id == id)?;
        let [asked, acted, sent] = result.results;
        call.result = Some(match tool.deed {
            Deed::Ask => asked,
            Deed::Act => acted,
            Deed::Send => sent,
        });
        call.done(tool)
    }

    fn open_call(
        &mut self,
        wanted: u64,
        is_meant: impl Fn(&Call, &[Tool], u64) -> bool,
    ) -> Option<(&mut Call, &Tool)> {
        let Self { turns, tools, .. } = self;
        let is_open = |call: &&mut Call| call.result.is_none() && is_meant(call, tools, wanted);
        let mut open = turns.iter_mut().rev().take(REACH).map(|turn| {
            turn.lookups = turn.lookups.saturating_add(1);
            if turn.lookups > LOOKUPS {
                return None;
            }
            turn.calls.iter_mut().find(is_open)
        });
        let call = open.find_map(|call| call)?;
        let tool = tools.get(call.tool)?;
        Some((call, tool))
    }

    /// A genuine user message: only what follows it counts. Gives the last turn before it.
    pub(crate) fn user(&mut self) -> Option<Turn> {
        let last = self.turns.pop_back();
        self.turns.clear();
        last
    }

    /// The steps, oldest first. A turn with a call that has no result is none.
    pub fn steps(&self) -> Vec<Step> {
        self.turns.iter().filter_map(|turn| self.step(turn)).collect()
    }

    fn step(&self, turn: &Turn) -> Option<Step> {
        let (mut approach, mut outcome, mut tools) = (0_u64, 0_u64, 0_u64);
        let mut words = WordSet::default();
        let (mut fails, mut is_receipt) = (false, true);
        // Sums, since the order within a turn does not count.
        for call in &turn.calls {
            let (result, kind) = call.result?;
            approach = approach.wrapping_add(call.approach);
            outcome = outcome.wrapping_add(result);
            tools = tools.wrapping_add(self.tools.get(call.tool)?.digest);
            words = words.union(call.words);
            fails |= kind == Kind::Failure;
            is_receipt &= kind == Kind::Receipt;
        }
        let first = turn.calls.first().filter(|_| !turn.is_too_wide)?;
        let kind = match (fails, is_receipt) {
            (true, _) => Kind::Failure,
            (false, true) => Kind::Receipt,
            (false, false) => Kind::Substance,
        };
        Some(Step { approach, words, outcome, tools, tool: self.tools.get(first.tool)?.shown.clone(), kind })
    }

    /// The calls of `turn` that have their results.
    pub(crate) fn done(&self, turn: &Turn) -> Vec<FinishedCall> {
        turn.calls.iter().filter_map(|call| call.done(self.tools.get(call.tool)?)).collect()
    }
}

impl Call {
    fn done(&self, tool: &Tool) -> Option<FinishedCall> {
        let (outcome, kind) = self.result?;
        Some(FinishedCall {
            tool: tool.shown.clone(),
            approach: self.approach,
            outcome,
            is_failure: kind == Kind::Failure,
        })
    }
}

/// A tool's name as it may stand in a header and a log.
pub fn shown(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || "_.-/:@".contains(*c)).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(serde_json::to_string(text).unwrap()).unwrap()
    }

    fn result<'a>(log: &mut StepLog, id: &'a str, content: Option<&'a RawValue>) {
        log.result(&ToolResult { of: CallRef::Id(id.into()), content, is_error: false });
    }

    fn step(calls: &[(&str, &str, &str)]) -> Step {
        let mut log = StepLog::default();
        log.turn();
        for (n, (name, arguments, _)) in calls.iter().enumerate() {
            log.call(&n.to_string(), name, arguments);
        }
        for (n, (.., told)) in calls.iter().enumerate() {
            result(&mut log, &n.to_string(), Some(&raw(told)));
        }
        log.steps().pop().unwrap()
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
        let mut log = StepLog::default();
        result(&mut log, "1", Some(&raw("early")));
        log.turn();
        log.call("1", "f", "{}");
        log.call("2", "g", "{}");
        result(&mut log, "1", Some(&raw("x")));
        result(&mut log, "1", Some(&raw("again")));
        result(&mut log, "unknown", Some(&raw("x")));
        assert_eq!(log.steps(), []);
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
        let mut log = StepLog::default();
        for n in 0..200 {
            log.turn();
            log.call(&n.to_string(), "f", &n.to_string());
            result(&mut log, &n.to_string(), None);
        }
        log.user();
        assert_eq!(log.steps(), []);
    }

    #[test]
    fn a_turn_with_more_calls_than_a_provider_allows_is_no_step() {
        let mut log = StepLog::default();
        for turn in 0..2 {
            log.turn();
            for n in 0..=(CALLS - turn) {
                log.call(&n.to_string(), "f", "{}");
            }
            for n in (0..CALLS).rev() {
                result(&mut log, &n.to_string(), None);
            }
        }
        assert_eq!(log.steps().len(), 1);
        assert_eq!(log.tools.len(), 1);
    }

    #[test]
    fn a_shown_name_holds_no_surprises() {
        assert_eq!(step(&[("get\r\nx: y\u{0}", "{}", "")]).tool, "getx:y");
    }
}
