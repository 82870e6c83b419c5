//! Spans as the collector takes them: one message of OTLP. Only the part of the protocol that we fill is written out.

use prost::Message;
use sentinel_pipeline::span::{Span, Value};

pub const SERVICE: &str = "opentelemetry.proto.collector.trace.v1.TraceService";
pub const EXPORT: &str = "Export";
/// The name that Envoy's spans have in `envoy/production.yaml`.
const NAME: &str = "agent-sentinel";
/// `SPAN_KIND_INTERNAL`, `SPAN_KIND_CLIENT` and `STATUS_CODE_ERROR`.
const INTERNAL: i32 = 1;
const CLIENT: i32 = 3;
const ERROR: i32 = 2;

/// An `ExportTraceServiceRequest`.
pub fn export(spans: Vec<Span>) -> Vec<u8> {
    let spans = spans.into_iter().map(OtlpSpan::from).collect();
    let scope_spans = vec![ScopeSpans { scope: Some(InstrumentationScope { name: NAME.to_owned() }), spans }];
    let resource = Resource { attributes: vec![attribute("service.name", NAME.into())] };
    let resource_spans = vec![ResourceSpans { resource: Some(resource), scope_spans }];
    Export { resource_spans }.encode_to_vec()
}

impl From<Span> for OtlpSpan {
    fn from(span: Span) -> Self {
        let links = span.cause.map(|cause| Link {
            trace_id: cause.trace.to_be_bytes().to_vec(),
            span_id: cause.id.to_be_bytes().to_vec(),
        });
        Self {
            trace_id: span.trace.to_be_bytes().to_vec(),
            span_id: span.id.to_be_bytes().to_vec(),
            parent_span_id: span.parent.map(|id| id.to_be_bytes().to_vec()).unwrap_or_default(),
            name: span.name,
            kind: if span.is_call { CLIENT } else { INTERNAL },
            start_time_unix_nano: span.began.saturating_mul(1_000_000),
            end_time_unix_nano: span.ended.saturating_mul(1_000_000),
            attributes: span.attributes.into_iter().map(|(name, value)| attribute(name, value)).collect(),
            links: links.into_iter().collect(),
            status: span.is_failure.then_some(SpanStatus { code: ERROR }),
        }
    }
}

fn attribute(key: &str, value: Value) -> KeyValue {
    let value = match value {
        Value::Text(text) => AnyValue { string_value: Some(text), int_value: None },
        Value::Number(number) => {
            AnyValue { string_value: None, int_value: Some(i64::try_from(number).unwrap_or(i64::MAX)) }
        }
    };
    KeyValue { key: key.to_owned(), value: Some(value) }
}

#[derive(Clone, PartialEq, Message)]
struct Export {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    scope: Option<InstrumentationScope>,
    #[prost(message, repeated, tag = "2")]
    spans: Vec<OtlpSpan>,
}

#[derive(Clone, PartialEq, Message)]
struct InstrumentationScope {
    #[prost(string, tag = "1")]
    name: String,
}

/// OTLP's `Span`.
#[derive(Clone, PartialEq, Message)]
struct OtlpSpan {
    #[prost(bytes, tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes, tag = "2")]
    span_id: Vec<u8>,
    #[prost(bytes, tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, repeated, tag = "13")]
    links: Vec<Link>,
    #[prost(message, optional, tag = "15")]
    status: Option<SpanStatus>,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(string, optional, tag = "1")]
    string_value: Option<String>,
    #[prost(int64, optional, tag = "3")]
    int_value: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Link {
    #[prost(bytes, tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes, tag = "2")]
    span_id: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct SpanStatus {
    #[prost(int32, tag = "3")]
    code: i32,
}
