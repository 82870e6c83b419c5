//! Other models than the one that set-up makes, and files that are none.

use std::{fs, path::Path};

use embedding_service::embed::{
    Embedder,
    error::ModelError,
    model_files::ModelFiles,
    onnx::{OnnxEmbedder, Runtime},
};
use embedding_service::server;
use serde_json::Value;

use crate::support::{
    Server, built_part, check, eventually, library, model,
    redis::{Redis, Search},
    settings,
};

fn load(folder: &Path) -> Result<OnnxEmbedder, ModelError> {
    let runtime = Runtime::load(&library()).unwrap();
    OnnxEmbedder::load(&runtime, &ModelFiles::find(folder)?)
}

/// A folder with a copy of the second model, and its files changed.
fn second(change: impl FnOnce(&Path)) -> Result<OnnxEmbedder, ModelError> {
    let folder = tempfile::tempdir().unwrap();
    let from = built_part("model-second");
    fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    for name in ["model.onnx", "tokenizer.json", "sentence_bert_config.json", "1_Pooling/config.json"] {
        fs::copy(from.join(name), folder.path().join(name)).unwrap();
    }
    change(folder.path());
    load(folder.path())
}

fn message(result: Result<OnnxEmbedder, ModelError>) -> String {
    result.err().unwrap().to_string()
}

fn near(embedder: &mut OnnxEmbedder, text: &str, wanted: &Value) -> bool {
    let got = embedder.embed(text).unwrap().0.vector;
    let wanted: Vec<f64> = serde_json::from_value(wanted.clone()).unwrap();
    assert_eq!(got.len(), wanted.len());
    got.iter().zip(&wanted).all(|(got, wanted)| (f64::from(*got) - wanted).abs() < 1e-4)
}

