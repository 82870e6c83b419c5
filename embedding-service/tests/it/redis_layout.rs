//! What lies in Redis: keys, fields, time to live; what replicas see of each other's.

use embedding_service::history::{PromptHistory, Retention, Scope, redis::RedisHistory};
use redis::cmd;

use crate::{
    history_suite::{DIMENSION, HOUR, record, store, vector},
    support::{bag_of_words, redis::Redis},
};

const FIVE: Retention = Retention { size: 5, ttl: HOUR };

#[tokio::test]
async fn a_prompt_is_one_hash_with_the_fields_of_the_contract() {
    let redis = Redis::start().await;
    let history = store(&redis, FIVE).await;
    let scope = Scope::new("acme", "bot", "run");
    let record = record(&scope, "hello", vector(1));
    history.record(&record).await.unwrap();

    let keys = redis.prompts().await;
    assert_eq!(keys.len(), 1);
    let model = bag_of_words();
    let start = format!("loop:{{acme/{}/{model}}}:{}-", scope.id(), record.moment.0);
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
    let all: Vec<String> = cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    let recent = format!("loop:{{acme/{}/{model}}}:recent", scope.id());
    assert!(all.contains(&recent) && all.len() == 2, "{all:?}");
    for key in all {
        let left: i64 = cmd("PTTL").arg(&key).query_async(&mut connection).await.unwrap();
        assert!((1..=3_600_000).contains(&left), "{key}: {left}");
    }
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
    assert_eq!(redis.prompts().await.len(), 15);
}

#[tokio::test]
async fn replicas_share_and_a_shorter_history_sees_fewer() {
    let redis = Redis::start().await;
    let (one, two) = (store(&redis, FIVE).await, store(&redis, FIVE).await);
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
async fn what_was_evicted_is_passed_over() {
    let redis = Redis::start().await;
    let history = store(&redis, FIVE).await;
    let scope = Scope::new("acme", "", "");
    for i in 0..3 {
        history.record(&record(&scope, &i.to_string(), vector(i))).await.unwrap();
    }
    let middle = &redis.prompts().await[1];
    redis.command(&["DEL", middle]).await;
    let earlier = history.recall(&scope, &vector(9)).await.unwrap();
    assert_eq!(earlier.iter().map(|e| e.head.as_str()).collect::<Vec<_>>(), ["2", "0"]);
}
