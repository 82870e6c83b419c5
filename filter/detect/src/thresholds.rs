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

    /// What both allow.
    pub(crate) fn lenient(self, other: Self) -> Self {
        let later = |one: u32, other: u32| if one == 0 || other == 0 { 0 } else { one.max(other) };
        Self { hint: later(self.hint, other.hint), kill: later(self.kill, other.kill) }
    }

    /// The count from which it says something.
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
