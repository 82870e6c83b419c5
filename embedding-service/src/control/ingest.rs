//! Turns the workers' reports into runs. Each turn counts once: the turns of a worker have rising numbers, and the number of the last counted
//! turn is written in the same commit as the changed runs.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bytes::Bytes;
use sentinel_proto::v1;
use serde::{Deserialize, Serialize};

use super::{
    clock,
    events::TurnEvent,
    names::{Names, hex},
    prices::{Priced, Prices},
    run::{Reported, Run},
    store::{Append, Commit, Committed, ControlStore, Document, DocumentKind, Key, Log, Put},
    turn::Turn,
};
use crate::store::StoreError;

/// Most turns of one report.
pub const MOST_TURNS: usize = 4_096;
/// Turns that are counted with one commit.
const TURNS_AT_ONCE: usize = 128;
/// How often a commit is tried again when another replica was faster.
const ATTEMPTS: u32 = 50;
/// A turn that is older is refused. So a turn cannot count again after its worker was forgotten.
const OLDEST: Duration = Duration::from_secs(3_600);
/// If a worker's clock differs by less than this, its times are taken as they are. Otherwise the different delays of reports would disturb
/// the order of turns from several workers or reports.
const SAME_CLOCK: Duration = Duration::from_secs(5);
const WORKER_TTL: Duration = Duration::from_secs(2 * 3_600);

/// How runs are stored.
#[derive(Clone, Copy, Debug)]
pub struct IngestOptions {
    /// A run without a turn for this long is forgotten.
    pub run_ttl: Duration,
    /// About how many of its last turns are stored.
    pub turns: usize,
    /// About how many events are stored.
    pub events: usize,
}

/// What became of the turns of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IngestCounts {
    pub counted: u32,
    pub repeated: u32,
    pub refused: u32,
    /// Among those counted: their model has no known price.
    pub unpriced: u32,
}

#[derive(Default, Serialize, Deserialize)]
struct CountedUpTo {
    /// Number of its last turn that was counted.
    last: u64,
}

/// Counts turns.
pub struct Ingest {
    store: Arc<dyn ControlStore>,
    prices: Arc<Prices>,
    options: IngestOptions,
    /// Only one report at a time in this process, because their commits would conflict.
    turn: tokio::sync::Mutex<()>,
}

/// A turn that is to be counted.
struct Waiting {
    names: Names,
    turn: Turn,
    reported: Reported,
    under_way: bool,
}

impl Waiting {
    fn run_id(&self) -> &str {
        &self.reported.run_id
    }
}

