//! What the model is told in a hint, and the agent in a kill.

use sentinel_detect::verdict::{Finding, Signal};

use crate::{case::Case, decide::Decision};

/// The hint for the finding's signal, with tool and count filled in.
pub fn hint(case: &Case, decision: &Decision) -> String {
    let texts = &case.policy.hint;
    match &decision.finding {
        Some(Finding { signal, tool, count, is_waiting, .. }) => {
            let text = if *is_waiting { &texts.waiting } else { texts.text(*signal) };
            text.replace("{tool}", tool).replace("{count}", &count.to_string())
        }
        None => texts.text(Signal::Score).to_owned(),
    }
}

/// The kill message, with its reason filled in.
pub fn kill(case: &Case, decision: &Decision) -> String {
    let reason = decision.finding.as_ref().map(Finding::explanation).unwrap_or_default();
    case.policy.kill.message.replace("{reason}", &reason)
}

/// What the agent is told whose request is refused for what it says by itself.
pub fn refusal(decision: &Decision) -> String {
    let reason = decision.finding.as_ref().map(Finding::explanation).unwrap_or_default();
    format!("This request was refused because {reason}.")
}
