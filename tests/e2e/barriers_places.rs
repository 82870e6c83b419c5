//! The ways around barriers of `filter/pipeline/tests/barriers.jsonl` through the real Envoy: less known places of a request, and
//! spellings that only some servers read.

#[path = "../../filter/pipeline/tests/support/ways.rs"]
mod ways;

use std::collections::BTreeMap;

use sentinel_harness::Stack;
use sentinel_harness::client;
use serde_json::Value;
use ways::Way;

#[tokio::test]
async fn no_way_leads_around_what_is_forbidden() {
    let mut by_config: BTreeMap<String, Vec<Way>> = BTreeMap::new();
    for way in ways::ways().into_iter().filter(|way| !way.is_raw) {
        by_config.entry(way.config.to_string()).or_default().push(way);
    }
    for (config, ways) in by_config {
        let config: Value = serde_json::from_str(&config).expect("JSON");
        let mut stack = Stack::builder().config(&config).start();
        for Way { what, path, body, forbidden, .. } in ways {
            let before = stack.provider.count();
            client::post(stack.address(), &path, &[], body).await;
            if stack.provider.count() > before {
                let got = stack.provider.last().body;
                assert!(!String::from_utf8_lossy(&got).contains(&forbidden), "{what} got through");
            }
        }
        stack.assert_sound();
    }
}
