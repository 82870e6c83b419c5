//! The embedding service under load, over its Unix socket: the latency of CheckLoop by number of callers, how much is
//! answered in time under overload, and whether memory grows.
//!
//! - `BENCH_LOAD_SECONDS`: time for the measuring in all (default 90)
//! - `BENCH_LOAD_SOAK_SECONDS`: time of the mixed load that looks at memory (default 30; half an hour is 1800)

mod caller;
mod prompts;
pub mod report;

use std::env;
use std::fs;
use std::path::Path;
use std::time::Duration;

use sentinel_harness::redis::Redis;
use sentinel_harness::service::Service;

use caller::{CallEnd, Callers, Tally};
use prompts::Prompts;

use crate::usage;

/// Numbers of concurrent callers, each of which calls again as soon as it has its answer.
const AT_ONCE: [usize; 4] = [1, 4, 16, 64];
/// Calls a second, as a share of the measured capacity.
const FACTORS: [f64; 4] = [0.5, 1.0, 2.0, 5.0];
/// Number of rounds over all of these.
const ROUNDS: u32 = 4;
/// The number of callers that measures the capacity: enough to keep every worker busy.
const FULL: usize = 8;
/// The time within which an answer is useful: the filter's default timeout.
pub const IN_TIME: Duration = Duration::from_millis(50);
/// Number of different texts when repeats are measured.
const REPEATED: usize = 50;

/// The result for one kind of load.
pub struct Line {
    pub store: &'static str,
    pub load: String,
    pub tally: Tally,
    /// Answers within [`IN_TIME`], a second.
    pub good: f64,
    /// The service's processor time for each answer, in microseconds.
    pub processor: f64,
}

/// Resident memory of the service, in kB: at a third of the time, and the highest of the last third.
pub struct Soak {
    pub seconds: u64,
    pub answers: usize,
    pub warm: u64,
    pub end: u64,
}

#[derive(Default)]
pub struct Load {
    pub closed: Vec<Line>,
    pub open: Vec<Line>,
    pub soak: Option<Soak>,
}

struct Side {
    store: &'static str,
    // Dropped before the Redis that it uses.
    service: Service,
    callers: Callers,
    _redis: Option<Redis>,
    capacity: f64,
}

pub fn measure(folder: &Path) -> Load {
    let seconds = setting("BENCH_LOAD_SECONDS", 90);
    let soak = setting("BENCH_LOAD_SOAK_SECONDS", 30);
    // One thread, as one worker of Envoy would call: processor time of the callers is lost for the service.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(folder, Duration::from_secs(seconds), soak))
}

fn setting(name: &str, default: u64) -> u64 {
    let Some(given) = env::var(name).ok().filter(|given| !given.is_empty()) else { return default };
    let seconds = given.parse().ok().filter(|seconds| (5..=7200).contains(seconds));
    seconds.unwrap_or_else(|| panic!("{name} is {given:?}: give a number of seconds from 5 to 7200"))
}

async fn run(folder: &Path, time: Duration, soak: u64) -> Load {
    let redis = Redis::start();
    let address = ("REDIS_URL".to_owned(), redis.url());
    let mut sides = [
        Side::start("memory", folder, &[], None).await,
        Side::start("Redis", folder, &[address], Some(redis)).await,
    ];
    let blocks = (AT_ONCE.len() + 2 + FACTORS.len()) as u32 * ROUNDS * sides.len() as u32;
    let block = time / blocks;
    let mut load = Load::default();
    println!("      callers at once ...");
    load.closed = closed(&mut sides, block).await;
    println!("      more than can be done ...");
    load.open = open(&mut sides, block).await;
    println!("      memory under mixed load, {soak} s ...");
    load.soak = Some(mixed(&sides[0], soak).await);
    load
}

