//! Envoy's ids for the metrics, defined when they are first used.

use std::{cell::RefCell, collections::HashMap};

use proxy_wasm::{hostcalls, types::MetricType};
use sentinel_core::metric::{LATENCY, Metric};

#[derive(Default)]
pub struct Metrics {
    ids: RefCell<HashMap<String, u32>>,
}

impl Metrics {
    pub fn count(&self, metric: Metric, by: u64) {
        // Envoy takes an increment of nothing for an error.
        if let (Some(id), Ok(by @ 1..)) = (self.id(&metric.name(), MetricType::Counter), i64::try_from(by)) {
            let _ = hostcalls::increment_metric(id, by);
        }
    }

    pub fn held(&self, millis: u64) {
        if let Some(id) = self.id(LATENCY, MetricType::Histogram) {
            let _ = hostcalls::record_metric(id, millis);
        }
    }

    fn id(&self, name: &str, kind: MetricType) -> Option<u32> {
        let mut ids = self.ids.borrow_mut();
        if let Some(id) = ids.get(name) {
            return Some(*id);
        }
        let id = hostcalls::define_metric(kind, name).ok()?;
        ids.insert(name.to_owned(), id);
        Some(id)
    }
}
