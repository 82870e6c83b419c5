//! The whole stack from outside: real Envoy with the filter, real service, real Redis, mock provider. One module a subject.

mod bad_input;
mod bodies;
mod bootstraps;
mod connections;
mod conversations;
mod fail_open;
mod healthy;
mod identity;
mod kills;
mod loops;
mod modes;
mod privacy;
mod providers;
mod service_calls;
mod streaming;
mod support;
