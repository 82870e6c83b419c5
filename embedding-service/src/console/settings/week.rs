//! What other limits of a budget would have meant in the last seven days, from what its accounts keep of each day.

use sentinel_console::budgets::{AffectedAccount, Limit, Reached, Unit, Week};
use sentinel_proto::v1;

use super::super::view;
use crate::control::budgets::{AccountView, Day, WEEK_MS};

/// Accounts that are named.
const NAMED: usize = 10;

/// The limits of a budget before and after a change. `warn_at`: the share of a limit from which an account is close to it.
#[derive(Clone, Copy, Debug)]
pub struct LimitChange<'a> {
    pub before: &'a [Limit],
    pub after: &'a [Limit],
    pub warn_at: f64,
}

/// What an account reached in these days. `before` and `after`: days on which it reached an old limit, and a new one.
#[derive(Clone, Copy, Debug, Default)]
struct AccountWeek {
    before: u64,
    after: u64,
    is_close: bool,
    /// The worst day: the share of a new limit, the amount that counted, and the day.
    worst: Option<(f64, Limit, u64)>,
}

/// Holds the limits against all accounts of the budget.
pub fn week(accounts: &[AccountView], change: LimitChange<'_>, now_ms: u64) -> Week {
    let since = now_ms.saturating_sub(WEEK_MS);
    let mut week = Week::default();
    let mut changed: Vec<(f64, AffectedAccount)> = Vec::new();
    for account in accounts {
        if account.days.is_empty() && account.last_asked_ms < since {
            continue;
        }
        week.accounts = week.accounts.saturating_add(1);
        let seen = change.seen(account);
        let add = |reached: &mut Reached, days: u64| {
            reached.accounts = reached.accounts.saturating_add(u64::from(days > 0));
            reached.days = reached.days.saturating_add(days);
        };
        add(&mut week.before, seen.before);
        add(&mut week.after, seen.after);
        week.close = week.close.saturating_add(u64::from(seen.is_close && seen.after == 0));
        if (seen.before > 0) == (seen.after > 0) {
            continue;
        }
        if let Some((part, most, day_ms)) = seen.worst {
            let whose = view::budgets::whose(account);
            changed.push((part, AffectedAccount { whose, most, day_ms, is_stopped: seen.after > 0 }));
        }
    }
    changed.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    week.more = view::now::count(changed.len().saturating_sub(NAMED));
    week.changed = changed.into_iter().take(NAMED).map(|(_, changed)| changed).collect();
    week
}

impl LimitChange<'_> {
    fn seen(&self, account: &AccountView) -> AccountWeek {
        let mut seen = AccountWeek::default();
        for day in &account.days {
            let (mut before, mut after) = (false, false);
            for (old, new) in self.before.iter().zip(self.after) {
                let amount = amount(account, day, old.unit);
                let was_refused = day.was_refused(told(old.unit));
                before |= was_refused || amount >= old.most;
                // A request may be refused before the limit is reached, because it was too large for what was left.
                after |= amount >= new.most || (was_refused && new.most <= old.most);
                let part = part(amount, new.most);
                seen.is_close |= part >= self.warn_at;
                if seen.worst.is_none_or(|(worst, ..)| part > worst) {
                    seen.worst = Some((part, Limit { unit: new.unit, most: amount }, day.from_ms));
                }
            }
            seen.before = seen.before.saturating_add(u64::from(before));
            seen.after = seen.after.saturating_add(u64::from(after));
        }
        seen
    }
}

/// What counted on a day. The seconds of a run are not stored by day, so their total is taken.
fn amount(account: &AccountView, day: &Day, unit: Unit) -> u64 {
    match unit {
        Unit::Seconds => view::budgets::spent(account, unit),
        unit => view::budgets::amount(&day.most, unit),
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn part(amount: u64, most: u64) -> f64 {
    amount as f64 / most.max(1) as f64
}

/// `None`: seconds.
fn told(unit: Unit) -> Option<v1::Unit> {
    match unit {
        Unit::NanoUsd => Some(v1::Unit::NanoUsd),
        Unit::Tokens => Some(v1::Unit::Tokens),
        Unit::OutputTokens => Some(v1::Unit::OutputTokens),
        Unit::Requests => Some(v1::Unit::Requests),
        Unit::ToolCalls => Some(v1::Unit::ToolCalls),
        Unit::Seconds => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::control::budgets::Amounts;

    const DAY_MS: u64 = 24 * 3_600_000;

    /// An account of an agent. `days`: its requests on each day. A negative number: one more request was refused on that day.
    fn account(agent: &str, days: &[i64]) -> AccountView {
        let mut view: AccountView = serde_json::from_value(json!({
            "budget": "b", "per": "agent", "tenant": "", "client": "", "agent": agent, "run": "", "history": "", "limits": {},
            "spent": Amounts::default(), "spent_usd": 0.0, "held": Amounts::default(), "share": 0.0, "state": "fine",
            "started_ms": 0, "last_asked_ms": 0, "renews_ms": null,
        }))
        .unwrap();
        let day = |(place, requests): (u64, &i64)| {
            let refused = if *requests < 0 { 8 } else { 0 };
            let most = Amounts { requests: requests.unsigned_abs(), ..Amounts::default() };
            serde_json::from_value(
                json!({"from_ms": place.saturating_mul(DAY_MS), "most": most, "refused": refused}),
            )
            .unwrap()
        };
        view.days = (20..).zip(days).map(day).collect();
        view
    }

    fn preview(accounts: &[AccountView], old: u64, new: u64) -> Week {
        let limit = |most| [Limit { unit: Unit::Requests, most }];
        let change = LimitChange { before: &limit(old), after: &limit(new), warn_at: 0.8 };
        week(accounts, change, 27 * DAY_MS)
    }

    #[test]
    fn a_lower_limit_says_whom_it_would_have_stopped() {
        let silent = account("silent", &[]);
        let accounts =
            [account("small", &[1, 2]), account("large", &[50, 70, 10]), account("near", &[42]), silent];
        let week = preview(&accounts, 100, 50);
        assert_eq!(week.accounts, 3, "nothing is known of the one that was silent");
        assert_eq!((week.before, week.after), (Reached::default(), Reached { accounts: 1, days: 2 }));
        assert_eq!(week.close, 1);
        let most = Limit { unit: Unit::Requests, most: 70 };
        let whose = vec![("agent", "large".to_owned())];
        assert_eq!(week.changed, [AffectedAccount { whose, most, day_ms: 21 * DAY_MS, is_stopped: true }]);
    }

    #[test]
    fn a_higher_limit_says_who_would_have_gone_on() {
        let accounts = [account("a", &[-99, 5]), account("b", &[100, -98]), account("c", &[-99])];
        let week = preview(&accounts, 100, 150);
        assert_eq!((week.before, week.after.accounts), (Reached { accounts: 3, days: 4 }, 0));
        assert_eq!(week.changed.len(), 3);
        assert!(week.changed.iter().all(|changed| !changed.is_stopped));
        let same = preview(&accounts, 100, 100);
        assert_eq!((same.before, same.changed.len()), (same.after, 0), "the same limit stops the same");
    }

    #[test]
    fn so_many_are_named_and_the_others_counted() {
        let accounts: Vec<AccountView> = (1..=30).map(|n| account(&format!("agent-{n}"), &[n])).collect();
        let week = preview(&accounts, 100, 1);
        assert_eq!((week.changed.len(), week.more, week.after.accounts), (10, 20, 30));
        assert_eq!(week.changed[0].whose, [("agent", "agent-30".to_owned())]);
    }
}
