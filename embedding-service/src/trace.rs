//! Spans of a call, and where they go: over OTLP to a collector, where the settings name one. Else no span is ever made.
//! Attributes hold numbers and words of closed sets: no prompt, no name, no header's value.

use std::time::Duration;

use opentelemetry::{
    propagation::{Extractor, TextMapPropagator as _},
    trace::TracerProvider as _,
};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::{Resource, propagation::TraceContextPropagator, trace::SdkTracerProvider};
use sentinel_proto::{CHECK_LOOP, SERVICE, v1::CheckLoopResponse};
use tonic::{Code, metadata::MetadataMap};
use tracing::{Span, Subscriber, field::Empty};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

use crate::{error::CheckError, settings::Collector};

/// Target of every span; the log shows nothing of it.
pub const TARGET: &str = "trace";
/// What a collector that does not answer may cost at shutdown.
const LAST_CHANCE: Duration = Duration::from_secs(2);

/// The way to the collector. Spans wait in a bounded queue and leave in batches; what finds it full is lost, and no call
/// ever waits.
pub struct Exporter {
    provider: SdkTracerProvider,
}

impl Exporter {
    /// Must be called inside a tokio runtime. The collector need not be there yet.
    ///
    /// # Errors
    /// When the standard variables (`OTEL_EXPORTER_OTLP_HEADERS` and the like) cannot be understood.
    pub fn start(collector: &Collector) -> Result<Self, ExporterBuildError> {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(&collector.endpoint).build()?;
        let resource = Resource::builder().with_service_name(collector.service_name.clone()).build();
        let provider =
            SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build();
        Ok(Self { provider })
    }

    /// What the program's subscriber needs to make spans.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("embedding-service"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(Targets::new().with_target(TARGET, tracing::Level::INFO))
    }

    /// Sends what waits, for at most two seconds.
    pub async fn flush(self) {
        let last = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(LAST_CHANCE));
        if !matches!(last.await, Ok(Ok(()))) {
            tracing::warn!("the last spans did not reach the collector");
        }
    }
}

/// The span of a call, in the trace that its caller names by `traceparent`.
pub fn of_call(metadata: &MetadataMap) -> Span {
    let span = tracing::info_span!(
        target: TARGET,
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
    );
    if !span.is_disabled() {
        // Fails only where no layer makes spans.
        let _ = span.set_parent(TraceContextPropagator::new().extract(&Metadata(metadata)));
    }
    span
}

/// Notes on the span how its call ended.
pub fn ended(span: &Span, result: &Result<CheckLoopResponse, CheckError>) {
    if span.is_disabled() {
        return;
    }
    let code = match result {
        Ok(answer) => {
            span.record("sentinel.compared", answer.compared);
            span.record("sentinel.matches", answer.matches);
            span.record("sentinel.similarity", f64::from(answer.max_similarity));
            span.record("sentinel.loop_detected", answer.loop_detected);
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

struct Metadata<'a>(&'a MetadataMap);

impl Extractor for Metadata<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        // Only asked by propagators of other forms.
        Vec::new()
    }
}
