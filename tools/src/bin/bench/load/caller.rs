//! Callers of CheckLoop, on a few connections as Envoy's workers have them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sentinel_proto::v1::CheckLoopRequest;
use sentinel_proto::v1::embedding_service_client::EmbeddingServiceClient;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request};

use super::IN_TIME;
use super::prompts::Prompts;
use crate::conversation::Dice;

/// Connections that the calls share. Envoy has one for each worker.
const CONNECTIONS: usize = 2;
/// Timeout of callers in a closed loop, which measures what the service can do.
const PATIENT: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    Answered,
    /// Refused at once: RESOURCE_EXHAUSTED.
    Refused,
    /// Not answered before the deadline.
    Late,
    Failed,
}

/// All calls: how each ended, and after how many milliseconds.
#[derive(Default)]
pub struct Tally(Vec<(CallEnd, f64)>);

impl Tally {
    pub fn add(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub fn sort(&mut self) {
        self.0.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    }

    pub fn calls(&self) -> usize {
        self.0.len()
    }

    pub fn count(&self, outcome: CallEnd) -> usize {
        self.0.iter().filter(|(what, _)| *what == outcome).count()
    }

    pub fn in_time(&self, limit: Duration) -> usize {
        let limit = limit.as_secs_f64() * 1e3;
        self.0.iter().filter(|(what, time)| *what == CallEnd::Answered && *time <= limit).count()
    }

    /// The latency of answered calls, in milliseconds.
    pub fn quantile(&self, share: f64) -> f64 {
        let answered: Vec<f64> =
            self.0.iter().filter(|(what, _)| *what == CallEnd::Answered).map(|(_, time)| *time).collect();
        let at = (answered.len() as f64 * share) as usize;
        answered.get(at.min(answered.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
    }
}

pub struct Callers {
    clients: Vec<EmbeddingServiceClient<Channel>>,
    turn: AtomicUsize,
}

impl Callers {
    pub async fn connect(socket: &Path) -> Self {
        let endpoint =
            Endpoint::from_shared(format!("unix://{}", socket.display())).expect("a path is an address");
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            clients.push(EmbeddingServiceClient::new(endpoint.connect().await.expect("the service listens")));
        }
        Self { clients, turn: AtomicUsize::new(0) }
    }

    fn client(&self) -> EmbeddingServiceClient<Channel> {
        self.clients[self.turn.fetch_add(1, Ordering::Relaxed) % self.clients.len()].clone()
    }

    /// Runs `count` callers, each of which calls again as soon as it has its answer.
    pub async fn closed(&self, prompts: &Prompts, count: usize, time: Duration) -> Tally {
        let stop = AtomicBool::new(false);
        let callers = (0..count).map(|_| async {
            let (mut client, mut tally) = (self.client(), Tally::default());
            while !stop.load(Ordering::Relaxed) {
                let ask = request(prompts.next(), PATIENT);
                tally.0.push(call(&mut client, ask, Instant::now()).await);
            }
            tally
        });
        let timer = async {
            tokio::time::sleep(time).await;
            stop.store(true, Ordering::Relaxed);
        };
        let (tallies, ()) = tokio::join!(futures_util::future::join_all(callers), timer);
        let mut all = Tally::default();
        tallies.into_iter().for_each(|tally| all.add(tally));
        all
    }

    /// Starts this many calls a second on average, whether earlier ones have ended or not. Latency counts from the
    /// planned start.
    pub async fn open(&self, prompts: &Prompts, rate: f64, time: Duration) -> Tally {
        let mut times = schedule(rate, time);
        let mut calls = JoinSet::new();
        let mut all = Tally::default();
        loop {
            let ask = request(prompts.next(), IN_TIME);
            let Some(due) = times.recv().await else { break };
            let mut client = self.client();
            calls.spawn(async move { call(&mut client, ask, due).await });
            while let Some(done) = calls.try_join_next() {
                all.0.push(done.expect("no caller fails"));
            }
        }
        all.0.extend(calls.join_all().await);
        all
    }
}

/// Sends the start times of this many calls a second, each when it has come. It uses its own thread: the runtime's
/// timers are exact to a millisecond, so calls would wait and then start in bursts.
fn schedule(rate: f64, time: Duration) -> UnboundedReceiver<Instant> {
    let (tell, times) = unbounded_channel();
    std::thread::spawn(move || {
        let (began, mut at, mut dice) = (Instant::now(), Duration::ZERO, Dice::new(rate.to_bits()));
        loop {
            at += Duration::from_secs_f64(gap(&mut dice) / rate.max(1.0));
            if at > time {
                return;
            }
            let due = began + at;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if tell.send(due).is_err() {
                return;
            }
        }
    });
    times
}

/// The random time until the next call (exponential, mean 1), so that calls come in bursts.
fn gap(dice: &mut Dice) -> f64 {
    let share = (dice.roll() >> 11) as f64 / (1_u64 << 53) as f64;
    -(1.0 - share).max(1e-12).ln()
}

fn request((number, prompt): (u64, String), patience: Duration) -> Request<CheckLoopRequest> {
    let mut ask = Request::new(CheckLoopRequest {
        tenant_id: "bench".to_owned(),
        // Each run has several prompts, so that there is something to compare with.
        run_id: (number / 8).to_string(),
        prompt,
        ..CheckLoopRequest::default()
    });
    ask.set_timeout(patience);
    ask
}

async fn call(
    client: &mut EmbeddingServiceClient<Channel>,
    ask: Request<CheckLoopRequest>,
    since: Instant,
) -> (CallEnd, f64) {
    let outcome = match client.check_loop(ask).await.map_err(|status| status.code()) {
        Ok(_) => CallEnd::Answered,
        Err(Code::ResourceExhausted) => CallEnd::Refused,
        Err(Code::DeadlineExceeded | Code::Cancelled) => CallEnd::Late,
        Err(_) => CallEnd::Failed,
    };
    (outcome, since.elapsed().as_secs_f64() * 1e3)
}
