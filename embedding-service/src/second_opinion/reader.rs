//! The queue of tool results to be read, and the thread that reads them. The thread takes at most half of one processor, because prompts of
//! waiting requests have priority. Results for which there is no room are counted and dropped.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use sentinel_proto::v1;
use tokio::runtime::Handle;

use super::{
    SecondOpinionOptions,
    model::{Classifier, TEXT},
    seen::SeenResults,
};
use crate::{
    control::{
        clock,
        events::{Event, EventKind},
        ingest::append,
        names::Names,
        store::{Commit, ControlStore},
    },
    embed::{error::ModelError, onnx::Runtime},
    metrics::{Metrics, ReadResult},
};

/// Turns that may wait.
const WAITING: usize = 64;
/// Results of one turn that are read.
const RESULTS: usize = 4;

/// The new results of a turn.
struct Job {
    names: Names,
    at_ms: u64,
    results: Vec<String>,
}

/// Where findings go.
pub struct Findings {
    pub store: Arc<dyn ControlStore>,
    /// About how many events are stored.
    pub keep: usize,
    pub metrics: Arc<Metrics>,
}

/// Takes results to be read. Stops reading when it is dropped.
pub struct Reader {
    jobs: Option<SyncSender<Box<Job>>>,
    seen: Mutex<SeenResults>,
    stops: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    metrics: Arc<Metrics>,
}

impl Reader {
    /// Loads the model and starts the thread. To be called on a runtime of Tokio.
    ///
    /// # Errors
    /// When the model cannot be used, or no thread can be had.
    pub fn start(
        runtime: &Runtime,
        options: &SecondOpinionOptions,
        findings: Findings,
    ) -> Result<Self, ModelError> {
        let model = Classifier::load(runtime, &options.model)?;
        let (jobs, waiting) = sync_channel(WAITING);
        let stops = Arc::<AtomicBool>::default();
        let metrics = Arc::clone(&findings.metrics);
        let handle = Handle::current();
        let mut thread =
            Thread { model, threshold: options.threshold, findings, stops: Arc::clone(&stops), handle };
        let thread =
            thread::Builder::new().name("second-opinion".to_owned()).spawn(move || thread.run(&waiting))?;
        Ok(Self { jobs: Some(jobs), seen: Mutex::default(), stops, thread: Some(thread), metrics })
    }

    /// Takes the results out of a turn, to be read some time. Never waits. `age_ms`: how long ago the turn began.
    pub fn take(&self, turn: &mut v1::Turn, age_ms: u64) {
        let mut results = std::mem::take(&mut turn.results);
        let more = results.len().saturating_sub(RESULTS);
        let left_out = u64::from(turn.more_results).saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
        self.metrics.second_opinion.count(ReadResult::Dropped, left_out);
        if results.is_empty() {
            return;
        }
        results.truncate(RESULTS);
        results.iter_mut().for_each(|result| result.truncate(result.floor_char_boundary(TEXT)));
        let names = Names::of(turn.names.clone().unwrap_or_default());
        let run = names.run_id();
        let before = results.len();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        results.retain(|result| seen.is_new(&run, result));
        drop(seen);
        self.metrics.second_opinion.count(ReadResult::Repeated, number(before.saturating_sub(results.len())));
        if results.is_empty() {
            return;
        }
        let job = Box::new(Job { names, at_ms: clock::now_ms().saturating_sub(age_ms), results });
        let sent = self.jobs.as_ref().map(|jobs| jobs.try_send(job));
        if let Some(Err(TrySendError::Full(job) | TrySendError::Disconnected(job))) = sent {
            self.metrics.second_opinion.count(ReadResult::Dropped, number(job.results.len()));
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// What the thread has.
struct Thread {
    model: Classifier,
    threshold: f64,
    findings: Findings,
    stops: Arc<AtomicBool>,
    handle: Handle,
}

impl Thread {
    fn run(&mut self, waiting: &Receiver<Box<Job>>) {
        while let Ok(job) = waiting.recv() {
            let (mut found, mut highest) = (0_u32, 0.0_f64);
            for result in &job.results {
                if self.stops.load(Ordering::Relaxed) {
                    return;
                }
                let outcome = match self.score(result) {
                    Some(score) if score > self.threshold => {
                        (found, highest) = (found.saturating_add(1), highest.max(score));
                        ReadResult::Found
                    }
                    Some(_) => ReadResult::Clean,
                    None => ReadResult::Failed,
                };
                self.findings.metrics.second_opinion.count(outcome, 1);
            }
            if found > 0 {
                self.tell(&job, found, highest);
            }
        }
    }

    /// Reads half of the time.
    fn score(&mut self, text: &str) -> Option<f64> {
        let Self { model, stops, findings, .. } = self;
        let mut began: Option<Instant> = None;
        let mut goes_on = || {
            if let Some(began) = began {
                thread::sleep(began.elapsed());
            }
            began = Some(Instant::now());
            !stops.load(Ordering::Relaxed)
        };
        let start = Instant::now();
        let score = catch_unwind(AssertUnwindSafe(|| model.score_parts(text, &mut goes_on)));
        findings.metrics.second_opinion.took(start.elapsed());
        if let Some(began) = began {
            thread::sleep(began.elapsed());
        }
        match score {
            Ok(Ok(score)) => Some(score),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a tool result was not read");
                None
            }
            Err(_) => None,
        }
    }

    fn tell(&self, job: &Job, found: u32, score: f64) {
        let event = Event::new(EventKind::InjectionDetected, job.at_ms, &job.names)
            .with("texts", &found)
            .with("source", &"model")
            .with("place", &"tool")
            .with("score", &((score * 1_000.0).round() / 1_000.0));
        let commit = Commit { appends: vec![append(&event, self.findings.keep)], ..Commit::default() };
        let store = Arc::clone(&self.findings.store);
        self.handle.spawn(async move {
            if let Err(error) = store.commit(&commit).await {
                tracing::warn!(%error, "a finding of the second opinion is no event: the store did not take it");
            }
        });
    }
}
