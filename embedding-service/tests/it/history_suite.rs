//! One behavioural suite for every prompt history: memory and Redis, however it is asked, keep the same
//! promise.

use std::{sync::Arc, time::Duration};

use embedding_service::{
    embed::{
        Embedded,
        truncation::{UnseenDigest, UnseenText},
    },
    history::{
        Earlier, Moment, PromptHistory, Record, Retention, Scope, memory::MemoryHistory, redis::RedisHistory,
    },
    similarity,
    store::{StoreError, redis::options::RedisOptions},
};

use crate::support::{
    bag_of_words,
    cluster::Cluster,
    eventually,
    redis::{Redis, Search, redis_settings},
};

pub const DIMENSION: usize = 16;
pub const HOUR: Duration = Duration::from_secs(3600);

/// Declares a test of each behaviour for each store.
macro_rules! suite {
    ($($behaviour:ident($size:expr, $ttl:expr);)*) => {
        mod memory {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                let retention = Retention { size: $size, ttl: $ttl };
                super::$behaviour(&MemoryHistory::new(retention, 64 << 20)).await;
            })*
        }
        mod redis_direct {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                let redis = Redis::start().await;
                let retention = Retention { size: $size, ttl: $ttl };
                super::$behaviour(&store(&redis, retention).await).await;
            })*
        }
        mod redis_search {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                let redis = Redis::start_with(Search::Loaded).await;
                let retention = Retention { size: $size, ttl: $ttl };
                let settings = redis_settings(&redis.url(), &[("--redis-lookup", "search")]);
                super::$behaviour(&connect(&settings, retention).await.unwrap()).await;
            })*
        }
        mod redis_cluster {
            use super::*;
            $(#[tokio::test]
            async fn $behaviour() {
                let cluster = Cluster::start().await;
                let retention = Retention { size: $size, ttl: $ttl };
                let settings = redis_settings(&cluster.url(), &[("--redis-cluster", "true")]);
                super::$behaviour(&connect(&settings, retention).await.unwrap()).await;
            })*
        }
    };
}

suite! {
    an_unknown_scope_is_empty(5, HOUR);
    what_was_recorded_comes_back(5, HOUR);
    an_exact_repeat_is_exactly_one(5, HOUR);
    similarity_has_one_scale(5, HOUR);
    scopes_are_never_mixed(5, HOUR);
    the_last_ones_are_kept(5, HOUR);
    the_last_ones_are_kept_of_one(1, HOUR);
    the_last_ones_are_kept_of_a_hundred(100, HOUR);
    late_arrivals_do_not_push_out_newer_ones(3, HOUR);
    old_prompts_are_forgotten(5, Duration::from_millis(400));
    a_crowd_of_nearer_neighbours_hides_nothing(5, HOUR);
    writes_at_once_are_all_seen(5, HOUR);
    it_says_that_it_is_reachable(5, HOUR);
}

pub async fn connect(settings: &RedisOptions, retention: Retention) -> Result<RedisHistory, StoreError> {
    RedisHistory::connect(settings, bag_of_words(), DIMENSION, retention).await
}

/// Read directly, in a Redis without the search module.
pub async fn store(redis: &Redis, retention: Retention) -> RedisHistory {
    connect(&redis_settings(&redis.url(), &[]), retention).await.unwrap()
}

/// A unit vector that depends on nothing but `seed`.
pub fn vector(seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut vector: Vec<f32> = (0..DIMENSION)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % 2001) as f32 / 1000.0 - 1.0
        })
        .collect();
    similarity::normalise(&mut vector);
    vector
}

fn digest(text: &str) -> Option<UnseenDigest> {
    let mut unseen = UnseenText::default();
    unseen.add(text);
    unseen.digest()
}

pub fn record(scope: &Scope, head: &str, vector: Vec<f32>) -> Record {
    let embedded = Embedded { vector: Arc::from(vector), head: head.to_owned(), unseen: None };
    Record { scope: scope.clone(), moment: Moment::now(), embedded }
}

fn scope(run: &str) -> Scope {
    Scope::new("tenant", "agent", run)
}

fn heads(earlier: &[Earlier]) -> Vec<&str> {
    earlier.iter().map(|e| e.head.as_str()).collect()
}

async fn an_unknown_scope_is_empty(history: &dyn PromptHistory) {
    assert_eq!(history.recall(&scope("r"), &vector(1)).await, Ok(vec![]));
}

async fn what_was_recorded_comes_back(history: &dyn PromptHistory) {
    let strange = "tab\t, NUL \0, quote \" ' \\, brace } {, 語 🦀, -@|$*";
    let mut first = record(&scope("r"), strange, vector(1));
    first.embedded.unseen = digest("the rest");
    let second = record(&scope("r"), "second", vector(2));
    history.record(&first).await.unwrap();
    history.record(&second).await.unwrap();
    let earlier = history.recall(&scope("r"), &vector(3)).await.unwrap();
    assert_eq!(heads(&earlier), ["second", strange]);
    assert_eq!(earlier[0].moment, second.moment);
    assert_eq!(earlier[1].moment, first.moment);
    assert_eq!(earlier[0].unseen, None);
    assert_eq!(earlier[1].unseen, digest("the rest"));
}

async fn an_exact_repeat_is_exactly_one(history: &dyn PromptHistory) {
    for seed in 0..5 {
        history.record(&record(&scope("r"), "x", vector(seed))).await.unwrap();
    }
    for seed in 0..5 {
        let earlier = history.recall(&scope("r"), &vector(seed)).await.unwrap();
        let exact = earlier.iter().filter(|e| e.similarity == 1.0).count();
        assert_eq!(exact, 1, "{earlier:?}");
        assert_eq!(earlier[usize::try_from(4 - seed).unwrap()].similarity, 1.0);
    }
}

