//! Report: a turn for the embedding service, where `control` is on.

use std::borrow::Cow;

use sentinel_config::price::BYTES_A_TOKEN;
use sentinel_detect::{arguments::canonical, history::Tail, step::shown};
use sentinel_llm_api::{
    answer::Answer,
    json::{self, Raw},
    usage::Usage,
};
use sentinel_text::{digest, digest_pair};

use super::{McpSeen, Seen, Surroundings, second_opinion};
use crate::{
    case::{AnswerCase, Case, KeptSteps, McpCase},
    mask::masked,
    metric::MCP,
    note::Note,
    turn::{End, MOST_STEPS, StepTexts, Turn, TurnStep},
};

/// Bytes of a text that are reported.
const TEXT: usize = 2_048;

/// Begins the turn: what the request says.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let Some(names) = &case.names else { return };
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
    match &case.kept_steps {
        Some(KeptSteps { done, is_repeated }) if !done.is_empty() => turn.add_steps(done, *is_repeated),
        _ => turn.add_steps(&seen.reading.done(), case.ends_repeated),
    }
    if seen.config.reports_content {
        add_content(seen, &mut turn);
    }
    if case.policy.guard.second_opinion {
        second_opinion::add_results(seen.conversation, &mut turn);
    }
    case.turn = Some(Box::new(turn));
}

/// Begins the turn of a request that cannot be read.
pub fn begin_unread(case: &mut Case) {
    let Some(names) = &case.names else { return };
    let turn = Turn {
        names: names.clone(),
        at: case.arrived,
        dialect: case.dialect.label(),
        model: case.model.clone(),
        ..Turn::default()
    };
    case.turn = Some(Box::new(turn));
}

/// Adds texts: what is new in the request.
fn add_content(seen: &Seen<'_, '_>, turn: &mut Turn) {
    if let Tail::Prompt(prompt) = &seen.reading.tail {
        turn.text = masked(&prompt.text, TEXT);
    }
    for (step, texts) in turn.steps.iter_mut().zip(seen.reading.done_texts()) {
        step.texts.arguments = masked(&written(texts.arguments), TEXT);
        step.texts.outcome = masked(texts.result, TEXT);
    }
}

/// Arguments without the JSON string that they may stand in.
fn written(arguments: &str) -> Cow<'_, str> {
    let text =
        if arguments.starts_with('"') { Raw::read(arguments).ok().and_then(json::string) } else { None };
    text.unwrap_or(Cow::Borrowed(arguments))
}

/// The same for a request to an MCP server that calls tools, or in which something was found. Its calls are its steps. Their
/// outcomes are in the agent's next request to a model.
pub fn of_mcp(seen: &McpSeen<'_>, case: &mut McpCase) {
    let calls = || seen.requests.iter().flatten().filter(|request| request.call.is_some());
    if calls().next().is_none() && case.findings.is_empty() {
        return;
    }
    begin_mcp(case);
    let Some(turn) = &mut case.turn else { return };
    let counts = case.counts.iter().copied().chain(std::iter::repeat(None));
    let content = |text: &str| if seen.config.reports_content { masked(text, TEXT) } else { String::new() };
    let steps = seen.requests.iter().flatten().zip(counts).filter_map(|(request, count)| {
        let call = request.call.as_ref()?;
        Some(TurnStep {
            tool: shown(&call.tool),
            // In the same way as for the calls of a model.
            arguments: digest_pair(digest(call.tool.as_bytes()), canonical(call.arguments).digest),
            outcome: 0,
            kind: "",
            bytes: 0,
            is_repeated: count.is_some_and(|count| count > 1),
            texts: StepTexts { arguments: content(call.arguments), outcome: String::new() },
        })
    });
    turn.steps = steps.take(MOST_STEPS).collect();
    turn.more_steps = u32::try_from(calls().count().saturating_sub(MOST_STEPS)).unwrap_or(u32::MAX);
}

/// Begins the turn of a request to an MCP server, where turns are reported.
pub fn begin_mcp(case: &mut McpCase) {
    let Some(names) = &case.names else { return };
    let turn =
        Turn { names: names.clone(), at: case.arrived, dialect: MCP, end: End::Results, ..Turn::default() };
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
