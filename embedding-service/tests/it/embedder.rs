//! Properties of the embedder on the real model.

use embedding_service::{
    embed::{
        Embedded, Embedder, Tokeniser as _,
        model_files::ModelFiles,
        onnx::{OnnxEmbedder, Runtime},
        tokeniser::{MAX_TOKENS, ModelTokeniser},
    },
    similarity,
};
use sentinel_encoder::Processor;

use crate::support::{built_part, library, model};

fn embedder() -> OnnxEmbedder {
    let runtime = Runtime::load(&library()).unwrap();
    OnnxEmbedder::load(&runtime, &ModelFiles::find(&model()).unwrap()).unwrap()
}

fn tokeniser() -> ModelTokeniser {
    ModelTokeniser::load(&ModelFiles::find(&model()).unwrap().tokeniser, None).unwrap()
}

fn embed(embedder: &mut OnnxEmbedder, text: &str) -> Embedded {
    embedder.embed(text).unwrap().0
}

const VARIED: [&str; 12] = [
    "yes",
    "continue",
    "How do I reset my password?",
    "Summarise the attached report in three sentences.",
    "def f(x):\n    return x ** 2  # square",
    "Ünïcödé and ÀCCENTS",
    "请总结这份报告的主要内容",
    "これは日本語の文章です。",
    "🦀🦀 emoji 👩‍👩‍👧‍👦",
    ".",
    "\u{0}\u{0}",
    "{\"a\": [1, 2, 3], \"b\": null}",
];

#[test]
fn the_same_text_gives_the_same_bits_whatever_came_before_and_in_every_session() {
    let mut fresh = embedder();
    let alone: Vec<Embedded> = VARIED.iter().map(|text| embed(&mut fresh, text)).collect();
    let mut other = embedder();
    let long = "lorem ipsum dolor ".repeat(300);
    for (text, alone) in VARIED.iter().zip(&alone).rev() {
        embed(&mut other, &long);
        assert_eq!(&embed(&mut other, text), alone, "{text}");
        assert_eq!(&embed(&mut other, text), alone, "{text}");
    }
}

#[test]
fn vectors_are_normalised_finite_and_of_the_models_dimension() {
    let mut embedder = embedder();
    assert_eq!(embedder.dimension(), 384);
    for text in VARIED {
        let vector = embed(&mut embedder, text).vector;
        assert_eq!(vector.len(), 384);
        let length: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
        assert!((length - 1.0).abs() < 1e-5, "{text}: {length}");
        assert_eq!(similarity::of_vectors(&vector, &vector), 1.0);
    }
}

#[test]
fn there_are_never_fewer_tokens_than_were_told_at_a_glance() {
    let tokeniser = embedder().tokeniser();
    let long =
        ["lorem ipsum dolor ".repeat(300), "a ".repeat(120), "antidisestablishmentarianism ".repeat(40)];
    for text in VARIED.into_iter().chain(long.iter().map(String::as_str)) {
        let (least, tokens) =
            (tokeniser.least_tokens(text), tokeniser.tokenise(text).unwrap().token_ids.len());
        assert!(least <= tokens, "{text}: {least} of {tokens}");
    }
    assert_eq!(tokeniser.least_tokens("How do I reset my password?"), 6);
}

#[test]
fn of_a_long_text_the_first_tokens_are_read_as_in_a_short_one() {
    let tokeniser = embedder().tokeniser();
    for (text, few) in [
        ("don't re-try, naïve e.g. #42! ", 5),
        ("a ", 40),
        ("- _ -x ", 20),
        ("internationalisation\n", 16),
        ("日本 no 語 ", 12),
    ] {
        let short = tokeniser.tokenise(&text.repeat(few)).unwrap();
        assert!(short.unseen.is_none() && short.token_ids.len() > 32, "{text}");
        for many in [few * 5, 1500 / text.len()] {
            let long = tokeniser.tokenise(&text.repeat(many)).unwrap();
            assert_eq!((long.token_ids.len(), &long.token_ids[..31]), (32, &short.token_ids[..31]), "{text}");
        }
    }
}

#[test]
fn paraphrases_are_closer_than_other_questions() {
    let mut embedder = embedder();
    for (a, b) in [
        ("How do I reset my password?", "I forgot my password, how can I reset it?"),
        ("What is the weather like in Paris today?", "How is the weather in Paris today?"),
        ("Please fix the failing unit test.", "The unit test fails, please repair it."),
    ] {
        let (a, b) = (embed(&mut embedder, a).vector, embed(&mut embedder, b).vector);
        let near = similarity::of_vectors(&a, &b);
        assert!(near > 0.85, "{near}");
        for other in ["Write a poem about the sea.", "List the prime numbers below one hundred."] {
            let far = similarity::of_vectors(&a, &embed(&mut embedder, other).vector);
            assert!(far < 0.7, "{other}: {far}");
        }
    }
}

#[test]
fn case_and_white_space_make_no_difference() {
    let mut embedder = embedder();
    let plain = embed(&mut embedder, "how do i reset my password?");
    let odd = embed(&mut embedder, "  How do I\n\n\treset   my PASSWORD? ");
    assert_eq!(plain.vector, odd.vector);
}

