//! The interface to the host that carries the requests. Envoy is one host, and a host in memory for tests is another.
//!
//! * `Process` and `Facts`: what a host is asked. It is answered at once.
//! * `Host`: what it is told to do with one request. One thing is answered later: what the embedding service says, through
//!   `Request::on_service_reply` and `Request::on_reservation`.
//! * `Background`: what it is told to do outside of any request, by `worker::Worker`, which it calls from time to
//!   time.

use std::{borrow::Cow, rc::Rc, str::FromStr};

use sentinel_detect::step::Memo;
use sentinel_llm_api::dialect::LocalReply;

use crate::{
    budget::leases::Leases,
    control::{Directives, Report, ReportReply, Reservation},
    metric::Metric,
    service_outcome::ServiceOutcome,
    span::Span,
    stored::{Lookup, LookupReply, StoreOrder},
    turn::Turn,
};

/// The value of a header that is a number, such as `:status` and `content-length`.
pub fn number<T: FromStr>(header: &[u8]) -> Option<T> {
    std::str::from_utf8(header).ok()?.parse().ok()
}

/// What a host knows without any request.
pub trait Process {
    /// Milliseconds since 1970.
    fn now(&self) -> u64;
    /// An unpredictable random number.
    fn random(&self) -> u64;
    /// What is stored under `key`, shared by all workers.
    fn load(&self, key: &str) -> Stored;
    /// Stores `bytes` unless others have changed what is there since it was loaded in this `version`. Returns false when they
    /// have.
    fn store(&self, key: &str, bytes: &[u8], version: Option<u32>) -> bool;
}

/// What the host knows of one request, and what workers share. A pass can use no more of the host than this.
pub trait Facts {
    fn process(&self) -> &dyn Process;
    fn now(&self) -> u64 {
        self.process().now()
    }
    fn random(&self) -> u64 {
        self.process().random()
    }
    fn load(&self, key: &str) -> Stored {
        self.process().load(key)
    }
    fn store(&self, key: &str, bytes: &[u8], version: Option<u32>) -> bool {
        self.process().store(key, bytes, version)
    }
    /// The first value of a request header. Borrowed if the host has it in one piece. The same holds for response headers.
    fn request_header(&self, name: &str) -> Option<Cow<'_, [u8]>>;
    /// All values of a request header.
    fn request_header_values(&self, name: &str) -> Vec<Vec<u8>>;
    /// The names of all request headers, in lower case.
    fn request_header_names(&self) -> Vec<String>;
    /// The whole request body, once it is held. Borrowed if the host has it in one piece.
    fn request_body(&self) -> Option<Cow<'_, [u8]>>;
    /// The first value of a response header.
    fn response_header(&self, name: &str) -> Option<Cow<'_, [u8]>>;
    /// All values of a response header.
    fn response_header_values(&self, name: &str) -> Vec<Vec<u8>>;
    /// The part of the response body that is passing. Borrowed if the host has it in one piece.
    fn response_chunk(&self) -> Option<Cow<'_, [u8]>>;
    /// A secret that this host has drawn at its start. Nobody outside knows it.
    fn secret(&self) -> Secret;
    /// What earlier requests of this worker have found out about results: `Worker::memo`.
    fn memo(&self) -> Rc<Memo>;
    /// The directives of operators that this worker knows: `Worker::directives`.
    fn directives(&self) -> Rc<Directives>;
    /// What this worker holds of budgets: `Worker::leases`.
    fn leases(&self) -> Rc<Leases>;
}

/// The host of one request.
pub trait Host: Facts {
    /// Hold the request.
    fn hold(&mut self);
    /// Let the request go on.
    fn release(&mut self);
    fn set_request_header(&mut self, name: &'static str, value: &str);
    fn remove_request_header(&mut self, name: &'static str);
    fn replace_request_body(&mut self, body: &[u8]);
    fn set_response_header(&mut self, name: &'static str, value: &str);
    fn remove_response_header(&mut self, name: &'static str);
    /// Puts `bytes` in the place of the part of the response body that is passing.
    fn replace_response_chunk(&mut self, bytes: &[u8]);
    /// Hold the response from its headers on. They can be changed until it is released.
    fn hold_response(&mut self);
    /// Let the response go on.
    fn release_response(&mut self);
    /// Answer the request in the provider's place.
    fn reply(&mut self, reply: LocalReply);
    /// Ask the embedding service. Returns an error if it cannot even be asked. Then no reply comes.
    fn ask(&mut self, question: Question) -> Result<(), ServiceOutcome>;
    /// Ask the service for a share of budgets. The reply goes to `Request::on_reservation`. Returns an error if it cannot even be asked.
    fn reserve(&mut self, reservation: Reservation) -> Result<(), ServiceOutcome>;
    /// Have an answer stored, at some time. Returns an error if that cannot even be tried.
    fn store_answer(&mut self, order: StoreOrder) -> Result<(), ServiceOutcome>;
    /// The service's replies are no longer awaited.
    fn cancel(&mut self);
    /// Adds to a counter of one of `metric::FAMILIES`.
    fn count(&mut self, metric: Metric, by: u64);
    /// How long the request was held.
    fn record_latency(&mut self, milliseconds: u64);
    /// One line of JSON for the log.
    fn log(&mut self, level: Level, line: &str);
    /// Tell Envoy's tracer and access logs something about the request.
    fn annotate(&mut self, name: &'static str, value: &str);
    /// Spans for the collector. They are sent later: `Worker::trace`.
    fn trace(&mut self, spans: Vec<Span>);
    /// A turn for the service. It is sent later. Returns the number that it has from then on: `Worker::report`.
    fn report(&mut self, turn: Turn) -> u64;
}

/// The host of one worker, outside of any request.
pub trait Background {
    fn process(&self) -> &dyn Process;
    /// Sends a message. The reply, or that none came, goes to `Worker::on_reply`. Returns an error if it cannot even be sent.
    fn send(&mut self, message: BackgroundMessage) -> Result<(), ServiceOutcome>;
    /// Adds to a counter.
    fn count(&mut self, metric: Metric, by: u64);
    /// One line for the log.
    fn log(&mut self, level: Level, line: &str);
}

/// What a worker sends outside of any request.
#[derive(Clone, Debug, PartialEq)]
pub enum BackgroundMessage {
    /// To the collector of `traces.cluster`.
    Spans(Vec<Span>),
    /// To the service.
    Report(Box<Report>),
}

/// What came back for a message that was sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Spans,
    Report(Box<ReportReply>),
}

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Warn,
}

/// Random, and the same for all workers of one Envoy.
pub type Secret = [u64; 2];

/// What is stored under a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    pub bytes: Option<Vec<u8>>,
    /// Goes back with `Process::store`.
    pub version: Option<u32>,
}

/// A question to the embedding service.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Names of the scope, hashed.
    pub tenant: String,
    pub agent: String,
    pub run: String,
    pub prompt: String,
    pub similarity_threshold: f64,
    pub repeats: u32,
    /// An answer to the prompt is looked up too.
    pub cache: Option<Lookup>,
    /// Nothing but the look-up: the prompt is compared with none.
    pub cache_only: bool,
}

/// The service's reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceReply {
    pub loop_detected: bool,
    /// 0 to 1; anything else is no reply.
    pub max_similarity: f64,
    /// Earlier prompts that match.
    pub matches: u32,
    /// The number of recent prompts that are related to this one (cosine at least 0.85) and do not only have other values in the
    /// same template.
    pub related: u32,
    /// `None` if nothing was looked up.
    pub cache: Option<LookupReply>,
}
