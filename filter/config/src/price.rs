//! What tokens cost, by the price table of the configuration. Models that are not in it are counted together.

use std::sync::Arc;

use sentinel_llm_api::usage::Usage;

/// Label of all models without a price.
pub const OTHER: &str = "other";
/// What a body's size says about its tokens, where nobody has counted them (bytes a token, for English and JSON).
pub const BYTES_A_TOKEN: usize = 4;

/// Prices of one model or of several whose names begin alike, in USD for a million tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    pub model: Model,
    pub input: f64,
    pub cached: f64,
    pub output: f64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    Name(Arc<str>),
    Prefix(Arc<str>),
}

impl Model {
    pub fn fits(&self, model: &str) -> bool {
        match self {
            Self::Name(name) => **name == *model,
            Self::Prefix(prefix) => model.starts_with(&**prefix),
        }
    }

    pub fn label(&self) -> &Arc<str> {
        match self {
            Self::Name(text) | Self::Prefix(text) => text,
        }
    }
}

impl Price {
    /// Billionths of a USD.
    pub fn of(&self, usage: &Usage) -> u64 {
        nano_usd(usage.input, self.input)
            .saturating_add(nano_usd(usage.cached, self.cached))
            .saturating_add(nano_usd(usage.output, self.output))
    }

    /// Billionths of a USD that a request of this size would have cost at least: its input, by the size of its body.
    pub fn of_body(&self, bytes: usize) -> u64 {
        let tokens = bytes.checked_div(BYTES_A_TOKEN).unwrap_or(0);
        nano_usd(u64::try_from(tokens).unwrap_or(0), self.input)
    }
}

/// A price for a million in USD is a price for one in millionths of a USD.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "prices are positive, counts of tokens are small, and a cast saturates"
)]
fn nano_usd(tokens: u64, usd_for_a_million: f64) -> u64 {
    (tokens as f64 * usd_for_a_million * 1_000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_of_each() {
        let price = Price { model: Model::Prefix("m".into()), input: 0.15, cached: 0.075, output: 0.6 };
        let usage = Usage { input: 1_000_000, cached: 1_000_000, output: 1_000_000 };
        assert_eq!(price.of(&usage), 825_000_000);
        assert_eq!(price.of_body(4_000_000), 150_000_000);
        assert_eq!(price.of(&Usage { input: 1, cached: 0, output: 0 }), 150);
    }
}
