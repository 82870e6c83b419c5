//! Counts from which a signal speaks.

use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// Counts from which a signal hints and kills; 0: never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Thresholds {
    pub hint: u32,
    pub kill: u32,
}

impl Thresholds {
    /// Without the hint.
    pub(crate) fn killing(self) -> Self {
        Self { hint: 0, ..self }
    }

    /// Without the kill.
    pub(crate) fn hinting(self) -> Self {
        Self { kill: 0, ..self }
    }

    /// A hint from this count on, and never a kill.
    pub(crate) fn hinting_from(hint: u32) -> Self {
        Self { hint, kill: 0 }
    }

    /// At least this count. The kill comes as long after the hint as before.
    pub(crate) fn from(self, least: u32) -> Self {
        let gap = if self.hint == 0 { 0 } else { self.kill.saturating_sub(self.hint) };
        let hint = if self.hint == 0 { 0 } else { self.hint.max(least) };
        let kill = if self.kill == 0 { 0 } else { self.kill.max(least.saturating_add(gap)) };
        Self { hint, kill }
    }

    /// The lower threshold of the two.
    pub(crate) fn strict(self, other: Self) -> Self {
        let sooner = |one: u32, other: u32| match (one, other) {
            (0, count) | (count, 0) => count,
            (one, other) => one.min(other),
        };
        Self { hint: sooner(self.hint, other.hint), kill: sooner(self.kill, other.kill) }
    }

    /// With the hint of the other, if that is higher or never comes.
    pub(crate) fn lenient_hint(self, other: Self) -> Self {
        Self { hint: self.lenient(other).hint, ..self }
    }

    /// The higher threshold of the two, or none if one of them has none.
    pub(crate) fn lenient(self, other: Self) -> Self {
        let later = |one: u32, other: u32| if one == 0 || other == 0 { 0 } else { one.max(other) };
        Self { hint: later(self.hint, other.hint), kill: later(self.kill, other.kill) }
    }

    /// The lowest count from which something is said.
    pub(crate) fn least(self) -> u32 {
        let counts = [self.hint, self.kill].into_iter().filter(|count| *count > 0);
        counts.min().unwrap_or(u32::MAX)
    }

    pub(crate) fn verdict(self, count: u32) -> Verdict {
        if self.kill > 0 && count >= self.kill {
            Verdict::Kill
        } else if self.hint > 0 && count >= self.hint {
            Verdict::Hint
        } else {
            Verdict::Allow
        }
    }
}
