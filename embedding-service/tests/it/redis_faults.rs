//! Redis gone, back, slow, without its search module, without its index: a named error each time, and recovery alone.

use embedding_service::{
    embed::deterministic::BagOfWords,
    history::{HistoryError, redis::INDEX},
    server::{self, ServerError},
};
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::support::{
    Server, check, eventually, http,
    redis::{Redis, Search},
    settings,
};

async fn start_error(url: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path(), &[("--redis-url", url)]);
    let make = || Ok(BagOfWords::default());
    let Err(error) = server::start_with(&settings, make).await else { panic!("it started") };
    assert!(matches!(error, ServerError::History(_)), "{error}");
    assert!(!folder.path().join("service.sock").exists(), "no socket before all is well");
    error.to_string()
}

#[tokio::test]
async fn absent_at_start_is_a_clear_error() {
    let e = start_error("unix:///nowhere/redis.sock").await;
    assert!(e.contains("Redis cannot be reached"), "{e}");
    let e = start_error("redis://127.0.0.1:1/").await;
    assert!(e.contains("Redis cannot be reached"), "{e}");
    let e = start_error("redis://user:hunter2@127.0.0.1:notaport/").await;
    assert!(e.contains("REDIS_URL") && !e.contains("hunter2"), "{e}");
}

#[tokio::test]
async fn without_the_search_module_the_start_says_what_to_do() {
    let mut redis = Redis::stopped();
    redis.run(Search::Absent).await;
    let e = start_error(&redis.url()).await;
    assert!(e.contains("no search module") && e.contains("--loadmodule"), "{e}");
}

#[tokio::test]
async fn wrong_credentials_are_named_and_not_shown() {
    let redis = Redis::start().await;
    redis.command(&["CONFIG", "SET", "requirepass", "right"]).await;
    for url in [redis.url(), redis.url() + "?pass=hunter2"] {
        let e = start_error(&url).await;
        assert!(e.contains("check REDIS_URL") && !e.contains("hunter2"), "{e}");
    }
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path(), &[("--redis-url", &(redis.url() + "?pass=right&protocol=resp3"))]);
    let running = server::start_with(&settings, || Ok(BagOfWords::default())).await.unwrap();
    assert_eq!(running.shutdown().await, 0);
}

#[tokio::test]
async fn another_models_index_stops_the_start() {
    let redis = Redis::start().await;
    redis
        .command(&[
            "FT.CREATE",
            INDEX,
            "ON",
            "HASH",
            "PREFIX",
            "1",
            "loop:",
            "SCHEMA",
            "scope",
            "TAG",
            "moment",
            "NUMERIC",
            "vec",
            "VECTOR",
            "HNSW",
            "6",
            "TYPE",
            "FLOAT32",
            "DIM",
            "768",
            "DISTANCE_METRIC",
            "COSINE",
        ])
        .await;
    let e = start_error(&redis.url()).await;
    assert!(e.contains("dim 768, the model needs 64"), "{e}");
}

async fn serving(server: &Server) -> bool {
    let mut health = HealthClient::new(server.tcp().await);
    health.check(HealthCheckRequest::default()).await.unwrap().into_inner().status == 1
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
    assert_eq!(http::sample(metrics, "embedding_service_store_up").await, 0.0);

    redis.run(Search::Loaded).await;
    let answer =
        eventually("calls are answered again", async || check(&mut client, "r", "hello").await.ok()).await;
    assert_eq!(answer.compared, 0, "Redis kept nothing");
    eventually("it is ready again", async || (ready(&server).await == 200).then_some(())).await;
    assert_eq!(check(&mut client, "r", "hello").await.unwrap().matches, 1);
    eventually("health says so", async || serving(&server).await.then_some(())).await;
}

#[tokio::test]
async fn back_without_its_module_it_is_named() {
    let mut redis = Redis::start().await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    redis.kill();
    redis.run(Search::Absent).await;
    eventually("the missing module is named", async || {
        let status = check(&mut client, "r", "hello").await.err()?;
        assert_eq!(status.code(), Code::Unavailable);
        status.message().contains("no search module").then_some(())
    })
    .await;
    redis.kill();
    redis.run(Search::Loaded).await;
    eventually("calls are answered again", async || check(&mut client, "r", "hello").await.ok()).await;
}

#[tokio::test]
async fn a_dropped_index_is_named_and_made_again() {
    let redis = Redis::start().await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    check(&mut client, "r", "hello").await.unwrap();
    eventually("the prompt is stored", async || (redis.keys().await.len() == 1).then_some(())).await;
    redis.command(&["FT.DROPINDEX", INDEX]).await;
    let status = check(&mut client, "r", "hello").await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("the index loop:embeddings is not there"), "{status:?}");
    eventually("the prompt is found again", async || {
        check(&mut client, "r", "hello").await.ok().filter(|answer| answer.matches >= 1)
    })
    .await;
}

#[tokio::test]
async fn slow_redis_is_given_up_within_its_budget() {
    let redis = Redis::start().await;
    let settings = [("--redis-url", &*redis.url()), ("--store-timeout-ms", "50")];
    let server = Server::start_without_model(&settings).await;
    let mut client = server.client().await;
    eventually("a call is answered", async || check(&mut client, "r", "hello").await.ok()).await;
    redis.freeze();
    let status = check(&mut client, "r", "hello").await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("did not answer within 50 ms"), "{status:?}");
    eventually("it is not ready", async || (ready(&server).await == 503).then_some(())).await;
    redis.thaw();
    eventually("calls are answered again", async || check(&mut client, "r", "hello").await.ok()).await;
}

#[tokio::test]
async fn what_cannot_be_stored_is_counted() {
    let redis = Redis::start().await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url())]).await;
    let mut client = server.client().await;
    // Reads go on, writes are refused.
    redis.command(&["CONFIG", "SET", "maxmemory", "1"]).await;
    check(&mut client, "r", "hello").await.unwrap();
    let metrics = server.running.addresses().metrics;
    eventually("the loss is counted", async || {
        let failed = r#"embedding_service_records_total{outcome="StoreFailed"}"#;
        (http::sample(metrics, failed).await == 1.0).then_some(())
    })
    .await;
    redis.command(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(check(&mut client, "r", "hello").await.unwrap().compared, 0);
    assert_eq!(check(&mut client, "r", "hello").await.unwrap().compared, 1);
}

#[test]
fn errors_show_no_prompt() {
    let shown = HistoryError::Refused("OOM".to_owned()).to_string();
    assert_eq!(shown, "Redis refused the command: OOM");
}
