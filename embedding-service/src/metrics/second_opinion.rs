//! What Prometheus sees of the second opinion on tool results.

use std::time::Duration;

use prometheus_client::{
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};

use super::labels::{Label, ReadResult, label};

/// Upper bounds in seconds. The thread rests as long as it reads.
const TIMES: [f64; 8] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 2.0];

/// Counters of the second opinion.
pub struct SecondOpinionMetrics {
    results: Family<Label, Counter>,
    time: Histogram,
}

impl Default for SecondOpinionMetrics {
    fn default() -> Self {
        Self { results: Family::default(), time: Histogram::new(TIMES) }
    }
}

impl SecondOpinionMetrics {
    pub(super) fn register(&self, r: &mut Registry) {
        r.register(
            "second_opinion_results",
            "Tool results for the second opinion, by outcome",
            self.results.clone(),
        );
        r.register_with_unit(
            "second_opinion",
            "Time to read a tool result, with the rests of the thread that reads",
            Unit::Seconds,
            self.time.clone(),
        );
    }

    pub fn count(&self, outcome: ReadResult, results: u64) {
        if results > 0 {
            self.results.get_or_create(&label(outcome)).inc_by(results);
        }
    }

    pub fn took(&self, time: Duration) {
        self.time.observe(time.as_secs_f64());
    }
}
