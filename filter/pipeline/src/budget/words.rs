//! What an agent is told of a budget.

use sentinel_detect::verdict::{Finding, Signal, Verdict};

use super::amounts::Unit;
use crate::control::{BudgetState, Limit};

/// The finding that a budget allows no more.
pub fn spent(state: &BudgetState, limit: &Limit) -> Finding {
    let amount = if state.is_unpriced {
        "it counts money, and the model has no known price".to_owned()
    } else {
        limit.words()
    };
    Finding { tool: state.budget.clone(), amount, ..Finding::of(Signal::Budget, Verdict::Kill) }
}

/// The finding that only a little of a budget is left.
pub fn warned(state: &BudgetState, limit: &Limit) -> Finding {
    let amount = left(limit).to_owned();
    Finding { tool: state.budget.clone(), amount, ..Finding::of(Signal::Budget, Verdict::Hint) }
}

/// The finding that nobody can tell what may be spent.
pub fn unavailable() -> Finding {
    let amount = "what it may spend is not known: the service that counts it does not answer".to_owned();
    Finding { amount, ..Finding::of(Signal::Budget, Verdict::Kill) }
}

impl Limit {
    fn words(&self) -> String {
        let Self { unit, limit, spent, held } = self;
        let (name, is_money) = match unit {
            Some(Unit::NanoUsd) => ("USD", true),
            Some(Unit::Tokens) => ("tokens", false),
            Some(Unit::OutputTokens) => ("output tokens", false),
            Some(Unit::Requests) => ("requests", false),
            Some(Unit::ToolCalls) => ("tool calls", false),
            None => ("seconds", false),
        };
        let shown = |amount: u64| if is_money { usd(amount) } else { amount.to_string() };
        let held = if *held == 0 { String::new() } else { format!(", and {} are reserved", shown(*held)) };
        format!("{} of {} {name} are spent{held}", shown(*spent), shown(*limit))
    }
}

/// With at least two places, and at most six.
fn usd(nano: u64) -> String {
    let micro = nano.checked_div(1_000).unwrap_or(0);
    let whole = micro.checked_div(1_000_000).unwrap_or(0);
    let mut text = format!("{whole}.{:06}", micro.checked_rem(1_000_000).unwrap_or(0));
    let least = text.len().saturating_sub(4);
    while text.ends_with('0') && text.len() > least {
        text.pop();
    }
    text
}

/// About how much of the limit is left.
fn left(limit: &Limit) -> &'static str {
    let left = limit.limit.saturating_sub(limit.spent).saturating_mul(100);
    match left.checked_div(limit.limit).unwrap_or(0) {
        42.. => "half",
        29..=41 => "a third",
        23..=28 => "a quarter",
        14..=22 => "a fifth",
        8..=13 => "a tenth",
        _ => "a small part",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(unit: Option<Unit>, limit: u64, spent: u64, held: u64) -> Limit {
        Limit { unit, limit, spent, held }
    }

    #[test]
    fn it_says_what_is_spent_of_what() {
        let words = |unit, of, spent, held| limit(unit, of, spent, held).words();
        assert_eq!(words(Some(Unit::NanoUsd), 500_000_000, 497_300_000, 0), "0.4973 of 0.50 USD are spent");
        assert_eq!(
            words(Some(Unit::NanoUsd), 12_000_000_000, 1_234, 20_000_000),
            "0.000001 of 12.00 USD are spent, and 0.02 are reserved"
        );
        assert_eq!(words(Some(Unit::ToolCalls), 3, 3, 0), "3 of 3 tool calls are spent");
        assert_eq!(words(None, 60, 61, 0), "61 of 60 seconds are spent");
    }

    #[test]
    fn what_is_left_is_said_in_words() {
        let left = |spent| left(&limit(Some(Unit::Tokens), 1_000, spent, 0));
        assert_eq!(
            [800, 850, 900, 990, 2_000, 500].map(left),
            ["a fifth", "a fifth", "a tenth", "a small part", "a small part", "half"]
        );
    }
}
