//! The response's way: it passes untouched, is read as it does, and what it was is noted in the window.

use std::sync::Arc;

use super::{Effect, Held, Passage, Phase, SlotWrite, Step, note, request};
use crate::{
    config::Config,
    dialect::{AnswerReader, Usage},
    identity::Scope,
    metric::{Bypass, Metric, Tokens},
    price::OTHER,
    prompt::Print,
    window::Outcome,
};

pub fn headers(config: &Config, mut passage: Box<Passage>, end_of_stream: bool, held: &dyn Held) -> Step {
    let mut effects: Vec<Effect> =
        passage.headers.drain(..).map(|(name, value)| Effect::SetResponseHeader(name, value)).collect();
    let status = held.response_header(":status").unwrap_or_default();
    passage.succeeded = status.len() == 3 && status.starts_with(b"2");
    if passage.succeeded {
        let is_plain = held.response_header("content-encoding").is_none();
        let content_type = held.response_header("content-type").unwrap_or_default();
        passage.reader = if is_plain { AnswerReader::new(passage.dialect, &content_type) } else { None };
        if passage.reader.is_none() {
            effects.push(Bypass::Response.into());
        }
    }
    if end_of_stream || !passage.succeeded {
        let (phase, more) = whole(config, *passage);
        effects.extend(more);
        return (phase, effects);
    }
    (Phase::Passing(passage), effects)
}

pub fn body(config: &Config, mut passage: Box<Passage>, end_of_stream: bool, held: &dyn Held) -> Step {
    if let (Some(reader), Some(chunk)) = (&mut passage.reader, held.response_chunk()) {
        reader.push(&chunk);
    }
    let is_over = passage.reader.as_ref().is_some_and(AnswerReader::is_over);
    if end_of_stream || is_over { whole(config, *passage) } else { (Phase::Passing(passage), Vec::new()) }
}

/// The response is over.
pub fn whole(config: &Config, passage: Passage) -> Step {
    let Passage { scope, entry, model, reader, succeeded, .. } = passage;
    let was_read = reader.is_some();
    let answer = reader.and_then(AnswerReader::finish);
    let mut effects = Vec::new();
    if let Some(answer) = &answer {
        effects = spent(config, &model, &answer.usage);
        if config.notes {
            effects.extend(note::of_answer(answer));
        }
    }
    if was_read && answer.is_none() {
        effects.push(Bypass::Response.into());
    }
    let Some(entry) = entry else { return (Phase::Done, effects) };
    if !succeeded {
        return note(config, scope, entry, Outcome::Failed, effects);
    }
    let outcome = Outcome::Answered {
        answer: answer.as_ref().map_or_else(Print::default, |answer| answer.print()),
        tools: answer.as_ref().map_or(0, |answer| answer.tools()),
        calls: answer.as_ref().map(|answer| answer.calls()).unwrap_or_default(),
    };
    note(config, scope, entry, outcome, effects)
}

/// Tokens and their price. The label is the price table's, so that there are no more labels than it has rows.
fn spent(config: &Config, model: &str, usage: &Usage) -> Vec<Effect> {
    let price = config.price(model);
    let label = price.map_or_else(|| OTHER.into(), |price| Arc::clone(price.model.label()));
    let tokens =
        [(Tokens::Input, usage.input), (Tokens::CachedInput, usage.cached), (Tokens::Output, usage.output)];
    let mut effects: Vec<Effect> = tokens
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| Effect::Count(Metric::Tokens(kind, Arc::clone(&label)), count))
        .collect();
    if let Some(price) = price {
        effects.push(Effect::Count(Metric::Costs(label), price.of(usage)));
    }
    effects
}

/// The response ended before its end.
pub fn cut_off(config: &Config, passage: &Passage) -> Step {
    match passage.entry {
        Some(entry) => note(config, passage.scope, entry, Outcome::Failed, Vec::new()),
        None => (Phase::Done, Vec::new()),
    }
}

fn note(config: &Config, scope: Scope, entry: u32, outcome: Outcome, mut effects: Vec<Effect>) -> Step {
    effects.push(request::load(config, &scope));
    (Phase::Recording { scope, entry, outcome, write: SlotWrite::default() }, effects)
}

pub fn record(
    config: &Config,
    (scope, entry, outcome): (Scope, u32, Outcome),
    write: SlotWrite,
    bytes: Option<&[u8]>,
    version: Option<u32>,
    held: &dyn Held,
) -> Step {
    let now = held.now();
    let ((), store) = request::change(config, &scope, now, (bytes, version), |window| {
        window.record(entry, outcome.clone(), now)
    });
    (Phase::Recording { scope, entry, outcome, write }, vec![store])
}

pub fn recorded(
    config: &Config,
    (scope, entry, outcome): (Scope, u32, Outcome),
    write: SlotWrite,
    stored: bool,
) -> Step {
    if stored {
        return (Phase::Done, Vec::new());
    }
    match write.again() {
        Some(write) => {
            (Phase::Recording { scope, entry, outcome, write }, vec![request::load(config, &scope)])
        }
        None => (Phase::Done, vec![Bypass::Contention.into()]),
    }
}
