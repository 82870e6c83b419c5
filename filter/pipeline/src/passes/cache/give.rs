//! Whether an answer that was found is given, and how it is written in the provider's form.

use sentinel_detect::verdict::Verdict;
use sentinel_llm_api::{
    answer::Answer,
    dialect::{FinalMessage, LocalReply},
    repeatable::FunctionCall,
};
use sentinel_text::digest_pair;

use super::{Cached, Hit, HitKind, LookUp};
use crate::{
    case::Case,
    decide::Decision,
    metric::{CacheBypass, CacheHit, Metric},
    note::{FoundAnswer, Note},
    passes::{Surroundings, fingerprint, tools},
    record,
    service_outcome::ServiceOutcome,
    stored::{LookupKind, LookupReply, StoredAnswer},
};

/// Notes what the service found. `reply` is an error if the service was not asked, or has not answered.
pub fn found(case: &mut Case, reply: Result<Option<LookupReply>, ServiceOutcome>) {
    let Some(Cached { key: Some(key), found: found @ LookUp::Open }) = &mut case.cache else { return };
    let reply = match reply {
        Ok(Some(reply)) => reply,
        // A service of an older version knows no cache.
        Ok(None) | Err(_) => {
            case.cache = Some(Cached::bypass(CacheBypass::Service));
            return;
        }
    };
    key.candidate = reply.candidate;
    let similarity = if (0.0..=1.0).contains(&reply.similarity) { reply.similarity } else { 0.0 };
    let kind = match reply.kind {
        LookupKind::Miss => {
            *found = LookUp::Miss(similarity);
            return;
        }
        LookupKind::Bypass => {
            let cause = CacheBypass::of_service(&reply.cause);
            *found = LookUp::Bypass(cause);
            // Without the model, an answer can still be stored for the same text. An entry that could not be read was erased.
            if !matches!(cause, CacheBypass::Embedding | CacheBypass::Corrupted) {
                case.cache = Some(Cached::bypass(cause));
            }
            return;
        }
        LookupKind::Exact => HitKind::Exact,
        LookupKind::Semantic => HitKind::Semantic,
    };
    let takes_calls = case.policy.cache.as_ref().is_some_and(|policy| policy.wanted.with_calls);
    // Arguments hold words of the prompt. A prompt in other words needs other arguments.
    let may_call = takes_calls && kind == HitKind::Exact;
    let is_whole = |answer: &StoredAnswer| match answer.calls.as_slice() {
        [] => !answer.text.is_empty(),
        calls => may_call && calls.iter().all(FunctionCall::is_sound),
    };
    *found = match reply.answer.filter(is_whole) {
        // A later request names the answer's id or its calls to the provider, so the provider must know them.
        Some(answer) if key.is_kept && (answer.id.is_empty() || !answer.calls.is_empty()) => {
            LookUp::Bypass(CacheBypass::Kept)
        }
        Some(answer) => {
            let similarity = if kind == HitKind::Exact { 1.0 } else { similarity };
            LookUp::Hit(Box::new(Hit { kind, answer, similarity, age: reply.age, entry: reply.entry }))
        }
        None => LookUp::Bypass(CacheBypass::Service),
    };
}

/// Decides what becomes of the look-up once the verdict is known, and counts it.
pub fn settle(around: &Surroundings<'_>, case: &mut Case, decision: &Decision) {
    let Some(cached) = &mut case.cache else { return };
    if decision.verdict != Verdict::Allow && cached.key.is_some() {
        *cached = Cached::bypass(CacheBypass::Loop);
    }
    if let LookUp::Open = cached.found {
        *cached = Cached::bypass(CacheBypass::Service);
    }
    let sample = case.policy.cache.as_ref().map_or(0.0, |policy| policy.sample);
    if let LookUp::Hit(hit) = &cached.found {
        let similarity = hit.similarity;
        // An answer that is not given is compared with the new one.
        cached.key.iter_mut().for_each(|key| key.compare_only = true);
        if decision.is_enforced && sample > 0.0 && is_drawn(sample, around.host.random()) {
            cached.found = LookUp::Miss(similarity);
        }
    }
    let metric = match &cached.found {
        LookUp::Hit(hit) => Metric::CacheHits(hit.kind.metric()),
        LookUp::Miss(similarity) => {
            let partition = cached.key.as_ref().map(|key| key.partition).unwrap_or_default();
            case.notes.push(Note::CacheMiss { similarity: *similarity, partition });
            Metric::CacheHits(CacheHit::Miss)
        }
        LookUp::Bypass(cause) => Metric::CacheBypasses(*cause),
        LookUp::Open => Metric::CacheBypasses(CacheBypass::Service),
    };
    case.notes.push(Note::Count(metric, 1));
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
fn is_drawn(share: f64, random: u64) -> bool {
    (random as f64) < share * (u64::MAX as f64)
}

/// The answer in the provider's form, if one is to be given. What it saves is counted, the window remembers it like any answer,
/// and its calls are recorded like any.
pub fn reply(around: &Surroundings<'_>, case: &mut Case, decision: &Decision) -> Option<LocalReply> {
    let Surroundings { config, host } = around;
    let Some(Cached { found: LookUp::Hit(hit), .. }) = &case.cache else { return None };
    case.notes.push(Note::CacheHit(FoundAnswer {
        hit: hit.kind.metric(),
        similarity: hit.similarity,
        age: hit.age,
        entry: hit.entry.clone(),
        is_given: decision.is_enforced,
    }));
    if !decision.is_enforced {
        return None;
    }
    let stored = &hit.answer;
    let model = if stored.model.is_empty() { &case.model } else { &stored.model };
    let mut reply = case.dialect.final_message(&FinalMessage {
        text: &stored.text,
        calls: &stored.calls,
        model,
        framing: case.framing,
        id: digest_pair(case.scope.id(), host.random()),
        kept_as: if is_kept(case) { &stored.id } else { "" },
        usage: stored.usage,
        created: case.arrived.checked_div(1_000).unwrap_or(0),
        include_usage: case.include_usage,
    });
    // This header is for errors.
    reply.headers.retain(|(name, _)| *name != "x-should-retry");
    if config.response_headers {
        reply.headers.extend(record::headers(config, case, decision));
    }
    reply.headers.push(("age", hit.age.checked_div(1_000).unwrap_or(0).to_string()));
    let usage = &stored.usage;
    let saved = config.price(&case.model).map_or(stored.cost, |price| price.of(usage));
    case.notes.push(Note::Count(Metric::Saved, saved));
    let tokens = usage.input.saturating_add(usage.cached).saturating_add(usage.output);
    case.notes.push(Note::Count(Metric::SavedTokens, tokens));
    let mut answer = Answer::of(&stored.text, &stored.calls, model, stored.usage);
    answer.id.clone_from(&stored.id);
    tools::note_calls(&case.policy, case.dialect.label(), &answer, &mut case.notes);
    if let Some(entry) = case.entry {
        let outcome = fingerprint::answered(Some(&answer), &case.policy.steps.tools);
        fingerprint::remember(around, &case.scope, entry, case.thread, &outcome, &mut case.notes);
    }
    Some(reply)
}

fn is_kept(case: &Case) -> bool {
    let key = case.cache.as_ref().and_then(|cached| cached.key.as_ref());
    key.is_some_and(|key| key.is_kept)
}
