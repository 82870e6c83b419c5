//! The log of steps: its reader calls in the order of the history, and calls find their results.

use std::{borrow::Cow, collections::VecDeque};

use sentinel_llm_api::conversation::{Call as WrittenCall, CallRef, ToolResult};
use sentinel_text::{digest, digest_pair};

use crate::WordSet;
use serde::{Deserialize, Serialize};

use super::{
    Asked, Begin, CallTexts, FinishedCall, LENGTH, Memo, Purpose, Step, StepOutcome, Steps, Task, ToolRule,
    ToolRules, Weight,
    answered_call::AnsweredCall,
    call::{CallResult, Meaning, StepCall, Tool, written_bytes},
    judge, shown, unwrapped,
};
use crate::arguments::{Arguments, canonical};

/// Calls of one turn that are read. Providers allow no more; a turn with more is no step.
const CALLS: usize = 128;
/// Most results in one turn whose calls are looked for: one for each call, and as many strays.
const LOOKUPS: usize = 256;
/// Turns back in which the call of a result is looked for: results follow their calls.
const REACH: usize = 4;
/// Arguments longer than this are compared as they stand, without their canonical form (bytes).
const MAX_CANONICAL: usize = 4_096;
/// After this many bytes of arguments in one history, all others are compared as they stand.
const MAX_ARGUMENTS: usize = 131_072;
/// Most calls that a model makes at once if some of them are equal. Some frameworks keep a whole run as one assistant message. So
/// if all calls of a history stand in one turn, are more than this, and some are equal, they are read one after the other.
const LONGEST_FAN_OUT: usize = 6;
/// In such a turn this many equal calls are allowed, as if the user had asked for them.
const FAN_OUT: Asked = Asked::Times(5);
/// Most names of tools that are searched for one that was seen before.
const NAMES: usize = 32;

/// The turns of one history with their calls and results, oldest first.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct StepLog<'a> {
    pub(crate) turns: VecDeque<CallTurn<'a>>,
    pub(crate) tools: Vec<Tool>,
    /// A user has begun a new count since the last turn.
    is_spoken_to: Word,
    /// How often the user's last text wants something done.
    asked: Asked,
    /// Bytes of arguments that were read so far.
    #[serde(skip)]
    arguments_read: usize,
    /// What earlier requests have found out about results.
    #[serde(skip)]
    memo: Option<&'a Memo>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct CallTurn<'a> {
    pub calls: Vec<StepCall<'a>>,
    /// There were more calls than are read.
    pub is_too_wide: bool,
    /// A user had begun a new count before it.
    pub begins_count: Word,
    /// Sum of the digests of the pictures that came with its results, and in the user's message behind them.
    pub media: u64,
    /// Results whose calls were looked for here.
    lookups: usize,
}

/// Whether a user's text begins a new count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) enum Word {
    #[default]
    None,
    /// It says something new.
    New,
    /// The assistant had answered before.
    Answered,
}

/// A result whose call is not in the same body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayResult {
    id: u64,
    said: String,
    /// Length of the whole result. `said` is only what is judged of it.
    bytes: usize,
    is_error: bool,
}

impl StrayResult {
    /// Returns `None` when the result names its call by the tool alone.
    pub fn of(result: &ToolResult<'_>) -> Option<Self> {
        let CallRef::Id(id) = &result.of else { return None };
        let said = unwrapped::read(result.content);
        let is_error = said.is_error || result.is_error;
        let bytes = result.content.map_or(0, written_bytes);
        Some(Self { id: digest(id.as_bytes()), said: judge::keep(&said.text).into_owned(), bytes, is_error })
    }
}

impl PartialEq for StepLog<'_> {
    fn eq(&self, other: &Self) -> bool {
        let Self { turns, tools, is_spoken_to, asked, arguments_read, memo: _ } = self;
        (turns, tools, is_spoken_to, asked, arguments_read)
            == (&other.turns, &other.tools, &other.is_spoken_to, &other.asked, &other.arguments_read)
    }
}

impl Eq for StepLog<'_> {}

