//! What Prometheus sees. The values of labels are in the file beside this one.

mod answers;
mod control;
mod labels;
mod second_opinion;

use std::time::Duration;

use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

pub use answers::{AnswerMetrics, LookUps};
pub use control::ControlMetrics;
pub use labels::{
    AnswerStored, Bypassed, CacheLookup, Code, Delivered, Dropped, LabelValue, Learned, LookedUp, NotReady,
    ReadResult, Recorded, Reported, Reserved, StoreOp, TurnTaken, Unanswered,
};
use labels::{Label, label};
pub use second_opinion::SecondOpinionMetrics;
use strum::VariantArray as _;

/// Upper bounds in seconds: fine below the caller's 50 ms, coarse above.
const LATENCY: [f64; 16] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.5,
    2.0,
];

/// All counters of one server. Shared by reference; every method is cheap and never blocks for long.
pub struct Metrics {
    registry: Registry,
    checks: Family<Label, Counter>,
    unanswered: Family<Label, Counter>,
    check_time: Histogram,
    loops: Counter,
    tokenise: Histogram,
    inference: Histogram,
    queue_wait: Histogram,
    cache_lookups: Family<Label, Counter>,
    cache_bytes: Gauge,
    store: Family<Label, Histogram>,
    store_errors: Family<Label, Counter>,
    store_up: Gauge,
    queue: Gauge,
    dropped: Family<Label, Counter>,
    not_ready: Family<Label, Gauge>,
    socket_reopened: Counter,
    connections_not_accepted: Counter,
    recorded: Family<Label, Counter>,
    pending: Gauge,
    in_flight: Gauge,
    similarity: Histogram,
    /// Of the response cache.
    pub answers: AnswerMetrics,
    /// Of control.
    pub control: ControlMetrics,
    /// Of the second opinion on tool results.
    pub second_opinion: SecondOpinionMetrics,
}

