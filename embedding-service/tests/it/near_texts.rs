//! Real texts in the memory store: those that compete to be the nearest differ by a word, as in `tests/pairs`. What the store finds
//! by the vectors' signs has to be what comparing with every text finds.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use bytes::Bytes;
use embedding_service::{
    cache::{
        AnswerStore as _, Entry, EntryId, Owner, Partition, StoredQuestion, learning::Observations,
        memory::MemoryAnswers,
    },
    embed::{
        Embedder as _,
        model_files::ModelFiles,
        onnx::{OnnxEmbedder, Runtime},
    },
    similarity,
};
use serde_json::Value;

use crate::{
    history_suite::HOUR,
    support::{library, model},
};

const PARTITION: Partition = Partition([1; 16]);
/// The default: what comes less near is no hit.
const THRESHOLD: f64 = 0.875;

fn texts() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs");
    let files = ["own.jsonl", "held_out.jsonl", "hard_traps.jsonl"].map(|name| folder.join(name));
    let pairs = files.map(|file| fs::read_to_string(file).unwrap()).concat();
    let pair = |line: &str| {
        let pair: Value = serde_json::from_str(line).unwrap();
        ["a", "b"].map(|side| pair[side].as_str().unwrap().to_owned())
    };
    pairs.lines().filter(|line| !line.is_empty()).flat_map(pair).collect()
}

#[tokio::test]
async fn the_nearest_of_a_thousand_real_texts_are_found() {
    let runtime = Runtime::load(&library()).unwrap();
    let mut embedder = OnnxEmbedder::load(&runtime, &ModelFiles::find(&model()).unwrap()).unwrap();
    let store = MemoryAnswers::new(HOUR, 64 << 20);
    let mut all = Vec::new();
    for text in texts() {
        let vector: Arc<[f32]> = embedder.embed(&text).unwrap().0.vector;
        all.push(Arc::clone(&vector));
        let entry = Entry {
            partition: PARTITION,
            id: EntryId::of(&text),
            owner: Owner::default(),
            asked: Some(StoredQuestion { text, vector, unseen: None }),
            answer: Bytes::new(),
            stored_at: 0,
            observations: Observations::default(),
        };
        store.store(&entry, HOUR).await.unwrap();
    }
    assert!(all.len() > 900, "{} texts: too few for the signs to matter", all.len());
    let (mut near, mut found) = (0, 0);
    for vector in all.iter().step_by(3) {
        // The nearest is the text itself; the second is what another wording of it would find.
        let mut wanted: Vec<f64> = all.iter().map(|stored| similarity::of_vectors(vector, stored)).collect();
        wanted.sort_by(|a, b| b.total_cmp(a));
        if wanted[1] >= THRESHOLD {
            near += 1;
            let second = store.nearest(PARTITION, vector, 5).await.unwrap()[1].similarity;
            found += u64::from(second == wanted[1]);
        }
    }
    println!("{found} of {near} found, of {} texts", all.len());
    assert!(near > 200, "{near}");
    assert!(found * 1_000 >= near * 999, "{found} of {near}");
}
