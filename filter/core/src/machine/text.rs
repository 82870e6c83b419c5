//! What the model is told in a hint, and the agent in a kill.

use super::Case;
use crate::{signal::Finding, verdict::Signal};

/// The hint for the case's signal, with tool and count filled in.
pub fn hint(case: &Case) -> String {
    let text = case.policy.hint.text(case.judgement.signal.unwrap_or(Signal::Score));
    match case.finding_at_hand() {
        Some(Finding { tool, count, .. }) => {
            text.replace("{tool}", tool).replace("{count}", &count.to_string())
        }
        None => text.to_owned(),
    }
}

/// The kill message, with its reason filled in.
pub fn kill(case: &Case) -> String {
    let reason = match case.finding_at_hand() {
        Some(finding) => finding.told(),
        None => "it keeps repeating the same request with the same outcome".to_owned(),
    };
    case.policy.kill.message.replace("{reason}", &reason)
}
