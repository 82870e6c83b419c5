//! What models cost, by the tables of `genai-prices`, which are built in.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use genai_prices::{Calculator, PriceRequest, Usage, UsageKey};
use sentinel_proto::v1;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Tokens of one answer, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tokens {
    pub input_tokens: u64,
    /// Those of the input tokens that came from the provider's cache.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// Those of the output tokens that are reasoning.
    pub reasoning_tokens: u64,
}

impl Tokens {
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(more.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(more.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(more.output_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(more.reasoning_tokens),
        }
    }
}

/// Where the price of a turn is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priced {
    /// From the operator's own table.
    Configured,
    /// From the table that is built in.
    #[default]
    Known,
    /// The model has no known price. The turn counts as 0.
    Unknown,
}

/// Models whose prices are remembered. There is a bound, because the names of models come from outside.
const MOST_REMEMBERED: usize = 4_096;
/// Bytes of a name that are looked at.
const LONGEST: usize = 200;
/// The longest prompt, in tokens, up to which a change of the price is searched.
const LONGEST_PROMPT: u64 = 4_000_000;
/// The calculator is asked for the price of this many tokens. From that the price per million follows to a billionth of a dollar.
const PROBE: u64 = 1_000;

/// Prices that were looked up. `None`: no price is known.
type PriceCache<K> = Mutex<HashMap<K, Option<Arc<Price>>>>;

/// Prices, remembered by model.
pub struct Prices {
    calculator: &'static Calculator,
    known: PriceCache<(String, String)>,
    dearest: PriceCache<String>,
}

/// The prices of one model, in the order of the prompt lengths above which they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    pub steps: Vec<PriceStep>,
}

/// Billionths of a US dollar for a million tokens, for prompts above a length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriceStep {
    pub above_input_tokens: u64,
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

impl Price {
    /// Billionths of a US dollar.
    #[must_use]
    pub fn of(&self, tokens: Tokens) -> u64 {
        let above =
            |step: &&PriceStep| step.above_input_tokens == 0 || step.above_input_tokens < tokens.input_tokens;
        let step = self.steps.iter().rev().find(above).copied().unwrap_or_default();
        let part = |tokens: u64, price: u64| {
            let exact = u128::from(tokens).saturating_mul(u128::from(price)).div_ceil(1_000_000);
            u64::try_from(exact).unwrap_or(u64::MAX)
        };
        part(tokens.input_tokens.saturating_sub(tokens.cached_tokens), step.input)
            .saturating_add(part(tokens.cached_tokens, step.cached))
            .saturating_add(part(tokens.output_tokens, step.output))
    }

    #[must_use]
    pub fn message(&self, estimated: bool) -> v1::Price {
        let step = |step: &PriceStep| v1::PriceStep {
            above_input_tokens: step.above_input_tokens,
            input: step.input,
            cached: step.cached,
            output: step.output,
        };
        v1::Price { steps: self.steps.iter().map(step).collect(), estimated }
    }
}

impl Default for Prices {
    /// Decodes the tables, which takes some milliseconds.
    fn default() -> Self {
        Self { calculator: Calculator::bundled(), known: Mutex::default(), dearest: Mutex::default() }
    }
}

