//! Looking up by the search module: its index is made once and has to fit; module and index may be missing.

use embedding_service::{
    history::{
        PromptHistory, Retention, Scope,
        redis::{INDEX, RedisHistory},
    },
    store::StoreError,
};
use redis::Value;
use tonic::Code;

use crate::{
    history_suite::{self, HOUR, record, vector},
    redis_faults::start_error,
    support::{
        Server, check, eventually,
        redis::{Redis, Search, redis_settings},
    },
};

const FIVE: Retention = Retention { size: 5, ttl: HOUR };
const SEARCH: (&str, &str) = ("--redis-lookup", "search");

async fn connect(redis: &Redis) -> Result<RedisHistory, StoreError> {
    history_suite::connect(&redis_settings(&redis.url(), &[SEARCH]), FIVE).await
}

#[tokio::test]
async fn the_index_is_made_once_with_vectors_as_they_are_and_cosine() {
    let redis = Redis::start_with(Search::Loaded).await;
    let _one = connect(&redis).await.unwrap();
    let _two = connect(&redis).await.unwrap();
    let info = format!("{:?}", redis.command(&["FT.INFO", INDEX]).await);
    for word in ["FLAT", "COSINE", "FLOAT32", "loop:"] {
        assert!(info.contains(word), "{word}: {info}");
    }
}

async fn make_index(redis: &Redis, prefix: &str, schema: &[&str]) {
    let head = ["FT.CREATE", INDEX, "ON", "HASH", "PREFIX", "1", prefix, "SCHEMA"];
    let words: Vec<&str> = head.into_iter().chain(schema.iter().copied()).collect();
    assert_eq!(redis.command(&words).await, Value::Okay);
}

fn schema<'a>(kind: &'a str, dimension: &'a str, metric: &'a str) -> Vec<&'a str> {
    let vector = ["vec", "VECTOR", "FLAT", "6", "TYPE", kind, "DIM", dimension, "DISTANCE_METRIC", metric];
    ["scope", "TAG", "moment", "NUMERIC", "SORTABLE"].into_iter().chain(vector).collect()
}

#[tokio::test]
async fn an_index_that_does_not_fit_is_named_with_the_reason() {
    for (prefix, schema, reason) in [
        ("loop:", schema("FLOAT32", "8", "COSINE"), "dim 8, the model needs 16"),
        ("loop:", schema("FLOAT32", "16", "L2"), "distance_metric L2"),
        ("loop:", schema("FLOAT64", "16", "COSINE"), "data_type FLOAT64"),
        ("other:", schema("FLOAT32", "16", "COSINE"), "keys that begin with loop:"),
        ("loop:", vec!["prompt", "TEXT"], "no field scope of the type TAG"),
    ] {
        let redis = Redis::start_with(Search::Loaded).await;
        make_index(&redis, prefix, &schema).await;
        let e = connect(&redis).await.err().unwrap().to_string();
        assert!(e.contains(reason) && e.contains("FT.DROPINDEX loop:embeddings"), "{e}");
    }
}

/// The index that earlier versions made, and that searches over all prompts want.
#[tokio::test]
async fn an_index_with_a_graph_is_taken_and_can_be_dropped_for_another_without_losing_prompts() {
    let redis = Redis::start_with(Search::Loaded).await;
    let mut words = schema("FLOAT32", "16", "COSINE");
    words.iter_mut().filter(|word| **word == "FLAT").for_each(|word| *word = "HNSW");
    make_index(&redis, "loop:", &words).await;
    let history = connect(&redis).await.unwrap();
    let scope = Scope::new("acme", "", "");
    history.record(&record(&scope, "x", vector(1))).await.unwrap();
    assert_eq!(history.recall(&scope, &vector(1)).await.unwrap().len(), 1);

    redis.command(&["FT.DROPINDEX", INDEX]).await;
    eventually("the prompt is found again", async || {
        history.recall(&scope, &vector(1)).await.ok().filter(|found| found.len() == 1)
    })
    .await;
    let info = format!("{:?}", redis.command(&["FT.INFO", INDEX]).await);
    assert!(info.contains("FLAT") && !info.contains("HNSW"), "{info}");
}

#[tokio::test]
async fn without_the_search_module_the_start_says_what_to_do() {
    let mut redis = Redis::stopped();
    redis.run(Search::Absent).await;
    let e = start_error(&redis.url(), &[SEARCH]).await;
    assert!(e.contains("no search module") && e.contains("--loadmodule"), "{e}");
}

#[tokio::test]
async fn back_without_its_module_it_is_named() {
    let mut redis = Redis::start_with(Search::Loaded).await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url()), SEARCH]).await;
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
    let redis = Redis::start_with(Search::Loaded).await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url()), SEARCH]).await;
    let mut client = server.client().await;
    check(&mut client, "r", "hello").await.unwrap();
    eventually("the prompt is stored", async || (redis.prompts().await.len() == 1).then_some(())).await;
    redis.command(&["FT.DROPINDEX", INDEX]).await;
    let status = check(&mut client, "r", "hello").await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("the index loop:embeddings is not there"), "{status:?}");
    eventually("the prompt is found again", async || {
        check(&mut client, "r", "hello").await.ok().filter(|answer| answer.matches >= 1)
    })
    .await;
}
