//! Envoy's ids for the metrics, defined when they are first used.

use std::cell::{Cell, RefCell};

use hashbrown::HashMap;
use proxy_wasm::{hostcalls, types::MetricType};
use sentinel_pipeline::metric::{LATENCY, Metric};

#[derive(Default)]
pub struct Metrics {
    counters: RefCell<HashMap<Metric, u32>>,
    latency: Cell<Option<u32>>,
}

impl Metrics {
    pub fn count(&self, metric: Metric, by: u64) {
        // Envoy takes an increment of nothing for an error.
        if let (Ok(by @ 1..), Some(id)) = (i64::try_from(by), self.counter(metric)) {
            let _ = hostcalls::increment_metric(id, by);
        }
    }

    pub fn record_latency(&self, millis: u64) {
        let id = self.latency.get().or_else(|| hostcalls::define_metric(MetricType::Histogram, LATENCY).ok());
        self.latency.set(id);
        if let Some(id) = id {
            let _ = hostcalls::record_metric(id, millis);
        }
    }

    fn counter(&self, metric: Metric) -> Option<u32> {
        let mut counters = self.counters.borrow_mut();
        if let Some(id) = counters.get(&metric) {
            return Some(*id);
        }
        let id = hostcalls::define_metric(MetricType::Counter, &metric.name()).ok()?;
        counters.insert(metric, id);
        Some(id)
    }
}
