//! What happens to a request whose body is complete: the body is read, the passes look at it, and a decision is made and carried out.

use std::{borrow::Cow, mem};

use sentinel_config::Config;
use sentinel_detect::{
    history::{Reach, Reading},
    verdict::{Finding, Signal, Verdict},
};
use sentinel_llm_api::{framing::Framing, registry, route::Route};

use crate::{
    budget::spending::Spending,
    bypass::Bypass,
    case::{Case, Waits},
    control::ReserveReply,
    decide::{Decision, decide},
    fail_open,
    host::{Facts, Host, ServiceReply},
    mcp,
    metric::Metric,
    note::Note,
    passes::{self, Seen, Surroundings, ask, cache},
    record, render,
    request_head::{RequestHead, Target},
    response::{Passing, PassingResponse},
    service_outcome::ServiceOutcome,
    shared_data,
    span::{self, Cause, Ended, StepSpans},
    turn::Turn,
    unread::{Unread, unread},
};

/// What follows after a request was inspected.
pub enum Next {
    /// The embedding service was asked; the request is held.
    Await(Waiting),
    /// The request has gone on, and its response is of interest.
    Pass(Passing),
    /// The request was answered in the provider's place.
    Answered,
    /// It was given a stored answer of the provider.
    Served,
    /// The request has gone on, and nothing more is to be done.
    End,
}

/// A request that waits for the embedding service.
#[derive(Debug)]
pub enum Waiting {
    Model(Box<Case>),
    Mcp(Box<mcp::JudgedMcp>),
}

impl Waiting {
    /// It is not held: it goes on while the service is asked.
    pub fn has_gone_on(&self) -> bool {
        matches!(self, Self::Model(case) if case.has_gone_on)
    }

    /// Counts `bytes` more of the request's body that pass.
    pub fn passes(&mut self, bytes: usize) {
        if let Self::Model(case) = self
            && case.is_open_ended
        {
            case.length = case.length.saturating_add(bytes);
        }
    }
}

/// What was found in a request, before anything is done.
enum Inspected {
    Model(Box<Case>),
    Mcp(Box<mcp::JudgedMcp>),
    /// Nothing is checked for its agent.
    Off,
}

/// The whole body is there. Finds out who sends it and what it says.
pub fn whole(config: &Config, mut head: RequestHead, host: &mut impl Host) -> Next {
    let looked = match host.request_body() {
        Some(body) if !body.is_empty() => look(config, &mut head, body, host),
        // An empty body holds nothing that could be forbidden.
        _ => return uninspected(Bypass::Empty, host),
    };
    match looked {
        Ok(Inspected::Model(mut case)) => {
            put_on_record(&mut case, host);
            ask(config, case, true, host)
        }
        Ok(Inspected::Mcp(judged)) => mcp::ask(config, judged, host),
        Ok(Inspected::Off) => {
            host.release();
            Next::End
        }
        Err(cause) => {
            let length = host.request_body().map_or(0, |body| body.len());
            unread(config, &head, cause, Unread::Whole(length), host)
        }
    }
}

/// A byte order mark says that a text is UTF-8. Providers ignore it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[inline(never)]
pub fn uninspected(cause: Bypass, host: &mut impl Host) -> Next {
    fail_open::bypassed(cause, host);
    host.release();
    Next::End
}

fn put_on_record(case: &mut Case, host: &mut impl Host) {
    let notes = mem::take(&mut case.notes);
    record::notes(case.subject(), notes, host);
}

