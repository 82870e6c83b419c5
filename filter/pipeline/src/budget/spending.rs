//! What one request takes from the budgets of its agent, from the first check to the end of its answer.

use sentinel_config::{BudgetPer, Config, OnUnavailable, Payer, Unpriced};
use sentinel_detect::verdict::Finding;
use sentinel_llm_api::usage::Usage;
use sentinel_text::{digest, digest_pair};

use super::{
    amounts::{Amounts, Price, limited},
    leases::{LeaseNeed, Leases, Outside, Take},
    words,
};
use crate::{
    bypass::Bypass,
    control::{BudgetState, Reservation, ReserveReply},
    host::Facts,
    metric::{Metric, Reserved},
    note::Note,
    passes::Surroundings,
    service_outcome::ServiceOutcome,
    turn::Names,
};

/// Most calls of the service for one request.
const MOST_CALLS: u8 = 4;
/// Goes into the keys of what passes without a lease.
const OUTSIDE: u64 = 0x6f75_7473_6964_6521;

/// What a request takes of its budgets.
#[derive(Debug)]
pub struct Spending {
    need: Need,
    wants: Vec<Want>,
    takes: Vec<Take>,
    cost: Cost,
    /// Id of a lease that the last call may have made, and whether it had the configuration.
    lease: u64,
    has_sent_configuration: bool,
    calls: u8,
    asked_at: u64,
    /// A budget allows no more. If that is only recorded, what the request takes is still counted.
    is_refused: bool,
    /// Key of the hint that little is left. A run gets it once.
    pub warning: Option<u64>,
}

/// What a request will probably take.
#[derive(Clone, Debug)]
pub struct Need {
    pub names: Names,
    /// Empty for a request to an MCP server, which costs nothing.
    pub dialect: &'static str,
    /// Empty where it is not known.
    pub model: String,
    pub usage: Usage,
    pub tool_calls: u64,
    /// Length of the request, if later requests can be estimated from it; otherwise 0.
    pub bytes: usize,
}

impl Need {
    fn is_free(&self) -> bool {
        self.dialect.is_empty()
    }
}

/// A budget that counts the request.
#[derive(Debug)]
struct Want {
    budget: String,
    unpriced: Unpriced,
    /// It has a limit of seconds.
    is_timed: bool,
    wanted: LeaseNeed,
}

/// What the model costs.
#[derive(Clone, Debug)]
enum Cost {
    /// No budget counts money.
    Free,
    /// By the operator's price table.
    Own,
    /// By the price that the service tells.
    Told(Price),
    Unknown,
}

/// What a request took, now that it is over.
#[derive(Clone, Copy, Debug)]
pub enum Took {
    /// It is not known: as much as was estimated.
    Probable,
    /// The provider has refused it.
    Nothing,
    /// The answer is whole.
    All(Usage),
    /// The answer was cut off: there may have been more of it.
    AtLeast(Usage),
}

/// Digest of the names of a run. The last answers of this run say what the next one will probably take.
pub fn run(Names { tenant, client, agent, run, history }: &Names) -> u64 {
    digest_of([tenant, client, agent, run], *history)
}

#[inline(never)]
fn digest_of(names: [&str; 4], history: u64) -> u64 {
    names.into_iter().fold(history, |all, name| digest_pair(all, digest(name.as_bytes())))
}

/// Tells the accounts of a budget apart, in the same way as the service.
fn account(budget: &str, per: BudgetPer, names: &Names) -> u64 {
    let Names { tenant, client, agent, .. } = names;
    let payer = match per {
        BudgetPer::Run => run(names),
        BudgetPer::Agent => digest_of([tenant, client, agent, ""], 0),
        BudgetPer::Client => digest_of(["", client, "", ""], 0),
        BudgetPer::Tenant => digest_of([tenant, "", "", ""], 0),
    };
    digest_pair(digest(budget.as_bytes()), payer)
}

