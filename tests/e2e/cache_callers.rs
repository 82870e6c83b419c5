//! Who gets whose answer: two clients that differ in nothing but one header that says who asks, forged signatures, keys that were
//! revoked, in every dialect. Through the real Envoy and the real service.

use hyper::header::HeaderValue;
use sentinel_harness::client::{self, Response};
use sentinel_harness::process::eventually;
use sentinel_harness::provider::{Answer, faithful};
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

const ASK: &str = "Which of our contracts ends first?";
const OTHER: &str = "Which of our contracts ends last?";
/// Headers that say who asks, or with what right.
const CREDENTIALS: [&str; 16] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "ocp-apim-subscription-key",
    "cf-aig-authorization",
    "x-litellm-api-key",
    "x-portkey-api-key",
    "x-portkey-virtual-key",
    "helicone-auth",
    "x-amz-security-token",
    "x-auth-token",
    "cookie",
    "x-own-key",
    "x-own-token",
];

fn caching(more: &Value) -> Stack {
    let mut config = json!({"cache": {"enabled": true}});
    for (name, value) in more.as_object().into_iter().flatten() {
        config[name] = value.clone();
    }
    Stack::builder().config(&config).service_with(&[("LOOP_CACHE", "true")]).start()
}

async fn ask(stack: &Stack, dialect: Dialect, headers: &[(&str, &str)]) -> Response {
    ask_for(stack, dialect, headers, ASK).await
}

async fn ask_for(stack: &Stack, dialect: Dialect, headers: &[(&str, &str)], text: &str) -> Response {
    let body = dialect.ask(text, false).to_string();
    client::post(stack.address(), dialect.path(false), headers, body).await
}

fn cache(response: &Response) -> &str {
    response.header("x-sentinel-cache").unwrap_or("none")
}

async fn stored(stack: &Stack, dialect: Dialect, headers: &[(&str, &str)]) {
    eventually(&format!("a stored answer for {dialect:?}, {headers:?}"), async || {
        cache(&ask(stack, dialect, headers).await) == "exact"
    })
    .await;
}

#[tokio::test]
async fn no_answer_crosses_from_one_value_of_a_credential_to_another() {
    let mut stack = caching(&json!({}));
    for dialect in Dialect::ALL {
        stored(&stack, dialect, &[]).await;
        let of = async |headers: &[(&str, &str)]| cache(&ask(&stack, dialect, headers).await).to_owned();
        for name in CREDENTIALS {
            assert_eq!(of(&[(name, "session=of-bob")]).await, "miss", "{dialect:?}, {name}: of nobody");
            stored(&stack, dialect, &[(name, "session=of-alice")]).await;
            let calls = stack.provider.count();
            for (what, headers) in [
                ("another value", vec![(name, "session=of-eve")]),
                ("two values", vec![(name, "session=of-alice"), (name, "session=of-eve")]),
                ("another beside it", vec![(name, "session=of-alice"), ("x-other-key", "of-eve")]),
            ] {
                assert_eq!(of(&headers).await, "miss", "{dialect:?}, {name}: {what}");
            }
            assert_eq!(stack.provider.count(), calls + 3, "{dialect:?}, {name}");
            assert_eq!(of(&[(name, "session=of-alice")]).await, "exact", "{dialect:?}, {name}: its own");
        }
    }
    stack.assert_sound();
}