fn optional(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

impl Prices {
    /// What these tokens cost, in billionths of a US dollar; `None` where no price is known of the model.
    #[must_use]
    pub fn cost(&self, provider: &str, model: &str, tokens: Tokens) -> Option<u64> {
        Some(self.price(provider, model)?.of(tokens))
    }

    /// The price of a model, where one is known.
    #[must_use]
    pub fn price(&self, provider: &str, model: &str) -> Option<Arc<Price>> {
        if model.is_empty() || model.len() > LONGEST || provider.len() > LONGEST {
            return None;
        }
        let key = (provider.to_owned(), model.to_owned());
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(price) = lock().get(&key) {
            return price.clone();
        }
        let price = self.find(optional(provider), model).or_else(|| self.find(None, model)).map(Arc::new);
        let mut known = lock();
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        known.insert(key, price.clone());
        price
    }

    /// The price of the dearest model of the provider, or of all providers if this one is not known.
    #[must_use]
    pub fn dearest(&self, provider: &str) -> Option<Arc<Price>> {
        let provider = self.calculator.find_provider(optional(provider), None).ok().flatten();
        let id = provider.map_or("", genai_prices::ProviderInfo::id);
        let lock = || self.dearest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(price) = lock().get(id) {
            return price.clone();
        }
        let providers = self.calculator.providers().filter(|known| id.is_empty() || known.id() == id);
        let models = providers.flat_map(|known| known.models().map(move |model| (known.id(), model.id())));
        let prices = models.filter_map(|(provider, model)| self.find(Some(provider), model));
        let sample = Tokens { input_tokens: 3_000, output_tokens: 1_000, ..Tokens::default() };
        let dearest = prices.max_by_key(|price| price.of(sample)).map(Arc::new);
        lock().insert(id.to_owned(), dearest.clone());
        dearest
    }

    fn find(&self, provider: Option<&str>, model: &str) -> Option<Price> {
        let base = self.step(provider, model, PROBE)?;
        let mut steps = vec![base];
        let longest = self.step(provider, model, LONGEST_PROMPT)?;
        if (longest.input, longest.output) != (base.input, base.output) {
            // Finds the length at which the price changes. If it changes several times, the last price is taken from the first change on.
            let (mut low, mut high) = (PROBE, LONGEST_PROMPT);
            while high.saturating_sub(low) > 1 {
                let middle = low.midpoint(high);
                let there = self.step(provider, model, middle)?;
                if (there.input, there.output) == (base.input, base.output) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            steps.push(PriceStep { above_input_tokens: low, ..longest });
        }
        Some(Price { steps })
    }

    /// The prices for prompts of this length.
    fn step(&self, provider: Option<&str>, model: &str, input: u64) -> Option<PriceStep> {
        let usage = |input: u64, cached: u64, output: u64| {
            #[expect(clippy::cast_precision_loss, reason = "some millions")]
            Usage::from([
                (UsageKey::INPUT_TOKENS, input as f64),
                (UsageKey::CACHE_READ_TOKENS, cached as f64),
                (UsageKey::OUTPUT_TOKENS, output as f64),
            ])
        };
        let usd = |usage: &Usage| -> Option<f64> {
            let mut request = PriceRequest::new(model, usage);
            request.provider_id = provider;
            Some(self.calculator.calculate(&request).ok()?.total_price)
        };
        let plain = usd(&usage(input, 0, 0))?;
        let cached = usd(&usage(input, input, 0)).unwrap_or(plain);
        let output = (usd(&usage(input, 0, PROBE))? - plain).max(0.0);
        Some(PriceStep {
            above_input_tokens: 0,
            input: for_a_million(plain, input),
            cached: for_a_million(cached, input),
            output: for_a_million(output, PROBE),
        })
    }
}

/// Billionths of a US dollar.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "prices are positive and small, and a cast saturates"
)]
fn for_a_million(usd: f64, tokens: u64) -> u64 {
    (usd / tokens.max(1) as f64 * 1e15).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLION: Tokens =
        Tokens { input_tokens: 100_000, cached_tokens: 0, output_tokens: 100_000, reasoning_tokens: 0 };

    #[test]
    fn usual_models_have_a_price_that_depends_on_the_cache() {
        let prices = Prices::default();
        // 0.15 USD for a million input tokens, 0.60 for output.
        assert_eq!(prices.cost("openai", "gpt-4o-mini", MILLION), Some(75_000_000));
        assert_eq!(prices.cost("", "gpt-4o-mini", MILLION), Some(75_000_000), "without a provider");
        let cached = Tokens { cached_tokens: 100_000, ..MILLION };
        assert!(prices.cost("openai", "gpt-4o-mini", cached) < prices.cost("openai", "gpt-4o-mini", MILLION));
        for (provider, model) in [("anthropic", "claude-sonnet-4-5"), ("google", "gemini-2.5-flash")] {
            assert!(prices.cost(provider, model, MILLION).is_some_and(|cost| cost > 0), "{model}");
        }
    }

    #[test]
    fn a_model_that_is_not_known_has_no_price_and_the_dearest_is_dearer_than_others() {
        let prices = Prices::default();
        for model in ["", "my-own-model", &"x".repeat(100_000), "\0\u{202e}"] {
            assert_eq!(prices.price("openai", model), None, "{model}");
        }
        let dearest = prices.dearest("openai").unwrap();
        assert!(dearest.of(MILLION) > prices.cost("openai", "gpt-4o", MILLION).unwrap());
        let of_all = prices.dearest("nobody").unwrap();
        assert!(of_all.of(MILLION) >= dearest.of(MILLION));
    }

    #[test]
    fn long_prompts_may_have_a_price_of_their_own() {
        let price = Prices::default().price("google", "gemini-2.5-pro").unwrap();
        let [base, long] = price.steps.as_slice() else { panic!("{price:?}") };
        assert_eq!((base.above_input_tokens, long.above_input_tokens), (0, 200_000));
        assert_eq!((base.input, long.input), (1_250_000_000, 2_500_000_000));
        let tokens = |input| Tokens { input_tokens: input, ..Tokens::default() };
        assert_eq!(price.of(tokens(200_000)), 250_000_000);
        assert_eq!(price.of(tokens(200_001)), 500_002_500);
    }
}
