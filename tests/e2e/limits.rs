//! How often each client may ask: by one Envoy's own buckets, and counted over several in Redis.

use sentinel_harness::Dialect;
use sentinel_harness::client::Response;
use sentinel_harness::gateway::{ALICE, BOB, Client, DIALECTS, Gateway};
use sentinel_harness::provider::{Received, faithful};
use sentinel_harness::ratelimit::RateLimitService;
use sentinel_harness::redis::Redis;
use serde_json::json;

use crate::support::{CHAT, QUESTION};

const FORGED: [(&str, &str); 4] = [
    ("x-ratelimit-limit", "9999"),
    ("x-ratelimit-remaining", "9999"),
    ("x-ratelimit-reset", "1"),
    ("x-sentinel-client", "someone-else"),
];

/// Limit, remaining and reset, each of which must be there once.
fn limits_of(response: &Response) -> [u64; 3] {
    ["limit", "remaining", "reset"].map(|name| {
        let values: Vec<_> = response.headers.get_all(format!("x-ratelimit-{name}")).iter().collect();
        assert_eq!(values.len(), 1, "x-ratelimit-{name}: {values:?}");
        // The global filter adds the limits it has chosen from: `3, 3;w=3600`.
        let value = values[0].to_str().unwrap().split(',').next().unwrap().to_owned();
        value.parse().unwrap_or_else(|_| panic!("x-ratelimit-{name}: {value:?}"))
    })
}

async fn ask(gateway: &Gateway, client: Client) -> Response {
    gateway.ask(CHAT, client, &[], QUESTION).await
}

/// 429 in the dialect's form, and a time to wait that fits the limits.
fn assert_limited(dialect: Dialect, response: &Response) {
    assert_eq!(response.status, 429, "{dialect:?}: {:?}", response.body);
    let body = response.json();
    let message = body["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("too many requests"), "{dialect:?}: {body}");
    let shape = match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            json!({"error": {"message": message, "type": "requests", "param": null, "code": "rate_limit_exceeded"}})
        }
        Dialect::Anthropic => {
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": message}})
        }
        Dialect::Gemini => {
            json!({"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED"}})
        }
        other => panic!("{other:?} has no route here"),
    };
    assert_eq!(body, shape, "{dialect:?}");
    let [_, remaining, reset] = limits_of(response);
    assert_eq!(remaining, 0);
    assert!(reset > 0);
    assert_eq!(response.header("retry-after"), Some(reset.to_string().as_str()));
}

fn assert_not_forwarded(got: &Received) {
    for name in got.headers.keys() {
        assert!(!name.as_str().starts_with("x-ratelimit") && name != "x-sentinel-client", "{name} went on");
    }
}

#[tokio::test]
async fn a_hundred_a_minute_for_each_client_as_it_is_shipped() {
    let gateway = Gateway::builder().start();
    for client in [ALICE, BOB] {
        let response = ask(&gateway, client).await;
        assert_eq!(response.status, 200);
        // Only the limit is checked: the bucket is refilled meanwhile, so the remaining number may vary.
        assert_eq!(limits_of(&response)[0], 100, "{}", client.name);
        assert_eq!(response.header("retry-after"), None);
    }
}

