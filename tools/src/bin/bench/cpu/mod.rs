//! The processor time that the filter adds to a request. Envoy, the load and the provider are pinned to one processor.
//! Slices of a second of all variants follow each other in random order. The time is that of the Envoy process, from
//! the scheduler's statistics. The bodies are conversations that end with a tool result, so the service is not asked.
//!
//! - `BENCH_CPU_SECONDS`: time of the measuring in all (default 150)
//! - `BENCH_MODULE_B`: another build of the filter (`path.wasm`), measured in the same slices. Each of the two has two
//!   Envoys, of which one started before and one after those of the other: of two equal builds the first that starts
//!   takes up to a sixth more
//! - `BENCH_PROCESSOR`: the number of the processor (default: the last that may be used)

pub mod report;

use std::path::Path;
use std::time::{Duration, Instant};

use sentinel_harness::parts;

use crate::case::{self, Case};
use crate::client::{self, Client};
use crate::conversation::Dice;
use crate::measure::{clients, quantile};
use crate::rival::Rival;
use crate::{pinned, seconds_of, setting, upstream, usage};

const SECONDS: f64 = 150.0;
const SLICE: Duration = Duration::from_secs(1);
/// Rounds for warming up: V8 optimises code that was called some ten thousand times.
const WARM_UP: usize = 3;
/// Rounds that are measured even if the time is up.
const MIN_ROUNDS: usize = 3;

pub struct Cpu {
    pub processor: usize,
    /// Other work of the machine meanwhile, between 0 and 1: on this processor, and on the others. It leaves caches
    /// cold.
    pub others: [f64; 2],
    pub lines: Vec<Line>,
}

/// One variant with bodies of one size.
pub struct Line {
    pub kb: usize,
    pub variant: Variant,
    /// Envoy's processor time for a request in each slice, in microseconds.
    pub micros: Vec<f64>,
    /// From the first byte sent to the last byte read, in microseconds, sorted.
    pub times: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The same Envoy without the filter.
    Without,
    /// This build inspects the request. Its results were in the request before, as in a run.
    Inspected(String),
    /// The same with results that no request has brought before.
    NewResults(String),
    /// This build does not inspect the path.
    Passed(String),
}

impl Line {
    /// Microseconds: the median of the slices.
    pub fn processor(&self) -> f64 {
        quantile(&sorted(self.micros.clone()), 0.5)
    }

    /// Another Envoy of the same variant: of each round the mean counts.
    fn add(&mut self, other: Self) {
        self.micros.iter_mut().zip(other.micros).for_each(|(mine, its)| *mine = (*mine + its) / 2.0);
        self.times = sorted([std::mem::take(&mut self.times), other.times].concat());
    }