#[test]
fn pooling_dimension_inputs_and_length_are_read_from_the_files() {
    // model/second.py made it, and wrote down what it gives.
    let expected = fs::read_to_string(built_part("model-second").join("expected.json")).unwrap();
    let expected: serde_json::Map<String, Value> = serde_json::from_str(&expected).unwrap();
    let mut embedder = second(|_| ()).unwrap();
    assert_eq!(embedder.dimension(), 128);
    assert_eq!(expected.len(), 3);
    for (text, wanted) in &expected {
        assert!(near(&mut embedder, text, wanted), "{text}");
    }
    // Up to 40 tokens are read as a whole, and 32 of a longer text.
    let tokeniser = embedder.tokeniser();
    let read = |words: usize| tokeniser.tokenise(&"word ".repeat(words)).unwrap();
    assert_eq!((read(38).token_ids.len(), read(38).unseen), (40, None));
    assert_eq!(read(39).token_ids.len(), 32);
    assert!(read(39).unseen.is_some());

    let mut mean = second(|folder| {
        fs::write(folder.join("1_Pooling/config.json"), r#"{"pooling_mode": "mean"}"#).unwrap();
    })
    .unwrap();
    for (text, wanted) in &expected {
        assert!(!near(&mut mean, text, wanted), "the mean is no first token: {text}");
    }
}

#[tokio::test]
async fn the_service_works_with_the_second_model() {
    let second = built_part("model-second");
    let server = Server::start(&[("--model-path", second.to_str().unwrap())]).await;
    let mut client = server.client().await;
    check(&mut client, "r", "How do I reset my password?").await.unwrap();
    let same = check(&mut client, "r", "how do I reset my password?").await.unwrap();
    assert_eq!((same.matches, same.max_similarity), (1, 1.0));
}

/// A rolling update: the old model's services, the new one's and their Redis at the same time.
#[tokio::test]
async fn models_share_a_redis_and_never_compare_with_each_others_vectors() {
    for lookup in [Search::Absent, Search::Loaded] {
        let redis = Redis::start_with(lookup).await;
        let url = redis.url();
        // As long as those of the first; of another length; the first again, in another place.
        let mut models = vec![model(), built_part("model-fp32")];
        let mut flags = vec![("--redis-url", url.as_str())];
        match lookup {
            Search::Absent => models.push(built_part("model-second")),
            Search::Loaded => flags.push(("--redis-lookup", "search")),
        }
        let mut servers = Vec::new();
        for model in &models {
            let flags = [flags.as_slice(), &[("--model-path", model.to_str().unwrap())]].concat();
            servers.push(Server::start(&flags).await);
        }
        for round in 0..3 {
            for (number, server) in servers.iter().enumerate() {
                let answer =
                    check(&mut server.client().await, "r", "hello there, how are you").await.unwrap();
                assert_eq!((answer.compared, answer.matches), (round, round), "model {number}");
                let stored = round as usize * models.len() + number + 1;
                eventually("it is stored", async || (redis.prompts().await.len() == stored).then_some(()))
                    .await;
            }
        }
        let another = Server::start(&flags).await;
        let answer = check(&mut another.client().await, "r", "hello there, how are you").await.unwrap();
        assert_eq!(answer.matches, 3, "another service with the first model sees what it has");
    }
}

#[tokio::test]
async fn an_index_for_another_models_dimension_stops_the_start() {
    let redis = Redis::start_with(Search::Loaded).await;
    let url = redis.url();
    let flags = [("--redis-url", url.as_str()), ("--redis-lookup", "search")];
    let _first = Server::start(&flags).await;
    let folder = tempfile::tempdir().unwrap();
    let second = built_part("model-second");
    let flags = [flags.as_slice(), &[("--model-path", second.to_str().unwrap())]].concat();
    let error = server::start(&settings(folder.path(), &flags)).await.err().unwrap().to_string();
    assert!(error.contains("dim 384, the model needs 128"), "{error}");
}

#[test]
fn files_that_are_no_model_are_named() {
    let text = message(second(|folder| fs::write(folder.join("model.onnx"), b"not a graph").unwrap()));
    assert!(text.contains("cannot load the model") && text.contains("model.onnx"), "{text}");
    let text = message(second(|folder| fs::write(folder.join("model.onnx"), b"").unwrap()));
    assert!(text.contains("cannot load the model") && text.contains("model.onnx"), "{text}");
    let text = message(second(|folder| {
        let file = fs::OpenOptions::new().write(true).open(folder.join("model.onnx")).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    }));
    assert!(text.contains("cannot load the model") && text.contains("model.onnx"), "{text}");
    let text = message(second(|folder| fs::write(folder.join("tokenizer.json"), b"{}").unwrap()));
    assert!(text.contains("cannot read the tokeniser") && text.contains("tokenizer.json"), "{text}");
    let text = message(second(|folder| fs::remove_file(folder.join("tokenizer.json")).unwrap()));
    assert!(text.contains("tokenizer.json is not there"), "{text}");
    let text = message(second(|folder| fs::remove_file(folder.join("model.onnx")).unwrap()));
    assert!(text.contains("model.onnx is not there"), "{text}");
    let text = message(second(|folder| fs::write(folder.join("1_Pooling/config.json"), "{}").unwrap()));
    assert!(text.contains("1_Pooling/config.json names no pooling"), "{text}");
}

#[test]
fn a_tokeniser_of_another_model_is_found_out() {
    // Its ids go beyond the model's table of words.
    let text = message(second(|folder| {
        let path = folder.join("tokenizer.json");
        let mut tokeniser: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let words = tokeniser["model"]["vocab"].as_object_mut().unwrap();
        words.insert("a-word-of-another-model".to_owned(), 50_000.into());
        fs::write(path, tokeniser.to_string()).unwrap();
    }));
    assert!(text.contains("tokenizer.json") && text.contains("another model"), "{text}");
    // The real one has as many words as the model knows.
    assert!(load(model().parent().unwrap()).is_ok());
}
