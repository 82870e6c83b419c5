//! An account: what one budget counts for one run, agent, client or tenant. It is changed by pure functions, which are given the time.
//!
//! One rule makes budgets strict: after each grant, `spent + held <= limit` holds, where `held` is what leases grant and is not used yet.
//! When a lease ends, what it held was either spent, or its worker has given it back and it is free again.

use sentinel_config::{AtLimit, Budget, Limits};
use sentinel_proto::v1;
use serde::{Deserialize, Serialize};

use super::{
    amounts::{Amounts, UNITS, limit},
    past::{Day, Past},
    window::{Period, Spent},
};
use crate::control::names::Names;

/// Milliseconds that a lease stands without a report.
pub const LEASE_TTL: u64 = 10_000;
/// Milliseconds after which a worker gives back a lease that nothing uses.
pub const LEASE_IDLE: u64 = 2_000;
/// A lease grants at most this part of what is left besides what its request needs, ...
const SHARE: u64 = 8;
/// ... and at most this many times what its request needs.
const REQUESTS: u64 = 32;
/// Leases of one account; each worker has one.
const MOST_LEASES: usize = 1_024;
/// Leases that have ended and are remembered, so that a late report of one is understood.
const MOST_ENDED: usize = 64;

/// What one budget counts for one run, agent, client or tenant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    pub budget: String,
    /// The names that tell the accounts of this budget apart. All others are empty.
    pub names: Names,
    /// When it was first asked for, in milliseconds since 1970.
    pub started_ms: u64,
    pub asked_ms: u64,
    spent: Spent,
    leases: Vec<Held>,
    ended: Vec<Ended>,
    /// Whether the event that the limit is near was sent since the account last had room; `told_spent`: that it is reached.
    told_warned: bool,
    told_spent: bool,
    #[serde(default)]
    past: Past,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Held {
    id: u64,
    worker: String,
    granted: Amounts,
    used: Amounts,
    /// The part of the window in which the lease was first granted.
    part_ms: u64,
    expires_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Ended {
    id: u64,
    /// What was counted as spent when it ended.
    counted: Amounts,
}

/// What a worker says of a lease.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub id: u64,
    pub used: Amounts,
    pub returned: bool,
}

/// What is asked of an account.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub budget: &'a Budget,
    pub worker: &'a str,
    pub needs: Amounts,
    /// The model has no known price, and the budget says `unpriced: refuse`.
    pub is_unpriced: bool,
    /// The id for a new lease, if one is needed.
    pub new_id: u64,
    pub now_ms: u64,
}

/// What an account answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccountAnswer {
    pub lease: Option<v1::Lease>,
    pub refused: Option<v1::Limit>,
    pub warned: Option<v1::Limit>,
    /// Whether the account has just come near the limit; `tells_spent`: whether it has just reached it.
    pub tells_warned: bool,
    pub tells_spent: bool,
}

impl Account {
    #[must_use]
    pub fn spent(&self) -> Amounts {
        self.spent.total()
    }

    /// When what counts was spent, as far as the window has parts.
    #[must_use]
    pub fn parts(&self) -> &[(u64, Amounts)] {
        self.spent.parts()
    }

    /// What counted on the last days.
    #[must_use]
    pub fn days(&self) -> &[Day] {
        self.past.days()
    }

    /// What leases grant and is not used yet.
    #[must_use]
    pub fn held(&self) -> Amounts {
        let held = self.leases.iter().map(|lease| lease.granted.less(lease.used));
        held.fold(Amounts::default(), Amounts::plus)
    }

    /// Brings the account up to the time `now_ms`. What is out of the window no longer counts. What a vanished worker held counts as spent.
    pub fn advance(&mut self, period: Period, now_ms: u64) {
        self.spent.roll(period);
        let (gone, stay): (Vec<Held>, Vec<Held>) =
            std::mem::take(&mut self.leases).into_iter().partition(|lease| lease.expires_ms <= now_ms);
        self.leases = stay;
        for lease in gone {
            self.spent.add(period, lease.granted.less(lease.used));
            self.end(lease.id, lease.granted.with(lease.used, u64::max));
        }
        self.past.note(now_ms, self.spent());
    }