/// Each number of callers, then repeats, then the capacity, in turns.
async fn closed(sides: &mut [Side], block: Duration) -> Vec<Line> {
    let loads: Vec<(String, usize, Prompts)> = AT_ONCE
        .iter()
        .map(|count| (format!("{count} at once"), *count, Prompts::distinct()))
        .chain([(
            format!("{FULL} at once, {REPEATED} texts again and again"),
            FULL,
            Prompts::repeated(REPEATED),
        )])
        .chain([(format!("{FULL} at once (capacity)"), FULL, Prompts::distinct())])
        .collect();
    for side in sides.iter() {
        side.callers.closed(&Prompts::distinct(), FULL, block * 2).await;
    }
    let mut lines: Vec<Vec<Measured>> =
        sides.iter().map(|_| loads.iter().map(|_| Measured::default()).collect()).collect();
    for _ in 0..ROUNDS {
        for (number, (_, count, prompts)) in loads.iter().enumerate() {
            for (side, lines) in sides.iter().zip(&mut lines) {
                lines[number].add(side, block, side.callers.closed(prompts, *count, block)).await;
            }
        }
    }
    let mut all = Vec::new();
    for (side, lines) in sides.iter_mut().zip(lines) {
        let lines: Vec<Line> = lines
            .into_iter()
            .zip(&loads)
            .map(|(line, (name, ..))| line.line(side.store, name.clone()))
            .collect();
        side.capacity = lines.last().map_or(0.0, |line| line.good);
        all.extend(lines);
    }
    all
}

async fn open(sides: &mut [Side], block: Duration) -> Vec<Line> {
    let prompts = Prompts::distinct();
    let mut lines: Vec<Vec<Measured>> =
        sides.iter().map(|_| FACTORS.iter().map(|_| Measured::default()).collect()).collect();
    for round in 0..ROUNDS {
        let mut order: Vec<usize> = (0..FACTORS.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for number in order {
            for (side, lines) in sides.iter().zip(&mut lines) {
                let rate = side.capacity * FACTORS[number];
                lines[number].add(side, block, side.callers.open(&prompts, rate, block)).await;
            }
        }
    }
    let named =
        |side: &Side, factor: f64| format!("{factor} x capacity, {:.0} a second", side.capacity * factor);
    let rows = sides.iter().zip(lines).flat_map(|(side, lines)| {
        lines.into_iter().zip(FACTORS).map(|(line, factor)| line.line(side.store, named(side, factor)))
    });
    rows.collect()
}

/// New and repeated prompts, short and long, at half of the capacity and above it, in turns.
async fn mixed(side: &Side, seconds: u64) -> Soak {
    let loads = [(Prompts::distinct(), 0.5), (Prompts::repeated(REPEATED), 0.5), (Prompts::distinct(), 2.0)];
    let (mut answers, mut sizes) = (0, Vec::new());
    for second in 0..seconds {
        let (prompts, factor) = &loads[second as usize % loads.len()];
        let tally = side.callers.open(prompts, side.capacity * factor, Duration::from_secs(1)).await;
        answers += tally.count(CallEnd::Answered);
        sizes.push(usage::resident(side.service.id()));
    }
    let third = sizes.len() / 3;
    let highest = |sizes: &[u64]| sizes.iter().copied().max().unwrap_or(0);
    Soak { seconds, answers, warm: highest(&sizes[..=third]), end: highest(&sizes[third * 2..]) }
}

impl Side {
    async fn start(
        store: &'static str,
        folder: &Path,
        settings: &[(String, String)],
        redis: Option<Redis>,
    ) -> Self {
        let folder = folder.join(format!("load-{store}"));
        fs::create_dir(&folder).expect("a folder");
        let socket = folder.join("embedding.sock");
        let service = Service::start(&folder, &socket, settings);
        let callers = Callers::connect(&socket).await;
        Self { store, service, callers, _redis: redis, capacity: 0.0 }
    }

    fn busy(&self) -> Duration {
        usage::busy(self.service.id())
    }
}

#[derive(Default)]
struct Measured {
    tally: Tally,
    time: Duration,
    busy: Duration,
}

impl Measured {
    async fn add(&mut self, side: &Side, time: Duration, calls: impl Future<Output = Tally>) {
        let before = side.busy();
        self.tally.add(calls.await);
        self.busy += side.busy().saturating_sub(before);
        self.time += time;
    }

    fn line(mut self, store: &'static str, load: String) -> Line {
        self.tally.sort();
        let answers = self.tally.count(CallEnd::Answered).max(1) as f64;
        Line {
            store,
            load,
            good: self.tally.in_time(IN_TIME) as f64 / self.time.as_secs_f64(),
            processor: self.busy.as_secs_f64() * 1e6 / answers,
            tally: self.tally,
        }
    }
}
