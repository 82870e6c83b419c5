//! Degradation is visible: every way to go without an answer has its own counter, and readiness tells callers to look
//! elsewhere while prompts wait too long.

use std::{sync::Arc, time::Duration};

use embedding_service::{
    embed::{Embedder, Tokeniser, bag_of_words::BagOfWords, error::EmbedError},
    routes::LIVENESS,
};
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;

use crate::support::{Server, check, eventually, gate::Gate, http, redis::Redis, request};

async fn unanswered(server: &Server, reason: &str) -> f64 {
    let sample = format!(r#"embedding_service_unanswered_total{{reason="{reason}"}}"#);
    http::sample(server.running.addresses().metrics, &sample).await
}

#[tokio::test]
async fn prompts_that_wait_too_long_make_it_not_ready_until_they_do_no_more() {
    let gate = Gate::default();
    let server = Server::start_gated(&gate, &[("--ready-delay-ms", "1"), ("--ready-window-ms", "0")]).await;
    let metrics = server.running.addresses().metrics;
    assert_eq!(http::get(metrics, "/readyz").await, (200, "ready\n".to_owned()));
    let shut = gate.shut();
    let mut calls = Vec::new();
    for i in 0..3 {
        let mut client = server.client().await;
        let run = i.to_string();
        calls.push(tokio::spawn(async move { check(&mut client, &run, "x").await }));
    }
    eventually("it is overloaded", async || (http::get(metrics, "/readyz").await.0 == 503).then_some(()))
        .await;
    assert_eq!(http::get(metrics, "/readyz").await.1, "not ready: overloaded\n");
    for service in ["", sentinel_proto::SERVICE] {
        eventually("health agrees", async || {
            (server.health(service).await == ServingStatus::NotServing).then_some(())
        })
        .await;
    }
    assert_eq!(server.health(LIVENESS).await, ServingStatus::Serving, "it has too much to do, and lives");
    let gauge = r#"embedding_service_not_ready{reason="overloaded"}"#;
    assert_eq!(http::sample(metrics, gauge).await, 1.0);
    drop(shut);
    for call in calls {
        call.await.unwrap().unwrap();
    }
    eventually("it is ready again", async || (http::get(metrics, "/readyz").await.0 == 200).then_some(()))
        .await;
    eventually("health agrees", async || {
        (server.health(sentinel_proto::SERVICE).await == ServingStatus::Serving).then_some(())
    })
    .await;
    assert_eq!(http::sample(metrics, gauge).await, 0.0);
}

#[tokio::test]
async fn each_way_to_go_without_an_answer_is_counted_apart() {
    let gate = Gate::default();
    let server = Server::start_gated(&gate, &[("--queue-length", "1")]).await;
    let mut client = server.client().await;
    check(&mut client, "r", " ").await.unwrap_err();

    let shut = gate.shut();
    let mut calls = Vec::new();
    for i in 0..2 {
        let mut client = server.client().await;
        let run = i.to_string();
        calls.push(tokio::spawn(async move { check(&mut client, &run, "x").await }));
        let queue = format!("queue_length {i}\n");
        eventually("one is being embedded, one waits", async || {
            (gate.waiting() == 1 && server.running.metrics().exposition().contains(&queue)).then_some(())
        })
        .await;
    }
    check(&mut client, "r", "no room").await.unwrap_err();
    calls.remove(1).abort();
    eventually("the caller has gone", async || {
        (unanswered(&server, "caller_gone").await == 1.0).then_some(())
    })
    .await;
    drop(shut);
    calls.remove(0).await.unwrap().unwrap();
    for (reason, count) in [
        ("invalid_request", 1.0),
        ("queue_full", 1.0),
        ("caller_gone", 1.0),
        ("deadline_passed", 0.0),
        ("embedding_failed", 0.0),
    ] {
        assert_eq!(unanswered(&server, reason).await, count, "{reason}");
    }
}

#[tokio::test]
async fn a_store_that_is_slow_and_one_that_is_away_are_counted_apart() {
    let mut redis = Redis::start().await;
    let flags = [("--redis-url", &*redis.url()), ("--store-timeout-ms", "100")];
    let server = Server::start_made(BagOfWords::default, &flags).await;
    let mut client = server.client().await;
    check(&mut client, "r", "x").await.unwrap();

    redis.freeze();
    assert_eq!(check(&mut client, "r", "x").await.unwrap_err().code(), Code::Unavailable);
    assert!(unanswered(&server, "store_timeout").await >= 1.0);
    redis.thaw();
    redis.kill();
    eventually("it is noticed that the store is away", async || {
        check(&mut client, "r", "x").await.unwrap_err();
        (unanswered(&server, "store_down").await >= 1.0).then_some(())
    })
    .await;
}

/// Fails on every text with the word "fault", by a panic, as a fault of ours would.
#[derive(Clone, Default)]
struct Faulty(BagOfWords);

impl Embedder for Faulty {
    fn dimension(&self) -> usize {
        self.0.dimension
    }

    fn tokeniser(&self) -> Arc<dyn Tokeniser> {
        self.0.tokeniser()
    }

    fn infer(&mut self, token_ids: &[i64]) -> Result<Vec<f32>, EmbedError> {
        let fault = self.0.tokenise("fault").unwrap().token_ids;
        assert_ne!(token_ids, fault, "a fault");
        self.0.infer(token_ids)
    }
}

#[tokio::test]
async fn an_embedder_that_panics_costs_its_own_call_only() {
    let server = Server::start_made(Faulty::default, &[]).await;
    let mut client = server.client().await;
    for _ in 0..3 {
        let status = check(&mut client, "r", "fault").await.unwrap_err();
        assert_eq!(status.code(), Code::Internal, "{status:?}");
        assert!(check(&mut client, "r", "fine").await.is_ok());
    }
    assert_eq!(unanswered(&server, "embedding_failed").await, 3.0);
}

#[tokio::test]
async fn a_call_that_was_given_no_deadline_is_given_up_after_the_servers_own() {
    let gate = Gate::default();
    let server = Server::start_gated(&gate, &[("--call-timeout", "1")]).await;
    let shut = gate.shut();
    let mut client = server.client().await;
    let mut ask = tonic::Request::new(request("r", "x"));
    ask.set_timeout(Duration::from_secs(3600));
    let status = client.check_loop(ask).await.unwrap_err();
    assert!([Code::Cancelled, Code::DeadlineExceeded].contains(&status.code()), "{status:?}");
    drop(shut);
    assert!(check(&mut client, "r", "x").await.is_ok());
}
