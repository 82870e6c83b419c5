//! One request: Envoy's callbacks go to the pipeline, and its orders to Envoy.

use std::rc::Rc;

use proxy_wasm::{
    traits::{Context, HttpContext},
    types::{Action, MapType},
};
use sentinel_host::{call, per_worker::PerWorker};
use sentinel_pipeline::request::Request;

use crate::{abi::headers, calls, envoy::Envoy};

pub struct RequestContext {
    request: Request,
    envoy: Envoy,
}

impl RequestContext {
    pub fn new(context: u32, root: u32, shared: Rc<PerWorker>) -> Self {
        let request = Request::new(shared.current());
        Self { request, envoy: Envoy::new(context, root, shared) }
    }

    /// Lets the pipeline handle an event inside a callback whose return value tells Envoy whether to hold the request.
    fn in_callback(&mut self, event: impl FnOnce(&mut Request, &mut Envoy)) -> Action {
        self.envoy.is_in_callback = true;
        event(&mut self.request, &mut self.envoy);
        self.envoy.is_in_callback = false;
        if self.envoy.holds || self.envoy.has_replied { Action::Pause } else { Action::Continue }
    }

    fn in_response(&mut self, event: impl FnOnce(&mut Request, &mut Envoy)) {
        self.envoy.is_in_response = true;
        event(&mut self.request, &mut self.envoy);
        self.envoy.is_in_response = false;
    }

    fn response_goes_on(&self) -> Action {
        if self.envoy.holds_response { Action::Pause } else { Action::Continue }
    }
}

impl Context for RequestContext {
    fn on_grpc_call_response(&mut self, call: u32, status: u32, size: usize) {
        let Envoy { call: asked, reservation, .. } = &mut self.envoy;
        if *asked == Some(call) {
            *asked = None;
            let reply = calls::reply(status, size);
            let reply = call::answered(reply.as_deref().map_err(|outcome| *outcome));
            self.request.on_service_reply(&mut self.envoy, reply);
        } else if *reservation == Some(call) {
            *reservation = None;
            let reply = calls::reply(status, size);
            let reply = call::reserved(reply.as_deref().map_err(|outcome| *outcome));
            self.request.on_reservation(&mut self.envoy, reply);
        }
    }

    fn on_done(&mut self) -> bool {
        self.request.on_closed(&mut self.envoy);
        true
    }
}

impl HttpContext for RequestContext {
    fn on_http_request_headers(&mut self, _count: usize, end_of_stream: bool) -> Action {
        self.in_callback(|request, envoy| request.on_request_headers(envoy, end_of_stream))
    }

    fn on_http_request_body(&mut self, held: usize, end_of_stream: bool) -> Action {
        self.in_callback(|request, envoy| request.on_request_body(envoy, held, end_of_stream))
    }

    fn on_http_request_trailers(&mut self, _count: usize) -> Action {
        self.in_callback(Request::on_request_trailers)
    }

    fn on_http_response_headers(&mut self, _count: usize, end_of_stream: bool) -> Action {
        if self.request.awaits_response() {
            self.envoy.response_headers = headers(MapType::HttpResponseHeaders);
            self.in_response(|request, envoy| request.on_response_headers(envoy, end_of_stream));
            if !self.envoy.holds_response {
                self.envoy.response_headers = Default::default();
            }
        }
        self.response_goes_on()
    }

    fn on_http_response_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        self.envoy.chunk = size;
        self.in_response(|request, envoy| request.on_response_body(envoy, end_of_stream));
        self.response_goes_on()
    }

    fn on_http_response_trailers(&mut self, _count: usize) -> Action {
        self.envoy.chunk = 0;
        self.request.on_response_trailers(&mut self.envoy);
        Action::Continue
    }
}
