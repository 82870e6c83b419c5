//! The whole stack from outside: real Envoy with the filter, real service, real Redis, mock provider. One module a subject.

mod access;
mod bad_input;
mod bodies;
mod bootstraps;
mod connections;
mod conversations;
mod fail_open;
mod healthy;
mod history;
mod identity;
mod kills;
mod limits;
mod loops;
mod mcp;
mod mcp_package;
mod modes;
mod privacy;
mod providers;
mod service_calls;
mod steps;
mod steps_elsewhere;
mod steps_everywhere;
mod steps_shapes;
mod streaming;
mod support;
mod upstream;