impl Spending {
    /// Returns `None` when no budget counts the request. If the leases have enough, all that it needs is taken.
    pub fn begin(config: &Config, host: &dyn Facts, need: Need, notes: &mut Vec<Note>) -> Option<Box<Self>> {
        let Names { tenant, client, agent, run, history } = &need.names;
        let payer = Payer {
            tenant: tenant.as_bytes(),
            client: client.as_bytes(),
            agent: agent.as_bytes(),
            has_run: !run.is_empty() || *history != 0,
        };
        let fitting = config.budgets.iter().filter(|budget| budget.fits(payer));
        let wants: Vec<Want> = fitting
            .map(|budget| Want {
                budget: budget.name.to_string(),
                unpriced: budget.unpriced,
                is_timed: budget.limits.seconds.is_some(),
                wanted: LeaseNeed {
                    key: account(&budget.name, budget.per, &need.names),
                    limited: limited(&budget.limits),
                    amounts: Amounts::default(),
                },
            })
            .collect();
        if wants.is_empty() {
            return None;
        }
        let mut spending = Box::new(Self {
            need,
            wants,
            takes: Vec::new(),
            cost: Cost::Free,
            lease: 0,
            has_sent_configuration: false,
            calls: 0,
            asked_at: 0,
            is_refused: false,
            warning: None,
        });
        let leases = host.leases();
        spending.set_cost(config, &leases);
        if spending.is_priced()
            && let Some(takes) = leases.take(&spending.wanted(), false, host.now())
        {
            spending.takes = takes;
            notes.push(Note::Count(Metric::Reservations(Reserved::Lease), 1));
        }
        Some(spending)
    }

    /// Whether the service is to be asked.
    pub fn has_to_ask(&self) -> bool {
        self.takes.len() < self.wants.len()
    }

    fn wanted(&self) -> Vec<LeaseNeed> {
        self.wants.iter().map(|want| want.wanted).collect()
    }

    fn counts_money(&self) -> bool {
        let is_money = |want: &Want| want.wanted.limited.first() == Some(&true);
        !self.need.is_free() && self.wants.iter().any(is_money)
    }

    /// Key of the model's price. It also depends on whether a budget estimates an unknown price by the dearest model.
    fn model(&self) -> u64 {
        let estimates = self.wants.iter().any(|want| want.unpriced == Unpriced::Estimate);
        let model = digest_pair(digest(self.need.dialect.as_bytes()), digest(self.need.model.as_bytes()));
        digest_pair(model, u64::from(estimates))
    }

    fn set_cost(&mut self, config: &Config, leases: &Leases) {
        self.cost = if !self.counts_money() {
            Cost::Free
        } else if config.price(&self.need.model).is_some() {
            Cost::Own
        } else {
            leases.price(self.model()).map_or(Cost::Unknown, Cost::Told)
        };
        let usage = self.need.usage;
        let amounts = self.amounts(config, &usage);
        for want in &mut self.wants {
            want.wanted.amounts = want.of(&self.cost, amounts);
        }
    }

    fn amounts(&self, config: &Config, usage: &Usage) -> Amounts {
        let nano_usd = match &self.cost {
            Cost::Own => config.price(&self.need.model).map_or(0, |price| price.of(usage)),
            Cost::Told(price) => price.of(usage),
            Cost::Free | Cost::Unknown => 0,
        };
        Amounts::of(usage, nano_usd, self.need.tool_calls)
    }

    /// Whether the price of the model is known here, as far as the budgets need it.
    fn is_priced(&self) -> bool {
        match &self.cost {
            Cost::Free | Cost::Own => true,
            Cost::Told(price) => {
                !price.is_estimated || self.wants.iter().all(|want| want.unpriced != Unpriced::Refuse)
            }
            Cost::Unknown => false,
        }
    }

    /// What the service is asked. Returns `None` when the worker has no id.
    pub fn ask(&mut self, config: &Config, host: &dyn Facts) -> Option<Reservation> {
        let leases = host.leases();
        let now = host.now();
        self.calls = self.calls.saturating_add(1);
        (self.asked_at, self.lease) = (now, host.random().max(1));
        self.has_sent_configuration = !leases.is_known();
        let wanted = self.wanted();
        // The service must not be told this request's own part.
        self.give_back(host);
        let known = leases.known(&wanted);
        self.takes = leases.take_ahead(&wanted, self.is_priced(), now);
        let Need { names, dialect, model, usage, .. } = &self.need;
        Some(Reservation {
            worker: crate::worker::id(&leases, host.process())?,
            names: names.clone(),
            configuration_digest: leases.configuration_digest,
            configuration: leases.configuration(self.has_sent_configuration),
            dialect,
            model: model.clone(),
            probable: self.amounts(config, usage),
            is_priced: matches!(self.cost, Cost::Own) || self.need.is_free(),
            leases: known,
            lease: self.lease,
        })
    }

