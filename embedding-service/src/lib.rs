//! The embedding service: embeds a prompt, compares it with the last prompts of its scope, remembers it.
//!
//! A library with a thin `main`, so that tests start the real server inside their own process.
//!
//! | module | what is in it |
//! |---|---|
//! | [`settings`] | every setting: raw text in, the options of each part out |
//! | [`program`] | the whole life of the program: log, start, signals, stop |
//! | [`server`] | start-up order, sockets, shutdown order |
//! | [`routes`], [`listen`], [`authority`] | what is served, on which sockets, and to which clients |
//! | [`service`] | one gRPC call from request to answer |
//! | [`request`], [`deadline`], [`error`] | what a call asks, until when, and how it can fail |
//! | [`embed`] | text to vector: tokeniser, model, worker threads |
//! | [`comparison`], [`similarity`] | which earlier prompts count as matches: the rules, no I/O |
//! | [`history`] | the last prompts of each scope: in memory, or in Redis |
//! | [`cache`] | answers that were given: finding one that may be served, storing them, learning from the provider's |
//! | [`recorder`] | storing after the answer has gone, without a gap in what the next call sees |
//! | [`readiness`] | whether callers should be sent here |
//! | [`metrics`], [`http`], `cache_pages`, [`log`], [`trace`], [`call_span`] | what an operator sees |
//!
//! Parts do not know the settings, nor each other in a circle.

pub mod authority;
pub mod cache;
mod cache_pages;
pub mod call_span;
pub mod comparison;
pub mod deadline;
pub mod embed;
pub mod error;
mod hex;
pub mod history;
pub mod http;
pub mod listen;
pub mod log;
pub mod metrics;
pub mod program;
pub mod readiness;
pub mod recorder;
pub mod request;
pub mod routes;
pub mod server;
pub mod service;
pub mod settings;
pub mod similarity;
pub mod trace;