    /// Undoes the grants since `before`, by restoring its leases.
    pub fn keep_leases_of(&mut self, before: &Self) {
        self.leases.clone_from(&before.leases);
    }

    fn end(&mut self, id: u64, counted: Amounts) {
        if self.ended.len() >= MOST_ENDED {
            self.ended.remove(0);
        }
        self.ended.push(Ended { id, counted });
    }

    /// Counts what was used of a lease. The same report a second time changes nothing.
    pub fn count(&mut self, told: Use, period: Period, now_ms: u64) {
        if let Some(at) = self.leases.iter().position(|lease| lease.id == told.id) {
            let Some(lease) = self.leases.get_mut(at) else { return };
            self.spent.add(period, told.used.less(lease.used));
            self.spent.take_back(lease.part_ms, period, lease.used.less(told.used));
            lease.used = told.used;
            lease.expires_ms = now_ms.saturating_add(LEASE_TTL);
            if told.returned {
                self.leases.remove(at);
                self.end(told.id, told.used);
            }
        } else if let Some(ended) = self.ended.iter_mut().find(|ended| ended.id == told.id) {
            // What the lease held was counted as spent when it ended. Only what was used beyond that is new.
            self.spent.add(period, told.used.less(ended.counted));
            ended.counted = ended.counted.with(told.used, u64::max);
        }
    }

    /// Counts what a worker let pass while no lease could be had.
    pub fn count_outside(&mut self, worker: &str, told: Use, period: Period, now_ms: u64) {
        let is_known = self.leases.iter().any(|lease| lease.id == told.id)
            || self.ended.iter().any(|ended| ended.id == told.id);
        if !is_known && self.leases.len() < MOST_LEASES {
            self.leases.push(Held {
                id: told.id,
                worker: format!("{worker} outside"),
                part_ms: period.part_ms,
                expires_ms: now_ms.saturating_add(LEASE_TTL),
                ..Held::default()
            });
        }
        self.count(told, period, now_ms);
    }

    /// Grants what a request needs, and as a rule more; or says which limit the request would cross. Call [`Self::advance`] first.
    pub fn reserve(&mut self, question: Question<'_>, period: Period) -> AccountAnswer {
        let Question { budget, worker, needs, is_unpriced, new_id, now_ms } = question;
        self.asked_ms = now_ms;
        if self.started_ms == 0 {
            self.started_ms = now_ms;
        }
        let at = self.leases.iter().position(|lease| lease.worker == worker);
        let mut lease = at.and_then(|at| self.leases.get(at).cloned()).unwrap_or_default();
        // What was used beyond the grant is counted as spent already, so the grant is raised to it.
        lease.granted = lease.granted.with(lease.used, u64::max);
        let mine = lease.granted.less(lease.used);
        let (spent, others) = (self.spent(), self.held().less(mine));
        let mut answer = AccountAnswer {
            refused: self.refused(&budget.limits, question, spent, others, mine, period),
            warned: self.warned(budget, spent, others.plus(mine), period),
            ..AccountAnswer::default()
        };
        let too_many = at.is_none() && self.leases.len() >= MOST_LEASES;
        if (answer.refused.is_none() || budget.at_limit == AtLimit::Record) && !too_many {
            for unit in UNITS {
                let Some(most) = limit(&budget.limits, unit) else { continue };
                let need = needs.get(unit).saturating_sub(mine.get(unit));
                let counted = spent.get(unit).saturating_add(others.get(unit)).saturating_add(mine.get(unit));
                let granted = need.saturating_add(extra(budget, most, counted, need, needs.get(unit)));
                lease.granted.set(unit, lease.granted.get(unit).saturating_add(granted));
            }
            lease.expires_ms = now_ms.saturating_add(LEASE_TTL);
            if lease.id == 0 {
                (lease.id, lease.part_ms) = (new_id, period.part_ms);
                worker.clone_into(&mut lease.worker);
            }
            answer.lease = Some(v1::Lease {
                id: lease.id,
                granted: lease.granted.messages(&budget.limits),
                ttl_ms: u32::try_from(ttl(&budget.limits, self.started_ms, now_ms)).unwrap_or(u32::MAX),
                idle_ms: u32::try_from(LEASE_IDLE).unwrap_or(u32::MAX),
            });
            match at.and_then(|at| self.leases.get_mut(at)) {
                Some(known) => *known = lease,
                None => self.leases.push(lease),
            }
        }
        if let Some(limit) = answer.refused.as_ref().filter(|_| !is_unpriced) {
            self.past.refuse(now_ms, limit);
        }
        answer.tells_warned = answer.warned.is_some() && !self.told_warned;
        answer.tells_spent = answer.refused.is_some() && !is_unpriced && !self.told_spent;
        self.told_warned = answer.warned.is_some();
        self.told_spent = answer.refused.is_some() && (!is_unpriced || self.told_spent);
        answer
    }

