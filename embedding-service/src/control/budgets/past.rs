//! What counted on each of the last seven days, so that new limits can be compared with it before they act.

use sentinel_proto::v1::{self, Unit};
use serde::{Deserialize, Serialize};

use super::amounts::{Amounts, UNITS};

const DAY_MS: u64 = 24 * 3_600_000;
/// Days that are stored, today among them.
const DAYS: u64 = 7;
pub const WEEK_MS: u64 = DAYS * DAY_MS;

/// The last days on which something counted, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past(Vec<Day>);

/// A day (UTC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Day {
    pub from_ms: u64,
    /// For each unit, the highest amount that counted at one time of the day.
    pub most: Amounts,
    /// Which limits a request would have crossed: a bit for each of [`UNITS`], and one for seconds.
    refused: u8,
}

/// The bit of seconds.
const SECONDS: usize = UNITS.len();

impl Past {
    #[must_use]
    pub fn days(&self) -> &[Day] {
        &self.0
    }

    /// Notes the amounts that count now.
    pub fn note(&mut self, now_ms: u64, amounts: Amounts) {
        if amounts.is_nothing() {
            return;
        }
        if let Some(day) = self.today(now_ms) {
            day.most = day.most.with(amounts, u64::max);
        }
    }

    /// A request was refused for this limit, or would have been if the budget did not only record.
    pub fn refuse(&mut self, now_ms: u64, limit: &v1::Limit) {
        let place = UNITS.iter().position(|unit| !limit.seconds && *unit == limit.unit()).unwrap_or(SECONDS);
        if let Some(day) = self.today(now_ms) {
            day.refused |= bit(place);
        }
    }

    /// The entry for the day of `now_ms`. Services may have different clocks: a day before the last entry counts as the last entry.
    fn today(&mut self, now_ms: u64) -> Option<&mut Day> {
        let from_ms = begin_of_day(now_ms);
        self.0.retain(|day| is_one_of_the_last(day, from_ms));
        if self.0.last().is_none_or(|day| day.from_ms < from_ms) {
            self.0.push(Day { from_ms, ..Day::default() });
        }
        self.0.last_mut()
    }
}

impl Day {
    /// Whether a limit of this unit was reached by a request; `None`: of seconds.
    #[must_use]
    pub fn was_refused(&self, unit: Option<Unit>) -> bool {
        let place = unit.map_or(Some(SECONDS), |unit| UNITS.iter().position(|one| *one == unit));
        place.is_some_and(|place| self.refused & bit(place) != 0)
    }
}

/// Days that are still among the last seven.
#[must_use]
pub fn last_days(days: &[Day], now_ms: u64) -> Vec<Day> {
    let today = begin_of_day(now_ms);
    days.iter().filter(|day| is_one_of_the_last(day, today)).copied().collect()
}

fn begin_of_day(now_ms: u64) -> u64 {
    now_ms.saturating_sub(now_ms.checked_rem(DAY_MS).unwrap_or(0))
}

fn is_one_of_the_last(day: &Day, today: u64) -> bool {
    day.from_ms.saturating_add(WEEK_MS) > today
}

fn bit(place: usize) -> u8 {
    u32::try_from(place).ok().and_then(|place| 1_u8.checked_shl(place)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(tokens: u64) -> Amounts {
        Amounts { tokens, ..Amounts::default() }
    }

    fn limit(unit: Unit, seconds: bool) -> v1::Limit {
        v1::Limit { unit: unit.into(), seconds, ..v1::Limit::default() }
    }

    #[test]
    fn the_most_of_each_day_is_kept_for_seven_days() {
        let mut past = Past::default();
        past.note(5, Amounts::default());
        assert!(past.days().is_empty(), "nothing counted");
        for day in 0..20 {
            for amount in [3, 9 + day, 4] {
                past.note(day * DAY_MS + amount, tokens(amount));
            }
        }
        let kept: Vec<(u64, u64)> =
            past.days().iter().map(|day| (day.from_ms / DAY_MS, day.most.tokens)).collect();
        assert_eq!(kept, (13..20).map(|day| (day, 9 + day)).collect::<Vec<_>>());
        assert_eq!(last_days(past.days(), 21 * DAY_MS + 1).len(), 5);
        // A clock that is behind.
        past.note(18 * DAY_MS, tokens(100));
        assert_eq!(past.days().last().unwrap().most.tokens, 100);
        assert_eq!(past.days().len(), 7);
    }

    #[test]
    fn which_limit_refused_is_told_apart() {
        let mut past = Past::default();
        past.refuse(7, &limit(Unit::Requests, false));
        past.refuse(8, &limit(Unit::Unspecified, true));
        let day = past.days()[0];
        let refused: Vec<Option<Unit>> =
            UNITS.into_iter().map(Some).chain([None]).filter(|unit| day.was_refused(*unit)).collect();
        assert_eq!(refused, [Some(Unit::Requests), None]);
    }
}
