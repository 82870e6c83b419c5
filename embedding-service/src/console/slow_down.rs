//! Slows down the guessing of keys. Each wrong key waits longer than the one before, and only a few may be tried at once. A right key does
//! not wait.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;

/// How long the first wrong key waits. Each further one waits twice as long,
const FIRST: Duration = Duration::from_millis(300);
/// up to this.
const LONGEST: Duration = Duration::from_secs(10);
/// After this time without a wrong key the wait begins with [`FIRST`] again.
const FORGOTTEN: Duration = Duration::from_secs(120);
/// How many may try at once.
const AT_ONCE: usize = 16;

pub struct SlowDown {
    tries: Semaphore,
    wrong: Mutex<Option<(Instant, u32)>>,
}

impl Default for SlowDown {
    fn default() -> Self {
        Self { tries: Semaphore::new(AT_ONCE), wrong: Mutex::default() }
    }
}

/// What came of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryResult {
    Right,
    Wrong,
    /// Too many try at once; the key was not looked at.
    TooMany,
}

impl SlowDown {
    /// Tries a key.
    pub async fn try_key(&self, is_right: impl FnOnce() -> bool) -> TryResult {
        let Ok(_permit) = self.tries.try_acquire() else { return TryResult::TooMany };
        if is_right() {
            return TryResult::Right;
        }
        tokio::time::sleep(self.pause(Instant::now())).await;
        TryResult::Wrong
    }

    /// How long one more wrong key waits.
    fn pause(&self, now: Instant) -> Duration {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let before = wrong
            .filter(|(at, _)| now.saturating_duration_since(*at) < FORGOTTEN)
            .map_or(0, |(_, count)| count);
        *wrong = Some((now, before.saturating_add(1)));
        FIRST.saturating_mul(2_u32.saturating_pow(before)).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_key_costs_more_until_it_is_quiet() {
        let slow = SlowDown::default();
        let start = Instant::now();
        let pauses: Vec<u64> =
            (0..8).map(|_| u64::try_from(slow.pause(start).as_millis()).unwrap()).collect();
        assert_eq!(pauses, [300, 600, 1_200, 2_400, 4_800, 9_600, 10_000, 10_000]);
        assert_eq!(slow.pause(start + FORGOTTEN), FIRST);
    }

    #[tokio::test]
    async fn not_many_try_at_once_and_the_right_key_does_not_wait() {
        let slow = SlowDown::default();
        assert_eq!(slow.try_key(|| true).await, TryResult::Right);
        assert!(slow.wrong.lock().unwrap().is_none(), "a right key is no reason to slow down");
        let _waiting = slow.tries.acquire_many(u32::try_from(AT_ONCE).unwrap()).await.unwrap();
        assert_eq!(slow.try_key(|| panic!("the key is looked at")).await, TryResult::TooMany);
    }
}