    /// The limit that the request would cross.
    fn refused(
        &self,
        limits: &Limits,
        question: Question<'_>,
        spent: Amounts,
        others: Amounts,
        mine: Amounts,
        period: Period,
    ) -> Option<v1::Limit> {
        let Question { needs, is_unpriced, now_ms, .. } = question;
        let told = |unit: v1::Unit, most: u64| v1::Limit {
            unit: unit.into(),
            limit: most,
            spent: spent.get(unit),
            held: others.plus(mine).get(unit),
            renews_in_ms: period.renews_ms.map_or(0, |renews| renews.saturating_sub(now_ms)),
            seconds: false,
        };
        if let (true, Some(most)) = (is_unpriced, limits.nano_usd) {
            return Some(told(v1::Unit::NanoUsd, most));
        }
        if let Some(limit) = limits.seconds {
            let lived = now_ms.saturating_sub(self.started_ms).checked_div(1_000).unwrap_or(0);
            if lived >= limit {
                return Some(v1::Limit { limit, spent: lived, seconds: true, ..v1::Limit::default() });
            }
        }
        UNITS.into_iter().find_map(|unit| {
            let most = limit(limits, unit)?;
            let counted = spent.get(unit).saturating_add(others.get(unit)).saturating_add(mine.get(unit));
            let need = needs.get(unit).saturating_sub(mine.get(unit));
            (counted.saturating_add(need) > most).then(|| told(unit, most))
        })
    }

    /// The first limit of which `warn_at` is spent, so that the model gets a hint.
    fn warned(&self, budget: &Budget, spent: Amounts, held: Amounts, period: Period) -> Option<v1::Limit> {
        if budget.warn_at >= 1.0 {
            return None;
        }
        let now_ms = self.asked_ms;
        if let Some(limit) = budget.limits.seconds {
            let lived = now_ms.saturating_sub(self.started_ms).checked_div(1_000).unwrap_or(0);
            if lived >= part(limit, budget.warn_at) {
                return Some(v1::Limit { limit, spent: lived, seconds: true, ..v1::Limit::default() });
            }
        }
        UNITS.into_iter().find_map(|unit| {
            let most = limit(&budget.limits, unit)?;
            (spent.get(unit) >= part(most, budget.warn_at)).then(|| v1::Limit {
                unit: unit.into(),
                limit: most,
                spent: spent.get(unit),
                held: held.get(unit),
                renews_in_ms: period.renews_ms.map_or(0, |renews| renews.saturating_sub(now_ms)),
                seconds: false,
            })
        })
    }
}