#[tokio::test]
async fn a_forged_signature_gets_nothing() {
    let stack = caching(&json!({}));
    // If a filter before this one names the client, the signature does not matter.
    let known = caching(&json!({"identity": {"principal": "x-client-id"}}));
    let signed = |signature: &str| {
        format!(
            "AWS4-HMAC-SHA256 Credential=AKIDALICE/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature={signature}"
        )
    };
    let [true_one, forged] = ["0123456789abcdef", "none"].map(signed);
    for (number, dialect) in (1..).zip(Dialect::ALL) {
        for value in
            [&true_one, &true_one, &forged, &"aws4".to_owned(), &forged.replace("AKIDALICE", "AKIDBOB")]
        {
            let calls = stack.provider.count();
            let response = ask(&stack, dialect, &[("authorization", value)]).await;
            assert_ne!(cache(&response), "exact", "{dialect:?}, {value}");
            assert_eq!(stack.provider.count(), calls + 1, "{dialect:?}: the provider decides");
        }
        let count = stack.count("sentinel_cache_bypasses_total", &[("cause", "signed")]);
        assert!(count >= 4 * number, "{dialect:?}: {count}");
        let [alice, bob] =
            ["alice", "bob"].map(|client| [("authorization", true_one.as_str()), ("x-client-id", client)]);
        stored(&known, dialect, &alice).await;
        assert_eq!(cache(&ask(&known, dialect, &bob).await), "miss", "{dialect:?}");
    }
}

#[tokio::test]
async fn a_revoked_key_gets_nothing_until_it_is_one_again() {
    let mut stack = caching(&json!({}));
    let refuse = |status: u16| move |_: &_| Answer::json(status, &json!({"error": {"message": "no"}}));
    for (number, dialect) in (1..).zip(Dialect::ALL) {
        // The same key at all providers of one host is one client.
        let key = format!("Bearer of-alice-at-{}", dialect.label());
        let alice = [("authorization", key.as_str())];
        let of = async |text: &str| {
            let response = ask_for(&stack, dialect, &alice, text).await;
            (response.status, cache(&response).to_owned())
        };
        let saying = |cache: &str| (200, cache.to_owned());
        stack.provider.script(faithful);
        stored(&stack, dialect, &alice).await;
        // A 403 has no effect on other requests.
        stack.provider.script(refuse(403));
        assert_eq!(of(OTHER).await.0, 403, "{dialect:?}");
        assert_eq!(of(ASK).await, saying("exact"), "{dialect:?}");
        stack.provider.script(refuse(401));
        assert_eq!(of(OTHER).await.0, 401, "{dialect:?}");
        let refused = (401, "bypass".to_owned());
        assert_eq!(of(ASK).await, refused, "{dialect:?}: what is stored is not given to a revoked key");
        let count = stack.count("sentinel_cache_bypasses_total", &[("cause", "refused")]);
        assert!(count >= number, "{dialect:?}: {count}");
        stack.provider.script(faithful);
        assert_eq!(of(ASK).await, saying("bypass"), "{dialect:?}: the provider is asked once more");
        assert_eq!(of(ASK).await, saying("exact"), "{dialect:?}");
    }
    stack.assert_sound();
}

/// All values of a provider's `cache-control` count, and quotation marks part nothing.
#[tokio::test]
async fn a_provider_that_says_so_in_a_second_header_is_obeyed() {
    let stack = caching(&json!({}));
    let heedless = caching(&json!({"cache": {"enabled": true, "obey_provider": false}}));
    let saying = |values: &'static [&'static str]| {
        move |request: &_| {
            let mut answer = faithful(request);
            for value in values {
                answer.headers.append("cache-control", HeaderValue::from_static(value));
            }
            answer
        }
    };
    let forbidding: [&[&str]; 3] =
        [&["max-age=60", "no-store"], &["public", "private=\"set-cookie, x-id\""], &["x=\"a, b\", no-store"]];
    heedless.provider.script(saying(forbidding[0]));
    let mut forbidden = 0;
    for dialect in Dialect::ALL {
        for values in forbidding {
            stack.provider.script(saying(values));
            for _ in 0..2 {
                assert_eq!(cache(&ask(&stack, dialect, &[]).await), "miss", "{dialect:?}, {values:?}");
            }
            forbidden += 2;
            let count = || stack.count("sentinel_cache_bypasses_total", &[("cause", "answer_private")]);
            eventually("the count", async || count() >= forbidden).await;
        }
        stack.provider.script(saying(&["x=\"no-store, private\"", "max-age=60"]));
        stored(&stack, dialect, &[]).await;
        stored(&heedless, dialect, &[]).await;
    }
}
