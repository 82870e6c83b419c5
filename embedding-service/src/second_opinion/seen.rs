//! What was read a short time ago: a client's retry, and a report that comes again, hold the same results in the same run.

use std::collections::{HashSet, VecDeque};

/// At most this many results are remembered.
const MOST: usize = 4_096;

/// Digests of the last results, the oldest first.
#[derive(Default)]
pub struct SeenResults {
    known: HashSet<u64>,
    order: VecDeque<u64>,
}

impl SeenResults {
    /// Whether this result of this run is new; it is known from now on.
    pub fn is_new(&mut self, run: &str, result: &str) -> bool {
        let digest = sentinel_text::digest_pair(
            sentinel_text::digest(run.as_bytes()),
            sentinel_text::digest(result.as_bytes()),
        );
        if !self.known.insert(digest) {
            return false;
        }
        self.order.push_back(digest);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_new_once_in_a_run_until_it_is_forgotten() {
        let mut seen = SeenResults::default();
        assert!(seen.is_new("a", "text") && seen.is_new("b", "text") && seen.is_new("a", "other"));
        assert!(!seen.is_new("a", "text"));
        for number in 0..MOST {
            assert!(seen.is_new("c", &number.to_string()));
        }
        assert!(seen.is_new("a", "text"));
        assert_eq!((seen.known.len(), seen.order.len()), (MOST, MOST));
    }
}
