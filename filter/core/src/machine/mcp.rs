//! The way of a request to an MCP server: its calls are counted, then it goes on or is answered. The response is
//! nobody's business.

use super::{Effect, Held, Phase, Reply, SlotWrite, Step, log::request_id, note};
use crate::{
    config::{Config, Mode},
    identity::{Claims, Scope},
    mcp::{Ledger, Request, is_batch, reply, requests},
    metric::{Bypass, MCP, Metric},
    signal::Finding,
    verdict::{Signal, Verdict},
};

/// A request whose calls are being counted.
#[derive(Debug)]
pub struct McpCase {
    scope: Scope,
    mode: Mode,
    now: u64,
    is_batch: bool,
    requests: Vec<Request>,
    request_id: Option<String>,
    /// The finding for each request that is one call too many.
    denied: Vec<Option<Finding>>,
}

pub fn whole(config: &Config, claims: &Claims, body: &[u8], held: &dyn Held) -> Step {
    let release =
        |effects: Vec<Effect>| (Phase::Done, effects.into_iter().chain([Effect::Release]).collect());
    let requests = match requests(body) {
        Ok(requests) => requests,
        Err(error) => return release(vec![Bypass::Unreadable(error).into()]),
    };
    let calls = requests.iter().filter(|request| request.call.is_some()).count();
    if calls == 0 {
        return release(Vec::new());
    }
    let counted = Effect::Count(Metric::McpCalls, u64::try_from(calls).unwrap_or(0));
    let session = held.request_header("mcp-session-id").filter(|id| !id.is_empty());
    let scope = claims.mcp_scope(session.as_deref());
    if !scope.is_identified() {
        return release(vec![counted, Bypass::NoIdentity.into()]);
    }
    let mode = config.policy(claims.agent()).mode;
    let case = McpCase {
        scope,
        mode,
        now: held.now(),
        is_batch: is_batch(body),
        requests,
        request_id: request_id(held),
        denied: Vec::new(),
    };
    let load = load(config, &case);
    (Phase::Counting(Box::new(case), SlotWrite::default()), vec![counted, load])
}

fn load(config: &Config, case: &McpCase) -> Effect {
    Effect::LoadSlot(Ledger::key(case.scope.id(), config.buckets))
}

pub fn count(
    config: &Config,
    mut case: Box<McpCase>,
    write: SlotWrite,
    bytes: Option<&[u8]>,
    version: Option<u32>,
) -> Step {
    let mut ledger = bytes.map(Ledger::decode).unwrap_or_default();
    let scope = case.scope.id();
    let judge = |request: &Request| {
        let call = request.call.as_ref()?;
        let count = ledger.count(scope, call.digest, case.now, config.mcp.window);
        (count > config.mcp.calls).then(|| Finding {
            verdict: Verdict::Kill,
            signal: Signal::McpBreaker,
            count,
            tool: call.tool.clone(),
        })
    };
    case.denied = case.requests.iter().map(judge).collect();
    let store =
        Effect::StoreSlot { key: Ledger::key(scope, config.buckets), bytes: ledger.encode(), version };
    (Phase::Counting(case, write), vec![store])
}

pub fn counted(config: &Config, case: Box<McpCase>, write: SlotWrite, stored: bool) -> Step {
    if !stored && let Some(again) = write.again() {
        let load = load(config, &case);
        return (Phase::Counting(case, again), vec![load]);
    }
    let mut effects = Vec::new();
    if !stored {
        effects.push(Bypass::Contention.into());
    }
    // A batch in which anything else waits for an answer goes on: what is asked besides is no loop.
    let all_denied = case.denied.iter().all(Option::is_some);
    let finding = case.denied.iter().flatten().next().filter(|_| all_denied);
    let verdict = finding.map_or(Verdict::Allow, |finding| finding.verdict);
    effects.push(Effect::Count(Metric::Verdicts(verdict, finding.map(|finding| finding.signal), MCP), 1));
    let Some(finding) = finding else {
        effects.push(Effect::Release);
        return (Phase::Done, effects);
    };
    if config.notes {
        effects.extend(note::of_verdict(&case.scope, verdict, Some(finding.signal)));
    }
    effects.push(Effect::Log(line(&case, finding)));
    if case.mode == Mode::Observe {
        effects.push(Effect::Release);
        return (Phase::Done, effects);
    }
    let message = format!(
        "Not executed: `{}` was called {} times with the same arguments within {} s. Use the result that you have, \
        change the arguments, or tell the user what stops you.",
        finding.tool,
        finding.count,
        config.mcp.window.div_ceil(1_000)
    );
    let mut headers = vec![("content-type", "application/json".to_owned())];
    if config.response_headers {
        headers.push(("x-sentinel-verdict", finding.verdict.label().to_owned()));
        headers.push(("x-sentinel-reason", finding.reason()));
    }
    let body = reply(&case.requests, case.is_batch, &message, config.mcp.answer);
    effects.push(Effect::Reply(Reply { status: 200, headers, body }));
    (Phase::Done, effects)
}

fn line(case: &McpCase, finding: &Finding) -> String {
    serde_json::json!({
        "event": "verdict",
        "verdict": finding.verdict.label(),
        "signal": finding.signal.label(),
        "enforced": case.mode == Mode::Enforce,
        "dialect": MCP,
        "scope": case.scope.label(),
        "count": finding.count,
        "tool": finding.tool,
        "request_id": case.request_id,
    })
    .to_string()
}
