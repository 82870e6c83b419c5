//! Ways around what an operator forbids: nothing of them reaches the provider.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "support/ways.rs"]
mod ways;

use sentinel_config::Config;
use sentinel_pipeline::in_memory::{ClientRequest, InMemory, ProviderResponse};
use ways::{Way, ways};

#[test]
fn no_way_around_what_is_forbidden() {
    let ways = ways();
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
