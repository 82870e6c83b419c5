//! What happens to a request to an MCP server. It has its own passes. Then it is decided, recorded and rendered like a request to
//! a model. Its answer is followed in `mcp_answer`.

use std::{borrow::Cow, sync::Arc};

use sentinel_config::{Config, Mode};
use sentinel_detect::{
    arguments::canonical,
    verdict::{Finding, Signal},
};
use sentinel_llm_api::{
    json::Unreadable,
    mcp::{McpToolUse, Request, is_batch, requests, wanted},
};

use crate::{
    budget::spending::{Spending, Took},
    bypass::Bypass,
    case::McpCase,
    control::ReserveReply,
    decide::{Decision, decide},
    host::{Facts, Host},
    inspect::{Next, Waiting, begun, reserve, spent},
    mcp_answer::{McpCaller, PassingAnswer},
    note::{CallDecision, CountedToolCall, Note},
    passes::{self, McpSeen, Surroundings, report},
    record,
    render::{self, McpAnswer},
    request_head::RequestHead,
    response::Passing,
    service_outcome::ServiceOutcome,
    tool_list::ToolList,
    turn::{Names, Turn},
};

/// A request after its judgement.
#[derive(Debug)]
pub struct JudgedMcp {
    case: McpCase,
    decision: Decision,
    /// The answer in the server's place, if the request is stopped.
    answer: Option<McpAnswer>,
    /// The list of tools is asked for, and the agent may not use all tools.
    wants_list: bool,
    /// The ids of the requests, if their agent may be stopped before they are answered, and whether they are a batch.
    ids: Vec<String>,
    is_batch: bool,
    /// Kept while the request waits for the reply about its budgets.
    body: Vec<u8>,
}

impl JudgedMcp {
    pub fn into_spending(self) -> Option<Box<Spending>> {
        self.case.spending
    }
}

/// The session that the request is of. Since protocol 2026-07-28 there are none.
fn session(host: &dyn Facts) -> Option<Cow<'_, [u8]>> {
    host.request_header("mcp-session-id").filter(|id| !id.is_empty())
}

/// The names of who sends the request, if turns are reported.
pub fn names(head: &RequestHead, host: &dyn Facts) -> Option<Names> {
    head.claims.mcp_names(session(host).as_deref())
}

fn case(config: &Config, head: &RequestHead, host: &dyn Facts) -> McpCase {
    let claims = &head.claims;
    let session = session(host);
    let names = claims.mcp_names(session.as_deref());
    McpCase::new(config.policy(claims.sender()), claims.mcp_scope(session.as_deref()), names, head.arrived)
}

/// The passes look at a request. Returns an error if it must be refused because it cannot be read in full.
pub fn look(config: &Config, head: &RequestHead, body: &[u8], host: &dyn Facts) -> Result<JudgedMcp, Bypass> {
    let mut case = case(config, head, host);
    let wanted = if case.policy.tools.is_open() { McpToolUse::default() } else { wanted(body) };
    let requests = requests(body);
    passes::of_an_mcp_request(&McpSeen { config, requests: &requests, wanted: &wanted, host }, &mut case);
    let error = requests.as_ref().err().copied().or_else(|| wanted.is_disguised.then_some(Unreadable::Shape));
    if let (true, Some(error)) = (case.findings.is_empty() && case.policy.refuses_unreadable(), error) {
        return Err(error.into());
    }
    let wants_list = wanted.list && case.policy.mode == Mode::Enforce;
    let mut judged = judge(config, case, body, &requests, wants_list);
    if judged.case.spending.as_ref().is_some_and(|spending| spending.has_to_ask()) {
        judged.body = body.to_vec();
    } else {
        judged.audit(&requests);
    }
    Ok(judged)
}

type Requests<'a> = Result<Vec<Request<'a>>, Unreadable>;

/// Decides, and makes the answer of a request that is stopped.
fn judge(
    config: &Config,
    case: McpCase,
    body: &[u8],
    requests: &Requests<'_>,
    wants_list: bool,
) -> JudgedMcp {
    let decision = decide(&case.findings, &case.policy);
    let stopping = decision.finding.as_ref().filter(|_| decision.kills());
    let answer =
        stopping.map(|finding| McpAnswer::of(config, requests.as_deref().ok(), is_batch(body), finding));
    let asked = requests.iter().flatten().filter(|_| case.names.is_some() && stopping.is_none());
    let ids = asked.map(|request| request.id.to_owned()).collect();
    JudgedMcp { case, decision, answer, wants_list, ids, is_batch: is_batch(body), body: Vec::new() }
}