async fn similarity_has_one_scale(history: &dyn PromptHistory) {
    let axis = |at: usize, value: f32| {
        let mut vector = vec![0.0; DIMENSION];
        vector[at] = value;
        vector
    };
    // Cosine 0.90 is similarity 0.95.
    let mut near = axis(0, 0.9);
    near[1] = (1.0_f32 - 0.81).sqrt();
    for (head, vector) in
        [("same", axis(0, 1.0)), ("right angle", axis(1, 1.0)), ("opposite", axis(0, -1.0)), ("near", near)]
    {
        history.record(&record(&scope("r"), head, vector)).await.unwrap();
    }
    for earlier in history.recall(&scope("r"), &axis(0, 1.0)).await.unwrap() {
        let wanted = match earlier.head.as_str() {
            "same" => 1.0,
            "right angle" => 0.5,
            "opposite" => 0.0,
            "near" => 0.95,
            other => panic!("{other}"),
        };
        assert!((earlier.similarity - wanted).abs() < 1e-5, "{earlier:?}");
    }
}

async fn scopes_are_never_mixed(history: &dyn PromptHistory) {
    let long = "x".repeat(500);
    let scopes = [
        Scope::new("a", "", ""),
        Scope::new("a", "b", ""),
        Scope::new("a", "", "b"),
        Scope::new("ab", "", ""),
        Scope::new("b", "", ""),
        Scope::new("A", "", ""),
        Scope::new("a b", "", ""),
        Scope::new("a}*|{", "x", ""),
        Scope::new("a:b", "", ""),
        Scope::new(&long, "", ""),
        Scope::new("語 🦀", "", ""),
    ];
    for (i, scope) in scopes.iter().enumerate() {
        history.record(&record(scope, &i.to_string(), vector(7))).await.unwrap();
    }
    for (i, scope) in scopes.iter().enumerate() {
        let earlier = history.recall(scope, &vector(7)).await.unwrap();
        assert_eq!(heads(&earlier), [i.to_string()], "{i}");
    }
}

async fn keeps_the_last(history: &dyn PromptHistory, size: u64) {
    let total = size * 2 + 3;
    for i in 0..total {
        history.record(&record(&scope("r"), &i.to_string(), vector(i))).await.unwrap();
    }
    let earlier = history.recall(&scope("r"), &vector(0)).await.unwrap();
    let wanted: Vec<String> = (total - size..total).rev().map(|i| i.to_string()).collect();
    assert_eq!(heads(&earlier), wanted);
}

async fn the_last_ones_are_kept(history: &dyn PromptHistory) {
    keeps_the_last(history, 5).await;
}

async fn the_last_ones_are_kept_of_one(history: &dyn PromptHistory) {
    keeps_the_last(history, 1).await;
}

async fn the_last_ones_are_kept_of_a_hundred(history: &dyn PromptHistory) {
    keeps_the_last(history, 100).await;
}

async fn late_arrivals_do_not_push_out_newer_ones(history: &dyn PromptHistory) {
    let records: Vec<Record> = (0..5).map(|i| record(&scope("r"), &i.to_string(), vector(i))).collect();
    for i in [4, 0, 3, 1, 2] {
        history.record(&records[i]).await.unwrap();
    }
    let earlier = history.recall(&scope("r"), &vector(0)).await.unwrap();
    assert_eq!(heads(&earlier), ["4", "3", "2"]);
}

async fn old_prompts_are_forgotten(history: &dyn PromptHistory) {
    history.record(&record(&scope("r"), "old", vector(1))).await.unwrap();
    eventually("the prompt is forgotten", async || {
        let earlier = history.recall(&scope("r"), &vector(1)).await.unwrap();
        earlier.is_empty().then_some(())
    })
    .await;
    eventually("a new prompt is seen while it is fresh", async || {
        history.record(&record(&scope("r"), "new", vector(1))).await.unwrap();
        let earlier = history.recall(&scope("r"), &vector(1)).await.unwrap();
        assert!(!heads(&earlier).contains(&"old"));
        (!earlier.is_empty()).then_some(())
    })
    .await;
}

/// An approximate search gives up before it gets to a scope whose prompts are all far from the question.
async fn a_crowd_of_nearer_neighbours_hides_nothing(history: &dyn PromptHistory) {
    let question = vector(1);
    let away: Vec<f32> = question.iter().map(|x| -x).collect();
    for i in 0..5 {
        history.record(&record(&scope("far"), &i.to_string(), away.clone())).await.unwrap();
    }
    for i in 0..600 {
        let crowd = scope(&format!("crowd {}", i / 5));
        history.record(&record(&crowd, "near", question.clone())).await.unwrap();
    }
    let earlier = history.recall(&scope("far"), &question).await.unwrap();
    assert_eq!(heads(&earlier), ["4", "3", "2", "1", "0"]);
    assert!(earlier.iter().all(|e| e.similarity < 1e-5));
}

async fn writes_at_once_are_all_seen(history: &dyn PromptHistory) {
    let records: Vec<Record> =
        (0..100).map(|i| record(&scope(&format!("r{}", i % 10)), &i.to_string(), vector(i))).collect();
    let writes = records.iter().map(|record| history.record(record));
    for result in join_all(writes).await {
        result.unwrap();
    }
    for run in 0..10 {
        let earlier = history.recall(&scope(&format!("r{run}")), &vector(1)).await.unwrap();
        let wanted: Vec<String> = (5..10).rev().map(|i| (i * 10 + run).to_string()).collect();
        assert_eq!(heads(&earlier), wanted);
    }
}

async fn join_all<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut futures: Vec<_> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

async fn it_says_that_it_is_reachable(history: &dyn PromptHistory) {
    assert!(*history.reachable().borrow());
}
