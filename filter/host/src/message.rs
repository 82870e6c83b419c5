//! The messages of the embedding service, and the pipeline's values that they carry.

use sentinel_llm_api::{repeatable::FunctionCall, usage::Usage};
use sentinel_pipeline::{
    host::{Question, ServiceReply},
    stored::{Lookup, LookupKind, LookupReply, StoreOrder, StoredAnswer},
};
use sentinel_proto::v1::{
    CacheLookup, CacheResult, CachedAnswer, Called, CheckLoopRequest, CheckLoopResponse, StoreAnswerRequest,
    cache_result::Kind,
};

pub fn question(question: Question) -> CheckLoopRequest {
    let Question { tenant, agent, run, prompt, similarity_threshold, repeats, cache, cache_only } = question;
    CheckLoopRequest {
        tenant_id: tenant,
        prompt,
        agent_id: agent,
        run_id: run,
        similarity_threshold: Some(similarity_threshold),
        repeats,
        record: None,
        cache: cache.map(lookup),
        cache_only,
    }
}

fn lookup(lookup: Lookup) -> CacheLookup {
    CacheLookup {
        partition: lookup.partition.to_vec(),
        similarity_threshold: Some(lookup.similarity_threshold),
        max_error: Some(lookup.max_error),
        exact_only: lookup.exact_only,
        wait_ms: lookup.wait,
    }
}

pub fn reply(reply: CheckLoopResponse) -> ServiceReply {
    ServiceReply {
        loop_detected: reply.loop_detected,
        max_similarity: reply.max_similarity,
        matches: reply.matches,
        related: reply.related,
        cache: reply.cache.map(found),
    }
}

fn found(result: CacheResult) -> LookupReply {
    let kind = match result.kind() {
        Kind::Miss => LookupKind::Miss,
        Kind::Exact => LookupKind::Exact,
        Kind::Semantic => LookupKind::Semantic,
        Kind::Unspecified | Kind::Bypass => LookupKind::Bypass,
    };
    LookupReply {
        kind,
        answer: result.answer.map(answer),
        similarity: result.similarity,
        age: result.age_ms,
        candidate: result.candidate,
        cause: result.cause,
        entry: result.entry,
    }
}

/// In the message, the input includes tokens from the provider's cache.
fn answer(answer: CachedAnswer) -> StoredAnswer {
    let (text, calls) = match answer.called {
        // An answer that says it has calls, but has none, is no answer.
        Some(Called { calls, .. }) if calls.is_empty() => Default::default(),
        Some(Called { text, calls }) => (text, calls),
        None => (answer.text, Vec::new()),
    };
    let call =
        |call: sentinel_proto::v1::FunctionCall| FunctionCall { name: call.name, arguments: call.arguments };
    StoredAnswer {
        text,
        calls: calls.into_iter().map(call).collect(),
        model: answer.model,
        id: answer.id,
        usage: Usage {
            input: answer.input_tokens.saturating_sub(answer.cached_tokens),
            cached: answer.cached_tokens,
            output: answer.output_tokens,
        },
        cost: answer.cost_nano_usd,
    }
}

pub fn store(order: StoreOrder) -> StoreAnswerRequest {
    let StoredAnswer { text, calls, model, id, usage, cost } = order.answer;
    let call =
        |call: FunctionCall| sentinel_proto::v1::FunctionCall { name: call.name, arguments: call.arguments };
    // A service that does not know calls must find no answer here, and not half of one.
    let (text, called) = if calls.is_empty() {
        (text, None)
    } else {
        (String::new(), Some(Called { text, calls: calls.into_iter().map(call).collect() }))
    };
    StoreAnswerRequest {
        tenant_id: order.tenant,
        agent_id: order.agent,
        partition: order.partition.to_vec(),
        prompt: order.prompt,
        answer: Some(CachedAnswer {
            text,
            model,
            input_tokens: usage.input.saturating_add(usage.cached),
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            cost_nano_usd: cost,
            id,
            called,
        }),
        candidate: order.candidate,
        compare_only: order.compare_only,
        ttl_s: order.ttl,
    }
}
