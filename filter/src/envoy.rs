//! Envoy as the host of one request: each question and each order of the pipeline is one call of the proxy-wasm ABI.
//! What comes from outside is read as bytes: a value that is not UTF-8 must not end the filter.

use std::{
    cell::OnceCell,
    hash::{BuildHasher, RandomState},
    rc::Rc,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use prost::Message;
use proxy_wasm::{
    hostcalls,
    types::{BufferType, LogLevel, MapType, Status},
};
use sentinel_llm_api::dialect::LocalReply;
use sentinel_pipeline::{
    config::Config,
    host::{Host, Level, Question, Secret, Stored},
    metric::{Metric, ServiceOutcome},
    span::Span,
    stored::StoreOrder,
};
use sentinel_proto::{CHECK_LOOP, SERVICE, STORE_ANSWER};

use crate::{header_map::HeaderMap, message, metrics::Metrics, shared_secret::SharedSecret, spans::Spans};

/// The header with the trace that a request is part of (W3C Trace Context).
const TRACE: &str = "traceparent";

/// How long the service may take to keep an answer: nobody waits for it.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);

/// What a call is sent by where there are several embedding services: one scope always goes to the same (Envoy cannot see into
/// the message). All of it is hashed.
const SCOPE: &str = "x-sentinel-scope";

pub struct Envoy {
    config: Arc<Config>,
    /// This request's context, and that of its configuration, which outlives it.
    contexts: Contexts,
    metrics: Rc<Metrics>,
    spans: Rc<Spans>,
    secret: Rc<SharedSecret>,
    /// Whether Envoy is to keep the request back.
    pub holds: bool,
    /// Whether Envoy is to keep the response back.
    pub holds_response: bool,
    /// We are in a callback whose return value says so; elsewhere Envoy must be told to resume.
    pub is_in_callback: bool,
    pub has_replied: bool,
    /// The call of the embedding service that is under way.
    pub call: Option<u32>,
    /// Length of the response chunk at hand.
    pub chunk: usize,
    /// As they came, once one of them was asked for: they are until the request goes on, and may have gone on before it.
    pub request_headers: OnceCell<HeaderMap>,
    /// While they are at hand.
    pub response_headers: HeaderMap,
}

/// What Envoy calls the context of a request, and that of its configuration.
#[derive(Clone, Copy)]
pub struct Contexts {
    pub request: u32,
    pub root: u32,
}

impl Envoy {
    pub fn new(
        config: Arc<Config>,
        contexts: Contexts,
        metrics: Rc<Metrics>,
        spans: Rc<Spans>,
        secret: Rc<SharedSecret>,
    ) -> Self {
        Self {
            config,
            contexts,
            metrics,
            spans,
            secret,
            holds: false,
            holds_response: false,
            is_in_callback: false,
            has_replied: false,
            call: None,
            chunk: 0,
            request_headers: OnceCell::new(),
            response_headers: HeaderMap::default(),
        }
    }
}

impl Host for Envoy {
    fn secret(&self) -> Secret {
        self.secret.get()
    }

    fn now(&self) -> u64 {
        let now = hostcalls::get_current_time().unwrap_or(UNIX_EPOCH);
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn request_header(&self, name: &str) -> Option<Vec<u8>> {
        // Of most requests that are not inspected, the path is all that is asked for.
        if name == ":path" && self.request_headers.get().is_none() {
            return hostcalls::get_map_value_bytes(MapType::HttpRequestHeaders, name).ok()?;
        }
        let headers = self.request_headers.get_or_init(|| HeaderMap::of(MapType::HttpRequestHeaders));
        headers.get(name).map(<[u8]>::to_vec)
    }

    fn request_header_values(&self, name: &str) -> Vec<Vec<u8>> {
        self.request_headers.get_or_init(|| HeaderMap::of(MapType::HttpRequestHeaders)).all(name)
    }

    fn random(&self) -> u64 {
        // The host's own random numbers are behind it.
        RandomState::new().hash_one(0_u8)
    }

    fn request_body(&self) -> Option<Vec<u8>> {
        hostcalls::get_buffer(BufferType::HttpRequestBody, 0, usize::MAX).ok()?
    }

    fn response_header(&self, name: &str) -> Option<Vec<u8>> {
        self.response_headers.get(name).map(<[u8]>::to_vec)
    }

    fn response_chunk(&self) -> Option<Vec<u8>> {
        hostcalls::get_buffer(BufferType::HttpResponseBody, 0, self.chunk).ok()?
    }

    fn load(&self, key: &str) -> Stored {
        let (bytes, version) = hostcalls::get_shared_data(key).unwrap_or_default();
        Stored { bytes, version }
    }

    fn store(&mut self, key: &str, bytes: &[u8], version: Option<u32>) -> bool {
        hostcalls::set_shared_data(key, Some(bytes), version).is_ok()
    }

    fn hold(&mut self) {
        self.holds = true;
    }

    fn release(&mut self) {
        self.holds = false;
        self.request_headers.take();
        if !self.is_in_callback {
            let _ = hostcalls::resume_http_request();
        }
    }

    fn set_request_header(&mut self, name: &'static str, value: &str) {
        let _ = hostcalls::set_map_value(MapType::HttpRequestHeaders, name, Some(value));
    }

    fn remove_request_header(&mut self, name: &'static str) {
        let _ = hostcalls::set_map_value(MapType::HttpRequestHeaders, name, None);
    }

    fn replace_request_body(&mut self, body: &[u8]) {
        let _ = hostcalls::set_buffer(BufferType::HttpRequestBody, 0, usize::MAX, body);
    }

    fn set_response_header(&mut self, name: &'static str, value: &str) {
        let _ = hostcalls::set_map_value(MapType::HttpResponseHeaders, name, Some(value));
    }

    fn remove_response_header(&mut self, name: &'static str) {
        let _ = hostcalls::set_map_value(MapType::HttpResponseHeaders, name, None);
    }

    fn hold_response(&mut self) {
        self.holds_response = true;
    }

    fn release_response(&mut self) {
        self.holds_response = false;
    }

    fn replace_response_chunk(&mut self, bytes: &[u8]) {
        let _ = hostcalls::set_buffer(BufferType::HttpResponseBody, 0, self.chunk, bytes);
    }

    fn reply(&mut self, reply: LocalReply) {
        self.holds = false;
        self.has_replied = true;
        self.request_headers.take();
        let headers = reply.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let _ = hostcalls::send_http_response(u32::from(reply.status), headers, Some(&reply.body));
    }

    fn ask(&mut self, question: Question) -> Result<(), ServiceOutcome> {
        let scope = [question.tenant.as_str(), &question.agent, &question.run].join("-");
        let wait = question.cache.as_ref().map_or(0, |lookup| u64::from(lookup.wait));
        let message = message::question(question);
        // Envoy by itself tells the service nothing of the trace.
        let trace = self.request_header(TRACE);
        let mut metadata = vec![(SCOPE, scope.as_bytes())];
        metadata.extend(trace.as_deref().map(|trace| (TRACE, trace)));
        let call = hostcalls::dispatch_grpc_call(
            &self.config.cluster,
            SERVICE,
            CHECK_LOOP,
            metadata,
            Some(&message.encode_to_vec()),
            Duration::from_millis(self.config.timeout.saturating_add(wait)),
        );
        match call {
            Ok(call) => {
                self.call = Some(call);
                Ok(())
            }
            Err(Status::ParseFailure) => Err(ServiceOutcome::UnknownCluster),
            Err(_) => Err(ServiceOutcome::Error),
        }
    }

    /// From the configuration's context: calls of a request's own end with it.
    fn store_answer(&mut self, order: StoreOrder) -> Result<(), ServiceOutcome> {
        let scope = [order.tenant.as_str(), &order.agent, &order.run].join("-");
        let message = message::store(order).encode_to_vec();
        if hostcalls::set_effective_context(self.contexts.root).is_err() {
            return Err(ServiceOutcome::Error);
        }
        let call = hostcalls::dispatch_grpc_call(
            &self.config.cluster,
            SERVICE,
            STORE_ANSWER,
            vec![(SCOPE, scope.as_bytes())],
            Some(&message),
            STORE_TIMEOUT,
        );
        let _ = hostcalls::set_effective_context(self.contexts.request);
        match call {
            Ok(_) => Ok(()),
            Err(Status::ParseFailure) => Err(ServiceOutcome::UnknownCluster),
            Err(_) => Err(ServiceOutcome::Error),
        }
    }

    fn cancel(&mut self) {
        if let Some(call) = self.call.take() {
            let _ = hostcalls::cancel_grpc_call(call);
        }
    }

    fn count(&mut self, metric: Metric, by: u64) {
        self.metrics.count(metric, by);
    }

    fn record_latency(&mut self, milliseconds: u64) {
        self.metrics.record_latency(milliseconds);
    }

    fn log(&mut self, line: &str) {
        let _ = hostcalls::log(LogLevel::Warn, line);
        // As Envoy's filter state `wasm.sentinel_event`, which its access logs can show.
        self.annotate("sentinel_event", line);
    }

    fn note(&mut self, level: Level, line: &str) {
        let level = match level {
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
        };
        let _ = hostcalls::log(level, line);
    }

    fn warn(&mut self, line: &str) {
        let _ = hostcalls::log(LogLevel::Warn, line);
    }

    fn annotate(&mut self, name: &'static str, value: &str) {
        let _ = hostcalls::set_property(vec![name], Some(value.as_bytes()));
    }

    fn trace(&mut self, spans: Vec<Span>) {
        self.spans.push(spans);
    }
}
