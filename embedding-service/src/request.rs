//! Requests that can be answered: from here on every value is possible.

use std::time::Duration;

use sentinel_proto::v1::{CacheLookup, CheckLoopRequest, StoreAnswerRequest};

use crate::{
    cache::{
        EntryId, Owner, Partition, answer,
        candidate::Candidate,
        learning::{Bound, PROMISED_ERROR},
        lookup::Query,
        options::CacheOptions,
        writer::Answered,
    },
    comparison::MatchRules,
    history::Scope,
};

/// Longest id of a tenant, agent or run, in bytes. The filter sends hashes, far shorter.
const MAX_ID: usize = 512;

/// A CheckLoop request that can be answered.
pub struct ValidRequest {
    pub scope: Scope,
    pub prompt: String,
    pub rules: MatchRules,
    pub record: bool,
    /// The look-up in the response cache. `None` if the call asks for none.
    pub query: Option<Query>,
    /// Compare and remember nothing.
    pub cache_only: bool,
}

/// What is wrong with a request. Apart from numbers, it never holds a value of the request.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum InvalidRequest {
    #[error("{0} is empty; send a text that is more than white space")]
    Empty(&'static str),
    #[error("{field} has {length} bytes; send at most {MAX_ID}, a hash for example")]
    TooLong { field: &'static str, length: usize },
    #[error("{field} is {value}; send a number from 0 to 1, or leave it out")]
    Share { field: &'static str, value: f64 },
    #[error("partition has {0} bytes; send the 16 of a digest")]
    Partition(usize),
    #[error("cache_only is set and cache is not; send what to look up")]
    NothingToDo,
    #[error("answer.called needs calls with names, and answer.text must be empty beside it")]
    Called,
    #[error("answer has {length} bytes; at most {most} are stored (LOOP_CACHE_MAX_ANSWER_BYTES)")]
    AnswerTooLong { length: usize, most: usize },
}

impl ValidRequest {
    /// `threshold` and `cache` hold what counts where the request says nothing.
    ///
    /// # Errors
    /// When a value is impossible.
    pub fn new(
        request: CheckLoopRequest,
        threshold: f64,
        cache: &CacheOptions,
    ) -> Result<Self, InvalidRequest> {
        not_empty("tenant_id", &request.tenant_id)?;
        not_empty("prompt", &request.prompt)?;
        not_too_long("tenant_id", &request.tenant_id)?;
        not_too_long("agent_id", &request.agent_id)?;
        not_too_long("run_id", &request.run_id)?;
        let threshold = share("similarity_threshold", request.similarity_threshold.unwrap_or(threshold))?;
        if request.cache_only && request.cache.is_none() {
            return Err(InvalidRequest::NothingToDo);
        }
        let query = request.cache.as_ref().map(|lookup| query(lookup, &request.prompt, cache)).transpose()?;
        Ok(Self {
            scope: Scope::new(&request.tenant_id, &request.agent_id, &request.run_id),
            prompt: request.prompt,
            rules: MatchRules { threshold, repeats: request.repeats.max(1) },
            record: request.record.unwrap_or(true),
            query,
            cache_only: request.cache_only,
        })
    }
}

fn query(lookup: &CacheLookup, prompt: &str, cache: &CacheOptions) -> Result<Query, InvalidRequest> {
    let threshold = lookup.similarity_threshold.unwrap_or(cache.threshold);
    let bound = Bound {
        threshold: share("cache.similarity_threshold", threshold)?,
        max_error: share("cache.max_error", lookup.max_error.unwrap_or(PROMISED_ERROR))?,
    };
    Ok(Query {
        partition: partition(&lookup.partition)?,
        id: EntryId::of(prompt),
        bound,
        exact_only: lookup.exact_only,
        wait: Duration::from_millis(lookup.wait_ms.into()),
    })
}

/// The answer to be stored that a StoreAnswer request brings.
///
/// # Errors
/// When a value is impossible.
pub fn answered(request: StoreAnswerRequest, cache: &CacheOptions) -> Result<Answered, InvalidRequest> {
    not_empty("tenant_id", &request.tenant_id)?;
    not_empty("prompt", &request.prompt)?;
    not_too_long("tenant_id", &request.tenant_id)?;
    not_too_long("agent_id", &request.agent_id)?;
    let answer = request.answer.unwrap_or_default();
    match &answer.called {
        None => not_empty("answer.text", &answer.text)?,
        Some(called) if answer.text.is_empty() && answer::is_sound(called) => {}
        Some(_) => return Err(InvalidRequest::Called),
    }
    not_too_long("answer.model", &answer.model)?;
    not_too_long("answer.id", &answer.id)?;
    let (length, most) = (answer::length(&answer), cache.max_answer_bytes);
    if length > most {
        return Err(InvalidRequest::AnswerTooLong { length, most });
    }
    Ok(Answered {
        partition: partition(&request.partition)?,
        owner: Owner { tenant: request.tenant_id, agent: request.agent_id },
        prompt: request.prompt,
        answer,
        candidate: Candidate::from_bytes(&request.candidate),
        was_served: request.compare_only,
        ttl: match request.ttl_s {
            0 => cache.ttl,
            seconds => cache.ttl.min(Duration::from_secs(seconds.into())),
        },
    })
}

fn not_empty(field: &'static str, value: &str) -> Result<(), InvalidRequest> {
    if value.trim().is_empty() { Err(InvalidRequest::Empty(field)) } else { Ok(()) }
}

fn not_too_long(field: &'static str, value: &str) -> Result<(), InvalidRequest> {
    let length = value.len();
    if length > MAX_ID { Err(InvalidRequest::TooLong { field, length }) } else { Ok(()) }
}

fn share(field: &'static str, value: f64) -> Result<f64, InvalidRequest> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(InvalidRequest::Share { field, value }) }
}

fn partition(bytes: &[u8]) -> Result<Partition, InvalidRequest> {
    bytes.try_into().map(Partition).map_err(|_| InvalidRequest::Partition(bytes.len()))
}

#[cfg(test)]
mod tests {
    use sentinel_proto::v1::{CachedAnswer, Called, FunctionCall};

    use super::*;

    fn request() -> CheckLoopRequest {
        CheckLoopRequest { tenant_id: "t".to_owned(), prompt: "p".to_owned(), ..Default::default() }
    }

    const CACHE: CacheOptions = CacheOptions {
        ttl: Duration::from_secs(3600),
        max_bytes: 1 << 20,
        max_answer_bytes: 100,
        threshold: 0.875,
        store_prompt_text: true,
    };

    fn error(change: impl FnOnce(&mut CheckLoopRequest)) -> InvalidRequest {
        let mut request = request();
        change(&mut request);
        ValidRequest::new(request, 0.95, &CACHE).err().unwrap()
    }

    fn lookup() -> CacheLookup {
        CacheLookup { partition: vec![7; 16], ..CacheLookup::default() }
    }

    fn to_store() -> StoreAnswerRequest {
        StoreAnswerRequest {
            tenant_id: "t".to_owned(),
            prompt: "p".to_owned(),
            partition: vec![7; 16],
            answer: Some(CachedAnswer { text: "a".to_owned(), ..CachedAnswer::default() }),
            ..StoreAnswerRequest::default()
        }
    }

    #[test]
    fn absent_fields_get_their_defaults() {
        let valid = ValidRequest::new(request(), 0.95, &CACHE).unwrap();
        let rules = MatchRules { threshold: 0.95, repeats: 1 };
        assert_eq!(valid.rules, rules);
        assert!(valid.record);
        assert_eq!(valid.scope, Scope::new("t", "", ""));
    }

    #[test]
    fn given_fields_are_taken() {
        let request = CheckLoopRequest {
            similarity_threshold: Some(0.0),
            repeats: 3,
            record: Some(false),
            ..request()
        };
        let valid = ValidRequest::new(request, 0.95, &CACHE).unwrap();
        assert_eq!((valid.rules.threshold, valid.rules.repeats), (0.0, 3));
        assert!(!valid.record);
    }

    #[test]
    fn impossible_values_are_named() {
        for blank in ["", " ", "\n\t\u{a0}"] {
            let e = error(|r| r.tenant_id = blank.to_owned());
            assert_eq!(e, InvalidRequest::Empty("tenant_id"));
            let e = error(|r| r.prompt = blank.to_owned());
            assert_eq!(e, InvalidRequest::Empty("prompt"));
        }
        for threshold in [-0.01, 1.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let e = error(|r| r.similarity_threshold = Some(threshold));
            assert!(matches!(e, InvalidRequest::Share { .. }), "{threshold}");
        }
        let e = error(|r| r.run_id = "x".repeat(513));
        assert!(e.to_string().starts_with("run_id has 513 bytes"));
    }

    #[test]
    fn a_look_up_gets_its_defaults_and_its_faults_are_named() {
        let ask = CheckLoopRequest { cache: Some(lookup()), ..request() };
        let query = ValidRequest::new(ask, 0.95, &CACHE).unwrap().query.unwrap();
        assert_eq!(query.bound, Bound { threshold: 0.875, max_error: 0.01 });
        assert_eq!(
            (query.partition, query.id, query.exact_only),
            (Partition([7; 16]), EntryId::of("p"), false)
        );
        assert!(query.wait.is_zero());
        for (partition, length) in [(vec![], 0), (vec![1; 15], 15), (vec![1; 17], 17)] {
            let e = error(|r| r.cache = Some(CacheLookup { partition, ..lookup() }));
            assert_eq!(e, InvalidRequest::Partition(length));
        }
        let e = error(|r| r.cache = Some(CacheLookup { max_error: Some(1.5), ..lookup() }));
        assert!(e.to_string().starts_with("cache.max_error is 1.5"));
        let e = error(|r| r.cache = Some(CacheLookup { similarity_threshold: Some(f64::NAN), ..lookup() }));
        assert!(e.to_string().starts_with("cache.similarity_threshold"));
        assert_eq!(error(|r| r.cache_only = true), InvalidRequest::NothingToDo);
    }

    #[test]
    fn an_answer_is_taken_with_its_time_and_its_faults_are_named() {
        let taken = answered(StoreAnswerRequest { ttl_s: 60, ..to_store() }, &CACHE).unwrap();
        assert_eq!((taken.ttl, taken.candidate), (Duration::from_secs(60), None));
        let long = StoreAnswerRequest { ttl_s: 999_999, candidate: vec![1, 2], ..to_store() };
        let taken = answered(long, &CACHE).unwrap();
        assert_eq!((taken.ttl, taken.candidate), (CACHE.ttl, None), "what is no candidate teaches nothing");
        let called = |text: &str, names: &[&str]| {
            let call = |name: &&str| FunctionCall { name: (*name).to_owned(), arguments: "{}".to_owned() };
            let called = Called { text: String::new(), calls: names.iter().map(call).collect() };
            Some(CachedAnswer { text: text.to_owned(), called: Some(called), ..CachedAnswer::default() })
        };
        assert!(
            answered(StoreAnswerRequest { answer: called("", &["f"; 33]), ..to_store() }, &CACHE).is_ok()
        );
        let text = |text: String| Some(CachedAnswer { text, ..CachedAnswer::default() });
        for (request, wanted) in [
            (StoreAnswerRequest { tenant_id: " ".to_owned(), ..to_store() }, "tenant_id is empty"),
            (StoreAnswerRequest { prompt: String::new(), ..to_store() }, "prompt is empty"),
            (StoreAnswerRequest { answer: None, ..to_store() }, "answer.text is empty"),
            (StoreAnswerRequest { answer: text(" ".to_owned()), ..to_store() }, "answer.text is empty"),
            (StoreAnswerRequest { answer: text("x".repeat(101)), ..to_store() }, "answer has 101 bytes"),
            (StoreAnswerRequest { answer: called("a", &["f"]), ..to_store() }, "answer.called needs"),
            (StoreAnswerRequest { answer: called("", &[]), ..to_store() }, "answer.called needs"),
            (StoreAnswerRequest { answer: called("", &["f", ""]), ..to_store() }, "answer.called needs"),
            (StoreAnswerRequest { answer: called("", &["f"; 34]), ..to_store() }, "answer has 102 bytes"),
            (StoreAnswerRequest { partition: vec![1; 3], ..to_store() }, "partition has 3 bytes"),
            (StoreAnswerRequest { agent_id: "x".repeat(513), ..to_store() }, "agent_id has 513 bytes"),
        ] {
            let e = answered(request, &CACHE).err().unwrap();
            assert!(e.to_string().starts_with(wanted), "{e}");
        }
    }
}
