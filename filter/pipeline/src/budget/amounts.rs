//! Amounts of what budgets count, and what a model costs.

use sentinel_config::Limits;
use sentinel_llm_api::usage::Usage;

/// What is counted. Messages number them in this order, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Billionths of a US dollar.
    NanoUsd,
    /// Input and output.
    Tokens,
    OutputTokens,
    Requests,
    ToolCalls,
}

/// An amount of each unit, in the order of `Unit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts(pub [u64; 5]);

impl Amounts {
    pub fn of(usage: &Usage, nano_usd: u64, tool_calls: u64) -> Self {
        let tokens = usage.input.saturating_add(usage.cached).saturating_add(usage.output);
        Self([nano_usd, tokens, usage.output, 1, tool_calls])
    }

    pub fn get(self, unit: Unit) -> u64 {
        self.0.get(unit as usize).copied().unwrap_or(0)
    }

    /// Combines the amounts of each unit.
    #[inline(never)]
    fn with(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        let Self(mut all) = self;
        for (one, other) in all.iter_mut().zip(other.0) {
            *one = combine(*one, other);
        }
        Self(all)
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// Never below 0.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }

    /// The larger one of each unit.
    #[must_use]
    pub fn or_more(self, other: Self) -> Self {
        self.with(other, u64::max)
    }

    /// Without money.
    #[must_use]
    pub fn free(self) -> Self {
        let Self([_, tokens, output, requests, calls]) = self;
        Self([0, tokens, output, requests, calls])
    }

    /// Whether there is at least as much of each unit that is limited.
    pub fn covers(self, needed: Self, limited: [bool; 5]) -> bool {
        self.0
            .into_iter()
            .zip(needed.0)
            .zip(limited)
            .all(|((has, needs), is_limited)| !is_limited || has >= needs)
    }
}

/// The units that are limited.
pub fn limited(limits: &Limits) -> [bool; 5] {
    let Limits { nano_usd, tokens, output_tokens, requests, tool_calls, .. } = limits;
    [nano_usd, tokens, output_tokens, requests, tool_calls].map(Option::is_some)
}

/// The price of a model, as the service tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Rising in `above`.
    pub steps: Vec<PriceStep>,
    /// The price of the model is not known. This is the price of the provider's dearest model.
    pub is_estimated: bool,
}

/// Billionths of a US dollar for a million tokens, where the input has more tokens than `above`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriceStep {
    pub above: u64,
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

impl Price {
    /// Billionths of a US dollar.
    pub fn of(&self, usage: &Usage) -> u64 {
        let input = usage.input.saturating_add(usage.cached);
        let holds = |step: &&PriceStep| step.above == 0 || step.above < input;
        let step = self.steps.iter().rev().find(holds).copied().unwrap_or_default();
        part(usage.input, step.input)
            .saturating_add(part(usage.cached, step.cached))
            .saturating_add(part(usage.output, step.output))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a cast saturates, and a few billionths do not matter"
)]
fn part(tokens: u64, for_a_million: u64) -> u64 {
    (tokens as f64 * for_a_million as f64 / 1e6).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_prompt_may_have_a_price_of_its_own() {
        let step = |above, input| PriceStep { above, input, cached: 1_000, output: 4_000_000 };
        let price = Price { steps: vec![step(0, 1_000_000), step(100, 2_000_000)], is_estimated: false };
        let usage = |input, cached| Usage { input, cached, output: 10 };
        assert_eq!(price.of(&usage(100, 0)), 100 + 40);
        assert_eq!(price.of(&usage(60, 41)), 120 + 1 + 40);
        assert_eq!(Price::default().of(&usage(u64::MAX, 0)), 0);
    }

    #[test]
    fn only_limited_units_must_be_covered() {
        let (has, needs) = (Amounts([5, 0, 0, 1, 0]), Amounts([5, 100, 0, 1, 0]));
        assert!(has.covers(needs, [true, false, true, true, true]));
        assert!(!has.covers(needs, [true, true, false, false, false]));
        assert_eq!(Amounts::of(&Usage { input: 1, cached: 2, output: 3 }, 4, 5), Amounts([4, 6, 3, 1, 5]));
        assert_eq!(needs.get(Unit::Tokens), 100);
    }
}
