//! Redis gone, back, slow, full, a replica, another model's: a named error each time, and recovery alone.

use std::time::Duration;

use embedding_service::{
    embed::bag_of_words::BagOfWords,
    history::{PromptHistory, Retention, Scope},
    routes::LIVENESS,
    server::{self, ServerError},
    store::StoreError,
};
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;

use crate::{
    history_suite::{self, HOUR, record, vector},
    support::{
        Server, bag_of_words, check, eventually, http,
        proxy::Proxy,
        redis::{Redis, Search},
        settings,
    },
};

pub async fn start_error(url: &str, flags: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path(), &[&[("--redis-url", url)], flags].concat());
    let make = || Ok(BagOfWords::default());
    let started = server::start_with(&settings, bag_of_words(), make).await;
    let Err(error) = started else { panic!("it started") };
    assert!(matches!(error, ServerError::History(_)), "{error}");
    assert!(!folder.path().join("service.sock").exists(), "no socket before all is well");
    error.to_string()
}

#[tokio::test]
async fn absent_at_start_is_a_clear_error() {
    let e = start_error("unix:///nowhere/redis.sock", &[]).await;
    assert!(e.contains("Redis cannot be reached"), "{e}");
    let e = start_error("redis://127.0.0.1:1/", &[]).await;
    assert!(e.contains("Redis cannot be reached"), "{e}");
    let e = start_error("redis://user:hunter2@127.0.0.1:notaport/", &[]).await;
    assert!(e.contains("REDIS_URL") && !e.contains("hunter2"), "{e}");
}

pub async fn serving(server: &Server) -> bool {
    server.health("").await == ServingStatus::Serving
}

async fn ready(server: &Server) -> u16 {
    http::get(server.running.addresses().metrics, "/readyz").await.0
}

#[tokio::test]
async fn gone_and_back_again() {
    let mut redis = Redis::start().await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    check(&mut client, "r", "hello").await.unwrap();
    assert_eq!(ready(&server).await, 200);
    assert!(serving(&server).await);

    redis.kill();
    let status = eventually("a call is refused", async || check(&mut client, "r", "hello").await.err()).await;
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("Redis cannot be reached"), "{status:?}");
    eventually("it is not ready", async || (ready(&server).await == 503).then_some(())).await;
    eventually("health says so", async || (!serving(&server).await).then_some(())).await;
    let metrics = server.running.addresses().metrics;
    assert_eq!(http::get(metrics, "/healthz").await.0, 200, "alive all the same");
    assert_eq!(server.health(LIVENESS).await, ServingStatus::Serving, "alive all the same");
    assert_eq!(http::sample(metrics, "embedding_service_store_up").await, 0.0);

    redis.run(Search::Absent).await;
    let answer =
        eventually("calls are answered again", async || check(&mut client, "r", "hello").await.ok()).await;
    assert_eq!(answer.compared, 0, "Redis kept nothing");
    eventually("it is ready again", async || (ready(&server).await == 200).then_some(())).await;
    assert_eq!(check(&mut client, "r", "hello").await.unwrap().matches, 1);
    eventually("health says so", async || serving(&server).await.then_some(())).await;
}

/// Calls are refused with `words`, and the service says that it is not ready.
async fn refuses(server: &Server, words: &str) {
    let mut client = server.client().await;
    let status = check(&mut client, "r", "hello").await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains(words), "{status:?}");
    eventually("it is not ready", async || (ready(server).await == 503).then_some(())).await;
}

async fn answers_again(server: &Server) {
    let mut client = server.client().await;
    eventually("calls are answered again", async || check(&mut client, "r", "hello").await.ok()).await;
    eventually("it is ready again", async || (ready(server).await == 200).then_some(())).await;
}

const BUDGET: (&str, &str) = ("--store-timeout-ms", "100");

#[tokio::test]
async fn frozen_redis_is_given_up_within_its_budget() {
    let redis = Redis::start().await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url()), BUDGET]).await;
    answers_again(&server).await;
    redis.freeze();
    refuses(&server, "did not answer within 100 ms").await;
    redis.thaw();
    answers_again(&server).await;
}

