//! One request: callbacks in, effects out.

use std::{collections::VecDeque, rc::Rc, sync::Arc, time::Duration, time::UNIX_EPOCH};

use prost::Message;
use proxy_wasm::{
    hostcalls,
    traits::{Context, HttpContext},
    types::{Action, LogLevel, MapType, Status},
};
use sentinel_core::{
    config::Config,
    machine::{Effect, Event, Held, Machine, Question, Reply, ServiceReply},
    metric::ServiceOutcome,
};
use sentinel_proto::{
    CHECK_LOOP, SERVICE,
    v1::{CheckLoopRequest, CheckLoopResponse},
};

use crate::{metrics::Metrics, spans::Spans};

/// The header with the trace that a request is part of (W3C Trace Context).
const TRACE: &str = "traceparent";

/// What a call is sent by where there are several embedding services: one scope always goes to the same (Envoy cannot see into
/// the message). All of it is hashed.
const SCOPE: &str = "x-sentinel-scope";

/// Request headers that are asked for when the body has come. Envoy has them then only where it holds them.
const LATE: [&str; 3] = ["x-request-id", "mcp-session-id", TRACE];

type Kept = Rc<[(&'static str, Vec<u8>)]>;

pub struct RequestContext {
    config: Arc<Config>,
    metrics: Rc<Metrics>,
    spans: Rc<Spans>,
    /// Absent only while an event is being handled.
    machine: Option<Machine>,
    /// Whether Envoy is to keep the request back.
    holds: bool,
    /// We are in a callback whose return value says so; elsewhere Envoy must be told to resume.
    in_callback: bool,
    replied: bool,
    call: Option<u32>,
    /// Length of the response chunk at hand.
    chunk: usize,
    /// What is kept of headers that have gone on before the verdict.
    kept: Option<Kept>,
}

impl RequestContext {
    pub fn new(config: Arc<Config>, metrics: Rc<Metrics>, spans: Rc<Spans>) -> Self {
        let machine = Some(Machine::new(Arc::clone(&config)));
        Self {
            config,
            metrics,
            spans,
            machine,
            holds: false,
            in_callback: false,
            replied: false,
            call: None,
            chunk: 0,
            kept: None,
        }
    }

    /// Handles an event inside a callback of the request.
    fn on_request(&mut self, event: Event<'_>) -> Action {
        self.in_callback = true;
        self.drive(event);
        self.in_callback = false;
        if self.holds || self.replied { Action::Pause } else { Action::Continue }
    }

    fn drive(&mut self, event: Event<'_>) {
        let mut effects = VecDeque::from(self.step(event));
        while let Some(effect) = effects.pop_front() {
            effects.extend(self.execute(effect));
        }
    }

    fn step(&mut self, event: Event<'_>) -> Vec<Effect> {
        let Some(machine) = self.machine.take() else { return Vec::new() };
        let (machine, effects) = machine.on(event, &self.host());
        self.machine = Some(machine);
        effects
    }

    fn host(&self) -> Host {
        Host { chunk: self.chunk, kept: self.kept.clone() }
    }

    /// Executes one effect; where the machine waits for its result, what follows from that.
    fn execute(&mut self, effect: Effect) -> Vec<Effect> {
        match effect {
            Effect::Hold => self.holds = true,
            Effect::Release => self.release(),
            Effect::SetRequestHeader(name, value) => {
                let _ = hostcalls::set_map_value(MapType::HttpRequestHeaders, name, Some(&value));
            }
            Effect::RemoveRequestHeader(name) => {
                let _ = hostcalls::set_map_value(proxy_wasm::types::MapType::HttpRequestHeaders, name, None);
            }
            Effect::ReplaceRequestBody(body) => self.set_http_request_body(0, usize::MAX, &body),
            Effect::Reply(reply) => self.reply(&reply),
            Effect::Ask(question) => return self.ask(question),
            Effect::Cancel => {
                if let Some(call) = self.call.take() {
                    let _ = hostcalls::cancel_grpc_call(call);
                }
            }
            Effect::LoadSlot(key) => {
                let (bytes, version) = hostcalls::get_shared_data(&key).unwrap_or((None, None));
                return self.step(Event::SlotLoaded { bytes: bytes.as_deref(), version });
            }
            Effect::StoreSlot { key, bytes, version } => {
                let stored = hostcalls::set_shared_data(&key, Some(&bytes), version).is_ok();
                return self.step(Event::SlotStored { stored });
            }
            Effect::SetResponseHeader(name, value) => self.set_http_response_header(name, Some(&value)),
            Effect::Count(metric, by) => self.metrics.count(metric, by),
            Effect::Held(millis) => self.metrics.held(millis),
            Effect::Log(line) => {
                let _ = hostcalls::log(LogLevel::Warn, &line);
                // As Envoy's filter state `wasm.sentinel_event`, which its access logs can show.
                let _ = hostcalls::set_property(vec!["sentinel_event"], Some(line.as_bytes()));
            }
            Effect::Trace(spans) => self.spans.push(spans),
            Effect::Note(name, value) => {
                let _ = hostcalls::set_property(vec![name], Some(value.as_bytes()));
            }
        }
        Vec::new()
    }

    fn release(&mut self) {
        self.holds = false;
        if !self.in_callback {
            let _ = hostcalls::resume_http_request();
        }
    }

    fn reply(&mut self, reply: &Reply) {
        self.holds = false;
        self.replied = true;
        let headers = reply.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.send_http_response(u32::from(reply.status), headers, Some(reply.body.as_bytes()));
    }

    fn ask(&mut self, question: Question) -> Vec<Effect> {
        let Question { tenant, agent, run, prompt, similarity_threshold, repeats } = question;
        let scope = [tenant.as_str(), &agent, &run].join("-");
        let message = CheckLoopRequest {
            tenant_id: tenant,
            prompt,
            agent_id: agent,
            run_id: run,
            similarity_threshold: Some(similarity_threshold),
            repeats,
            record: None,
        };
        // Envoy by itself tells the service nothing of the trace.
        let trace = self.host().request_header(TRACE);
        let mut metadata = vec![(SCOPE, scope.as_bytes())];
        metadata.extend(trace.as_deref().map(|trace| (TRACE, trace)));
        let call = self.dispatch_grpc_call(
            &self.config.cluster,
            SERVICE,
            CHECK_LOOP,
            metadata,
            Some(&message.encode_to_vec()),
            Duration::from_millis(self.config.timeout),
        );
        let outcome = match call {
            Ok(call) => {
                self.call = Some(call);
                return Vec::new();
            }
            Err(Status::ParseFailure) => ServiceOutcome::UnknownCluster,
            Err(_) => ServiceOutcome::Error,
        };
        self.step(Event::ServiceReply(Err(outcome)))
    }
}

impl Context for RequestContext {
    fn on_grpc_call_response(&mut self, call: u32, status: u32, size: usize) {
        if self.call != Some(call) {
            return;
        }
        self.call = None;
        let reply = if status == 0 {
            let body = self.get_grpc_call_response_body(0, size).unwrap_or_default();
            CheckLoopResponse::decode(body.as_slice())
                .map(|reply| ServiceReply {
                    loop_detected: reply.loop_detected,
                    max_similarity: reply.max_similarity,
                })
                .map_err(|_| ServiceOutcome::Garbage)
        } else {
            let message = hostcalls::get_grpc_status().ok().and_then(|(_, message)| message);
            Err(ServiceOutcome::from_status(status, message.as_deref().unwrap_or_default()))
        };
        self.drive(Event::ServiceReply(reply));
    }

    fn on_done(&mut self) -> bool {
        self.drive(Event::Closed);
        true
    }
}

impl HttpContext for RequestContext {
    fn on_http_request_headers(&mut self, _count: usize, end_of_stream: bool) -> Action {
        let action = self.on_request(Event::RequestHeaders { end_of_stream });
        if !self.config.hold_headers {
            let host = self.host();
            self.kept =
                Some(LATE.into_iter().filter_map(|name| Some((name, host.request_header(name)?))).collect());
        }
        action
    }

    fn on_http_request_body(&mut self, held: usize, end_of_stream: bool) -> Action {
        self.on_request(Event::RequestBody { held, end_of_stream })
    }

    fn on_http_request_trailers(&mut self, _count: usize) -> Action {
        self.on_request(Event::RequestTrailers)
    }

    fn on_http_response_headers(&mut self, _count: usize, end_of_stream: bool) -> Action {
        self.drive(Event::ResponseHeaders { end_of_stream });
        Action::Continue
    }

    fn on_http_response_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        self.chunk = size;
        self.drive(Event::ResponseBody { end_of_stream });
        Action::Continue
    }

    fn on_http_response_trailers(&mut self, _count: usize) -> Action {
        self.drive(Event::ResponseTrailers);
        Action::Continue
    }
}

/// What Envoy holds for us. Header values are read as bytes: one that is not UTF-8 must not end the filter.
struct Host {
    chunk: usize,
    kept: Option<Kept>,
}

impl Held for Host {
    fn now(&self) -> u64 {
        let now = hostcalls::get_current_time().unwrap_or(UNIX_EPOCH);
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn request_header(&self, name: &str) -> Option<Vec<u8>> {
        match &self.kept {
            Some(kept) => kept.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone()),
            None => hostcalls::get_map_value_bytes(MapType::HttpRequestHeaders, name).ok()?,
        }
    }

    fn request_body(&self) -> Option<Vec<u8>> {
        hostcalls::get_buffer(proxy_wasm::types::BufferType::HttpRequestBody, 0, usize::MAX).ok()?
    }

    fn response_header(&self, name: &str) -> Option<Vec<u8>> {
        hostcalls::get_map_value_bytes(MapType::HttpResponseHeaders, name).ok()?
    }

    fn response_chunk(&self) -> Option<Vec<u8>> {
        hostcalls::get_buffer(proxy_wasm::types::BufferType::HttpResponseBody, 0, self.chunk).ok()?
    }
}
