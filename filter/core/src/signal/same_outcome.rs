//! Same outcome: one tool, any arguments, and each time the same result. Weak evidence: it hints and never kills.

use super::count as count_of;
use crate::step::Step;

/// Steps in a row at the tail with the same tools and the same outcome. A receipt is no outcome.
pub fn count(steps: &[Step]) -> u32 {
    let Some(last) = steps.last().filter(|step| !step.is_receipt) else { return 0 };
    let same = |step: &&Step| step.tools == last.tools && step.outcome == last.outcome;
    count_of(steps.iter().rev().take_while(same).count())
}
