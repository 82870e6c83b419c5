//! Same outcome: one tool, any arguments, and each time the same result. Weak evidence: it hints and never kills.

use super::count as count_of;
use crate::step::{Kind, Step};

/// Steps in a row at the tail with the same tools and the same outcome. Receipts are no outcome and are passed over.
pub fn count(steps: &[Step]) -> u32 {
    let outcomes = || steps.iter().rev().filter(|step| step.kind != Kind::Receipt);
    let Some(last) = outcomes().next() else { return 0 };
    let same = |step: &&Step| step.tools == last.tools && step.outcome == last.outcome;
    count_of(outcomes().take_while(same).count())
}
