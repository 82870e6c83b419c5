//! Report: a turn for the embedding service, where `control` is on.

use sentinel_config::price::BYTES_A_TOKEN;
use sentinel_detect::history::Tail;
use sentinel_llm_api::{answer::Answer, usage::Usage};
use sentinel_text::digest;

use super::{Seen, Surroundings};
use crate::{
    case::{AnswerCase, Case},
    note::Note,
    turn::{End, Turn},
};

/// Begins the turn: what the request says.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let Some(names) = &case.names else { return };
    let steps = seen.reading.steps();
    let is_repeated = steps.all.split_last().is_some_and(|(last, before)| {
        before.iter().any(|step| step.approach == last.approach && step.outcome() == last.outcome())
    });
    let prompt = match &seen.reading.tail {
        Tail::Prompt(prompt) => digest(prompt.text.as_bytes()),
        Tail::Other => 0,
    };
    let injections = case.notes.iter().filter(|note| matches!(note, Note::Injection(_))).count();
    let mut turn = Turn {
        names: names.clone(),
        at: case.arrived,
        dialect: case.dialect.label(),
        model: case.model.clone(),
        prompt,
        injections: u32::try_from(injections).unwrap_or(u32::MAX),
        ..Turn::default()
    };
    turn.add_steps(&seen.reading.done(), is_repeated);
    case.turn = Some(Box::new(turn));
}

/// Ends it: what the answer says.
pub fn answered(around: &Surroundings<'_>, case: &mut AnswerCase) {
    let AnswerCase { turn: Some(turn), answer, .. } = case else { return };
    turn.duration = around.host.now().saturating_sub(turn.at);
    turn.status = case.status;
    turn.is_under_way = false;
    turn.end = match answer {
        _ if !case.has_succeeded => End::Error,
        Some(answer) if answer.calls.is_empty() => End::Text,
        Some(_) => End::Calls,
        None => End::Unknown,
    };
    let said = answer.as_ref().map(|answer| answer.usage).unwrap_or_default();
    let is_silent = said.input == 0 && said.cached == 0 && said.output == 0;
    turn.is_estimated = case.has_succeeded && is_silent;
    turn.usage =
        if turn.is_estimated { estimate(case.request_length, answer.as_ref(), case.length) } else { said };
    turn.cost = around.config.price(&case.model).map(|price| price.of(&turn.usage));
    if let Some(answer) = answer.as_ref().filter(|answer| !answer.model.is_empty()) {
        turn.model.clone_from(&answer.model);
    }
}

/// Tokens of an answer that does not say how many it took. `length`: bytes of an answer that could not be read.
fn estimate(request: usize, answer: Option<&Answer>, length: usize) -> Usage {
    let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(BYTES_A_TOKEN.max(1))).unwrap_or(u64::MAX);
    let said = answer.map_or(length, |answer| {
        let calls = answer.calls.iter().map(|call| call.name.len().saturating_add(call.arguments.len()));
        calls.fold(answer.text.len(), usize::saturating_add)
    });
    Usage { input: tokens(request), cached: 0, output: tokens(said) }
}
