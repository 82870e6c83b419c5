//! All runs, as lists that are filtered, sorted and paged.

mod survey;

use std::{cmp::Reverse, collections::HashMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::{
    clock,
    mirror::Mirror,
    names::digest,
    prices::Tokens,
    run::{Run, RunStatus},
    store::{ControlStore, Cursor, DocumentKind, Key, Log, LogEntry, Part},
    turn::Turn,
};
use crate::store::StoreError;

/// Most runs, agents or turns of one page.
pub const LARGEST_PAGE: usize = 1_000;

/// A run as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    pub id: String,
    pub status: RunStatus,
    pub cost_usd: f64,
    #[serde(flatten)]
    pub run: Run,
}

/// What an agent has done in all runs that are remembered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentView {
    pub tenant: String,
    pub client: String,
    pub agent: String,
    pub runs: u64,
    /// Runs that are working or have calls to do.
    pub runs_under_way: u64,
    pub first_seen_ms: u64,
    pub last_seen_ms: u64,
    pub turns: u64,
    pub steps: u64,
    pub repeated_steps: u64,
    #[serde(flatten)]
    pub tokens: Tokens,
    pub cost_usd: f64,
    pub unpriced_turns: u64,
    pub hints: u64,
    pub kills: u64,
}

/// A turn with its place in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnView {
    pub cursor: String,
    #[serde(flatten)]
    pub turn: Turn,
}

/// Turns of a run, and where the earlier ones begin, if there may be any.
#[derive(Clone, Debug, PartialEq)]
pub struct Turns {
    pub turns: Vec<TurnView>,
    pub next: Option<Cursor>,
}

/// By what a list is sorted.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Sort {
    #[default]
    LastSeen,
    FirstSeen,
    Cost,
    Tokens,
    Turns,
    Steps,
    RepeatedSteps,
}

/// Which runs, in which order. What is not given fits all.
#[derive(Clone, Debug, Default)]
pub struct RunQuery {
    pub tenant: Option<String>,
    pub client: Option<String>,
    pub agent: Option<String>,
    pub run: Option<String>,
    /// Empty: any.
    pub status: Vec<RunStatus>,
    pub signal: Option<String>,
    pub model: Option<String>,
    /// Seen at this time or later.
    pub from_ms: Option<u64>,
    /// Begun at this time or earlier.
    pub to_ms: Option<u64>,
    pub sort: Sort,
    pub ascending: bool,
    pub limit: usize,
    /// Behind this run of the page before.
    pub after: Option<(u64, String)>,
}

/// A page of runs.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub runs: Vec<RunView>,
    /// How many fit in all.
    pub total: usize,
    /// Where the next page begins.
    pub next: Option<(u64, String)>,
}

/// A page of agents.
#[derive(Clone, Debug, Default)]
pub struct AgentPage {
    pub agents: Vec<AgentView>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page begins.
    pub next: Option<(u64, String)>,
}

/// All runs.
pub struct Runs {
    store: Arc<dyn ControlStore>,
    mirror: Mirror<Run>,
    /// Milliseconds of silence after which a run is idle.
    idle_ms: u64,
}

impl RunQuery {
    fn fits(&self, run: &Run, status: impl Fn() -> RunStatus) -> bool {
        let is = |wanted: &Option<String>, name: &String| wanted.as_ref().is_none_or(|wanted| wanted == name);
        let has = |wanted: &Option<String>, names: &[String]| {
            wanted.as_ref().is_none_or(|wanted| names.contains(wanted))
        };
        is(&self.tenant, &run.names.tenant)
            && is(&self.client, &run.names.client)
            && is(&self.agent, &run.names.agent)
            && is(&self.run, &run.names.run)
            && has(&self.signal, &run.signals)
            && has(&self.model, &run.models)
            && self.from_ms.is_none_or(|from| run.last_seen_ms >= from)
            && self.to_ms.is_none_or(|to| run.first_seen_ms <= to)
            && (self.status.is_empty() || self.status.contains(&status()))
    }
}

impl Sort {
    fn of(self, run: &Run) -> u64 {
        match self {
            Self::LastSeen => run.last_seen_ms,
            Self::FirstSeen => run.first_seen_ms,
            Self::Cost => run.cost_nano_usd,
            Self::Tokens => run.tokens.input_tokens.saturating_add(run.tokens.output_tokens),
            Self::Turns => run.turns,
            Self::Steps => run.steps,
            Self::RepeatedSteps => run.repeated_steps,
        }
    }
}

/// US dollars.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub fn usd(nano: u64) -> f64 {
    nano as f64 / 1e9
}

impl Runs {
    #[must_use]
    pub fn new(store: Arc<dyn ControlStore>, idle: Duration) -> Self {
        let mirror = Mirror::new(Arc::clone(&store), DocumentKind::Run);
        Self { store, mirror, idle_ms: clock::milliseconds(idle) }
    }

    /// Reads what has changed, if that was not done within `age`.
    pub async fn refresh(&self, age: Duration) -> Result<(), StoreError> {
        self.mirror.refresh(age).await
    }

    fn view(&self, id: &str, run: &Run) -> RunView {
        let status = run.status(clock::now_ms(), self.idle_ms);
        RunView { id: id.to_owned(), status, cost_usd: usd(run.cost_nano_usd), run: run.clone() }
    }

    /// One run, as it stands now.
    pub async fn get(&self, id: &str) -> Result<Option<RunView>, StoreError> {
        let read = self.store.read(&[Key::new(DocumentKind::Run, id)]).await?;
        let run = read.first().and_then(|document| serde_json::from_slice::<Run>(&document.data).ok());
        Ok(run.filter(|run| run.names.has_run()).map(|run| self.view(id, &run)))
    }

