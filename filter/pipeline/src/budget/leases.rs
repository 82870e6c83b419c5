//! What a worker holds of budgets: a lease in each account that its requests spent from lately. All requests of a worker share
//! the leases, so a request costs no call if the leases have enough. The rules are those of proto/sentinel/v1/control.proto.

use std::{
    cell::{OnceCell, RefCell},
    mem,
};

use sentinel_config::changeable;
use sentinel_llm_api::usage::Usage;
use sentinel_text::digest;

use super::{
    amounts::{Amounts, Price},
    by_key::ByKey,
    past::Past,
};
use crate::{
    control::{Grant, LeaseUse, WorkerId},
    turn::Names,
};

/// Most leases that a worker holds, and most that it has given back without telling the service yet.
const MOST: usize = 4_096;
/// Most prices of models, and most runs whose last answers are known. If there are more, all are forgotten.
const MOST_PRICES: usize = 256;
const MOST_RUNS: usize = 4_096;
/// Calls without a reply that may have granted something.
const MOST_LOST: usize = 64;
/// Longest configuration that is sent (bytes).
const LONGEST_CONFIGURATION: usize = 256 << 10;
/// The `ttl` of what passed without a lease (milliseconds).
const TTL: u64 = 10_000;
const IDLE: u64 = 2_000;

/// What the requests of a worker share.
#[derive(Debug, Default)]
pub struct Leases {
    table: RefCell<Table>,
    configuration: String,
    pub configuration_digest: u64,
    pub worker: OnceCell<WorkerId>,
}

#[derive(Debug, Default)]
struct Table {
    live: ByKey<Box<Lease>>,
    /// Leases that serve no new request. They stay here until the service was told so.
    retired: Vec<Lease>,
    /// The leases in the report that is under way.
    sent: Vec<(u64, LeaseUse)>,
    sent_at: u64,
    prices: ByKey<Price>,
    runs: ByKey<Past>,
    /// The service has the worker's configuration.
    is_known: bool,
}

/// A lease, or what passed without one.
#[derive(Debug, Default)]
struct Lease {
    /// The account as the worker names it.
    key: u64,
    id: u64,
    account: u64,
    /// Names and model of the requests that passed without a lease. `None` for a lease.
    outside: Option<Outside>,
    granted: Amounts,
    /// What was used, with what the requests under way will probably take.
    used: Amounts,
    /// `used` as the service knows it, and since when.
    told: Amounts,
    told_at: u64,
    /// Until when it serves requests.
    expires: u64,
    ttl: u64,
    idle: u64,
    /// Not renewed by reports: the run's time is limited.
    is_timed: bool,
    touched: u64,
    under_way: u32,
}

/// The requests that passed without a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    pub names: Names,
    pub dialect: &'static str,
    pub model: String,
    /// `used` has the money too.
    pub is_priced: bool,
}

/// What a request needs of an account.
#[derive(Clone, Copy, Debug)]
pub struct LeaseNeed {
    pub key: u64,
    pub limited: [bool; 5],
    pub amounts: Amounts,
}

/// What a request has taken of a lease.
#[derive(Clone, Copy, Debug)]
pub struct Take {
    pub key: u64,
    pub id: u64,
    pub amounts: Amounts,
    /// The lease has enough, or the service was asked for this amount.
    pub is_sure: bool,
}

impl Lease {
    fn said(&self, is_returned: bool) -> LeaseUse {
        let outside = self.outside.clone();
        LeaseUse { id: self.id, account: self.account, used: self.used, is_returned, outside }
    }

    fn take(&mut self, amounts: Amounts, is_sure: bool, now: u64) -> Take {
        self.used = self.used.plus(amounts);
        self.under_way = self.under_way.saturating_add(1);
        self.touched = now;
        Take { key: self.key, id: self.id, amounts, is_sure }
    }

    fn is_idle(&self, now: u64) -> bool {
        self.under_way == 0 && now.saturating_sub(self.touched) >= self.idle
    }

    fn has_news(&self, now: u64) -> bool {
        let half = self.ttl.checked_div(2).unwrap_or(0);
        self.used != self.told || self.outside.is_none() && now.saturating_sub(self.told_at) >= half
    }
}

impl Table {
    fn retire(&mut self, key: u64) {
        if let Some(lease) = self.live.remove(key) {
            if self.retired.len() >= MOST {
                // The service counts a lease as spent if it hears no more of it.
                self.retired.remove(0);
            }
            self.retired.push(*lease);
        }
    }

