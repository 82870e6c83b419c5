//! Envoy as the host of one request: each question and each order of the pipeline is one call of the proxy-wasm ABI.
//! What comes from outside is read as bytes: a value that is not UTF-8 must not end the filter.

use std::{borrow::Cow, cell::OnceCell, rc::Rc};

use proxy_wasm::{
    hostcalls,
    types::{BufferType, MapType},
};
use sentinel_detect::step::Memo;
use sentinel_host::{call, pairs::Pairs, per_worker::PerWorker};
use sentinel_llm_api::dialect::LocalReply;
use sentinel_pipeline::{
    budget::leases::Leases,
    control::{Directives, Reservation},
    host::{Facts, Host, Level, Process, Question, Secret},
    metric::Metric,
    service_outcome::ServiceOutcome,
    span::Span,
    stored::StoreOrder,
    turn::Turn,
};

use crate::{
    abi::headers,
    calls::{self, Envoys},
};

pub struct Envoy {
    /// Envoy's ids for the context of this request, and for that of its configuration, which lives longer.
    context: u32,
    root: u32,
    shared: Rc<PerWorker>,
    /// Whether Envoy is to hold the request.
    pub holds: bool,
    /// Whether Envoy is to hold the response.
    pub holds_response: bool,
    /// We are in a callback whose return value tells Envoy whether to hold. Elsewhere Envoy must be told to resume.
    pub is_in_callback: bool,
    pub has_replied: bool,
    /// We are in a callback about the response. A reply takes its place, and nothing of the response goes on.
    pub is_in_response: bool,
    /// The call of the embedding service that is under way.
    pub call: Option<u32>,
    /// The call under way that asks for a share of budgets.
    pub reservation: Option<u32>,
    /// Length of the response chunk at hand.
    pub chunk: usize,
    /// The headers as they came, once one of them was asked for. After the request has gone on, they cannot be read any more.
    pub request_headers: OnceCell<Pairs>,
    /// The headers, as long as they can be read.
    pub response_headers: Pairs,
}

impl Envoy {
    pub fn new(context: u32, root: u32, shared: Rc<PerWorker>) -> Self {
        Self {
            context,
            root,
            shared,
            holds: false,
            holds_response: false,
            is_in_callback: false,
            has_replied: false,
            is_in_response: false,
            call: None,
            reservation: None,
            chunk: 0,
            request_headers: OnceCell::new(),
            response_headers: Pairs::default(),
        }
    }
}

impl Facts for Envoy {
    fn secret(&self) -> Secret {
        self.shared.secret(&Envoys)
    }

    fn process(&self) -> &dyn Process {
        &Envoys
    }

    fn memo(&self) -> Rc<Memo> {
        self.shared.memo()
    }

    fn directives(&self) -> Rc<Directives> {
        self.shared.directives()
    }

    fn leases(&self) -> Rc<Leases> {
        self.shared.leases()
    }

    fn request_header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let known = self.request_headers.get_or_init(|| headers(MapType::HttpRequestHeaders));
        known.get(name).map(Cow::Borrowed)
    }

    fn request_header_values(&self, name: &str) -> Vec<Vec<u8>> {
        self.request_headers.get_or_init(|| headers(MapType::HttpRequestHeaders)).all(name)
    }

    fn request_header_names(&self) -> Vec<String> {
        self.request_headers.get_or_init(|| headers(MapType::HttpRequestHeaders)).names()
    }

    fn request_body(&self) -> Option<Cow<'_, [u8]>> {
        hostcalls::get_buffer(BufferType::HttpRequestBody, 0, usize::MAX).ok()?.map(Cow::Owned)
    }

    fn response_header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.response_headers.get(name).map(Cow::Borrowed)
    }

    fn response_header_values(&self, name: &str) -> Vec<Vec<u8>> {
        self.response_headers.all(name)
    }

    fn response_chunk(&self) -> Option<Cow<'_, [u8]>> {
        hostcalls::get_buffer(BufferType::HttpResponseBody, 0, self.chunk).ok()?.map(Cow::Owned)
    }
}

impl Host for Envoy {
    fn hold(&mut self) {
        self.holds = true;
    }

    fn release(&mut self) {
        let was_held = std::mem::take(&mut self.holds);
        self.request_headers.take();
        if was_held && !self.is_in_callback {
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
        self.holds_response = self.is_in_response;
        self.has_replied = true;
        self.request_headers.take();
        let headers = reply.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let _ = hostcalls::send_http_response(u32::from(reply.status), headers, Some(&reply.body));
    }

    fn ask(&mut self, question: Question) -> Result<(), ServiceOutcome> {
        let trace = self.request_header(call::TRACE).map(Cow::into_owned);
        self.call = Some(calls::send(&call::ask(&self.shared.config, question, trace))?);
        Ok(())
    }

    fn reserve(&mut self, reservation: Reservation) -> Result<(), ServiceOutcome> {
        self.reservation = Some(calls::send(&call::reserve(&self.shared.config, reservation))?);
        Ok(())
    }

    /// The call is made from the context of the configuration, because calls of a request end with the request.
    fn store_answer(&mut self, order: StoreOrder) -> Result<(), ServiceOutcome> {
        let call = call::store_answer(&self.shared.config, order);
        if hostcalls::set_effective_context(self.root).is_err() {
            return Err(ServiceOutcome::Error);
        }
        let sent = calls::send(&call);
        let _ = hostcalls::set_effective_context(self.context);
        sent.map(|_| ())
    }

    fn cancel(&mut self) {
        for call in [self.call.take(), self.reservation.take()].into_iter().flatten() {
            let _ = hostcalls::cancel_grpc_call(call);
        }
    }

    fn count(&mut self, metric: Metric, by: u64) {
        calls::count(&self.shared, metric, by);
    }

    fn record_latency(&mut self, milliseconds: u64) {
        if let Some(id) = self.shared.series.latency {
            let _ = hostcalls::record_metric(id, milliseconds);
        }
    }

    fn log(&mut self, level: Level, line: &str) {
        calls::log(level, line);
    }

    fn annotate(&mut self, name: &'static str, value: &str) {
        let _ = hostcalls::set_property(vec![name], Some(value.as_bytes()));
    }

    fn trace(&mut self, spans: Vec<Span>) {
        self.shared.trace(spans);
    }

    fn report(&mut self, turn: Turn) -> u64 {
        self.shared.report(turn)
    }
}
