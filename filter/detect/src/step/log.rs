//! The log of steps: its reader calls in the order of the history, and calls find their results.

use std::{borrow::Cow, collections::VecDeque};

use sentinel_llm_api::conversation::{Call as WrittenCall, CallRef, ToolResult};
use sentinel_text::{WordSet, digest, digest_pair};
use serde::{Deserialize, Serialize};

use super::{
    Brought, FinishedCall, LENGTH, Purpose, Step, Steps, ToolRule, ToolRules, judge,
    outcome::{CallResult, Done, Meaning},
    shown, text,
};
use crate::arguments::{Arguments, canonical};

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

/// The turns of one history with their calls and results, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct StepLog<'a> {
    pub(crate) turns: VecDeque<Turn<'a>>,
    pub(crate) tools: Vec<Tool>,
    /// A user has said something new since the last turn.
    is_spoken_to: bool,
    /// Bytes of arguments that were read so far.
    #[serde(skip)]
    arguments_read: usize,
}

/// A tool that was called. Runs call few tools over and over: each name is read once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Tool {
    pub digest: u64,
    /// The name, for people to read.
    pub shown: String,
    pub rule: ToolRule,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Turn<'a> {
    pub calls: Vec<Call<'a>>,
    /// There were more calls than are read.
    pub is_too_wide: bool,
    /// A user had said something new before it.
    pub begins_count: bool,
    /// Results whose calls were looked for here.
    lookups: usize,
}

/// A call, and its result once there is one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Call<'a> {
    pub id: u64,
    /// Place among the tools of the log.
    pub tool: usize,
    pub meaning: Meaning<'a>,
    pub approach: u64,
    pub words: WordSet,
    pub result: Option<CallResult<'a>>,
}

/// A result whose call is not in the same body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayResult {
    id: u64,
    said: String,
    is_error: bool,
}

impl StrayResult {
    /// Nothing where the result says nothing of its call but the tool.
    pub fn of(result: &ToolResult<'_>) -> Option<Self> {
        let CallRef::Id(id) = &result.of else { return None };
        let said = judge::keep(&text::read(result.content)).into_owned();
        Some(Self { id: digest(id.as_bytes()), said, is_error: result.is_error })
    }
}

impl<'a> StepLog<'a> {
    /// A new assistant turn begins.
    pub fn turn(&mut self) {
        let begins_count = std::mem::take(&mut self.is_spoken_to);
        // A turn without calls is no step and leaves no trace.
        if let Some(turn) = self.turns.back_mut().filter(|turn| turn.calls.is_empty()) {
            turn.begins_count |= begins_count;
            return;
        }
        if self.turns.len() >= LENGTH {
            self.turns.pop_front();
        }
        self.turns.push_back(Turn { begins_count, ..Turn::default() });
    }

    /// A call of the turn. `arguments` is JSON, or JSON inside a JSON string, or whatever the model wrote.
    pub fn call(
        &mut self,
        id: &str,
        name: impl Into<Cow<'a, str>>,
        arguments: impl Into<Cow<'a, str>>,
        rules: &ToolRules,
    ) {
        self.add(id, name.into(), arguments.into(), rules);
    }

    pub(crate) fn written_call(&mut self, call: WrittenCall<'a>, rules: &ToolRules) {
        self.add(&call.id, call.name, call.arguments, rules);
    }

    fn add(&mut self, id: &str, name: Cow<'a, str>, arguments: Cow<'a, str>, rules: &ToolRules) {
        if self.turns.is_empty() {
            self.turn();
        }
        let name_digest = digest(name.as_bytes());
        let tool = self.tool(name_digest, || (shown(&name), rules.of(&name)));
        let Some(turn) = self.turns.back_mut() else { return };
        if turn.calls.len() >= CALLS {
            turn.is_too_wide = true;
            return;
        }
        let is_long = arguments.len() > MAX_CANONICAL || self.arguments_read > MAX_ARGUMENTS;
        let form = if is_long {
            Arguments::as_written(&arguments)
        } else {
            self.arguments_read = self.arguments_read.saturating_add(arguments.len());
            canonical(&arguments)
        };
        turn.calls.push(Call {
            id: digest(id.as_bytes()),
            tool,
            approach: digest_pair(name_digest, form.digest),
            words: form.words,
            meaning: if is_long {
                Meaning::Known { purpose: Purpose::of(&name, ""), names_something: true }
            } else {
                Meaning::written(name, arguments)
            },
            result: None,
        });
    }

    /// The place of the tool whose name has this digest; `new` gives what is shown and said of one that is not known yet.
    pub(crate) fn tool(&mut self, name: u64, new: impl FnOnce() -> (String, ToolRule)) -> usize {
        let known = self.tools.iter().rev().take(NAMES).position(|tool| tool.digest == name);
        if let Some(back) = known {
            return self.tools.len().saturating_sub(back).saturating_sub(1);
        }
        let (shown, rule) = new();
        self.tools.push(Tool { digest: name, shown, rule });
        self.tools.len().saturating_sub(1)
    }

