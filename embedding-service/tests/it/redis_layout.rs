//! What lies in Redis: keys, fields, time to live, the index; and indexes that do not fit.

use std::time::Duration;

use embedding_service::history::{
    HistoryError, PromptHistory, Retention, Scope,
    redis::{INDEX, RedisHistory},
};
use redis::{Value, cmd};

use crate::{
    history_suite::{DIMENSION, HOUR, record, store, vector},
    support::redis::Redis,
};

const FIVE: Retention = Retention { size: 5, ttl: HOUR };

async fn connect(redis: &Redis) -> Result<RedisHistory, HistoryError> {
    RedisHistory::connect(&redis.url(), DIMENSION, FIVE, Duration::from_secs(10)).await
}

#[tokio::test]
async fn a_prompt_is_one_hash_with_the_fields_of_the_contract() {
    let redis = Redis::start().await;
    let history = store(&redis, FIVE).await;
    let scope = Scope::new("acme", "bot", "run");
    let record = record(&scope, "hello", vector(1));
    history.record(&record).await.unwrap();

    let keys = redis.keys().await;
    assert_eq!(keys.len(), 1);
    let start = format!("loop:{{acme}}:{}-", record.moment.0);
    assert!(keys[0].starts_with(&start), "{keys:?}");

    let mut connection = redis.connection().await;
    let get = async |field: &str| {
        let mut get = cmd("HGET");
        get.arg(&keys[0]).arg(field);
        get.query_async::<Vec<u8>>(&mut connection.clone()).await.unwrap()
    };
    assert_eq!(get("tenant_id").await, b"acme");
    assert_eq!(get("prompt").await, b"hello");
    assert_eq!(get("vec").await.len(), DIMENSION * 4);
    let left: i64 = cmd("PTTL").arg(&keys[0]).query_async(&mut connection).await.unwrap();
    assert!((1..=3_600_000).contains(&left), "{left}");
}

#[tokio::test]
async fn what_is_no_longer_among_the_last_is_deleted() {
    let redis = Redis::start().await;
    let history = store(&redis, FIVE).await;
    for run in 0..3 {
        let scope = Scope::new("acme", "bot", &run.to_string());
        for i in 0..20 {
            history.record(&record(&scope, "x", vector(i))).await.unwrap();
        }
    }
    assert_eq!(redis.keys().await.len(), 15);
}

#[tokio::test]
async fn replicas_share_and_a_shorter_history_sees_fewer() {
    let redis = Redis::start().await;
    let (one, two) = (store(&redis, FIVE).await, connect(&redis).await.unwrap());
    let short = store(&redis, Retention { size: 2, ttl: HOUR }).await;
    let scope = Scope::new("acme", "", "");
    for i in 0..2 {
        one.record(&record(&scope, &format!("one {i}"), vector(i))).await.unwrap();
        two.record(&record(&scope, &format!("two {i}"), vector(i))).await.unwrap();
    }
    let heads = async |history: &RedisHistory| {
        let earlier = history.recall(&scope, &vector(9)).await.unwrap();
        earlier.into_iter().map(|e| e.head).collect::<Vec<_>>()
    };
    assert_eq!(heads(&one).await, ["two 1", "one 1", "two 0", "one 0"]);
    assert_eq!(heads(&two).await, heads(&one).await);
    assert_eq!(heads(&short).await, ["two 1", "one 1"]);
    short.record(&record(&scope, "short", vector(1))).await.unwrap();
    assert_eq!(heads(&one).await, ["short", "two 1"]);
}

#[tokio::test]
async fn the_index_is_made_once_with_hnsw_and_cosine() {
    let redis = Redis::start().await;
    let _one = connect(&redis).await.unwrap();
    let _two = connect(&redis).await.unwrap();
    let info = format!("{:?}", redis.command(&["FT.INFO", INDEX]).await);
    for word in ["HNSW", "COSINE", "FLOAT32", "loop:"] {
        assert!(info.contains(word), "{word}: {info}");
    }
}

async fn make_index(redis: &Redis, prefix: &str, schema: &[&str]) {
    let head = ["FT.CREATE", INDEX, "ON", "HASH", "PREFIX", "1", prefix, "SCHEMA"];
    let words: Vec<&str> = head.into_iter().chain(schema.iter().copied()).collect();
    assert_eq!(redis.command(&words).await, Value::Okay);
}

fn schema<'a>(kind: &'a str, dimension: &'a str, metric: &'a str) -> Vec<&'a str> {
    let vector = ["vec", "VECTOR", "HNSW", "6", "TYPE", kind, "DIM", dimension, "DISTANCE_METRIC", metric];
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
        let redis = Redis::start().await;
        make_index(&redis, prefix, &schema).await;
        let e = connect(&redis).await.err().unwrap().to_string();
        assert!(e.contains(reason) && e.contains("FT.DROPINDEX loop:embeddings"), "{e}");
    }
}

#[tokio::test]
async fn an_index_made_by_hand_that_fits_is_taken() {
    let redis = Redis::start().await;
    make_index(&redis, "loop:", &schema("FLOAT32", "16", "COSINE")).await;
    let history = connect(&redis).await.unwrap();
    let scope = Scope::new("acme", "", "");
    history.record(&record(&scope, "x", vector(1))).await.unwrap();
    assert_eq!(history.recall(&scope, &vector(1)).await.unwrap().len(), 1);
}