/// An error where the request cannot be read in full, with the cause.
fn look(
    config: &Config,
    head: &mut RequestHead,
    body: Cow<'_, [u8]>,
    host: &dyn Facts,
) -> Result<Inspected, Bypass> {
    let mut body = match head.coding {
        None => body,
        Some(coding) => Cow::Owned(coding.decode(&body, config.max_body)?),
    };
    let has_mark = body.starts_with(BYTE_ORDER_MARK);
    if has_mark {
        body.to_mut().drain(..BYTE_ORDER_MARK.len());
    }
    match &head.target {
        Target::Mcp => mcp::look(config, head, &body, host).map(|judged| Inspected::Mcp(Box::new(judged))),
        Target::Model(_) => {
            let Some(mut case) = look_at_model(config, head, &body, host)? else { return Ok(Inspected::Off) };
            case.has_mark = has_mark;
            case.length = body.len();
            if case.may_change() {
                case.body = body.into_owned();
            }
            Ok(Inspected::Model(case))
        }
    }
}

/// The passes look at a request to a model. Returns `None` when nothing is checked for its agent.
fn look_at_model(
    config: &Config,
    head: &mut RequestHead,
    body: &[u8],
    host: &dyn Facts,
) -> Result<Option<Box<Case>>, Bypass> {
    let Target::Model(route) = &head.target else { return Ok(None) };
    let Route { dialect, facts } = route;
    let conversation = registry::read(*dialect, body).map_err(Bypass::from)?;
    head.claims = mem::take(&mut head.claims).with_body(config, &conversation.ids);
    let claims = &head.claims;
    let policy = config.policy(claims.sender());
    if !policy.enabled {
        return Ok(None);
    }
    if policy.refuses_unreadable() {
        conversation.check_names().map_err(Bypass::from)?;
    }
    let reach = Reach::of(&policy.steps, policy.run_limit).with_context(claims.is_identified());
    let memo = host.memo();
    let reading = Reading::remembering(&conversation, reach, &memo).map_err(Bypass::from)?;
    let framing = if conversation.stream { Framing::Sse } else { Framing::Json };
    let mut case = Case::of(route, policy, head, reading.head);
    case.framing = facts.framing.unwrap_or(framing);
    case.include_usage = conversation.include_usage;
    if facts.model.is_none() {
        case.model = conversation.model.to_string();
    }
    case.thread = reading.kept.as_ref().map(|tail| tail.thread).unwrap_or_default();
    case.notes.push(Note::Count(Metric::BytesInspected, u64::try_from(body.len()).unwrap_or(0)));
    let is_traced = config.collector.is_some() && claims.names_run();
    case.is_traced = is_traced;
    let trace = is_traced.then(|| StepSpans {
        cause: host.request_header("traceparent").and_then(|header| Cause::of(&header)),
        is_retry: head.is_retry,
        random: host.random(),
    });
    let seen =
        Seen { config, path: facts, body, conversation: &conversation, reading: &reading, trace, host };
    passes::of_a_request(&seen, &mut case);
    if case.may_change() {
        case.hint_places = conversation.hint_places();
    }
    Ok(Some(case))
}

/// Sends all questions to the embedding service at the same time. A held request waits for the slowest reply.
#[inline(never)]
pub fn ask(config: &Config, mut case: Box<Case>, holds: bool, host: &mut impl Host) -> Next {
    if let Some(question) = case.question.take() {
        host.hold();
        case.asks_cache_only = question.cache_only;
        match host.ask(question) {
            Ok(()) => case.waits.answer = true,
            Err(outcome) => ask::replied(&Surroundings { config, host }, &mut case, Err(outcome)),
        }
    }
    if let Some(spending) = case.spending.as_mut().filter(|spending| spending.has_to_ask()) {
        if holds {
            host.hold();
        }
        let sent = reserve(config, spending, host);
        if let Err(outcome) = sent {
            reserved(config, &mut case, Err(outcome), host);
        } else {
            case.waits.reservation = true;
        }
    }
    go_on(config, case, host)
}

/// Asks for what a request takes of its budgets.
pub fn reserve(config: &Config, spending: &mut Spending, host: &mut impl Host) -> Result<(), ServiceOutcome> {
    let reservation = spending.ask(config, host).ok_or(ServiceOutcome::Error)?;
    host.reserve(reservation)
}