    /// Whether there is room for one more.
    fn make_room(&mut self) -> bool {
        if self.live.len() < MOST {
            return true;
        }
        let free = self.live.values().filter(|lease| lease.under_way == 0 && lease.outside.is_none());
        let oldest = free.min_by_key(|lease| lease.touched).map(|lease| lease.key);
        oldest.is_some_and(|key| {
            self.retire(key);
            true
        })
    }

    #[inline(never)]
    fn find(&mut self, key: u64, id: u64) -> Option<&mut Lease> {
        let retired = self.retired.iter_mut().filter(|lease| lease.key == key);
        self.live
            .get_mut(key)
            .map(|lease| &mut **lease)
            .into_iter()
            .chain(retired)
            .find(|lease| lease.id == id)
    }
}

impl Leases {
    /// `source`: the worker's configuration.
    pub fn new(source: &[u8]) -> Self {
        let configuration = changeable(source, LONGEST_CONFIGURATION);
        Self { configuration_digest: digest(configuration.as_bytes()), configuration, ..Self::default() }
    }

    fn with<T: Default>(&self, act: impl FnOnce(&mut Table) -> T) -> T {
        self.table.try_borrow_mut().map(|mut table| act(&mut table)).unwrap_or_default()
    }

    /// The configuration, where it is to be sent.
    pub fn configuration(&self, is_wanted: bool) -> String {
        if is_wanted { self.configuration.clone() } else { String::new() }
    }

    pub fn is_known(&self) -> bool {
        self.with(|table| table.is_known)
    }

    pub fn set_known(&self, is_known: bool) {
        self.with(|table| table.is_known = is_known);
    }

    /// Takes all that is wanted, or nothing. `is_asked`: the service was just asked, so no lease has expired.
    pub fn take(&self, wanted: &[LeaseNeed], is_asked: bool, now: u64) -> Option<Vec<Take>> {
        self.with(|table| {
            let covers = |wanted: &LeaseNeed| {
                table.live.get(wanted.key).is_some_and(|lease| {
                    let left = lease.granted.less(lease.used);
                    (is_asked || now < lease.expires) && left.covers(wanted.amounts, wanted.limited)
                })
            };
            if !wanted.iter().all(covers) {
                return None;
            }
            Some(Self::take_what_there_is(table, wanted, true, now))
        })
    }

    /// Takes from the leases that exist, even if they do not have enough. Either the service is asked for it, or it does not answer.
    pub fn take_ahead(&self, wanted: &[LeaseNeed], is_sure: bool, now: u64) -> Vec<Take> {
        self.with(|table| Self::take_what_there_is(table, wanted, is_sure, now))
    }

    fn take_what_there_is(table: &mut Table, wanted: &[LeaseNeed], is_sure: bool, now: u64) -> Vec<Take> {
        let take =
            |wanted: &LeaseNeed| Some(table.live.get_mut(wanted.key)?.take(wanted.amounts, is_sure, now));
        wanted.iter().filter_map(take).collect()
    }

    /// Takes the amounts without a lease. The service is told later.
    pub fn take_outside(&self, wanted: LeaseNeed, id: u64, outside: Outside, now: u64) -> Option<Take> {
        let LeaseNeed { key, amounts, .. } = wanted;
        self.with(|table| {
            if table.live.get(key).is_none() {
                if !table.make_room() {
                    return None;
                }
                let outside = Some(outside);
                let lease = Lease { key, id, outside, ttl: TTL, idle: IDLE, ..Lease::default() };
                table.live.insert(key, Box::new(lease));
            }
            table.live.get_mut(key).map(|lease| lease.take(amounts, true, now))
        })
    }

    /// Replaces what a request would probably take with what it has really taken.
    pub fn put_right(&self, take: &Take, real: Amounts, now: u64) {
        self.with(|table| {
            if let Some(lease) = table.find(take.key, take.id) {
                lease.used = lease.used.plus(real).less(take.amounts);
                lease.under_way = lease.under_way.saturating_sub(1);
                lease.touched = now;
            }
        });
    }

    /// What the service is told about the leases in these accounts when it is asked.
    pub fn known(&self, wanted: &[LeaseNeed]) -> Vec<LeaseUse> {
        let is_wanted = |key: u64| wanted.iter().any(|wanted| wanted.key == key);
        self.with(|table| {
            let live = wanted.iter().filter_map(|wanted| table.live.get(wanted.key));
            let live = live.map(|lease| lease.said(false));
            let retired = table.retired.iter().filter(|lease| is_wanted(lease.key));
            live.chain(retired.map(|lease| lease.said(lease.under_way == 0))).collect()
        })
    }