#[tokio::test]
async fn over_the_limit_a_client_is_refused_in_its_dialect_and_nobody_else() {
    let gateway = Gateway::builder().three_requests().start();
    // A provider's own count is not the gateway's.
    gateway.provider.script(|request| faithful(request).with("x-ratelimit-remaining", "77"));
    for remaining in [2, 1, 0] {
        let response = gateway.ask(CHAT, ALICE, &[FORGED[0], FORGED[1], ("x-agent-id", "a")], QUESTION).await;
        assert_eq!(response.status, 200);
        assert_eq!(limits_of(&response)[..2], [3, remaining]);
        assert_not_forwarded(&gateway.provider.last());
    }
    for dialect in DIALECTS {
        for headers in [&[][..], &FORGED, &[("x-agent-id", "another"), ("x-tenant-id", "another")]] {
            assert_limited(dialect, &gateway.ask(dialect, ALICE, headers, QUESTION).await);
        }
    }
    assert_eq!(gateway.provider.count(), 3, "a refused request went to the provider");
    assert_eq!(gateway.count("sentinel_requests_total", &[]), 3, "a refused request was looked at");

    let other = gateway.ask(CHAT, BOB, &[("x-sentinel-client", "alice")], QUESTION).await;
    assert_eq!((other.status, limits_of(&other)[..2].to_vec()), (200, vec![3, 2]));
    // Health is asked by machines without a key, as often as they like.
    for _ in 0..10 {
        assert_eq!(gateway.get("/health", &[]).await.status, 200);
    }
}

/// The example in the shipped file, as it stands there.
#[tokio::test]
async fn one_client_may_have_a_limit_of_its_own() {
    let example = "        # - entries: [{key: client, value: nightly-batch}]\n        #   token_bucket:";
    let real = "        - entries: [{key: client, value: bob}]\n          token_bucket:";
    let gateway = Gateway::builder().limit(example, real).three_requests().start();
    assert_eq!(limits_of(&ask(&gateway, ALICE).await)[0], 3);
    assert_eq!(limits_of(&ask(&gateway, BOB).await)[0], 1000);
}

/// Changes of the shipped file of limits: three requests a day instead of a hundred a minute, so that the duration of a test does not matter.
const FEW: [(&str, &str); 2] = [(ANY_MINUTE, "  max_value: 3\n  seconds: 86400\n  conditions: []"), HEADING];
const ANY_MINUTE: &str = "  max_value: 100\n  seconds: 60\n  conditions: []";
const HEADING: (&str, &str) =
    ("# 100 requests a minute for each client.", "# Three requests a day for each client.");

/// With the limits that are counted in one place. The service is waited for as long as it takes.
fn counted(service: &RateLimitService) -> Gateway {
    Gateway::builder().global_limits(service.port()).limit("timeout: 0.05s", "timeout: 60s").start()
}

#[tokio::test]
async fn the_global_limit_counts_over_several_envoys() {
    let redis = Redis::start();
    let mut service = RateLimitService::start(&redis, &FEW);
    let gateways = [counted(&service), counted(&service)];
    for (turn, remaining) in [(0, 2), (1, 1), (0, 0)] {
        let response = gateways[turn].ask(CHAT, ALICE, &FORGED, QUESTION).await;
        assert_eq!(response.status, 200, "{:?}", response.body);
        assert_eq!(limits_of(&response)[..2], [3, remaining]);
        assert_not_forwarded(&gateways[turn].provider.last());
    }
    for gateway in &gateways {
        for dialect in DIALECTS {
            assert_limited(dialect, &gateway.ask(dialect, ALICE, &[], QUESTION).await);
        }
        assert_eq!(ask(gateway, BOB).await.status, 200);
    }
    assert_eq!(gateways[0].provider.count() + gateways[1].provider.count(), 3 + 2);
    assert!(redis.holds(ALICE.name) && redis.holds(BOB.name), "the counts are in Redis");

    // Another process of the service finds the counts there.
    let another = RateLimitService::start(&redis, &FEW);
    assert_limited(CHAT, &ask(&counted(&another), ALICE).await);

    // Without the service nobody is refused.
    service.kill();
    for gateway in &gateways {
        assert_eq!(ask(gateway, ALICE).await.status, 200);
    }
}

#[tokio::test]
async fn without_its_redis_the_rate_limit_service_refuses_nobody() {
    let mut redis = Redis::start();
    let service = RateLimitService::start(&redis, &FEW);
    let gateway = counted(&service);
    for _ in 0..3 {
        assert_eq!(ask(&gateway, ALICE).await.status, 200);
    }
    assert_limited(CHAT, &ask(&gateway, ALICE).await);
    redis.kill();
    assert_eq!(ask(&gateway, ALICE).await.status, 200);
}

