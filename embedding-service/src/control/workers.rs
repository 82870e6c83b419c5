//! Which of Envoy's workers report to this process, for people.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// A worker that was silent for so long is gone.
const GONE_MS: u64 = 60_000;
/// Workers that are remembered: what names them comes from outside.
const MOST: usize = 10_000;

#[derive(Default)]
pub struct Workers {
    by_name: Mutex<HashMap<String, WorkerSeen>>,
}

#[derive(Default)]
struct WorkerSeen {
    last_ms: u64,
    dropped: u64,
}

/// What is seen of all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkersView {
    pub number: u64,
    /// When the last report came; 0: none has.
    pub last_ms: u64,
    /// Turns that they have dropped since they were seen first.
    pub dropped: u64,
}

impl Workers {
    /// A report has come.
    pub fn saw(&self, name: &str, dropped: u64, now_ms: u64) {
        let mut workers = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if workers.len() >= MOST && !workers.contains_key(name) {
            workers.retain(|_, worker| now_ms.saturating_sub(worker.last_ms) < GONE_MS);
            if workers.len() >= MOST {
                return;
            }
        }
        let worker = workers.entry(name.to_owned()).or_default();
        worker.last_ms = now_ms;
        worker.dropped = worker.dropped.saturating_add(dropped);
    }

    #[must_use]
    pub fn seen(&self, now_ms: u64) -> WorkersView {
        let workers = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = WorkersView::default();
        for worker in workers.values() {
            seen.last_ms = seen.last_ms.max(worker.last_ms);
            if now_ms.saturating_sub(worker.last_ms) < GONE_MS {
                seen.number = seen.number.saturating_add(1);
                seen.dropped = seen.dropped.saturating_add(worker.dropped);
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_are_silent_are_gone() {
        let workers = Workers::default();
        assert_eq!(workers.seen(5), WorkersView::default());
        workers.saw("a-0", 0, 1_000);
        workers.saw("a-1", 3, 2_000);
        workers.saw("a-1", 4, 2_500);
        assert_eq!(workers.seen(3_000), WorkersView { number: 2, last_ms: 2_500, dropped: 7 });
        assert_eq!(workers.seen(1_000 + GONE_MS), WorkersView { number: 1, last_ms: 2_500, dropped: 7 });
    }
}
