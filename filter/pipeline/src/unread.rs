//! What happens to a request that cannot be read in full. It goes on, unless it could hold something that its agent may not do,
//! or an operator or a budget has stopped it.

use std::sync::Arc;

use sentinel_config::{Config, Policy};
use sentinel_detect::verdict::Finding;
use sentinel_llm_api::route::Route;

use crate::{
    bypass::Bypass,
    case::Case,
    decide::decide,
    host::{Facts, Host, number},
    inspect::{self, Next, uninspected},
    mcp,
    passes::{budgets, report, stop},
    record,
    request_head::{RequestHead, Target},
};

/// How much of the body is known.
#[derive(Clone, Copy, Debug)]
pub enum Unread {
    /// All of it is held. Its length in bytes.
    Whole(usize),
    /// The bytes that have come so far.
    Part(usize),
}

/// A request that cannot be read in full.
pub fn unread(
    config: &Config,
    head: &RequestHead,
    cause: Bypass,
    body: Unread,
    host: &mut impl Host,
) -> Next {
    let policy = config.policy(head.claims.sender());
    let names = match &head.target {
        Target::Mcp => mcp::names(head, host),
        Target::Model(_) => head.claims.names(None),
    };
    let refusal = || policy.refuses_unreadable().then(|| Finding::unreadable(cause.label()));
    let finding = stop::finding(names.as_ref(), host).or_else(refusal);
    match (&head.target, finding) {
        (Target::Model(route), finding) => model(config, (head, route, policy), finding, (cause, body), host),
        (Target::Mcp, finding) => match finding.map(|finding| mcp::refuse(config, head, finding, host)) {
            Some(true) => Next::Answered,
            _ => uninspected(cause, host),
        },
    }
}

fn model(
    config: &Config,
    (head, route, policy): (&RequestHead, &Route, &Arc<Policy>),
    finding: Option<Finding>,
    (cause, body): (Bypass, Unread),
    host: &mut impl Host,
) -> Next {
    let mut case = Case::of(route, policy, head, None);
    let told = told_length(host);
    let come = match body {
        Unread::Whole(length) | Unread::Part(length) => length,
    };
    let is_whole = matches!(body, Unread::Whole(_));
    case.unread = Some(cause);
    case.length = if is_whole { come } else { told.unwrap_or(0).max(come) };
    if let Some(finding) = finding {
        let decision = decide(&[finding], policy);
        record::decision(config, &mut case, &decision, host);
        if decision.kills() {
            report::begin_unread(&mut case);
            if let Some(turn) = &mut case.turn {
                turn.judged(&decision);
            }
            let status = inspect::reply(config, &case, &decision, host);
            inspect::report(&mut case, status, false, host);
            return Next::Answered;
        }
    }
    budgets::of_unread(config, host, &mut case);
    if case.spending.is_none() {
        return uninspected(cause, host);
    }
    report::begin_unread(&mut case);
    if !is_whole {
        (case.has_gone_on, case.is_open_ended) = (true, told.is_none());
        // More of the body comes than may be held. So it goes on while the service is asked, and is cut off if the service refuses it.
        host.release();
    }
    inspect::ask(config, case, is_whole, host)
}

/// The content-length of the request.
fn told_length(host: &impl Facts) -> Option<usize> {
    number(&host.request_header("content-length")?)
}
