//! The vectors themselves: those of sentence-transformers, and the same bits in whatever company.

use std::{collections::BTreeSet, sync::Barrier};

use embedding_service::{
    embed::{
        Embedder,
        model_files::ModelFiles,
        onnx::{OnnxEmbedder, Runtime},
    },
    similarity,
};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::support::{Server, built_part, check, library, model, texts};

const DIMENSION: usize = 384;
const UNIT: f32 = 65536.0;

fn embedder(model: &std::path::Path) -> OnnxEmbedder {
    let runtime = Runtime::load(&library()).unwrap();
    OnnxEmbedder::load(&runtime, &ModelFiles::find(model).unwrap()).unwrap()
}

/// The texts of fixtures/golden.json, and the vectors that fixtures/golden.py had made of them.
fn golden() -> Vec<(String, Vec<f32>)> {
    let texts: Vec<Value> = serde_json::from_str(include_str!("../fixtures/golden.json")).unwrap();
    let bytes = include_bytes!("../fixtures/golden.i16");
    let numbers: Vec<f32> =
        bytes.chunks_exact(2).map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / UNIT).collect();
    assert_eq!((texts.len(), numbers.len()), (50, 50 * DIMENSION));
    let text = |entry: &Value| {
        let times = entry["times"].as_u64().unwrap_or(1);
        entry["text"].as_str().unwrap().repeat(usize::try_from(times).unwrap())
    };
    texts.iter().map(text).zip(numbers.chunks_exact(DIMENSION).map(<[f32]>::to_vec)).collect()
}

/// Holds the small model to these vectors of these texts.
fn the_small_model_stays_close_to(wanted: impl Iterator<Item = (String, Vec<f32>)>) {
    let mut embedder = embedder(&built_part("model"));
    let cosine = |(text, mut wanted): (String, Vec<f32>)| {
        let got = embedder.embed(&text).unwrap().0.vector;
        similarity::normalise(&mut wanted);
        let cosine: f64 = got.iter().zip(&wanted).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        (text, cosine)
    };
    let cosines: Vec<_> = wanted.map(cosine).collect();
    let mean = cosines.iter().map(|(_, cosine)| cosine).sum::<f64>() / cosines.len() as f64;
    let (text, least) = cosines.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    assert!(mean >= 0.996, "mean {mean}");
    assert!(*least >= 0.985, "{text:.60}: {least}");
}

#[test]
fn the_float_model_gives_what_sentence_transformers_gives() {
    let mut embedder = embedder(&built_part("model-fp32"));
    for (text, wanted) in golden() {
        let got = embedder.embed(&text).unwrap().0.vector;
        for (got, wanted) in got.iter().zip(&wanted) {
            assert!((got - wanted).abs() < 1e-4, "{:.60}: {got} {wanted}", text);
        }
    }
}

#[test]
fn the_small_model_stays_close_to_sentence_transformers() {
    the_small_model_stays_close_to(golden().into_iter());
}

#[test]
fn the_small_model_stays_close_to_the_float_model_on_five_hundred_sentences() {
    let sentences: BTreeSet<String> =
        (0..600).map(texts::text).chain((0..200).map(|number| texts::page(number, 12))).collect();
    assert!(sentences.len() >= 500, "{}", sentences.len());
    let mut whole = embedder(&built_part("model-fp32"));
    the_small_model_stays_close_to(sentences.into_iter().map(|text| {
        let wanted = whole.embed(&text).unwrap().0.vector.to_vec();
        (text, wanted)
    }));
}

#[test]
fn the_same_text_gives_the_same_bits_in_whatever_company() {
    const THREADS: usize = 3;
    let mut all: Vec<String> = (0..100).map(texts::text).collect();
    all.extend(golden().into_iter().map(|(text, _)| text));
    let mut alone = embedder(&model());
    let wanted: Vec<_> = all.iter().map(|text| alone.embed(text).unwrap().0).collect();
    let together = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (all, wanted, together) = (&all, &wanted, &together);
            scope.spawn(move || {
                let mut embedder = embedder(&model());
                together.wait();
                // A stride without a common factor walks through all in another order for each thread.
                let stride = [7, 11, 13][thread];
                for step in 0..all.len() {
                    let at = step * stride % all.len();
                    assert_eq!(embedder.embed(&all[at]).unwrap().0, wanted[at], "{:.60}", all[at]);
                }
            });
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn under_load_a_repetition_is_exactly_the_same() {
    let server = Server::start(&[("--workers", "3")]).await;
    let mut calls = JoinSet::new();
    for number in 0..40 {
        let mut client = server.client().await;
        calls.spawn(async move {
            let (run, text) = (format!("run {number}"), texts::text(number));
            for noise in 0..3 {
                check(&mut client, &run, &text).await.unwrap();
                check(&mut client, "noise", &texts::page(number + noise, 40)).await.unwrap();
            }
            assert_eq!(check(&mut client, &run, &text).await.unwrap().max_similarity, 1.0, "{text}");
        });
    }
    while let Some(call) = calls.join_next().await {
        call.unwrap();
    }
}
