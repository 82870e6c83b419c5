//! Spotlight: marks tool results as data. All results of a request are marked, in the same way each time, so that the provider's
//! prompt cache keeps its prefix while the run grows.

use sentinel_config::{Mode, Policy};

use super::Seen;
use crate::case::Case;

/// Adds the edits that mark them.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let Policy { spotlight: Some(spotlight), mode: Mode::Enforce, .. } = &*case.policy else { return };
    case.edits.extend(spotlight.edits(seen.conversation));
}
