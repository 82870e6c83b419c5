//! The window of a budget: the time over which it counts, and how its spending is stored in parts.

use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use sentinel_config::{BudgetWindow, CalendarUnit};
use serde::{Deserialize, Serialize};

use super::amounts::Amounts;

/// A window is counted in this many parts.
const PARTS: u64 = 60;
/// Length of a part in the life of a run, in milliseconds. When a run has too many parts, neighbours are joined.
const RUN_PART: u64 = 60_000;
/// The most parts that are stored. Windows of a known length have fewer. Only the parts of a run's life reach it, and are then joined in pairs.
const MOST_PARTS: usize = 64;

/// What was spent, by parts: the time at which a part begins, and the amounts in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent(Vec<(u64, Amounts)>);

/// The part of a window that a time belongs to, and what of the past counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Beginning of the current part.
    pub part_ms: u64,
    /// Parts that began before this no longer count.
    pub since_ms: u64,
    /// When all that is spent now no longer counts; `None`: never by itself.
    pub renews_ms: Option<u64>,
}

impl Period {
    #[must_use]
    pub fn of(window: &BudgetWindow, now_ms: u64) -> Self {
        match window {
            BudgetWindow::Run => Self { part_ms: part_of(now_ms, 0, RUN_PART), since_ms: 0, renews_ms: None },
            BudgetWindow::Sliding(length) => {
                let part = length.checked_div(PARTS).unwrap_or(1).max(1);
                let part_ms = part_of(now_ms, 0, part);
                // A part counts until its last moment is out of the window.
                let since_ms = now_ms.saturating_add(1).saturating_sub(*length).saturating_sub(part);
                let renews_ms = Some(now_ms.saturating_add(*length).saturating_add(part));
                Self { part_ms, since_ms, renews_ms }
            }
            BudgetWindow::Calendar(unit, zone) => {
                let (begin, end) = calendar(*unit, zone, now_ms).unwrap_or((0, u64::MAX));
                let length = end.saturating_sub(begin).div_ceil(PARTS).max(1);
                Self { part_ms: part_of(now_ms, begin, length), since_ms: begin, renews_ms: Some(end) }
            }
        }
    }
}

/// The beginning of the part that a time belongs to, where the first one began at `first_ms`.
fn part_of(now_ms: u64, first_ms: u64, length: u64) -> u64 {
    let since = now_ms.saturating_sub(first_ms);
    first_ms.saturating_add(since.saturating_sub(since.checked_rem(length).unwrap_or(0)))
}

/// Begin and end of the day, week or month.
fn calendar(unit: CalendarUnit, zone: &str, now_ms: u64) -> Option<(u64, u64)> {
    let zone = TimeZone::get(zone).ok()?;
    let now = Timestamp::from_millisecond(i64::try_from(now_ms).ok()?).ok()?;
    let today = now.to_zoned_datetime(zone.clone()).date();
    let (first, next) = match unit {
        CalendarUnit::Day => (today, today.checked_add(1.day()).ok()?),
        CalendarUnit::Week => {
            let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok()?;
            (monday, monday.checked_add(1.week()).ok()?)
        }
        CalendarUnit::Month => {
            let first = today.first_of_month();
            (first, first.checked_add(1.month()).ok()?)
        }
    };
    Some((millisecond(first, &zone)?, millisecond(next, &zone)?))
}

/// When a day begins.
fn millisecond(date: Date, zone: &TimeZone) -> Option<u64> {
    let begin = date.to_zoned_datetime(zone.clone()).ok()?;
    u64::try_from(begin.timestamp().as_millisecond()).ok()
}

impl Spent {
    /// Forgets what no longer counts.
    pub fn roll(&mut self, period: Period) {
        self.0.retain(|(part, _)| *part >= period.since_ms);
    }

    #[must_use]
    pub fn total(&self) -> Amounts {
        self.0.iter().fold(Amounts::default(), |sum, (_, amounts)| sum.plus(*amounts))
    }

    /// Each part that counts: from when on, and what was spent in it. The oldest first.
    #[must_use]
    pub fn parts(&self) -> &[(u64, Amounts)] {
        &self.0
    }

    pub fn add(&mut self, period: Period, amounts: Amounts) {
        if amounts.is_nothing() {
            return;
        }
        match self.0.last_mut().filter(|(part, _)| *part >= period.part_ms) {
            Some((_, spent)) => *spent = spent.plus(amounts),
            None => {
                if self.0.len() >= MOST_PARTS {
                    self.join();
                }
                self.0.push((period.part_ms, amounts));
            }
        }
    }

    /// Two neighbours become one, from the beginning of the first on.
    fn join(&mut self) {
        let pairs = self.0.chunks(2).filter_map(|pair| {
            let (from_ms, _) = pair.first()?;
            Some((*from_ms, pair.iter().fold(Amounts::default(), |sum, (_, amounts)| sum.plus(*amounts))))
        });
        self.0 = pairs.collect();
    }

