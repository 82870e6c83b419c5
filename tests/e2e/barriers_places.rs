//! The ways around barriers of `filter/pipeline/tests/barriers.jsonl` through the real Envoy: less known places of a request, and
//! spellings that only some servers read.

use std::{collections::BTreeMap, fs};

use sentinel_harness::client;
use sentinel_harness::{Stack, parts};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Way {
    what: String,
    config: Value,
    path: String,
    body: String,
    /// What of it must not get through.
    forbidden: String,
}

#[tokio::test]
async fn no_way_leads_around_what_is_forbidden() {
    let file = parts::root().join("filter/pipeline/tests/barriers.jsonl");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut ways: BTreeMap<String, Vec<Way>> = BTreeMap::new();
    for line in text.lines() {
        let way: Way = serde_json::from_str(line).expect("a way");
        ways.entry(way.config.to_string()).or_default().push(way);
    }
    for (config, ways) in ways {
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
