//! Breaker: one tool of an MCP server that is called with the same arguments too often in too short a time.

use sentinel_detect::{
    arguments::canonical,
    step::shown,
    verdict::{Finding, Signal, Verdict},
};
use sentinel_llm_api::mcp::McpToolCall;
use sentinel_text::{digest, digest_pair};

use super::McpSeen;
use crate::{bypass::Bypass, case::McpCase, metric::Metric, note::Note, shared_data::change_call_rates};

/// Adds a finding if every call of the request is one too many. A request goes on if anything else in it waits for an answer,
/// because that is no loop.
pub fn run(seen: &McpSeen<'_>, case: &mut McpCase) {
    let McpSeen { config, host, .. } = seen;
    let requests = match seen.requests {
        Ok(requests) => requests,
        Err(error) => return case.notes.push(Note::Bypassed((*error).into())),
    };
    let calls = requests.iter().filter(|request| request.call.is_some()).count();
    if calls == 0 {
        return;
    }
    case.notes.push(Note::Count(Metric::McpCalls, u64::try_from(calls).unwrap_or(0)));
    if !case.scope.is_identified() {
        return case.notes.push(Note::Bypassed(Bypass::NoIdentity));
    }
    case.is_judged = true;
    let (now, id) = (host.now(), case.scope.id());
    let counts = change_call_rates(*host, config, &case.scope, &mut case.notes, |rates| {
        let mut count = |call: &McpToolCall<'_>| rates.count(id, digest_of(call), now, config.mcp.window);
        requests.iter().map(|request| request.call.as_ref().map(&mut count)).collect::<Vec<Option<u32>>>()
    });
    let is_too_many = |count: &Option<u32>| count.is_some_and(|count| count > config.mcp.calls);
    case.counts = counts;
    if !case.counts.iter().all(is_too_many) {
        return;
    }
    let first = requests.first().and_then(|request| request.call.as_ref());
    if let (Some(call), Some(count)) = (first, case.counts.first().copied().flatten()) {
        let tool = shown(&call.tool);
        case.findings.push(Finding { count, tool, ..Finding::of(Signal::McpBreaker, Verdict::Kill) });
    }
}

/// Digest of tool and canonical arguments.
fn digest_of(call: &McpToolCall<'_>) -> u64 {
    digest_pair(digest(call.tool.as_bytes()), canonical(call.arguments).digest)
}