impl<'a> StepLog<'a> {
    /// `memo`: what earlier requests have found out about results.
    pub(crate) fn with_memo(memo: Option<&'a Memo>) -> Self {
        Self { memo, ..Self::default() }
    }

    /// A new assistant turn begins.
    pub fn turn(&mut self) {
        let begins_count = std::mem::take(&mut self.is_spoken_to);
        // A turn without calls is no step and leaves no trace.
        if let Some(turn) = self.turns.back_mut().filter(|turn| turn.calls.is_empty()) {
            turn.begins_count = turn.begins_count.max(begins_count);
            return;
        }
        if self.turns.len() >= LENGTH {
            self.turns.pop_front();
        }
        self.turns.push_back(CallTurn { begins_count, ..CallTurn::default() });
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
        let (meaning, long) = if is_long {
            (Meaning::Known { purpose: Purpose::of(&name, ""), weight: Weight::Page }, arguments)
        } else {
            (Meaning::written(name, arguments), Cow::Borrowed(""))
        };
        // Most turns have one call. A list would begin with room for four.
        if turn.calls.is_empty() {
            turn.calls.reserve_exact(1);
        }
        turn.calls.push(StepCall {
            id: digest(id.as_bytes()),
            tool,
            approach: digest_pair(name_digest, form.digest),
            words: form.words,
            meaning,
            long,
            result: None,
        });
    }

    /// The place of the tool whose name has this digest. `new` gives the name to show and the rule of a tool that is not known yet.
    pub(crate) fn tool(&mut self, name: u64, new: impl FnOnce() -> (String, ToolRule)) -> usize {
        let known = self.tools.iter().rev().take(NAMES).position(|tool| tool.digest == name);
        if let Some(back) = known {
            return self.tools.len().saturating_sub(back).saturating_sub(1);
        }
        let (shown, rule) = new();
        self.tools.push(Tool { digest: name, shown, rule });
        self.tools.len().saturating_sub(1)
    }

    /// Adds the result of a call: of the last call with this id that has no result yet. If only the tool's name is known, of the
    /// first such call of a turn. Any other result is ignored.
    pub(crate) fn result(&mut self, result: &ToolResult<'a>) {
        let memo = self.memo;
        let found = match &result.of {
            CallRef::Id(id) => self.open_call(digest(id.as_bytes()), |call, _, id| call.id == id),
            CallRef::Tool(name) => self.open_call(digest(name.as_bytes()), |call, tools, name| {
                tools.get(call.tool).is_some_and(|tool| tool.digest == name)
            }),
        };
        if let Some((call, _)) = found {
            call.result = Some(CallResult::of_json(result.content, result.is_error, memo));
        }
    }

    /// Adds a text as the result of the call with this id.
    pub(crate) fn text_result(&mut self, id: &str, said: &str) {
        let memo = self.memo;
        if let Some((call, _)) = self.open_call(digest(id.as_bytes()), |call, _, id| call.id == id) {
            call.result = Some(CallResult::of_text(said, memo));
        }
    }

    /// Adds a result that was read before its call was known. Returns the call, if it is known now.
    pub fn stray_result(&mut self, result: &StrayResult) -> Option<FinishedCall> {
        let (call, tool) = self.open_call(result.id, |call, _, id| call.id == id)?;
        let judged = CallResult::judged(&result.said, result.is_error, &call.meaning, tool);
        call.result = Some(judged);
        Some(FinishedCall { bytes: result.bytes, ..call.done(tool)? })
    }

    /// Whether the call of this result is known.
    pub(crate) fn has_call_of(&self, result: &StrayResult) -> bool {
        let turns = self.turns.iter().rev().take(REACH);
        turns.flat_map(|turn| &turn.calls).any(|call| call.id == result.id)
    }

