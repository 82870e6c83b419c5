//! Whether an answer may be looked up for a request, and under which key.

use sentinel_detect::history::Tail;
use sentinel_llm_api::{
    canonical::Ambiguous,
    conversation::Conversation,
    question::{Question, Unfit},
};

use super::{
    Cached, Key, LookUp, caller, directives::Directives, material::works_on_text, now::asks_for_now,
};
use crate::{
    case::Case,
    host::Facts,
    metric::CacheBypass,
    partition::{names, partition},
    passes::Seen,
    stored::Lookup,
};
use sentinel_config::{CachePolicy, Config};

/// The temperature that providers use if a request names none.
const DEFAULT_TEMPERATURE: f64 = 1.0;

/// Adds what is looked up for a request that ends in a user's text.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let Seen { config, conversation, host, .. } = *seen;
    let Some(policy) = case.policy.cache.as_ref() else { return };
    let path = host.request_header(":path").unwrap_or_default();
    if !std::str::from_utf8(&path).is_ok_and(|path| policy.holds_on(path)) {
        return;
    }
    let caller = caller::caller(config, host);
    case.caller = Some(caller);
    let tail = match &seen.reading.tail {
        Tail::Prompt(prompt) => Some(&*prompt.text),
        Tail::Other => None,
    };
    let (cached, lookup) = match key(config, policy, case, conversation, tail, host) {
        Ok((key, true)) if caller::is_refused(caller, host) => {
            (Cached { key: Some(key), found: LookUp::Bypass(CacheBypass::Refused) }, None)
        }
        Ok((key, true)) => {
            let lookup = Lookup {
                partition: key.partition,
                similarity_threshold: policy.threshold(wish(host)),
                max_error: policy.max_error,
                exact_only: key.is_exact,
                wait: policy.wait,
            };
            (Cached { key: Some(key), found: LookUp::Open }, Some(lookup))
        }
        Ok((key, false)) => (Cached { key: Some(key), found: LookUp::Bypass(CacheBypass::NoCache) }, None),
        Err(cause) => (Cached::bypass(cause), None),
    };
    (case.cache, case.lookup) = (Some(cached), lookup);
}

/// The key under which an answer may be stored, and whether a stored one may be given.
fn key(
    config: &Config,
    policy: &CachePolicy,
    case: &Case,
    conversation: &Conversation<'_>,
    tail: Option<&str>,
    host: &dyn Facts,
) -> Result<(Key, bool), CacheBypass> {
    let wanted = Directives::of(&host.request_header_values("cache-control"));
    if wanted.no_store {
        return Err(CacheBypass::NoStore);
    }
    // If the filter changed the request, the answer is not an answer to the request as it was sent.
    if !case.findings.is_empty() {
        return Err(CacheBypass::Loop);
    }
    if !case.edits.is_empty() {
        return Err(CacheBypass::Edited);
    }
    if !policy.is_shared && caller::is_only_signed(config, host) {
        return Err(CacheBypass::Signed);
    }
    let tail = tail.ok_or(CacheBypass::Tail)?;
    let question = Question::of(conversation, &names(config, policy))?;
    if question.prompt != tail || tail.trim().is_empty() {
        return Err(CacheBypass::Tail);
    }
    if asks_for_now(tail) {
        return Err(CacheBypass::Now);
    }
    if question.turns > policy.max_turns {
        return Err(CacheBypass::Turns);
    }
    if question.temperature.unwrap_or(DEFAULT_TEMPERATURE) > policy.max_temperature {
        return Err(CacheBypass::Temperature);
    }
    let key = Key {
        partition: partition(config, policy, case.policy.cleans, case.dialect, &question, host),
        is_kept: question.is_kept,
        is_exact: !policy.semantic || works_on_text(&question),
        prompt: question.prompt.into_owned(),
        candidate: Vec::new(),
        compare_only: false,
    };
    Ok((key, !wanted.no_cache))
}

impl From<Unfit> for CacheBypass {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Tail => Self::Tail,
            Unfit::Media => Self::Media,
            Unfit::Kept => Self::Kept,
            Unfit::Length => Self::Length,
            Unfit::Ambiguous(Ambiguous::DuplicateKey) => Self::DuplicateKey,
            Unfit::Ambiguous(Ambiguous::Escape) => Self::Escape,
            Unfit::Ambiguous(Ambiguous::Shape) => Self::Shape,
        }
    }
}

/// The threshold that the request wishes for.
fn wish(host: &dyn Facts) -> Option<f64> {
    let value = host.request_header("x-sentinel-cache-threshold")?;
    std::str::from_utf8(&value).ok()?.trim().parse().ok()
}
