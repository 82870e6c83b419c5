//! What a worker and the embedding service tell each other about runs: reports of turns, and the directives of operators in return.
//! Plain values; sentinel-host makes messages of them.

use std::collections::HashMap;

use sentinel_text::{digest, digest_pair};
use serde::{Deserialize, Serialize};

use crate::{
    budget::{
        amounts::{Amounts, Price, Unit},
        leases::Outside,
    },
    turn::{Names, Turn},
};

/// One worker in one Envoy process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerId {
    pub envoy: u64,
    pub number: u32,
}

/// A batch of turns from one worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub worker: WorkerId,
    /// Milliseconds since 1970.
    pub sent_at: u64,
    pub turns: Vec<Turn>,
    /// Turns that were lost because there was no room.
    pub dropped: u64,
    pub known: DirectiveVersions,
    pub configuration_digest: u64,
    /// Present if the service asked for it.
    pub configuration: String,
    pub unknown_directives: u64,
    pub leases: Vec<LeaseUse>,
}

/// What is to be reserved of the budgets of a request before it goes on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reservation {
    pub worker: WorkerId,
    pub names: Names,
    pub configuration_digest: u64,
    /// Present if the service may not have it.
    pub configuration: String,
    pub dialect: &'static str,
    pub model: String,
    pub probable: Amounts,
    /// `probable` has the money. Otherwise the service prices the tokens.
    pub is_priced: bool,
    /// The leases that the worker has in the accounts of these names.
    pub leases: Vec<LeaseUse>,
    /// Id for a new lease.
    pub lease: u64,
}

/// What became of a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseUse {
    pub id: u64,
    pub account: u64,
    pub used: Amounts,
    /// The worker holds it no longer.
    pub is_returned: bool,
    /// The requests that went on without a lease.
    pub outside: Option<Outside>,
}

/// What the service grants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReserveReply {
    pub budgets: Vec<BudgetState>,
    /// The price of the model. `None`: it costs nothing for these budgets.
    pub price: Option<Price>,
}

/// A budget, and what the worker may spend of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetState {
    pub budget: String,
    pub account: u64,
    pub lease: Option<Grant>,
    /// The limit that the request would cross.
    pub refused: Option<Limit>,
    /// The limit of which little is left.
    pub warned: Option<Limit>,
    pub only_records: bool,
    /// It is refused because the model has no known price.
    pub is_unpriced: bool,
}

/// A lease: a share of what is left of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    pub id: u64,
    /// All that was granted since the lease was made.
    pub granted: Amounts,
    /// Milliseconds that it is valid, and after which it is given back if nothing uses it.
    pub ttl: u64,
    pub idle: u64,
}

/// A limit, and how much of it is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// `None`: seconds.
    pub unit: Option<Unit>,
    pub limit: u64,
    pub spent: u64,
    /// What is held in leases.
    pub held: u64,
}

/// Which directives a worker knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct DirectiveVersions {
    pub epoch: u64,
    pub stops: u64,
    pub settings: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportReply {
    /// `None` if the service does not say.
    pub known: Option<DirectiveVersions>,
    /// `directives` holds all stops that are in force.
    pub all_stops: bool,
    pub directives: Vec<Directive>,
    /// The number of directives of an unknown kind.
    pub unknown: u64,
    pub wants_configuration: bool,
}

/// What an operator said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// `remaining`: milliseconds that it stays in force; 0: until it is lifted.
    Stop {
        stop: Stop,
        remaining: u64,
    },
    Lift(String),
    Settings(LiveSettings),
}

/// Requests with these names are answered in the provider's place. Each name that is present must be equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Stop {
    pub id: String,
    pub tenant: Option<String>,
    pub client: Option<String>,
    pub agent: Option<String>,
    pub run: Option<String>,
    /// Takes the place of `run` for runs without a name.
    pub history: Option<u64>,
    /// The operator's words.
    pub reason: String,
    /// It stays in force until then (milliseconds since 1970); 0: until it is lifted.
    pub until: u64,
}

impl Stop {
    fn holds(&self, names: &Names, now: u64) -> bool {
        let is = |wanted: &Option<String>, name: &String| wanted.as_ref().is_none_or(|wanted| wanted == name);
        let is_history = self.history.is_none_or(|history| names.run.is_empty() && history == names.history);
        (self.until == 0 || now < self.until)
            && is(&self.tenant, &names.tenant)
            && is(&self.client, &names.client)
            && is(&self.agent, &names.agent)
            && is(&self.run, &names.run)
            && is_history
    }

    /// A digest of one of its names. Everything that it applies to has this name. `None` for a stop without names, which applies
    /// to nothing.
    fn key(&self) -> Option<u64> {
        let name = |kind: u64, name: &Option<String>| {
            name.as_ref().filter(|name| !name.is_empty()).map(|name| key(kind, name))
        };
        let history =
            self.history.filter(|history| *history != 0).map(|history| digest_pair(HISTORY, history));
        name(RUN, &self.run)
            .or(history)
            .or_else(|| name(AGENT, &self.agent))
            .or_else(|| name(CLIENT, &self.client))
            .or_else(|| name(TENANT, &self.tenant))
    }
}

const RUN: u64 = 1;
const HISTORY: u64 = 2;
const AGENT: u64 = 3;
const CLIENT: u64 = 4;
const TENANT: u64 = 5;

fn key(kind: u64, name: &str) -> u64 {
    digest_pair(kind, digest(name.as_bytes()))
}

