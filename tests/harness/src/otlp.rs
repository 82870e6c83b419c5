//! An OpenTelemetry collector that records the spans and logs it receives over OTLP/gRPC.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsServiceRequest, ExportLogsServiceResponse,
    logs_service_server::{LogsService, LogsServiceServer},
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
    trace_service_server::{TraceService, TraceServiceServer},
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use tonic::transport::server::{Server, TcpIncoming};
use tonic::{Request, Response, Status};

use crate::threads::Threads;

/// The fields of a span that tests use. Ids are hexadecimal; `parent` is empty for the first span of a trace.
#[derive(Clone, Debug)]
pub struct Span {
    pub service: String,
    pub name: String,
    pub trace: String,
    pub id: String,
    pub parent: String,
    pub failed: bool,
    /// Nanoseconds since 1970.
    pub time: (u64, u64),
    pub attributes: BTreeMap<String, String>,
    /// Trace and span ids of its links.
    pub links: Vec<(String, String)>,
}

impl Span {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }
}

/// A log record: its text, and the trace that it belongs to.
#[derive(Clone, Debug)]
pub struct Record {
    pub body: String,
    pub trace: String,
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<(Vec<Span>, Vec<Record>)>>);

pub struct Collector {
    address: SocketAddr,
    kept: Kept,
    _threads: Threads,
}

impl Collector {
    pub fn start() -> Self {
        let threads = Threads::start();
        let (listener, address) = threads.listen();
        let kept = Kept::default();
        let server = Server::builder()
            .add_service(TraceServiceServer::new(kept.clone()))
            .add_service(LogsServiceServer::new(kept.clone()));
        threads.spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
        Self { address, kept, _threads: threads }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// All spans so far, in the order in which they came.
    pub fn spans(&self) -> Vec<Span> {
        self.kept.lock().0.clone()
    }

    /// All log records so far.
    pub fn records(&self) -> Vec<Record> {
        self.kept.lock().1.clone()
    }
}

impl Kept {
    fn lock(&self) -> std::sync::MutexGuard<'_, (Vec<Span>, Vec<Record>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tonic::async_trait]
impl TraceService for Kept {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        for of_service in request.into_inner().resource_spans {
            let service = service_of(of_service.resource);
            for span in of_service.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                self.lock().0.push(Span {
                    service: service.clone(),
                    name: span.name,
                    trace: hex(&span.trace_id),
                    id: hex(&span.span_id),
                    parent: hex(&span.parent_span_id),
                    failed: span.status.is_some_and(|status| status.code == 2),
                    time: (span.start_time_unix_nano, span.end_time_unix_nano),
                    attributes: attributes(span.attributes),
                    links: span.links.iter().map(|link| (hex(&link.trace_id), hex(&link.span_id))).collect(),
                });
            }
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl LogsService for Kept {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        let scopes =
            request.into_inner().resource_logs.into_iter().flat_map(|of_service| of_service.scope_logs);
        for record in scopes.flat_map(|scope| scope.log_records) {
            self.lock().1.push(Record {
                body: record.body.map(text).unwrap_or_default(),
                trace: hex(&record.trace_id),
            });
        }
        Ok(Response::new(ExportLogsServiceResponse::default()))
    }
}

fn service_of(resource: Option<Resource>) -> String {
    let mut attributes = attributes(resource.map(|resource| resource.attributes).unwrap_or_default());
    attributes.remove("service.name").unwrap_or_default()
}

fn attributes(pairs: Vec<KeyValue>) -> BTreeMap<String, String> {
    pairs.into_iter().map(|pair| (pair.key, pair.value.map(text).unwrap_or_default())).collect()
}

fn text(value: AnyValue) -> String {
    match value.value {
        Some(Value::StringValue(text)) => text,
        Some(Value::BoolValue(truth)) => truth.to_string(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
