//! The way of a request to an MCP server. It has passes of its own; then it is decided, recorded and rendered like a request to a
//! model. Of the server's responses only lists of tools are read.

use std::sync::Arc;

use sentinel_config::{Config, Mode};
use sentinel_detect::{
    arguments::canonical,
    verdict::{Finding, Signal},
};
use sentinel_llm_api::{
    json::Unreadable,
    mcp::{Wanted, is_batch, requests, wanted},
};

use crate::{
    case::McpCase,
    decide::{Decision, decide},
    host::{Facts, Host},
    identity::Claims,
    inspect::Next,
    metric::Bypass,
    note::{CallDecision, Note, ToolCall},
    passes::{self, McpSeen},
    record,
    render::{self, McpAnswer},
    response::Passing,
    tool_list::ToolList,
};

/// A request on which all that will be known is known.
pub struct Judged {
    case: McpCase,
    decision: Decision,
    /// The answer in the server's place, where the request is stopped.
    answer: Option<McpAnswer>,
    /// A list of tools is asked for, and its agent may not use all.
    wants_list: bool,
}

fn case(config: &Config, claims: &Claims, host: &dyn Facts) -> McpCase {
    let session = host.request_header("mcp-session-id").filter(|id| !id.is_empty());
    McpCase::new(config.policy(claims.sender()), claims.mcp_scope(session.as_deref()), claims.names(None))
}

/// The passes look at a request. An error where it is to be refused, because it cannot be read in full.
pub fn look(config: &Config, claims: &Claims, body: &[u8], host: &dyn Facts) -> Result<Judged, Bypass> {
    let mut case = case(config, claims, host);
    let wanted = if case.policy.tools.is_open() { Wanted::default() } else { wanted(body) };
    let requests = requests(body);
    passes::of_an_mcp_request(&McpSeen { config, requests: &requests, wanted: &wanted, host }, &mut case);
    let error = requests.as_ref().err().copied().or_else(|| wanted.is_disguised.then_some(Unreadable::Shape));
    if let (true, Some(error)) = (case.findings.is_empty() && case.policy.refuses_unreadable(), error) {
        return Err(Bypass::Unreadable(error));
    }
    let decision = decide(&case.findings, &case.policy);
    let stopping = decision.finding.as_ref().filter(|_| decision.kills());
    let answer =
        stopping.map(|finding| McpAnswer::of(config, requests.as_deref().ok(), is_batch(body), finding));
    if case.policy.tools.audit {
        let became = match stopping.map(|finding| finding.signal) {
            None => CallDecision::Allow,
            Some(Signal::McpBreaker) => CallDecision::Break,
            Some(_) => CallDecision::Deny,
        };
        let calls = requests.iter().flatten().filter_map(|request| request.call.as_ref());
        case.notes.extend(calls.map(|call| {
            Note::ToolCall(ToolCall {
                tool: call.tool.to_string(),
                arguments: canonical(call.arguments).digest,
                decision: became,
            })
        }));
    }
    let wants_list = wanted.list && case.policy.mode == Mode::Enforce;
    Ok(Judged { case, decision, answer, wants_list })
}

/// Records what was decided, and lets the request go on or answers it.
pub fn settle(config: &Config, judged: Judged, host: &mut impl Host) -> Next {
    let Judged { mut case, decision, answer, wants_list } = judged;
    let notes = std::mem::take(&mut case.notes);
    record::notes(case.subject(), notes, host);
    record::mcp_decision(config, &case, &decision, host);
    if let Some(answer) = answer {
        host.reply(render::mcp(config, answer, &decision));
        return Next::Answered;
    }
    if wants_list {
        // What comes compressed cannot be changed.
        host.remove_request_header("accept-encoding");
    }
    host.release();
    if wants_list {
        let list = ToolList::new(Arc::clone(&case.policy), config.max_body);
        return Next::Pass(Passing::ToolList(Box::new(list)));
    }
    Next::End
}

/// Answers a request that cannot be read in full, and says whether it did: in mode `observe` it is only recorded.
pub fn refuse(config: &Config, claims: &Claims, finding: Finding, host: &mut impl Host) -> bool {
    let mut case = case(config, claims, host);
    case.findings.push(finding);
    let decision = decide(&case.findings, &case.policy);
    record::mcp_decision(config, &case, &decision, host);
    let stopping = decision.finding.as_ref().filter(|_| decision.kills());
    let answer = stopping.map(|finding| McpAnswer::of(config, None, false, finding));
    let is_refused = answer.is_some();
    if let Some(answer) = answer {
        host.reply(render::mcp(config, answer, &decision));
    }
    is_refused
}
