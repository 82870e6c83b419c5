//! What a signal has counted, and the strongest finding among several counts.

use std::cmp::Reverse;

use crate::{
    step::{Kind, Step},
    thresholds::Thresholds,
    verdict::{Finding, Signal, Verdict},
};

/// What a signal has counted, the thresholds for it, and the kind of what it counted.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    pub signal: Signal,
    pub count: u32,
    pub thresholds: Thresholds,
    pub kind: Kind,
    /// The call is the same each time, but its outcome was not.
    pub is_any_outcome: bool,
}

impl Counted {
    /// A count that says nothing.
    pub const NOTHING: Self =
        Self::of(Signal::RepeatedStep, 0, Thresholds { hint: 0, kill: 0 }, Kind::Acknowledgement);

    pub const fn of(signal: Signal, count: u32, thresholds: Thresholds, kind: Kind) -> Self {
        Self { signal, count, thresholds, kind, is_any_outcome: false }
    }
}

/// The strongest finding in these counts of the last step; of equally strong ones that whose signal ranks first.
pub fn strongest<const N: usize>(last: &Step<'_>, found: [Counted; N]) -> Option<Finding> {
    let judged = found.into_iter().map(|counted| (counted.thresholds.verdict(counted.count), counted));
    let fired = judged.filter(|(verdict, _)| *verdict > Verdict::Allow);
    let (verdict, found) = fired.min_by_key(|(verdict, found)| (Reverse(*verdict), found.signal.rank()))?;
    Some(Finding {
        count: found.count,
        tool: last.tool.to_owned(),
        is_waiting: found.kind == Kind::Waiting,
        is_any_outcome: found.is_any_outcome,
        ..Finding::of(found.signal, verdict)
    })
}

/// A length as a count.
pub fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