impl JudgedMcp {
    /// Records what became of the calls, if that is wanted.
    fn audit(&mut self, requests: &Requests<'_>) {
        let Self { case, decision, .. } = self;
        if !case.policy.tools.audit {
            return;
        }
        let stopping = decision.finding.as_ref().filter(|_| decision.kills());
        let became = match stopping.map(|finding| finding.signal) {
            None => CallDecision::Allow,
            Some(Signal::McpBreaker) => CallDecision::Break,
            Some(_) => CallDecision::Deny,
        };
        let calls = requests.iter().flatten().filter_map(|request| request.call.as_ref());
        case.notes.extend(calls.map(|call| {
            Note::ToolCall(CountedToolCall {
                tool: call.tool.to_string(),
                arguments: canonical(call.arguments).digest,
                decision: became,
            })
        }));
    }
}

/// Asks the service for budgets, if the worker's leases do not have enough.
pub fn ask(config: &Config, mut judged: Box<JudgedMcp>, host: &mut impl Host) -> Next {
    let spending = judged.case.spending.as_mut().filter(|spending| spending.has_to_ask());
    let Some(spending) = spending else { return settle(config, *judged, host) };
    host.hold();
    match reserve(config, spending, host) {
        Ok(()) => Next::Await(Waiting::Mcp(judged)),
        Err(outcome) => granted(config, judged, Err(outcome), host),
    }
}

/// The service has said what it grants, or has not.
pub fn granted(
    config: &Config,
    mut judged: Box<JudgedMcp>,
    reply: Result<ReserveReply, ServiceOutcome>,
    host: &mut impl Host,
) -> Next {
    let McpCase { spending, findings, notes, .. } = &mut judged.case;
    if let Some(spending) = spending
        && spent(config, spending, findings, notes, reply, host)
    {
        return Next::Await(Waiting::Mcp(judged));
    }
    let JudgedMcp { case, wants_list, body, .. } = *judged;
    let requests = requests(&body);
    let mut judged = judge(config, case, &body, &requests, wants_list);
    judged.audit(&requests);
    settle(config, judged, host)
}

/// Records what was decided, and lets the request go on or answers it.
pub fn settle(config: &Config, judged: JudgedMcp, host: &mut impl Host) -> Next {
    let JudgedMcp { mut case, decision, answer, wants_list, ids, is_batch, .. } = judged;
    if let Some(mut spending) = case.spending.take() {
        let around = Surroundings { config, host };
        if answer.is_some() {
            spending.release(host);
        } else {
            spending.go_on(&around);
            // The server's answer takes nothing more of the budgets.
            spending.settle(&around, Took::Probable);
        }
    }
    let notes = std::mem::take(&mut case.notes);
    record::notes(case.subject(), notes, host);
    record::mcp_decision(config, &case, &decision, host);
    let mut turn = case.turn.take();
    if let Some(turn) = &mut turn {
        turn.judged(&decision);
    }
    if let Some(answer) = answer {
        end(turn, &answer, host);
        host.reply(render::mcp(config, answer, &decision));
        return Next::Answered;
    }
    if wants_list {
        // A compressed answer cannot be changed.
        host.remove_request_header("accept-encoding");
    }
    host.release();
    begun(&mut turn, host);
    let list = wants_list.then(|| Box::new(ToolList::new(Arc::clone(&case.policy), config.max_body)));
    // Nobody waits for the answer to a notification.
    let asked = (!ids.is_empty()).then(|| Box::new(McpCaller { case, ids, is_batch, frames: None }));
    match PassingAnswer::of(list, turn, asked) {
        Some(answer) => Next::Pass(Passing::Mcp(Box::new(answer))),
        None => Next::End,
    }
}

/// Reports a turn that is over without the server.
#[inline(never)]
fn end(turn: Option<Box<Turn>>, answer: &McpAnswer, host: &mut impl Host) {
    let Some(mut turn) = turn else { return };
    turn.duration = host.now().saturating_sub(turn.at);
    turn.status = answer.0;
    host.report(*turn);
}

/// Answers a request that cannot be read in full, and says whether it did: in mode `observe` it is only recorded.
pub fn refuse(config: &Config, head: &RequestHead, finding: Finding, host: &mut impl Host) -> bool {
    let mut case = case(config, head, host);
    case.findings.push(finding);
    report::begin_mcp(&mut case);
    let decision = decide(&case.findings, &case.policy);
    record::mcp_decision(config, &case, &decision, host);
    let stopping = decision.finding.as_ref().filter(|_| decision.kills());
    let answer = stopping.map(|finding| McpAnswer::of(config, None, false, finding));
    let is_refused = answer.is_some();
    if let Some(answer) = answer {
        let mut turn = case.turn.take();
        if let Some(turn) = &mut turn {
            turn.judged(&decision);
        }
        end(turn, &answer, host);
        host.reply(render::mcp(config, answer, &decision));
    }
    is_refused
}
