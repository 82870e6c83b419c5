//! Measures one case: blocks of requests to each rival in turn, forwards and backwards, so that other work of the
//! machine affects all of them alike.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::client::{self, Client};
use crate::conversation::Ending;
use crate::proof::Proof;
use crate::rival::Rival;

/// Requests in a block, over all connections.
const BLOCK: usize = 50;
/// Rounds that are measured even if the time is up.
const MIN_ROUNDS: usize = 4;
/// Share of a case's time for warming up: connections open, and windows fill.
const WARM_UP: f64 = 0.15;
const WARM_UP_BLOCKS: usize = 2;

/// The result of one rival in one case.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Milliseconds of each request, sorted.
    pub times: Vec<f64>,
    /// Median of each block, by round.
    pub medians: Vec<f64>,
    /// Requests a second, one at a time or over all connections together.
    pub rate: f64,
    /// Processor time of Envoy for one request, in microseconds: median over the blocks.
    pub processor: f64,
    /// What the filter counted. `None` without the filter.
    pub proof: Option<Proof>,
}

impl Figures {
    /// The quantile `share` in milliseconds; 0.5 is the median.
    pub fn quantile(&self, share: f64) -> f64 {
        quantile(&self.times, share)
    }

    pub fn requests(&self) -> u64 {
        self.times.len() as u64
    }

    /// Quartiles of the difference to `other`, round by round, in milliseconds. They show how certain the added median
    /// is.
    pub fn added(&self, other: &Self) -> [f64; 2] {
        let mut differences: Vec<f64> = self.medians.iter().zip(&other.medians).map(|(a, b)| a - b).collect();
        differences.sort_by(f64::total_cmp);
        [quantile(&differences, 0.25), quantile(&differences, 0.75)]
    }
}

/// The quantile `share` of sorted values; 0.5 is the median.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((last * share).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Sends requests that are not measured until the time is up. Returns how many each rival got. V8 compiles quickly
/// first, and optimises code once it was called some ten thousand times, so earlier figures only hold for the first
/// minutes.
pub fn warm(case: &Case, rivals: &[Rival], time: Duration) -> usize {
    let mut lanes: Vec<Lane> = rivals.iter().map(|rival| Lane::open(rival, case)).collect();
    let began = Instant::now();
    let mut sent = 0;
    while began.elapsed() < time {
        sent += lanes.iter_mut().map(|lane| lane.block().0.len()).max().unwrap_or(0);
    }
    sent
}

/// The figures of each rival, in order.
pub fn measure(case: &Case, rivals: &[Rival], time: Duration) -> Vec<Figures> {
    let mut lanes: Vec<Lane> = rivals.iter().map(|rival| Lane::open(rival, case)).collect();
    let opened = Instant::now();
    for round in 0.. {
        if round >= WARM_UP_BLOCKS && opened.elapsed() > time.mul_f64(WARM_UP) {
            break;
        }
        lanes.iter_mut().for_each(|lane| drop(lane.block()));
    }
    let before: Vec<Proof> = rivals.iter().map(|rival| Proof::read(&rival.metrics(), case)).collect();
    let began = Instant::now();
    for round in 0.. {
        if round >= MIN_ROUNDS && round % 2 == 0 && began.elapsed() > time.mul_f64(1.0 - WARM_UP) {
            break;
        }
        let mut order: Vec<usize> = (0..lanes.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            lanes[at].note(&rivals[at]);
        }
    }
    let figures = lanes.into_iter().zip(rivals).zip(before).map(|((lane, rival), before)| {
        let proof = rival.module.map(|_| Proof::read(&rival.metrics(), case).since(before));
        lane.figures(proof)
    });
    figures.collect()
}

/// The case's connections to this rival. If a case goes on with a run, its agents have sent a request before.
pub fn clients(rival: &Rival, case: &Case, verdict: Option<&str>) -> Vec<Client> {
    let clients: Vec<Client> = (0..case.connections).map(|_| Client::open(rival.address(), case)).collect();
    if case.ending == Ending::ToolResult {
        // A run begins with a prompt.
        let prompt = Case { kb: 1, ending: Ending::Prompt { more: 0 }, ..case.clone() };
        for client in &clients {
            let mut first = Client::open(rival.address(), &prompt).with_agents_of(client);
            for _ in 0..client::agents() {
                first.exchange(verdict);
            }
        }
    }
    clients
}

/// One rival's connections.
struct Lane {
    clients: Vec<Client>,
    verdict: Option<&'static str>,
    figures: Figures,
    /// Time during which requests were in flight.
    spent: Duration,
    /// Envoy's processor time for a request, block by block, in microseconds.
    processor: Vec<f64>,
}

impl Lane {
    fn open(rival: &Rival, case: &Case) -> Self {
        let verdict = case.verdict.filter(|_| rival.module.is_some());
        let clients = clients(rival, case, verdict);
        Self { clients, verdict, figures: Figures::default(), spent: Duration::ZERO, processor: Vec::new() }
    }

    /// Sends a block of requests. Returns the time of each, and of all together.
    fn block(&mut self) -> (Vec<Duration>, Duration) {
        let verdict = self.verdict;
        if let [client] = self.clients.as_mut_slice() {
            let times: Vec<Duration> = (0..BLOCK).map(|_| client.exchange(verdict)).collect();
            let all = times.iter().sum();
            return (times, all);
        }
        let each = BLOCK.div_ceil(self.clients.len()) * 2;
        let start = Barrier::new(self.clients.len() + 1);
        thread::scope(|scope| {
            let threads: Vec<_> = self
                .clients
                .iter_mut()
                .map(|client| {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        (0..each).map(|_| client.exchange(verdict)).collect::<Vec<_>>()
                    })
                })
                .collect();
            start.wait();
            let began = Instant::now();
            let times =
                threads.into_iter().flat_map(|thread| thread.join().expect("no agent failed")).collect();
            (times, began.elapsed())
        })
    }

    fn note(&mut self, rival: &Rival) {
        let before = rival.busy();
        let (times, all) = self.block();
        let busy = rival.busy().saturating_sub(before);
        self.processor.push(busy.as_secs_f64() * 1e6 / times.len() as f64);
        let mut times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        times.sort_by(f64::total_cmp);
        self.spent += all;
        self.figures.medians.push(quantile(&times, 0.5));
        self.figures.times.append(&mut times);
    }

    fn figures(mut self, proof: Option<Proof>) -> Figures {
        self.figures.times.sort_by(f64::total_cmp);
        self.figures.rate = self.figures.times.len() as f64 / self.spent.as_secs_f64();
        self.processor.sort_by(f64::total_cmp);
        self.figures.processor = quantile(&self.processor, 0.5);
        self.figures.proof = proof;
        self.figures
    }
}