    /// Adds what the service has granted, or a finding. Returns the next reservation, if the service has to be asked again.
    pub fn replied(
        &mut self,
        around: &Surroundings<'_>,
        reply: Result<ReserveReply, ServiceOutcome>,
        findings: &mut Vec<Finding>,
        notes: &mut Vec<Note>,
    ) -> Option<Reservation> {
        let Surroundings { config, host } = around;
        let leases = host.leases();
        match reply {
            Ok(reply) => {
                leases.set_known(true);
                self.answered(around, &reply, findings, notes)
            }
            // Perhaps the service does not know the configuration.
            Err(ServiceOutcome::Error) if !self.has_sent_configuration && self.calls < MOST_CALLS => {
                leases.set_known(false);
                self.ask(config, *host)
            }
            Err(outcome) => {
                self.unavailable(around, outcome, findings, notes);
                None
            }
        }
    }

    fn answered(
        &mut self,
        around: &Surroundings<'_>,
        reply: &ReserveReply,
        findings: &mut Vec<Finding>,
        notes: &mut Vec<Note>,
    ) -> Option<Reservation> {
        let Surroundings { config, host } = around;
        let leases = host.leases();
        if self.counts_money() && !matches!(self.cost, Cost::Own) {
            // `None`: the model costs nothing for these budgets.
            let price = reply.price.clone().unwrap_or(Price { steps: Vec::new(), is_estimated: true });
            leases.set_price(self.model(), &price);
        }
        let refuses = |state: &&BudgetState| state.refused.is_some() && !state.only_records;
        if let Some(state) = reply.budgets.iter().find(refuses) {
            self.give_back(*host);
            self.is_refused = true;
            findings.extend(state.refused.as_ref().map(|limit| words::spent(state, limit)));
            notes.push(Note::Count(Metric::Reservations(Reserved::Refused), 1));
            return None;
        }
        self.warn(around, reply, findings);
        self.adopt(&reply.budgets, &leases);
        self.set_cost(config, &leases);
        // Takes that were made without a price, or before there was a lease, are not sure: other requests may have been faster.
        for take in self.takes.iter().filter(|take| !take.is_sure) {
            leases.put_right(take, Amounts::default(), host.now());
        }
        self.takes.retain(|take| take.is_sure);
        let is_sure = |want: &&Want| self.takes.iter().any(|take| take.key == want.wanted.key);
        let unsure: Vec<LeaseNeed> =
            self.wants.iter().filter(|want| !is_sure(want)).map(|want| want.wanted).collect();
        let Some(taken) = leases.take(&unsure, true, host.now()) else {
            if self.calls < MOST_CALLS {
                return self.ask(config, *host);
            }
            self.unavailable(around, ServiceOutcome::Refused, findings, notes);
            return None;
        };
        self.takes.extend(taken);
        let is_crossed = reply.budgets.iter().any(|state| state.refused.is_some());
        let outcome = if is_crossed { Reserved::Recorded } else { Reserved::Granted };
        notes.push(Note::Count(Metric::Reservations(outcome), 1));
        None
    }

    /// Keeps what was granted, and forgets budgets that the service does not know. It may also know budgets that are new here.
    fn adopt(&mut self, states: &[BudgetState], leases: &Leases) {
        let granted =
            |want: &Want| states.iter().any(|state| state.budget == want.budget && state.lease.is_some());
        self.wants.retain(granted);
        let wants = &self.wants;
        let is_kept = |take: &Take| wants.iter().any(|want| want.wanted.key == take.key);
        for take in self.takes.iter().filter(|take| !is_kept(take)) {
            leases.put_right(take, Amounts::default(), self.asked_at);
        }
        self.takes.retain(is_kept);
        for state in states {
            let Some(grant) = state.lease else { continue };
            let known = self.wants.iter().find(|want| want.budget == state.budget);
            let (key, is_timed) = match known {
                Some(want) => (want.wanted.key, want.is_timed),
                None => {
                    let limited = grant.granted.0.map(|granted| granted > 0);
                    let wanted = LeaseNeed { key: state.account, limited, amounts: Amounts::default() };
                    let budget = state.budget.clone();
                    let unpriced = Unpriced::Estimate;
                    self.wants.push(Want { budget, unpriced, is_timed: true, wanted });
                    (state.account, true)
                }
            };
            leases.grant(key, state.account, grant, is_timed, self.asked_at);
        }
    }

    /// Adds the hint that little is left, once in a run.
    fn warn(&mut self, around: &Surroundings<'_>, reply: &ReserveReply, findings: &mut Vec<Finding>) {
        let warned = reply.budgets.iter().filter(|state| !state.only_records);
        for state in warned {
            let Some(limit) = &state.warned else { continue };
            let what = digest_pair(digest(state.budget.as_bytes()), limit.limit);
            let key = digest_pair(what, run(&self.need.names));
            if !crate::shared_data::is_warned(around.host, key) {
                self.warning = Some(key);
                return findings.push(words::warned(state, limit));
            }
        }
    }

