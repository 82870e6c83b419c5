//! One run with its turns.

use sentinel_config::Policy;
use sentinel_console::{
    run::{End, RunPage, StepRow, TurnRow, count},
    words::Outcome,
};

use super::{finding, last_finding, last_outcome, status, stop, who};
use crate::control::{
    runs::{RunView, TurnView},
    stops::Stop,
    turn,
};

/// From which similarity a prompt counts where no configuration says so.
const THRESHOLD: f64 = 0.95;

/// The page. `turns`: the newest first; `earlier`: the address of those before them.
#[expect(clippy::too_many_arguments, reason = "what a page shows")]
pub fn run(
    now_ms: u64,
    view: &RunView,
    turns: &[TurnView],
    earlier: Option<String>,
    last_number: u64,
    stops: &[Stop],
    policy: Option<&Policy>,
    trace: Option<String>,
) -> RunPage {
    let known = &view.run;
    let steps = policy.map(|policy| policy.steps.clone()).unwrap_or_default();
    let threshold = policy.map_or(THRESHOLD, |policy| policy.similarity_threshold);
    let numbers = (1..=last_number).rev();
    let mut shown: Vec<TurnRow> =
        turns.iter().zip(numbers).map(|(turn, number)| one(&turn.turn, number)).collect();
    shown.reverse();
    let last = shown.iter().rev().find_map(|turn| turn.finding.clone());
    RunPage {
        now_ms,
        id: view.id.clone(),
        who: who(&known.names),
        status: status(view.status),
        finding: last.or_else(|| last_finding(known)),
        hints: known.hints,
        kills: known.kills,
        models: known.models.clone(),
        first_seen_ms: known.first_seen_ms,
        last_seen_ms: known.last_seen_ms,
        turn_count: known.turns,
        step_count: known.steps,
        repeated_steps: known.repeated_steps,
        input_tokens: known.tokens.input_tokens,
        cached_tokens: known.tokens.cached_tokens,
        output_tokens: known.tokens.output_tokens,
        estimated: known.estimated,
        cost_nano_usd: known.cost_nano_usd,
        unpriced_turns: known.unpriced_turns,
        cache_hits: known.cache_hits,
        injections: known.injections,
        counted: count(&shown, &steps, threshold),
        turns: shown,
        earlier,
        stops: stops.iter().map(stop).collect(),
        threshold,
        trace,
    }
}

fn one(turn: &turn::Turn, number: u64) -> TurnRow {
    TurnRow {
        number,
        at_ms: turn.at_ms,
        duration_ms: u64::from(turn.duration_ms),
        model: turn.model.clone(),
        status: turn.status,
        input_tokens: turn.tokens.input_tokens,
        cached_tokens: turn.tokens.cached_tokens,
        output_tokens: turn.tokens.output_tokens,
        cost_nano_usd: turn.cost_nano_usd,
        cache_hit: turn.cache_hit,
        steps: turn.steps.iter().map(step).collect(),
        more_steps: u64::from(turn.more_steps),
        similarity: turn.similarity,
        finding: finding(&turn.verdict, last_outcome(turn)),
        end: match turn.end {
            turn::End::Unknown => End::Unknown,
            turn::End::Text => End::Text,
            turn::End::Results | turn::End::Calls => End::Calls,
            turn::End::Limit => End::Limit,
            turn::End::Error => End::Error,
            turn::End::ClientGone => End::ClientGone,
        },
        injections: u64::from(turn.injections),
        prompt: turn.prompt.clone(),
    }
}

fn step(step: &turn::TurnStep) -> StepRow {
    StepRow {
        tool: step.tool.clone(),
        approach: approach(step),
        outcome: step.outcome_digest.clone(),
        kind: Outcome::of(&step.kind),
        bytes: step.bytes,
        arguments: step.arguments.clone(),
        result: step.outcome.clone(),
    }
}

/// What was called: another tool with the same arguments is another call.
fn approach(step: &turn::TurnStep) -> String {
    format!("{} {}", step.tool, step.arguments_digest)
}