/// What a lease grants beyond what its request needs: nothing from `warn_at` on, and never so much that it would pass `warn_at`. So the model
/// gets its hint in time, and near the limit no worker holds what another one could use.
fn extra(budget: &Budget, most: u64, counted: u64, need: u64, whole: u64) -> u64 {
    let left = part(most, budget.warn_at).saturating_sub(counted.saturating_add(need));
    left.checked_div(SHARE).unwrap_or(0).min(whole.saturating_mul(REQUESTS))
}

/// A share of a whole.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share lies between 0 and 1, and a cast saturates"
)]
fn part(whole: u64, share: f64) -> u64 {
    (whole as f64 * share).ceil() as u64
}

/// The lifetime of a lease. It ends at the latest when the run reaches its limit of seconds.
fn ttl(limits: &Limits, started_ms: u64, now_ms: u64) -> u64 {
    let Some(seconds) = limits.seconds else { return LEASE_TTL };
    let end = started_ms.saturating_add(seconds.saturating_mul(1_000));
    end.saturating_sub(now_ms).clamp(1, LEASE_TTL)
}

#[cfg(test)]
mod tests {
    use sentinel_config::Config;

    use super::*;

    const FOREVER: Period = Period { part_ms: 0, since_ms: 0, renews_ms: None };