pub fn encode(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

/// The value of a document. The default if it is empty or cannot be read.
pub fn decode<T: Default + for<'a> Deserialize<'a>>(document: &Document) -> T {
    if document.data.is_empty() {
        return T::default();
    }
    serde_json::from_slice(&document.data).unwrap_or_else(|error| {
        tracing::warn!(%error, "a document of the control store cannot be read and is replaced by an empty one");
        T::default()
    })
}

impl Ingest {
    #[must_use]
    pub fn new(store: Arc<dyn ControlStore>, prices: Arc<Prices>, options: IngestOptions) -> Self {
        Self { store, prices, options, turn: tokio::sync::Mutex::default() }
    }

    /// Counts the turns of a worker, which rise in their numbers. `sent_at_ms` is when they were sent, by the worker's clock.
    pub async fn count(
        &self,
        worker: &str,
        turns: Vec<v1::Turn>,
        sent_at_ms: u64,
    ) -> Result<IngestCounts, StoreError> {
        let now = clock::now_ms();
        let mut counted = IngestCounts::default();
        let mut waiting = Vec::with_capacity(turns.len());
        let mut last = 0;
        let is_same_clock = now.abs_diff(sent_at_ms) < clock::milliseconds(SAME_CLOCK);
        for turn in turns {
            let age = sent_at_ms.saturating_sub(turn.at_ms);
            if turn.number <= last || age > clock::milliseconds(OLDEST) {
                counted.refused = counted.refused.saturating_add(1);
                continue;
            }
            last = turn.number;
            let at_ms = if is_same_clock { turn.at_ms.min(now) } else { now.saturating_sub(age) };
            waiting.push(self.waiting(worker, turn, at_ms));
        }
        for chunk in waiting.chunks(TURNS_AT_ONCE) {
            let new = self.count_chunk(worker, chunk).await?;
            let all = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
            counted.counted = counted.counted.saturating_add(new.counted);
            counted.unpriced = counted.unpriced.saturating_add(new.unpriced);
            counted.repeated = counted.repeated.saturating_add(all.saturating_sub(new.counted));
        }
        Ok(counted)
    }

    fn waiting(&self, worker: &str, mut turn: v1::Turn, at_ms: u64) -> Waiting {
        let names = Names::of(turn.names.take().unwrap_or_default());
        let (run_id, worker) = (names.run_id(), worker.to_owned());
        let reported = Reported { run_id, worker, number: turn.number, begun: turn.begun };
        let under_way = turn.under_way;
        Waiting { names, turn: Turn::of(turn, at_ms, &self.prices), reported, under_way }
    }

    async fn count_chunk(&self, worker: &str, chunk: &[Waiting]) -> Result<IngestCounts, StoreError> {
        let _turn = self.turn.lock().await;
        let mut ids: Vec<&str> = chunk.iter().map(Waiting::run_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut keys = vec![Key::new(DocumentKind::Worker, worker)];
        keys.extend(ids.iter().map(|id| Key::new(DocumentKind::Run, *id)));
        for _ in 0..ATTEMPTS {
            let read = self.store.read(&keys).await?;
            let Some(document) = read.first() else { break };
            let last = decode::<CountedUpTo>(document).last;
            let new: Vec<&Waiting> = chunk.iter().filter(|waiting| waiting.reported.number > last).collect();
            let Some(newest) = new.last() else { return Ok(IngestCounts::default()) };
            let mut runs: HashMap<&str, Run> = HashMap::new();
            for (id, document) in ids.iter().zip(read.iter().skip(1)) {
                runs.insert(id, decode(document));
            }
            let mut commit = Commit {
                expect: keys.iter().cloned().zip(read.iter().map(|document| document.version)).collect(),
                ..Commit::default()
            };
            let worker = CountedUpTo { last: newest.reported.number };
            self.apply(&new, &mut runs, &mut commit);
            commit.puts.push(Put {
                key: keys.first().cloned().unwrap_or_else(|| Key::new(DocumentKind::Worker, "")),
                data: encode(&worker),
                ttl: Some(WORKER_TTL),
            });
            if self.store.commit(&commit).await? != Committed::Conflict {
                let unpriced = new.iter().filter(|waiting| waiting.turn.priced == Priced::Unknown).count();
                return Ok(IngestCounts {
                    counted: u32::try_from(new.len()).unwrap_or(u32::MAX),
                    unpriced: u32::try_from(unpriced).unwrap_or(u32::MAX),
                    ..IngestCounts::default()
                });
            }
        }
        Err(StoreError::Contended)
    }

    /// What new turns change.
    fn apply(&self, new: &[&Waiting], runs: &mut HashMap<&str, Run>, commit: &mut Commit) {
        let IngestOptions { run_ttl, turns, events } = self.options;
        let mut changed: Vec<&str> = Vec::new();
        for waiting in new {
            let id = waiting.run_id();
            let Some(run) = runs.get_mut(id) else { continue };
            let Waiting { names, turn, reported, under_way } = waiting;
            if !under_way {
                let log = Log::Turns(id.to_owned());
                commit.appends.push(Append { log, data: encode(turn), keep: turns, ttl: Some(run_ttl) });
            }
            let mut tell = |event: TurnEvent<'_>| commit.appends.push(append(&event, events));
            if *under_way {
                run.begin(names, turn, reported, &mut tell);
            } else {
                run.add(names, turn, reported, &mut tell);
            }
            changed.push(id);
        }
        changed.sort_unstable();
        changed.dedup();
        for id in changed {
            let Some(run) = runs.get(id) else { continue };
            commit.puts.push(Put {
                key: Key::new(DocumentKind::Run, id),
                data: encode(run),
                ttl: Some(run_ttl),
            });
        }
    }
}

/// An event at the end of its log.
pub fn append(event: &impl Serialize, keep: usize) -> Append {
    Append { log: Log::Events, data: encode(event), keep, ttl: None }
}

/// The name of a worker; `None`: none is given.
#[must_use]
pub fn worker_name(worker: Option<v1::Worker>) -> Option<String> {
    let worker = worker.filter(|worker| worker.envoy != 0)?;
    Some(format!("{}-{}", hex(worker.envoy), worker.number))
}