/// The settings that take precedence over the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct LiveSettings {
    /// 0: none.
    pub version: u64,
    pub json: String,
}

/// All directives of operators that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Directives {
    pub known: DirectiveVersions,
    stops: Vec<Stop>,
    pub settings: LiveSettings,
    /// Places of stops, by a digest of one of their names.
    #[serde(skip)]
    by_name: HashMap<u64, Vec<usize>>,
}

impl Directives {
    /// The directives that are known after a reply.
    #[must_use]
    pub fn after(&self, reply: &ReportReply, now: u64) -> Self {
        let mut changed = Self { by_name: HashMap::new(), ..self.clone() };
        changed.known = reply.known.unwrap_or(self.known);
        if reply.all_stops {
            changed.stops.clear();
        }
        for directive in &reply.directives {
            match directive {
                Directive::Stop { stop, remaining } => {
                    let until = if *remaining == 0 { 0 } else { now.saturating_add(*remaining) };
                    changed.stops.retain(|known| known.id != stop.id);
                    changed.stops.push(Stop { until, ..stop.clone() });
                }
                Directive::Lift(id) => changed.stops.retain(|known| known.id != *id),
                Directive::Settings(settings) => changed.settings = settings.clone(),
            }
        }
        changed.stops.retain(|stop| stop.until == 0 || now < stop.until);
        changed.indexed()
    }

    /// The same directives, with the index by which stops are found.
    #[must_use]
    pub fn indexed(mut self) -> Self {
        for (at, stop) in self.stops.iter().enumerate() {
            if let Some(key) = stop.key() {
                self.by_name.entry(key).or_default().push(at);
            }
        }
        self
    }

    pub fn has_stops(&self) -> bool {
        !self.by_name.is_empty()
    }

    /// The stop that applies to these names.
    pub fn stop(&self, names: &Names, now: u64) -> Option<&Stop> {
        let Names { tenant, client, agent, run, history } = names;
        let keys = [
            key(RUN, run),
            digest_pair(HISTORY, *history),
            key(AGENT, agent),
            key(CLIENT, client),
            key(TENANT, tenant),
        ];
        let places = keys.iter().filter_map(|key| self.by_name.get(key)).flatten();
        places.filter_map(|at| self.stops.get(*at)).find(|stop| stop.holds(names, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(id: &str, fill: impl FnOnce(&mut Stop)) -> Directive {
        let mut stop = Stop { id: id.into(), ..Stop::default() };
        fill(&mut stop);
        Directive::Stop { stop, remaining: 0 }
    }

    fn names(agent: &str, run: &str) -> Names {
        Names { tenant: "t".into(), agent: agent.into(), run: run.into(), history: 7, ..Names::default() }
    }

    fn after(directives: Vec<Directive>) -> Directives {
        Directives::default().after(&ReportReply { directives, ..ReportReply::default() }, 1_000)
    }

    #[test]
    fn each_name_of_a_stop_must_be_equal() {
        let both = |stop: &mut Stop| {
            (stop.agent, stop.run) = (Some("a".into()), Some("r".into()));
        };
        let all = after(vec![stop("1", both)]);
        assert_eq!(all.stop(&names("a", "r"), 1_000).map(|stop| stop.id.as_str()), Some("1"));
        for other in [names("a", "s"), names("b", "r"), names("", "r"), names("a", "")] {
            assert!(all.stop(&other, 1_000).is_none(), "{other:?}");
        }
        let agent = after(vec![stop("1", |stop| stop.agent = Some("a".into()))]);
        assert!(agent.stop(&names("a", "any"), 0).is_some() && agent.stop(&names("b", "any"), 0).is_none());
        // A history stands for runs without a name only.
        let history = after(vec![stop("1", |stop| stop.history = Some(7))]);
        assert!(history.stop(&names("a", ""), 0).is_some() && history.stop(&names("a", "r"), 0).is_none());
        // A stop without names would apply to everybody.
        for nobody in [stop("1", |_| {}), stop("1", |stop| stop.agent = Some(String::new()))] {
            assert!(after(vec![nobody]).stop(&names("", ""), 0).is_none());
        }
    }

    #[test]
    fn a_stop_ends_when_it_is_lifted_or_its_time_is_over_or_it_is_no_longer_among_all() {
        let agent = |stop: &mut Stop| stop.agent = Some("a".into());
        let stopped = after(vec![stop("1", agent)]);
        let reply = |directives, all_stops| ReportReply { directives, all_stops, ..ReportReply::default() };
        assert!(stopped.after(&reply(vec![], false), 0).stop(&names("a", ""), 0).is_some());
        assert!(
            stopped
                .after(&reply(vec![Directive::Lift("1".into())], false), 0)
                .stop(&names("a", ""), 0)
                .is_none()
        );
        assert!(stopped.after(&reply(vec![], true), 0).stop(&names("a", ""), 0).is_none());
        let Directive::Stop { stop, .. } = stop("2", agent) else { panic!() };
        let timed = after(vec![Directive::Stop { stop, remaining: 500 }]);
        assert!(timed.stop(&names("a", ""), 1_499).is_some() && timed.stop(&names("a", ""), 1_500).is_none());
    }

    #[test]
    fn what_is_stored_for_other_workers_reads_back() {
        let stopped = after(vec![stop("1", |stop| stop.agent = Some("a".into()))]);
        let bytes = crate::codec::encode(&stopped);
        assert_eq!(crate::codec::decode::<Directives>(&bytes).indexed(), stopped);
    }
}
