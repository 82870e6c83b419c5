//! Prices of models.

use crate::{
    ConfigError,
    price::{Model, Price},
    raw::RawPrice,
};

pub fn price((at, raw): (usize, &RawPrice)) -> Result<Price, ConfigError> {
    let refuse = |field: &str, problem: &str| Err(ConfigError::new(format!("prices[{at}]{field}"), problem));
    let is_price = |usd: f64| (0.0..=100_000.0).contains(&usd);
    for (field, usd) in
        [(".input", raw.input), (".cached_input", raw.cached_input.unwrap_or(0.0)), (".output", raw.output)]
    {
        if !is_price(usd) {
            return refuse(field, "must lie between 0 and 100000 (USD for a million tokens)");
        }
    }
    // The name becomes a label of a metric.
    let is_label = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._:/@-".contains(c))
    };
    let model = match (&raw.name, &raw.prefix) {
        (Some(name), None) if is_label(name) => Model::Name(name.as_str().into()),
        (None, Some(prefix)) if is_label(prefix) => Model::Prefix(prefix.as_str().into()),
        (Some(_), None) | (None, Some(_)) => {
            return refuse("", "a model's name has letters, digits and `._:/@-` only");
        }
        _ => return refuse("", "needs exactly one of `name` and `prefix`"),
    };
    Ok(Price { model, input: raw.input, cached: raw.cached_input.unwrap_or(raw.input), output: raw.output })
}
