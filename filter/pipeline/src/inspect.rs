//! The way of a request whose body is complete: the body is read, the passes look at it, the decision is made and
//! carried out.

use sentinel_detect::{
    history::{Reach, Reading, Tail},
    verdict::Verdict,
};
use sentinel_llm_api::{framing::Framing, registry, route::Route};

use crate::{
    case::Case,
    config::Config,
    decide::{Decision, decide},
    fail_open,
    host::{Host, Question, ServiceReply},
    mcp,
    metric::{Bypass, Metric, ServiceOutcome},
    passes::{ask, bounds, cache, guard, loops, spotlight, tools},
    record, render,
    request_head::{RequestHead, Target},
    response::{Passing, PassingResponse},
    span::{Cause, StepSpans},
};

/// What follows on the look at a request.
pub enum Next {
    /// The embedding service was asked; the request is held.
    Await(Box<Case>),
    /// The request has gone on, and its response is of interest.
    Pass(Passing),
    /// The request was answered in the provider's place.
    Answered,
    /// It was given an answer of the provider's that is stored.
    Served,
    /// The request has gone on, and nothing more is to be done.
    End,
}

/// The whole body is there: who sends it, and what does it say?
pub fn whole(config: &Config, head: RequestHead, host: &mut impl Host) -> Next {
    let body = host.request_body().unwrap_or_default();
    let route = match &head.target {
        Target::Model(route) => route.clone(),
        Target::Mcp if !body.is_empty() => {
            return mcp::whole(config, &head.claims, &body, host);
        }
        Target::Mcp => return uninspected(Some(Bypass::Empty), host),
    };
    if body.is_empty() {
        return uninspected(Some(Bypass::Empty), host);
    }
    read(config, head, route, body, host).unwrap_or_else(|cause| uninspected(cause, host))
}

fn uninspected(cause: Option<Bypass>, host: &mut impl Host) -> Next {
    if let Some(cause) = cause {
        fail_open::bypassed(cause, host);
    }
    host.release();
    Next::End
}

/// An error where the request is to go on uninspected, with the cause that is counted.
fn read(
    config: &Config,
    head: RequestHead,
    route: Route,
    body: Vec<u8>,
    host: &mut impl Host,
) -> Result<Next, Option<Bypass>> {
    let RequestHead { claims, has_length, is_retry, arrived, .. } = head;
    let unreadable = |error| Some(Bypass::Unreadable(error));
    let conversation = registry::read(route.dialect, &body).map_err(unreadable)?;
    let claims = claims.with_body(config, &conversation.ids);
    let policy = config.policy(claims.agent()).clone();
    if !policy.enabled {
        return Err(None);
    }
    let reach = Reach::of(&policy.steps, policy.run_limit).with_context(claims.is_identified());
    let reading = Reading::of(&conversation, reach).map_err(unreadable)?;
    let scope = claims.scope(reading.head);
    let framing = if conversation.stream { Framing::Sse } else { Framing::Json };
    let (model, include_usage) = (conversation.model.to_string(), conversation.include_usage);
    host.count(Metric::BytesInspected, u64::try_from(body.len()).unwrap_or(0));
    let mut case = Case {
        arrived,
        dialect: route.dialect,
        framing: route.facts.framing.unwrap_or(framing),
        include_usage,
        model: route.facts.model.unwrap_or(model),
        policy,
        scope,
        body: Vec::new(),
        has_length,
        findings: Vec::new(),
        edits: Vec::new(),
        entry: None,
        thread: reading.kept.as_ref().map(|tail| tail.thread).unwrap_or_default(),
        service: None,
        asks_cache_only: false,
        similarity: None,
        cache: None,
        spans: Vec::new(),
    };
    let is_traced = config.collector.is_some() && claims.names_run() && !is_retry;
    let trace = is_traced.then(|| StepSpans {
        cause: host.request_header("traceparent").and_then(|header| Cause::of(&header)),
    });
    tools::run(&mut case, &body, host);
    guard::run(&mut case, &conversation, host);
    // A request that is refused for what it says is nobody's evidence.
    let is_refused = decide(&case.findings, &case.policy).refuses();
    if !is_refused {
        spotlight::run(&mut case, &body, &conversation);
    }
    // Behind the others, whose edits move along with what it moves.
    let flush = if is_refused { None } else { bounds::run(config, &mut case, &body, host) };
    let is_open = !is_refused && loops::run(config, &mut case, &body, &reading, trace.as_ref(), host);
    // It comes once: before hints that come again as long as there is a loop.
    case.findings.splice(0..0, flush);
    let text = match &reading.tail {
        Tail::Prompt(prompt) => Some(&*prompt.text),
        Tail::Other => None,
    };
    let looked_up = cache::look_up::run(config, &case, &body, &conversation, text, host);
    let (cached, lookup) = looked_up.unzip();
    case.cache = cached;
    let question = if is_open { ask::question(&case, reading.tail) } else { None };
    let question = ask::with_lookup(&case, question, lookup.flatten());
    drop(conversation);
    case.body = body;
    match question {
        Some(question) => Ok(ask(config, case, question, host)),
        None => Ok(settle(config, case, host)),
    }
}

fn ask(config: &Config, mut case: Case, question: Question, host: &mut impl Host) -> Next {
    host.hold();
    case.asks_cache_only = question.cache_only;
    match host.ask(question) {
        Ok(()) => Next::Await(Box::new(case)),
        Err(outcome) => answered(config, Box::new(case), Err(outcome), host),
    }
}

/// The embedding service has replied, or has not.
pub fn answered(
    config: &Config,
    mut case: Box<Case>,
    reply: Result<ServiceReply, ServiceOutcome>,
    host: &mut impl Host,
) -> Next {
    ask::run(config, &mut case, reply, host);
    settle(config, *case, host)
}

/// All that will be known is known.
fn settle(config: &Config, mut case: Case, host: &mut impl Host) -> Next {
    let mut decision = decide(&case.findings, &case.policy);
    cache::give::settle(&mut case, &decision, host);
    record::decision(config, &mut case, &decision, host);
    if decision.kills() {
        let mut reply = render::kill(&case, &decision);
        if config.response_headers {
            reply.headers.extend(record::headers(&case, &decision));
        }
        if !decision.refuses() {
            let saved = config.price(&case.model).map_or(0, |price| price.of_body(case.body.len()));
            host.count(Metric::Saved, saved);
        }
        host.reply(reply);
        return Next::Answered;
    }
    if let Some(reply) = cache::give::reply(config, &case, &decision, host) {
        host.reply(reply);
        return Next::Served;
    }
    if let Some(body) = changed_body(&case, &mut decision, host) {
        if case.has_length {
            host.set_request_header("content-length", &body.len().to_string());
        }
        host.replace_request_body(&body);
    }
    host.release();
    let headers = if decision.is_enforced && config.response_headers {
        record::headers(&case, &decision)
    } else {
        Vec::new()
    };
    Next::Pass(Passing::Model(Box::new(PassingResponse::new(case, headers))))
}

/// The body that goes on, where it is another. A hint that finds no place is none.
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
