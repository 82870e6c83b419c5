//! Budgets: what a request will probably take. It is taken from the worker's leases. If they do not have enough, the request asks
//! the service before it goes on.

use super::{McpSeen, Seen, Surroundings};
use crate::{
    budget::spending::{Need, Spending, Took, run as run_of},
    case::{AnswerCase, Case, McpCase},
    decide::decide,
    host::Facts,
    turn::Names,
};
use sentinel_config::Config;
use sentinel_llm_api::usage::Usage;

/// Begins the spending, if a budget counts the request and nothing else stops it.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let Some(names) = needed(seen.config.budgets.is_empty(), case.names.as_ref()) else { return };
    if decide(&case.findings, &case.policy).kills() {
        return;
    }
    let (bytes, conversation) = (seen.body.len(), seen.conversation);
    let past = seen.host.leases().past(run_of(&names));
    let need = Need {
        usage: past.next(bytes, conversation.most_output(), conversation.kept.is_some()),
        names,
        dialect: case.dialect.label(),
        model: case.model.clone(),
        tool_calls: u64::try_from(seen.reading.done().len()).unwrap_or(0),
        bytes,
    };
    case.spending = Spending::begin(seen.config, seen.host, need, &mut case.notes);
}

/// The same for a request that cannot be read. It counts as one request, and its input is estimated from its length.
pub fn of_unread(config: &Config, host: &dyn Facts, case: &mut Case) {
    let Some(names) = needed(config.budgets.is_empty(), case.names.as_ref()) else { return };
    let past = host.leases().past(run_of(&names));
    let need = Need {
        usage: past.next(case.length, None, false),
        names,
        dialect: case.dialect.label(),
        model: case.model.clone(),
        tool_calls: 0,
        // The body may be compressed, so later requests cannot be estimated from its length.
        bytes: 0,
    };
    case.spending = Spending::begin(config, host, need, &mut case.notes);
}

/// The same for calls of tools of an MCP server.
pub fn of_mcp(seen: &McpSeen<'_>, case: &mut McpCase) {
    let Some(names) = needed(seen.config.budgets.is_empty(), case.names.as_ref()) else { return };
    let calls = seen.requests.iter().flatten().filter(|request| request.call.is_some()).count();
    if calls == 0 || decide(&case.findings, &case.policy).kills() {
        return;
    }
    let need = Need {
        names,
        dialect: "",
        model: String::new(),
        usage: Usage::default(),
        tool_calls: u64::try_from(calls).unwrap_or(0),
        bytes: 0,
    };
    case.spending = Spending::begin(seen.config, seen.host, need, &mut case.notes);
}

fn needed(has_none: bool, names: Option<&Names>) -> Option<Names> {
    names.filter(|_| !has_none).cloned()
}

/// Corrects what the request took, now that its answer is over.
pub fn answered(around: &Surroundings<'_>, case: &mut AnswerCase) {
    let Some(spending) = case.spending.take() else { return };
    let took = match &case.turn {
        Some(turn) if case.has_succeeded && !case.is_cut_off => Took::All(turn.usage),
        Some(turn) if case.has_succeeded => Took::AtLeast(turn.usage),
        // The client went away before an answer came.
        _ if case.status == 0 => Took::Probable,
        _ => Took::Nothing,
    };
    spending.settle(around, took);
}