    fn budget(rest: &str) -> Budget {
        let json = format!(r#"{{"budgets": [{{"name": "b", {rest}}}]}}"#);
        Config::from_json(json.as_bytes()).unwrap().budgets.remove(0)
    }

    fn tokens(tokens: u64) -> Amounts {
        Amounts { tokens, ..Amounts::default() }
    }

    fn ask(account: &mut Account, budget: &Budget, worker: &str, needs: u64, now_ms: u64) -> AccountAnswer {
        account.advance(FOREVER, now_ms);
        let new_id = now_ms.saturating_add(1).saturating_add(worker.len() as u64);
        let needs = tokens(needs);
        account.reserve(Question { budget, worker, needs, is_unpriced: false, new_id, now_ms }, FOREVER)
    }

    fn granted(answer: &AccountAnswer) -> u64 {
        answer.lease.as_ref().unwrap().granted[0].value
    }

    fn used(id: u64, amount: u64, returned: bool) -> Use {
        Use { id, used: tokens(amount), returned }
    }

    #[test]
    fn a_lease_grants_more_than_its_request_needs_but_never_beyond_the_hint_or_the_limit() {
        let budget = budget(r#""limits": {"tokens": 10000}"#);
        let mut account = Account::default();
        let first = ask(&mut account, &budget, "w", 100, 0);
        assert_eq!(granted(&first), 100 + 7_900 / 8);
        let mut total = granted(&first);
        for n in 0..200 {
            let worker = "w".repeat(n % 5 + 2);
            let answer = ask(&mut account, &budget, &worker, 500, 10);
            let all = account.spent().plus(account.held()).tokens;
            assert!(all <= 10_000, "{all}");
            if answer.refused.is_some() {
                assert_eq!(answer.lease, None);
                total = all;
                break;
            }
            // The next time it needs a new one.
            let id = answer.lease.unwrap().id;
            let lease = account.leases.iter().find(|lease| lease.id == id).unwrap().granted.tokens;
            account.count(used(id, lease, false), FOREVER, 10);
        }
        assert!(total > 9_000, "{total} of 10000 could be used");
    }

    #[test]
    fn what_a_vanished_worker_held_counts_as_spent_and_what_is_given_back_is_free() {
        let budget = budget(r#""limits": {"tokens": 1000}"#);
        let mut account = Account::default();
        let [a, b] = ["a", "bb"].map(|worker| ask(&mut account, &budget, worker, 100, 0).lease.unwrap());
        account.count(used(a.id, 40, false), FOREVER, 5_000);
        account.count(used(b.id, 60, true), FOREVER, 5_000);
        account.advance(FOREVER, 5_000);
        assert_eq!(account.spent(), tokens(100));
        assert_eq!(account.held().tokens, a.granted[0].value - 40);
        account.advance(FOREVER, 5_000 + LEASE_TTL);
        assert_eq!(account.spent(), tokens(60 + a.granted[0].value));
        assert!(account.held().is_nothing());
        // Late and repeated reports count only what was used beyond the amount already counted.
        account.count(used(a.id, 90, true), FOREVER, 20_000);
        account.count(used(b.id, 60, true), FOREVER, 20_000);
        account.count(used(12_345, 500, true), FOREVER, 20_000);
        assert_eq!(account.spent(), tokens(60 + a.granted[0].value));
        let beyond = a.granted[0].value + 7;
        for _ in 0..2 {
            account.count(used(a.id, beyond, true), FOREVER, 20_000);
            assert_eq!(account.spent(), tokens(60 + beyond));
        }
    }

    #[test]
    fn what_took_less_than_was_reserved_is_put_right_and_more_counts_too() {
        let budget = budget(r#""limits": {"tokens": 1000}"#);
        let mut account = Account::default();
        let id = ask(&mut account, &budget, "w", 400, 0).lease.unwrap().id;
        for (amount, spent) in [(400, 400), (400, 400), (150, 150), (900, 900), (1_200, 1_200)] {
            account.count(used(id, amount, false), FOREVER, 1_000);
            assert_eq!(account.spent().tokens, spent);
        }
        let refused = ask(&mut account, &budget, "w", 1, 1_000).refused.unwrap();
        assert_eq!((refused.limit, refused.spent, refused.held), (1_000, 1_200, 0));
    }

    #[test]
    fn the_same_worker_gets_the_same_lease_with_more_in_it() {
        let budget = budget(r#""limits": {"tokens": 1000}, "warn_at": 0.001"#);
        let mut account = Account::default();
        let first = ask(&mut account, &budget, "w", 100, 0);
        assert_eq!(granted(&first), 100, "no more near the hint");
        let id = first.lease.unwrap().id;
        let same = ask(&mut account, &budget, "w", 100, 1);
        assert_eq!((same.lease.as_ref().unwrap().id, granted(&same)), (id, 100), "it has what it needs");
        account.count(used(id, 130, false), FOREVER, 2);
        let more = ask(&mut account, &budget, "w", 100, 3);
        assert_eq!(granted(&more), 230, "also what went beyond the grant");
        assert!(more.warned.is_some() && more.tells_warned);
        assert!(!ask(&mut account, &budget, "w", 100, 4).tells_warned, "once");
    }

    #[test]
    fn a_budget_that_records_lets_pass_and_counts_on() {
        let budget = budget(r#""limits": {"tokens": 100}, "at_limit": "record""#);
        let mut account = Account::default();
        for n in 1..=5 {
            let answer = ask(&mut account, &budget, "w", 80, n);
            let id = answer.lease.unwrap().id;
            account.count(used(id, 80 * n, false), FOREVER, n);
            assert_eq!((answer.refused.is_some(), answer.tells_spent), (n > 1, n == 2));
        }
        assert_eq!(account.spent(), tokens(400));
    }

    #[test]
    fn the_time_of_a_run_is_a_limit_and_no_lease_outlives_it() {
        let budget = budget(r#""limits": {"seconds": 60}"#);
        let mut account = Account::default();
        assert!(ask(&mut account, &budget, "w", 5, 1_000).warned.is_none());
        let near = ask(&mut account, &budget, "w", 5, 58_000);
        assert_eq!(near.lease.unwrap().ttl_ms, 3_000);
        assert_eq!(near.warned.unwrap().spent, 57);
        let over = ask(&mut account, &budget, "w", 5, 61_000).refused.unwrap();
        assert!(over.seconds && over.limit == 60 && over.spent == 60);
    }
}
