//! The span of a call. Attributes hold numbers and words of closed sets: no prompt, no name, no header's value.

use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use sentinel_proto::{
    CHECK_LOOP, SERVICE,
    v1::{CheckLoopResponse, cache_result::Kind},
};
use tonic::{Code, metadata::MetadataMap};
use tracing::{Span, field::Empty};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::{error::CheckError, metrics::LabelValue as _, trace};

/// The span of a call, in the trace that its caller names by `traceparent`.
pub fn start(metadata: &MetadataMap) -> Span {
    let span = tracing::info_span!(
        target: trace::TARGET,
        "CheckLoop",
        otel.name = format!("{SERVICE}/{CHECK_LOOP}"),
        otel.kind = "server",
        otel.status_code = Empty,
        rpc.system.name = "grpc",
        rpc.method = format!("{SERVICE}/{CHECK_LOOP}"),
        rpc.response.status_code = Empty,
        error.type = Empty,
        sentinel.compared = Empty,
        sentinel.matches = Empty,
        sentinel.similarity = Empty,
        sentinel.loop_detected = Empty,
        sentinel.cache = Empty,
    );
    if !span.is_disabled() {
        // Fails only where no layer makes spans.
        let _ = span.set_parent(TraceContextPropagator::new().extract(&Headers(metadata)));
    }
    span
}

/// Records on the span how its call ended.
pub fn end(span: &Span, result: &Result<CheckLoopResponse, CheckError>) {
    if span.is_disabled() {
        return;
    }
    let code = match result {
        Ok(answer) => {
            span.record("sentinel.compared", answer.compared);
            span.record("sentinel.matches", answer.matches);
            span.record("sentinel.similarity", answer.max_similarity);
            span.record("sentinel.loop_detected", answer.loop_detected);
            if let Some(cache) = &answer.cache {
                span.record("sentinel.cache", cache_kind(cache.kind()));
            }
            Code::Ok
        }
        Err(error) => {
            span.record("otel.status_code", "ERROR");
            span.record("error.type", error.reason().text());
            error.code()
        }
    };
    span.record("rpc.response.status_code", tracing::field::debug(code));
}

fn cache_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Exact => "exact",
        Kind::Semantic => "semantic",
        Kind::Miss => "miss",
        Kind::Bypass | Kind::Unspecified => "bypass",
    }
}

struct Headers<'a>(&'a MetadataMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        // Only asked by propagators of other forms.
        Vec::new()
    }
}