    fn unavailable(
        &mut self,
        around: &Surroundings<'_>,
        outcome: ServiceOutcome,
        findings: &mut Vec<Finding>,
        notes: &mut Vec<Note>,
    ) {
        let Surroundings { config, host } = around;
        notes.push(Note::Count(Metric::Reservations(Reserved::Unavailable), 1));
        self.lost(*host, outcome);
        if config.on_unavailable == OnUnavailable::Refuse {
            self.give_back(*host);
            self.is_refused = true;
            return findings.push(words::unavailable());
        }
        notes.push(Note::Bypassed(Bypass::Budget));
        let is_whole = self.takes.len() == self.wants.len() && self.takes.iter().all(|take| take.is_sure);
        if !is_whole {
            self.take_outside(around);
        }
    }

    /// A call without a reply may have granted something that is not known here.
    fn lost(&self, host: &dyn Facts, outcome: ServiceOutcome) {
        use ServiceOutcome::{Cancelled, Error, Timeout};
        if self.takes.len() < self.wants.len() && matches!(outcome, Cancelled | Error | Timeout) {
            host.leases().lose(self.lease, &self.need.names);
        }
    }

    /// Counts what the request takes without a lease, for all of its budgets.
    fn take_outside(&mut self, around: &Surroundings<'_>) {
        let Surroundings { config, host } = around;
        self.give_back(*host);
        // The money comes from the operator's table. Otherwise the service counts it.
        self.cost = if config.price(&self.need.model).is_some() { Cost::Own } else { Cost::Unknown };
        let Need { names, dialect, model, usage, .. } = &self.need;
        let amounts = self.amounts(config, usage);
        let key = digest_pair(OUTSIDE, digest_pair(run(names), digest(model.as_bytes())));
        let is_priced = matches!(self.cost, Cost::Own) || self.need.is_free();
        let outside = Outside { names: names.clone(), dialect, model: model.clone(), is_priced };
        let wanted = LeaseNeed { key, limited: [false; 5], amounts };
        self.wants =
            vec![Want { budget: String::new(), unpriced: Unpriced::Estimate, is_timed: false, wanted }];
        let id = digest_pair(key, host.random()).max(1);
        let take = host.leases().take_outside(wanted, id, outside, host.now());
        self.takes = take.into_iter().collect();
    }

    /// Gives back what was taken.
    fn give_back(&mut self, host: &dyn Facts) {
        let leases = host.leases();
        for take in std::mem::take(&mut self.takes) {
            leases.put_right(&take, Amounts::default(), host.now());
        }
    }

    /// The request does not go on.
    pub fn release(mut self, host: &dyn Facts) {
        self.give_back(host);
    }

    /// The client has gone while the service was asked.
    pub fn abandon(self, host: &dyn Facts) {
        self.lost(host, ServiceOutcome::Cancelled);
        self.release(host);
    }

    /// The request goes on.
    pub fn go_on(&mut self, around: &Surroundings<'_>) {
        if std::mem::take(&mut self.is_refused) {
            self.take_outside(around);
        }
    }

    /// Replaces what the request would probably take with what it really took.
    pub fn settle(self, around: &Surroundings<'_>, took: Took) {
        let Surroundings { config, host } = around;
        let leases = host.leases();
        let Need { names, usage: probable, bytes, .. } = &self.need;
        let usage = match took {
            Took::Probable => *probable,
            Took::Nothing => Usage::default(),
            Took::All(usage) => {
                if *bytes > 0 {
                    leases.learn(run(names), *bytes, &usage);
                }
                usage
            }
            Took::AtLeast(usage) => Usage {
                input: usage.input.max(probable.input),
                cached: usage.cached.max(probable.cached),
                output: usage.output.max(probable.output),
            },
        };
        let amounts = self.amounts(config, &usage);
        let now = host.now();
        for take in &self.takes {
            let want = self.wants.iter().find(|want| want.wanted.key == take.key);
            let real = want.map_or(amounts, |want| want.of(&self.cost, amounts));
            leases.put_right(take, real, now);
        }
    }
}

impl Want {
    /// What the budget counts of these amounts. It may ignore money.
    fn of(&self, cost: &Cost, amounts: Amounts) -> Amounts {
        match cost {
            Cost::Told(price) if price.is_estimated && self.unpriced == Unpriced::Ignore => amounts.free(),
            _ => amounts,
        }
    }
}
