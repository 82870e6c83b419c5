//! The way to the provider: what is retried, failover to the next provider, and which certificates Envoy trusts.

use sentinel_harness::Dialect;
use sentinel_harness::client;
use sentinel_harness::gateway::{ALICE, Gateway, key_header, path, provider_key};
use sentinel_harness::process::eventually;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::provider::{Answer, Gate, Received, Reply, faithful, speak};
use serde_json::{Value, json};

use crate::support::{CHAT, QUESTION};

/// Errors for this many requests, then answers.
fn failing(times: usize, error: impl Fn(&Received) -> Answer + Send + Sync + 'static) -> Script {
    let left = std::sync::atomic::AtomicUsize::new(times);
    Box::new(move |request| {
        let one = |left: usize| left.checked_sub(1);
        let order = std::sync::atomic::Ordering::SeqCst;
        if left.fetch_update(order, order, one).is_ok() { error(request) } else { faithful(request) }
    })
}

type Script = Box<dyn Fn(&Received) -> Answer + Send + Sync>;

fn error(status: u16) -> impl Fn(&Received) -> Answer + Send + Sync + 'static {
    move |request| speak(request, &Reply::Error(status))
}

/// Envoy's count of waits before a further try: as long as the provider said, or by its own measure.
fn waits(gateway: &Gateway, kind: &str) -> u64 {
    gateway.count(
        &format!("envoy_cluster_upstream_rq_retry_backoff_{kind}"),
        &[("envoy_cluster_name", "openai")],
    )
}

#[tokio::test]
async fn a_provider_that_asks_for_patience_gets_it() {
    let gateway = Gateway::builder().start();
    let patience = error(429);
    gateway.provider.script(failing(2, move |request| patience(request).with("retry-after", "1")));
    let response = gateway.ask(CHAT, ALICE, &[("x-agent-id", "a")], QUESTION).await;
    assert_eq!(response.status, 200);
    assert_eq!(CHAT.answer_text(&response.body), text_for(QUESTION));
    assert_eq!((waits(&gateway, "ratelimited"), waits(&gateway, "exponential")), (2, 0));

    // Three tries are one request: to the limits, to the filter, and to what it remembers.
    assert_eq!(gateway.provider.count(), 3);
    let bodies: Vec<_> = gateway.provider.received().into_iter().map(|got| got.body).collect();
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    assert_eq!(gateway.count("envoy_http_local_rate_limit_ok", &[]), 1);
    assert_eq!(gateway.count("sentinel_requests_total", &[]), 1);
    let mut verdicts = vec![response.verdict().to_owned()];
    for _ in 0..3 {
        verdicts.push(gateway.ask(CHAT, ALICE, &[("x-agent-id", "a")], QUESTION).await.verdict().to_owned());
    }
    assert_eq!(verdicts, ["allow", "allow", "allow", "hint"]);
}

#[tokio::test]
async fn a_provider_that_is_overloaded_is_asked_three_times_more_and_no_more() {
    for (dialect, status) in [(CHAT, 503), (Dialect::Anthropic, 529)] {
        let gateway = Gateway::builder().start();
        gateway.provider.script(failing(1, error(status)));
        assert_eq!(gateway.ask(dialect, ALICE, &[], QUESTION).await.status, 200);
        assert_eq!(gateway.provider.count(), 2);

        gateway.provider.script(error(status));
        // A client's own headers about retries have no effect.
        let forged = [
            ("x-envoy-max-retries", "9"),
            ("x-envoy-retry-on", "5xx"),
            ("x-envoy-upstream-rq-timeout-ms", "1"),
        ];
        let response = gateway.ask(dialect, ALICE, &forged, QUESTION).await;
        assert_eq!(response.status, status);
        assert!(
            response.json()["error"]["message"].is_string(),
            "the provider's own error: {:?}",
            response.body
        );
        assert_eq!(gateway.provider.count(), 2 + 4);
        assert!(gateway.provider.last().headers.keys().all(|name| !name.as_str().starts_with("x-envoy")));
    }
}

#[tokio::test]
async fn what_the_provider_has_begun_to_answer_is_never_tried_again() {
    let gateway = Gateway::builder().start();
    for status in [400, 401, 404, 408, 500, 502, 504] {
        let before = gateway.provider.count();
        gateway.provider.script(error(status));
        assert_eq!(gateway.ask(CHAT, ALICE, &[], QUESTION).await.status, status);
        assert_eq!(gateway.provider.count(), before + 1, "{status}");
    }
    let before = gateway.provider.count();
    gateway.provider.script(|request| faithful(request).cut_after(2));
    let (name, value) = key_header(CHAT, ALICE.key);
    let body = CHAT.ask(QUESTION, true).to_string();
    let mut stream = client::stream(gateway.address(), path(CHAT), &[(name, &value)], body).await;
    assert_eq!(stream.status, 200);
    assert!(!stream.to_its_end().await, "a broken answer ended in good order");
    // The answer breaks off before the first byte of its body. The provider has the request and may charge for it, so it is not retried.
    gateway.provider.script(|request| faithful(request).cut_after(0));
    let body = http_body_util::Full::new(bytes::Bytes::from(CHAT.ask(QUESTION, false).to_string()));
    let request =
        client::request(gateway.address(), hyper::Method::POST, path(CHAT), &[(name, &value)], body);
    // Either an error, or an answer that breaks off: its head may or may not have come through.
    let cut = client::send(request).await;
    assert!(cut.is_err() || cut.is_ok_and(|response| response.status == 503));
    assert_eq!(gateway.provider.count(), before + 2);
}

