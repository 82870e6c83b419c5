//! Many requests of several workers at once. The service hears and answers their calls in any order. Together they cross a limit
//! by no more than the requests in flight were underestimated.

use std::{borrow::Cow, cell::RefCell, collections::HashMap, rc::Rc};

use sentinel_config::Config;
use sentinel_detect::step::Memo;
use sentinel_llm_api::usage::Usage;

use super::{
    amounts::Amounts,
    leases::Leases,
    spending::{Need, Spending, Took},
};
use crate::{
    control::{BudgetState, Directives, Grant, LeaseUse, Limit, Reservation, ReserveReply},
    host::{Facts, Process, Secret, Stored},
    passes::Surroundings,
    turn::Names,
};

/// A worker without a host.
struct Worker {
    leases: Rc<Leases>,
    clock: Rc<RefCell<u64>>,
    random: RefCell<u64>,
    slots: RefCell<HashMap<String, (Vec<u8>, u32)>>,
}

impl Process for Worker {
    fn now(&self) -> u64 {
        *self.clock.borrow()
    }
    fn random(&self) -> u64 {
        let mut random = self.random.borrow_mut();
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *random
    }
    fn load(&self, key: &str) -> Stored {
        let (bytes, version) = self.slots.borrow().get(key).cloned().unzip();
        Stored { bytes, version }
    }
    fn store(&self, key: &str, bytes: &[u8], version: Option<u32>) -> bool {
        self.slots.borrow_mut().insert(key.to_owned(), (bytes.to_vec(), version.unwrap_or(0) + 1));
        true
    }
}

impl Facts for Worker {
    fn process(&self) -> &dyn Process {
        self
    }
    fn request_header(&self, _name: &str) -> Option<Cow<'_, [u8]>> {
        None
    }
    fn request_header_values(&self, _name: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
    fn request_header_names(&self) -> Vec<String> {
        Vec::new()
    }
    fn request_body(&self) -> Option<Cow<'_, [u8]>> {
        None
    }
    fn response_header(&self, _name: &str) -> Option<Cow<'_, [u8]>> {
        None
    }
    fn response_header_values(&self, _name: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
    fn response_chunk(&self) -> Option<Cow<'_, [u8]>> {
        None
    }
    fn secret(&self) -> Secret {
        [1, 2]
    }
    fn memo(&self) -> Rc<Memo> {
        Rc::default()
    }
    fn directives(&self) -> Rc<Directives> {
        Rc::default()
    }
    fn leases(&self) -> Rc<Leases> {
        Rc::clone(&self.leases)
    }
}

/// The account of the one budget, by the rules of the service.
#[derive(Default)]
struct Account {
    limit: u64,
    spent: u64,
    leases: HashMap<u64, Held>,
    ended: HashMap<u64, u64>,
    calls: u64,
}

#[derive(Clone, Default)]
struct Held {
    worker: usize,
    granted: u64,
    used: u64,
}

impl Account {
    fn held(&self) -> u64 {
        self.leases.values().map(|lease| lease.granted.saturating_sub(lease.used)).sum()
    }

    fn count(&mut self, told: &LeaseUse) {
        let [_, now, ..] = told.used.0;
        if let Some(lease) = self.leases.get_mut(&told.id) {
            self.spent = self.spent + now - lease.used;
            lease.used = now;
            if told.is_returned {
                self.leases.remove(&told.id);
                self.ended.insert(told.id, now);
            }
        } else if let Some(counted) = self.ended.get_mut(&told.id) {
            self.spent += now.saturating_sub(*counted);
            *counted = now.max(*counted);
        }
    }

    fn reserve(&mut self, worker: usize, asked: &Reservation) -> ReserveReply {
        self.calls += 1;
        for told in &asked.leases {
            self.count(told);
        }
        let [_, needs, ..] = asked.probable.0;
        let known = self.leases.iter().find(|(_, lease)| lease.worker == worker);
        let (id, mut lease) = known.map_or_else(
            || (asked.lease, Held { worker, ..Held::default() }),
            |(id, lease)| (*id, lease.clone()),
        );
        lease.granted = lease.granted.max(lease.used);
        let missing = needs.saturating_sub(lease.granted - lease.used);
        let counted = self.spent + self.held() + missing;
        let mut state = BudgetState { budget: "b".into(), account: 5, ..BudgetState::default() };
        if counted > self.limit {
            state.refused = Some(Limit { limit: self.limit, spent: self.spent, ..Limit::default() });
        } else {
            let extra = ((self.limit * 8 / 10).saturating_sub(counted) / 8).min(needs * 32);
            lease.granted += missing + extra;
            let granted = Amounts([0, lease.granted, 0, 0, 0]);
            state.lease = Some(Grant { id, granted, ttl: 10_000, idle: 2_000 });
            self.leases.insert(id, lease);
        }
        ReserveReply { budgets: vec![state], price: None }
    }
}

/// A request on its way.
enum Stage {
    /// Its call is on the way to the service, or the reply to it is on the way back.
    Calls(Box<Reservation>),
    Replied(Box<ReserveReply>),
    /// The provider answers.
    Passing,
}

