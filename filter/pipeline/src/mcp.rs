//! The way of a request to an MCP server: its calls are counted, then it goes on or is answered. The response is
//! nobody's business.

use std::sync::Arc;

use sentinel_detect::{
    arguments::canonical,
    step::shown,
    verdict::{Finding, Signal, Verdict},
};
use sentinel_llm_api::{
    dialect::LocalReply,
    framing::Framing,
    mcp::{Request, ToolCall, is_batch, reply, requests},
};
use sentinel_text::{digest, digest_pair};

use crate::{
    config::{Config, Mode},
    fail_open,
    host::Host,
    identity::{Claims, Scope},
    metric::{Bypass, MCP, Metric},
    record,
    shared_data::change_call_rates,
};

/// Counts the calls in a request and lets it go on, or answers it; true where it was answered.
pub fn whole(config: &Config, claims: &Claims, body: &[u8], host: &mut impl Host) -> bool {
    let denied = denied(config, claims, body, host);
    let is_answered = denied.is_some();
    match denied {
        Some(reply) => host.reply(reply),
        None => host.release(),
    }
    is_answered
}

/// The answer in the server's place, where every call is one too many.
fn denied(config: &Config, claims: &Claims, body: &[u8], host: &mut impl Host) -> Option<LocalReply> {
    let requests =
        requests(body).map_err(|error| fail_open::bypassed(Bypass::Unreadable(error), host)).ok()?;
    let calls = requests.iter().filter(|request| request.call.is_some()).count();
    if calls == 0 {
        return None;
    }
    host.count(Metric::McpCalls, u64::try_from(calls).unwrap_or(0));
    let session = host.request_header("mcp-session-id").filter(|id| !id.is_empty());
    let scope = claims.mcp_scope(session.as_deref());
    if !scope.is_identified() {
        fail_open::bypassed(Bypass::NoIdentity, host);
        return None;
    }
    let policy = config.policy(claims.agent());
    let finding = one_too_many(config, &scope, &requests, host);
    let verdict = finding.as_ref().map_or(Verdict::Allow, |finding| finding.verdict);
    let signal = finding.as_ref().map(|finding| finding.signal);
    host.count(Metric::Verdicts(verdict, signal, MCP, Arc::clone(&policy.agent)), 1);
    let finding = finding?;
    if config.annotates {
        record::annotate_verdict(&scope, verdict, signal, host);
    }
    let line = line(&scope, policy.mode, &finding, host);
    host.log(&line);
    if policy.mode == Mode::Observe {
        return None;
    }
    let message = format!(
        "Not executed: `{}` was called {} times with the same arguments within {} s. Use the result that you have, \
        change the arguments, or tell the user what stops you.",
        finding.tool,
        finding.count,
        config.mcp.window.div_ceil(1_000)
    );
    let answer = reply(&requests, is_batch(body), &message, config.mcp.answer);
    let mut reply = LocalReply::new(200, Framing::Json, answer);
    if config.response_headers {
        let [name, reason, _] = record::HEADERS;
        reply = reply.with_header(name, verdict.label()).with_header(reason, finding.reason());
    }
    Some(reply)
}

/// What the first call too many says. A batch in which anything else waits for an answer goes on: what is asked besides
/// is no loop.
fn one_too_many(
    config: &Config,
    scope: &Scope,
    requests: &[Request<'_>],
    host: &mut impl Host,
) -> Option<Finding> {
    let now = host.now();
    let counts = change_call_rates(host, config, scope, |rates| {
        let mut count =
            |call: &ToolCall<'_>| rates.count(scope.id(), digest_of(call), now, config.mcp.window);
        requests.iter().map(|request| request.call.as_ref().map(&mut count)).collect::<Vec<Option<u32>>>()
    });
    let is_too_many = |count: &Option<u32>| count.is_some_and(|count| count > config.mcp.calls);
    if !counts.iter().all(is_too_many) {
        return None;
    }
    let tool = shown(&requests.first()?.call.as_ref()?.tool);
    let count = counts.first().copied().flatten()?;
    Some(Finding { count, tool, ..Finding::of(Signal::McpBreaker, Verdict::Kill) })
}

/// Digest of tool and canonical arguments.
fn digest_of(call: &ToolCall<'_>) -> u64 {
    digest_pair(digest(call.tool.as_bytes()), canonical(call.arguments).digest)
}

fn line(scope: &Scope, mode: Mode, finding: &Finding, host: &impl Host) -> String {
    serde_json::json!({
        "event": "verdict",
        "verdict": finding.verdict.label(),
        "signal": finding.signal.label(),
        "enforced": mode == Mode::Enforce,
        "dialect": MCP,
        "scope": scope.label(),
        "count": finding.count,
        "tool": finding.tool,
        "request_id": record::request_id(host),
    })
    .to_string()
}
