//! Harness shared by the end-to-end tests, the demo and the benches.
