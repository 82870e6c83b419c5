//! Amounts of what budgets count.

use sentinel_config::Limits;
use sentinel_proto::v1::{self, Unit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much of each unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Amounts {
    /// Billionths of a US dollar.
    pub nano_usd: u64,
    /// Input and output.
    pub tokens: u64,
    pub output_tokens: u64,
    pub requests: u64,
    pub tool_calls: u64,
}

/// All units.
pub const UNITS: [Unit; 5] =
    [Unit::NanoUsd, Unit::Tokens, Unit::OutputTokens, Unit::Requests, Unit::ToolCalls];

impl Amounts {
    #[must_use]
    pub fn of(messages: &[v1::Amount]) -> Self {
        let mut amounts = Self::default();
        for message in messages {
            amounts.set(message.unit(), message.value);
        }
        amounts
    }

    #[must_use]
    pub fn get(&self, unit: Unit) -> u64 {
        match unit {
            Unit::Unspecified => 0,
            Unit::NanoUsd => self.nano_usd,
            Unit::Tokens => self.tokens,
            Unit::OutputTokens => self.output_tokens,
            Unit::Requests => self.requests,
            Unit::ToolCalls => self.tool_calls,
        }
    }

    pub fn set(&mut self, unit: Unit, value: u64) {
        match unit {
            Unit::Unspecified => {}
            Unit::NanoUsd => self.nano_usd = value,
            Unit::Tokens => self.tokens = value,
            Unit::OutputTokens => self.output_tokens = value,
            Unit::Requests => self.requests = value,
            Unit::ToolCalls => self.tool_calls = value,
        }
    }

    /// Unit by unit.
    #[must_use]
    pub fn with(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let mut combined = Self::default();
        for unit in UNITS {
            combined.set(unit, combine(self.get(unit), other.get(unit)));
        }
        combined
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// The difference to the other, unit by unit, but never below 0.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }

    #[must_use]
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// The units that are limited.
    #[must_use]
    pub fn messages(&self, limits: &Limits) -> Vec<v1::Amount> {
        let limited = UNITS.into_iter().filter(|unit| limit(limits, *unit).is_some());
        limited.map(|unit| v1::Amount { unit: unit.into(), value: self.get(unit) }).collect()
    }
}

/// What may be taken of a unit.
#[must_use]
pub fn limit(limits: &Limits, unit: Unit) -> Option<u64> {
    match unit {
        Unit::Unspecified => None,
        Unit::NanoUsd => limits.nano_usd,
        Unit::Tokens => limits.tokens,
        Unit::OutputTokens => limits.output_tokens,
        Unit::Requests => limits.requests,
        Unit::ToolCalls => limits.tool_calls,
    }
}
