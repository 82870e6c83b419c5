//! Ask: one call of the embedding service if a new prompt is worth it, and the finding that its reply gives.

use sentinel_detect::{
    history::Tail,
    signal::score,
    verdict::{Finding, Signal, Verdict},
};

use super::{Seen, Surroundings};
use crate::{
    case::Case,
    host::{Question, ServiceReply},
    note::Note,
    passes::cache,
    service_outcome::ServiceOutcome,
    shared_data::change_window,
};

/// Adds the question, if there is one.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let question = if case.is_open { about_prompt(case, &seen.reading.tail) } else { None };
    case.question = with_lookup(case, question);
}

/// The question about a prompt event. Returns `None` when the conversation does not end with one.
fn about_prompt(case: &Case, tail: &Tail<'_>) -> Option<Question> {
    let Tail::Prompt(prompt) = tail else { return None };
    let [tenant, agent, mut run] = case.scope.names();
    // Prompts with other material are never compared.
    if let Some(context) = prompt.context.as_ref().filter(|context| context.setting != 0) {
        run.push_str(&format!("{:016x}", context.setting));
    }
    let prompt = prompt.text.to_string();
    let (similarity_threshold, repeats) = (case.policy.similarity_threshold, case.policy.semantic_repeats);
    let (cache, cache_only) = (None, false);
    Some(Question { tenant, agent, run, prompt, similarity_threshold, repeats, cache, cache_only })
}

/// One question for both: the question about the prompt, and the look-up.
fn with_lookup(case: &mut Case, question: Option<Question>) -> Option<Question> {
    let Some(lookup) = case.lookup.take() else { return question };
    let key = case.cache.as_ref().and_then(|cached| cached.key.as_ref())?;
    let [tenant, agent, run] = case.scope.names();
    let question = question.unwrap_or_else(|| Question {
        tenant,
        agent,
        run,
        prompt: key.prompt.clone(),
        similarity_threshold: case.policy.similarity_threshold,
        repeats: case.policy.semantic_repeats,
        cache: None,
        cache_only: true,
    });
    Some(Question { cache: Some(lookup), ..question })
}

/// Adds what the service found to the case.
pub fn replied(around: &Surroundings<'_>, case: &mut Case, reply: Result<ServiceReply, ServiceOutcome>) {
    let reply = reply.and_then(|reply| {
        let is_similarity = (0.0..=1.0).contains(&reply.max_similarity);
        if is_similarity { Ok(reply) } else { Err(ServiceOutcome::Garbage) }
    });
    let outcome = reply.as_ref().err().copied().unwrap_or(ServiceOutcome::Ok);
    case.notes.push(Note::Called(outcome));
    case.service = Some(outcome);
    let mut reply = reply;
    cache::give::found(case, reply.as_mut().map(|reply| reply.cache.take()).map_err(|outcome| *outcome));
    if case.asks_cache_only {
        return;
    }
    case.similarity = reply.as_ref().ok().map(|reply| reply.max_similarity);
    let (Ok(reply), Some(entry)) = (reply, case.entry) else { return };
    if !reply.loop_detected && reply.related < score::LEAST_RELATED {
        return;
    }
    let Surroundings { config, host } = around;
    let policy = &case.policy.prompts.score;
    let kill = case.policy.semantic_kill;
    let kills = kill > 0 && reply.matches >= kill && (case.scope.names_run() || policy.kill_by_agent);
    let finding = change_window(*host, config, &case.scope, case.arrived, &mut case.notes, |window| {
        let finding = if reply.loop_detected {
            Some(Finding::of(Signal::Semantic, if kills { Verdict::Kill } else { Verdict::Hint }))
        } else {
            score::judge_related(window, entry, reply.related, policy)
        };
        // A retry of a request that was hinted must be hinted again.
        if let Some(finding) = &finding
            && let Some(entry) = window.entry(entry)
        {
            (entry.verdict, entry.signal) = (finding.verdict, Some(finding.signal));
        }
        finding
    });
    case.findings.extend(finding);
}