    /// The service has granted something in an account.
    pub fn grant(&self, key: u64, account: u64, grant: Grant, is_timed: bool, asked_at: u64) {
        self.with(|table| {
            let Grant { id, granted, ttl, idle } = grant;
            if table.live.get(key).is_some_and(|lease| lease.id != id) {
                table.retire(key);
            }
            if table.live.get(key).is_none() {
                if !table.make_room() {
                    return;
                }
                let lease =
                    Lease { key, id, account, told_at: asked_at, touched: asked_at, ..Lease::default() };
                table.live.insert(key, Box::new(lease));
            }
            if let Some(lease) = table.live.get_mut(key) {
                lease.granted = lease.granted.or_more(granted);
                (lease.ttl, lease.idle, lease.is_timed) = (ttl, idle, is_timed);
                // If the time of the run is limited, the last reply counts.
                let expires = asked_at.saturating_add(ttl);
                lease.expires = if is_timed { expires } else { lease.expires.max(expires) };
            }
        });
    }

    /// Remembers that a call without a reply may have made a lease with this id.
    pub fn lose(&self, id: u64, names: &Names) {
        self.with(|table| {
            let is_lost = |lease: &&Lease| lease.outside.is_some();
            if table.retired.iter().filter(is_lost).count() < MOST_LOST {
                let outside = Some(Outside { names: names.clone(), is_priced: true, ..Outside::default() });
                table.retired.push(Lease { id, outside, ..Lease::default() });
            }
        });
    }

    /// What the next report says of the leases. A lease that nothing uses is given back with it.
    pub fn report(&self, now: u64) -> Vec<LeaseUse> {
        self.with(|table| {
            let idle = table.live.values().filter(|lease| lease.is_idle(now));
            let idle: Vec<(u64, bool)> = idle.map(|lease| (lease.key, lease.outside.is_some())).collect();
            for (key, is_outside) in idle {
                if !is_outside {
                    table.retire(key);
                } else if table.live.get(key).is_some_and(|lease| lease.used == lease.told) {
                    table.live.remove(key);
                }
            }
            let live = table.live.values().filter(|lease| lease.has_news(now));
            let live = live.map(|lease| (lease.key, lease.said(false)));
            let retired = table.retired.iter().filter(|lease| lease.under_way == 0 || lease.has_news(now));
            let retired = retired.map(|lease| (lease.key, lease.said(lease.under_way == 0)));
            let sent: Vec<_> = live.chain(retired).take(MOST).collect();
            let told = sent.iter().map(|(_, said)| said.clone()).collect();
            (table.sent, table.sent_at) = (sent, now);
            told
        })
    }

    /// Whether a report is to be sent for them.
    pub fn has_any(&self) -> bool {
        self.with(|table| table.live.len() > 0 || !table.retired.is_empty())
    }

    /// The last report has its reply.
    pub fn reported(&self, now: u64) {
        self.with(|table| {
            let sent_at = table.sent_at;
            for (key, said) in mem::take(&mut table.sent) {
                if said.is_returned {
                    table.retired.retain(|lease| lease.id != said.id || lease.key != key);
                } else if let Some(lease) = table.find(key, said.id) {
                    (lease.told, lease.told_at) = (said.used, sent_at);
                    // A lease that has expired here may have expired in the service before the report came.
                    if now < lease.expires && !lease.is_timed {
                        lease.expires = lease.expires.max(sent_at.saturating_add(lease.ttl));
                    }
                }
            }
        });
    }

    /// The price of the model with this key, as the service tells it.
    pub fn price(&self, model: u64) -> Option<Price> {
        self.with(|table| table.prices.get(model).cloned())
    }

    pub fn set_price(&self, model: u64, price: &Price) {
        self.with(|table| {
            table.prices.keep_below(MOST_PRICES);
            table.prices.insert(model, price.clone());
        });
    }

    /// What the run's last answers say about the next one.
    pub fn past(&self, run: u64) -> Past {
        self.with(|table| table.runs.get(run).copied().unwrap_or_default())
    }

    pub fn learn(&self, run: u64, bytes: usize, usage: &Usage) {
        self.with(|table| {
            let past = table.runs.get(run).copied().unwrap_or_default().after(bytes, usage);
            table.runs.keep_below(MOST_RUNS);
            table.runs.insert(run, past);
        });
    }
}
