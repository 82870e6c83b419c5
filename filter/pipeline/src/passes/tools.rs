//! Tools: which of them may be offered to the model, and the record of those that are called.

use sentinel_config::Policy;
use sentinel_detect::{
    arguments::canonical,
    step::shown,
    verdict::{Finding, Signal, Verdict},
};
use sentinel_llm_api::{answer::Answer, tools::PolicyLists};

use super::{McpSeen, Seen, Surroundings};
use crate::{
    case::{AnswerCase, Case, McpCase},
    metric::{DeniedTool, Enforced, MCP, Metric},
    note::{CallDecision, CountedToolCall, Note},
};

/// Adds the edits that cut denied tools out of the request. Adds a finding if the request forces the model to call one of them.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let tools = &case.policy.tools;
    if tools.is_open() {
        return;
    }
    let may = |name: &str, asked| match asked {
        PolicyLists::Both => tools.may(name),
        PolicyLists::Deny => !tools.denies(name),
    };
    let Ok(offer) = seen.conversation.offer(&may) else {
        // What cannot be read as tools here may still be tools to the provider.
        case.unread();
        return;
    };
    let (label, enforced) = (case.dialect.label(), Enforced::of(&case.policy));
    if !offer.denied.is_empty() {
        let count = u64::try_from(offer.denied.len()).unwrap_or(0);
        case.notes.push(Note::Count(Metric::ToolsDenied(DeniedTool::Offered, label, enforced), count));
    }
    if let Some(forced) = offer.forced {
        case.notes.push(Note::Count(Metric::ToolsDenied(DeniedTool::Forced, label, enforced), 1));
        let tool = shown(&forced);
        case.findings.push(Finding { tool, ..Finding::of(Signal::ToolDenied, Verdict::Kill) });
    }
    case.edits.extend(offer.edits);
}

/// Adds a finding if a request to an MCP server calls a tool that its agent may not use.
pub fn called(seen: &McpSeen<'_>, case: &mut McpCase) {
    let denied = seen.wanted.calls.iter().filter(|tool| !case.policy.tools.may(tool));
    let Some(tool) = denied.clone().next().map(|tool| shown(tool)) else { return };
    let count = u64::try_from(denied.count()).unwrap_or(0);
    case.notes
        .push(Note::Count(Metric::ToolsDenied(DeniedTool::Called, MCP, Enforced::of(&case.policy)), count));
    case.findings.push(Finding { tool, ..Finding::of(Signal::ToolDenied, Verdict::Kill) });
}

/// Records the calls of an answer.
pub fn answered(_: &Surroundings<'_>, case: &mut AnswerCase) {
    if let Some(answer) = &case.answer {
        note_calls(&case.policy, case.dialect.label(), answer, &mut case.notes);
    }
}

/// The same of any answer.
pub fn note_calls(policy: &Policy, dialect: &'static str, answer: &Answer, notes: &mut Vec<Note>) {
    if !policy.tools.audit && policy.tools.is_open() {
        return;
    }
    for call in &answer.calls {
        let may = policy.tools.may(&call.name);
        if !may {
            notes.push(Note::Count(Metric::ToolsDenied(DeniedTool::Called, dialect, Enforced(false)), 1));
        }
        if policy.tools.audit {
            let decision = if may { CallDecision::Allow } else { CallDecision::NotOffered };
            let arguments = canonical(&call.arguments).digest;
            notes.push(Note::ToolCall(CountedToolCall { tool: call.name.clone(), arguments, decision }));
        }
    }
}
