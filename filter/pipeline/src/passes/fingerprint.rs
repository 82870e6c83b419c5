//! Fingerprint: what of an answer is remembered, so that the next request can be compared with it. Digests only.

use sentinel_detect::{
    arguments::canonical,
    kept_history::ThreadRef,
    step::{StepLog, ToolRules},
    window::AnswerOutcome,
};
use sentinel_llm_api::answer::Answer;
use sentinel_text::{Fingerprint, digest, digest_pair};

use super::Surroundings;
use crate::{case::AnswerCase, identity::Scope, note::Note, shared_data::change_window};

/// Notes in the window of the scope what became of the request.
pub fn run(around: &Surroundings<'_>, case: &mut AnswerCase) {
    let AnswerCase { scope, entry: Some(entry), thread, .. } = case else { return };
    let outcome = if case.has_succeeded && !case.is_cut_off {
        answered(case.answer.as_ref(), &case.policy.steps.tools)
    } else {
        AnswerOutcome::Failed
    };
    remember(around, scope, *entry, *thread, &outcome, &mut case.notes);
}

/// What became of a response with a status of success. `answer` is `None` if it could not be read.
pub fn answered<'a>(answer: Option<&'a Answer>, rules: &ToolRules) -> AnswerOutcome<'a> {
    AnswerOutcome::Answered {
        answer: answer.map(text).unwrap_or_default(),
        tools: answer.map_or(0, tools),
        id: answer.map(|answer| &answer.id).filter(|id| !id.is_empty()).map(|id| digest(id.as_bytes())),
        calls: answer.map(|answer| calls(answer, rules)).unwrap_or_default(),
    }
}

/// Notes in the window of the scope what became of the request of this entry.
pub fn remember(
    around: &Surroundings<'_>,
    scope: &Scope,
    entry: u32,
    thread: ThreadRef,
    outcome: &AnswerOutcome<'_>,
    notes: &mut Vec<Note>,
) {
    let Surroundings { config, host } = around;
    let now = host.now();
    change_window(*host, config, scope, now, notes, |window| {
        window.record(entry, thread, outcome.clone(), now);
    });
}

fn text(answer: &Answer) -> Fingerprint {
    if answer.text.trim().is_empty() { Fingerprint::default() } else { Fingerprint::of(&answer.text) }
}

/// Digest of the multiset of called tools with their canonical arguments; 0 without calls. Call ids do not count.
fn tools(answer: &Answer) -> u64 {
    let call =
        |name: &str, arguments: &str| digest_pair(digest(name.as_bytes()), canonical(arguments).digest);
    answer.calls.iter().fold(0, |sum, made| sum.wrapping_add(call(&made.name, &made.arguments)))
}

/// The calls that have ids, as one turn.
fn calls<'a>(answer: &'a Answer, rules: &ToolRules) -> StepLog<'a> {
    let mut log = StepLog::default();
    log.turn();
    for call in answer.calls.iter().filter(|call| !call.id.is_empty()) {
        log.call(&call.id, call.name.as_str(), call.arguments.as_str(), rules);
    }
    log
}
