//! Embedding under load: the same bits in any company, short prompts before long ones.

use std::sync::{Arc, Mutex};

use embedding_service::{
    embed::{
        Embedder,
        model_files::ModelFiles,
        onnx::{OnnxEmbedder, Runtime},
        pool::{Pool, PoolOptions},
    },
    metrics::Metrics,
};
use tokio::task::JoinSet;

use crate::support::{
    eventually,
    gate::{Gate, Gated},
    library, model,
};

const TEXTS: [&str; 6] = [
    "yes",
    "How do I reset my password?",
    "请总结这份报告的主要内容",
    "fn main() { println!(\"{}\", 6 * 7); }",
    "🦀🦀 emoji 👩‍👩‍👧‍👦",
    "Summarise the attached report in three sentences, and say who wrote it, when, and for whom.",
];

fn bits(vector: &[f32]) -> Vec<u32> {
    vector.iter().map(|x| x.to_bits()).collect()
}

#[tokio::test]
async fn a_vector_is_the_same_to_the_bit_alone_under_load_and_from_the_recent_ones() {
    let runtime = Runtime::load(&library()).unwrap();
    let files = ModelFiles::find(&model()).unwrap();
    let long = "a long text, over and over ".repeat(60);
    let texts: Vec<String> = TEXTS.iter().map(ToString::to_string).chain([long]).collect();
    let mut alone = OnnxEmbedder::load(&runtime, &files).unwrap();
    let alone: Vec<_> = texts.iter().map(|text| bits(&alone.embed(text).unwrap().0.vector)).collect();

    let metrics = Arc::new(Metrics::default());
    let size = PoolOptions { workers: 2, queue_length: 256, cache_bytes: 1 << 20 };
    let make = move || OnnxEmbedder::load(&runtime, &files);
    let pool = Arc::new(Pool::start(size, Arc::clone(&metrics), make).unwrap());
    let count = texts.len() * 5;
    for round in 0..2 {
        let mut calls = JoinSet::new();
        for (at, text) in texts.iter().enumerate().cycle().take(count) {
            let (pool, text) = (Arc::clone(&pool), text.clone());
            calls.spawn(async move { (at, bits(&pool.embed(text, None).await.unwrap().vector)) });
        }
        for (at, vector) in calls.join_all().await {
            assert_eq!(vector, alone[at], "round {round}: {}", texts[at]);
        }
    }
    let page = metrics.exposition();
    let hits = page.lines().find_map(|line| line.split_once(r#"recent_embeddings_total{outcome="hit"} "#));
    let hits: usize = hits.unwrap().1.parse().unwrap();
    assert!((count..2 * count).contains(&hits), "the second round at least: {hits} of {count}");
}

#[tokio::test]
async fn a_short_prompt_waits_for_one_inference_of_a_long_one() {
    let gate = Gate::default();
    let seen = Arc::<Mutex<Vec<usize>>>::default();
    let embedder = Gated { gate: gate.clone(), seen: Arc::clone(&seen), ..Gated::default() };
    let metrics = Arc::new(Metrics::default());
    let size = PoolOptions { workers: 1, queue_length: 16, cache_bytes: 0 };
    let pool = Arc::new(Pool::start(size, Arc::clone(&metrics), move || Ok(embedder.clone())).unwrap());
    seen.lock().unwrap().clear();

    let shut = gate.shut();
    let call = |words: usize| {
        let pool = Arc::clone(&pool);
        let text = vec!["w"; words].join(" ");
        tokio::spawn(async move { pool.embed(text, None).await.unwrap() })
    };
    // Which of several goes first is in the tests of the queue.
    let long = call(500);
    eventually("it is being embedded", async || (gate.waiting() == 1).then_some(())).await;
    let short = call(1);
    eventually("the short one waits", async || {
        metrics.exposition().contains("queue_length 1\n").then_some(())
    })
    .await;
    let other = call(400);
    eventually("the other one waits", async || {
        metrics.exposition().contains("queue_length 2\n").then_some(())
    })
    .await;
    drop(shut);
    for call in [long, short, other] {
        call.await.unwrap();
    }
    assert_eq!(*seen.lock().unwrap(), [500, 1, 400]);
}