/// The examples in the shipped file, as they stand there.
#[tokio::test]
async fn limits_that_are_counted_in_one_place_may_be_several() {
    let uncommented = |lines: &str| lines.replace("# - ", "- ").replace("#   ", "  ");
    let one = "# - namespace: sentinel\n#   max_value: 20\n#   seconds: 60\n#   conditions: \
               [\"descriptors[0].client == 'nightly-batch'\"]\n#   variables: [\"descriptors[0].client\"]\n";
    let bob = uncommented(one).replace("nightly-batch", "bob").replace("20", "2").replace("60", "86400");
    let redis = Redis::start();
    let service = RateLimitService::start(&redis, &[FEW[0], FEW[1], (one, &bob)]);
    let gateway = counted(&service);
    for remaining in [1, 0] {
        let response = ask(&gateway, BOB).await;
        assert_eq!((response.status, limits_of(&response)[..2].to_vec()), (200, vec![2, remaining]));
    }
    assert_limited(CHAT, &ask(&gateway, BOB).await);
    assert_eq!(limits_of(&ask(&gateway, ALICE).await)[..2], [3, 2]);

    let day = "#   max_value: 10000\n#   seconds: 86400\n#   conditions: []\n#   variables: [\"descriptors[0].client\"]\n";
    let budget = uncommented(day).replace("10000", "1");
    let before = "# A budget of requests for each client and day:\n# - namespace: sentinel\n";
    let redis = Redis::start();
    let service = RateLimitService::start(&redis, &[(before, "- namespace: sentinel\n"), (day, &budget)]);
    let gateway = counted(&service);
    assert_eq!(ask(&gateway, ALICE).await.status, 200);
    assert_limited(CHAT, &ask(&gateway, ALICE).await);
    assert_eq!(ask(&gateway, BOB).await.status, 200, "each has a budget of its own");
}

/// The budget of a day in the shipped file, as it stands there, beside the limit of a minute.
#[tokio::test]
async fn a_client_may_have_a_budget_of_requests_for_a_day() {
    let action =
        "# - actions: [{request_headers: {header_name: x-sentinel-client, descriptor_key: client_and_day}}]";
    let entry = "# - entries: [{key: client_and_day}]";
    let bucket = "#   token_bucket: {max_tokens: 10000, tokens_per_fill: 10000, fill_interval: 86400s}";
    let few = bucket.replace("10000", "4");
    let gateway = Gateway::builder()
        .limit(action, &action[2..])
        .limit(entry, &entry[2..])
        .limit(bucket, &few[2..])
        .start();
    for _ in 0..4 {
        assert_eq!(ask(&gateway, ALICE).await.status, 200);
    }
    assert_limited(CHAT, &ask(&gateway, ALICE).await);
    assert_eq!(ask(&gateway, BOB).await.status, 200, "each has a budget of its own");
    assert_eq!(gateway.provider.count(), 5);
}

/// The header is a number of seconds from now: a client that waits for so long is let in. A time of day would be far larger.
#[tokio::test]
async fn the_reset_is_in_seconds_from_now() {
    let bucket = "token_bucket: &each {max_tokens: 100, tokens_per_fill: 100, fill_interval: 60s}";
    let gateway = Gateway::builder().limit(bucket, &bucket.replace("100", "1").replace("60s", "3s")).start();
    assert_eq!(ask(&gateway, ALICE).await.status, 200);
    let refused = ask(&gateway, ALICE).await;
    assert_limited(CHAT, &refused);
    let reset = limits_of(&refused)[2];
    assert!((1..=3).contains(&reset), "{reset}");
    tokio::time::sleep(std::time::Duration::from_secs(reset)).await;
    assert_eq!(ask(&gateway, ALICE).await.status, 200);
}
