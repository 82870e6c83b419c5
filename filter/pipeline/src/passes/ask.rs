//! Ask: one call to the embedding service, where a new prompt is worth it, and what its reply is evidence of.

use sentinel_detect::{
    history::Tail,
    signal::score,
    verdict::{Finding, Signal, Verdict},
};

use crate::{
    case::Case,
    config::Config,
    fail_open,
    host::{Host, Question, ServiceReply},
    metric::ServiceOutcome,
    passes::cache,
    shared_data::change_window,
    stored::Lookup,
};

/// The question about a prompt event; nothing where the conversation does not end with one.
pub fn question(case: &Case, tail: Tail<'_>) -> Option<Question> {
    let Tail::Prompt(prompt) = tail else { return None };
    let [tenant, agent, mut run] = case.scope.names();
    // Prompts about other material are never compared.
    if let Some(context) = prompt.context.as_ref().filter(|context| context.setting != 0) {
        run.push_str(&format!("{:016x}", context.setting));
    }
    let prompt = prompt.text.into_owned();
    let (similarity_threshold, repeats) = (case.policy.similarity_threshold, case.policy.semantic_repeats);
    let (cache, cache_only) = (None, false);
    Some(Question { tenant, agent, run, prompt, similarity_threshold, repeats, cache, cache_only })
}

/// One question for both: what was to be asked about the prompt, and what is looked up for it.
pub fn with_lookup(case: &Case, question: Option<Question>, lookup: Option<Lookup>) -> Option<Question> {
    let Some(lookup) = lookup else { return question };
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
    let outcome = reply.as_ref().err().copied().unwrap_or(ServiceOutcome::Ok);
    fail_open::called(outcome, host);
    case.service = Some(outcome);
    let mut reply = reply;
    cache::give::note(case, reply.as_mut().map(|reply| reply.cache.take()).map_err(|outcome| *outcome));
    if case.asks_cache_only {
        return;
    }
    case.similarity = reply.as_ref().ok().map(|reply| reply.max_similarity);
    let (Ok(reply), Some(entry)) = (reply, case.entry) else { return };
    if !reply.loop_detected && reply.related < score::LEAST_RELATED {
        return;
    }
    let policy = &case.policy.prompts.score;
    let finding = change_window(host, config, &case.scope, case.arrived, |window| {
        let finding = if reply.loop_detected {
            Some(Finding::of(Signal::Semantic, Verdict::Hint))
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
