//! Models: which of them an agent may ask.

use super::Seen;
use crate::case::Case;
use sentinel_detect::{
    step::shown,
    verdict::{Finding, Signal, Verdict},
};

/// Finds requests for a model that the agent may not use. If it may use only some, also requests that name no model.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let models = &case.policy.models;
    if models.is_open() {
        return;
    }
    let mut asked = seen.conversation.models();
    asked.extend(seen.path.model.clone());
    asked.extend_from_slice(&seen.path.others);
    let denied = asked.iter().find(|model| !models.may(model)).map(|model| shown(model));
    let denied = denied.or_else(|| asked.is_empty().then(String::new));
    if let Some(tool) = denied {
        case.findings.push(Finding { tool, ..Finding::of(Signal::ModelDenied, Verdict::Kill) });
    }
}
