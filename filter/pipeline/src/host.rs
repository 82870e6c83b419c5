//! The interface to the host that carries the request: what the pipeline asks it, and what it tells it to do. Envoy is
//! one host, and a host in memory for tests is another. Every question is answered at once except one: the embedding
//! service's answer comes later, through `Request::on_service_reply`.

use sentinel_llm_api::dialect::LocalReply;

use crate::{
    metric::{Metric, ServiceOutcome},
    span::Span,
    stored::{Lookup, LookupReply, StoreOrder},
};

/// The host of one request.
pub trait Host {
    /// Milliseconds since 1970.
    fn now(&self) -> u64;
    /// The first value of a request header.
    fn request_header(&self, name: &str) -> Option<Vec<u8>>;
    /// All values of a request header.
    fn request_header_values(&self, name: &str) -> Vec<Vec<u8>>;
    /// The whole request body, once it is held.
    fn request_body(&self) -> Option<Vec<u8>>;
    /// The first value of a response header.
    fn response_header(&self, name: &str) -> Option<Vec<u8>>;
    /// The part of the response body that is passing.
    fn response_chunk(&self) -> Option<Vec<u8>>;
    /// What this Envoy has drawn at its start: nobody outside knows it.
    fn secret(&self) -> Secret;
    /// Another number each time, of which nobody knows the next.
    fn random(&self) -> u64;
    /// What is stored under `key`, shared by all workers.
    fn load(&self, key: &str) -> Stored;
    /// Stores `bytes` unless others have changed what is there since it was loaded in this `version`; false where they
    /// have.
    fn store(&mut self, key: &str, bytes: &[u8], version: Option<u32>) -> bool;

    /// Keep the request back.
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
    /// Keep the response back, from its headers on: they can be changed until it is released.
    fn hold_response(&mut self);
    /// Let the response go on.
    fn release_response(&mut self);
    /// Answer the request in the provider's place.
    fn reply(&mut self, reply: LocalReply);
    /// Ask the embedding service. An error where it cannot even be asked; then no reply comes.
    fn ask(&mut self, question: Question) -> Result<(), ServiceOutcome>;
    /// Have an answer kept, some time. An error where that cannot even be tried.
    fn store_answer(&mut self, order: StoreOrder) -> Result<(), ServiceOutcome>;
    /// The service's reply is no longer awaited.
    fn cancel(&mut self);
    fn count(&mut self, metric: Metric, by: u64);
    /// The request was held for so many milliseconds.
    fn record_latency(&mut self, milliseconds: u64);
    /// The record of a verdict, one line of JSON: for the log and for Envoy's access logs.
    fn log(&mut self, line: &str);
    /// One line of JSON for the log alone.
    fn warn(&mut self, line: &str);
    /// One line of JSON for the log alone, at a level of its own.
    fn note(&mut self, level: Level, line: &str);
    /// Something known of the request, for Envoy's tracer and access logs.
    fn annotate(&mut self, name: &'static str, value: &str);
    /// Spans for the collector, some time.
    fn trace(&mut self, spans: Vec<Span>);
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
    /// Goes back with `Host::store`.
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
    /// Of the last prompts, those that are at least related to this one (cosine 0.85) and no other values in its template.
    pub related: u32,
    /// None where nothing was looked up.
    pub cache: Option<LookupReply>,
}
