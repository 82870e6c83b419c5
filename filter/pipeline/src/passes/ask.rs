//! Ask: one call to the embedding service, where a new prompt is worth it, and what its reply is evidence of.

use sentinel_detect::{
    history::Tail,
    verdict::{Finding, Signal, Verdict},
};

use crate::{
    case::Case,
    config::Config,
    host::{Host, Question, ServiceReply},
    metric::{Metric, ServiceOutcome},
    shared_data::change_window,
};

/// The question about a prompt event; nothing where the conversation does not end with one.
pub fn question(case: &Case, tail: Tail) -> Option<Question> {
    let Tail::Prompt(prompt) = tail else { return None };
    let [tenant, agent, mut run] = case.scope.names();
    // Prompts about other material are never compared.
    if let Some(context) = prompt.context.as_ref().filter(|context| context.setting != 0) {
        run.push_str(&format!("{:016x}", context.setting));
    }
    let prompt = prompt.text;
    let (similarity_threshold, repeats) = (case.policy.similarity_threshold, case.policy.semantic_repeats);
    Some(Question { tenant, agent, run, prompt, similarity_threshold, repeats })
}

/// Adds what the service found to the case.
pub fn run(
    config: &Config,
    case: &mut Case,
    reply: Result<ServiceReply, ServiceOutcome>,
    host: &mut impl Host,
) {
    let reply = reply.and_then(|reply| {
        let is_similarity = (0.0..=1.0).contains(&reply.max_similarity);
        if is_similarity { Ok(reply) } else { Err(ServiceOutcome::Garbage) }
    });
    let outcome = reply.err().unwrap_or(ServiceOutcome::Ok);
    host.count(Metric::ServiceCalls(outcome), 1);
    case.service = Some(outcome);
    case.similarity = reply.ok().map(|reply| reply.max_similarity);
    if reply.is_ok_and(|reply| reply.loop_detected) {
        case.findings.push(Finding::of(Signal::Semantic, Verdict::Hint));
        remember(config, case, host);
    }
}

/// A retry of a request that was hinted must be hinted again: the window remembers the hint.
fn remember(config: &Config, case: &Case, host: &mut impl Host) {
    change_window(host, config, &case.scope, case.arrived, |window| {
        if let Some(entry) = case.entry.and_then(|number| window.entry(number)) {
            entry.verdict = Verdict::Hint;
            entry.signal = Some(Signal::Semantic);
        }
    });
}