/// An address where nobody listens.
const NOBODY: &str = "address: 127.0.0.1, port_value: 1}";

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_an_error_in_the_dialect() {
    let mut builder = Gateway::builder();
    for host in ["api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com"] {
        builder = builder.edit(&format!("address: {host}, port_value: 443}}"), NOBODY);
    }
    let gateway = builder.start();
    let ask = |dialect| gateway.ask(dialect, ALICE, &[], QUESTION);
    let (chat, responses, anthropic, gemini) =
        tokio::join!(ask(CHAT), ask(Dialect::OpenaiResponses), ask(Dialect::Anthropic), ask(Dialect::Gemini));
    let message = "The gateway could not get an answer from the server behind it.";
    let openai = json!({"error": {"message": message, "type": "server_error", "param": null, "code": null}});
    let anthropics = json!({"type": "error", "error": {"type": "api_error", "message": message}});
    let geminis = json!({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}});
    for (response, body) in
        [(chat, openai.clone()), (responses, openai), (anthropic, anthropics), (gemini, geminis)]
    {
        assert_eq!((response.status, response.json()), (503, body));
    }
    assert_eq!(waits(&gateway, "exponential"), 6, "two requests, each tried three times more");
}

async fn ask_failover(gateway: &Gateway) -> client::Response {
    let (name, value) = key_header(CHAT, ALICE.key);
    let body = CHAT.ask(QUESTION, false).to_string();
    gateway.post("/failover/v1/chat/completions", &[(name, &value)], body).await
}

/// The backup got the request under its own name, with its own key and the same body.
fn assert_failed_over(gateway: &Gateway) {
    let got = gateway.backup.last();
    assert_eq!(got.path, "/v1/chat/completions");
    assert_eq!(got.host().as_deref(), Some("eu.api.openai.com"));
    let key = format!("Bearer {}", provider_key("openai_backup"));
    assert_eq!(got.header("authorization"), Some(key.as_str()));
    assert_eq!(got.headers.get_all("authorization").iter().count(), 1);
    assert_eq!(got.json(), CHAT.ask(QUESTION, false));
}

#[tokio::test]
async fn from_one_provider_to_the_next() {
    let gateway = Gateway::builder().start();
    assert_eq!(ask_failover(&gateway).await.status, 200);
    assert_eq!((gateway.provider.count(), gateway.backup.count()), (1, 0), "the first one is asked first");
    assert_eq!(gateway.provider.last().host().as_deref(), Some("api.openai.com"));

    let mut asked = 1;
    for status in [429, 503] {
        asked += 1;
        let long = error(status);
        // The next provider is asked at once, whatever `retry-after` says.
        gateway.provider.script(move |request| long(request).with("retry-after", "250"));
        let response = ask_failover(&gateway).await;
        assert_eq!(response.status, 200, "{status}: {:?}", response.body);
        assert_eq!((gateway.provider.count(), gateway.backup.count()), (asked, asked - 1), "{status}");
        assert_failed_over(&gateway);
    }
    // Each provider is asked once, and the agent gets the last answer.
    gateway.backup.script(error(503));
    assert_eq!(ask_failover(&gateway).await.status, 503);
    assert_eq!((gateway.provider.count(), gateway.backup.count()), (asked + 1, asked));
    // A mistake of the agent would fail at every provider, so it does not fail over.
    gateway.provider.script(error(400));
    assert_eq!(ask_failover(&gateway).await.status, 400);
    assert_eq!(gateway.backup.count(), asked);
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_has_a_next_one() {
    let gateway = Gateway::builder().edit("address: api.openai.com, port_value: 443}", NOBODY).start();
    for _ in 0..3 {
        assert_eq!(ask_failover(&gateway).await.status, 200);
        assert_failed_over(&gateway);
    }
    assert_eq!(gateway.backup.count(), 3);
}

#[tokio::test]
async fn a_provider_that_is_not_who_it_should_be_gets_nothing() {
    for builder in [Gateway::builder().untrusted(), Gateway::builder().providers_named("elsewhere.example")] {
        let gateway = builder.start();
        let response = gateway.ask(CHAT, ALICE, &[], QUESTION).await;
        assert_eq!(response.status, 503, "{:?}", response.body);
        assert_eq!(gateway.provider.count() + gateway.backup.count(), 0, "a stranger got a request");
        assert!(
            gateway.count("envoy_cluster_ssl_fail_verify_error", &[])
                + gateway.count("envoy_cluster_ssl_fail_verify_san", &[])
                > 0
        );
    }
}

#[tokio::test]
async fn more_requests_than_a_provider_may_hold_are_refused_at_once() {
    let gateway = Gateway::builder().edit("max_requests: 1024", "max_requests: 1").start();
    let gate = Gate::closed();
    let held = gate.clone();
    gateway.provider.script(move |request| {
        let mut answer = faithful(request);
        answer.pieces.insert(0, sentinel_harness::provider::Piece::Await(held.clone()));
        answer
    });
    let first = gateway.ask(CHAT, ALICE, &[], QUESTION);
    let second = async {
        eventually("the provider has the first request", async || gateway.provider.count() == 1).await;
        let refused = gateway.ask(CHAT, ALICE, &[], QUESTION).await;
        // The gateway still answers other paths.
        let elsewhere = client::post(gateway.address(), "/health", &[], Vec::new()).await.status;
        gate.open();
        (refused, elsewhere)
    };
    let (first, (refused, elsewhere)) = tokio::join!(first, second);
    assert_eq!((first.status, elsewhere), (200, 200));
    assert_eq!(refused.status, 503);
    let body: Value = refused.json();
    assert_eq!(body["error"]["type"], "server_error", "{body}");
    assert_eq!(gateway.provider.count(), 1);
}
