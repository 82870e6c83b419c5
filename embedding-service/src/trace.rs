//! Where spans go: over OTLP to a collector, where one is named. Else no span is ever made.

use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tracing::Subscriber;
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

/// Target of every span; the log shows nothing of it.
pub const TARGET: &str = "trace";
/// What a collector that does not answer may cost at shutdown.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// An OpenTelemetry collector that takes OTLP/gRPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectorOptions {
    /// `http://host:port`
    pub endpoint: String,
    /// What this process is called there.
    pub service_name: String,
}

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
    pub fn start(collector: &CollectorOptions) -> Result<Self, ExporterBuildError> {
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
        let last = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(FLUSH_TIMEOUT));
        if !matches!(last.await, Ok(Ok(()))) {
            tracing::warn!("the last spans did not reach the collector");
        }
    }
}
