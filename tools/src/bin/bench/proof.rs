//! What the filter counted while a case was measured. It proves that requests took the intended way: a figure for
//! requests that were not inspected, or that went on because the service was late, would be worthless.

use sentinel_harness::metrics::Metrics;
use serde_json::{Value, json};

use crate::case::Case;

/// Counts of one case, or since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Proof {
    pub requests: u64,
    pub allowed: u64,
    /// Hints and kills.
    pub stopped: u64,
    pub asked: u64,
    /// Calls of the service that were answered in time.
    pub answered: u64,
    pub bypassed: u64,
    pub expected_bypass: u64,
    pub bytes: u64,
}

impl Proof {
    pub fn read(metrics: &Metrics, case: &Case) -> Self {
        let verdicts = |verdict| metrics.sum("sentinel_verdicts_total", &[("verdict", verdict)]);
        Self {
            requests: metrics.sum("sentinel_requests_total", &[]),
            allowed: verdicts("allow"),
            stopped: verdicts("hint") + verdicts("kill"),
            asked: metrics.sum("sentinel_service_calls_total", &[]),
            answered: metrics.sum("sentinel_service_calls_total", &[("outcome", "ok")]),
            bypassed: metrics.sum("sentinel_bypasses_total", &[]),
            expected_bypass: case
                .bypass
                .map_or(0, |cause| metrics.sum("sentinel_bypasses_total", &[("cause", cause)])),
            bytes: metrics.sum("sentinel_bytes_inspected_total", &[]),
        }
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            requests: self.requests - before.requests,
            allowed: self.allowed - before.allowed,
            stopped: self.stopped - before.stopped,
            asked: self.asked - before.asked,
            answered: self.answered - before.answered,
            bypassed: self.bypassed - before.bypassed,
            expected_bypass: self.expected_bypass - before.expected_bypass,
            bytes: self.bytes - before.bytes,
        }
    }

    /// Whether all `sent` requests took the way of the case. One call of the service in a hundred may be late; it is
    /// then among the slowest requests of the result.
    pub fn holds(&self, case: &Case, sent: u64) -> bool {
        let inspected = if case.verdict.is_some() { sent } else { 0 };
        let bypassed = if case.bypass.is_some() { sent } else { 0 };
        let asked = if case.asks_service { sent } else { 0 };
        (self.requests, self.allowed, self.stopped) == (inspected, inspected, 0)
            && (self.bypassed, self.expected_bypass) == (bypassed, bypassed)
            && self.asked == asked
            && self.late() * 100 <= asked
    }

    /// Calls of the service that were not answered in time. Their requests went on without its verdict.
    pub fn late(&self) -> u64 {
        self.asked - self.answered
    }

    pub fn text(&self, case: &Case, sent: u64) -> String {
        let Self { requests, allowed, asked, bypassed, .. } = self;
        let asked = match (asked, self.late()) {
            (0, _) => String::new(),
            (_, 0) => format!(", service asked {asked}, all answered in time"),
            (_, late) => format!(", service asked {asked}, {late} late or refused: passed unjudged"),
        };
        let holds = if self.holds(case, sent) { "yes" } else { "**no**" };
        format!("{holds}: sent {sent}, inspected {requests}, allowed {allowed}, bypassed {bypassed}{asked}")
    }

    pub fn json(&self) -> Value {
        json!({
            "requests": self.requests, "allow": self.allowed, "hint_or_kill": self.stopped, "service_calls": self.asked,
            "service_calls_ok": self.answered, "bypasses": self.bypassed, "bytes_inspected": self.bytes,
        })
    }
}
