//! Calls of the embedding service and the collector: where they go, what they carry, how long they may take, and what their
//! replies mean.

use std::time::Duration;

use prost::Message as _;
use sentinel_config::Config;
use sentinel_pipeline::{
    control::{Reservation, ReserveReply},
    host::{BackgroundMessage, Question, Reply, ServiceReply},
    service_outcome::ServiceOutcome,
    stored::StoreOrder,
    worker::MessageKind,
};
use sentinel_proto::{CHECK_LOOP, CONTROL_SERVICE, REPORT, RESERVE, SERVICE, STORE_ANSWER, v1};

use crate::{control, message, spans};

/// The header with the trace that a request is part of (W3C Trace Context).
pub const TRACE: &str = "traceparent";
/// The header by which Envoy chooses one of several embedding services, so that one scope always goes to the same one. Envoy
/// cannot look into the message. Everything in the header is hashed.
const SCOPE: &str = "x-sentinel-scope";

/// How long the service may take to store an answer: nobody waits for it.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the collector may take.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the service may take for a report.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// One unary gRPC call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcCall<'a> {
    /// The cluster of Envoy.
    pub cluster: &'a str,
    pub service: &'static str,
    pub method: &'static str,
    pub metadata: Vec<(&'static str, Vec<u8>)>,
    pub message: Vec<u8>,
    pub timeout: Duration,
}

/// Asks the embedding service. `trace`: the request's header `TRACE`. A host does not send it to the service by itself.
pub fn ask(config: &Config, question: Question, trace: Option<Vec<u8>>) -> GrpcCall<'_> {
    let scope = [question.tenant.as_str(), &question.agent, &question.run].join("-");
    let wait = question.cache.as_ref().map_or(0, |lookup| u64::from(lookup.wait));
    let mut metadata = vec![(SCOPE, scope.into_bytes())];
    metadata.extend(trace.map(|trace| (TRACE, trace)));
    GrpcCall {
        cluster: &config.cluster,
        service: SERVICE,
        method: CHECK_LOOP,
        metadata,
        message: message::question(question).encode_to_vec(),
        timeout: Duration::from_millis(config.timeout.saturating_add(wait)),
    }
}

/// Asks for a share of budgets.
pub fn reserve(config: &Config, reservation: Reservation) -> GrpcCall<'_> {
    GrpcCall {
        cluster: &config.cluster,
        service: CONTROL_SERVICE,
        method: RESERVE,
        metadata: Vec::new(),
        message: control::reservation(reservation).encode_to_vec(),
        timeout: Duration::from_millis(config.timeout),
    }
}

/// What the embedding service grants.
pub fn reserved(reply: Result<&[u8], ServiceOutcome>) -> Result<ReserveReply, ServiceOutcome> {
    let reply = v1::ReserveReply::decode(reply?).map_err(|_| ServiceOutcome::Garbage)?;
    Ok(control::reserved(reply))
}

/// Has an answer stored.
pub fn store_answer(config: &Config, order: StoreOrder) -> GrpcCall<'_> {
    let scope = [order.tenant.as_str(), &order.agent, &order.run].join("-");
    GrpcCall {
        cluster: &config.cluster,
        service: SERVICE,
        method: STORE_ANSWER,
        metadata: vec![(SCOPE, scope.into_bytes())],
        message: message::store(order).encode_to_vec(),
        timeout: STORE_TIMEOUT,
    }
}

/// Sends what a worker says outside of any request.
pub fn background(config: &Config, message: BackgroundMessage) -> (MessageKind, GrpcCall<'_>) {
    match message {
        BackgroundMessage::Spans(spans) => {
            let call = GrpcCall {
                cluster: config.collector.as_deref().unwrap_or_default(),
                service: spans::SERVICE,
                method: spans::EXPORT,
                metadata: Vec::new(),
                message: spans::export(spans),
                timeout: EXPORT_TIMEOUT,
            };
            (MessageKind::Spans, call)
        }
        BackgroundMessage::Report(report) => {
            let call = GrpcCall {
                cluster: &config.cluster,
                service: CONTROL_SERVICE,
                method: REPORT,
                metadata: Vec::new(),
                message: control::report(*report).encode_to_vec(),
                timeout: REPORT_TIMEOUT,
            };
            (MessageKind::Report, call)
        }
    }
}

/// What the embedding service replied.
pub fn answered(reply: Result<&[u8], ServiceOutcome>) -> Result<ServiceReply, ServiceOutcome> {
    let reply = v1::CheckLoopResponse::decode(reply?).map_err(|_| ServiceOutcome::Garbage)?;
    Ok(message::reply(reply))
}

/// Reads the reply to a message that a worker sent.
pub fn background_reply(
    sent: MessageKind,
    reply: Result<&[u8], ServiceOutcome>,
) -> Result<Reply, (MessageKind, ServiceOutcome)> {
    match (sent, reply) {
        (_, Err(outcome)) => Err((sent, outcome)),
        (MessageKind::Spans, Ok(_)) => Ok(Reply::Spans),
        (MessageKind::Report, Ok(bytes)) => match v1::ReportReply::decode(bytes) {
            Ok(reply) => Ok(Reply::Report(Box::new(control::reply(reply)))),
            Err(_) => Err((sent, ServiceOutcome::Garbage)),
        },
    }
}
