//! The numbers that stand in an explicit failure. A counter of attempts is one more each time; a number that falls or moves
//! otherwise is progress.

use sentinel_text::digest;
use serde::{Deserialize, Serialize};

/// How many of the last numbers of a failure are compared one by one. The numbers before them must be equal.
const MOST: usize = 8;

/// The last numbers of a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Numbers {
    values: [u32; MOST],
    length: u8,
    /// A bit for each number that is a duration. Its value counts only if it falls.
    durations: u8,
}

/// Whether a number is a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Plain(u32),
    Duration(u32),
}

impl Numbers {
    /// The last of `all`, and those before them.
    pub(super) fn of(all: &[Number]) -> (Self, &[Number]) {
        let (before, last) = all.split_at_checked(all.len().saturating_sub(MOST)).unwrap_or((&[], all));
        let mut numbers = Self { length: u8::try_from(last.len()).unwrap_or(0), ..Self::default() };
        for (place, (slot, number)) in numbers.values.iter_mut().zip(last).enumerate() {
            *slot = match number {
                Number::Plain(value) => *value,
                Number::Duration(value) => {
                    numbers.durations |= bit(place);
                    *value
                }
            };
        }
        (numbers, before)
    }

    fn plain(&self, earlier: &Self) -> impl Iterator<Item = (usize, u32)> {
        let (now, then, durations) = (self.values, earlier.values, self.durations);
        let both = now.into_iter().zip(then).take(usize::from(self.length)).enumerate();
        both.filter(move |(place, _)| durations & bit(*place) == 0)
            .map(|(place, (now, then))| (place, now.wrapping_sub(then)))
    }

    fn has_form_of(&self, other: &Self) -> bool {
        self.length == other.length && self.durations == other.durations
    }

    /// Digest of the numbers, where they are not compared one by one.
    pub fn digest(&self) -> u64 {
        let none = Self::default();
        let plain: Vec<u8> = self.plain(&none).flat_map(|(_, value)| value.to_le_bytes()).collect();
        if plain.is_empty() { 0 } else { digest(&plain) }
    }

    /// Each number is the same as in the failure right before, or one more.
    pub fn follow(&self, earlier: &Self) -> bool {
        self.has_form_of(earlier) && self.plain(earlier).all(|(_, more)| more <= 1)
    }

    /// Each number is that of the earlier failure, or has risen as a counter does over some steps.
    pub fn are_like(&self, earlier: &Self) -> bool {
        /// A history is read back this many steps.
        const FAR: u32 = 48;
        self.has_form_of(earlier) && self.plain(earlier).all(|(_, more)| more <= FAR)
    }
}

fn bit(place: usize) -> u8 {
    1_u8.wrapping_shl(u32::try_from(place).unwrap_or(0))
}

/// Failures one after the other that belong to one sequence, read from the last one back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequence {
    /// The earliest one so far.
    earliest: Numbers,
    /// By how much each number rises from one to the next, once two are known.
    rise: Option<[u32; MOST]>,
    /// A bit for each duration that has fallen each time so far.
    falling: u8,
    /// And for each that has grown by half at least each time.
    doubling: u8,
    most: u32,
}

impl Sequence {
    /// `period`: the most steps between two of the failures. A counter of steps rises by at most as much.
    pub fn ending_with(last: Numbers, period: usize) -> Self {
        let most = u32::try_from(period).unwrap_or(1);
        Self { earliest: last, rise: None, falling: last.durations, doubling: last.durations, most }
    }

    /// Whether `earlier` fits in front of the failures known so far. If so, it is added.
    pub fn takes(&mut self, earlier: &Numbers) -> bool {
        let later = self.earliest;
        if !later.has_form_of(earlier) {
            return false;
        }
        let mut rise = [0; MOST];
        for (place, more) in later.plain(earlier) {
            if more > self.most {
                return false;
            }
            if let Some(slot) = rise.get_mut(place) {
                *slot = more;
            }
        }
        if self.rise.is_some_and(|known| known != rise) {
            return false;
        }
        for (place, (now, then)) in later.values.iter().zip(&earlier.values).enumerate() {
            if now >= then {
                self.falling &= !bit(place);
            }
            if *now < then.saturating_add(then.div_ceil(2)) || *then == 0 {
                self.doubling &= !bit(place);
            }
        }
        (self.rise, self.earliest) = (Some(rise), *earlier);
        true
    }

    /// A time that is left gets shorter each time: "retry after 60 seconds", then 50, then 40. Or somebody backs off: 2, 4, 8.
    pub fn nears_an_end(&self) -> bool {
        self.rise.is_some() && (self.falling | self.doubling) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[u32], duration: u32) -> Numbers {
        let all: Vec<Number> =
            values.iter().map(|value| Number::Plain(*value)).chain([Number::Duration(duration)]).collect();
        Numbers::of(&all).0
    }

    fn taken(run: &[Numbers]) -> (usize, bool) {
        let (last, earlier) = run.split_last().unwrap();
        let mut sequence = Sequence::ending_with(*last, 1);
        let count = earlier.iter().rev().take_while(|numbers| sequence.takes(numbers)).count();
        (count, sequence.nears_an_end())
    }

    #[test]
    fn counters_and_constants_are_one_sequence_and_other_numbers_are_progress() {
        let run = |of: fn(u32) -> [u32; 2]| -> Vec<Numbers> {
            (0..5).map(|n| numbers(&of(n), [7, 9, 3, 8, 1][n as usize])).collect()
        };
        assert_eq!(taken(&run(|n| [3, n])), (4, false), "attempt 1, 2, 3");
        assert_eq!(taken(&run(|n| [3, 14 - 2 * n])), (0, false), "number 14, 12, 10");
        assert_eq!(taken(&run(|n| [3, 11 - n])), (0, false), "errors 11, 10, 9");
        assert_eq!(taken(&run(|n| [3, n / 2])), (1, true), "a line that moves now and then");
        let left: Vec<Numbers> = (0..5).map(|n| numbers(&[3], 60 - 10 * n)).collect();
        assert_eq!(taken(&left), (4, true), "retry after 60, 50, 40 seconds");
        let backs_off = |most: u32| (0..5).map(|n| numbers(&[3], (1_000 << n).min(most))).collect::<Vec<_>>();
        assert_eq!(taken(&backs_off(99_000)), (4, true), "next try in 1, 2, 4, 8, 16 seconds");
        assert_eq!(taken(&backs_off(4_000)), (4, false), "1, 2, 4, 4, 4");
    }
}
