//! The embedding service: embeds a prompt, compares it with the last prompts of its scope, remembers it.
//!
//! A library with a thin `main`, so that tests start the real server inside their own process.
//!
//! | module | holds |
//! |---|---|
//! | [`settings`] | every setting: raw text in, checked values out |
//! | [`server`] | start-up order, sockets, shutdown order |
//! | [`routes`], [`listen`] | what is served, and on which sockets |
//! | [`service`] | one gRPC call from request to answer |
//! | [`embed`] | text to vector: window, tokeniser, model, worker threads |
//! | [`judge`] | which earlier prompts count as matches: the rules, no I/O |
//! | [`history`] | the last prompts of each scope: in memory, or in Redis |
//! | [`recorder`] | storing after the answer has gone, without a gap in what the next call sees |
//! | [`readiness`] | whether callers should be sent here |
//! | [`metrics`], [`http`], [`trace`] | what an operator sees |

pub mod check;
pub mod deadline;
pub mod embed;
pub mod error;
pub mod history;
pub mod http;
pub mod judge;
pub mod listen;
pub mod metrics;
pub mod readiness;
pub mod recorder;
pub mod routes;
pub mod server;
pub mod service;
pub mod settings;
pub mod similarity;
pub mod trace;