fn latency() -> Histogram {
    Histogram::new(LATENCY)
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            registry: Registry::with_prefix("embedding_service"),
            checks: Family::default(),
            unanswered: Family::default(),
            check_time: latency(),
            loops: Counter::default(),
            tokenise: latency(),
            inference: latency(),
            queue_wait: latency(),
            cache_lookups: Family::default(),
            cache_bytes: Gauge::default(),
            store: Family::new_with_constructor(latency),
            store_errors: Family::default(),
            store_up: Gauge::default(),
            queue: Gauge::default(),
            dropped: Family::default(),
            not_ready: Family::default(),
            socket_reopened: Counter::default(),
            connections_not_accepted: Counter::default(),
            recorded: Family::default(),
            pending: Gauge::default(),
            in_flight: Gauge::default(),
            similarity: Histogram::new([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 1.0]),
            answers: AnswerMetrics::default(),
            control: ControlMetrics::default(),
            second_opinion: SecondOpinionMetrics::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    fn registered(mut self) -> Self {
        let r = &mut self.registry;
        let seconds = || Unit::Seconds;
        r.register("checks", "CheckLoop calls by gRPC code", self.checks.clone());
        r.register(
            "unanswered",
            "CheckLoop calls without an answer, so that the caller goes on without one, by reason",
            self.unanswered.clone(),
        );
        r.register_with_unit(
            "check",
            "Time of an answered CheckLoop call",
            seconds(),
            self.check_time.clone(),
        );
        r.register("loops", "Calls answered with loop_detected", self.loops.clone());
        r.register_with_unit(
            "tokenise",
            "Time to truncate and tokenise a prompt",
            seconds(),
            self.tokenise.clone(),
        );
        r.register_with_unit(
            "inference",
            "Time of one inference; a prompt takes one, whatever its length",
            seconds(),
            self.inference.clone(),
        );
        r.register_with_unit(
            "queue_wait",
            "Time that an inference waited for a worker",
            seconds(),
            self.queue_wait.clone(),
        );
        r.register(
            "recent_embeddings",
            "Prompts looked up among the recent embeddings, by outcome",
            self.cache_lookups.clone(),
        );
        r.register_with_unit(
            "recent_embeddings",
            "Bytes that the recent embeddings take",
            Unit::Bytes,
            self.cache_bytes.clone(),
        );
        r.register_with_unit(
            "store",
            "Time of the prompt history by operation",
            seconds(),
            self.store.clone(),
        );
        r.register(
            "store_errors",
            "Failed uses of the prompt history by operation",
            self.store_errors.clone(),
        );
        r.register("store_up", "1 while the prompt history is reachable", self.store_up.clone());
        r.register("queue_length", "Inferences that wait for a worker", self.queue.clone());
        r.register(
            "dropped",
            "Waiting prompts thrown out before an inference, by reason",
            self.dropped.clone(),
        );
        r.register("not_ready", "1 while this is a reason not to be ready", self.not_ready.clone());
        r.register(
            "socket_reopened",
            "Times that the Unix socket was opened anew because its file had gone",
            self.socket_reopened.clone(),
        );
        r.register(
            "connections_not_accepted",
            "Times that a connection could not be accepted; most likely there are no file handles left",
            self.connections_not_accepted.clone(),
        );
        r.register("records", "Prompts to be remembered, by outcome", self.recorded.clone());
        r.register("records_pending", "Prompts answered and not yet stored", self.pending.clone());
        r.register("checks_in_flight", "CheckLoop calls being answered", self.in_flight.clone());
        r.register(
            "max_similarity",
            "Highest similarity of answered calls that had something to compare with",
            self.similarity.clone(),
        );
        self.answers.register(r);
        self.control.register(r);
        self.second_opinion.register(r);
        // There from the start, so that a rate can be taken of the first one.
        for reason in Unanswered::VARIANTS {
            drop(self.unanswered.get_or_create(&label(*reason)));
        }
        for reason in NotReady::VARIANTS {
            drop(self.not_ready.get_or_create(&label(*reason)));
        }
        self
    }

    /// The exposition in OpenMetrics text; empty if it cannot be written, which a `String` never refuses.
    #[must_use]
    pub fn exposition(&self) -> String {
        let mut out = String::new();
        if text::encode(&mut out, &self.registry).is_err() {
            out.clear();
        }
        out
    }

    /// A CheckLoop call ended: after `time` with an answer, or without one for this reason.
    pub fn checked(&self, unanswered: Option<Unanswered>, time: Duration) {
        let code = unanswered.map_or(Code::Ok, Unanswered::code);
        self.checks.get_or_create(&label(code)).inc();
        match unanswered {
            None => self.check_time.observe(time.as_secs_f64()),
            Some(reason) => {
                self.unanswered.get_or_create(&label(reason)).inc();
            }
        }
    }

    pub fn compared(&self, max_similarity: f64, loop_detected: bool) {
        self.similarity.observe(max_similarity);
        if loop_detected {
            self.loops.inc();
        }
    }

    pub fn tokenised(&self, time: Duration) {
        self.tokenise.observe(time.as_secs_f64());
    }

    pub fn inferred(&self, time: Duration) {
        self.inference.observe(time.as_secs_f64());
    }

    pub fn waited(&self, time: Duration) {
        self.queue_wait.observe(time.as_secs_f64());
    }

    pub fn cache_looked_up(&self, outcome: CacheLookup) {
        self.cache_lookups.get_or_create(&label(outcome)).inc();
    }

    pub fn cache_bytes(&self, bytes: u64) {
        self.cache_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    pub fn stored(&self, op: StoreOp, time: Duration, ok: bool) {
        let by = label(op);
        self.store.get_or_create(&by).observe(time.as_secs_f64());
        if !ok {
            self.store_errors.get_or_create(&by).inc();
        }
    }

    pub fn store_up(&self, up: bool) {
        self.store_up.set(i64::from(up));
    }

    pub fn queue_length(&self, length: usize) {
        self.queue.set(i64::try_from(length).unwrap_or(i64::MAX));
    }

    pub fn dropped(&self, reason: Dropped) {
        self.dropped.get_or_create(&label(reason)).inc();
    }

    pub fn not_ready(&self, reason: NotReady, so: bool) {
        self.not_ready.get_or_create(&label(reason)).set(i64::from(so));
    }

    pub fn socket_reopened(&self) {
        self.socket_reopened.inc();
    }

    pub fn connection_not_accepted(&self) {
        self.connections_not_accepted.inc();
    }

    pub fn recorded(&self, outcome: Recorded) {
        self.recorded.get_or_create(&label(outcome)).inc();
    }

    pub fn pending(&self, change: i64) {
        self.pending.inc_by(change);
    }

    pub fn in_flight(&self, change: i64) {
        self.in_flight.inc_by(change);
    }

    /// CheckLoop calls being answered now.
    #[must_use]
    pub fn in_flight_now(&self) -> i64 {
        self.in_flight.get()
    }
}
