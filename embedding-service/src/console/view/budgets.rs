//! Budgets as they are configured, with their accounts.

use sentinel_console::budgets::{Account, AccountMark, BudgetRow, Budgets, Limit, Unit, Used};
use serde_json::Value;
use strum::VariantArray as _;

use super::now::count;
use crate::control::{
    budgets::{AccountState, AccountView},
    clock,
};

/// Billionths of a dollar.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sums are positive, and a cast saturates"
)]
pub fn nano_usd(usd: f64) -> u64 {
    (usd * 1e9).round() as u64
}

/// The page. `defined`: the entries of `budgets` that act; `accounts`: those first that have spent most, and how many there are.
pub fn budgets(defined: &[Value], accounts: &(Vec<AccountView>, usize)) -> Budgets {
    let (accounts, total) = accounts;
    let of = |name: &str| accounts.iter().filter(|account| account.budget == name).map(account).collect();
    let mut budgets: Vec<BudgetRow> = defined
        .iter()
        .map(|entry| BudgetRow {
            name: text(entry, "name"),
            whom: whom(entry),
            limits: limits(entry),
            records_only: entry["at_limit"] == "record",
            is_configured: true,
            accounts: of(&text(entry, "name")),
        })
        .collect();
    for gone in accounts {
        if budgets.iter().all(|budget| budget.name != gone.budget) {
            let accounts = of(&gone.budget);
            budgets.push(BudgetRow { name: gone.budget.clone(), accounts, ..BudgetRow::default() });
        }
    }
    let more = count(total.saturating_sub(accounts.len()));
    Budgets { now_ms: clock::now_ms(), budgets, more }
}

fn text(entry: &Value, field: &str) -> String {
    entry[field].as_str().unwrap_or_default().to_owned()
}

/// The limits of an entry.
pub fn limits(entry: &Value) -> Vec<Limit> {
    let limits = &entry["limits"];
    let limit = |unit: Unit| {
        let most = match unit {
            Unit::NanoUsd => nano_usd(limits[unit.id()].as_f64()?),
            _ => limits[unit.id()].as_u64()?,
        };
        Some(Limit { unit, most })
    };
    Unit::VARIANTS.iter().copied().filter_map(limit).collect()
}

fn whom(entry: &Value) -> String {
    let per = entry["per"].as_str().unwrap_or("run");
    let names = [
        ("tenant", "tenant"),
        ("client", "client"),
        ("agent", "agent"),
        ("agent_prefix", "agents that begin with"),
    ];
    let named =
        names.into_iter().filter_map(|(field, word)| Some(format!(" · {word} {}", entry[field].as_str()?)));
    let window = match entry["window"].as_str().unwrap_or("run") {
        "run" => " · as long as it lives".to_owned(),
        day @ ("day" | "week" | "month") => {
            format!(" · a calendar {day}, {}", entry["zone"].as_str().unwrap_or("UTC"))
        }
        length => format!(" · the last {length}"),
    };
    format!("for each {per}{}{window}", named.collect::<String>())
}

/// Whose an account is: what each name is a name of, and the name.
pub fn whose(view: &AccountView) -> Vec<(&'static str, String)> {
    let names = [
        ("tenant", &view.tenant),
        ("client", &view.client),
        ("agent", &view.agent),
        ("run", &view.run),
        ("history", &view.history),
    ];
    let said = names.into_iter().filter(|(_, name)| !name.is_empty());
    said.map(|(what, name)| (what, name.clone())).collect()
}

fn account(view: &AccountView) -> Account {
    Account {
        whose: whose(view),
        state: match view.state {
            AccountState::Fine => AccountMark::Fine,
            AccountState::Close => AccountMark::Close,
            AccountState::Spent => AccountMark::Spent,
        },
        used: used(view),
        last_asked_ms: view.last_asked_ms,
        renews_ms: view.renews_ms,
    }
}