    /// The result of a call: of the last such call that has none yet; where only the tool's name is known, of the first
    /// such call of a turn. Other results say nothing.
    pub(crate) fn result(&mut self, result: &ToolResult<'a>) {
        let found = match &result.of {
            CallRef::Id(id) => self.open_call(digest(id.as_bytes()), |call, _, id| call.id == id),
            CallRef::Tool(name) => self.open_call(digest(name.as_bytes()), |call, tools, name| {
                tools.get(call.tool).is_some_and(|tool| tool.digest == name)
            }),
        };
        if let Some((call, _)) = found {
            call.result = Some(CallResult::of_json(result.content, result.is_error));
        }
    }

    /// The result, as a text, of the call that has this id.
    pub(crate) fn text_result(&mut self, id: &str, said: &str) {
        if let Some((call, _)) = self.open_call(digest(id.as_bytes()), |call, _, id| call.id == id) {
            call.result = Some(CallResult::of_text(said));
        }
    }

    /// A result that was read before its call was known; the call, where it is known now.
    pub fn stray_result(&mut self, result: &StrayResult) -> Option<FinishedCall> {
        let (call, tool) = self.open_call(result.id, |call, _, id| call.id == id)?;
        let judged = CallResult::judged(&result.said, result.is_error, &call.meaning, tool.rule);
        call.result = Some(judged);
        call.done(tool)
    }

    /// Whether the call of this result is known.
    pub(crate) fn has_call_of(&self, result: &StrayResult) -> bool {
        let turns = self.turns.iter().rev().take(REACH);
        turns.flat_map(|turn| &turn.calls).any(|call| call.id == result.id)
    }

    fn open_call(
        &mut self,
        wanted: u64,
        is_meant: impl Fn(&Call<'a>, &[Tool], u64) -> bool,
    ) -> Option<(&mut Call<'a>, &Tool)> {
        let Self { turns, tools, .. } = self;
        let is_open = |call: &&mut Call<'a>| call.result.is_none() && is_meant(call, tools, wanted);
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

    /// A user says something new: what follows is counted afresh.
    pub(crate) fn word(&mut self) {
        self.is_spoken_to = true;
    }

    /// Whether a call was made.
    pub(crate) fn has_calls(&self) -> bool {
        self.turns.iter().any(|turn| !turn.calls.is_empty())
    }

    /// Whether a call has got its result.
    pub(crate) fn has_results(&self) -> bool {
        self.turns.iter().flat_map(|turn| &turn.calls).any(|call| call.result.is_some())
    }

    /// The steps, oldest first. A turn with a call that has no result is none.
    pub fn steps(&self) -> Steps<'_> {
        let mut steps = Steps::default();
        for turn in &self.turns {
            if turn.begins_count {
                steps.begins.push(steps.all.len());
            }
            steps.all.extend(self.step(turn));
        }
        if self.is_spoken_to {
            steps.begins.push(steps.all.len());
        }
        steps
    }

    fn step<'s>(&'s self, turn: &'s Turn<'a>) -> Option<Step<'s>> {
        let (mut approach, mut tools) = (0_u64, 0_u64);
        let mut words = WordSet::default();
        let mut first = None;
        let mut rules = Vec::new();
        // Sums, since the order within a turn does not count.
        for call in &turn.calls {
            let tool = self.tools.get(call.tool)?;
            if tool.rule.ignore {
                continue;
            }
            call.result.as_ref()?;
            first = first.or(Some(tool));
            approach = approach.wrapping_add(call.approach);
            tools = tools.wrapping_add(tool.digest);
            words = words.union(call.words);
            if tool.rule != ToolRule::default() {
                rules.push(tool.rule);
            }
        }
        let tool = &first.filter(|_| !turn.is_too_wide)?.shown;
        Some(Step { approach, words, tools, tool, rules, brought: Brought::by(&turn.calls, &self.tools) })
    }

    /// The calls of the last turn that have their results. No earlier request can have carried these.
    pub(crate) fn done(&self) -> Vec<FinishedCall> {
        let calls = self.turns.back().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        calls.iter().filter_map(|call| call.done(self.tools.get(call.tool)?)).collect()
    }
}

impl Call<'_> {
    fn done(&self, tool: &Tool) -> Option<FinishedCall> {
        let done = Done { call: self, result: self.result.as_ref()?, tool };
        Some(FinishedCall {
            tool: tool.shown.clone(),
            approach: self.approach,
            outcome: done.outcome(),
            kind: done.kind(),
        })
    }

    /// The call without its words and its result.
    pub fn known(&self) -> Call<'static> {
        let Self { id, tool, approach, words, .. } = *self;
        Call { id, tool, meaning: self.meaning.known(), approach, words, result: None }
    }
}

#[cfg(test)]
mod tests;
