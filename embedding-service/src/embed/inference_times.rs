//! How long an inference takes on this machine, by its number of tokens: from real measurements, those between by
//! interpolation. No clock of its own.

use std::time::Duration;

/// Tokens that share an estimate: 1 to 16, 17 to 32, and so on.
const STEP: usize = 16;
/// The longest prompt with an estimate of its own is this many steps long; longer ones share the last.
const STEPS: usize = 32;
/// How much of each new measurement goes in the running mean: 1/8.
const SMOOTHING: u32 = 8;
/// A measurement counts as at most this many times the mean before it. Otherwise one moment in which the machine was busy would let prompts
/// of this length be refused for long.
const OUTLIER: u32 = 2;

/// Running means of measured inference times.
#[derive(Clone, Debug, Default)]
pub struct InferenceTimes {
    means: [Option<Duration>; STEPS],
}

impl InferenceTimes {
    /// Adds a measurement: an inference of `tokens` tokens took `time`.
    pub fn add(&mut self, tokens: usize, time: Duration) {
        let Some(mean) = self.means.get_mut(step(tokens)) else { return };
        *mean = Some(match *mean {
            None => time,
            Some(old) => {
                let new = time.min(old.saturating_mul(OUTLIER));
                old.saturating_sub(smoothing_part(old)).saturating_add(smoothing_part(new))
            }
        });
    }

    /// Adds a measurement of an inference with which another worker assisted. The other one does at most half of the work, so the time can
    /// only show that an estimate is too high.
    pub fn add_assisted(&mut self, tokens: usize, time: Duration) {
        let alone = time.saturating_mul(2);
        if alone < self.estimate(tokens) {
            self.add(tokens, alone);
        }
    }

    /// The time that an inference of `tokens` tokens takes. Zero as long as nothing was measured.
    #[must_use]
    pub fn estimate(&self, tokens: usize) -> Duration {
        let at = step(tokens);
        let known = |(step, mean): (usize, &Option<Duration>)| mean.map(|mean| (step, mean));
        let below = self.means.iter().enumerate().take(at.saturating_add(1)).filter_map(known).next_back();
        let above = self.means.iter().enumerate().skip(at).find_map(known);
        match (below, above) {
            (Some((from, low)), Some((to, high))) => between(from, low, to, high, at),
            // In proportion to the length: the arithmetic grows at least so.
            (Some((from, low)), None) => scaled(low, at, from),
            (None, Some((to, high))) => scaled(high, at, to),
            (None, None) => Duration::ZERO,
        }
    }
}

fn step(tokens: usize) -> usize {
    tokens.saturating_sub(1).checked_div(STEP).unwrap_or_default().min(STEPS.saturating_sub(1))
}

fn smoothing_part(time: Duration) -> Duration {
    time.checked_div(SMOOTHING).unwrap_or_default()
}

fn between(from: usize, low: Duration, to: usize, high: Duration, at: usize) -> Duration {
    let (span, way) = (count(to.saturating_sub(from)), count(at.saturating_sub(from)));
    let far = high.saturating_mul(way).checked_div(span).unwrap_or(high);
    let near = low.saturating_mul(span.saturating_sub(way)).checked_div(span).unwrap_or_default();
    near.saturating_add(far)
}

fn scaled(time: Duration, at: usize, known: usize) -> Duration {
    let per_step = time.checked_div(count(known.saturating_add(1))).unwrap_or_default();
    per_step.saturating_mul(count(at.saturating_add(1)))
}

fn count(steps: usize) -> u32 {
    u32::try_from(steps).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn nothing_measured_is_no_time() {
        assert_eq!(InferenceTimes::default().estimate(64), Duration::ZERO);
    }

    #[test]
    fn lengths_between_two_measured_ones_lie_between() {
        let mut times = InferenceTimes::default();
        times.add(16, ms(3));
        times.add(64, ms(9));
        assert_eq!(times.estimate(3), ms(3));
        assert_eq!(times.estimate(32), ms(5));
        assert_eq!(times.estimate(48), ms(7));
        assert_eq!(times.estimate(64), ms(9));
        assert_eq!(times.estimate(128), ms(18), "longer than any: in proportion");
        assert_eq!(times.estimate(usize::MAX), ms(72), "and bounded");
        let mut long = InferenceTimes::default();
        long.add(64, ms(8));
        assert_eq!(long.estimate(16), ms(2), "shorter than any: in proportion");
    }

    #[test]
    fn the_mean_follows_and_one_outlier_hardly_moves_it() {
        let mut times = InferenceTimes::default();
        times.add(16, ms(8));
        times.add(16, Duration::from_secs(60));
        assert_eq!(times.estimate(16), ms(9));
        for _ in 0..100 {
            times.add(16, ms(80));
        }
        assert!(times.estimate(16) > ms(75));
        for _ in 0..100 {
            times.add(16, ms(1));
        }
        assert!(times.estimate(16) < ms(2));
    }

    #[test]
    fn assistance_mends_an_estimate_that_is_too_high_and_makes_none_too_low() {
        let mut times = InferenceTimes::default();
        times.add(16, ms(8));
        times.add_assisted(16, ms(5));
        assert_eq!(times.estimate(16), ms(8), "alone it may well take as long");
        for _ in 0..100 {
            times.add_assisted(16, ms(2));
        }
        assert!((ms(4)..ms(5)).contains(&times.estimate(16)), "{:?}", times.estimate(16));
    }
}