fn used(view: &AccountView) -> Vec<Used> {
    let limits = &view.limits;
    let most = |unit: Unit| match unit {
        Unit::NanoUsd => limits.usd.map(nano_usd),
        Unit::Tokens => limits.tokens,
        Unit::OutputTokens => limits.output_tokens,
        Unit::Requests => limits.requests,
        Unit::ToolCalls => limits.tool_calls,
        Unit::Seconds => limits.seconds,
    };
    let used = |unit: Unit| {
        let held = if unit == Unit::Seconds { 0 } else { amount(&view.held, unit) };
        let limit = Limit { unit, most: most(unit)? };
        Some(Used { limit, spent: spent(view, unit), held, course: course(view, unit) })
    };
    Unit::VARIANTS.iter().copied().filter_map(used).collect()
}

/// Points of the curve of what was spent.
const POINTS: u64 = 48;

/// How what counts now was spent, from the beginning of the window, or of the run, until now. Empty where that is less than a part.
#[expect(clippy::cast_precision_loss, reason = "points of a chart")]
fn course(view: &AccountView, unit: Unit) -> Vec<f64> {
    let Some((first, _)) = view.parts.first().filter(|_| unit != Unit::Seconds) else { return Vec::new() };
    let since = view.since_ms.min(*first);
    if view.parts.len() == 1 && since == *first {
        return Vec::new();
    }
    // What was used of a lease is told after the last request.
    let last = view.parts.last().map_or(0, |(from_ms, _)| *from_ms).max(view.last_asked_ms);
    let length = last.saturating_sub(since);
    let at = |point: u64| since.saturating_add(length.saturating_mul(point) / POINTS);
    let until = |at_ms: u64| {
        let parts = view.parts.iter().take_while(|(from_ms, _)| *from_ms <= at_ms);
        parts.map(|(_, amounts)| amount(amounts, unit)).fold(0, u64::saturating_add)
    };
    (0..=POINTS).map(|point| until(at(point)) as f64).collect()
}

/// How much an account has spent.
pub fn spent(view: &AccountView, unit: Unit) -> u64 {
    match unit {
        Unit::Seconds => view.last_asked_ms.saturating_sub(view.started_ms) / 1_000,
        unit => amount(&view.spent, unit),
    }
}

/// How much there is of a unit; no amount says seconds.
pub fn amount(amounts: &crate::control::budgets::Amounts, unit: Unit) -> u64 {
    match unit {
        Unit::NanoUsd => amounts.nano_usd,
        Unit::Tokens => amounts.tokens,
        Unit::OutputTokens => amounts.output_tokens,
        Unit::Requests => amounts.requests,
        Unit::ToolCalls => amounts.tool_calls,
        Unit::Seconds => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::budgets::Amounts;

    #[test]
    fn what_was_spent_rises_to_what_counts_now() {
        let spent = |nano_usd: u64| Amounts { nano_usd, ..Amounts::default() };
        let mut view: AccountView = serde_json::from_value(serde_json::json!({
            "budget": "b", "per": "agent", "tenant": "", "client": "", "agent": "a", "run": "", "history": "", "limits": {},
            "spent": Amounts::default(), "spent_usd": 0.0, "held": Amounts::default(), "share": 0.0, "state": "fine",
            "started_ms": 0, "last_asked_ms": 4_800, "renews_ms": null,
        }))
        .unwrap();
        assert!(course(&view, Unit::NanoUsd).is_empty());
        view.parts = vec![(0, spent(5)), (2_400, spent(3)), (4_800, spent(2))];
        let line = course(&view, Unit::NanoUsd);
        assert_eq!((line.len(), line[0], line[23], line[24], line[48]), (49, 5.0, 5.0, 8.0, 10.0));
        assert!(course(&view, Unit::Seconds).is_empty());
        view.parts = vec![(2_400, spent(3))];
        let line = course(&view, Unit::NanoUsd);
        assert_eq!(
            (line[0], line[23], line[24], line[48]),
            (0.0, 0.0, 3.0, 3.0),
            "from the beginning of the window"
        );
        view.parts = vec![(0, spent(5)), (9_600, spent(3))];
        let line = course(&view, Unit::NanoUsd);
        assert_eq!((line[0], line[47], line[48]), (5.0, 5.0, 8.0), "what was told after the last request");
        view.parts = vec![(2_400, spent(3))];
        view.since_ms = 2_500;
        assert!(course(&view, Unit::NanoUsd).is_empty(), "a run of one part");
    }
}
