//! The passes. Each looks at a request or its answer for one purpose. It reads what was found out before, and adds its findings
//! (evidence for a verdict), edits and notes to the case. No pass decides or acts, and one that is switched off costs nothing.
//! The lists below are the order of the passes.

pub mod ask;
pub mod bounds;
pub mod breaker;
pub mod budgets;
pub mod cache;
pub mod clean;
pub mod fingerprint;
pub mod guard;
pub mod loops;
pub mod models;
pub mod report;
pub mod second_opinion;
pub mod spotlight;
pub mod stop;
pub mod tools;
pub mod usage;

use sentinel_config::Config;
use sentinel_detect::history::Reading;
use sentinel_llm_api::{
    conversation::Conversation,
    json::Unreadable,
    mcp::{McpToolUse, Request},
    path::PathFacts,
};

use crate::{
    case::{AnswerCase, Case, McpCase},
    decide::decide,
    host::Facts,
    span::StepSpans,
};

/// What the passes of a request read.
pub struct Seen<'a, 'c> {
    pub config: &'a Config,
    pub path: &'a PathFacts,
    pub body: &'a [u8],
    pub conversation: &'a Conversation<'c>,
    pub reading: &'a Reading<'a>,
    /// Where the steps of the run are traced.
    pub trace: Option<StepSpans>,
    pub host: &'a dyn Facts,
}

type Pass = fn(&Seen<'_, '_>, &mut Case);

/// Which requests a pass looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LooksAt {
    All,
    /// Requests that were not refused for what they say. Refused requests are no evidence.
    Unrefused,
}

/// The passes of a request to a model.
///
/// * `stop`, `models`, `tools` and `guard` can refuse a request, so they come before the passes that skip refused requests.
/// * `bounds` comes behind `tools` and `spotlight`: it moves their edits along with what it moves.
/// * `cache` looks up nothing for a request with a finding or an edit. It comes behind all passes that find or edit.
/// * `ask` puts what `loops` and `cache` want to know into one question.
/// * `budgets` takes nothing for a request that is stopped anyway. It comes behind all that can stop one.
/// * `report` counts what the others have noted.
const OF_A_REQUEST: [(LooksAt, Pass); 11] = [
    (LooksAt::All, stop::run),
    (LooksAt::All, models::run),
    (LooksAt::All, tools::run),
    (LooksAt::All, guard::run),
    (LooksAt::Unrefused, spotlight::run),
    (LooksAt::Unrefused, bounds::run),
    (LooksAt::Unrefused, loops::run),
    (LooksAt::All, cache::look_up::run),
    (LooksAt::All, ask::run),
    (LooksAt::Unrefused, budgets::run),
    (LooksAt::All, report::run),
];

/// Runs the passes of a request to a model.
pub fn of_a_request(seen: &Seen<'_, '_>, case: &mut Case) {
    for (looks_at, run) in OF_A_REQUEST {
        if looks_at == LooksAt::All || !decide(&case.findings, &case.policy).kills_by_itself() {
            run(seen, case);
        }
    }
}

/// What the passes of a request to an MCP server read.
pub struct McpSeen<'a> {
    pub config: &'a Config,
    pub requests: &'a Result<Vec<Request<'a>>, Unreadable>,
    /// The tools that are called, and whether a list is asked for. Empty if all tools are allowed.
    pub wanted: &'a McpToolUse,
    pub host: &'a dyn Facts,
}

type McpPass = fn(&McpSeen<'_>, &mut McpCase);

/// The passes of a request to an MCP server. `breaker` counts no calls of a request that `tools` refuses. `report` tells what the others
/// have found.
const OF_AN_MCP_REQUEST: [(LooksAt, McpPass); 5] = [
    (LooksAt::All, stop::of_mcp),
    (LooksAt::All, tools::called),
    (LooksAt::Unrefused, breaker::run),
    (LooksAt::Unrefused, budgets::of_mcp),
    (LooksAt::All, report::of_mcp),
];

/// Runs the passes of a request to an MCP server.
pub fn of_an_mcp_request(seen: &McpSeen<'_>, case: &mut McpCase) {
    for (looks_at, run) in OF_AN_MCP_REQUEST {
        if looks_at == LooksAt::All || !decide(&case.findings, &case.policy).kills_by_itself() {
            run(seen, case);
        }
    }
}

/// What the passes of an answer read, beside the answer itself.
pub struct Surroundings<'a> {
    pub config: &'a Config,
    pub host: &'a dyn Facts,
}

type AnswerPass = fn(&Surroundings<'_>, &mut AnswerCase);

/// The passes of an answer of a model that is over.
///
/// * `clean` changed its parts as they came.
/// * `cache` takes the text that is to be stored, and no answer that `clean` found to say nothing. It comes behind `clean`.
/// * `budgets` takes the usage of the turn. It comes behind `report`.
const OF_AN_ANSWER: [AnswerPass; 7] = [
    usage::run,
    tools::answered,
    clean::run,
    fingerprint::run,
    cache::store::run,
    report::answered,
    budgets::answered,
];

/// The passes of an answer that was cut off. Nobody acts on what it says.
const OF_A_CUT_OFF_ANSWER: [AnswerPass; 3] = [fingerprint::run, report::answered, budgets::answered];

/// Runs the passes of an answer.
pub fn of_an_answer(around: &Surroundings<'_>, case: &mut AnswerCase) {
    for run in OF_AN_ANSWER {
        run(around, case);
    }
}

/// Runs the passes of an answer that was cut off.
pub fn of_a_cut_off_answer(around: &Surroundings<'_>, case: &mut AnswerCase) {
    for run in OF_A_CUT_OFF_ANSWER {
        run(around, case);
    }
}
