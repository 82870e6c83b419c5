//! Who gets whose answer: two clients that differ in nothing but one header that says who asks, forged signatures, keys that were
//! revoked. Through the real Envoy and the real service.

use hyper::header::HeaderValue;
use sentinel_harness::client::{self, Response};
use sentinel_harness::process::eventually;
use sentinel_harness::provider::{Answer, faithful};
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

const CHAT: Dialect = Dialect::OpenaiChat;
const ASK: &str = "Which of our contracts ends first?";
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

async fn ask(stack: &Stack, headers: &[(&str, &str)]) -> Response {
    client::post(stack.address(), CHAT.path(false), headers, CHAT.ask(ASK, false).to_string()).await
}

fn cache(response: &Response) -> &str {
    response.header("x-sentinel-cache").unwrap_or("none")
}

async fn stored(stack: &Stack, headers: &[(&str, &str)]) {
    eventually(&format!("a stored answer for {headers:?}"), async || {
        cache(&ask(stack, headers).await) == "exact"
    })
    .await;
}

#[tokio::test]
async fn no_answer_crosses_from_one_value_of_a_credential_to_another() {
    let mut stack = caching(&json!({}));
    stored(&stack, &[]).await;
    for name in CREDENTIALS {
        assert_eq!(cache(&ask(&stack, &[(name, "session=of-bob")]).await), "miss", "{name}: of nobody");
        stored(&stack, &[(name, "session=of-alice")]).await;
        let calls = stack.provider.count();
        for (what, headers) in [
            ("another value", vec![(name, "session=of-eve")]),
            ("two values", vec![(name, "session=of-alice"), (name, "session=of-eve")]),
            ("another beside it", vec![(name, "session=of-alice"), ("x-other-key", "of-eve")]),
        ] {
            assert_eq!(cache(&ask(&stack, &headers).await), "miss", "{name}: {what}");
        }
        assert_eq!(stack.provider.count(), calls + 3, "{name}");
        assert_eq!(cache(&ask(&stack, &[(name, "session=of-alice")]).await), "exact", "{name}: its own");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn a_forged_signature_gets_nothing() {
    let stack = caching(&json!({}));
    let signed = |signature: &str| {
        format!(
            "AWS4-HMAC-SHA256 Credential=AKIDALICE/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature={signature}"
        )
    };
    let [true_one, forged] = ["0123456789abcdef", "none"].map(signed);
    for value in [&true_one, &true_one, &forged, &"aws4".to_owned(), &forged.replace("AKIDALICE", "AKIDBOB")]
    {
        let calls = stack.provider.count();
        let response = ask(&stack, &[("authorization", value)]).await;
        assert_ne!(cache(&response), "exact", "{value}");
        assert_eq!(stack.provider.count(), calls + 1, "the provider decides");
    }
    assert!(stack.count("sentinel_cache_bypasses_total", &[("cause", "signed")]) >= 4);
    // Behind a filter that says whose it is, the signature is nobody's business any more.
    let known = caching(&json!({"identity": {"principal": "x-client-id"}}));
    let [alice, bob] =
        ["alice", "bob"].map(|client| [("authorization", true_one.as_str()), ("x-client-id", client)]);
    stored(&known, &alice).await;
    assert_eq!(cache(&ask(&known, &bob).await), "miss");
}

#[tokio::test]
async fn a_revoked_key_gets_nothing_until_it_is_one_again() {
    let mut stack = caching(&json!({}));
    let alice = [("authorization", "Bearer of-alice")];
    stored(&stack, &alice).await;
    let refuse = |status: u16| move |_: &_| Answer::json(status, &json!({"error": {"message": "no"}}));
    // A 403 concerns its request alone.
    stack.provider.script(refuse(403));
    let other = CHAT.ask("Which of our contracts ends last?", false).to_string();
    assert_eq!(client::post(stack.address(), CHAT.path(false), &alice, other.clone()).await.status, 403);
    assert_eq!(cache(&ask(&stack, &alice).await), "exact");
    stack.provider.script(refuse(401));
    assert_eq!(client::post(stack.address(), CHAT.path(false), &alice, other).await.status, 401);
    let response = ask(&stack, &alice).await;
    assert_eq!(
        (response.status, cache(&response)),
        (401, "bypass"),
        "what is stored is not given to a revoked key"
    );
    assert!(stack.count("sentinel_cache_bypasses_total", &[("cause", "refused")]) >= 1);
    stack.provider.script(faithful);
    let response = ask(&stack, &alice).await;
    assert_eq!((response.status, cache(&response)), (200, "bypass"), "the provider is asked once more");
    assert_eq!(cache(&ask(&stack, &alice).await), "exact");
    stack.assert_sound();
}

/// All values of a provider's `cache-control` count, and quotation marks part nothing.
#[tokio::test]
async fn a_provider_that_says_so_in_a_second_header_is_obeyed() {
    let stack = caching(&json!({}));
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
    for (number, values) in (1..).zip(forbidding) {
        stack.provider.script(saying(values));
        for _ in 0..2 {
            assert_eq!(cache(&ask(&stack, &[]).await), "miss", "{values:?}");
        }
        let count = || stack.count("sentinel_cache_bypasses_total", &[("cause", "answer_private")]);
        eventually("the count", async || count() >= 2 * number).await;
    }
    stack.provider.script(saying(&["x=\"no-store, private\"", "max-age=60"]));
    stored(&stack, &[]).await;
}
