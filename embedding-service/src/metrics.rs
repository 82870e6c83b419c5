//! What Prometheus sees. Every label value is from a closed set; nothing of a request's content is one.

use std::time::Duration;

use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::embed::Timing;

/// Upper bounds in seconds: fine below the caller's 50 ms, coarse above.
const LATENCY: [f64; 16] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.5,
    2.0,
];

/// How a CheckLoop call ended, as its gRPC code.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, EncodeLabelValue)]
#[allow(non_camel_case_types, clippy::upper_case_acronyms)] // the names that gRPC gives them
pub enum Code {
    OK,
    INVALID_ARGUMENT,
    RESOURCE_EXHAUSTED,
    DEADLINE_EXCEEDED,
    UNAVAILABLE,
    INTERNAL,
    /// The caller went away before the answer.
    CANCELLED,
}

/// Why a waiting prompt was thrown out of the queue.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, EncodeLabelValue)]
#[allow(non_camel_case_types)]
pub enum Dropped {
    CallerGone,
    DeadlinePassed,
}

/// What became of a prompt that was to be remembered.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, EncodeLabelValue)]
pub enum Recorded {
    Stored,
    /// The store did not take it.
    StoreFailed,
    /// Too many others were waiting to be stored.
    QueueFull,
}

/// Which half of the store was used.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, EncodeLabelValue)]
pub enum StoreOp {
    Recall,
    Record,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByCode {
    code: Code,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByReason {
    reason: Dropped,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByOutcome {
    outcome: Recorded,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByOp {
    op: StoreOp,
}

/// All counters of one server. Shared by reference; every method is cheap and never blocks for long.
pub struct Metrics {
    registry: Registry,
    checks: Family<ByCode, Counter>,
    check_time: Histogram,
    loops: Counter,
    tokenise: Histogram,
    inference: Histogram,
    store: Family<ByOp, Histogram>,
    store_errors: Family<ByOp, Counter>,
    store_up: Gauge,
    queue: Gauge,
    dropped: Family<ByReason, Counter>,
    recorded: Family<ByOutcome, Counter>,
    pending: Gauge,
    in_flight: Gauge,
    similarity: Histogram,
}

fn latency() -> Histogram {
    Histogram::new(LATENCY)
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            registry: Registry::with_prefix("embedding_service"),
            checks: Family::default(),
            check_time: latency(),
            loops: Counter::default(),
            tokenise: latency(),
            inference: latency(),
            store: Family::new_with_constructor(latency),
            store_errors: Family::default(),
            store_up: Gauge::default(),
            queue: Gauge::default(),
            dropped: Family::default(),
            recorded: Family::default(),
            pending: Gauge::default(),
            in_flight: Gauge::default(),
            similarity: Histogram::new([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 1.0]),
        };
        metrics.registered()
    }
}

impl Metrics {
    fn registered(mut self) -> Self {
        let r = &mut self.registry;
        let seconds = || Unit::Seconds;
        r.register("checks", "CheckLoop calls by gRPC code", self.checks.clone());
        r.register_with_unit(
            "check",
            "Time of an answered CheckLoop call",
            seconds(),
            self.check_time.clone(),
        );
        r.register("loops", "Calls answered with loop_detected", self.loops.clone());
        r.register_with_unit(
            "tokenise",
            "Time to cut and tokenise a prompt",
            seconds(),
            self.tokenise.clone(),
        );
        r.register_with_unit(
            "inference",
            "Time of the model for a prompt",
            seconds(),
            self.inference.clone(),
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
        r.register("queue_length", "Prompts waiting to be embedded", self.queue.clone());
        r.register("dropped", "Waiting prompts thrown out before inference, by reason", self.dropped.clone());
        r.register("records", "Prompts to be remembered, by outcome", self.recorded.clone());
        r.register("records_pending", "Prompts answered and not yet stored", self.pending.clone());
        r.register("checks_in_flight", "CheckLoop calls being answered", self.in_flight.clone());
        r.register(
            "max_similarity",
            "Highest similarity of answered calls that had something to compare with",
            self.similarity.clone(),
        );
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

    pub fn checked(&self, code: Code, time: Duration) {
        self.checks.get_or_create(&ByCode { code }).inc();
        if code == Code::OK {
            self.check_time.observe(time.as_secs_f64());
        }
    }

    pub fn compared(&self, max_similarity: f32, loop_detected: bool) {
        self.similarity.observe(f64::from(max_similarity));
        if loop_detected {
            self.loops.inc();
        }
    }

    pub fn embedded(&self, timing: Timing) {
        self.tokenise.observe(timing.tokenise.as_secs_f64());
        self.inference.observe(timing.inference.as_secs_f64());
    }

    pub fn stored(&self, op: StoreOp, time: Duration, ok: bool) {
        let by = ByOp { op };
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
        self.dropped.get_or_create(&ByReason { reason }).inc();
    }

    pub fn recorded(&self, outcome: Recorded) {
        self.recorded.get_or_create(&ByOutcome { outcome }).inc();
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
