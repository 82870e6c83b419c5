//! Tools: which of them may be offered to the model, and the record of those that are called.

use sentinel_detect::{
    arguments::canonical,
    step::shown,
    verdict::{Finding, Signal, Verdict},
};
use sentinel_llm_api::answer::Answer;

use crate::{
    case::Case,
    config::Policy,
    host::Host,
    identity::Scope,
    metric::{DeniedTool, Metric},
    record::{self, CallDecision, ToolCallRecord},
};

/// Adds the edits that take denied tools out of the request, or a finding where it wants one of them to be called.
pub fn run(case: &mut Case, body: &[u8], host: &mut impl Host) {
    let tools = &case.policy.tools;
    if tools.is_open() {
        return;
    }
    let Ok(body) = std::str::from_utf8(body) else { return };
    // What cannot be read as tools offers none.
    let Ok(offer) = case.dialect.offer(body, &|name| tools.may(name)) else { return };
    let label = case.dialect.label();
    if !offer.denied.is_empty() {
        let count = u64::try_from(offer.denied.len()).unwrap_or(0);
        host.count(Metric::ToolsDenied(DeniedTool::Offered, label), count);
    }
    if let Some(forced) = offer.forced {
        host.count(Metric::ToolsDenied(DeniedTool::Forced, label), 1);
        let tool = shown(&forced);
        case.findings.push(Finding { tool, ..Finding::of(Signal::ToolDenied, Verdict::Kill) });
    }
    case.edits.extend(offer.edits);
}

/// Puts the calls of an answer on record.
pub fn answered(
    policy: &Policy,
    dialect: &'static str,
    scope: &Scope,
    answer: &Answer,
    host: &mut impl Host,
) {
    if !policy.tools.audit && policy.tools.is_open() {
        return;
    }
    for call in &answer.calls {
        let may = policy.tools.may(&call.name);
        if !may {
            host.count(Metric::ToolsDenied(DeniedTool::Called, dialect), 1);
        }
        if policy.tools.audit {
            let decision = if may { CallDecision::Allow } else { CallDecision::NotOffered };
            let arguments = canonical(&call.arguments).digest;
            record::tool_call(
                scope,
                &ToolCallRecord { dialect, tool: &call.name, arguments, decision },
                host,
            );
        }
    }
}