struct Flight {
    worker: usize,
    number: u64,
    spending: Box<Spending>,
    stage: Stage,
}

const PROBABLE: u64 = 1_100;
/// An answer that takes more than expected takes this much more.
const MORE: u64 = 100;

fn need(number: u64) -> Need {
    Need {
        // Each request has a run of its own, so what it takes is guessed.
        names: Names { agent: "a".into(), run: number.to_string(), ..Names::default() },
        dialect: "openai_chat",
        model: "m".into(),
        usage: Usage { input: 100, cached: 0, output: 1_000 },
        tool_calls: 0,
        bytes: 400,
    }
}

/// What the provider bills for a request.
fn real(number: u64) -> u64 {
    match number % 3 {
        0 => PROBABLE + MORE,
        1 => 150,
        _ => PROBABLE - 100,
    }
}

fn simulate(seed: u64, limit: u64, workers: usize, callers: usize) -> (u64, u64, u64) {
    let json = br#"{"control":{"enabled":true},"budgets":[{"name":"b","per":"agent","window":"1h","limits":{"tokens":200000}}]}"#;
    let config = Config::from_json(json).unwrap();
    let clock = Rc::new(RefCell::new(1_000_000_u64));
    let workers: Vec<Worker> = (0..workers)
        .map(|number| Worker {
            leases: Rc::new(Leases::new(json)),
            clock: Rc::clone(&clock),
            random: RefCell::new(seed * 1_000 + number as u64 + 1),
            slots: RefCell::default(),
        })
        .collect();
    let mut account = Account { limit, ..Account::default() };
    let (mut flights, mut billed, mut requests) = (Vec::<Flight>::new(), 0, 0_u64);
    let mut state = seed;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    // Callers that were refused do not come again.
    let (mut callers, mut in_a_row) = (callers, 0);
    while callers > 0 || !flights.is_empty() {
        *clock.borrow_mut() += draw(40) as u64;
        if flights.len() < callers && draw(3) == 0 {
            let worker = draw(workers.len());
            let host = &workers[worker];
            requests += 1;
            let mut spending = Spending::begin(&config, host, need(requests), &mut Vec::new()).unwrap();
            let stage = if spending.has_to_ask() {
                Stage::Calls(Box::new(spending.ask(&config, host).unwrap()))
            } else {
                Stage::Passing
            };
            flights.push(Flight { worker, number: requests, spending, stage });
            continue;
        }
        if draw(20) == 0 {
            let host = &workers[draw(workers.len())];
            for told in host.leases.report(host.process().now()) {
                account.count(&told);
            }
            host.leases.reported(host.process().now());
            continue;
        }
        if flights.is_empty() {
            continue;
        }
        let mut flight = flights.swap_remove(draw(flights.len()));
        let host = &workers[flight.worker];
        let around = Surroundings { config: &config, host };
        match flight.stage {
            Stage::Calls(asked) => {
                let reply = account.reserve(flight.worker, &asked);
                flights.push(Flight { stage: Stage::Replied(Box::new(reply)), ..flight });
            }
            Stage::Replied(reply) => {
                let (mut findings, mut notes) = (Vec::new(), Vec::new());
                let again = flight.spending.replied(&around, Ok(*reply), &mut findings, &mut notes);
                if let Some(asked) = again {
                    flights.push(Flight { stage: Stage::Calls(Box::new(asked)), ..flight });
                } else if findings.is_empty() {
                    flights.push(Flight { stage: Stage::Passing, ..flight });
                } else {
                    flight.spending.release(host);
                    callers -= 1;
                    in_a_row += 1;
                }
            }
            Stage::Passing => {
                let real = real(flight.number);
                billed += real;
                let usage = Usage { input: 100, cached: 0, output: real - 100 };
                flight.spending.settle(&around, Took::All(usage));
            }
        }
        assert!(in_a_row < 1_000_000);
    }
    for worker in &workers {
        *clock.borrow_mut() += 5_000;
        for told in worker.leases.report(worker.process().now()) {
            account.count(&told);
        }
        worker.leases.reported(worker.process().now());
        assert!(!worker.leases.has_any(), "all is given back");
    }
    assert_eq!((account.spent, account.held()), (billed, 0), "all is counted, once");
    (billed, requests, account.calls)
}

#[test]
fn a_limit_is_overrun_by_no_more_than_what_was_in_flight_was_misjudged() {
    // With the small limit, the first requests of all callers together need more than there is.
    for limit in [12_000, 200_000] {
        for seed in 1..60 {
            for (workers, callers) in [(1, 1), (1, 32), (1, 64), (4, 16), (4, 64)] {
                let (billed, requests, _) = simulate(seed, limit, workers, callers);
                let bound = limit + MORE * callers as u64;
                let all = format!("{seed}: {workers} workers, {callers} callers: {billed} of {bound}");
                assert!(billed <= bound, "{all}");
                assert!(billed > limit / 3, "{all} for {requests} requests: it can be used");
            }
        }
    }
}

#[test]
fn far_from_the_limit_few_requests_ask() {
    let (_, requests, calls) = simulate(3, 200_000, 1, 1);
    assert!(calls * 3 < requests, "{calls} calls for {requests} requests");
}
