//! Ids of metrics, for hosts without labels: there, a counter with certain label values is a metric of its own. Metrics without
//! labels are defined when the configuration is read, the others when they are first used.

use std::cell::RefCell;

use hashbrown::HashMap;
use sentinel_pipeline::metric::{FAMILIES, FamilyKind, LATENCY, Metric};

/// Defines a metric in the host. Returns `None` when the host refuses.
pub type Define = fn(FamilyKind, &str) -> Option<u32>;

pub struct Series {
    define: Define,
    counters: RefCell<HashMap<Metric, u32>>,
    /// The histogram of milliseconds for which requests were held.
    pub latency: Option<u32>,
}

impl Series {
    pub fn declared(define: Define) -> Self {
        let whole = FAMILIES.iter().filter(|family| family.labels.is_empty());
        let ids: Vec<_> = whole.map(|family| (family.name, define(family.kind, family.name))).collect();
        let latency = ids.iter().find(|(name, _)| *name == LATENCY.name).and_then(|(_, id)| *id);
        Self { define, counters: RefCell::default(), latency }
    }

    /// The host's id of a counter.
    pub fn counter(&self, metric: Metric) -> Option<u32> {
        let mut counters = self.counters.try_borrow_mut().ok()?;
        if let Some(id) = counters.get(&metric) {
            return Some(*id);
        }
        let id = (self.define)(metric.family().kind, &metric.series())?;
        counters.insert(metric, id);
        Some(id)
    }
}
