//! The messages of control, and the pipeline's values that they carry.

use sentinel_pipeline::{
    budget::{
        amounts::{Amounts, Price, PriceStep, Unit},
        leases::Outside,
    },
    control::{
        BudgetState, Directive, DirectiveVersions, Grant, LeaseUse, Limit, LiveSettings, Report, ReportReply,
        Reservation, ReserveReply, Stop, WorkerId,
    },
    turn::{End, Names, Turn, TurnStep},
};
use sentinel_proto::v1;

pub fn report(report: Report) -> v1::ReportRequest {
    v1::ReportRequest {
        worker: Some(worker(report.worker)),
        sent_at_ms: report.sent_at,
        turns: report.turns.into_iter().map(turn).collect(),
        dropped: report.dropped,
        known: Some(known(report.known)),
        leases: report.leases.into_iter().map(lease).collect(),
        configuration_digest: report.configuration_digest,
        configuration: report.configuration,
        unknown_directives: report.unknown_directives,
    }
}

pub fn reservation(reservation: Reservation) -> v1::ReserveRequest {
    v1::ReserveRequest {
        worker: Some(worker(reservation.worker)),
        names: Some(names(reservation.names)),
        configuration_digest: reservation.configuration_digest,
        provider: provider(reservation.dialect).to_owned(),
        model: reservation.model,
        probable: amounts(reservation.probable, reservation.is_priced),
        leases: reservation.leases.into_iter().map(lease).collect(),
        lease: reservation.lease,
        configuration: reservation.configuration,
    }
}

/// `is_priced`: the money is included.
fn amounts(Amounts(values): Amounts, is_priced: bool) -> Vec<v1::Amount> {
    let all = (1..).zip(values).skip(usize::from(!is_priced));
    all.map(|(unit, value)| v1::Amount { unit, value }).collect()
}

fn lease(lease: LeaseUse) -> v1::LeaseUse {
    let LeaseUse { id, account, used, is_returned, outside } = lease;
    let is_priced = outside.as_ref().is_none_or(|outside| outside.is_priced);
    let Outside { dialect, model, .. } = outside.clone().unwrap_or_default();
    v1::LeaseUse {
        id,
        account,
        used: amounts(used, is_priced),
        returned: is_returned,
        provider: provider(dialect).to_owned(),
        model,
        outside: outside.map(|outside| names(outside.names)),
    }
}

pub fn reserved(reply: v1::ReserveReply) -> ReserveReply {
    let step = |step: v1::PriceStep| PriceStep {
        above: step.above_input_tokens,
        input: step.input,
        cached: step.cached,
        output: step.output,
    };
    ReserveReply {
        budgets: reply.budgets.into_iter().map(budget).collect(),
        price: reply.price.map(|price| Price {
            steps: price.steps.into_iter().map(step).collect(),
            is_estimated: price.estimated,
        }),
    }
}

fn budget(state: v1::BudgetState) -> BudgetState {
    BudgetState {
        budget: state.budget,
        account: state.account,
        lease: state.lease.map(grant),
        refused: state.refused.map(limit),
        warned: state.warned.map(limit),
        only_records: state.record_only,
        is_unpriced: state.unpriced,
    }
}

fn grant(lease: v1::Lease) -> Grant {
    let mut granted = Amounts::default();
    for v1::Amount { unit, value } in lease.granted {
        let at = usize::try_from(unit).ok().and_then(|unit| unit.checked_sub(1));
        if let Some(place) = at.and_then(|at| granted.0.get_mut(at)) {
            *place = value;
        }
    }
    Grant { id: lease.id, granted, ttl: u64::from(lease.ttl_ms), idle: u64::from(lease.idle_ms) }
}

fn limit(limit: v1::Limit) -> Limit {
    let unit = match limit.unit() {
        _ if limit.seconds => None,
        v1::Unit::NanoUsd => Some(Unit::NanoUsd),
        v1::Unit::OutputTokens => Some(Unit::OutputTokens),
        v1::Unit::Requests => Some(Unit::Requests),
        v1::Unit::ToolCalls => Some(Unit::ToolCalls),
        v1::Unit::Tokens | v1::Unit::Unspecified => Some(Unit::Tokens),
    };
    Limit { unit, limit: limit.limit, spent: limit.spent, held: limit.held }
}

fn worker(WorkerId { envoy, number }: WorkerId) -> v1::Worker {
    v1::Worker { envoy, number }
}

fn known(DirectiveVersions { epoch, stops, settings }: DirectiveVersions) -> v1::Known {
    v1::Known { epoch, stops, settings }
}

fn names(Names { tenant, client, agent, run, history }: Names) -> v1::Names {
    v1::Names { tenant, client, agent, run, history }
}