    fn open_call(
        &mut self,
        wanted: u64,
        is_meant: impl Fn(&StepCall<'a>, &[Tool], u64) -> bool,
    ) -> Option<(&mut StepCall<'a>, &Tool)> {
        let Self { turns, tools, .. } = self;
        let is_open = |call: &&mut StepCall<'a>| call.result.is_none() && is_meant(call, tools, wanted);
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

    /// A user's text begins a new count. `asked`: how often it wants something done.
    pub(crate) fn word(&mut self, is_answered: bool, asked: Asked) {
        let word = if is_answered { Word::Answered } else { Word::New };
        self.is_spoken_to = self.is_spoken_to.max(word);
        self.asked = asked;
    }

    /// A picture came with the results of the last turn, or in the user's message behind them.
    pub(crate) fn picture(&mut self, picture: u64) {
        if let Some(turn) = self.turns.back_mut().filter(|turn| !turn.calls.is_empty()) {
            turn.media = turn.media.wrapping_add(picture);
        }
    }

    /// Whether a call was made.
    pub(crate) fn has_calls(&self) -> bool {
        self.turns.iter().any(|turn| !turn.calls.is_empty())
    }

    /// The steps, oldest first. A turn is left out as long as one of its calls has no result.
    pub fn steps(&self) -> Steps<'_> {
        let mut steps = Steps { task: Task::Asked(self.asked), ..Steps::default() };
        let mut begin = |word: Word, at: usize| {
            let is_answered = word == Word::Answered;
            (word > Word::None).then(|| steps.begins.push(Begin { at, is_answered }));
        };
        let mut all = Vec::with_capacity(self.turns.len());
        if let (1, Some(turn)) = (self.turns.len(), self.turns.front())
            && turn.calls.len() > LONGEST_FAN_OUT
            && has_repeats(&turn.calls)
        {
            begin(turn.begins_count, 0);
            all.extend(turn.calls.chunks(1).filter_map(|calls| self.step(turn, calls)));
            steps.task = Task::Asked(self.asked.max(FAN_OUT));
        } else {
            for turn in &self.turns {
                begin(turn.begins_count, all.len());
                all.extend(self.step(turn, &turn.calls));
            }
        }
        begin(self.is_spoken_to, all.len());
        steps.all = all;
        steps
    }

    fn step<'s>(&'s self, turn: &'s CallTurn<'a>, calls: &'s [StepCall<'a>]) -> Option<Step<'s>> {
        let (mut approach, mut tools) = (0_u64, 0_u64);
        let mut words = WordSet::default();
        let mut first = None;
        let mut rules = Vec::new();
        // Sums, since the order within a turn does not count.
        for call in calls {
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
        let brought = StepOutcome::by(calls, &self.tools, turn.media);
        Some(Step { approach, words, tools, tool, rules, acts: true, brought })
    }

    /// The calls of the last turn that have their results. No earlier request can have carried these.
    pub(crate) fn done(&self) -> Vec<FinishedCall> {
        self.last_calls().filter_map(|call| call.done(self.tools.get(call.tool)?)).collect()
    }

    /// The texts of the same calls.
    pub(crate) fn texts(&self) -> impl Iterator<Item = CallTexts<'_>> {
        let calls = self.last_calls().filter(|call| self.tools.get(call.tool).is_some());
        calls.filter_map(StepCall::texts)
    }

    fn last_calls(&self) -> impl Iterator<Item = &StepCall<'a>> {
        self.turns.back().map(|turn| turn.calls.as_slice()).unwrap_or_default().iter()
    }
}

impl StepCall<'_> {
    fn done(&self, tool: &Tool) -> Option<FinishedCall> {
        let done = AnsweredCall { call: self, result: self.result.as_ref()?, tool };
        let facts = done.facts();
        Some(FinishedCall {
            tool: tool.shown.clone(),
            approach: self.approach,
            outcome: facts.outcome,
            kind: facts.kind,
            bytes: done.result.bytes(),
        })
    }

    fn texts(&self) -> Option<CallTexts<'_>> {
        let result = self.result.as_ref()?;
        let arguments = if self.long.is_empty() { self.meaning.arguments() } else { &self.long };
        Some(CallTexts { arguments, result: result.text().unwrap_or_default() })
    }
}

/// Whether some of the calls do the same.
fn has_repeats(calls: &[StepCall<'_>]) -> bool {
    let mut known = std::collections::HashSet::new();
    !calls.iter().all(|call| known.insert(call.approach))
}

#[cfg(test)]
mod tests;
