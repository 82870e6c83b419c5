//! The way of a request to an MCP server. Calls of tools that are not allowed are answered, other calls are counted,
//! and then the request goes on or is answered. Of the server's responses only lists of tools are read.

use std::sync::Arc;

use sentinel_detect::{
    arguments::canonical,
    step::shown,
    verdict::{Finding, Signal, Verdict},
};
use sentinel_llm_api::{
    dialect::LocalReply,
    framing::Framing,
    json::Unreadable,
    mcp::{Request, ToolCall, Wanted, invalid, is_batch, reply, requests, wanted},
};
use sentinel_text::{digest, digest_pair};

use crate::{
    config::{Config, Mode, Policy},
    fail_open,
    host::Host,
    identity::{Claims, Scope},
    inspect::Next,
    metric::{Bypass, DeniedTool, MCP, Metric},
    record::{self, CallDecision, ToolCallRecord},
    response::Passing,
    shared_data::change_call_rates,
    tool_list::ToolList,
};

/// Counts the calls in a request and lets it go on, or answers it.
pub fn whole(config: &Config, claims: &Claims, body: &[u8], host: &mut impl Host) -> Next {
    let policy = config.policy(claims.agent());
    let wanted = if policy.tools.is_open() { Wanted::default() } else { wanted(body) };
    let session = host.request_header("mcp-session-id").filter(|id| !id.is_empty());
    let scope = claims.mcp_scope(session.as_deref());
    let requests = requests(body);
    let answered = not_allowed(config, policy, &scope, &wanted, &requests, is_batch(body), host);
    let (reply, decision) = match answered {
        Some(reply) => (Some(reply), CallDecision::Deny),
        None => (one_too_many_answered(config, policy, &scope, &requests, body, host), CallDecision::Break),
    };
    if policy.tools.audit {
        let decision = if reply.is_some() { decision } else { CallDecision::Allow };
        audit(&scope, &requests, decision, host);
    }
    if let Some(reply) = reply {
        host.reply(reply);
        return Next::Answered;
    }
    let is_changed = wanted.list && policy.mode == Mode::Enforce;
    if is_changed {
        // What comes compressed cannot be changed.
        host.remove_request_header("accept-encoding");
    }
    host.release();
    if is_changed {
        Next::Pass(Passing::ToolList(Box::new(ToolList::new(Arc::clone(policy), config.max_body))))
    } else {
        Next::End
    }
}

/// The answer in the server's place, where a tool is called that the agent may not use. A batch is answered as a whole.
fn not_allowed(
    config: &Config,
    policy: &Policy,
    scope: &Scope,
    wanted: &Wanted,
    requests: &Result<Vec<Request<'_>>, Unreadable>,
    is_batch: bool,
    host: &mut impl Host,
) -> Option<LocalReply> {
    let denied = wanted.calls.iter().filter(|tool| !policy.tools.may(tool));
    let tool = shown(denied.clone().next()?);
    host.count(Metric::ToolsDenied(DeniedTool::Called, MCP), u64::try_from(denied.count()).unwrap_or(0));
    let finding = Finding { tool, ..Finding::of(Signal::ToolDenied, Verdict::Kill) };
    record_finding(config, policy, scope, &finding, host);
    if policy.mode == Mode::Observe {
        return None;
    }
    let message = format!("Not executed: `{}` is no tool that this agent may use.", finding.tool);
    let reply = match requests.as_deref() {
        // Nobody waits for an answer.
        Ok([]) => LocalReply::new(202, Framing::Json, ""),
        Ok(requests) => {
            LocalReply::new(200, Framing::Json, reply(requests, is_batch, &message, config.mcp.answer))
        }
        Err(_) => LocalReply::new(400, Framing::Json, invalid(&message)),
    };
    Some(with_headers(config, reply, &finding))
}

/// The answer in the server's place, where every call is one too many.
fn one_too_many_answered(
    config: &Config,
    policy: &Policy,
    scope: &Scope,
    requests: &Result<Vec<Request<'_>>, Unreadable>,
    body: &[u8],
    host: &mut impl Host,
) -> Option<LocalReply> {
    let requests =
        requests.as_ref().map_err(|error| fail_open::bypassed(Bypass::Unreadable(*error), host)).ok()?;
    let calls = requests.iter().filter(|request| request.call.is_some()).count();
    if calls == 0 {
        return None;
    }
    host.count(Metric::McpCalls, u64::try_from(calls).unwrap_or(0));
    if !scope.is_identified() {
        fail_open::bypassed(Bypass::NoIdentity, host);
        return None;
    }
    let Some(finding) = one_too_many(config, scope, requests, host) else {
        host.count(Metric::Verdicts(Verdict::Allow, None, MCP, Arc::clone(&policy.agent)), 1);
        return None;
    };
    record_finding(config, policy, scope, &finding, host);
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
    let answer = reply(requests, is_batch(body), &message, config.mcp.answer);
    Some(with_headers(config, LocalReply::new(200, Framing::Json, answer), &finding))
}

fn record_finding(config: &Config, policy: &Policy, scope: &Scope, finding: &Finding, host: &mut impl Host) {
    host.count(Metric::Verdicts(finding.verdict, Some(finding.signal), MCP, Arc::clone(&policy.agent)), 1);
    if config.annotates {
        record::annotate_verdict(scope, finding.verdict, Some(finding.signal), host);
    }
    let line = line(scope, policy.mode, finding, host);
    host.log(&line);
}

fn with_headers(config: &Config, reply: LocalReply, finding: &Finding) -> LocalReply {
    if !config.response_headers {
        return reply;
    }
    let [name, reason, _, _] = record::HEADERS;
    reply.with_header(name, finding.verdict.label()).with_header(reason, finding.reason())
}

fn audit(
    scope: &Scope,
    requests: &Result<Vec<Request<'_>>, Unreadable>,
    decision: CallDecision,
    host: &mut impl Host,
) {
    let calls = requests.iter().flatten().filter_map(|request| request.call.as_ref());
    for ToolCall { tool, arguments } in calls {
        let arguments = canonical(arguments).digest;
        record::tool_call(scope, &ToolCallRecord { dialect: MCP, tool, arguments, decision }, host);
    }
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
        "count": Some(finding.count).filter(|count| *count > 0),
        "tool": finding.tool,
        "request_id": record::request_id(host),
    })
    .to_string()
}