    /// The difference to `other` in microseconds, slice by slice of the same round, sorted. So other work of the
    /// machine affects both alike.
    pub fn more_than(&self, other: &Self) -> Vec<f64> {
        sorted(self.micros.iter().zip(&other.micros).map(|(mine, its)| mine - its).collect())
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Envoy without the filter, with it, and with another build of it.
pub fn rivals(folder: &Path, processor: usize) -> Vec<Rival> {
    let provider = upstream::start();
    // No service listens there, because none is asked.
    let socket = folder.join("no-service.sock");
    let filter = |folder: &Path| Rival::with("filter", folder, provider, &socket, parts::filter());
    let mut rivals = vec![Rival::without(folder, provider, &socket), filter(folder)];
    if let Some(path) = setting("BENCH_MODULE_B") {
        let path = parts::root().join(path);
        assert!(path.is_file(), "BENCH_MODULE_B: there is no module {}", path.display());
        let other = |folder: &Path| Rival::with("B", folder, provider, &socket, path.clone());
        let again = folder.join("again");
        rivals.extend([other(folder), other(&again), filter(&again)]);
    }
    rivals.iter().for_each(|rival| pinned::pin_process(rival.id(), processor));
    rivals
}

pub fn measure(folder: &Path) -> Cpu {
    pinned::on_one_processor(|processor| measure_on(processor, folder))
}

fn measure_on(processor: usize, folder: &Path) -> Cpu {
    let folder = folder.join("cpu");
    std::fs::create_dir(&folder).expect("a folder");
    let rivals = rivals(&folder, processor);
    let mut lanes: Vec<Lane> = case::SIZES.iter().flat_map(|kb| Lane::all(&rivals, *kb)).collect();
    let mut dice = Dice::new(11);
    for _ in 0..WARM_UP {
        lanes.iter_mut().for_each(|lane| drop(lane.slice()));
    }
    let before = (usage::ticks(), ours(&rivals));
    let (began, time) = (Instant::now(), Duration::from_secs_f64(seconds_of("BENCH_CPU_SECONDS", SECONDS)));
    for round in 0.. {
        if round >= MIN_ROUNDS && began.elapsed() + SLICE * lanes.len() as u32 / 2 > time {
            break;
        }
        for at in shuffled(lanes.len(), &mut dice) {
            lanes[at].note();
        }
    }
    let others = others(
        processor,
        &before.0,
        (ours(&rivals) - before.1).as_secs_f64() / began.elapsed().as_secs_f64(),
    );
    let mut lines: Vec<Line> = Vec::new();
    for line in lanes.into_iter().map(Lane::line) {
        match lines.iter_mut().find(|known| (known.kb, &known.variant) == (line.kb, &line.variant)) {
            Some(known) => known.add(line),
            None => lines.push(line),
        }
    }
    Cpu { processor, others, lines }
}

/// Processor time of everything that takes part.
fn ours(rivals: &[Rival]) -> Duration {
    rivals.iter().map(Rival::busy).sum::<Duration>() + usage::busy(std::process::id())
}

/// The share of this processor, and of all others, that went to other work since `before`. `ours` went to the
/// measurement.
fn others(processor: usize, before: &[(u64, u64)], ours: f64) -> [f64; 2] {
    let shares = usage::ticks().into_iter().zip(before).map(|(now, before)| {
        let [all, busy] = [now.0 - before.0, now.1 - before.1].map(|ticks| ticks as f64);
        if all > 0.0 { busy / all } else { 0.0 }
    });
    let shares: Vec<f64> = shares.collect();
    let here = shares.get(processor).copied().unwrap_or(f64::NAN);
    let elsewhere = (shares.iter().sum::<f64>() - here) / (shares.len() - 1).max(1) as f64;
    [(here - ours).max(0.0), elsewhere]
}

pub fn shuffled(count: usize, dice: &mut Dice) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, dice.roll() as usize % (last + 1));
    }
    order
}

/// One variant's connection.
pub struct Lane<'a> {
    rival: &'a Rival,
    client: Client,
    verdict: Option<&'static str>,
    line: Line,
}

impl<'a> Lane<'a> {
    /// All variants with bodies of this size.
    fn all(rivals: &'a [Rival], kb: usize) -> Vec<Self> {
        let [passed, inspected] = case::processor(kb);
        let mut lanes = Vec::new();
        for rival in rivals {
            let name = rival.name.clone();
            if rival.module.is_none() {
                lanes.push(Self::open(rival, &Case { verdict: None, ..inspected.clone() }, Variant::Without));
            } else {
                lanes.push(Self::open(rival, &inspected, Variant::Inspected(name.clone())));
                lanes.push(Self::open(rival, &inspected, Variant::NewResults(name.clone())));
                lanes.push(Self::open(rival, &passed, Variant::Passed(name)));
            }
        }
        lanes
    }

    pub fn open(rival: &'a Rival, case: &Case, variant: Variant) -> Self {
        let client = clients(rival, case, case.verdict).remove(0);
        let has_new_results = matches!(variant, Variant::NewResults(_));
        let client = if has_new_results { client.with_new_results(client::ROW) } else { client };
        let line = Line { kb: case.kb, variant, micros: Vec::new(), times: Vec::new() };
        Self { rival, client, verdict: case.verdict, line }
    }

    /// Sends requests one after the other for a second. Returns the time of each.
    pub fn slice(&mut self) -> Vec<f64> {
        let began = Instant::now();
        let mut times = Vec::new();
        while began.elapsed() < SLICE {
            times.push(self.client.exchange(self.verdict).as_secs_f64() * 1e6);
        }
        times
    }

    pub fn note(&mut self) {
        let before = self.rival.busy();
        let mut times = self.slice();
        let busy = self.rival.busy().saturating_sub(before);
        self.line.micros.push(busy.as_secs_f64() * 1e6 / times.len() as f64);
        self.line.times.append(&mut times);
    }

    pub fn line(self) -> Line {
        Line { times: sorted(self.line.times), ..self.line }
    }
}
