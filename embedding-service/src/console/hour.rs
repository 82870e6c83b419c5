//! The last hour, minute by minute, from the events of control. They are read when a page asks, from where the last page stopped; while
//! nobody looks, nothing is read.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use tokio::sync::{Mutex, MutexGuard};

use crate::{
    control::{
        prices::Priced,
        store::{ControlStore, Cursor, Log, Part},
        turn::{Decision, VerdictKind},
    },
    store::StoreError,
};

const MINUTES: u64 = 60;
const MINUTE_MS: u64 = 60_000;
/// Minutes of one agent that are remembered.
const MOST_MINUTES: usize = 120;
/// Events that are read at once.
const AT_ONCE: usize = 2_000;
/// Agents whose minutes are remembered.
const MOST_AGENTS: usize = 1_000;
/// Runs whose last cost is remembered.
const MOST_RUNS: usize = 10_000;

/// What happened in a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minute {
    pub turns: u64,
    pub hints: u64,
    pub kills: u64,
    pub spent_nano_usd: u64,
    /// What the requests that were ended would have cost. Each counts as much as the turn before it.
    pub saved_nano_usd: u64,
    pub unpriced: u64,
}

/// The last hour.
#[derive(Default)]
pub struct Hour {
    known: Mutex<ReadEvents>,
}

#[derive(Default)]
struct ReadEvents {
    read: Option<Cursor>,
    /// By the number of the minute since 1970.
    minutes: BTreeMap<u64, Minute>,
    /// By tenant, client and agent, what was spent in each minute.
    agents: HashMap<Who, BTreeMap<u64, u64>>,
    /// When the oldest event that was read happened.
    since_ms: Option<u64>,
    /// What the last turn of a run cost.
    last_cost: HashMap<String, u64>,
}

/// Tenant, client and agent.
type Who = (String, String, String);

/// As much of an event as is counted.
#[derive(Deserialize)]
struct Event {
    at_ms: u64,
    #[serde(default)]
    run_id: String,
    #[serde(default)]
    tenant: String,
    #[serde(default)]
    client: String,
    #[serde(default)]
    agent: String,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    turn: TurnFigures,
}

#[derive(Deserialize)]
struct TurnFigures {
    cost_nano_usd: u64,
    priced: Priced,
    verdict: Decision,
}

/// The last hour as it is shown.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The oldest first, as many as an hour has.
    pub minutes: Vec<Minute>,
    /// How many of them are known: events before these are forgotten.
    pub known: u64,
}

impl Hour {
    /// As it stands now.
    pub async fn read(&self, store: &dyn ControlStore, now_ms: u64) -> Result<Shown, StoreError> {
        Ok(self.follow(store).await?.shown(now_ms))
    }

    /// What each agent has spent, minute by minute.
    pub async fn of_agents(&self, store: &dyn ControlStore, now_ms: u64) -> Result<Spent, StoreError> {
        let mut known = self.follow(store).await?;
        let (first, last) = minutes(now_ms);
        known
            .agents
            .retain(|_, minutes| minutes.last_key_value().is_some_and(|(minute, _)| *minute >= first));
        for minutes in known.agents.values_mut() {
            minutes.retain(|minute, _| *minute >= first);
        }
        Ok(Spent { agents: known.agents.clone(), first, last })
    }

    /// Reads what has happened since the last page.
    async fn follow(&self, store: &dyn ControlStore) -> Result<MutexGuard<'_, ReadEvents>, StoreError> {
        let mut known = self.known.lock().await;
        loop {
            let after = known.read.unwrap_or_default();
            let entries = store.log(&Log::Events, Part::After(after, AT_ONCE)).await?;
            for entry in &entries {
                known.read = Some(entry.cursor);
                // Most events are of other kinds, and need not be read.
                if entry.data.starts_with(br#"{"kind":"turn""#)
                    && let Ok(event) = serde_json::from_slice::<Event>(&entry.data)
                {
                    known.count(event);
                }
            }
            if entries.len() < AT_ONCE {
                break;
            }
        }
        Ok(known)
    }
}

/// The numbers of the first and the last minute of the hour.
fn minutes(now_ms: u64) -> (u64, u64) {
    let last = now_ms / MINUTE_MS;
    (last.saturating_sub(MINUTES.saturating_sub(1)), last)
}

/// What each agent has spent in the last hour.
pub struct Spent {
    agents: HashMap<Who, BTreeMap<u64, u64>>,
    first: u64,
    last: u64,
}

impl Spent {
    /// Minute by minute; empty where an agent has spent nothing.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "points of a chart")]
    pub fn line(&self, tenant: &str, client: &str, agent: &str) -> Vec<f64> {
        let who = (tenant.to_owned(), client.to_owned(), agent.to_owned());
        let Some(minutes) = self.agents.get(&who) else { return Vec::new() };
        (self.first..=self.last)
            .map(|minute| minutes.get(&minute).copied().unwrap_or_default() as f64)
            .collect()
    }
}

impl ReadEvents {
    fn count(&mut self, event: Event) {
        let Event { at_ms, run_id, tenant, client, agent, data: Data { turn } } = event;
        let who = (tenant, client, agent);
        if turn.cost_nano_usd > 0 && (self.agents.len() < MOST_AGENTS || self.agents.contains_key(&who)) {
            let minutes = self.agents.entry(who).or_default();
            let spent = minutes.entry(at_ms / MINUTE_MS).or_default();
            *spent = spent.saturating_add(turn.cost_nano_usd);
            // As many as an hour has, and some of the hour before until a page looks.
            while minutes.len() > MOST_MINUTES {
                minutes.pop_first();
            }
        }
        self.since_ms = Some(self.since_ms.map_or(at_ms, |since| since.min(at_ms)));
        let is_kill = turn.verdict.kind == VerdictKind::Kill;
        let saved =
            if is_kill && turn.verdict.enforced { self.last_cost.get(&run_id).copied() } else { None };
        let minute = self.minutes.entry(at_ms / MINUTE_MS).or_default();
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut minute.turns, 1);
        add(&mut minute.hints, u64::from(turn.verdict.kind == VerdictKind::Hint));
        add(&mut minute.kills, u64::from(is_kill));
        add(&mut minute.spent_nano_usd, turn.cost_nano_usd);
        add(&mut minute.saved_nano_usd, saved.unwrap_or_default());
        add(&mut minute.unpriced, u64::from(turn.priced == Priced::Unknown));
        if turn.cost_nano_usd > 0 {
            if self.last_cost.len() >= MOST_RUNS {
                self.last_cost.clear();
            }
            self.last_cost.insert(run_id, turn.cost_nano_usd);
        }
    }

    fn shown(&mut self, now_ms: u64) -> Shown {
        let (first, last) = minutes(now_ms);
        self.minutes.retain(|minute, _| *minute >= first);
        let minutes =
            (first..=last).map(|minute| self.minutes.get(&minute).copied().unwrap_or_default()).collect();
        let since = self.since_ms.map_or(0, |since| last.saturating_sub(since / MINUTE_MS).saturating_add(1));
        Shown { minutes, known: since.min(MINUTES) }
    }
}

impl Shown {
    /// One number of all minutes together.
    #[must_use]
    pub fn sum(&self, of: fn(&Minute) -> u64) -> u64 {
        self.minutes.iter().map(of).fold(0, u64::saturating_add)
    }

    /// One number of each minute, for a chart.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "points of a chart")]
    pub fn line(&self, of: fn(&Minute) -> u64) -> Vec<f64> {
        self.minutes.iter().map(|minute| of(minute) as f64).collect()
    }
}
