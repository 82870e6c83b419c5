//! When prompts were answered. The wall clock is read here only, and only for what is stored: other replicas and later
//! processes have to understand it. It may jump; moments still rise.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// When a prompt was answered, in microseconds since 1970; strictly rising within one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment(pub u64);

impl Moment {
    #[must_use]
    pub fn now() -> Self {
        Self::after(None)
    }

    /// A moment later than `newest`, the newest prompt of the same scope, even if that came from a clock that was ahead: another replica's, or
    /// this one's before it was set back. Otherwise the new prompt would count as the oldest, and be forgotten.
    #[must_use]
    pub fn after(newest: Option<Self>) -> Self {
        static CLOCK: Clock<fn() -> SystemTime> = Clock::new(SystemTime::now);
        CLOCK.after(newest)
    }
}

struct Clock<R> {
    read: R,
    last: AtomicU64,
}

impl<R: Fn() -> SystemTime> Clock<R> {
    const fn new(read: R) -> Self {
        Self { read, last: AtomicU64::new(0) }
    }

    fn after(&self, newest: Option<Moment>) -> Moment {
        let now = (self.read)()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| u64::try_from(d.as_micros()).unwrap_or(u64::MAX));
        let least = newest.map_or(now, |newest| now.max(newest.0.saturating_add(1)));
        let next = |last: u64| least.max(last.saturating_add(1));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        Moment(next(last.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, time::Duration};

    use super::*;

    #[test]
    fn moments_rise() {
        let moments: Vec<_> = (0..10_000).map(|_| Moment::now()).collect();
        assert!(moments.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn moments_rise_when_the_clock_jumps_back_and_follow_it_again_when_it_has_caught_up() {
        let seconds = |n| UNIX_EPOCH.checked_add(Duration::from_secs(n)).unwrap();
        let time = Mutex::new(seconds(1_000));
        let clock = Clock::new(|| *time.lock().unwrap());
        assert_eq!(clock.after(None), Moment(1_000_000_000));
        for back in [999, 1, 0] {
            *time.lock().unwrap() = seconds(back);
            let before = clock.after(None);
            assert!(clock.after(None) > before && before > Moment(1_000_000_000));
        }
        *time.lock().unwrap() = UNIX_EPOCH.checked_sub(Duration::from_secs(1)).unwrap();
        assert!(clock.after(None) > Moment(1_000_000_000), "before 1970");
        *time.lock().unwrap() = seconds(1_001);
        assert_eq!(clock.after(None), Moment(1_001_000_000));
    }

    #[test]
    fn a_new_prompt_is_newer_than_what_a_clock_ahead_has_stored() {
        let clock = Clock::new(|| UNIX_EPOCH);
        let ahead = Moment(5_000);
        assert_eq!(clock.after(Some(ahead)), Moment(5_001));
        assert_eq!(clock.after(Some(ahead)), Moment(5_002), "and unlike any other of this process");
    }
}