    /// The last turns of a run before a place in its log, those that began last first. The log itself has them in the order of the reports,
    /// which may be another one, because each worker of Envoy reports by itself.
    pub async fn turns(&self, id: &str, before: Option<Cursor>, most: usize) -> Result<Turns, StoreError> {
        let log = Log::Turns(id.to_owned());
        let most = most.min(LARGEST_PAGE);
        let entries = self.store.log(&log, Part::Before(before, most)).await?;
        let next = entries.last().filter(|_| entries.len() == most).map(|entry| entry.cursor);
        let turn = |entry: LogEntry| {
            let turn = serde_json::from_slice(&entry.data).ok()?;
            Some(TurnView { cursor: entry.cursor.to_string(), turn })
        };
        let mut turns: Vec<TurnView> = entries.into_iter().filter_map(turn).collect();
        turns.sort_by_key(|view| Reverse(view.turn.at_ms));
        Ok(Turns { turns, next })
    }

    /// A page of runs.
    pub async fn list(&self, query: &RunQuery) -> Result<Page, StoreError> {
        self.mirror.refresh(Duration::ZERO).await?;
        let items = self.mirror.items();
        let now = clock::now_ms();
        let mut total: usize = 0;
        let order = |value: u64| if query.ascending { value } else { u64::MAX.saturating_sub(value) };
        let start = query.after.as_ref().map(|(value, id)| (order(*value), id.as_str()));
        let mut fitting: Vec<((u64, &str), &Run)> = Vec::new();
        for (id, item) in &items.by_id {
            let run = &item.value;
            if !run.names.has_run() || !query.fits(run, || run.status(now, self.idle_ms)) {
                continue;
            }
            total = total.saturating_add(1);
            let place = (order(query.sort.of(run)), id.as_str());
            if start.is_none_or(|start| place > start) {
                fitting.push((place, run));
            }
        }
        let limit = query.limit.clamp(1, LARGEST_PAGE);
        let more = fitting.len() > limit;
        if more {
            fitting.select_nth_unstable_by_key(limit, |(place, _)| *place);
            fitting.truncate(limit);
        }
        fitting.sort_unstable_by_key(|(place, _)| *place);
        let last = fitting.last().map(|((_, id), run)| (query.sort.of(run), (*id).to_owned()));
        let runs = fitting.iter().map(|((_, id), run)| self.view(id, run)).collect();
        Ok(Page { runs, total, next: last.filter(|_| more) })
    }

    /// Agents, those that were seen last first, and how many there are.
    pub async fn agents(
        &self,
        tenant: Option<&str>,
        most: usize,
    ) -> Result<(Vec<AgentView>, usize), StoreError> {
        let page = self.agents_after(tenant, None, most).await?;
        Ok((page.agents, page.total))
    }

    /// A page of agents, behind the last of the page before.
    pub async fn agents_after(
        &self,
        tenant: Option<&str>,
        after: Option<&(u64, String)>,
        most: usize,
    ) -> Result<AgentPage, StoreError> {
        self.mirror.refresh(Duration::ZERO).await?;
        let items = self.mirror.items();
        let now = clock::now_ms();
        let mut agents: HashMap<(&str, &str, &str), (AgentView, u64)> = HashMap::new();
        for item in items.by_id.values() {
            let run = &item.value;
            let names = &run.names;
            if tenant.is_some_and(|tenant| tenant != names.tenant) {
                continue;
            }
            let entry = agents.entry((&names.tenant, &names.client, &names.agent)).or_default();
            entry.1 = entry.1.saturating_add(run.cost_nano_usd);
            entry.0.add(run, matches!(run.status(now, self.idle_ms), RunStatus::Working | RunStatus::Tools));
        }
        let total = agents.len();
        let view =
            |((tenant, client, agent), (view, cost)): ((&str, &str, &str), (AgentView, u64))| AgentView {
                tenant: tenant.to_owned(),
                client: client.to_owned(),
                agent: agent.to_owned(),
                cost_usd: usd(cost),
                ..view
            };
        // Several agents may have the same time, so the digest of the names is part of the order.
        let placed = agents.into_iter().map(view).map(|agent| {
            let id = digest(&[&agent.tenant, &agent.client, &agent.agent]);
            ((Reverse(agent.last_seen_ms), id), agent)
        });
        let start = after.map(|(seen, id)| (Reverse(*seen), id.clone()));
        let mut placed: Vec<_> =
            placed.filter(|(place, _)| start.as_ref().is_none_or(|start| place > start)).collect();
        placed.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let most = most.clamp(1, LARGEST_PAGE);
        let more = placed.len() > most;
        placed.truncate(most);
        let last = placed.last().map(|((Reverse(seen), id), _)| (*seen, id.clone()));
        let agents = placed.into_iter().map(|(_, agent)| agent).collect();
        Ok(AgentPage { agents, total, next: last.filter(|_| more) })
    }
}

impl AgentView {
    fn add(&mut self, run: &Run, is_under_way: bool) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.runs, u64::from(run.names.has_run()));
        add(&mut self.runs_under_way, u64::from(is_under_way && run.names.has_run()));
        add(&mut self.turns, run.turns);
        add(&mut self.steps, run.steps);
        add(&mut self.repeated_steps, run.repeated_steps);
        add(&mut self.unpriced_turns, run.unpriced_turns);
        add(&mut self.hints, run.hints);
        add(&mut self.kills, run.kills);
        self.tokens = self.tokens.plus(run.tokens);
        let first = if self.first_seen_ms == 0 { u64::MAX } else { self.first_seen_ms };
        self.first_seen_ms = first.min(run.first_seen_ms);
        self.last_seen_ms = self.last_seen_ms.max(run.last_seen_ms);
    }
}