/// The embedding service has replied, or has not.
pub fn answered(
    config: &Config,
    mut case: Box<Case>,
    reply: Result<ServiceReply, ServiceOutcome>,
    host: &mut impl Host,
) -> Next {
    case.waits.answer = false;
    ask::replied(&Surroundings { config, host }, &mut case, reply);
    go_on(config, case, host)
}

/// The service has said what budgets it grants, or has not answered.
#[inline(never)]
pub fn granted(
    config: &Config,
    waiting: Waiting,
    reply: Result<ReserveReply, ServiceOutcome>,
    host: &mut impl Host,
) -> Next {
    match waiting {
        Waiting::Model(mut case) => {
            case.waits.reservation = false;
            reserved(config, &mut case, reply, host);
            go_on(config, case, host)
        }
        Waiting::Mcp(judged) => mcp::granted(config, judged, reply, host),
    }
}

/// Adds to the case what was granted. If that is not enough, asks again.
fn reserved(
    config: &Config,
    case: &mut Case,
    reply: Result<ReserveReply, ServiceOutcome>,
    host: &mut impl Host,
) {
    let Case { spending: Some(spending), findings, notes, waits, .. } = case else { return };
    waits.reservation = spent(config, spending, findings, notes, reply, host);
}

/// Adds what was granted. Returns whether the service was asked again.
pub fn spent(
    config: &Config,
    spending: &mut Spending,
    findings: &mut Vec<Finding>,
    notes: &mut Vec<Note>,
    mut reply: Result<ReserveReply, ServiceOutcome>,
    host: &mut impl Host,
) -> bool {
    loop {
        let around = Surroundings { config, host };
        let Some(again) = spending.replied(&around, reply, findings, notes) else { return false };
        match host.reserve(again) {
            Ok(()) => return true,
            Err(outcome) => reply = Err(outcome),
        }
    }
}

/// The request goes on when nothing is awaited any more.
fn go_on(config: &Config, case: Box<Case>, host: &mut impl Host) -> Next {
    if case.waits == Waits::default() {
        settle(config, case, host)
    } else {
        Next::Await(Waiting::Model(case))
    }
}

/// The answer to a request that was not held has come before the service's reply.
pub fn overtaken(config: &Config, waiting: Waiting, host: &mut impl Host) -> Next {
    host.cancel();
    granted(config, waiting, Err(ServiceOutcome::Cancelled), host)
}

/// The client has gone while the service was asked.
pub fn abandoned(waiting: Waiting, host: &mut impl Host) {
    let spending = match waiting {
        Waiting::Model(case) => {
            if case.waits.answer {
                fail_open::called(ServiceOutcome::Cancelled, host);
            }
            case.spending
        }
        Waiting::Mcp(judged) => judged.into_spending(),
    };
    if let Some(spending) = spending {
        spending.abandon(host);
    }
}