fn turn(turn: Turn) -> v1::Turn {
    use sentinel_detect::verdict::Verdict;
    let kind = match turn.verdict {
        Verdict::Allow => v1::verdict::Kind::Allow,
        Verdict::Hint => v1::verdict::Kind::Hint,
        Verdict::Kill => v1::verdict::Kind::Kill,
    };
    let end = match turn.end {
        End::Unknown => v1::End::Unspecified,
        End::Text => v1::End::Text,
        End::Calls => v1::End::Calls,
        End::Results => v1::End::Results,
        End::Error => v1::End::Error,
        End::ClientGone => v1::End::ClientGone,
    };
    v1::Turn {
        number: turn.number,
        under_way: turn.is_under_way,
        begun: turn.begun,
        names: Some(names(turn.names)),
        at_ms: turn.at,
        duration_ms: u32::try_from(turn.duration).unwrap_or(u32::MAX),
        dialect: turn.dialect.to_owned(),
        provider: provider(turn.dialect).to_owned(),
        model: turn.model,
        status: u32::from(turn.status),
        input_tokens: turn.usage.input.saturating_add(turn.usage.cached),
        cached_tokens: turn.usage.cached,
        output_tokens: turn.usage.output,
        reasoning_tokens: 0,
        estimated: turn.is_estimated,
        cost_nano_usd: turn.cost,
        verdict: Some(v1::Verdict {
            kind: kind.into(),
            signal: turn.signal.to_owned(),
            count: turn.count,
            tool: turn.tool,
            enforced: turn.is_enforced,
        }),
        cache_hit: turn.is_cached,
        steps: turn.steps.into_iter().map(step).collect(),
        more_steps: turn.more_steps,
        prompt_digest: turn.prompt,
        similarity: turn.similarity,
        end: end.into(),
        injections: turn.injections,
        prompt: turn.text,
        leases: Vec::new(),
        results: turn.results,
        more_results: turn.more_results,
    }
}

/// The name that genai-prices has for the provider of a dialect. If others speak the dialect too, the model's name decides.
fn provider(dialect: &str) -> &'static str {
    match dialect {
        "openai_chat" | "openai_responses" => "openai",
        "anthropic" | "vertex" => "anthropic",
        "gemini" | "gemini_interactions" => "google",
        "bedrock" => "aws",
        _ => "",
    }
}

fn step(step: TurnStep) -> v1::Step {
    v1::Step {
        tool: step.tool,
        arguments_digest: step.arguments,
        outcome_digest: step.outcome,
        kind: step.kind.to_owned(),
        bytes: u64::try_from(step.bytes).unwrap_or(u64::MAX),
        repeated: step.is_repeated,
        arguments: step.texts.arguments,
        outcome: step.texts.outcome,
    }
}

pub fn reply(reply: v1::ReportReply) -> ReportReply {
    let all = reply.directives.len();
    let directives: Vec<_> = reply.directives.into_iter().filter_map(directive).collect();
    ReportReply {
        known: reply.known.map(|v1::Known { epoch, stops, settings }| DirectiveVersions {
            epoch,
            stops,
            settings,
        }),
        all_stops: reply.all_stops,
        unknown: u64::try_from(all.saturating_sub(directives.len())).unwrap_or(0),
        directives,
        wants_configuration: reply.want_configuration,
    }
}

fn directive(directive: v1::Directive) -> Option<Directive> {
    use v1::directive::Kind;
    Some(match directive.kind? {
        Kind::Stop(stop) => Directive::Stop {
            remaining: stop.remaining_ms,
            stop: Stop {
                id: stop.id,
                tenant: stop.tenant,
                client: stop.client,
                agent: stop.agent,
                run: stop.run,
                history: stop.history,
                reason: stop.reason,
                until: 0,
            },
        },
        Kind::Lift(id) => Directive::Lift(id),
        Kind::Settings(v1::LiveSettings { version, json }) => {
            Directive::Settings(LiveSettings { version, json })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_of_an_unknown_kind_is_left_out_and_counted() {
        let lift = v1::Directive { kind: Some(v1::directive::Kind::Lift("1".into())) };
        let read = reply(v1::ReportReply {
            directives: vec![v1::Directive { kind: None }, lift],
            ..v1::ReportReply::default()
        });
        assert_eq!((read.unknown, read.directives), (1, vec![Directive::Lift("1".into())]));
    }

    #[test]
    fn tokens_from_the_cache_are_input_tokens_on_the_wire() {
        let usage = sentinel_llm_api::usage::Usage { input: 10, cached: 5, output: 3 };
        let sent = turn(Turn { usage, ..Turn::default() });
        assert_eq!((sent.input_tokens, sent.cached_tokens, sent.output_tokens), (15, 5, 3));
    }
}
