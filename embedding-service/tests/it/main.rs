//! Tests of the service on real parts: the real model in ONNX Runtime, the real Redis, alone, with its search module and
//! as a cluster.
//! A part that is missing fails the test; nothing is skipped.

// Lints for the server's own code: a test may panic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod answer_faults;
mod answer_suite;
mod assistance;
mod console;
mod contract;
mod control_api;
mod control_budgets;
mod control_restarts;
mod control_suite;
mod control_webhooks;
mod embedder;
mod eval_cache;
mod eval_guard;
mod faults;
mod golden;
mod history_suite;
mod limits;
mod long_prompts;
mod models;
mod near_texts;
mod overload;
mod program;
mod prompt_text;
mod queueing;
mod redis_access;
mod redis_cluster;
mod redis_faults;
mod redis_layout;
mod redis_search;
mod response_cache;
mod second_opinion;
mod support;