/// Unlike a frozen one it takes connections and answers, only too late.
#[tokio::test]
async fn slow_redis_is_given_up_until_it_is_fast_again() {
    let redis = Redis::start().await;
    let proxy = Proxy::start(&redis.socket()).await;
    let server = Server::start_without_model(&[("--redis-url", &proxy.url("redis")), BUDGET]).await;
    answers_again(&server).await;
    proxy.delay(Duration::from_millis(300));
    refuses(&server, "did not answer within 100 ms").await;
    let mut client = server.client().await;
    for _ in 0..20 {
        let status = check(&mut client, "r", "hello").await.unwrap_err();
        assert!(status.message().contains("did not answer within 100 ms"), "{status:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    proxy.delay(Duration::ZERO);
    answers_again(&server).await;
}

#[tokio::test]
async fn out_of_memory_prompts_are_read_and_not_stored_and_that_is_counted() {
    let redis = Redis::start().await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    let metrics = server.running.addresses().metrics;
    let counted = async |outcome: &str, count: f64| {
        let sample = format!("embedding_service_records_total{{outcome=\"{outcome}\"}}");
        eventually("it is counted", async || (http::sample(metrics, &sample).await == count).then_some(()))
            .await;
    };
    check(&mut client, "r", "hello").await.unwrap();
    counted("stored", 1.0).await;

    redis.command(&["CONFIG", "SET", "maxmemory", "1"]).await;
    assert_eq!(check(&mut client, "r", "hello").await.unwrap().matches, 1, "what is there is read");
    counted("store_full", 1.0).await;
    assert_eq!(redis.prompts().await.len(), 1, "nothing is stored by halves");
    assert_eq!(check(&mut client, "r", "hello").await.unwrap().matches, 1);
    counted("store_full", 2.0).await;
    assert_eq!(ready(&server).await, 200, "it can answer");

    redis.command(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(check(&mut client, "r", "hello").await.unwrap().matches, 1);
    counted("stored", 2.0).await;
    assert_eq!(check(&mut client, "r", "hello").await.unwrap().matches, 2);
}

#[tokio::test]
async fn a_full_redis_can_be_started_with_and_says_so() {
    let redis = Redis::start().await;
    redis.command(&["CONFIG", "SET", "maxmemory", "1"]).await;
    let history = history_suite::store(&redis, Retention { size: 5, ttl: HOUR }).await;
    let scope = Scope::new("t", "", "");
    assert_eq!(history.recall(&scope, &vector(1)).await, Ok(vec![]));
    assert_eq!(history.record(&record(&scope, "x", vector(1))).await, Err(StoreError::Full));
}

/// The address leads to another server after a failover, but connections that are open stay with the old one, which is
/// a replica then: nothing but its refusals of writes tells.
#[tokio::test]
async fn after_a_failover_the_primary_is_found() {
    let (old, new) = (Redis::start().await, Redis::start().await);
    let proxy = Proxy::start(&old.socket()).await;
    let behind = Proxy::start(&new.socket()).await;
    let server = Server::start_without_model(&[("--redis-url", &proxy.url("redis"))]).await;
    let mut client = server.client().await;
    check(&mut client, "r", "hello").await.unwrap();
    eventually("the prompt is stored", async || (old.prompts().await.len() == 1).then_some(())).await;

    let port = behind.address.port().to_string();
    old.command(&["REPLICAOF", "127.0.0.1", &port]).await;
    proxy.lead_to(&new.socket());
    eventually("prompts are stored in the new primary", async || {
        check(&mut client, "other", "hello").await.ok();
        (!new.prompts().await.is_empty()).then_some(())
    })
    .await;
    answers_again(&server).await;
}

#[tokio::test]
async fn a_replica_that_stays_one_is_read() {
    let (primary, redis) = (Redis::start().await, Redis::start().await);
    let to_primary = Proxy::start(&primary.socket()).await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    redis.command(&["REPLICAOF", "127.0.0.1", &to_primary.address.port().to_string()]).await;
    let metrics = server.running.addresses().metrics;
    let refused = r#"embedding_service_records_total{outcome="store_failed"}"#;
    eventually("a refused write is counted", async || {
        check(&mut client, "r", "hello").await.ok();
        (http::sample(metrics, refused).await >= 1.0).then_some(())
    })
    .await;
    for _ in 0..10 {
        check(&mut client, "r", "hello").await.unwrap();
    }
    redis.command(&["REPLICAOF", "NO", "ONE"]).await;
    eventually("prompts are stored again", async || {
        let answer = check(&mut client, "r", "hello").await.ok()?;
        (answer.matches >= 1).then_some(())
    })
    .await;
}

#[test]
fn errors_show_no_prompt() {
    let shown = StoreError::Refused("OOM".to_owned()).to_string();
    assert_eq!(shown, "Redis refused the command: OOM");
}
