//! Usage: the tokens that an answer reports, and their price, as metrics.

use std::sync::Arc;

use sentinel_llm_api::usage::Usage;

use crate::{
    config::Config,
    host::Host,
    metric::{Metric, Tokens},
    price::OTHER,
};

/// Counts tokens and their price. The label is the price table's, so that there are no more labels than it has rows.
pub fn run(config: &Config, model: &str, usage: &Usage, host: &mut impl Host) {
    let price = config.price(model);
    let label = price.map_or_else(|| OTHER.into(), |price| Arc::clone(price.model.label()));
    let tokens =
        [(Tokens::Input, usage.input), (Tokens::CachedInput, usage.cached), (Tokens::Output, usage.output)];
    for (kind, count) in tokens.into_iter().filter(|(_, count)| *count > 0) {
        host.count(Metric::Tokens(kind, Arc::clone(&label)), count);
    }
    if let Some(price) = price {
        host.count(Metric::Costs(label), price.of(usage));
    }
}
