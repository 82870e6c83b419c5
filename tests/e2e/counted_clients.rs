//! An error rate for each client that the configuration names, with no more labels than it has names.

use sentinel_harness::client;
use sentinel_harness::gateway::{ADMIN, ALICE, BOB, Gateway, key_header, path};
use sentinel_harness::metrics::Metrics;
use sentinel_harness::process::eventually;
use sentinel_harness::provider::{Reply, faithful, speak};
use sentinel_harness::{Dialect, Stack};

use crate::support::{CHAT, QUESTION};

fn counting_alice() -> Gateway {
    let all = r#""identity": {"principal": "x-sentinel-client", "clients": []}"#;
    Gateway::builder().edit(all, &all.replace("[]", r#"["alice"]"#)).start()
}

fn counted(gateway: &Gateway, client: &str, status: &str) -> u64 {
    gateway.count("sentinel_requests_total", &[("client", client), ("status", status)])
}

#[tokio::test]
async fn each_request_is_counted_once_by_client_and_by_what_became_of_it() {
    let gateway = counting_alice();
    let run = [("x-run-id", "r")];
    for (index, verdict) in ["allow", "allow", "allow", "hint", "kill"].into_iter().enumerate() {
        assert_eq!(gateway.ask(CHAT, ALICE, &run, QUESTION).await.verdict(), verdict, "{index}");
    }
    for status in [400, 404, 500] {
        gateway.provider.script(move |request| speak(request, &Reply::Error(status)));
        gateway.ask(Dialect::Anthropic, ALICE, &[], QUESTION).await;
        gateway.ask(CHAT, BOB, &[], QUESTION).await;
    }
    // Inference requests that pass unread are counted too; other requests are not.
    gateway.provider.script(faithful);
    let (name, value) = key_header(CHAT, ALICE.key);
    let plain = [(name, value.as_str()), ("content-type", "text/plain")];
    assert_eq!(gateway.post(path(CHAT), &plain, "no JSON".to_owned()).await.status, 200);
    assert_eq!(gateway.post("/openai/v1/embeddings", &plain, "{}".to_owned()).await.status, 200);

    for (client, status, times) in [
        ("alice", "2xx", 5),
        ("alice", "stopped", 1),
        ("alice", "4xx", 2),
        ("alice", "5xx", 1),
        ("other", "4xx", 2),
        ("other", "5xx", 1),
        ("bob", "4xx", 0),
    ] {
        assert_eq!(counted(&gateway, client, status), times, "{client} {status}");
    }
    assert_eq!(gateway.count("sentinel_requests_total", &[]), 12);
    assert_eq!(gateway.count("sentinel_requests_total", &[("dialect", "anthropic")]), 3);
    // All of it stands in labels.
    for sample in gateway.envoy.metrics().beginning("sentinel_requests_total") {
        assert_eq!(sample.name, "sentinel_requests_total", "{sample:?}");
    }
}

#[tokio::test]
async fn who_leaves_before_the_answer_and_what_envoy_answers_itself_are_counted() {
    let gateway = counting_alice();
    // Envoy waits for as long as the provider says before it asks again.
    gateway.provider.script(|request| speak(request, &Reply::Error(429)).with("retry-after", "200"));
    let (address, (_, value)) = (gateway.address(), key_header(CHAT, ALICE.key));
    let leaving = tokio::spawn(async move {
        client::post(address, path(CHAT), &[("authorization", &value)], CHAT.ask(QUESTION, false).to_string())
            .await
    });
    eventually("the provider has it", async || gateway.provider.count() == 1).await;
    assert_eq!(gateway.count("sentinel_requests_total", &[]), 0, "it is not known yet what becomes of it");
    leaving.abort();
    eventually("it is counted", async || counted(&gateway, "alice", "none") == 1).await;

    let unreachable = Gateway::builder()
        .edit("address: api.openai.com, port_value: 443}", "address: 127.0.0.1, port_value: 1}");
    let unreachable = unreachable.start();
    assert_eq!(unreachable.ask(CHAT, ALICE, &[], QUESTION).await.status, 503);
    assert_eq!(counted(&unreachable, "other", "5xx"), 1);
}

#[tokio::test]
async fn without_an_authentication_filter_there_is_no_client() {
    let stack = Stack::builder().start();
    stack.post(CHAT, &[("x-sentinel-client", "alice")], CHAT.ask(QUESTION, false).to_string()).await;
    assert_eq!(stack.count("sentinel_requests_total", &[("client", "none"), ("status", "2xx")]), 1);
}

#[tokio::test]
async fn the_page_for_administrators_has_the_total() {
    let gateway = counting_alice();
    let key = format!("Bearer {}", ADMIN.key);
    let page = async || {
        let page = gateway.get("/v1/metrics", &[("authorization", &key)]).await;
        assert_eq!((page.status, page.header("content-type")), (200, Some("application/json")));
        page.json()
    };
    assert_eq!(page().await["total_requests"], 0);
    for client in [ALICE, ALICE, BOB] {
        gateway.ask(CHAT, client, &[("x-agent-id", "a")], QUESTION).await;
    }
    gateway.ask(Dialect::Gemini, BOB, &[], QUESTION).await;
    let shown = page().await;
    assert_eq!(shown["total_requests"], 4);
    assert!(shown["stats"].as_array().is_some_and(|stats| stats.len() > 10), "Envoy's own list is there too");
    // Prometheus has it as the sum over the labels.
    let text = gateway.get("/v1/metrics", &[("authorization", &key), ("accept", "text/plain")]).await;
    let text = String::from_utf8_lossy(&text.body).into_owned();
    assert_eq!(Metrics::parse(&text).sum("sentinel_requests_total", &[]), 4);
    assert!(!text.contains("total_requests\":"), "JSON in Prometheus's page");
}