    /// Takes back what had been counted and was not spent after all. It is taken from the oldest parts that began at `since_ms` or later, so
    /// that real spending stays in the part in which it happened. In the window of a run, parts may have been joined since then, so there it
    /// is taken from the newest parts.
    pub fn take_back(&mut self, since_ms: u64, period: Period, mut amounts: Amounts) {
        let mut take = |spent: &mut Amounts| {
            let left = spent.less(amounts);
            amounts = amounts.less(*spent);
            *spent = left;
        };
        if period.renews_ms.is_none() {
            self.0.iter_mut().rev().for_each(|(_, spent)| take(spent));
        } else {
            let parts = self.0.iter_mut().filter(|(part, _)| *part >= since_ms);
            parts.for_each(|(_, spent)| take(spent));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> u64 {
        u64::try_from(time.parse::<Timestamp>().unwrap().as_millisecond()).unwrap()
    }

    fn tokens(tokens: u64) -> Amounts {
        Amounts { tokens, ..Amounts::default() }
    }

    #[test]
    fn calendar_windows_begin_where_their_zone_says_also_when_clocks_change() {
        for (unit, zone, now, begin, end) in [
            (
                CalendarUnit::Day,
                "UTC",
                "2026-03-29T12:00:00Z",
                "2026-03-29T00:00:00Z",
                "2026-03-30T00:00:00Z",
            ),
            // 23 hours.
            (
                CalendarUnit::Day,
                "Europe/Zurich",
                "2026-03-29T12:00:00Z",
                "2026-03-28T23:00:00Z",
                "2026-03-29T22:00:00Z",
            ),
            (
                CalendarUnit::Day,
                "Asia/Tokyo",
                "2026-03-29T16:00:00Z",
                "2026-03-29T15:00:00Z",
                "2026-03-30T15:00:00Z",
            ),
            // A Sunday belongs to the week that began on the Monday before it.
            (
                CalendarUnit::Week,
                "UTC",
                "2026-03-29T12:00:00Z",
                "2026-03-23T00:00:00Z",
                "2026-03-30T00:00:00Z",
            ),
            (
                CalendarUnit::Month,
                "UTC",
                "2026-12-31T23:59:59Z",
                "2026-12-01T00:00:00Z",
                "2027-01-01T00:00:00Z",
            ),
            (
                CalendarUnit::Month,
                "America/New_York",
                "2026-03-01T04:59:59Z",
                "2026-02-01T05:00:00Z",
                "2026-03-01T05:00:00Z",
            ),
            // Midnight is skipped there on that day.
            (
                CalendarUnit::Day,
                "America/Santiago",
                "2026-09-06T12:00:00Z",
                "2026-09-06T04:00:00Z",
                "2026-09-07T03:00:00Z",
            ),
        ] {
            let period = Period::of(&BudgetWindow::Calendar(unit, zone.to_owned()), at(now));
            assert_eq!(
                (period.since_ms, period.renews_ms),
                (at(begin), Some(at(end))),
                "{unit:?} {zone} {now}"
            );
        }
    }

    #[test]
    fn a_sliding_window_counts_all_of_its_time_and_no_more_than_a_part_beyond() {
        let window = BudgetWindow::Sliding(3_600_000);
        let mut spent = Spent::default();
        for second in 0..7_200_u64 {
            let period = Period::of(&window, second * 1_000);
            spent.roll(period);
            spent.add(period, tokens(1));
            let counted = spent.total().tokens;
            assert!((3_600..=3_661).contains(&counted) || counted == second + 1, "{second}: {counted}");
        }
        spent.roll(Period::of(&window, 7_200_000 + 3_661_000));
        assert_eq!(spent.total(), Amounts::default());
    }

    #[test]
    fn what_was_not_spent_is_taken_back_where_it_was_counted() {
        let window = BudgetWindow::Sliding(60_000);
        let mut spent = Spent::default();
        spent.add(Period::of(&window, 1_000), tokens(7));
        spent.add(Period::of(&window, 10_000), tokens(100));
        spent.add(Period::of(&window, 50_000), tokens(100));
        spent.take_back(10_000, Period::of(&window, 50_000), tokens(60));
        spent.roll(Period::of(&window, 71_000));
        assert_eq!(spent.total(), tokens(100), "the last hundred were spent within the last minute");
        spent.take_back(0, Period::of(&window, 71_000), tokens(1_000));
        assert_eq!(spent.total(), Amounts::default());
    }

    #[test]
    fn a_calendar_window_has_parts_and_counts_exactly_its_own_time() {
        let window = BudgetWindow::Calendar(CalendarUnit::Day, "Europe/Zurich".to_owned());
        let mut spent = Spent::default();
        // A day of 23 hours, minute by minute, and the first hour of the next.
        let begin = at("2026-03-28T23:00:00Z");
        for minute in 0..24 * 60_u64 {
            let period = Period::of(&window, begin + minute * 60_000);
            spent.roll(period);
            spent.add(period, tokens(1));
            let counted = if minute < 23 * 60 { minute + 1 } else { minute + 1 - 23 * 60 };
            assert_eq!(spent.total(), tokens(counted), "{minute}");
            if minute == 23 * 60 - 1 {
                assert_eq!((spent.parts().len(), spent.parts()[0]), (60, (begin, tokens(23))));
            }
        }
    }

    #[test]
    fn all_of_a_run_counts_in_a_bounded_number_of_parts() {
        let mut spent = Spent::default();
        for minute in 0..10_000_u64 {
            let period = Period::of(&BudgetWindow::Run, 1_000 + minute * 60_000);
            spent.roll(period);
            spent.add(period, tokens(1));
            spent.add(period, Amounts::default());
            assert!(
                spent.parts().len() <= MOST_PARTS && spent.parts().is_sorted_by_key(|(from_ms, _)| *from_ms)
            );
        }
        assert_eq!((spent.total(), spent.parts()[0].0), (tokens(10_000), 0));
        // Takes back what was granted in a part that has been joined with others since.
        let period = Period::of(&BudgetWindow::Run, 1_000 + 10_000 * 60_000);
        spent.take_back(9_999 * 60_000, period, tokens(40));
        assert_eq!(spent.total(), tokens(9_960));
        assert!(spent.parts().len() > MOST_PARTS / 2, "{:?}", spent.parts());
    }
}
