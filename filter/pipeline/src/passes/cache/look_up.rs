//! Whether an answer may be looked up for a request, and under what.

use sentinel_llm_api::{
    canonical::Ambiguous,
    conversation::Conversation,
    question::{Question, Unfit},
};

use super::{Cached, Found, Key};
use crate::{
    case::Case,
    config::{CachePolicy, Config},
    host::Host,
    metric::CacheBypass,
    partition::{names, partition},
    stored::Lookup,
};

/// The temperature of providers where a request names none.
const DEFAULT_TEMPERATURE: f64 = 1.0;

/// What is looked up for a request that ends in the text `tail`; none where it ends otherwise. Nothing at all where the cache is
/// off.
pub fn run<'a>(
    config: &Config,
    case: &Case,
    body: &'a [u8],
    conversation: &Conversation<'a>,
    tail: Option<&str>,
    host: &impl Host,
) -> Option<(Cached, Option<Lookup>)> {
    let policy = case.policy.cache.as_ref()?;
    let path = host.request_header(":path").unwrap_or_default();
    if !std::str::from_utf8(&path).is_ok_and(|path| policy.holds_on(path)) {
        return None;
    }
    Some(match key(config, policy, case, body, conversation, tail, host) {
        Ok((key, true)) => {
            let lookup = Lookup {
                partition: key.partition,
                similarity_threshold: policy.threshold(wish(host)),
                max_error: policy.max_error,
                exact_only: !policy.semantic,
                wait: policy.wait,
            };
            (Cached { key: Some(key), found: Found::Open }, Some(lookup))
        }
        Ok((key, false)) => (Cached { key: Some(key), found: Found::Bypass(CacheBypass::NoCache) }, None),
        Err(cause) => (Cached::bypass(cause), None),
    })
}

/// Under what an answer may be kept, and whether one that is kept may be given.
fn key<'a>(
    config: &Config,
    policy: &CachePolicy,
    case: &Case,
    body: &'a [u8],
    conversation: &Conversation<'a>,
    tail: Option<&str>,
    host: &impl Host,
) -> Result<(Key, bool), CacheBypass> {
    let wanted = Directives::of(host);
    if wanted.no_store {
        return Err(CacheBypass::NoStore);
    }
    // An answer to a request that was changed by us is no answer to this one.
    if !case.findings.is_empty() {
        return Err(CacheBypass::Loop);
    }
    if !case.edits.is_empty() {
        return Err(CacheBypass::Edited);
    }
    let tail = tail.ok_or(CacheBypass::Tail)?;
    let body = std::str::from_utf8(body).map_err(|_| CacheBypass::Shape)?;
    let question = Question::of(case.dialect, body, conversation, &names(config, policy))?;
    if question.prompt != tail || tail.trim().is_empty() {
        return Err(CacheBypass::Tail);
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

/// What `cache-control` says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Directives {
    no_store: bool,
    no_cache: bool,
}

impl Directives {
    fn of(host: &impl Host) -> Self {
        let mut found = Self::default();
        for value in host.request_header_values("cache-control") {
            for directive in value.split(|byte| *byte == b',') {
                let directive = directive.trim_ascii().to_ascii_lowercase();
                let name = directive.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
                found.no_store |= name == b"no-store";
                found.no_cache |= name == b"no-cache" || directive == b"max-age=0";
            }
        }
        found
    }
}

/// The threshold that the request asks for.
fn wish(host: &impl Host) -> Option<f64> {
    let value = host.request_header("x-sentinel-cache-threshold")?;
    std::str::from_utf8(&value).ok()?.trim().parse().ok()
}
