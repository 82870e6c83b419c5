//! Usage: the tokens that an answer reports, and their price, as metrics.

use std::sync::Arc;

use sentinel_config::price::OTHER;

use super::Surroundings;
use crate::{
    case::AnswerCase,
    metric::{Metric, Tokens},
    note::Note,
};

/// Counts tokens and their price. The label comes from the price table, so there are no more labels than it has rows.
pub fn run(around: &Surroundings<'_>, case: &mut AnswerCase) {
    let Some(answer) = &case.answer else { return };
    let usage = &answer.usage;
    let price = around.config.price(&case.model);
    let label = price.map_or_else(|| OTHER.into(), |price| Arc::clone(price.model.label()));
    let tokens =
        [(Tokens::Input, usage.input), (Tokens::CachedInput, usage.cached), (Tokens::Output, usage.output)];
    for (kind, count) in tokens.into_iter().filter(|(_, count)| *count > 0) {
        case.notes.push(Note::Count(Metric::Tokens(kind, Arc::clone(&label)), count));
    }
    if let Some(price) = price {
        case.notes.push(Note::Count(Metric::Costs(label), price.of(usage)));
    }
}