#[test]
fn every_input_begins_and_ends_with_the_special_tokens() {
    let tokeniser = tokeniser();
    for text in ["hello", &"hello ".repeat(1000), "\u{0}"] {
        let ids = tokeniser.tokenise(text).unwrap().token_ids;
        assert_eq!((ids[0], ids[ids.len() - 1]), (101, 102), "[CLS] and [SEP]");
    }
}

#[test]
fn what_the_model_does_not_see_is_told_apart() {
    let tokeniser = tokeniser();
    let unseen = |text: &str| tokeniser.tokenise(text).unwrap().unseen;
    // Read as a whole.
    assert_eq!(unseen("hello world"), None);
    let read = "hello ".repeat(MAX_TOKENS - 2);
    assert_eq!(unseen(&read), None);
    // One token too many: only the head is read.
    assert!(unseen(&format!("{read}alpha")).is_some());
    assert_ne!(unseen(&format!("{read}alpha")), unseen(&format!("{read}beta")));
    assert_ne!(unseen(&format!("{read}17")), unseen(&format!("{read}18")));
    assert_eq!(unseen(&format!("{read}alpha beta")), unseen(&format!("{read} Alpha\nBETA ")));
    // Far behind the cut in characters.
    let far = "hello ".repeat(10_000);
    assert_ne!(unseen(&format!("{far}alpha")), unseen(&format!("{far}beta")));
}

#[test]
fn words_unknown_to_the_model_are_told_apart() {
    let tokeniser = tokeniser();
    let (a, b) = ("q".repeat(300), "z".repeat(300));
    let [one, two] = [&a, &b].map(|word| tokeniser.tokenise(&format!("decode {word} now")).unwrap());
    assert_eq!(one.token_ids, two.token_ids, "the model sees no difference");
    assert_ne!(one.unseen, two.unseen);
    assert_eq!(one.unseen, tokeniser.tokenise(&format!("Decode  {a}  NOW")).unwrap().unseen);
    let [crab, owl] = ["🦀", "🦉"].map(|text| tokeniser.tokenise(text).unwrap());
    assert!(crab.token_ids != owl.token_ids || crab.unseen != owl.unseen);
    let [one, two] = ["\u{0}\u{1}", "\u{1}\u{0}"].map(|text| tokeniser.tokenise(text).unwrap());
    assert_ne!(one.unseen, two.unseen, "control characters are no tokens at all");
}

#[test]
fn a_graph_without_pooling_is_pooled_here() {
    // The fixture gives each token one of 61 known rows; see fixtures/token_rows.py.
    let folder = tempfile::tempdir().unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/token_rows.onnx");
    let graph = folder.path().join("model.onnx");
    std::fs::copy(fixture, &graph).unwrap();
    let file = ModelFiles::find(&model()).unwrap().tokeniser;
    std::fs::copy(file, folder.path().join("tokenizer.json")).unwrap();

    let runtime = Runtime::load(&library()).unwrap();
    let files = ModelFiles::find(folder.path()).unwrap();
    let mut embedder = OnnxEmbedder::load(&runtime, &files).unwrap();
    assert_eq!(embedder.dimension(), 4);
    let text = "three plain words";
    let ids = tokeniser().tokenise(text).unwrap().token_ids;
    let mut wanted = vec![0.0_f32; 4];
    for id in &ids {
        for (at, sum) in wanted.iter_mut().enumerate() {
            *sum += ((id % 61) as f32 + 1.0) * [1.0, -0.5, 0.25, 2.0][at] + at as f32;
        }
    }
    similarity::normalise(&mut wanted);
    let got = embed(&mut embedder, text).vector;
    for (got, wanted) in got.iter().zip(&wanted) {
        assert!((got - wanted).abs() < 1e-6, "{got} {wanted}");
    }
}

/// With the model's operator computed by that processor, or by ONNX Runtime from what the model file says of it.
fn computed_by(processor: Option<Processor>) -> OnnxEmbedder {
    let runtime = Runtime::load(&library()).unwrap();
    OnnxEmbedder::load_for(&runtime, &ModelFiles::find(&built_part("model")).unwrap(), processor).unwrap()
}

#[test]
fn the_operator_computes_what_the_model_file_says_of_it() {
    let (mut ours, mut standard) = (computed_by(Some(Processor::portable())), computed_by(None));
    for text in VARIED {
        let (ours, standard) = (embed(&mut ours, text).vector, embed(&mut standard, text).vector);
        let near = similarity::of_vectors(&ours, &standard);
        assert!(near > 0.999, "{text}: {near}");
        assert_ne!(ours, standard, "the operator was not taken");
    }
}

#[test]
fn a_text_has_the_same_bits_on_every_processor() {
    let mut plain = computed_by(Some(Processor::portable()));
    let wanted = VARIED.map(|text| embed(&mut plain, text).vector);
    for processor in Processor::accelerated() {
        let mut fast = computed_by(Some(processor));
        for (text, wanted) in VARIED.iter().zip(&wanted) {
            assert_eq!(embed(&mut fast, text).vector, *wanted, "{processor:?}: {text}");
        }
    }
}