/// Decides, now that no reply is awaited any more, and carries the decision out.
#[inline(never)]
fn settle(config: &Config, mut case: Box<Case>, host: &mut impl Host) -> Next {
    if case.unread.is_some() {
        // The body cannot be read, so there is no place for a hint. A later request gets it.
        case.findings.retain(|finding| finding.verdict == Verdict::Kill);
    }
    let mut decision = decide(&case.findings, &case.policy);
    cache::give::settle(&Surroundings { config, host }, &mut case, &decision);
    if decision.kills() && !decision.kills_by_itself() {
        let saved = config.price(&case.model).map_or(0, |price| price.of_body(case.length));
        case.notes.push(Note::Count(Metric::Saved, saved));
    }
    put_on_record(&mut case, host);
    // A request that was not read was not judged, apart from its budgets.
    if case.unread.is_none() || decision.finding.is_some() {
        record::decision(config, &mut case, &decision, host);
        if let Some(turn) = &mut case.turn {
            turn.judged(&decision);
            turn.similarity = case.similarity;
        }
    }
    if decision.kills() {
        release(&mut case, host);
        let signal = decision.finding.as_ref().map(|finding| finding.signal);
        end_of_run(config, &mut case, Ended::Killed(signal), host);
        let status = reply(config, &case, &decision, host);
        report(&mut case, status, false, host);
        return Next::Answered;
    }
    if let Some(cause) = case.unread {
        case.notes.push(Note::Bypassed(cause));
    }
    let given = cache::give::reply(&Surroundings { config, host }, &mut case, &decision);
    put_on_record(&mut case, host);
    if let Some(reply) = given {
        release(&mut case, host);
        end_of_run(config, &mut case, Ended::Text, host);
        report(&mut case, reply.status, true, host);
        host.reply(reply);
        return Next::Served;
    }
    if let Some(mut body) = changed_body(&case, &mut decision, host) {
        if case.coding.is_some() {
            host.remove_request_header("content-encoding");
        }
        if case.has_mark {
            body.splice(..0, BYTE_ORDER_MARK.iter().copied());
        }
        if case.has_length {
            host.set_request_header("content-length", &body.len().to_string());
        }
        host.replace_request_body(&body);
        case.length = body.len();
    }
    if let Some(spending) = &mut case.spending {
        spending.go_on(&Surroundings { config, host });
        let is_warned = decision.finding.as_ref().is_some_and(|finding| finding.signal == Signal::Budget);
        if let Some(warning) = spending.warning.filter(|_| is_warned) {
            shared_data::warned(host, warning, &mut case.notes);
        }
    }
    host.release();
    let headers = if decision.is_enforced && config.response_headers && case.unread.is_none() {
        record::headers(config, &case, &decision)
    } else {
        Vec::new()
    };
    begun(&mut case.turn, host);
    Next::Pass(Passing::Model(Box::new(PassingResponse::new(case, headers))))
}

/// Gives back what the request would take of its budgets: it does not go on.
fn release(case: &mut Case, host: &mut impl Host) {
    if let Some(spending) = case.spending.take() {
        spending.release(host);
    }
}

/// Answers the request in the provider's place.
#[inline(never)]
pub fn reply(config: &Config, case: &Case, decision: &Decision, host: &mut impl Host) -> u16 {
    let mut reply = render::kill(case.asked(), decision);
    if config.response_headers {
        reply.headers.extend(record::headers(config, case, decision));
    }
    let status = reply.status;
    host.reply(reply);
    status
}

/// Reports a turn whose answer is awaited.
#[inline(never)]
pub fn begun(turn: &mut Option<Box<Turn>>, host: &mut impl Host) {
    if let Some(turn) = turn {
        turn.is_under_way = true;
        turn.number = host.report((**turn).clone());
        turn.forget_results();
    }
}

/// Traces that the run ended without the provider.
fn end_of_run(config: &Config, case: &mut Case, ended: Ended, host: &mut impl Host) {
    if case.is_traced {
        let run = span::end(host, config, &case.scope, &mut case.notes, ended);
        host.trace(run.into_iter().collect());
        put_on_record(case, host);
    }
}

/// Reports a turn that is over without the provider.
#[inline(never)]
pub fn report(case: &mut Case, status: u16, is_cached: bool, host: &mut impl Host) {
    if let Some(mut turn) = case.turn.take() {
        turn.duration = host.now().saturating_sub(turn.at);
        (turn.status, turn.is_cached) = (status, is_cached);
        host.report(*turn);
    }
}

/// The changed body. Returns `None` when the body goes on unchanged. A hint for which there is no place becomes `Verdict::Allow`.
fn changed_body(case: &Case, decision: &mut Decision, host: &mut impl Host) -> Option<Vec<u8>> {
    if !decision.is_enforced {
        return None;
    }
    if decision.hints() {
        let hint = render::hint(case, decision);
        if let Some(body) = hint.and_then(|hint| render::edited(case, Some(&hint))) {
            return Some(body);
        }
        fail_open::bypassed(Bypass::NoPlace, host);
        decision.verdict = Verdict::Allow;
    }
    render::edited(case, None)
}
