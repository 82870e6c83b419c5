//! What the model is told in a hint, and the agent in a kill.

use sentinel_config::{Config, Policy};
use sentinel_detect::verdict::{Finding, Signal};

use crate::{case::Case, decide::Decision};

/// The hint for the finding's signal, with tool and count filled in.
pub fn hint(case: &Case, decision: &Decision) -> String {
    let texts = &case.policy.hint;
    match &decision.finding {
        Some(finding) if finding.signal == Signal::Budget => {
            texts.text(finding.signal).replace("{left}", &finding.amount)
        }
        Some(Finding { signal, tool, count, is_waiting, is_any_outcome, .. }) => {
            let text = match (is_waiting, is_any_outcome) {
                (true, _) => &texts.waiting,
                (false, true) => &texts.same_call,
                (false, false) => texts.text(*signal),
            };
            text.replace("{tool}", tool).replace("{count}", &count.to_string())
        }
        None => texts.text(Signal::Score).to_owned(),
    }
}

/// The kill message, with its reason filled in, and what lifts it.
pub fn kill(policy: &Policy, decision: &Decision) -> String {
    let finding = decision.finding.as_ref();
    let reason = finding.map(Finding::explanation).unwrap_or_default();
    let stays = finding.is_some_and(|finding| matches!(finding.signal, Signal::Stopped | Signal::Budget));
    let advice = if stays { "" } else { "Send a new user message to go on." };
    // The advice is filled in first, because the reason may hold an operator's words.
    policy.kill.message.replace("{advice}", advice).replace("{reason}", &reason).trim_end().to_owned()
}

/// What the agent is told if its request is refused for what it says by itself.
pub fn refusal(decision: &Decision) -> String {
    let reason = decision.finding.as_ref().map(Finding::explanation).unwrap_or_default();
    format!("This request was refused because {reason}.")
}

/// What the agent is told if its call of an MCP server's tool is stopped.
pub fn not_executed(config: &Config, finding: &Finding) -> String {
    let Finding { signal, tool, count, .. } = finding;
    match signal {
        Signal::ToolDenied => format!("Not executed: `{tool}` is no tool that this agent may use."),
        Signal::McpBreaker => format!(
            "Not executed: `{tool}` was called {count} times with the same arguments within {} s. Use the result that you \
            have, change the arguments, or tell the user what stops you.",
            config.mcp.window.div_ceil(1_000)
        ),
        _ => format!("Not executed: {}.", finding.explanation()),
    }
}
