//! The embedding service: embeds a prompt, compares it with the last prompts of its scope, remembers it.
//!
//! A library with a thin `main`, so that tests start the real server inside their own process.
//!
//! | module | what is in it |
//! |---|---|
//! | [`settings`] | every setting: raw text in, the options of each part out |
//! | [`program`] | the whole life of the program: log, start, signals, stop |
//! | [`server`] | start-up order, sockets, shutdown order |
//! | [`routes`], [`listen`] | what is served, and on which sockets |
//! | [`service`] | one gRPC call from request to answer |
//! | [`request`], [`deadline`], [`error`] | what a call asks, until when, and how it can fail |
//! | [`embed`] | text to vector: tokeniser, model, worker threads |
//! | [`comparison`], [`similarity`] | which earlier prompts count as matches: the rules, no I/O |
//! | [`history`] | the last prompts of each scope: in memory, or in Redis |
//! | [`store`] | what all stores share: their error, and the way to Redis |
//! | [`cache`] | answers that were given: finding one that may be served, storing them, learning from the provider's |
//! | [`console`] | web pages for operators |
//! | [`client`] | the command-line client of control |
//! | [`second_opinion`] | a model that reads tool results after their requests have gone on |
//! | [`control`] | runs, stops, budgets, live settings, and the HTTP interface for operators |
//! | [`recorder`] | storing after the answer has gone, without a gap in what the next call sees |
//! | [`readiness`] | whether callers should be sent here |
//! | [`hash`] | the command that prints the digest of a name |
//! | `outgoing` | requests that go out over HTTP |
//! | [`metrics`], [`http`], `cache_pages`, [`log`], [`trace`], [`call_span`] | what an operator sees |
//!
//! Parts do not know the settings, nor each other in a circle.

pub mod cache;
mod cache_pages;
pub mod call_span;
pub mod client;
pub mod comparison;
pub mod console;
pub mod control;
pub mod deadline;
pub mod embed;
pub mod error;
pub mod hash;
mod hex;
pub mod history;
pub mod http;
pub mod listen;
pub mod log;
pub mod metrics;
mod outgoing;
pub mod program;
pub mod readiness;
pub mod recorder;
pub mod request;
pub mod routes;
pub mod second_opinion;
pub mod server;
pub mod service;
pub mod settings;
pub mod similarity;
pub mod store;
pub mod trace;
