//! Ways around what an operator forbids, written by somebody who had read the readers: each in a place or a spelling that a reader may
//! miss. Nothing of them reaches the provider.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use sentinel_config::Config;
use sentinel_pipeline::in_memory::{ClientRequest, InMemory, ProviderResponse};
use serde::Deserialize;
use serde_json::Value;

/// A request, and what of it must not get through.
#[derive(Deserialize)]
struct Way {
    what: String,
    config: Value,
    path: String,
    body: String,
    forbidden: String,
}

#[test]
fn no_way_around_what_is_forbidden() {
    let ways: Vec<Way> =
        include_str!("barriers.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut passed = Vec::new();
    for Way { what, config, path, body, forbidden } in &ways {
        assert!(body.contains(forbidden), "{what}");
        let answer = ProviderResponse::json("{}");
        let send = |config: &str| {
            let mut host = InMemory::new(Config::from_json(config.as_bytes()).unwrap());
            host.exchange(&ClientRequest::post(path, body.as_str()), &answer).sent
        };
        let is_through = |sent: Option<Vec<u8>>| {
            sent.is_some_and(|sent| String::from_utf8(sent).unwrap().contains(forbidden))
        };
        assert!(is_through(send("{}")), "{what}: nothing is forbidden here");
        if is_through(send(&config.to_string())) {
            passed.push(what);
        }
    }
    assert!(passed.is_empty(), "{} of {} passed: {passed:#?}", passed.len(), ways.len());
}
